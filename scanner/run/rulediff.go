package run

import (
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/policydiff"
	"github.com/policyscan/policyscan/verdict"
)

// Changes returns the head's changes to the base's rules: see [policydiff.Rules]. Without a bundle of the head, which
// is an error of the run, the list is empty.
func (s *RuleSet) Changes() []verdict.PolicyChange {
	if !s.IsCompared() {
		return nil
	}
	return policydiff.Rules(s.own(ruleSides{base: true}), s.own(ruleSides{head: true}))
}

// Note explains that only the base's version of a rule, by its index, forbids something at a path; "" if the head's
// does, too.
func (s *RuleSet) Note(rule int, pattern rules.PatternRef, path string) string {
	if s.From[rule] != fromBase || !s.IsCompared() {
		return ""
	}
	whose, why, other, merge := "the base's", "the head does not enforce it", "the head's", "merge"
	if s.has(fromIndex) {
		whose, why, other, merge = "HEAD's", "what is staged does not enforce it", "the staged one", "commit"
	}
	r := &s.Bundle.Rules[rule]
	for _, n := range s.ofHead[r.ID] {
		lacks := pattern.Without(r, n, path)
		if lacks == "" {
			return ""
		}
		why = other + " " + lacks
	}
	return "this is " + whose + " rule; " + why + ": " + merge + " the change to the bundle first"
}
