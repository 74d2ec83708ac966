package check

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict/code"
)

// manyTexts is a bundle of n rules with two texts each.
func manyTexts(n int) *rules.Bundle {
	var list []rules.Rule
	for i := range n {
		list = append(list, rules.Rule{
			ID: fmt.Sprint("R-", i), Title: "T", Type: rules.Boundary, Files: []string{"**"},
			Patterns: rules.PlainItems(fmt.Sprintf("forbidden_attribute_%d = true", i), fmt.Sprintf("legacy-%d.example.com", i)),
		})
	}
	return rules.New(list, nil)
}

// TestPrefiltered: for one of a few contents, almost no literals are compiled; after 16 contents all are, once.
func TestPrefiltered(t *testing.T) {
	bundle := manyTexts(500)
	text := []byte(strings.Repeat("  cidr_blocks = [\"10.1.0.0/16\"] # from the office\n", 2000))
	allocations := func(few bool) float64 {
		c := NewContentChecker(bundle)
		c.Few = few
		return testing.AllocsPerRun(1, func() {
			c.plans, c.contents = NewPlanCache(bundle), 0
			if found, err := c.Check(t.Context(), "main.tf", text); err != nil || len(found) != 0 {
				t.Fatalf("%v, %v", found, err)
			}
		})
	}
	if few, all := allocations(true), allocations(false); few > 100 || all < 2000 {
		t.Errorf("%v allocations, and %v when all literals are compiled", few, all)
	}
	c := NewContentChecker(bundle)
	c.Few = true
	for i := range maxPrefiltered + 1 {
		if compiled := len(c.plans.plans) > 0; compiled {
			t.Errorf("all literals are compiled after %d contents", i)
		}
		if _, err := c.Check(t.Context(), "main.tf", text); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.plans.plans) == 0 {
		t.Error("the literals are never compiled")
	}
}

// A file that is too long to be parsed is E_LIMIT, and is not read into memory: nothing could read it here.
func TestKeysOfTooLongFiles(t *testing.T) {
	b, err := rules.Load(rules.Files{rules.BoundariesFile: []byte(`bundle: "0.2"
rules:
  - {id: K, title: T, enforcement: {mode: fail}, match: {files: ["**"], forbidden_patterns: [{key: a}]}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	k := &keyChecker{bundle: b, budget: NewParseLimiter()}
	s := NewPlanCache(b).Plan([]int{0})
	rep := match.Report{Bytes: int64(formats.Limits().Bytes) + 1}
	got, err := k.examine(t.Context(), &match.Examiner{}, s, "a.yaml", nil, &rep)
	if err != nil || len(got.errors) != 1 || got.errors[0].Code != code.Limit || got.reason != "limit" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = k.examine(t.Context(), &match.Examiner{}, s, "a.txt", nil, &rep); err != nil ||
		len(got.errors) != 1 || got.errors[0].Code != code.Format {
		t.Errorf("%+v, %v", got, err)
	}
}

// Contents that are parsed at the same time have no more values together than one may have, at two bytes each.
func TestWeight(t *testing.T) {
	limits := formats.Limits()
	for _, n := range []int64{0, 1, 1 << 10, 1 << 20, 5 << 20, 16 << 20, 20 << 20, 64 << 20} {
		if w := weight(n); w < n || w > NewParseLimiter().left {
			t.Errorf("%d bytes weigh %d", n, w)
			continue
		}
		if at := NewParseLimiter().left / max(weight(n), 1); n > 0 && at > 1 && at*n/2 > int64(limits.Nodes) {
			t.Errorf("%d contents of %d bytes at a time", at, n)
		}
	}
}

// No more is parsed at a time than the budget has, and who waits comes in.
func TestBudget(t *testing.T) {
	b := NewParseLimiter()
	b.left = 10
	var mu sync.Mutex
	var all sync.WaitGroup
	used, most := int64(0), int64(0)
	for i := range 200 {
		n := int64(i%10 + 1)
		all.Go(func() {
			defer b.enter(n)()
			mu.Lock()
			used += n
			most = max(most, used)
			mu.Unlock()
			mu.Lock()
			used -= n
			mu.Unlock()
		})
	}
	all.Wait()
	if most > 10 || b.left != 10 {
		t.Errorf("%d at a time, and %d are left", most, b.left)
	}
}
