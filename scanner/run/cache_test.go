package run

import (
	"fmt"
	"testing"

	"github.com/policyscan/policyscan/rules"
)

// TestCache: the same sources share compiled bundles, others get their own, and a full cache is cleared.
func TestCache(t *testing.T) {
	var list []rules.Rule
	for i := range 8 {
		id := fmt.Sprint("R-", i)
		list = append(list, rules.Rule{ID: id, Type: rules.Boundary, Files: []string{id},
			Patterns: rules.PlainItems(id)})
	}
	a, b := rules.New(list, nil), rules.New(nil, nil)
	of := func(bundle *rules.Bundle) []RuleSource { return []RuleSource{{From: "disk", Bundle: bundle}} }
	p := &Cache{}
	set, plans, limiter := p.of(of(a))
	if s, e, l := p.of(of(a)); s != set || e != plans || l != limiter {
		t.Error("the same sources are compiled again")
	}
	if s, e, l := p.of(of(b)); s == set || e == plans || l != limiter {
		t.Error("other sources get what is not of their bundle")
	}
	if s, e, l := p.of([]RuleSource{{From: "commit", Bundle: a}}); s == set || e == plans || l != limiter {
		t.Error("sources from elsewhere get what says where others are from")
	}
	for i := range 1 << len(a.Rules) {
		var selected []int
		for k := range a.Rules {
			if i>>k&1 == 1 {
				selected = append(selected, k)
			}
		}
		plans.Plan(selected)
	}
	if s, e, l := p.of(of(a)); s != set || e == plans || l != limiter {
		t.Error("what is full is not made again, or more than that")
	}
	if s, e, l := (*Cache)(nil).of(of(a)); s == set || e == nil || l == limiter {
		t.Error("without it nothing is compiled, or what others compiled is used")
	}
}
