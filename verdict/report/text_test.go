package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

func textOf(t *testing.T, v *verdict.Verdict, o TextOptions) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTextScope: the report says what a change was compared with, and nothing where there was
// nothing to compare with.
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
		{verdict.Scope{Mode: "full", HeadCommit: diff.HeadCommit, Strategy: "github-push"}, "5 files of the whole head (0123456; chosen as github-push), 2 covered"},
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
		{"https://example.com/an/address/that/is/long next", 20, []string{"https://example.com/an/address/that/is/long", "next"}},
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

// TestTextFolds: a text that finds what a key of the rule finds has no line, and nothing else is left out.
func TestTextFolds(t *testing.T) {
	violation := func(kind, file, pattern, status, note string, lines ...int64) verdict.Violation {
		v := verdict.Violation{
			RuleID: "R-1", RuleType: "boundary", Title: "T", File: file, Reason: "R", Note: note, Status: status,
			Evidence: verdict.Evidence{Kind: kind, Pattern: pattern, Excerpt: "x", Occurrences: int64(len(lines))},
		}
		for _, line := range lines {
			v.Evidence.Places = append(v.Evidence.Places,
				verdict.Place{Line: line, Column: 1, EndLine: line, EndColumn: 2, Status: status})
		}
		v.Evidence.Line, v.Evidence.Column, v.Evidence.EndLine, v.Evidence.EndColumn = lines[0], 1, lines[0], 2
		return v
	}
	const key, text = `{"key":"a"}`, `{"text":"a: b","spaces":"any"}`
	block := violation(verdict.KindKey, "f", key, "", "", 2)
	block.Evidence.Places[0].EndLine = 9
	long := violation(verdict.KindText, "f", text, "", "", 1)
	long.Evidence.Places[0].EndLine = 2
	cut := violation(verdict.KindText, "f", text, "", "", 2)
	cut.Evidence.Occurrences = 3
	tests := []struct {
		name   string
		of     []verdict.Violation
		folded int
	}{
		{"the same line", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2),
			violation(verdict.KindText, "f", text, "", "", 2)}, 1},
		{"an expression, at some of the lines", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2, 5, 7),
			violation(verdict.KindRegex, "f", text, "", "", 5, 7)}, 1},
		{"a line more", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2, 5),
			violation(verdict.KindText, "f", text, "", "", 2, 4, 5)}, 0},
		{"lines of two keys", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 5),
			violation(verdict.KindKey, "f", key+"2", "", "", 2), violation(verdict.KindText, "f", text, "", "", 2, 5)}, 1},
		{"in a long value", []verdict.Violation{block, violation(verdict.KindKey, "f", key+"2", "", "", 3),
			violation(verdict.KindText, "f", text, "", "", 8)}, 1},
		{"a text that ends there", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2), long}, 1},
		{"another file", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2),
			violation(verdict.KindText, "g", text, "", "", 2)}, 0},
		{"a new one", []verdict.Violation{violation(verdict.KindKey, "f", key, "pre_existing", "", 2),
			violation(verdict.KindText, "f", text, "introduced", "", 2)}, 0},
		{"a note", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2),
			violation(verdict.KindText, "f", text, "", "remove it", 2)}, 0},
		{"places that nobody has listed", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2), cut}, 0},
		{"two texts", []verdict.Violation{violation(verdict.KindText, "f", "a", "", "", 2),
			violation(verdict.KindText, "f", text, "", "", 2)}, 0},
		{"two keys", []verdict.Violation{violation(verdict.KindKey, "f", key, "", "", 2),
			violation(verdict.KindKey, "f", key+"2", "", "", 2)}, 0},
	}
	for _, test := range tests {
		v := newFixture()
		v.Rules = []verdict.Rule{{ID: "R-1", Type: "boundary", Title: "T"}}
		v.Violations = test.of
		v.Decide()
		text := textOf(t, v, TextOptions{})
		if got := strings.Count(text, " [R-1]\n"); got != len(test.of)-test.folded ||
			strings.Count(text, "  also: ") != test.folded ||
			!strings.Contains(text, fmt.Sprintf("(%s in ", count(len(test.of), "violation"))) {
			t.Errorf("%s: %d lines\n%s", test.name, got, text)
		}
	}
}
