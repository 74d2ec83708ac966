package match

import (
	"strings"
	"testing"
)

// TestAnchor: of a pattern's lines that is searched for which is the longest that is in no other, so that what repeats
// itself in a pattern and in a content is not compared at each place of both.
func TestAnchor(t *testing.T) {
	for lines, want := range map[string]int{
		"a": 0, "a|bb": 1, "bb|a": 0, "|a|": 1, "aa|aa|b": 2, "aa|b|aa": 1, "ab|ab|b": 0, "ab|ab|b|c": 3, "aa|aa": 0, "aa|b|b|cc": 0,
		"xx|xx|0x|1x|2x|3x|4x|5x|6x|7x|y":        2,
		"xx|xx|x0x|x1x|x2x":                      2,
		"abcdefgh|abcdefg|abcdef|abcde|abcd|a|z": 0,
		"q8|q8|q7|8q88q8|7q77q7":                 3,
		"bcdefghi|bcdefghi|b|c|d|e|f|g|h|i|z":    0, // the tries are over before z
		"bcdefgh|bcdefgh|b|c|d|e|f|g|h|z":        9,
	} {
		if got := anchorOf(strings.Split(lines, "|")); got != want {
			t.Errorf("%s: line %d, want %d", lines, got, want)
		}
	}
	p := Compile(strings.Repeat("a\n", 300)+"b", Options{})
	for _, f := range p.every() {
		if f.anchor != 300 {
			t.Errorf("%v: line %d", f.enc, f.anchor)
		}
	}
}
