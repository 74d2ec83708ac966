package run

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
)

// A ruleSides says which sides of a change have a rule.
type ruleSides struct{ base, head bool }

// A RuleSet is the bundles that one run enforces: the rules of all, in the order of the sources, without repeating a
// rule that two of them share. So a change that brings its own bundle can tighten the rules that check it, never
// loosen them.
type RuleSet struct {
	Bundle   *rules.Bundle
	From     []string // by rule of the bundle, as in [RuleSource]
	Policies []verdict.Policy

	sources []RuleSource
	sides   []ruleSides              // by rule of the bundle
	ofHead  map[string][]*rules.Rule // the rules of the head's bundles, by id
}

// NewRuleSet returns the rule set of some loaded sources.
func NewRuleSet(sources []RuleSource) *RuleSet {
	set := &RuleSet{sources: sources, ofHead: map[string][]*rules.Rule{}}
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
	for _, b := range set.own(ruleSides{head: true}) {
		for i := range b.Rules {
			set.ofHead[b.Rules[i].ID] = append(set.ofHead[b.Rules[i].ID], &b.Rules[i])
		}
	}
	for i := range sources {
		b := sources[i].Bundle
		set.Policies = append(set.Policies, verdict.Policy{
			From: sources[i].From, Commit: sources[i].Commit, Directory: verdict.Path(b.Below), SHA256: b.SHA256,
			Boundaries: b.Count(rules.Boundary), Invariants: b.Count(rules.Invariant), Deprecated: len(b.Deprecated),
		})
	}
	sameRule := func(a, b rules.Rule) bool { return a.ID == b.ID }
	if len(sources) == 1 && slices.EqualFunc(enforced, sources[0].Bundle.Rules, sameRule) {
		set.Bundle = sources[0].Bundle // already compiled
	} else {
		set.Bundle = rules.New(enforced, nil)
	}
	return set
}

// own returns the bundles that only one side of a change has.
func (s *RuleSet) own(side ruleSides) []*rules.Bundle {
	var all []*rules.Bundle
	for i := range s.sources {
		if s.sources[i].sides() == side {
			all = append(all, s.sources[i].Bundle)
		}
	}
	return all
}

// ExcludeCount is the number of rule files with an exclude.
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
		for _, file := range s.sources[i].Bundle.FileExcludes {
			all[i].Excluded = append(all[i].Excluded, verdict.Excluded{File: file})
		}
	}
	return all
}

// Sides reports whether a rule, by its index in the bundle, is the base's, and whether it is the head's. A shared
// rule, or one that the change cannot touch, is both.
func (s *RuleSet) Sides(rule int) (base, head bool) { return s.sides[rule].base, s.sides[rule].head }

// Allowances returns the entries that count on each side, in the order of the sources. Without a change all are the
// head's.
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

// OwnAllowances returns the entries that the change can touch.
func (s *RuleSet) OwnAllowances() (base, head []rules.Allowance) {
	of := func(side ruleSides) (all []rules.Allowance) {
		for _, b := range s.own(side) {
			all = append(all, b.Allowances...)
		}
		return all
	}
	return of(ruleSides{base: true}), of(ruleSides{head: true})
}

// IsCompared reports whether the rules and allowances of a base, which may have no bundle, are compared with those of
// the head, which has one that loads.
func (s *RuleSet) IsCompared() bool { return s.HasTwoSides() && len(s.own(ruleSides{head: true})) > 0 }

// HasBase reports whether the base has a bundle.
func (s *RuleSet) HasBase() bool { return len(s.own(ruleSides{base: true})) > 0 }

// HasTwoSides reports whether the run compares two snapshots; the base may have no bundle.
func (s *RuleSet) HasTwoSides() bool { return s.HasBase() || s.has(fromBootstrap) }

// has reports whether a bundle is from a source, as in [RuleSource].
func (s *RuleSet) has(from string) bool {
	return slices.ContainsFunc(s.sources, func(src RuleSource) bool { return src.From == from })
}

// HasDates reports whether an entry of a bundle has a last day.
func (s *RuleSet) HasDates() bool {
	for i := range s.sources {
		if slices.ContainsFunc(s.sources[i].Bundle.Allowances, func(a rules.Allowance) bool { return a.Until != "" }) {
			return true
		}
	}
	return false
}

// A Cache keeps compiled bundles for later runs with the same bundles: to compile the rules takes longer than to scan
// a small repository. Several runs may use it at once; they share one parse limiter.
type Cache struct {
	mu      sync.Mutex // guards the fields below
	sources []RuleSource
	set     *RuleSet
	plans   *check.PlanCache
	limiter *check.ParseLimiter
	bundles map[string]*rules.Bundle // of the runs of a push, which come one after another; see bundleLoader
}

// of returns the rule set of some sources, its plans, and the parse limiter: the cached ones, if their sources are the
// same. Others are cached only if the cache is empty. A nil Cache caches nothing.
func (c *Cache) of(sources []RuleSource) (*RuleSet, *check.PlanCache, *check.ParseLimiter) {
	if c == nil {
		c = &Cache{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limiter == nil {
		c.limiter = check.NewParseLimiter()
	}
	same := func(a, b RuleSource) bool { return a.From == b.From && a.Commit == b.Commit && a.Bundle == b.Bundle }
	switch {
	case c.set == nil:
		c.sources, c.set = slices.Clone(sources), NewRuleSet(sources)
	case !slices.EqualFunc(c.sources, sources, same):
		set := NewRuleSet(sources)
		return set, check.NewPlanCache(set.Bundle), c.limiter
	}
	if c.plans == nil || c.plans.Full() { // one odd tree does not slow the others, and memory is bounded
		c.plans = check.NewPlanCache(c.set.Bundle)
	}
	return c.set, c.plans, c.limiter
}
