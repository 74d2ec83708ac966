package main

import (
	"context"
	"errors"
	"os"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/ci"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/repo"
)

// changes sets the subject of --diff-base: the head's files that differ from a merge
// base, judged by the bundles of the base and of the head.
func (c *scanCmd) changes(ctx context.Context, s *subject, out *reporter) error {
	r, err := c.repository(s)
	if err != nil {
		return err
	}
	want, err := ci.Choose(r, os.Getenv, c.DiffBase, c.Head)
	if err != nil {
		return err
	}
	compared, err := want.Compare(r)
	if err != nil {
		return failure.OfRepo(err)
	}
	s.notes = compared.Notes
	if !c.Quiet {
		s.notes = append(s.notes, scanner.Uncommitted(ctx, r, compared.Head, out.outputs.File())...)
	}
	if compared.Whole {
		s.tree = scanner.Whole(r, compared.Head, want.Strategy)
	} else {
		s.tree = scanner.Changes(r, compared.Comparison, want.Base, want.Strategy)
	}
	change := judges.Change{Repo: r, Head: judges.Side{Name: "the head", Commit: compared.Head}}
	if !compared.Base.IsZero() {
		wayOut := "to use only the head's deliberately, give --policy-ref " + want.Head
		change.Base = &judges.Side{Name: "the base", Commit: compared.Base, WayOut: wayOut}
	}
	return c.judgedByBoth(s, change)
}

// staged sets the subject of --staged: the index's files that differ from HEAD's, judged
// by the bundles of HEAD and of the index.
func (c *scanCmd) staged(s *subject) error {
	r, err := c.repository(s)
	if err != nil {
		return err
	}
	idx, err := r.Index()
	if err == nil {
		idx, err = idx.Committed()
	}
	if err != nil {
		return failure.OfRepo(err)
	}
	head, err := r.Commit("HEAD")
	if err == nil {
		err = idx.Missing()
	}
	if err != nil && !errors.Is(err, repo.ErrUnborn) {
		return failure.OfRepo(err)
	}
	s.tree = scanner.Staged(r, idx, head)
	const wayOut = "to use the bundle of another commit deliberately, give --policy-ref; " +
		"to commit the fixed one, git commit --no-verify"
	return c.judgedByBoth(s, judges.Change{
		Repo: r,
		Base: &judges.Side{Name: "HEAD", Commit: head, WayOut: wayOut},
		Head: judges.Side{Name: "the index", Index: idx},
	})
}

// tracked sets the subject of --tracked: the files on disk that are in the index.
func (c *scanCmd) tracked(s *subject, r *reporter) error {
	repository, err := c.repository(s)
	if err != nil {
		return err
	}
	if repository.WorkTree == "" {
		return errors.New("--tracked reads the work tree, and a bare repository has none; " +
			"scan a work tree of it, or a change with --diff-base")
	}
	idx, err := repository.Index()
	if err != nil {
		return failure.OfRepo(err)
	}
	if err := c.judgedFromDisk(s, r); err != nil {
		return err
	}
	s.tree, s.close, err = scanner.OpenTracked(s.place.root, idx)
	return err
}
