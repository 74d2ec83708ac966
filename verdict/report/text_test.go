package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

func textOf(t *testing.T, v *verdict.Verdict, o TextOptions) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTextScope: the report names the base of a change, if there is one.
func TestTextScope(t *testing.T) {
	diff := changed()
	two, found := diff, diff
	two.MergeBases = append(two.MergeBases, strings.Repeat("f", 40))
	found.Strategy = "github-merge-commit"
	staged := verdict.Scope{Mode: "staged", Base: "HEAD", BaseCommit: diff.BaseCommit, Strategy: "index"}
	for _, c := range []struct {
		scope verdict.Scope
		want  string
	}{
		{diff, "5 files changed since main (merge base 0123456), 2 covered"},
		{two, "5 files changed since main (merge bases 0123456, fffffff), 2 covered"},
		{found, "5 files changed since main (merge base 0123456; chosen as github-merge-commit), 2 covered"},
		{staged, "5 files staged since HEAD (0123456), 2 covered"},
		{verdict.Scope{Mode: "staged", Strategy: "index"}, "5 files staged for the first commit, 2 covered"},
		{verdict.Scope{Mode: "full", HeadCommit: diff.HeadCommit, Strategy: "github-push"},
			"5 files of the whole head (0123456; chosen as github-push), 2 covered"},
		{verdict.Scope{Mode: "full"}, ""},
		{verdict.Scope{Mode: "tracked"}, ""},
		{verdict.Scope{Mode: "diff", Base: "main"}, ""}, // no such base
		{verdict.Scope{Mode: "staged"}, ""},             // no such index
	} {
		v := newFixture()
		v.Scope = c.scope
		for deleted, more := range []string{"", ", 1 deleted"} {
			v.Coverage.Deleted = deleted
			got := ""
			for line := range strings.Lines(textOf(t, v, TextOptions{})) {
				if scope, ok := strings.CutPrefix(strings.TrimSpace(line), "scope: "); ok {
					got = scope
				}
			}
			want := c.want
			if want != "" {
				want += more
			}
			if got != want {
				t.Errorf("%+v: %q, want %q", c.scope, got, want)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line string
		room int
		want []string
	}{
		{"a few words", 20, []string{"a few words"}},
		{"a few words that need two lines", 20, []string{"a few words that", "need two lines"}},
		{"  twenty columns it is", 22, []string{"  twenty columns it is"}},
		{"the first is 20 long and more", 20, []string{"the first is 20 long", "and more"}},
		{"https://example.com/an/address/that/is/long next", 20,
			[]string{"https://example.com/an/address/that/is/long", "next"}},
		{strings.Repeat("漢字 ", 6) + "x", 20, []string{"漢字 漢字 漢字 漢字", "漢字 漢字 x"}},
		{"no room for anything at all", 5, []string{"no room for anything at all"}},
		{"", 20, []string{""}},
	} {
		if got := wrap(c.line, c.room); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.line, c.room, got, c.want)
		}
	}
}

