package match

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestAnchor: of a pattern's lines that is searched for which is the longest that is in no other, so that what repeats
// itself in a pattern and in a content is not compared at each place of both.
func TestAnchor(t *testing.T) {
	for lines, want := range map[string]int{
		"a": 0, "a|bb": 1, "bb|a": 0, "|a|": 1, "aa|aa|b": 2, "aa|b|aa": 1, "ab|ab|b": 0, "ab|ab|b|c": 3, "aa|aa": 0,
		"aa|b|b|cc":                              0,
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

// TestPrefilter: a content that has a match of a text never lacks it, and most contents that have none do.
func TestPrefilter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	draw := func(n int, from string) string {
		var b strings.Builder
		for range n {
			r := []rune(from)
			b.WriteRune(r[rnd.IntN(len(r))])
		}
		return b.String()
	}
	lacks, without := 0, 0
	for range 6000 {
		from := "abAB01"
		if rnd.IntN(2) == 0 {
			from += " \r\n\tä"
		}
		text := draw(1+rnd.IntN(12), from)
		if strings.TrimSpace(text) == "" {
			continue
		}
		content := []byte(draw(rnd.IntN(40), "abAB 01\r\n\tä"))
		if rnd.IntN(2) == 0 {
			content = append(content, text...)
		}
		if enc := encoding(rnd.IntN(int(encodings))); rnd.IntN(4) == 0 {
			content = enc.encode(string(content))
		}
		o := Options{Spaces: rnd.IntN(4) == 0, Words: rnd.IntN(4) == 0, IgnoreCase: rnd.IntN(4) == 0}
		if o.Spaces {
			if text = strings.Trim(text, " \t"); text == "" {
				continue
			}
		}
		s := NewPrefilter(content)
		if s == nil {
			if bytes.IndexByte(content, 0) < 0 {
				t.Fatalf("%q is not screened", content)
			}
			continue
		}
		x := Examiner{Window: 512}
		rep, err := x.Examine(t.Context(), NewEngine([]*Pattern{Compile(text, o)}), bytes.NewReader(content))
		must(t, err)
		switch found, lack := len(rep.Finds) > 0, s.Lacks(text, o); {
		case found && lack:
			t.Fatalf("%q has a match of %q, %+v, and lacks it", content, text, o)
		case !found && o == Options{} && len(text) > 6 && !strings.ContainsAny(text, "\r\nä"):
			without++
			if lack {
				lacks++
			}
		}
	}
	if without < 100 || lacks*100 < without*95 {
		t.Errorf("of %d texts that are nowhere, %d are lacked", without, lacks)
	}
}
