package main

import (
	"errors"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// staged is the subject of --staged: the index's files that differ from HEAD's, judged
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
		return scanner.RepoFailed(err)
	}
	head, err := r.Commit("HEAD")
	if err == nil {
		err = idx.Missing()
	}
	if err != nil && !errors.Is(err, repo.ErrUnborn) {
		return scanner.RepoFailed(err)
	}
	s.tree = scanner.Staged(r, idx, head)
	const wayOut = "to judge by the bundle of another commit, deliberately, give --policy-ref; to commit the fixed one, git commit --no-verify"
	return c.judgedByBoth(s, scanner.Change{
		Repo: r,
		Base: &scanner.Side{Name: "HEAD", From: scanner.FromBase, Commit: head, WayOut: wayOut},
		Head: scanner.Side{Name: "the index", From: scanner.FromIndex, Index: idx},
	})
}

// tracked is the subject of --tracked: the files on disk that the index names.
func (c *scanCmd) tracked(s *subject, r *reporter) error {
	repository, err := c.repository(s)
	if err != nil {
		return err
	}
	if repository.WorkTree == "" {
		return errors.New("--tracked reads the work tree, and a bare repository has none; scan a work tree of it, or a change with --diff-base")
	}
	idx, err := repository.Index()
	if err != nil {
		return scanner.RepoFailed(err)
	}
	if err := c.judgedFromDisk(s, r); err != nil {
		return err
	}
	root, err := worktree.Open(s.place.root)
	if err != nil {
		return scanner.NoRoot(err)
	}
	s.tree, s.close = scanner.Tracked(root, idx), root.Close
	return nil
}
