package scope

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/uncommitted"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// strategyRev is how the commit of --rev is found; see [verdict.Scope].
const strategyRev = "rev"

// commit sets the subject of --rev: all files of a commit. The bundle that discovery finds is that of the commit; one
// that is named is read from disk.
func (q *Request) commit(ctx context.Context, s *Subject) error {
	r, err := q.repository(s)
	if err != nil {
		return err
	}
	head, err := r.Commit(q.Rev)
	if errors.Is(err, repo.ErrUnborn) { // a mirror's HEAD can name a branch that is not there
		err = fmt.Errorf("%w; if another branch has one, name that with --rev", err)
	}
	if err != nil {
		return failure.OfRepo(err)
	}
	s.Tree, s.Found = tree.Whole(r, head, strategyRev), q.discovers()
	if q.Uncommitted {
		s.Notes = append(s.Notes, uncommitted.Notes(ctx, r, head, q.Verdict)...)
	}
	change := judges.Change{Repo: r, Head: judges.Side{Name: q.Rev, Commit: head}, Alone: true}
	if err := q.judgedByBoth(s, change); err != nil {
		return err
	}
	return s.excludeFromCommit(r, head)
}

// excludeFromCommit excludes the rule files on disk that judge, where the commit has the same ones: a folder that
// --policy names can be in the work tree.
func (s *Subject) excludeFromCommit(r *repo.Repository, head repo.Hash) error {
	if r.WorkTree == "" || len(s.onDisk) == 0 {
		return nil
	}
	tree, err := r.Tree(head)
	if err != nil {
		return failure.OfRepo(err)
	}
	for _, p := range s.onDisk {
		for name, sum := range p.Bundle.Files {
			path, in, err := worktree.PathIn(s.Place.Root, filepath.Join(p.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if !in {
				continue
			}
			leaf, found, err := r.Lookup(tree, path)
			if err != nil {
				return failure.OfRepo(err)
			}
			if !found || leaf.Mode != repo.File && leaf.Mode != repo.Executable {
				continue
			}
			switch same, err := hasSum(r, leaf.Hash, sum); {
			case err != nil:
				return failure.OfRepo(fmt.Errorf("%s: %w", verdict.Path(path), err))
			case same:
				s.InUse = append(s.InUse, check.RuleFile{Path: path, Blob: leaf.Hash})
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

// notEmbedded is an error if the folder that is asked about is in a bare repository within the work tree of r. A
// change could have brought it, so it is not read as a repository; but what its person means is not r.
func (q *Request) notEmbedded(r *repo.Repository) error {
	if q.Git.GitDir != "" && q.Path == "" {
		return nil
	}
	at, err := disk.Real(q.Path)
	if err != nil {
		return fmt.Errorf("the folder to scan cannot be opened: %w", disk.Cause(err))
	}
	bare, found := r.BareAround(at)
	if !found {
		return nil
	}
	return fmt.Errorf("%s is a bare git repository inside another repository, and a change could have added it, "+
		"so it is not read; scan a copy outside the work tree, or, if it is yours, set GIT_DIR to it and omit PATH",
		disk.Shown(bare))
}
