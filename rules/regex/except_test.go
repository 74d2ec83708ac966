package regex

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naiveExcept drops the matches of a line that lie within one of the others.
func naiveExcept(found, spared []Match) (kept []Match) {
	for _, m := range found[:min(len(found), MaxMatches)] {
		within := func(s Match) bool { return s.Start <= m.Start && m.End <= s.End }
		if !slices.ContainsFunc(spared, within) {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 && len(found) > MaxMatches {
		kept = found[MaxMatches:][:1]
	}
	return kept
}

func compiled(t testing.TB, source string) *Expr {
	t.Helper()
	e, err := Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExcept: matches within those of another regex on the line do not count, in memory and from a reader.
func TestExcept(t *testing.T) {
	sources := []string{"a", "ab", "a+b?", `\bb`, "^a", "b$", "[ab]c", "a.*?c", "(?i)B", "c|ab", "ca|b"}
	rapid.Check(t, func(t *rapid.T) {
		source, other := rapid.SampledFrom(sources).Draw(t, "source"), rapid.SampledFrom(sources).Draw(t, "other")
		text := rapid.StringMatching(`([abcB ]{0,6}[\r\n]?){0,5}`).Draw(t, "text")
		e, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Compile(other)
		if err != nil {
			t.Fatal(err)
		}
		var want []Match
		at := int64(0)
		for _, line := range strings.FieldsFunc(strings.NewReplacer("\r", "\n").Replace(text), func(r rune) bool { return r == '\n' }) {
			at = int64(strings.Index(text[at:], line)) + at
			for _, m := range naiveExcept(slices.Collect(e.Find([]byte(line))), slices.Collect(x.Find([]byte(line)))) {
				want = append(want, Match{at + m.Start, at + m.End})
			}
			at += int64(len(line))
		}
		apart := e.Except(x)
		got := slices.Collect(apart.Find([]byte(text)))
		var read []Match
		for m, err := range apart.FindReader(strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, m)
		}
		if !slices.Equal(got, want) || !slices.Equal(read, want) || apart.Match([]byte(text)) != (len(want) > 0) {
			t.Errorf("%s except %s in %q: %v and %v, want %v", source, other, text, got, read, want)
		}
	})
}

// TestExceptMany: where all of the first hundred matches of a line are spared, the next one counts.
func TestExceptMany(t *testing.T) {
	e := compiled(t, "a").Except(compiled(t, "ab"))
	for text, want := range map[string][]Match{
		strings.Repeat("ab", 100):                 {},
		strings.Repeat("ab", 101):                 {{200, 201}},
		strings.Repeat("ab", 100) + "aa":          {{200, 201}},
		"a" + strings.Repeat("ab", 200):           {{0, 1}},
		strings.Repeat("ab", 101) + "\n" + "ab a": {{200, 201}, {206, 207}},
	} {
		got := slices.Collect(e.Find([]byte(text)))
		var read []Match
		for m := range e.FindReader(strings.NewReader(text)) {
			read = append(read, m)
		}
		if !slices.Equal(got, want) || !slices.Equal(read, want) {
			t.Errorf("%.20s…: %v and %v, want %v", text, got, read, want)
		}
	}
}
