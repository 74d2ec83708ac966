package judges

import (
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// A whose says which side's rule a rule is.
type whose struct{ base, head bool }

// whose says whose the rules of a judge are. The change can touch the bundles of its two sides only: the rules and the
// allowances of all others are those of both.
func (j *Judge) whose() whose {
	switch j.From {
	case fromBase:
		return whose{base: true}
	case fromHead, fromIndex, fromBootstrap:
		return whose{head: true}
	}
	return whose{true, true}
}

// signed are the allowances of the two sides of a change, or of a run that is about none.
type signed struct {
	base, head       []rules.Allowance // that count there
	ownBase, ownHead []rules.Allowance // those of them that the change can touch
}

func (s *signed) add(j *Judge) {
	w, entries := j.whose(), j.Bundle.Allowances
	if w.base {
		s.base = append(s.base, entries...)
	}
	if w.head {
		s.head = append(s.head, entries...)
	}
	switch {
	case !w.head:
		s.ownBase = append(s.ownBase, entries...)
	case !w.base:
		s.ownHead = append(s.ownHead, entries...)
	}
}

// changes says what the head's allowances say otherwise than the base's, by rule, then file.
func (s *signed) changes() []verdict.PolicyChange {
	const never = "" // no day has passed: that an entry ends is no change
	var all []verdict.PolicyChange
	for _, c := range allowance.Changes(allowance.NewList(s.ownBase, never), allowance.NewList(s.ownHead, never)) {
		p := verdict.PolicyChange{Kind: verdict.ChangedAllowance, RuleID: c.Rule, File: c.File, Change: c.What()}
		if c.Before != nil {
			p.Before = c.Before.AtMost
		}
		if c.After != nil {
			p.After = c.After.AtMost
		}
		for _, f := range c.Fields() {
			p.Fields = append(p.Fields, verdict.FieldChange{Name: f.Name, Removed: f.Removed, Added: f.Added})
		}
		all = append(all, p)
	}
	return all
}

// Sides says whether a rule, by its index in the bundle, is the base's, and whether it is the head's. One that both
// have, or that the change cannot touch, is both.
func (b *Set) Sides(rule int) (base, head bool) {
	w := b.whose[rule]
	return w.base, w.head
}

// Allowances returns the entries that count on each side, in the order of the judges. A run that is about no change has
// those of the head.
func (b *Set) Allowances() (base, head []rules.Allowance) {
	return b.sides.signed.base, b.sides.signed.head
}

// HasBase reports whether a bundle of the base, which a change is compared with, is among the judges'.
func (b *Set) HasBase() bool {
	return slices.Contains(b.From, fromBase) || len(b.sides.signed.ownBase) > 0
}

// Based reports whether the run is about two states of a repository, of which the earlier one need not have a bundle.
func (b *Set) Based() bool {
	return slices.ContainsFunc(b.Policies, func(p verdict.Policy) bool {
		return p.From == fromBase || p.From == fromBootstrap
	})
}

// HasDates reports whether an entry of a judge's bundle has an end.
func (b *Set) HasDates() bool {
	for _, bundle := range b.bundles {
		for i := range bundle.Allowances {
			if bundle.Allowances[i].Until != "" {
				return true
			}
		}
	}
	return false
}

// loadStarts loads the allowances of the states that the change starts from. Only bundles of 0.2 have any: with
// none of them in the base and the head, no one asks. Mistakes there are errors of the run.
func (b *choice) loadStarts() error {
	asked := false
	for _, p := range b.named {
		for _, list := range [][]storedBundle{p.base, p.elsewhere, p.head} {
			for _, found := range list {
				asked = asked || found.Is02
			}
		}
	}
	if !asked || b.Base == nil {
		return nil
	}
	for _, commit := range b.Starts {
		d := Side{Name: "the merge base", Commit: commit}
		entries, err := b.entriesOf(d)
		var mistakes document.Errors
		if errors.As(err, &mistakes) {
			b.out.Wrong = append(b.out.Wrong, inBundle(mistakes, d, "or merge the base, or rebase"))
		} else if err != nil {
			return failure.OfRepo(fmt.Errorf("the bundle of %s: %w", d, err))
		}
		b.out.Starts = append(b.out.Starts, entries)
	}
	return nil
}

// entriesOf returns the allowances of the bundles that a state has in the repository.
func (b *choice) entriesOf(d Side) ([]rules.Allowance, error) {
	known := map[string]bool{}
	var all []rules.Allowance
	for _, p := range b.named {
		if !p.inside {
			continue
		}
		found, err := b.load(d, p.dir)
		if errors.Is(err, errNoBundle) && p.dir != "" {
			found, err = b.load(d, "") // where it was before the change moved it
		}
		if err != nil && !errors.Is(err, errNoBundle) {
			return nil, err
		}
		for _, f := range found {
			if !known[f.Dir] {
				known[f.Dir] = true
				all = append(all, f.Allowances...)
			}
		}
	}
	return all, nil
}

// AllowancesIn returns the allowances of the bundle that a commit has in a folder, whose path is from the tree's root,
// "." for that itself. Without a bundle there it has none.
func AllowancesIn(r *repo.Repository, commit repo.Hash, dir string) ([]rules.Allowance, error) {
	found, err := newBundles(r).inCommit(commit, dir)
	if errors.Is(err, errNoBundle) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return found[0].Allowances, nil
}

// StartsOf returns the commits that a comparison's head is judged to start from: its merge bases, and a base that it
// replaces.
func StartsOf(c repo.Comparison) []repo.Hash {
	if !c.Replaces {
		return c.MergeBases
	}
	return append(append([]repo.Hash(nil), c.MergeBases...), c.Base)
}
