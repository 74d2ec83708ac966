package judges

import (
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/repo"
)

// A Side is one of the two states that a change is between.
type Side struct {
	Name   string // as a person would say: "the base", "HEAD"
	Commit repo.Hash
	Index  *repo.Index // instead of a commit
	WayOut string      // what a person can do deliberately, if its bundle is invalid

	from string // as in [Judge]; set by [Change.Judges]
}

func (d Side) String() string {
	if d.rev() == "" {
		return d.Name
	}
	return fmt.Sprintf("%s (%s)", d.Name, d.rev())
}

// rev is what git calls the side: "git show REV:PATH" shows a file of it.
func (d Side) rev() string {
	if d.Index != nil || d.Commit.IsZero() {
		return ""
	}
	return repo.Short(d.Commit)
}

// has reports whether there is something at a path of the side.
func (d *Side) has(r *repo.Repository, path string) (bool, error) {
	switch {
	case d.Index != nil:
		_, found := d.Index.Lookup(path)
		return found, nil
	case d.Commit.IsZero():
		return false, nil
	}
	tree, err := r.Tree(d.Commit)
	if err != nil {
		return false, err
	}
	_, found, err := r.Lookup(tree, path)
	return found, err
}

// A Change is what a run judges that is about two states of a repository, and the bundles that it has to enforce.
type Change struct {
	Repo *repo.Repository
	Base *Side // nil: the head is judged by its own bundles alone
	Head Side
	// Alone: it is no change. The head is a commit that a person names, without a Base, and only where Policies leaves
	// the bundle to discovery it is the commit's own: a folder that is named is read as it is on disk.
	Alone bool
	// Starts are the commits that the change starts from: its merge bases, and what else it is compared with.
	Starts []repo.Hash

	// Folders as a person names them, from the current one. "": where discovery finds the bundle in each state.
	Policies  []string
	Embedded  string // the name among them that means the program's own bundle, and for no folder
	PolicyRef string // the commit whose bundles judge alone; "": those of the base and of the head
	Pins      Pins   // what the bundles must be, by the order of Policies
	// Load loads a bundle that the change cannot touch, and returns a name of it for a person, with an error, too.
	Load func(policy string) (j Judge, name string, err error)
}

// Chosen are who judges a change.
type Chosen struct {
	Judges []Judge
	Name   string // of their bundles, for a person
	// Names has that of the bundle of each judge: as git shows it, such as 1234567:.policyscan, or as Load names it.
	Names []string
	InUse []check.RuleFile // of their bundles
	Wrong []error          // with the bundles of the head, where those of the base judge all the same
	// Starts are the allowances of the bundles at each of Change.Starts.
	Starts [][]rules.Allowance

	// Uncommitted: the run has no judge, as neither state has a bundle where discovery finds one.
	Uncommitted bool
}

// Judges says who judges a change: of each bundle of the run that of the base and that of the head, each found there
// on its own, or one that the change cannot touch. So it can tighten the rules, never loosen them. Without a base the
// head is judged by its own bundles. As much as is known is returned with an error, too.
func (c *Change) Judges() (Chosen, error) {
	b := &choice{Change: *c, bundles: newBundles(c.Repo)}
	if c.Base != nil {
		base := *c.Base
		base.from = fromBase
		b.Base = &base
	}
	b.Head.from = fromHead
	switch {
	case b.Head.Index != nil:
		b.Head.from = fromIndex
	case c.Alone:
		b.Head.from = fromCommit
	}
	err := b.choose()
	return b.out, err
}

// A choice is how the judges of a change are chosen.
type choice struct {
	Change
	out     Chosen
	bundles *bundles
	named   []*namedPolicy // in the order of Policies
	baseHas bool           // the base has a bundle
}

// A namedPolicy is the bundles that one of [Change.Policies] leads to.
type namedPolicy struct {
	name        string // "": left to discovery
	dir         string // in the repository; "": where discovery finds it
	inside      bool   // it is in the repository, so that the change can touch it
	outside     Judge  // else
	outsideName string
	base, head  []storedBundle
	elsewhere   []storedBundle // where discovery finds it in a base that does not have dir
}

