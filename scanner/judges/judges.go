// Package judges says who judges: the bundles that a run enforces, and where each is from.
//
// A run on disk has the judges that its caller loaded. A [Change] has those of both of its states, the base's and the
// head's, each found in git's objects, so that a change can tighten the rules that check it, never loosen them. A
// bundle outside the repository, or the program's own, cannot be touched by the change, and judges as it is. What is
// wrong with the base's bundle ends the run. What is wrong with the head's is an error of the run, and the base's
// judges all the same.
//
// A [Set] is the rules of all judges together. It also says what a change does to the rules, and which violations are
// those of the base's rules alone.
//
// It reads commits, the index and the links on the way to --policy, and writes nothing. It knows nothing of the files
// that are judged.
package judges

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// A Judge is a bundle that a run enforces, and where it is from.
type Judge struct {
	From   string // as in verdict.Policy
	Commit string // "" if it is from none
	Bundle *rules.Bundle
}

// ruleIDs are the ids of the judges' rules, each once.
func ruleIDs(judges []Judge) []string {
	var all []string
	known := map[string]bool{}
	for _, j := range judges {
		for i := range j.Bundle.Rules {
			if id := j.Bundle.Rules[i].ID; !known[id] { // base and head have most in common
				known[id] = true
				all = append(all, id)
			}
		}
	}
	return all
}

// Narrow removes from the judges' bundles all rules but those with the ids that --rule names; without ids, none. An id
// that no bundle has is an error.
func Narrow(judges []Judge, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	known := ruleIDs(judges)
	for _, id := range ids {
		if slices.Contains(known, id) {
			continue
		}
		const most = 12
		more := ""
		if len(known) > most {
			known, more = known[:most], ", … (see policyscan list)"
		}
		return fmt.Errorf("--rule is %q; choose one of %s%s", id, strings.Join(known, ", "), more)
	}
	for k := range judges {
		var kept []rules.Rule
		for _, r := range judges[k].Bundle.Rules {
			if slices.Contains(ids, r.ID) {
				kept = append(kept, r)
			}
		}
		b := rules.New(kept, judges[k].Bundle.Deprecated)
		was := judges[k].Bundle
		b.SHA256, b.Is02, b.FileExcludes, b.Allowances = was.SHA256, was.Is02, was.FileExcludes, was.Allowances
		judges[k].Bundle = b
	}
	return nil
}

// A Set is the bundles of all judges of a run together: the rules of all are enforced, those of the
// first judge first, and a rule that is the same in two of them once. So a change that
// brings its own bundle can tighten the one that judges it, never loosen it.
type Set struct {
	Bundle   *rules.Bundle
	From     []string // of each rule of the bundle
	Policies []verdict.Policy
	bundles  []*rules.Bundle // of the policies
	whose    []whose         // of each rule of the bundle
	sides    *sides
}

// NewSet returns the set of some judges.
func NewSet(judges []Judge) *Set {
	b := &Set{sides: newSides(judges)}
	var enforced []rules.Rule
	byID := map[string][]int{} // in enforced
	for _, t := range []rules.Type{rules.Boundary, rules.Invariant} {
		for _, j := range judges {
			w := j.whose()
			for _, r := range j.Bundle.Rules {
				if r.Type != t {
					continue
				}
				same := slices.IndexFunc(byID[r.ID], func(i int) bool { return r.Same(enforced[i]) })
				if same >= 0 {
					known := &b.whose[byID[r.ID][same]]
					known.base, known.head = known.base || w.base, known.head || w.head
					continue
				}
				byID[r.ID] = append(byID[r.ID], len(enforced))
				enforced, b.From, b.whose = append(enforced, r), append(b.From, j.From), append(b.whose, w)
			}
		}
	}
	for _, j := range judges {
		b.bundles = append(b.bundles, j.Bundle)
		b.Policies = append(b.Policies, verdict.Policy{
			From: j.From, Commit: j.Commit, SHA256: j.Bundle.SHA256,
			Boundaries: j.Bundle.Count(rules.Boundary), Invariants: j.Bundle.Count(rules.Invariant),
			Deprecated: len(j.Bundle.Deprecated),
		})
	}
	b.Bundle = rules.New(enforced, nil)
	return b
}

// Changes returns what the head's bundles say otherwise than the base's: first of the base's rules, in their order,
// then the rules that the head adds. Without a bundle of the head, which is an error of the run, there is none.
func (b *Set) Changes() []verdict.PolicyChange { return b.sides.changes() }

// Note says why a violation of one of the set's rules is one by the base's rule alone; "" if it is not. The rule and
// what it asks are indices in the bundle and in the rule.
func (b *Set) Note(rule int, ask rules.PatternRef, path string) string {
	if b.From[rule] != fromBase {
		return ""
	}
	return b.sides.baseAlone(&b.Bundle.Rules[rule], path, ask)
}

// Takers is how many rule files of the set's bundles have an exclude.
func (b *Set) Takers() int {
	n := 0
	for _, bundle := range b.bundles {
		n += len(bundle.FileExcludes)
	}
	return n
}

// Taken appends to into the numbers, below [Set.Takers], of the rule files whose exclude takes a path from a rule of
// theirs.
func (b *Set) Taken(path string, into []int) []int {
	first := 0
	for _, bundle := range b.bundles {
		if len(bundle.FileExcludes) == 0 {
			continue
		}
		from := len(into)
		into = bundle.TakenByFile(path, into)
		for i := range into[from:] {
			into[from+i] += first
		}
		first += len(bundle.FileExcludes)
	}
	return into
}

// Count writes into the set's policies how many paths each of the rule files took, by their numbers.
func (b *Set) Count(policies []verdict.Policy, taken []int) {
	for i, bundle := range b.bundles {
		policies[i].Excluded = nil
		for k, e := range bundle.FileExcludes {
			policies[i].Excluded = append(policies[i].Excluded, verdict.Excluded{File: e.File, Count: taken[k]})
		}
		taken = taken[len(bundle.FileExcludes):]
	}
}
