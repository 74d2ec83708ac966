package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
)

// loadStarts loads the allowances of the states that the change starts from. Only bundles of 0.2 have any: unless the
// base or the head has one, none is needed. Mistakes there are errors of the run.
func (b *bundleResolver) loadStarts() error {
	needed := slices.ContainsFunc(b.named, func(p *policyBundles) bool {
		return slices.ContainsFunc(slices.Concat(p.base, p.elsewhere, p.head), func(s RuleSource) bool {
			return s.Bundle.Is02
		})
	})
	if !needed || b.base == nil {
		return nil
	}
	for _, commit := range b.starts {
		d := &side{name: "the merge base", commit: commit}
		entries, err := b.allowancesOf(d)
		var mistakes document.Errors
		if errors.As(err, &mistakes) {
			b.out.wrong = append(b.out.wrong, inBundle(mistakes, d, "or merge the base, or rebase"))
		} else if err != nil {
			return tree.RepoError(fmt.Errorf("the bundle of %s: %w", d, err))
		}
		b.out.starts = append(b.out.starts, entries)
	}
	return nil
}

// allowancesOf returns the allowances of the bundles that a state has in the repository.
func (b *bundleResolver) allowancesOf(d *side) ([]rules.Allowance, error) {
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
				all = append(all, f.Bundle.Allowances...)
			}
		}
	}
	return all, nil
}

// AllowancesIn returns the allowances of the bundle that a commit has in a directory, whose path is from the tree's
// root, "." for that itself. Without a bundle there it has none.
func AllowancesIn(r *repo.Repository, commit repo.Hash, dir string) ([]rules.Allowance, error) {
	found, err := newBundleLoader(r).inCommit(commit, dir)
	if errors.Is(err, errNoBundle) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return found[0].Bundle.Allowances, nil
}

// startsOf returns the commits that a comparison's head starts from: its merge bases, and a base that it replaces.
func startsOf(c repo.Comparison) []repo.Hash {
	if !c.Replaces {
		return c.MergeBases
	}
	return append(slices.Clone(c.MergeBases), c.Base)
}
