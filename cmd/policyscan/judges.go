package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
)

// A side is one of the two states that a change is between.
type side struct {
	name   string // as a person would say: "the base", "HEAD"
	from   string // for the verdict
	commit repo.Hash
	index  *repo.Index // instead of a commit
	wayOut string      // the deliberate way out, if its bundle is invalid
}

func (d side) String() string {
	if d.index != nil || d.commit.IsZero() {
		return d.name
	}
	return fmt.Sprintf("%s (%s)", d.name, short(d.commit))
}

// rev is what git calls the side: "git show REV:PATH" shows a file of it.
func (d side) rev() string {
	if d.index != nil || d.commit.IsZero() {
		return ""
	}
	return short(d.commit)
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

// seatJudges says who judges a change from base to head: of each bundle of the run that of the base and that
// of the head, each found there on its own, or one that the change cannot touch. Without
// a base (nil) the head is judged by its own bundles.
func (c *scanCmd) seatJudges(s *subject, r *repo.Repository, base *side, head side) error {
	var policies []*seat
	anyInside := false
	for _, flag := range c.flags() {
		p := &seat{flag: flag}
		var err error
		p.dir, p.inside, err = policyIn(r, flag)
		if err == nil && p.inside {
			p.inside, err = committed(r, p.dir, base, &head)
		}
		if err != nil {
			return err
		}
		anyInside = anyInside || p.inside
		policies = append(policies, p)
	}
	if c.PolicyRef != "" {
		if !anyInside {
			return errors.New("--policy-ref takes the bundle from a commit of this repository, and what --policy names is not in it; give one of them")
		}
		commit, err := r.Commit(c.PolicyRef)
		if err != nil {
			return gitFailed(err)
		}
		base, head = nil, side{name: c.PolicyRef, from: "commit", commit: commit}
	}
	b := &bench{subject: s, bundles: scanner.NewBundles(r), policies: policies, base: base, head: head}
	if err := b.seatOutside(); err != nil {
		return err
	}
	if base != nil {
		if err := b.seatBase(); err != nil {
			return err
		}
	}
	return b.seatHead()
}

// A bench is where the judges of a change take their seats.
type bench struct {
	*subject
	bundles  *scanner.Bundles
	policies []*seat // in the order of the flags
	base     *side   // nil: the head is judged by its own bundles alone
	head     side
	baseHas  bool // the base has a bundle
}

// A seat is for the bundles that one --policy names, or that are left to discovery.
type seat struct {
	flag       string // "": left to discovery
	dir        string // in the repository; "": where discovery finds it
	inside     bool   // it is in the repository, so that the change can touch it
	outside    policy // else
	base, head []scanner.StoredBundle
	elsewhere  []scanner.StoredBundle // where discovery finds it in a base that does not have dir
}

// seatOutside seats the bundles that the change cannot touch.
func (b *bench) seatOutside() error {
	for _, p := range b.policies {
		if p.inside {
			continue
		}
		var err error
		p.outside, err = loadPolicy(p.flag, b.place.root)
		if len(b.policies) == 1 {
			b.policy = p.outside.name
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seatBase seats the base's bundles. Where it does not have the folder that a flag names, those that discovery finds
// in it judge: a change must not be able to move the policy and the flag together.
func (b *bench) seatBase() error {
	b.policy = "of " + b.base.String()
	seated := map[string]bool{}
	var missing *seat
	for _, p := range b.policies {
		if !p.inside {
			continue
		}
		var err error
		p.base, err = b.load(*b.base, p.dir)
		switch {
		case errors.Is(err, scanner.ErrNoBundle):
			if missing == nil && p.dir != "" {
				missing = p
			}
		case err != nil:
			return b.ofBase(err)
		}
		for _, found := range p.base {
			seated[found.Dir] = true
		}
	}
	if missing != nil {
		found, err := b.load(*b.base, "")
		if err != nil && !errors.Is(err, scanner.ErrNoBundle) {
			return b.ofBase(err)
		}
		for _, f := range found {
			if !seated[f.Dir] {
				seated[f.Dir] = true
				missing.elsewhere = append(missing.elsewhere, f)
			}
		}
	}
	b.baseHas = len(seated) > 0
	return b.ofBase(b.distinct(func(p *seat) []scanner.StoredBundle { return p.base }))
}

// ofBase is the error of a base whose bundles cannot judge; nil for none.
func (b *bench) ofBase(err error) error {
	var mistakes rules.Errors
	if errors.As(err, &mistakes) {
		return inBundle(mistakes, *b.base, b.base.wayOut)
	}
	if err != nil {
		return gitFailed(err)
	}
	return nil
}

// seatHead seats the head's bundles, and hands all judges to the scan. What is wrong with them is an error of the run;
// the base's are enforced all the same, if there are any.
func (b *bench) seatHead() error {
	bootstrap := b.base != nil && !b.baseHas
	if bootstrap {
		b.head.from = scanner.FromBootstrap
	}
	b.policy = "" // until it is known that there is one
	wrong := func(err error) error {
		var mistakes rules.Errors
		var mistake *rules.Error
		switch {
		case errors.As(err, &mistakes):
			err = inBundle(mistakes, b.head, "")
		case !errors.As(err, &mistake):
			return gitFailed(err)
		}
		if !b.baseHas {
			return err
		}
		b.addErrors(err)
		return nil
	}
	for _, p := range b.policies {
		if !p.inside {
			continue
		}
		found, err := b.load(b.head, p.dir)
		switch {
		case errors.Is(err, scanner.ErrNoBundle):
			err = wrong(b.noneInHead(p))
		case len(found) > 1: // valid or not
			err = wrong(rules.TwoBundles(b.head.String()))
		case err != nil:
			err = wrong(err)
		default:
			p.head = found
		}
		if err != nil {
			return err
		}
	}
	if err := b.distinct(func(p *seat) []scanner.StoredBundle { return p.head }); err != nil {
		if err := wrong(err); err != nil {
			return err
		}
	}
	b.name(bootstrap)
	for _, p := range b.policies {
		if !p.inside {
			b.judges = append(b.judges, scanner.Judge{From: p.outside.from, Bundle: p.outside.bundle})
			continue
		}
		for _, found := range append(p.elsewhere, p.base...) {
			b.judge(*b.base, found)
		}
		for _, found := range p.head {
			b.judge(b.head, found)
		}
	}
	return nil
}

// noneInHead is the error that the head does not have the bundle of a seat.
func (b *bench) noneInHead(p *seat) error {
	const fix = `run "policyscan init" and commit it, or name one with --policy`
	switch {
	case b.base == nil:
		return &rules.Error{Code: rules.CodeMissing, Found: "no bundle in " + b.head.name, Fix: fix}
	case !b.baseHas:
		none := &rules.Error{Code: rules.CodeMissing, Found: fmt.Sprintf("no bundle in %s or in %s", b.base.name, b.head.name), Fix: fix}
		if p.flag == "" {
			return b.uncommittedBundle(none)
		}
		return none
	}
	return &rules.Error{Code: rules.CodeMissing, Found: fmt.Sprintf("the change takes the bundle away: %s has none", b.head.name), Fix: "keep it; what it says can be changed, and is then judged by both"}
}

// distinct is an error if two flags lead to bundles with the same id, of those that of returns for a seat. The bundles
// that one seat has are not compared: a base that has one at both places of discovery can be repaired.
func (b *bench) distinct(of func(*seat) []scanner.StoredBundle) error {
	bundles := make([]*rules.Bundle, len(b.policies))
	for i, p := range b.policies {
		bundles[i] = p.outside.bundle
		var all []*rules.Bundle
		for _, found := range of(p) {
			all = append(all, found.Bundle)
		}
		if len(all) > 0 {
			bundles[i] = rules.Join(all...)
		}
	}
	return rules.Distinct(bundles)
}

// name says for a person whose bundles judge.
func (b *bench) name(bootstrap bool) {
	var outside, sides []string
	base, head := false, false
	for _, p := range b.policies {
		if !p.inside {
			outside = append(outside, p.outside.name)
		}
		base, head = base || len(p.base)+len(p.elsewhere) > 0, head || len(p.head) > 0
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
	b.policy = strings.Join(append(outside, sides...), " and ")
}

// load returns the bundles that a side has in a folder, or where discovery finds them.
func (b *bench) load(d side, dir string) ([]scanner.StoredBundle, error) {
	switch {
	case d.index != nil:
		return b.bundles.InIndex(d.index, dir)
	case d.commit.IsZero(): // before the first commit
		return nil, scanner.ErrNoBundle
	}
	return b.bundles.InCommit(d.commit, dir)
}

// judge adds a bundle of a side to the judges.
func (b *bench) judge(d side, found scanner.StoredBundle) {
	commit := ""
	if d.index == nil {
		commit = d.commit.String()
	}
	b.inUse = append(b.inUse, found.Files...)
	b.judges = append(b.judges, scanner.Judge{From: d.from, Commit: commit, Bundle: found.Bundle})
}

// inBundle names the side whose bundle the mistakes are in.
func inBundle(mistakes rules.Errors, d side, hint string) rules.Errors {
	out := make(rules.Errors, len(mistakes))
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
