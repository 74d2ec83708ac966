package main

import (
	"context"
	"os"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/ci"
)

// changes is the subject of --diff-base: the head's files that differ from a merge
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
		return scanner.RepoFailed(err)
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
	change := scanner.Change{Repo: r, Head: scanner.Side{Name: "the head", From: scanner.FromHead, Commit: compared.Head}}
	if !compared.Base.IsZero() {
		wayOut := "to judge by the head's alone, deliberately, give --policy-ref " + want.Head
		change.Base = &scanner.Side{Name: "the base", From: scanner.FromBase, Commit: compared.Base, WayOut: wayOut}
	}
	return c.judgedByBoth(s, change)
}
