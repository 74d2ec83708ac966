package starter

import (
	"strings"
	"testing"
)

// A list without rules is still a list. Every topic has rules today, so only this test covers it.
func TestEmptyList(t *testing.T) {
	for _, topics := range [][]string{nil, {"none"}} {
		for _, dir := range []string{"boundaries", "invariants"} {
			text := string(assemble(dir, topics))
			if !strings.HasSuffix(text, "\n\nrules: []\n") || strings.Count(text, "\nrules:") != 1 {
				t.Errorf("%s of %q ends in %q", dir, topics, text[max(0, len(text)-80):])
			}
		}
	}
}
