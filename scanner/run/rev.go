package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// strategyRev is the strategy of --rev; see [verdict.Scope].
const strategyRev = "rev"

// openCommit opens --rev: all files of a commit. Discovery looks in the commit; a named bundle is read from disk.
func (r *Run) openCommit() error {
	if err := r.openRepository(); err != nil {
		return err
	}
	head, err := r.Repo.Commit(r.Rev)
	if errors.Is(err, repo.ErrUnborn) { // a mirror's HEAD can name a branch that does not exist
		err = fmt.Errorf("%w; if another branch has one, name that with --rev", err)
	}
	if err != nil {
		return tree.RepoError(err)
	}
	r.Tree, r.MustCover = tree.Whole(r.Repo, head, strategyRev), r.discovers()
	r.noteUncommitted(head)
	c := change{head: side{name: r.Rev, commit: head}, isOneCommit: true}
	if err := r.loadBundles(c); err != nil {
		return err
	}
	return r.skipInCommit(&c.head)
}

// skipInCommit skips the enforced rule files on disk where the commit has the same ones: a directory that --policy
// names can be in the work tree.
func (r *Run) skipInCommit(head *side) error {
	if r.Repo.WorkTree == "" {
		return nil
	}
	for _, p := range r.Sources {
		if p.From != fromDisk {
			continue
		}
		for name, sum := range p.Bundle.Files {
			path, in, err := worktree.PathIn(r.Place.Root, filepath.Join(p.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if !in {
				continue
			}
			leaf, found, err := head.lookup(r.Repo, path)
			if err != nil {
				return tree.RepoError(err)
			}
			if !found || leaf.Mode != repo.File && leaf.Mode != repo.Executable {
				continue
			}
			text, err := newBundleLoader(r.Repo).read(leaf.Hash)
			if err != nil {
				return tree.RepoError(fmt.Errorf("%s: %w", verdict.Path(path), err))
			}
			if sha256.Sum256(text) == sum {
				r.RuleFiles = append(r.RuleFiles, check.RuleFile{Path: path, Blob: leaf.Hash})
			}
		}
	}
	return nil
}

// checkNotNested returns an error if the directory of the run is in a bare repository within the work tree of the
// found one. A change could have added it, so it is not read as a repository; nor does the user mean the found one.
func (r *Run) checkNotNested(found *repo.Repository) error {
	if r.Git.GitDir != "" && r.Path == "" {
		return nil
	}
	at, err := disk.Real(r.Path)
	if err != nil {
		return fmt.Errorf("the directory to scan cannot be opened: %w", disk.Cause(err))
	}
	bare, nested := found.BareAround(at)
	if !nested {
		return nil
	}
	return fmt.Errorf("%s is a bare repository inside a work tree, which is not trusted; "+
		"scan a copy elsewhere, or set GIT_DIR to it and omit PATH",
		disk.Shown(bare))
}
