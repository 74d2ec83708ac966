package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/verdict"
)

// Where a match is in its excerpt is found by its columns, wherever the excerpt was cut.
func TestMatchInExcerptByColumns(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab \t世\U0001f600")), 0, 250, -1)
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		match := rapid.StringOfN(rapid.SampledFrom([]rune("xy世\U0001f600")), 1, 40, -1).Draw(t, "match")
		v := found(verdict.Rule{}, "f", before+match+after+"\n", match)
		e := &v.Evidence
		at := strings.Index(before+match, match) // the first
		e.Kind, e.Pattern = verdict.KindRegex, `{"regex":"`+strings.ReplaceAll(regexp.QuoteMeta(match), `\`, `\\`)+`"}`
		start, end := matchInExcerpt(e)
		if e.Excerpt[start:end] != match {
			t.Fatalf("%q of %q", e.Excerpt[start:end], e.Excerpt)
		}
		if units := len(utf16.Encode([]rune(e.Excerpt[:start]))); int64(units) > e.UTF16Column-1 {
			t.Fatalf("%d units before it, of %d in the file, which has it at byte %d", units, e.UTF16Column-1, at)
		}
	})
}
