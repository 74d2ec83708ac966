package main

import (
	"context"
	"fmt"
	"os"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/ci"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// auto is the --diff-base that is chosen from the environment of a CI run.
const auto = "auto"

// changes is the subject of --diff-base: the head's files that differ from a merge
// base, judged by the bundles of the base and of the head.
func (c *scanCmd) changes(ctx context.Context, s *subject, out *reporter) error {
	r, err := c.repository(s)
	if err != nil {
		return err
	}
	want := ci.Named(c.DiffBase, c.Head)
	if c.DiffBase == auto {
		if want, err = ci.Choose(r, os.Getenv, c.Head); err != nil {
			return fmt.Errorf("--diff-base auto: %w", err)
		}
	}
	compared, err := want.Compare(r)
	if err != nil {
		return scanner.RepoFailed(err)
	}
	s.notes = compared.Notes
	if !c.Quiet {
		s.notes = append(s.notes, uncommitted(ctx, r, compared.Head, s.place, out.file)...)
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

// uncommitted notes how much of the work tree is no part of a change up to its HEAD.
func uncommitted(ctx context.Context, r *repo.Repository, head repo.Hash, p place, output string) []string {
	at, err := r.Commit("HEAD")
	if err != nil || at != head || r.WorkTree == "" {
		return nil // what is on disk belongs to another commit
	}
	n := 0
	outputs := map[string]string{}
	err = p.leaveOut(outputs, output, scanner.LeftOutput)
	if err == nil {
		var root *worktree.Root
		if root, err = worktree.Open(r.WorkTree); err == nil {
			defer root.Close()
			n, err = scanner.Uncommitted(ctx, r, root, head, outputs)
		}
	}
	const see = "see them with git status; --staged, --tracked or a full scan judges them"
	switch {
	case err != nil:
		return []string{fmt.Sprintf("uncommitted files were not scanned, nor could they be counted: %v", systemError(err))}
	case n == 1:
		return []string{"1 uncommitted file was not scanned; " + see}
	case n > 1:
		return []string{fmt.Sprintf("%d uncommitted files were not scanned; %s", n, see)}
	}
	return nil
}
