package run

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// A ruleSides says which sides of a change have a rule.
type ruleSides struct{ base, head bool }

// A RuleSet is the bundles that one run enforces: the rules of all, those of the first source first, and a rule that is
// the same in two of them once. So a change that brings its own bundle can tighten the rules that check it, never
// loosen them.
type RuleSet struct {
	Bundle   *rules.Bundle
	From     []string // of each rule of the bundle, as in [RuleSource]
	Policies []verdict.Policy

	sources []RuleSource
	sides   []ruleSides // of each rule of the bundle
	diff    *ruleDiff
}

// NewRuleSet returns the rule set of some sources, which are loaded.
func NewRuleSet(sources []RuleSource) *RuleSet {
	set := &RuleSet{diff: newRuleDiff(sources), sources: sources}
	var enforced []rules.Rule
	byID := map[string][]int{} // in enforced
	for _, t := range []rules.Type{rules.Boundary, rules.Invariant} {
		for i := range sources {
			sides := sources[i].sides()
			for _, r := range sources[i].Bundle.Rules {
				if r.Type != t {
					continue
				}
				same := slices.IndexFunc(byID[r.ID], func(i int) bool { return r.Same(enforced[i]) })
				if same >= 0 {
					known := &set.sides[byID[r.ID][same]]
					known.base, known.head = known.base || sides.base, known.head || sides.head
					continue
				}
				byID[r.ID] = append(byID[r.ID], len(enforced))
				enforced = append(enforced, r)
				set.From, set.sides = append(set.From, sources[i].From), append(set.sides, sides)
			}
		}
	}
	for i := range sources {
		b := sources[i].Bundle
		set.Policies = append(set.Policies, verdict.Policy{
			From: sources[i].From, Commit: sources[i].Commit, SHA256: b.SHA256,
			Boundaries: b.Count(rules.Boundary), Invariants: b.Count(rules.Invariant), Deprecated: len(b.Deprecated),
		})
	}
	sameRule := func(a, b rules.Rule) bool { return a.ID == b.ID }
	if len(sources) == 1 && slices.EqualFunc(enforced, sources[0].Bundle.Rules, sameRule) {
		set.Bundle = sources[0].Bundle // which is compiled
	} else {
		set.Bundle = rules.New(enforced, nil)
	}
	return set
}

// Changes returns what the head's bundles change in the base's: first in the base's rules, in their order, then the
// rules that the head adds. Without a bundle of the head, which is an error of the run, there is nothing.
func (s *RuleSet) Changes() []verdict.PolicyChange { return s.diff.changes() }

// Note explains that only the base's version of a rule, by its index, forbids what it does at a path; "" if the head's
// does, too.
func (s *RuleSet) Note(rule int, pattern rules.PatternRef, path string) string {
	if s.From[rule] != fromBase {
		return ""
	}
	return s.diff.onlyBaseNote(&s.Bundle.Rules[rule], path, pattern)
}

// ExcludeCount is how many rule files of the bundles have an exclude.
func (s *RuleSet) ExcludeCount() int {
	n := 0
	for i := range s.sources {
		n += len(s.sources[i].Bundle.FileExcludes)
	}
	return n
}

// Excluding appends to into the numbers, below [RuleSet.ExcludeCount], of the rule files whose exclude removes a path
// from one of their rules.
func (s *RuleSet) Excluding(path string, into []int) []int {
	first := 0
	for i := range s.sources {
		b := s.sources[i].Bundle
		if len(b.FileExcludes) == 0 {
			continue
		}
		from := len(into)
		into = b.TakenByFile(path, into)
		for i := range into[from:] {
			into[from+i] += first
		}
		first += len(b.FileExcludes)
	}
	return into
}

// Excluded returns the policies with the rule files that have an exclude, in the order of their numbers.
func (s *RuleSet) Excluded() []verdict.Policy {
	all := slices.Clone(s.Policies)
	for i := range s.sources {
		for _, e := range s.sources[i].Bundle.FileExcludes {
			all[i].Excluded = append(all[i].Excluded, verdict.Excluded{File: e.File})
		}
	}
	return all
}

// Sides says whether a rule, by its index in the bundle, is the base's, and whether it is the head's. One that both
// have, or that the change cannot touch, is both.
func (s *RuleSet) Sides(rule int) (base, head bool) { return s.sides[rule].base, s.sides[rule].head }

// Allowances returns the entries that count on each side, in the order of the sources. A run without a change has only
// those of the head.
func (s *RuleSet) Allowances() (base, head []rules.Allowance) {
	for i := range s.sources {
		sides, entries := s.sources[i].sides(), s.sources[i].Bundle.Allowances
		if sides.base {
			base = append(base, entries...)
		}
		if sides.head {
			head = append(head, entries...)
		}
	}
	return base, head
}

// OwnAllowances returns those of the entries that the change can touch.
func (s *RuleSet) OwnAllowances() (base, head []rules.Allowance) {
	for i := range s.sources {
		switch sides, entries := s.sources[i].sides(), s.sources[i].Bundle.Allowances; {
		case !sides.head:
			base = append(base, entries...)
		case !sides.base:
			head = append(head, entries...)
		}
	}
	return base, head
}

// IsCompared reports whether the rules and allowances of a base are compared with those of the head.
func (s *RuleSet) IsCompared() bool { return s.diff.compared }

// HasBase reports whether there is a bundle of the base, which a change is compared with.
func (s *RuleSet) HasBase() bool {
	own, _ := s.OwnAllowances()
	return slices.Contains(s.From, fromBase) || len(own) > 0
}

// HasTwoSides reports whether the run compares two states of a repository, of which the base may have no bundle.
func (s *RuleSet) HasTwoSides() bool {
	return slices.ContainsFunc(s.sources, func(src RuleSource) bool {
		return src.From == fromBase || src.From == fromBootstrap
	})
}

// HasDates reports whether an entry of a bundle ends on a day.
func (s *RuleSet) HasDates() bool {
	for i := range s.sources {
		if slices.ContainsFunc(s.sources[i].Bundle.Allowances, func(a rules.Allowance) bool { return a.Until != "" }) {
			return true
		}
	}
	return false
}
