package match

import (
	"bytes"
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

// TestRequiredTexts compares which required texts are missing with the naive search in what is behind the mark, with
// and without other patterns, and in windows of any size.
func TestRequiredTexts(t *testing.T) {
	found, cut := 0, 0 // texts that are there, and that are there only where units are cut in two
	check := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, texts []asked, content []byte, window int, alone bool) {
		var patterns []*Pattern
		for _, a := range texts {
			patterns = append(patterns, Compile(a.text, a.Options))
		}
		e := NewEngine(patterns)
		for i := range texts {
			e.Require(i, alone)
		}
		rep := reportOf(t, e, content, window)
		shown := examine(t, texts, content, window)
		for i, a := range texts {
			is := naiveRequired(a, content)
			if is == slices.Contains(rep.Missing, i) {
				t.Fatalf("%q %+v in %q, windows of %d bytes: required and there: %v, missing: %v",
					a.text, a.Options, content, window, is, rep.Missing)
			}
			has := slices.ContainsFunc(rep.Finds, func(f *Find) bool { return f.Pattern == i })
			if has != (!alone && shown[i] != nil) {
				t.Fatalf("%q %+v in %q: found %v; alone: %v, forbidden: %v", a.text, a.Options, content, has, alone,
					shown[i])
			}
			if is {
				found++
			} else if shown[i] != nil {
				cut++
			}
		}
	}
	for range 5 {
		rapid.Check(t, func(t *rapid.T) {
			var texts []asked
			for range rapid.IntRange(1, 4).Draw(t, "texts") {
				texts = append(texts, drawAsked(t))
			}
			window := rapid.SampledFrom([]int{0, 1, 5, 64, 200}).Draw(t, "window")
			check(t, texts, drawContent(t, texts), window, rapid.Bool().Draw(t, "alone"))
		})
	}
	long := strings.Repeat("x", 300)
	for enc := range encodings {
		for _, a := range []asked{{"key", words}, {"a = b", spaces}, {"k", words}, {"KEY", all}, {"a\nb", Options{}}} {
			for _, c := range []string{a.text, "x" + a.text, a.text + "x", long + a.text,
				long + " " + a.text + "\u0162"} {
				for _, before := range []string{"", "\x00", enc.bom(), enc.bom() + "\x00", "\xef\xbb\xbf"} {
					check(t, []asked{a}, append([]byte(before), enc.encode(c)...), 64, true)
					check(t, []asked{a}, append([]byte(before), enc.encode(c)...), 0, false)
				}
			}
		}
	}
	if found < 100 || cut < 100 {
		t.Errorf("%d texts were there, %d only where units are cut in two", found, cut)
	}
}

// naiveRequired reports whether a required text is in a content: it looks for it in one encoding after another, with
// what is before each whole unit cut off except for one.
func naiveRequired(a asked, content []byte) bool {
	own, begin := utf8Enc, 0
	for _, enc := range []encoding{utf8Enc, utf16LE, utf16BE, utf32LE, utf32BE} { // the longer comes later
		if bytes.HasPrefix(content, []byte(enc.bom())) {
			own, begin = enc, len(enc.bom())
		}
	}
	for enc := range encodings {
		unit := []int{1, 2, 2, 4, 4}[enc]
		if len([]rune(a.text)) == 1 && enc != own {
			continue
		}
		atoms := naiveAtoms(a.text, a.Options, unit)
		var units []uint32
		for at := begin % unit; at+unit <= len(content); at += unit {
			units = append(units, naiveUnit(enc, content[at:]))
		}
		for i := range units {
			end := naiveEnd(atoms, units, i, a.Options)
			if end >= 0 && naiveApart(a, units, i, end) &&
				(a.WithinLines == 0 || naiveLine(units, i) <= a.WithinLines) {
				return true
			}
		}
	}
	return false
}
