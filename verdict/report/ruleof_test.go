package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// A violation's rule is found among rules of one id, by what each of them says, and where
// they say the same by the order of the violations.
func TestRuleIndexes(t *testing.T) {
	rule := func(id, kind, from, title, message string) verdict.Rule {
		return verdict.Rule{ID: id, Type: kind, From: from, Title: title, Message: message}
	}
	rules := []verdict.Rule{
		rule("A", "boundary", "base", "old", ""),
		rule("B", "boundary", "base", "same", "m"),
		rule("A", "boundary", "head", "new", ""),
		rule("B", "boundary", "head", "same", "m"),
		rule("A", "invariant", "base", "old", "said"),
		rule("A", "invariant", "head", "old", "said otherwise"),
		rule("C", "boundary", "base", "same", "m"),
		rule("C", "invariant", "head", "same", "m"),
		rule("A", "boundary", "head", "old", ""),
	}
	of := func(r int, file, pattern string) verdict.Violation {
		reason := rules[r].Message
		if reason == "" {
			reason = rules[r].Title + ": the file contains it"
		}
		return verdict.Violation{RuleID: rules[r].ID, RuleType: rules[r].Type, Title: rules[r].Title, File: file, Reason: reason, Evidence: verdict.Evidence{Pattern: pattern}}
	}
	for _, c := range []struct {
		name  string
		found []verdict.Violation
		want  []int
	}{
		{"titles", []verdict.Violation{of(0, "a", "x"), of(2, "a", "x")}, []int{0, 2}},
		{"types and messages", []verdict.Violation{of(2, "z", "x"), of(4, "a", "x"), of(5, "a", "x")}, []int{2, 4, 5}},
		{"only the type differs", []verdict.Violation{of(7, "a", "x")}, []int{7}},
		{"only the head's", []verdict.Violation{of(5, "a", "x")}, []int{5}},
		{"the same twice", []verdict.Violation{of(1, "a", "x"), of(3, "a", "x")}, []int{1, 3}},
		{"paths begin again", []verdict.Violation{of(1, "a", "x"), of(1, "b", "x"), of(3, "a", "y"), of(3, "b", "y")}, []int{1, 1, 3, 3}},
		{"two patterns of one rule", []verdict.Violation{of(1, "a", "x"), of(1, "a", "y")}, []int{1, 1}},
		{"in no order that a run writes", []verdict.Violation{of(0, "b", "x"), of(8, "b", "x"), of(0, "a", "x")}, []int{0, 8, 0}},
		{"no rule", []verdict.Violation{{RuleID: "A", RuleType: "boundary", Title: "other"}, {RuleID: "C"}, of(0, "a", "x")}, []int{-1, -1, 0}},
	} {
		if got := ruleIndexes(&verdict.Verdict{Rules: rules, Violations: c.found}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSentence(t *testing.T) {
	long := strings.Repeat("long ", 1000)
	for _, c := range []struct{ reason, pattern, want string }{
		{`T: the file contains "p", which must not appear`, "p", `T: the file contains "p", which must not appear.`},
		{`T: the file contains "\"q\"", which must not appear`, `"q"`, `T: the file contains "\"q\"", which must not appear.`},
		{"Why\n  not?", "p", `Why not? The file contains "p".`},
		{"Why", "a\n  b", `Why. The file contains "a\u{a}  b".`},
		{"\u202ex\x1b", "y", `\u{202e}x\u{1b}. The file contains "y".`},
		{"Why", long[:200], `Why. The file contains "` + long[:200] + `".`},
		{"Why", long, `Why. The file contains "` + long[:199] + `…".`},
		{long, "p", long[:999] + `…. The file contains "p".`},
	} {
		v := verdict.Violation{Reason: c.reason, Evidence: verdict.Evidence{Pattern: c.pattern, Occurrences: 1}}
		if got := sentenceOf(&v); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		v.Evidence.Occurrences = 12
		if got, want := sentenceOf(&v), c.want+" This is the first of 12 occurrences in the file."; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
