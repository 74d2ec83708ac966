package run

import (
	"slices"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// TestPolicyChanges: rules are compared by their ids, in any files.
func TestPolicyChanges(t *testing.T) {
	rule := func(id, pattern string) rules.Rule {
		return rules.Rule{ID: id, Type: rules.Boundary, Title: id, Files: []string{"**"},
			Patterns: rules.PlainItems(pattern)}
	}
	judge := func(from string, deprecated []rules.Rule, enforced ...rules.Rule) RuleSource {
		return RuleSource{From: from, Bundle: rules.New(enforced, deprecated)}
	}
	type change struct{ ID, Change string }
	for name, c := range map[string]struct {
		judges []RuleSource
		want   []change
	}{
		"the same": {
			[]RuleSource{judge("base", nil, rule("A", "a")), judge("head", nil, rule("A", "a"))},
			nil,
		},
		"another order": {
			[]RuleSource{
				judge("base", nil, rule("A", "a"), rule("B", "b")),
				judge("head", nil, rule("B", "b"), rule("A", "a")),
			},
			nil,
		},
		"each": {
			[]RuleSource{
				judge("base", nil, rule("A", "a"), rule("B", "b")),
				judge("index", nil, rule("C", "c"), rule("B", "x")),
			},
			[]change{{"A", "removed"}, {"B", "changed"}, {"C", "added"}},
		},
		"deprecated": {
			[]RuleSource{
				judge("base", nil, rule("A", "a"), rule("B", "b")),
				judge("head", []rules.Rule{rule("A", "a")}, rule("B", "b")),
			},
			[]change{{"A", "removed"}},
		},
		"enforced again": {
			[]RuleSource{
				judge("base", []rules.Rule{rule("A", "a")}, rule("B", "b")),
				judge("head", nil, rule("A", "a"), rule("B", "b")),
			},
			[]change{{"A", "added"}},
		},
		"introduced": {
			[]RuleSource{judge("bootstrap", nil, rule("A", "a"))},
			[]change{{"A", "added"}},
		},
		"two in the base": {
			[]RuleSource{
				judge("base", nil, rule("A", "a")),
				judge("base", nil, rule("A", "x"), rule("B", "b")),
				judge("head", nil, rule("A", "x")),
			},
			[]change{{"A", "changed"}, {"B", "removed"}},
		},
		"no head": {
			[]RuleSource{judge("base", nil, rule("A", "a"))},
			nil,
		},
		"outside": {
			[]RuleSource{judge("disk", nil, rule("A", "a"))},
			nil,
		},
		"outside, too": {
			[]RuleSource{
				judge("disk", nil, rule("O", "o")),
				judge("base", nil, rule("A", "a")),
				judge("head", nil, rule("A", "b")),
			},
			[]change{{"A", "changed"}},
		},
	} {
		var got []change
		for _, p := range NewRuleSet(c.judges).Changes() {
			if p.Kind != verdict.ChangedRule {
				t.Errorf("%s: the kind is %q", name, p.Kind)
			}
			got = append(got, change{p.RuleID, p.Change})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
