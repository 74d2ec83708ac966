package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// strategyRev is how the commit of --rev is found; see [verdict.Scope].
const strategyRev = "rev"

// openCommit opens --rev: all files of a commit. The bundle that discovery finds is that of the commit; one that is
// named is read from disk.
func (r *Run) openCommit() error {
	if err := r.openRepository(); err != nil {
		return err
	}
	head, err := r.Repo.Commit(r.Rev)
	if errors.Is(err, repo.ErrUnborn) { // a mirror's HEAD can name a branch that is not there
		err = fmt.Errorf("%w; if another branch has one, name that with --rev", err)
	}
	if err != nil {
		return tree.RepoError(err)
	}
	r.Tree, r.MustCover = tree.Whole(r.Repo, head, strategyRev), r.discovers()
	r.noteUncommitted(head)
	if err := r.loadBundles(change{head: side{name: r.Rev, commit: head}, isOneCommit: true}); err != nil {
		return err
	}
	return r.skipInCommit(head)
}

// skipInCommit leaves the rule files on disk that are enforced out of the scan, where the commit has the same ones: a
// directory that --policy names can be in the work tree.
func (r *Run) skipInCommit(head repo.Hash) error {
	if r.Repo.WorkTree == "" || len(r.onDisk) == 0 {
		return nil
	}
	root, err := r.Repo.Tree(head)
	if err != nil {
		return tree.RepoError(err)
	}
	for _, p := range r.onDisk {
		for name, sum := range p.Bundle.Files {
			path, in, err := worktree.PathIn(r.Place.Root, filepath.Join(p.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if !in {
				continue
			}
			leaf, found, err := r.Repo.Lookup(root, path)
			if err != nil {
				return tree.RepoError(err)
			}
			if !found || leaf.Mode != repo.File && leaf.Mode != repo.Executable {
				continue
			}
			switch same, err := hasSum(r.Repo, leaf.Hash, sum); {
			case err != nil:
				return tree.RepoError(fmt.Errorf("%s: %w", verdict.Path(path), err))
			case same:
				r.RuleFiles = append(r.RuleFiles, check.RuleFile{Path: path, Blob: leaf.Hash})
			}
		}
	}
	return nil
}

// hasSum reports whether a blob is a rule file of that hash.
func hasSum(r *repo.Repository, blob repo.Hash, sum [sha256.Size]byte) (bool, error) {
	b, err := r.Blob(blob)
	if err != nil {
		return false, err
	}
	defer b.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(b, rules.MaxBundleBytes+1)) // a longer one is no rule file
	return err == nil && n <= rules.MaxBundleBytes && [sha256.Size]byte(h.Sum(nil)) == sum, err
}

// checkNotNested is an error if the folder of the run is in a bare repository within the work tree of the one
// that was found. A change could have brought it, so it is not read as a repository; but the user does not mean the one
// that was found.
func (r *Run) checkNotNested(found *repo.Repository) error {
	if r.Git.GitDir != "" && r.Path == "" {
		return nil
	}
	at, err := disk.Real(r.Path)
	if err != nil {
		return fmt.Errorf("the folder to scan cannot be opened: %w", disk.Cause(err))
	}
	bare, nested := found.BareAround(at)
	if !nested {
		return nil
	}
	return fmt.Errorf("%s is a bare git repository inside another repository, and a change could have added it, "+
		"so it is not read; scan a copy outside the work tree, or, if it is yours, set GIT_DIR to it and omit PATH",
		disk.Shown(bare))
}
