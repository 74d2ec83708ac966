package scanner

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/judges"
)

// A Prepared keeps what the bundles of a scan are compiled to, for later scans with the same judges. Several scans may
// use it at once, and together parse no more than one of them would. To compile the rules takes longer than to scan a
// small repository.
type Prepared struct {
	mu      sync.Mutex // of what follows
	parsing *check.ParseLimiter
	by      []judges.Judge
	set     *judges.Set
	engines *check.PlanCache
}

// of returns the set of some judges and its engines: those that are kept, if they are of the same judges. Others are
// kept only if nothing is kept yet.
func (p *Prepared) of(by []judges.Judge) (*judges.Set, *check.PlanCache) {
	if p == nil {
		return made(by)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.set != nil && !slices.Equal(p.by, by) {
		return made(by)
	}
	switch {
	case p.set == nil:
		p.by = slices.Clone(by)
		p.set, p.engines = made(by)
	case p.engines.Full(): // so that one odd tree costs the others nothing, and memory does not grow
		p.engines = check.NewPlanCache(p.set.Bundle)
	}
	return p.set, p.engines
}

// budget returns the budget of files that are parsed.
func (p *Prepared) budget() *check.ParseLimiter {
	if p == nil {
		return check.NewParseLimiter()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parsing == nil {
		p.parsing = check.NewParseLimiter()
	}
	return p.parsing
}

func made(by []judges.Judge) (*judges.Set, *check.PlanCache) {
	set := judges.NewSet(by)
	return set, check.NewPlanCache(set.Bundle)
}
