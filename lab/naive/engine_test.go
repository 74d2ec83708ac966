package naive

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/match"
)

var engines = flag.Int("engines", 1000, "how many sets of items TestEngine looks for")

// TestEngine compares the search of policyscan with this package, without bundles, files and processes between them:
// far more contents in the same time than TestSecond, and in windows of few bytes. Of each item it compares the place
// that is shown, the count, and whether it is there where it is required.
func TestEngine(t *testing.T) {
	found, absent := 0, 0
	for n := range *engines {
		g := &generator{Rand: rand.New(rand.NewPCG(*seed, uint64(n))), newer: true, forms: *forms}
		var items []Item
		for range 1 + g.IntN(6) {
			if text := g.item(); itemName(text, "forbidden_patterns", true) != "" {
				items = append(items, itemOf(t, text))
			}
		}
		compare := func(content string, window int) string {
			engine := newEngine(t, items)
			var wrong strings.Builder
			for i, report := range engineSays(t, engine, items, content, window) {
				if want := naivelySaid(items[i], content); report != want {
					fmt.Fprintf(&wrong, "%s: %q, naively %q\n", items[i].Name, report, want)
				}
			}
			return wrong.String()
		}
		for range 6 {
			content := g.content()
			for _, item := range items {
				if item.IsIn(content) {
					found++
				} else {
					absent++
				}
			}
			for _, window := range []int{0, 64, 97, 256, 1024} {
				if compare(content, window) == "" {
					continue
				}
				content = shortened(content, func(s string) bool { return compare(s, window) != "" })
				t.Fatalf("-seed %d, set %d: windows of %d bytes, content %.600q:\n%s",
					*seed, n, window, content, compare(content, window))
			}
		}
	}
	if found < *engines || absent < *engines {
		t.Errorf("%d items are there and %d are not: too few to say anything", found, absent)
	}
}

// newEngine makes an engine that must find the items and must not.
func newEngine(t *testing.T, items []Item) *match.Engine {
	t.Helper()
	var patterns []*match.Pattern
	for _, i := range items {
		if i.Regexp == nil {
			options := match.Options{Spaces: i.Spaces, Words: i.Words, IgnoreCase: i.IgnoreCase}
			patterns = append(patterns, match.Compile(i.Text, options))
			continue
		}
		x, err := regex.Compile(i.Regexp.String())
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, match.CompileRegex(x))
	}
	e := match.NewEngine(patterns)
	for i := range items {
		e.Require(i, false)
	}
	return e
}

// engineSays is what the engine says of each item.
func engineSays(t *testing.T, e *match.Engine, items []Item, content string, window int) []string {
	t.Helper()
	x := &match.Examiner{Window: window}
	report, err := x.Examine(context.Background(), e, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(items))
	for _, f := range report.Finds {
		v := f.Evidence
		said[f.Pattern] += fmt.Sprintf("%d %d:%d-%d:%d %s x%d", v.Offset, v.Line, v.Column, v.EndLine, v.EndColumn,
			v.Encoding, v.Occurrences)
	}
	for _, i := range report.Missing {
		said[i] += " missing"
	}
	return said
}

// naivelySaid is what there is to say of an item.
func naivelySaid(i Item, content string) string {
	said := ""
	if finds := i.Find(content); len(finds) > 0 {
		v := at(content, evidence(i, content, finds))
		said = fmt.Sprintf("%d %d:%d-%d:%d %s x%d", v.Offset, v.Line, v.Column, v.EndLine, v.EndColumn,
			v.Encoding, len(finds))
	}
	if !i.IsIn(content) {
		said += " missing"
	}
	return said
}

// shortened cuts parts off a text as long as it stays wrong.
func shortened(text string, wrong func(string) bool) string {
	for size := max(1, len(text)/2); size > 0; size /= 2 {
		for at := 0; at+size <= len(text); {
			if s := text[:at] + text[at+size:]; wrong(s) {
				text = s
			} else {
				at += size
			}
		}
	}
	return text
}
