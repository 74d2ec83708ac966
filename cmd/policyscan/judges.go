package main

import (
	"errors"
	"fmt"

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
	mend   string      // the deliberate way out, if its bundle is invalid
	unborn string      // if not "": why a base without a bundle does not leave the head's alone
}

func (d side) String() string {
	if d.index != nil || d.commit.IsZero() {
		return d.name
	}
	return fmt.Sprintf("%s (%s)", d.name, short(d.commit))
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

// seatJudges says who judges a change from base to head: the bundle of the base and that
// of the head, each found there on its own, or one that the change cannot touch. Without
// a base (nil) the head is judged by its own bundle.
func (c *scanCmd) seatJudges(s *subject, r *repo.Repository, base *side, head side) error {
	bundles := scanner.NewBundles(r)
	dir, inside, err := policyIn(r, c.Policy)
	if err == nil && inside {
		inside, err = committed(r, dir, base, &head)
	}
	switch {
	case err != nil:
		return err
	case !inside && c.PolicyRef != "":
		return fmt.Errorf("--policy-ref takes the bundle from a commit of this repository, and --policy %s is not in it; give one of them", c.Policy)
	case !inside:
		p, err := loadPolicy(c.Policy, s.place.root)
		s.policy = p.name
		s.judges = []scanner.Judge{{From: p.from, Bundle: p.bundle}}
		return err
	case c.PolicyRef != "":
		commit, err := r.Commit(c.PolicyRef)
		if err != nil {
			return gitFailed(err)
		}
		return s.seatAlone(bundles, side{name: c.PolicyRef, from: "commit", commit: commit}, dir)
	case base == nil:
		return s.seatAlone(bundles, head, dir)
	}
	return s.seatBoth(bundles, *base, head, dir)
}

// seatAlone seats the bundle of one side.
func (s *subject) seatAlone(bundles *scanner.Bundles, d side, dir string) error {
	s.policy = "of " + d.String()
	var mistakes rules.Errors
	err := s.seat(bundles, d, dir)
	switch {
	case errors.Is(err, scanner.ErrNoBundle):
		return &rules.Error{Code: rules.CodeMissing, Found: "no bundle in " + d.name, Fix: `run "policyscan init" and commit it, or name one with --policy`}
	case errors.As(err, &mistakes):
		return inBundle(mistakes, d, "")
	case err != nil:
		return gitFailed(err)
	}
	return nil
}

// seatBoth seats the bundles of both sides of a change.
func (s *subject) seatBoth(bundles *scanner.Bundles, base, head side, dir string) error {
	s.policy = fmt.Sprintf("of %s and of %s", base, head)
	baseErr := s.seat(bundles, base, dir)
	if errors.Is(baseErr, scanner.ErrNoBundle) && dir != "" {
		baseErr = s.seat(bundles, base, "")
	}
	var mistakes rules.Errors
	switch {
	case errors.Is(baseErr, scanner.ErrNoBundle) && base.unborn != "":
		return &rules.Error{Code: rules.CodeMissing, Found: "no bundle in " + base.name, Fix: base.unborn}
	case errors.Is(baseErr, scanner.ErrNoBundle):
		s.policy = fmt.Sprintf("of %s, which introduces it", head)
		head.from = scanner.FromBootstrap
		err := s.seat(bundles, head, dir)
		if errors.Is(err, scanner.ErrNoBundle) {
			err = &rules.Error{Code: rules.CodeMissing, Found: fmt.Sprintf("no bundle in %s or in %s", base.name, head.name), Fix: `run "policyscan init" and commit it, or name one with --policy`}
		}
		return err
	case errors.As(baseErr, &mistakes):
		return inBundle(mistakes, base, base.mend)
	case baseErr != nil:
		return gitFailed(baseErr)
	}

	headErr := s.seat(bundles, head, dir)
	switch {
	case errors.Is(headErr, scanner.ErrNoBundle):
		s.errors = errorsOf(&rules.Error{Code: rules.CodeMissing, Found: fmt.Sprintf("the change takes the bundle away: %s has none", head.name), Fix: "keep it; what it says can be changed, and is then judged by both"})
	case errors.As(headErr, &mistakes):
		s.errors = errorsOf(inBundle(mistakes, head, ""))
	case headErr != nil:
		return gitFailed(headErr)
	}
	return nil
}

// seat adds the bundle of a side to the judges.
func (s *subject) seat(bundles *scanner.Bundles, d side, dir string) error {
	var b *rules.Bundle
	var files []scanner.RuleFile
	var err error
	commit := ""
	switch {
	case d.index != nil:
		b, files, err = bundles.InIndex(d.index, dir)
	case d.commit.IsZero(): // before the first commit
		return scanner.ErrNoBundle
	default:
		commit = d.commit.String()
		b, files, err = bundles.InCommit(d.commit, dir)
	}
	if err != nil {
		return err
	}
	s.inUse = append(s.inUse, files...)
	s.judges = append(s.judges, scanner.Judge{From: d.from, Commit: commit, Bundle: b})
	return nil
}

// inBundle names the side whose bundle the mistakes are in.
func inBundle(mistakes rules.Errors, d side, hint string) rules.Errors {
	out := make(rules.Errors, len(mistakes))
	for i, m := range mistakes {
		c := *m
		c.Found = d.name + "'s bundle: " + c.Found
		if hint != "" {
			c.Fix += "; " + hint
		}
		out[i] = &c
	}
	return out
}
