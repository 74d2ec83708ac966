package trend

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// aFleet is a run over repositories, each with the places of a rule; -1: it could not be decided.
func aFleet(bundle string, rules []string, places map[string]map[string]int) *summary.Fleet {
	f := summary.New("1.2.3")
	f.Policy = []summary.Policy{{SHA256: bundle}}
	var enforced []verdict.Rule
	for _, id := range rules {
		enforced = append(enforced, verdict.Rule{ID: id, Title: "Title of " + id, Owner: "team " + id[:1]})
	}
	for name, of := range places {
		r := summary.Repository{Name: name, Verdict: verdict.Pass, Complete: true, SHA256: "x"}
		for _, id := range rules {
			switch n := of[id]; {
			case n < 0:
				r.Complete, r.ErrorCount = false, 1
				r.Errors = []verdict.Error{{Code: "E_READ", Message: "it is damaged"}}
			case n >= 100: // allowed ones
				r.AllowedRules, r.AllowedPlaces = append(r.AllowedRules, summary.RuleCount{RuleID: id, Places: n / 100}), r.AllowedPlaces+n/100
				fallthrough
			case n%100 > 0:
				r.Rules, r.Places = append(r.Rules, summary.RuleCount{RuleID: id, Places: n % 100}), r.Places+n%100
			}
		}
		if !r.Complete || r.Places > 0 {
			r.Verdict = verdict.Fail
		}
		f.Add(r, enforced)
	}
	f.Decide()
	return f
}

func numbers(all []*int) (s string) {
	for _, n := range all {
		if n == nil {
			s += "- "
		} else {
			s += fmt.Sprint(*n, " ")
		}
	}
	return s
}

func series(all []Series) map[string]string {
	m := map[string]string{}
	for i := range all {
		m[all[i].Name] = numbers(all[i].Places) + fmt.Sprintf("change %d", all[i].Change)
	}
	return m
}

type of = map[string]map[string]int

// TestTrend: gaps are no zeros, and sums keep the last number of a repository; rules and repositories that begin or end,
// and allowances, lower nothing.
func TestTrend(t *testing.T) {
	one, two := []string{"A-1"}, []string{"A-1", "B-1"}
	b := New("1.2.3")
	for _, x := range []struct {
		day string
		f   *summary.Fleet
	}{
		{"2026-10-05", aFleet("x", one, of{"shop": {"A-1": 10}, "site": {"A-1": 5}, "some": {}})},
		{"2026-10-11", aFleet("x", one, of{"shop": {"A-1": 8}, "site": {"A-1": -1}})},                        // the same week
		{"2026-10-12", aFleet("y", two, of{"shop": {"A-1": 407, "B-1": 3}, "site": {"A-1": -1}, "new": {}})}, // 4 more allowed
		{"2026-10-19", aFleet("y", two, of{"shop": {"A-1": 409, "B-1": 1}, "new": {"A-1": 4}, "some": {}})},
		// No file in the week of 2026-10-26.
		{"2026-11-02", aFleet("y", []string{"B-1"}, of{"shop": {}, "site": {"B-1": 2}, "late": {"B-1": 6}})},
	} {
		b.Add(File{Name: x.day, Date: x.day}, x.f)
	}
	got := b.End()
	var rows []string
	for i := range got.Weeks {
		p := got.Weeks[i]
		rows = append(rows, fmt.Sprint(p.Monday, " ", numbers([]*int{p.Places, p.Allowed}), p.New, p.Gone, p.NewWithRules, p.GoneWithRules,
			p.NewWithRepositories, " of ", p.Decided, p.Carried, p.Undecided, " other ", p.OtherBundles, " ", p.Largest))
	}
	wantSame(t, rows, []string{
		"2026-10-05 13 0 0 0 0 0 0 of 3 0 1 other 0 []",
		"2026-10-12 15 4 0 1 3 0 0 of 2 2 1 other 1 []",
		"2026-10-19 19 4 6 2 0 0 0 of 3 1 0 other 1 [{new A-1 4} {shop A-1 2}]",
		"2026-10-26 - - 0 0 0 0 0 of 0 4 0 other 0 []",
		"2026-11-02 12 0 0 1 2 14 6 of 3 2 0 other 1 []",
	})
	wantSame(t, series(got.Repositories), map[string]string{"shop": "8 10 10 - 0 change 2", "some": "0 - 0 - - change 0", "site": "5 - - - 2 change 0", "new": "- 0 4 - - change 4",
		"late": "- - - - 6 change 0"})
	wantSame(t, series(got.Rules), map[string]string{"A-1": "13 12 18 - 4 change 9", "B-1": "- 3 1 - 8 change -3"})
	wantSame(t, series(got.Owners), map[string]string{"team A": "13 12 18 - 4 change 9", "team B": "- 3 1 - 8 change -3"})
	wantSame(t, got.Gaps, []Gap{
		{"2026-10-12", "2026-10-12", "E_READ", "it is damaged", []string{"site"}}, {"2026-10-12", "2026-10-12", "", "not scanned", []string{"some"}},
		{"2026-10-19", "2026-10-26", "", "not scanned", []string{"site"}},
		{"2026-10-26", "2026-10-26", "", "not scanned", []string{"shop"}}, {"2026-10-26", "2026-11-02", "", "not scanned", []string{"new", "some"}},
	})
	wantSame(t, []string{got.Rules[1].Owner, got.Rules[1].Title}, []string{"team B", "Title of B-1"})
}

