package scanner

import (
	"math/rand/v2"
	"testing"

	"github.com/policyscan/policyscan/rules"
)

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
