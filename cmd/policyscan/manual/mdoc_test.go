package manual

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// requests are the lines of a page that a formatter obeys.
var requests = regexp.MustCompile(`(?m)^[.'].*$`)

// TestManualText: no text becomes a request or an escape of the formatter, and none is lost.
func TestManualText(t *testing.T) {
	back := strings.NewReplacer(
		`\e`, `\`, `\-`, `-`, `\(aq`, `'`, `\(ga`, "`", `\(ha`, `^`, `\(ti`, `~`, `\(dq`, `"`,
		`\&`, ``, `\%`, ``, `\fB`, ``, `\fR`, ``)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[!-~]{1,30}|--[a-z-]{1,12}\.?|\.(Sh|so|sy|pi)|'br|\\[nfsk(\[*]x?`)
		words := rapid.SliceOfN(word, 1, 30).Draw(t, "words")
		var p manPage
		p.text(strings.Join(words, " "))
		p.literal(words)
		text := p.b.String()
		found := requests.FindAllString(text, -1)
		if want := []string{".Bd -literal -offset indent", ".Ed"}; !slices.Equal(found, want) {
			t.Fatalf("requests %q in %q", found, text)
		}
		text = strings.NewReplacer(".Bd -literal -offset indent", "", "\n.Ed", "").Replace(text)
		got, want := strings.Join(strings.Fields(back.Replace(text)), " "), strings.Join(slices.Concat(words, words), " ")
		if got != want {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
	if got := roff("é…"); got != `\[u00E9]\[u2026]` {
		t.Errorf("beyond ASCII: %s", got)
	}
}