func (b *choice) choose() error {
	anyInside := false
	for _, name := range b.Policies {
		p := &namedPolicy{name: name}
		var err error
		if name == "" || name != b.Embedded && !b.Alone {
			p.dir, p.inside, err = policyIn(b.Repo, name)
		}
		if err == nil && p.inside {
			p.inside, err = committed(b.Repo, p.dir, b.Base, &b.Head)
		}
		if err != nil {
			return err
		}
		anyInside = anyInside || p.inside
		b.named = append(b.named, p)
	}
	if b.PolicyRef != "" {
		if !anyInside {
			return errors.New("--policy-ref takes the bundle from a commit of this repository, " +
				"and --policy names one outside of it; use one of the two flags")
		}
		commit, err := b.Repo.Commit(b.PolicyRef)
		if err != nil {
			return failure.OfRepo(err)
		}
		b.Base, b.Head = nil, Side{Name: b.PolicyRef, from: fromCommit, Commit: commit}
	}
	if err := b.loadOutside(); err != nil {
		return err
	}
	if b.Base != nil {
		if err := b.loadBase(); err != nil {
			return err
		}
	}
	if err := b.loadHead(); err != nil {
		return err
	}
	if err := b.pinnedHead(); err != nil {
		return err
	}
	b.appoint()
	return b.loadStarts()
}

// loadOutside loads the bundles that the change cannot touch.
func (b *choice) loadOutside() error {
	for i, p := range b.named {
		if p.inside {
			continue
		}
		var err error
		p.outside, p.outsideName, err = b.Load(p.name)
		if len(b.named) == 1 {
			b.out.Name = p.outsideName
		}
		if err != nil {
			return err
		}
		if m := b.Pins.mistake(i, "", p.outside.Bundle); m != nil {
			return m
		}
	}
	return nil
}

// loadBase loads the base's bundles. Where it does not have the folder that a name leads to, those that
// discovery finds in it judge: a change must not be able to move the policy and the flag together.
func (b *choice) loadBase() error {
	b.out.Name = "of " + b.Base.String()
	known := map[string]bool{}
	var missing *namedPolicy
	for _, p := range b.named {
		if !p.inside {
			continue
		}
		var err error
		p.base, err = b.load(*b.Base, p.dir)
		switch {
		case errors.Is(err, errNoBundle):
			if missing == nil && p.dir != "" {
				missing = p
			}
		case err != nil:
			return b.ofBase(err)
		}
		for _, found := range p.base {
			known[found.Dir] = true
		}
	}
	if missing != nil {
		found, err := b.load(*b.Base, "")
		if err != nil && !errors.Is(err, errNoBundle) {
			return b.ofBase(err)
		}
		for _, f := range found {
			if !known[f.Dir] {
				known[f.Dir] = true
				missing.elsewhere = append(missing.elsewhere, f)
			}
		}
	}
	b.baseHas = len(known) > 0
	if err := b.pinned(b.Base, func(p *namedPolicy) []storedBundle { return p.base }, ""); err != nil {
		return err
	}
	return b.ofBase(b.together(func(p *namedPolicy) []storedBundle { return p.base }))
}

// ofBase is the error of a base whose bundles cannot judge; nil for none.
func (b *choice) ofBase(err error) error {
	var mistakes document.Errors
	if errors.As(err, &mistakes) {
		return inBundle(mistakes, *b.Base, b.Base.WayOut)
	}
	if err != nil {
		return failure.OfRepo(err)
	}
	return nil
}

// loadHead loads the head's bundles. What is wrong with them is an error of the run; the base's are enforced all the
// same, if there are any.
func (b *choice) loadHead() error {
	b.out.Name = "" // until it is known that there is one
	for _, p := range b.named {
		if !p.inside {
			continue
		}
		found, err := b.load(b.Head, p.dir)
		switch {
		case errors.Is(err, errNoBundle):
			err = b.ofHead(b.noneInHead(p))
		case len(found) > 1: // valid or not
			err = b.ofHead(rules.TwoBundles(b.Head.String()))
		case err != nil:
			err = b.ofHead(err)
		default:
			p.head = found
		}
		if err != nil {
			return err
		}
	}
	if err := b.together(func(p *namedPolicy) []storedBundle { return p.head }); err != nil {
		return b.ofHead(err)
	}
	return nil
}

