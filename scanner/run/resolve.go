package run

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
)

// A change holds the base and head snapshots whose bundles a run enforces.
type change struct {
	base *side // nil: only the head's bundles are enforced
	head side
	// isOneCommit: there is no change. The head is the commit that the user names. Discovery looks in the commit; a
	// named directory is read from disk.
	isOneCommit bool
	// starts are the merge bases of the change, and the other commits that it is compared with.
	starts []repo.Hash
}

// A bundleResolver finds the bundles that check a change. For each bundle of the run these are the base's and the
// head's, each found separately, or one that the change cannot touch. So a change can tighten the rules, never loosen
// them. Without a base only the head's bundles are enforced.
//
// A mistake in the base's bundle ends the run. One in the head's is an error of the run, and the base's bundle is
// still enforced.
type bundleResolver struct {
	change
	run     *Run
	loader  *bundleLoader
	named   []*policyBundles // in the order of Options.Policies
	baseHas bool             // the base has a bundle

	baseBelow, headBelow []RuleSource // of directories
	headNames            *glob.Set    // the directories that the head names
	// untracked are the directories of rules in a work tree, where files count that git does not track.
	untracked []string
}

type policyBundles struct {
	name       string // "" for discovery
	dir        string // in the repository; "" for discovery
	inside     bool   // in the repository, so that the change can touch it
	outside    RuleSource
	base, head []RuleSource
	elsewhere  []RuleSource // found by discovery in a base without dir
}

func (p *policyBundles) ofBase() []RuleSource { return p.base }
func (p *policyBundles) before() []RuleSource { return append(p.elsewhere, p.base...) }
func (p *policyBundles) ofHead() []RuleSource { return p.head }

// loadBundles loads the bundles that check a change into the run. On an error, the run keeps the bundles loaded so far.
func (r *Run) loadBundles(c change) error {
	if r.ownersAt = c.base; c.base == nil {
		r.ownersAt = &c.head
	}
	b := &bundleResolver{change: c, run: r, loader: newBundleLoader(r.Repo)}
	if r.Related != nil && r.Cache != nil {
		if r.Cache.bundles == nil {
			r.Cache.bundles = b.loader.loaded
		}
		b.loader.loaded = r.Cache.bundles
	}
	b.head.from = fromHead
	switch {
	case c.head.below != nil:
	case c.head.index != nil:
		b.head.from = fromIndex
	case c.isOneCommit:
		b.head.from = fromCommit
	}
	if err := b.findNamed(); err != nil {
		return err
	}
	if err := b.addUntracked(); err != nil {
		return err
	}
	if err := b.loadOutside(); err != nil {
		return err
	}
	if b.base != nil {
		if err := b.loadBase(); err != nil {
			return err
		}
	}
	if err := b.loadHead(); err != nil {
		return err
	}
	if err := b.addSources(); err != nil {
		return err
	}
	return b.loadStarts()
}

// findNamed finds out which bundles are in the repository, and applies --policy-ref.
func (b *bundleResolver) findNamed() error {
	anyInside := false
	for _, name := range b.run.Policies {
		p := &policyBundles{name: name}
		var err error
		if name == "" || !IsBuiltin(name) && !b.isOneCommit && !b.run.FromDisk {
			p.dir, p.inside, err = findInRepository(b.run.Repo, name)
		}
		if err == nil && p.inside {
			p.inside, err = belongsToRepository(b.run.Repo, p.dir, b.base, &b.head)
		}
		if err != nil {
			return err
		}
		anyInside = anyInside || p.inside
		b.named = append(b.named, p)
	}
	if b.run.PolicyRef == "" {
		return nil
	}
	if !anyInside {
		return errors.New("--policy-ref reads a commit of this repository, and --policy is outside of it; " +
			"use one of the two flags")
	}
	commit, err := b.run.Repo.Commit(b.run.PolicyRef)
	if err != nil {
		return tree.RepoError(err)
	}
	b.base, b.head = nil, side{name: b.run.PolicyRef, from: fromCommit, commit: commit}
	return nil
}

// addUntracked adds the files of a work tree's bundles that git does not track to the head.
func (b *bundleResolver) addUntracked() (err error) {
	if b.head.below == nil {
		return nil
	}
	var dirs []string
	for _, p := range b.named {
		switch {
		case p.inside && p.dir == "":
			dirs = append(dirs, path.Join(rules.HiddenBundle, "rules"), "rules")
		case p.inside:
			dirs = append(dirs, path.Join(p.dir, "rules"))
		}
	}
	b.untracked = dirs
	b.head.index, err = b.head.below(dirs)
	return err
}

