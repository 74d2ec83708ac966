package match

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules/regex"
)

// TestRequired: a literal counts in any encoding, a regex only in that of the content's mark, both after it.
func TestRequired(t *testing.T) {
	x, err := regex.Compile(`a\x00|key`)
	must(t, err)
	utf16, utf32 := string(utf16LE.encode("key")), string(utf32LE.encode("key"))
	const text, expression = 0, 1
	for name, c := range map[string]struct {
		content string
		missing []int
	}{
		"nothing":             {"", []int{text, expression}},
		"UTF-8":               {"a key", nil},
		"UTF-8, marked":       {"\xef\xbb\xbfkey", nil},
		"UTF-16, unmarked":    {utf16, []int{expression}},
		"UTF-16, marked":      {"\xff\xfe" + utf16, nil},
		"UTF-8 in UTF-16":     {"\xff\xfekey", []int{expression}},
		"UTF-16 in UTF-8":     {"\xef\xbb\xbf" + utf16, []int{expression}},
		"UTF-32, marked":      {"\xff\xfe\x00\x00" + utf32, nil},
		"UTF-16 in UTF-32":    {"\xff\xfe\x00\x00" + utf16, []int{expression}},
		"behind another mark": {"\xff\xfe\x00\x00\x00\x00" + utf32, []int{text, expression}},
	} {
		e := NewEngine([]*Pattern{Compile("key", Options{}), CompileRegex(x, 0)})
		e.Require(text, true)
		e.Require(expression, true)
		for _, window := range []int{0, 64} {
			rep, err := (&Examiner{Window: window}).Examine(context.Background(), e, strings.NewReader(c.content))
			if err != nil || len(rep.Finds) > 0 || !slices.Equal(rep.Missing, c.missing) {
				t.Errorf("%s, windows of %d bytes: missing %v, want %v; %d finds, %v",
					name, window, rep.Missing, c.missing, len(rep.Finds), err)
			}
		}
	}
}

// TestRequiredTexts: the same required texts are missing with and without other patterns, and in windows of any size;
// one that is there, and is to be found as well, is found.
func TestRequiredTexts(t *testing.T) {
	there := 0
	rapid.Check(t, func(t *rapid.T) {
		var texts []asked
		var patterns []*Pattern
		for range rapid.IntRange(1, 4).Draw(t, "texts") {
			a := drawAsked(t)
			texts, patterns = append(texts, a), append(patterns, Compile(a.text, a.Options))
		}
		content := drawContent(t, texts)
		required := func(alone bool, window int) Report {
			e := NewEngine(patterns)
			for i := range texts {
				e.Require(i, alone)
			}
			return reportOf(t, e, content, window)
		}
		window := rapid.SampledFrom([]int{1, 5, 64, 200}).Draw(t, "window")
		whole, shown := required(false, 0), examine(t, texts, content, 0)
		if alone := required(true, window); !slices.Equal(alone.Missing, whole.Missing) || len(alone.Finds) > 0 {
			t.Fatalf("%+v in %q: missing %v, alone, in windows of %d bytes, %v", texts, content, whole.Missing, window,
				alone.Missing)
		}
		for i, f := range shown {
			is := !slices.Contains(whole.Missing, i)
			has := slices.ContainsFunc(whole.Finds, func(w *Find) bool { return w.Pattern == i })
			if is && f == nil || has != (f != nil) {
				t.Fatalf("%+v in %q: missing %v, found %v, and alone %s", texts[i], content, !is, has, said(f))
			}
			if is {
				there++
			}
		}
	})
	if there < 20 {
		t.Errorf("%d texts were there", there)
	}
}