// TestFlow: what is of several lines is one line, and the spaces of a pattern are as many as there are.
func TestFlow(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`the file contains "a   b"`, `the file contains "a   b"`},
		{"  the first line \n\t and\r\n\r\n  the  next\u2028one\n", "the first line and the  next one"},
		{"a\tb\u00a0\u200bc", "a b\\u{a0}\\u{200b}c"},
		{" \n ", ""},
	} {
		if got := flow(c.text); got != c.want {
			t.Errorf("flow(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// TestTextFolds: a literal that only matches where a key pattern does has no line; all others have.
func TestTextFolds(t *testing.T) {
	const key, literal = `{"key":"a"}`, `{"text":"a: b","spaces":"any"}`
	violation := func(kind, pattern string, lines ...int64) verdict.Violation {
		v := verdict.Violation{RuleID: "R-1", RuleType: "boundary", Title: "T", File: "f", Reason: "R"}
		v.Evidence = verdict.Evidence{Kind: kind, Pattern: pattern, Excerpt: "x", Occurrences: int64(len(lines))}
		for _, n := range lines {
			v.Evidence.Places = append(v.Evidence.Places, verdict.Place{Line: n, Column: 1, EndLine: n, EndColumn: 2})
		}
		v.Evidence.Line, v.Evidence.Column, v.Evidence.EndLine, v.Evidence.EndColumn = lines[0], 1, lines[0], 2
		return v
	}
	change := func(v verdict.Violation, change func(*verdict.Violation)) verdict.Violation {
		change(&v)
		return v
	}
	keyed := func(lines ...int64) verdict.Violation { return violation(verdict.KindKey, key, lines...) }
	other := func(lines ...int64) verdict.Violation { return violation(verdict.KindKey, key+"2", lines...) }
	text := func(lines ...int64) verdict.Violation { return violation(verdict.KindText, literal, lines...) }
	long := func(end int64) func(*verdict.Violation) {
		return func(v *verdict.Violation) { v.Evidence.Places[0].EndLine = end }
	}
	for name, c := range map[string]struct {
		of     []verdict.Violation
		folded int
	}{
		"the same line":   {[]verdict.Violation{keyed(2), text(2)}, 1},
		"some lines":      {[]verdict.Violation{keyed(2, 5, 7), violation(verdict.KindRegex, literal, 5, 7)}, 1},
		"a line more":     {[]verdict.Violation{keyed(2, 5), text(2, 4, 5)}, 0},
		"two keys' lines": {[]verdict.Violation{keyed(5), other(2), text(2, 5)}, 1},
		"a long value":    {[]verdict.Violation{change(keyed(2), long(9)), other(3), text(8)}, 1},
		"ends there":      {[]verdict.Violation{keyed(2), change(text(1), long(2))}, 1},
		"another file": {[]verdict.Violation{keyed(2), change(text(2),
			func(v *verdict.Violation) { v.File = "g" })}, 0},
		"a new one": {[]verdict.Violation{
			change(keyed(2), func(v *verdict.Violation) { v.Status = "pre_existing" }),
			change(text(2), func(v *verdict.Violation) { v.Status = "introduced" }),
		}, 0},
		"a note": {[]verdict.Violation{keyed(2), change(text(2), func(v *verdict.Violation) { v.Note = "n" })}, 0},
		"unlisted": {[]verdict.Violation{keyed(2), change(text(2),
			func(v *verdict.Violation) { v.Evidence.Occurrences = 3 })}, 0},
		"two texts": {[]verdict.Violation{violation(verdict.KindText, "a", 2), text(2)}, 0},
		"two keys":  {[]verdict.Violation{keyed(2), other(2)}, 0},
	} {
		v := newFixture()
		v.Rules = []verdict.Rule{{ID: "R-1", Type: "boundary", Title: "T"}}
		v.Violations = c.of
		v.Decide()
		text := textOf(t, v, TextOptions{})
		if strings.Count(text, " [R-1]\n") != len(c.of)-c.folded || strings.Count(text, "  also: ") != c.folded {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// TestFoldUnparsed: files that cannot be parsed are one error for each advice, at the place of the first.
func TestFoldUnparsed(t *testing.T) {
	unparsed := func(file, rest string) verdict.Error {
		return verdict.Error{Code: code.Parse, File: file, Line: 2, Column: 3,
			Message: "it cannot be parsed: line 2, column 3: " + rest}
	}
	const template = "this looks like a template; exclude it from A, write unparsable: text there to check only " +
		"its text, or scan what it renders"
	got := foldUnparsed([]verdict.Error{
		unparsed("a", template), unparsed("b", "no; fix it, or exclude it from A"), {Code: code.Read, File: "c"},
		unparsed("d", template), unparsed("e", "never; fix it, or exclude it from A"), unparsed("f", template),
		unparsed("g", template), unparsed("h", "no; fix it, or exclude it from B"),
	}, "../")
	want := []verdict.Error{
		{Code: code.Parse, Message: "4 files cannot be parsed (../a:2:3, ../d:2:3, ../f:2:3 and 1 more): they look like " +
			"templates; exclude them from A, write unparsable: text there to check only their text, or scan what they render"},
		{Code: code.Parse, Message: "2 files cannot be parsed (../b:2:3, ../e:2:3): the first: no; " +
			"fix them, or exclude them from A"},
		{Code: code.Read, File: "c"},
		unparsed("h", "no; fix it, or exclude it from B"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
