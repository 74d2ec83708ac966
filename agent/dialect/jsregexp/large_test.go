//go:build !race

package jsregexp

import (
	"strings"
	"testing"
)

// TestCompileLargest: an expression as large as may be. With the race detector, which has nothing to
// find in it, it takes half a minute.
func TestCompileLargest(t *testing.T) {
	text := strings.Repeat("a", maxUnits)
	re, err := Compile(text)
	if err != nil || !re.MatchString(text) || re.MatchString(text[1:]) {
		t.Errorf("%v", err)
	}
}