// ofHead notes what is wrong with the head's bundles. It is an error if those of the base cannot judge without them.
func (b *choice) ofHead(err error) error {
	var mistakes document.Errors
	var mistake *document.Error
	switch {
	case errors.As(err, &mistakes):
		err = inBundle(mistakes, b.Head, "")
	case !errors.As(err, &mistake):
		return failure.OfRepo(err)
	}
	if !b.baseHas {
		return err
	}
	b.out.Wrong = append(b.out.Wrong, err)
	return nil
}

// noneInHead is the error that the head does not have a bundle.
func (b *choice) noneInHead(p *namedPolicy) error {
	const fix = `run "policyscan init" and commit it, or name one with --policy`
	missing := func(fix, format string, args ...any) error {
		return &document.Error{Code: document.CodeMissing, Found: fmt.Sprintf(format, args...), Fix: fix}
	}
	switch {
	case b.Base == nil:
		b.out.Uncommitted = b.Alone
		return missing(fix, "no bundle in %s", b.Head.Name)
	case !b.baseHas:
		b.out.Uncommitted = p.name == ""
		return missing(fix, "no bundle in %s or in %s", b.Base.Name, b.Head.Name)
	}
	return missing("keep it; its rules can be changed, and both versions then check the change",
		"the change removes the bundle: %s has none", b.Head.Name)
}

// together is an error if the bundles that names lead to cannot be enforced together, of those that of returns for a
// name. The bundles that one name leads to are not compared: a base that has one at both places of discovery can be
// repaired.
func (b *choice) together(of func(*namedPolicy) []storedBundle) error {
	bundles := make([]*rules.Bundle, len(b.named))
	folder := ""
	for i, p := range b.named {
		bundles[i] = p.outside.Bundle
		var all []*rules.Bundle
		for _, found := range of(p) {
			all = append(all, found.Bundle)
			folder = found.Dir
		}
		if len(all) > 0 {
			bundles[i] = rules.Join(all...)
		}
	}
	err := rules.Together(bundles)
	var mistakes document.Errors
	if errors.As(err, &mistakes) && len(bundles) == 1 && folder != "." && folder != "" {
		return mistakes.In(folder + "/")
	}
	return err
}

// appoint makes judges of the bundles that were found, and names them.
func (b *choice) appoint() {
	bootstrap := b.Base != nil && !b.baseHas
	if bootstrap {
		b.Head.from = fromBootstrap
	}
	var outside, sides []string
	base, head := false, false
	for _, p := range b.named {
		if !p.inside {
			outside = append(outside, p.outsideName)
			b.out.Judges, b.out.Names = append(b.out.Judges, p.outside), append(b.out.Names, p.outsideName)
			continue
		}
		for _, found := range append(p.elsewhere, p.base...) {
			b.judge(*b.Base, found)
			base = true
		}
		for _, found := range p.head {
			b.judge(b.Head, found)
			head = true
		}
	}
	if base {
		sides = append(sides, "of "+b.Base.String())
	}
	if head {
		sides = append(sides, "of "+b.Head.String())
	}
	if bootstrap && head {
		sides[len(sides)-1] += ", which introduces it"
	}
	b.out.Name = strings.Join(append(outside, sides...), " and ")
}

// load returns the bundles that a side has in a folder, or where discovery finds them.
func (b *choice) load(d Side, dir string) ([]storedBundle, error) {
	switch {
	case d.Index != nil:
		return b.bundles.inIndex(d.Index, dir)
	case d.Commit.IsZero(): // before the first commit
		return nil, errNoBundle
	}
	return b.bundles.inCommit(d.Commit, dir)
}

// judge adds a bundle of a side to the judges.
func (b *choice) judge(d Side, found storedBundle) {
	commit := ""
	if d.Index == nil {
		commit = d.Commit.String()
	}
	b.out.InUse = append(b.out.InUse, found.Files...)
	b.out.Names = append(b.out.Names, d.rev()+":"+found.Dir)
	b.out.Judges = append(b.out.Judges, Judge{From: d.from, Commit: commit, Bundle: found.Bundle})
}

// inBundle names the side whose bundle the mistakes are in.
func inBundle(mistakes document.Errors, d Side, hint string) document.Errors {
	out := make(document.Errors, len(mistakes))
	for i, m := range mistakes.In(d.rev() + ":") {
		c := *m
		c.Found = d.Name + "'s bundle: " + c.Found
		if hint != "" {
			c.Fix += "; " + hint
		}
		out[i] = &c
	}
	return out
}