// loadOutside loads the bundles that the change cannot touch.
func (b *bundleResolver) loadOutside() error {
	for i, p := range b.named {
		if p.inside {
			continue
		}
		load := b.run.Load
		if load == nil {
			load = func(name string) (RuleSource, error) { return loadRules(name, b.run.Place.Root) }
		}
		var err error
		p.outside, err = load(p.name)
		if err == nil && len(b.named) == 1 {
			err = RuleSources{p.outside}.CheckAlone() // and not a mistake of the base
		}
		if len(b.named) == 1 {
			b.run.Policy = p.outside.Name
		}
		if err != nil {
			return err
		}
		if m := b.run.Pins.mistake(i, "", p.outside.Bundle); m != nil {
			return m
		}
	}
	return nil
}

func (b *bundleResolver) loadBase() error {
	b.run.Policy = "of " + b.base.String()
	var err error
	if b.baseHas, err = b.findBefore(b.base, b.named); err != nil {
		return b.baseError(err)
	}
	if err := b.checkPins(b.base, (*policyBundles).ofBase, ""); err != nil {
		return err
	}
	if b.baseBelow, _, err = b.loadBelow(b.base, b.named, (*policyBundles).before); err != nil {
		return b.baseError(err)
	}
	b.baseHas = b.baseHas || len(b.baseBelow) > 0
	if p := b.named[0]; len(b.named) == 1 && !p.inside {
		return append(RuleSources{p.outside}, b.baseBelow...).CheckAlone()
	}
	return b.baseError(b.checkCombined((*policyBundles).ofBase, b.baseBelow))
}

// findBefore finds the bundles of a snapshot before the change, and reports whether there are any. Where the directory
// of a name does not exist, discovery's bundles count: a change must not be able to move the policy and the flag
// together.
func (b *bundleResolver) findBefore(d *side, named []*policyBundles) (any bool, err error) {
	known := map[string]bool{}
	var missing *policyBundles
	for _, p := range named {
		if !p.inside {
			continue
		}
		found, err := b.loader.find(d, p.dir)
		switch {
		case errors.Is(err, errNoBundle):
			if missing == nil && p.dir != "" {
				missing = p
			}
		case err != nil:
			return false, err
		}
		p.base = found
		for _, f := range found {
			known[f.Dir] = true
		}
	}
	if missing != nil {
		found, err := b.loader.find(d, "")
		if err != nil && !errors.Is(err, errNoBundle) {
			return false, err
		}
		for _, f := range found {
			if !known[f.Dir] {
				known[f.Dir] = true
				missing.elsewhere = append(missing.elsewhere, f)
			}
		}
	}
	return len(known) > 0, nil
}

// baseError returns the error of a base whose bundles cannot be enforced; nil for none.
func (b *bundleResolver) baseError(err error) error {
	var mistakes document.Errors
	if errors.As(err, &mistakes) {
		return b.inBundle(mistakes, b.base, b.base.hint)
	}
	if err != nil {
		return tree.RepoError(err)
	}
	return nil
}

// loadHead loads the head's bundles. Their mistakes are errors of the run; the base's are still enforced, if there are
// any.
func (b *bundleResolver) loadHead() error {
	b.run.Policy = "" // until one is known
	for _, p := range b.named {
		if !p.inside {
			continue
		}
		found, err := b.loader.find(&b.head, p.dir)
		switch {
		case errors.Is(err, errNoBundle):
			err = b.headError(b.missingInHead(p))
		case len(found) > 1: // valid or not
			err = b.headError(rules.TwoBundles(b.head.String()))
		case err != nil:
			err = b.headError(err)
		default:
			p.head = found
		}
		if err != nil {
			return err
		}
	}
	if err := b.loadHeadBelow(); err != nil {
		return err
	}
	if p := b.named[0]; len(b.named) == 1 && !p.inside {
		return append(RuleSources{p.outside}, b.headBelow...).CheckCombined()
	}
	if err := b.checkCombined((*policyBundles).ofHead, b.headBelow); err != nil {
		if err := b.headError(err); err != nil {
			return err
		}
	}
	// A bundle of the head without a pinned one of the base comes with the change, or from --policy-ref, and is
	// enforced without the base's.
	note := ""
	if b.base != nil {
		note = "; " + b.base.name + " has none"
	}
	return b.checkPins(&b.head, func(p *policyBundles) []RuleSource {
		if len(p.base) > 0 {
			return nil
		}
		return p.head
	}, note)
}

// headError records the mistakes in the head's bundles. It returns an error if the base's cannot be enforced alone.
func (b *bundleResolver) headError(err error) error {
	var mistakes document.Errors
	var mistake *document.Error
	switch {
	case errors.As(err, &mistakes):
		err = b.inBundle(mistakes, &b.head, "")
	case !errors.As(err, &mistake):
		return tree.RepoError(err)
	}
	if !b.baseHas {
		return err
	}
	b.run.noteMistakes(err)
	return nil
}

