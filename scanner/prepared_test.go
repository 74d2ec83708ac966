package scanner

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/judges"
)

// TestPrepared: the same judges get what was compiled for them, others get their own, and what is full is made again.
func TestPrepared(t *testing.T) {
	a, b := rules.New(nil, nil), rules.New(nil, nil)
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
	for i := range maxEngines {
		engines.selections[fmt.Sprint(i)] = &selection{}
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

// TestScreened: for a content that has none of many texts, next to nothing is prepared: a hook's process checks one
// edit. A checker of many contents prepares the texts once.
func TestScreened(t *testing.T) {
	bundle := rules.New(benchRules(500), nil)
	text := []byte(benchText(rand.New(rand.NewPCG(3, 4)), 100<<10))
	allocations := func(c *Checker) float64 {
		return testing.AllocsPerRun(1, func() {
			c.engines = newEngines(bundle)
			if found, err := c.Check(t.Context(), "main.tf", text); err != nil || len(found) != 0 {
				t.Fatalf("%v, %v", found, err)
			}
		})
	}
	few, all := allocations(NewChecker(bundle)), allocations(unscreened(bundle))
	if few > 100 || all < 2000 {
		t.Errorf("%v allocations, and %v when all texts are prepared", few, all)
	}
	c := NewChecker(bundle)
	for i := 0; len(c.engines.selections) == 0; i++ {
		if i == 50 { // 5 MB: a text takes as long as 2 KB
			t.Fatal("the texts are never prepared")
		}
		if _, err := c.Check(t.Context(), "main.tf", text); err != nil {
			t.Fatal(err)
		}
	}
}
