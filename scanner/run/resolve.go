package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
)

// A side is one of the two states of a change.
type side struct {
	name   string // for display: "the base", "HEAD"
	commit repo.Hash
	index  *repo.Index // instead of a commit
	hint   string      // what can be done deliberately if its bundle is invalid
	from   string      // of its bundles, as in [RuleSource]
}

func (d *side) String() string {
	if d.rev() == "" {
		return d.name
	}
	return fmt.Sprintf("%s (%s)", d.name, d.rev())
}

// rev is what git calls the side: "git show REV:PATH" shows a file of it.
func (d *side) rev() string {
	if d.index != nil || d.commit.IsZero() {
		return ""
	}
	return repo.Short(d.commit)
}

// has reports whether there is something at a path of the side.
func (d *side) has(r *repo.Repository, path string) (bool, error) {
	switch {
	case d.index != nil:
		_, found := d.index.Lookup(path)
		return found, nil
	case d.commit.IsZero():
		return false, nil
	}
	tree, err := r.Tree(d.commit)
	if err != nil {
		return false, err
	}
	_, found, err := r.Lookup(tree, path)
	return found, err
}

// A change is the states of a repository whose bundles a run enforces.
type change struct {
	base *side // nil: the head is checked by its own bundles alone
	head side
	// isOneCommit: there is no change. The head is the commit that the user names, and only where the bundle is left to
	// discovery it is the commit's own: a directory that is named is read as it is on disk.
	isOneCommit bool
	// starts are the commits that the change starts from: its merge bases, and what else it is compared with.
	starts []repo.Hash
}

// resolvedRules are the bundles that check a change.
type resolvedRules struct {
	sources   []RuleSource
	name      string              // of the bundles, for display
	ruleFiles []check.RuleFile    // of them
	wrong     []error             // with the bundles of the head, if those of the base check it anyway
	onDisk    []RuleSource        // of the sources, those that are read from disk
	starts    [][]rules.Allowance // at each of the commits that the change starts from

	// noCommitted: neither state has a bundle where discovery finds one.
	noCommitted bool
}

// A bundleResolver finds the bundles that check a change: for each bundle of the run that of the base and that of the
// head, each found there on its own, or one that the change cannot touch. So a change can tighten the rules, never
// loosen them. Without a base the head is checked by its own bundles.
//
// A mistake in the base's bundle ends the run. One in the head's is an error of the run, and the base's bundle is
// enforced anyway.
type bundleResolver struct {
	change
	options *Options
	root    string // of the files on disk
	repo    *repo.Repository
	out     resolvedRules
	loader  *bundleLoader
	named   []*policyBundles // in the order of Options.Policies
	baseHas bool             // the base has a bundle
}

// policyBundles are the bundles that one of [Options.Policies] means.
type policyBundles struct {
	name       string // "": left to discovery
	dir        string // in the repository; "": where discovery finds it
	inside     bool   // it is in the repository, so that the change can touch it
	outside    RuleSource
	base, head []RuleSource
	elsewhere  []RuleSource // where discovery finds it in a base that does not have dir
}

// resolve returns the bundles that check a change. As much as is known is returned with an error, too.
func (o *Options) resolve(r *repo.Repository, root string, c change) (resolvedRules, error) {
	b := &bundleResolver{change: c, options: o, root: root, repo: r, loader: newBundleLoader(r)}
	if c.base != nil {
		base := *c.base
		base.from = fromBase
		b.base = &base
	}
	b.head.from = fromHead
	switch {
	case b.head.index != nil:
		b.head.from = fromIndex
	case c.isOneCommit:
		b.head.from = fromCommit
	}
	err := b.resolve()
	return b.out, err
}