func wantSame(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestSums: what was new and gone is the difference between the ends, and in each week the rules, the owners and the
// known repositories sum up to the places.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ids, names := []string{"A-1", "A-2", "B-1"}, []string{"a", "b", "c", "d"}
	moved := map[string]int{}
	for range 500 {
		b := New("1.2.3")
		for day := range 71 {
			if day > 0 && day < 70 && r.IntN(9) > 0 {
				continue
			}
			places := of{}
			for _, name := range names {
				if r.IntN(3) == 0 {
					continue
				}
				places[name] = map[string]int{}
				for _, id := range ids {
					places[name][id] = max(r.IntN(80)-2*r.IntN(2), -1)
				}
			}
			date := time.Date(2026, 1, 31+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			for range 1 + r.IntN(2) { // perhaps twice a day
				b.Add(File{Name: date, Date: date}, aFleet("x", ids[r.IntN(2):1+r.IntN(3)|1], places))
			}
		}
		got := b.End()
		first, last, sum := -1, 0, 0
		for i := range got.Weeks {
			p := got.Weeks[i]
			if p.Places == nil {
				wantSame(t, p.New+p.Gone+p.NewWithRules+p.GoneWithRules+p.NewWithRepositories, 0)
				continue
			}
			if last = *p.Places; first < 0 {
				first = last
			}
			sum += p.New + p.NewWithRules + p.NewWithRepositories - p.Gone - p.GoneWithRules
			for _, all := range [][]Series{got.Rules, got.Owners} {
				total := 0
				for _, s := range all {
					if s.Places[i] != nil {
						total += *s.Places[i]
					}
				}
				wantSame(t, total, last)
			}
			for name, n := range map[string]int{"new": p.New, "gone": p.Gone, "rules": p.NewWithRules, "ended": p.GoneWithRules,
				"repositories": p.NewWithRepositories, "carried": p.Carried, "undecided": p.Undecided} {
				moved[name] += min(n, 1)
			}
		}
		wantSame(t, sum, last-max(first, 0))
	}
	for _, n := range moved {
		if n < 10 || len(moved) != 7 {
			t.Fatalf("too little happens: %v", moved)
		}
	}
}

// TestMonday: a week begins on Monday.
func TestMonday(t *testing.T) {
	wantSame(t, []string{monday("2026-11-01", 0), monday("2026-11-02", 0), monday("2026-11-02", 1)}, []string{"2026-10-26", "2026-11-02", "2026-11-09"})
}
