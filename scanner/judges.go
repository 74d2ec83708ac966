package scanner

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// A Judge is a bundle that a run enforces, and where it is from.
type Judge struct {
	From   string // as in verdict.Policy
	Commit string // "" if it is from none
	Bundle *rules.Bundle
}

// RuleIDs are the ids of the judges' rules, each once.
func RuleIDs(judges []Judge) []string {
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

// Narrow keeps of the judges' bundles the rules of the given ids.
func Narrow(judges []Judge, ids []string) {
	for k := range judges {
		var kept []rules.Rule
		for _, r := range judges[k].Bundle.Rules {
			if slices.Contains(ids, r.ID) {
				kept = append(kept, r)
			}
		}
		b := rules.New(kept, judges[k].Bundle.Deprecated)
		b.SHA256 = judges[k].Bundle.SHA256
		judges[k].Bundle = b
	}
}

// A policySet is the bundles of all judges of a run together: the rules of all are enforced, those of the
// first judge first, and a rule that is the same in two of them once. So a change that
// brings its own bundle can tighten the one that judges it, never loosen it.
type policySet struct {
	bundle   *rules.Bundle
	from     []string // of each rule of the bundle
	policies []verdict.Policy
	sides    *sides
}

func newPolicySet(judges []Judge) *policySet {
	b := &policySet{sides: newSides(judges)}
	var enforced []rules.Rule
	byID := map[string][]rules.Rule{}
	for _, t := range []rules.Type{rules.Boundary, rules.Invariant} {
		for _, j := range judges {
			for _, r := range j.Bundle.Rules {
				if r.Type != t || slices.ContainsFunc(byID[r.ID], r.Same) {
					continue
				}
				byID[r.ID] = append(byID[r.ID], r)
				enforced, b.from = append(enforced, r), append(b.from, j.From)
			}
		}
	}
	for _, j := range judges {
		b.policies = append(b.policies, verdict.Policy{
			From: j.From, Commit: j.Commit, SHA256: j.Bundle.SHA256,
			Boundaries: j.Bundle.Count(rules.Boundary), Invariants: j.Bundle.Count(rules.Invariant), Deprecated: len(j.Bundle.Deprecated),
		})
	}
	b.bundle = rules.New(enforced, nil)
	return b
}
