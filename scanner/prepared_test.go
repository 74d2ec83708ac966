package scanner

import (
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/judges"
)

// TestPrepared: the same judges get what was compiled for them, others get their own, and what is full is made again.
func TestPrepared(t *testing.T) {
	a, b := rules.New(benchRules(8), nil), rules.New(nil, nil)
	of := func(bundle *rules.Bundle) []judges.Judge { return []judges.Judge{{From: "disk", Bundle: bundle}} }
	p := &Prepared{}
	set, engines := p.of(of(a))
	if s, e := p.of(of(a)); s != set || e != engines {
		t.Error("the same judges are compiled again")
	}
	if s, e := p.of(of(b)); s == set || e == engines {
		t.Error("other judges get what is not of their bundle")
	}
	if s, e := p.of([]judges.Judge{{From: "commit", Bundle: a}}); s == set || e == engines {
		t.Error("judges from elsewhere get what says where others are from")
	}
	for i := range 1 << len(a.Rules) {
		var rules []int
		for k := range a.Rules {
			if i>>k&1 == 1 {
				rules = append(rules, k)
			}
		}
		engines.Plan(rules)
	}
	if s, e := p.of(of(a)); s != set || e == engines {
		t.Error("what is full is not made again, or more than that")
	}
	if one := p.budget(); one != p.budget() || (*Prepared)(nil).budget() == nil {
		t.Error("several scans have a budget each, or one that is alone has none")
	}
	if s, e := (*Prepared)(nil).of(of(a)); s == set || e == nil {
		t.Error("without it nothing is compiled, or what others compiled is used")
	}
}
