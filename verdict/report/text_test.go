package report

import (
	"maps"
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

// TestTextPlaces: a file is listed once for its rule, its places in the order of lines, without the ones that a key
// item finds; with a baseline files with new places are first. On a terminal 20 of more than 50 are shown, new ones first.
func TestTextPlaces(t *testing.T) {
	const o, n = verdict.PreExisting, verdict.Introduced
	many := slices.Repeat([]string{o}, 60)
	many[55], many[57] = n, n
	for name, c := range map[string]struct {
		files    map[string][]string // the statuses of the places, one in each line
		patterns []string
		same     bool // the last pattern's places are the first one's
		most     int
		want     []string // what follows the first line
	}{
		"paths": {map[string][]string{"pkg10/a": {""}, "pkg2/a": {""}, "pkg2/B": {""}}, []string{"BAD"}, false, 0,
			[]string{"pkg2/B:1:1: BAD", "pkg2/a:1:1: BAD", "pkg10/a:1:1: BAD"}},
		"new": {map[string][]string{"a": {o}, "b": {o, n}}, []string{"BAD"}, false, 0,
			[]string{"b:1:1: BAD", "b:2:1: new: BAD", "a:1:1: BAD"}},
		"patterns": {map[string][]string{"a": {"", ""}}, []string{"BAD", "AD"}, false, 0,
			[]string{"a:1:1: BAD", "a:1:2: BAD", `a:2:1: "BAD"`, `a:2:2: "AD"`}},
		"same":  {map[string][]string{"a": {"", ""}}, []string{"BAD", "AD"}, true, 0, []string{"a:1:1: BAD", `a:2:1: "BAD"`}},
		"fifty": {map[string][]string{"a": many[:50]}, []string{"BAD"}, false, 2, nil},
		"many": {map[string][]string{"a": many}, []string{"BAD"}, false, 3,
			[]string{"a:1:1: BAD", "a:56:1: new: BAD", "a:58:1: new: \"BAD\"", "    and 57 more places; --report text shows all"}},
		"over": {map[string][]string{"a": slices.Repeat([]string{n}, 103), "b": {n}}, []string{"BAD"}, false, 0,
			[]string{103: "    and 3 more places in this file, 3 new; the verdict does not list them"}},
	} {
		v := newFixture()
		v.Rules = v.Rules[:1]
		v.Rules[0].Remediation, v.Rules[0].DocsURL = "", ""
		for _, file := range slices.Sorted(maps.Keys(c.files)) {
			for i, pattern := range c.patterns {
				statuses := c.files[file]
				x := placed(v.Rules[0], file, strings.Repeat("BAD\n", len(statuses)), pattern, statuses...)
				if c.same && i > 0 {
					x.PlaceCount = 0
					for k := range x.Evidence.Places {
						x.Evidence.Places[k].SameAsKey = true
					}
				}
				x.Evidence.Places = x.Evidence.Places[:min(len(x.Evidence.Places), verdict.MaxPlaces)]
				v.Violations = append(v.Violations, x)
			}
		}
		v.Decide()
		text := textOf(t, v, TextOptions{Most: c.most})
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSuffix(line, " [NET-1]"); strings.Contains(line, ":1: ") || strings.Contains(line, ":2: ") ||
				strings.HasPrefix(line, "    and ") {
				lines = append(lines, line)
			}
		}
		if len(c.want) > 100 {
			lines = append(make([]string, len(c.want)-1), lines[len(lines)-2])
		}
		if c.want == nil && len(lines) != 50 || c.want != nil && !slices.Equal(lines, c.want) {
			t.Errorf("%s: %q in\n%s", name, lines, text)
		}
	}
}

// TestFoldUnparsed: files that cannot be parsed are one error for each advice, at the place of the first.
func TestFoldUnparsed(t *testing.T) {
	unparsed := func(file, rest string) verdict.Error {
		return verdict.Error{Code: code.Parse, File: file, Line: 2, Column: 3,
			Message: "it cannot be parsed: line 2, column 3: " + rest}
	}
	const template = "this looks like a template; to check only its text, add unparsable: text to A; " +
		"or exclude the file; or scan the rendered output"
	got := foldUnparsed([]verdict.Error{
		unparsed("a", template), unparsed("b", "no; fix it, or exclude it from A"), {Code: code.Read, File: "c"},
		unparsed("d", template), unparsed("e", "never; fix it, or exclude it from A"), unparsed("f", template),
		unparsed("g", template), unparsed("h", "no; fix it, or exclude it from B"),
	}, "../")
	want := []verdict.Error{
		{Code: code.Parse, Message: "4 files cannot be parsed (../a:2:3, ../d:2:3, ../f:2:3 and 1 more): they look like " +
			"templates; to check only their text, add unparsable: text to A; or exclude the files; or scan the rendered output"},
		{Code: code.Parse, Message: "2 files cannot be parsed (../b:2:3, ../e:2:3): the first: no; " +
			"fix them, or exclude them from A"},
		{Code: code.Read, File: "c"},
		unparsed("h", "no; fix it, or exclude it from B"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
