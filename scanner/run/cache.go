package run

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/scanner/check"
)

// A Cache keeps compiled bundles for later runs with the same bundles: to compile the rules takes longer than to scan
// a small repository. Several runs may use it at once; they share one parse limiter.
type Cache struct {
	mu      sync.Mutex // guards the fields below
	sources []RuleSource
	set     *RuleSet
	plans   *check.PlanCache
	limiter *check.ParseLimiter
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
