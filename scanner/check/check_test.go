package check

import (
	"sync"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict/code"
)

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