func (b *bundleResolver) resolve() error {
	anyInside := false
	for _, name := range b.options.Policies {
		p := &policyBundles{name: name}
		var err error
		if name == "" || name != Builtin && !b.isOneCommit {
			p.dir, p.inside, err = findInRepository(b.repo, name)
		}
		if err == nil && p.inside {
			p.inside, err = belongsToRepository(b.repo, p.dir, b.base, &b.head)
		}
		if err != nil {
			return err
		}
		anyInside = anyInside || p.inside
		b.named = append(b.named, p)
	}
	if b.options.PolicyRef != "" {
		if !anyInside {
			return errors.New("--policy-ref takes the bundle from a commit of this repository, " +
				"and --policy names one outside of it; use one of the two flags")
		}
		commit, err := b.repo.Commit(b.options.PolicyRef)
		if err != nil {
			return tree.RepoError(err)
		}
		b.base, b.head = nil, side{name: b.options.PolicyRef, from: fromCommit, commit: commit}
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
	if err := b.checkPinsOfHead(); err != nil {
		return err
	}
	b.addSources()
	return b.loadStarts()
}

// loadOutside loads the bundles that the change cannot touch.
func (b *bundleResolver) loadOutside() error {
	for i, p := range b.named {
		if p.inside {
			continue
		}
		var err error
		p.outside, err = b.options.load(p.name, b.root)
		if err == nil && len(b.named) == 1 {
			err = RuleSources{p.outside}.CheckCombined() // and not a mistake of the base
		}
		if err == nil && p.outside.Dir != "" {
			b.out.onDisk = append(b.out.onDisk, p.outside)
		}
		if len(b.named) == 1 {
			b.out.name = p.outside.Name
		}
		if err != nil {
			return err
		}
		if m := b.options.Pins.mistake(i, "", p.outside.Bundle); m != nil {
			return m
		}
	}
	return nil
}

// loadBase loads the base's bundles. Where it does not have the directory that a name means, those that discovery finds
// in it are enforced: a change must not be able to move the policy and the flag together.
func (b *bundleResolver) loadBase() error {
	b.out.name = "of " + b.base.String()
	known := map[string]bool{}
	var missing *policyBundles
	for _, p := range b.named {
		if !p.inside {
			continue
		}
		var err error
		p.base, err = b.load(b.base, p.dir)
		switch {
		case errors.Is(err, errNoBundle):
			if missing == nil && p.dir != "" {
				missing = p
			}
		case err != nil:
			return b.baseError(err)
		}
		for _, found := range p.base {
			known[found.Dir] = true
		}
	}
	if missing != nil {
		found, err := b.load(b.base, "")
		if err != nil && !errors.Is(err, errNoBundle) {
			return b.baseError(err)
		}
		for _, f := range found {
			if !known[f.Dir] {
				known[f.Dir] = true
				missing.elsewhere = append(missing.elsewhere, f)
			}
		}
	}
	b.baseHas = len(known) > 0
	ofBase := func(p *policyBundles) []RuleSource { return p.base }
	if err := b.checkPins(b.base, ofBase, ""); err != nil {
		return err
	}
	return b.baseError(b.checkCombined(ofBase))
}

// baseError returns the error of a base whose bundles cannot be enforced; nil for none.
func (b *bundleResolver) baseError(err error) error {
	var mistakes document.Errors
	if errors.As(err, &mistakes) {
		return inBundle(mistakes, b.base, b.base.hint)
	}
	if err != nil {
		return tree.RepoError(err)
	}
	return nil
}

// loadHead loads the head's bundles. What is wrong with them is an error of the run; the base's are enforced anyway, if
// there are any.
func (b *bundleResolver) loadHead() error {
	b.out.name = "" // until it is known that there is one
	for _, p := range b.named {
		if !p.inside {
			continue
		}
		found, err := b.load(&b.head, p.dir)
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
	if err := b.checkCombined(func(p *policyBundles) []RuleSource { return p.head }); err != nil {
		return b.headError(err)
	}
	return nil
}

// headError notes what is wrong with the head's bundles. It is an error if those of the base cannot do without them.
func (b *bundleResolver) headError(err error) error {
	var mistakes document.Errors
	var mistake *document.Error
	switch {
	case errors.As(err, &mistakes):
		err = inBundle(mistakes, &b.head, "")
	case !errors.As(err, &mistake):
		return tree.RepoError(err)
	}
	if !b.baseHas {
		return err
	}
	b.out.wrong = append(b.out.wrong, err)
	return nil
}

// missingInHead is the error that the head does not have a bundle.
func (b *bundleResolver) missingInHead(p *policyBundles) error {
	const fix = `run "policyscan init" and commit it, or name one with --policy`
	missing := func(fix, format string, args ...any) error {
		return &document.Error{Code: document.CodeMissing, Found: fmt.Sprintf(format, args...), Fix: fix}
	}
	switch {
	case b.base == nil:
		b.out.noCommitted = b.isOneCommit
		return missing(fix, "no bundle in %s", b.head.name)
	case !b.baseHas:
		b.out.noCommitted = p.name == ""
		return missing(fix, "no bundle in %s or in %s", b.base.name, b.head.name)
	}
	return missing("keep it; its rules can be changed, and both versions then check the change",
		"the change removes the bundle: %s has none", b.head.name)
}

// checkCombined returns an error if the bundles that of returns for each name cannot be enforced together. Those of one
// name are not compared: a base that has one at both places of discovery can be repaired.
func (b *bundleResolver) checkCombined(of func(*policyBundles) []RuleSource) error {
	bundles := make([]*rules.Bundle, len(b.named))
	dir := ""
	for i, p := range b.named {
		bundles[i] = p.outside.Bundle
		all := RuleSources(of(p))
		if len(all) > 0 {
			bundles[i], dir = rules.Join(all.Bundles()...), all[len(all)-1].Dir
		}
	}
	err := rules.Together(bundles)
	var mistakes document.Errors
	if errors.As(err, &mistakes) && len(bundles) == 1 && dir != "." && dir != "" {
		return mistakes.In(dir + "/")
	}
	return err
}

// addSources adds the bundles that were found to the result, and names them.
func (b *bundleResolver) addSources() {
	bootstrap := b.base != nil && !b.baseHas
	if bootstrap {
		b.head.from = fromBootstrap
	}
	var outside, sides []string
	base, head := false, false
	for _, p := range b.named {
		if !p.inside {
			outside = append(outside, p.outside.Name)
			b.out.sources = append(b.out.sources, p.outside)
			continue
		}
		for _, found := range append(p.elsewhere, p.base...) {
			b.add(b.base, found)
			base = true
		}
		for _, found := range p.head {
			b.add(&b.head, found)
			head = true
		}
	}
	if base {
		sides = append(sides, "of "+b.base.String())
	}
	if head {
		sides = append(sides, "of "+b.head.String())
	}
	if bootstrap && head {
		sides[len(sides)-1] += ", which introduces it"
	}
	b.out.name = strings.Join(append(outside, sides...), " and ")
}

// load returns the bundles that a side has in a directory, or where discovery finds them.
func (b *bundleResolver) load(d *side, dir string) ([]RuleSource, error) {
	switch {
	case d.index != nil:
		return b.loader.inIndex(d.index, dir)
	case d.commit.IsZero(): // before the first commit
		return nil, errNoBundle
	}
	return b.loader.inCommit(d.commit, dir)
}

// add adds a bundle of a side.
func (b *bundleResolver) add(d *side, s RuleSource) {
	if s.From, s.Name = d.from, d.rev()+":"+s.Dir; d.index == nil {
		s.Commit = d.commit.String()
	}
	b.out.ruleFiles = append(b.out.ruleFiles, s.files...)
	b.out.sources = append(b.out.sources, s)
}

// inBundle names the side whose bundle the mistakes are in.
func inBundle(mistakes document.Errors, d *side, hint string) document.Errors {
	out := make(document.Errors, len(mistakes))
	for i, m := range mistakes.In(d.rev() + ":") {
		c := *m
		c.Found = d.name + "'s bundle: " + c.Found
		if hint != "" {
			c.Fix += "; " + hint
		}
		out[i] = &c
	}
	return out
}