// missingInHead is the error that the head does not have a bundle.
func (b *bundleResolver) missingInHead(p *policyBundles) error {
	missing := document.Error{
		Code:  document.CodeMissing,
		Found: "no bundle in " + b.head.name,
		Fix:   `run "policyscan init" and commit it, or name one with --policy`,
	}
	advised := b.isOneCommit
	switch {
	case b.baseHas:
		missing.Found = "the change removes the bundle: " + b.head.name + " has none"
		missing.Fix = "keep it; its rules can be changed, and both versions then check the change"
	case b.base != nil:
		missing.Found = "no bundle in " + b.base.name + " or in " + b.head.name
		advised = p.name == ""
	}
	if advised {
		return b.run.adviseCommit(&missing)
	}
	return &missing
}

// checkCombined returns an error if the bundles of different names cannot be enforced together. Those of one name are
// not compared: a base with bundles in both places of discovery can be repaired.
func (b *bundleResolver) checkCombined(of func(*policyBundles) []RuleSource, below RuleSources) error {
	bundles := make([]*rules.Bundle, len(b.named))
	dir := ""
	for i, p := range b.named {
		bundles[i] = p.outside.Bundle
		all := RuleSources(of(p))
		if len(all) > 0 {
			bundles[i], dir = rules.Join(all.Bundles()...), all[len(all)-1].Dir
		}
	}
	err := rules.Together(append(bundles, below.Bundles()...))
	var mistakes document.Errors
	if errors.As(err, &mistakes) && len(bundles) == 1 && dir != "." && dir != "" {
		return mistakes.In(dir + "/")
	}
	return err
}

// addSources adds the found bundles to the result, and names them.
func (b *bundleResolver) addSources() error {
	bootstrap := !b.baseHas && (b.base != nil || b.run.Related != nil && b.run.PolicyRef == "") // an empty server
	if bootstrap {
		b.head.from = fromBootstrap
	}
	var outside, sides []string
	if b.baseHas {
		sides = append(sides, "of "+b.base.String())
	}
	for _, p := range b.named {
		if !p.inside {
			outside = append(outside, p.outside.Name)
			b.run.Sources = append(b.run.Sources, p.outside)
			continue
		}
		for _, found := range append(p.elsewhere, p.base...) {
			b.add(b.base, found)
		}
		for _, found := range p.head {
			b.add(&b.head, found)
		}
	}
	if slices.ContainsFunc(b.named, func(p *policyBundles) bool { return len(p.head) > 0 }) {
		head := "of " + b.head.String()
		if bootstrap {
			head += ", which introduces it"
		}
		sides = append(sides, head)
	}
	err := b.addBelow()
	b.run.Policy = strings.Join(slices.Concat(outside, sides, RuleSources(b.run.Sources).below()), " and ")
	return err
}

func (b *bundleResolver) add(d *side, s RuleSource) {
	if s.From, s.Name = d.from, d.place()+s.Dir; d.index == nil {
		s.Commit = d.commit.String()
	}
	if s.Below != "" { // the root's rules check its files
		b.run.Sources = append(b.run.Sources, s)
		return
	}
	b.run.RuleFiles = append(b.run.RuleFiles, s.files...)
	if !slices.Contains(b.run.bundleDirs, s.Dir) {
		b.run.bundleDirs = append(b.run.bundleDirs, s.Dir)
	}
	b.run.Sources = append(b.run.Sources, s)
}

// loadStarts loads the allowances of the snapshots that the change starts from. Only bundles of 0.2 have any: without
// one in the run nothing is loaded. Their mistakes are errors of the run.
func (b *bundleResolver) loadStarts() error {
	if b.base == nil || !slices.ContainsFunc(b.run.Sources, func(s RuleSource) bool { return s.Bundle.Is02 }) {
		return nil
	}
	for _, commit := range b.starts {
		d := &side{name: "the merge base", commit: commit}
		var named []*policyBundles
		for _, p := range b.named {
			past := *p
			past.base, past.head, past.elsewhere = nil, nil, nil
			named = append(named, &past)
		}
		var entries []rules.Allowance
		_, err := b.findBefore(d, named)
		if err == nil {
			var below RuleSources
			below, _, err = b.loadBelow(d, named, (*policyBundles).before)
			for _, one := range below.Bundles() {
				entries = append(entries, one.Allowances...)
			}
		}
		var mistakes document.Errors
		switch {
		case errors.As(err, &mistakes):
			b.run.noteMistakes(b.inBundle(mistakes, d, "or merge the base, or rebase"))
		case err != nil:
			return tree.RepoError(fmt.Errorf("the bundle of %s: %w", d, err))
		default:
			for _, p := range named {
				for _, s := range append(p.elsewhere, p.base...) {
					entries = append(entries, s.Bundle.Allowances...)
				}
			}
		}
		b.run.BaselineAllowances = append(b.run.BaselineAllowances, entries)
	}
	return nil
}
