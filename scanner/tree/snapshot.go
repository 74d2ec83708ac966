package tree

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
)

// A History is the snapshots of a tree's repository.
type History struct {
	Now *Snapshot // the checked snapshot
	// Before returns the snapshots that a change is compared with: the merge bases, then the base, each once. It reads
	// them once.
	Before func() ([]*Snapshot, error)
	// Merging returns the commits that are being merged into HEAD. It reads them once.
	Merging func() ([]*Snapshot, error)
}

// IsChange reports whether a file of the checked snapshot differs from one that it is compared with.
func (h *History) IsChange(path string, now repo.Leaf) (bool, error) {
	before, err := h.Before()
	for _, s := range before {
		if !s.Differs {
			continue
		}
		if was, _, err := s.Leaf(path); err != nil || was != now {
			return true, err
		}
	}
	return len(before) == 0, err
}

// A Snapshot is the files of a commit or of the index. Several goroutines may use it.
type Snapshot struct {
	Name        string    // for messages
	Commit      repo.Hash // zero: nothing is committed yet, or the snapshot is the index
	IsBase      bool
	IsMergeBase bool
	Differs     bool // only the differences from it are checked

	repo     *repo.Repository
	find     *repo.Finder
	state    checkout.Snapshot
	checkout *checkout.Checkout // of checked files
	workTree *WorkTree          // has the contents that are not in the repository; may be nil
}

func (t *gitTree) snapshot(s checkout.Snapshot) *Snapshot {
	return &Snapshot{repo: t.repo, find: t.find, state: s, checkout: checkout.New(t.repo, s)}
}

func (t *gitTree) commit(h repo.Hash) (*Snapshot, error) {
	tree, err := t.repo.Tree(h)
	if err != nil {
		return nil, err
	}
	s := t.snapshot(checkout.Snapshot{Tree: tree})
	s.Name, s.Commit = "commit "+h.String()[:7], h
	return s, nil
}

func (t *gitTree) comparedWith(c repo.Comparison) (all []*Snapshot, err error) {
	for _, h := range append(slices.Clone(c.MergeBases), c.Base) {
		if slices.ContainsFunc(all, func(known *Snapshot) bool { return known.Commit == h }) {
			continue // the base is a merge base
		}
		next, err := t.commit(h)
		if err != nil {
			return nil, err
		}
		next.IsMergeBase, next.IsBase = slices.Contains(c.MergeBases, h), h == c.Base
		next.Differs = next.IsMergeBase || c.Replaces
		all = append(all, next)
	}
	return all, nil
}

func (t *gitTree) History() (*History, error) {
	now, err := t.head()
	if err != nil {
		return nil, err
	}
	return &History{now, t.compared, sync.OnceValues(t.mergingSnapshots)}, nil
}

func (t *gitTree) mergingSnapshots() ([]*Snapshot, error) {
	if t.merging == nil {
		return nil, nil
	}
	commits, err := t.merging()
	var all []*Snapshot
	for _, c := range commits {
		s, err := t.commit(c)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, err
}

// Leaf returns the file or directory at a path; false if the path does not exist.
func (s *Snapshot) Leaf(path string) (repo.Leaf, bool, error) {
	if s.state.Index != nil {
		leaf, found := s.state.Index.Lookup(path)
		return leaf, found, nil
	}
	return s.find.Lookup(s.state.Tree, path)
}

// File returns the file of a leaf at a path.
func (s *Snapshot) File(path string, leaf repo.Leaf) File {
	return File{
		Path: path, Kind: kindOf(leaf.Mode), Blob: leaf.Hash,
		Checkout: s.checkout, Key: keyOf(leaf), Source: blobSource{s},
		OnDisk: s.workTree != nil && s.workTree.has(leaf.Hash),
	}
}

// Files returns all files of the snapshot. An error, a *[verdict.Error], ends them.
func (s *Snapshot) Files(ctx context.Context) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		more := true
		err := s.leaves(func(path string, leaf repo.Leaf) error {
			if more = yield(s.File(path, leaf), nil); !more {
				return context.Canceled
			}
			return context.Cause(ctx)
		})
		if err != nil && more && ctx.Err() == nil {
			yield(File{}, RepoError(err))
		}
	}
}

// leaves calls visit with all leaves of the snapshot, until it fails.
func (s *Snapshot) leaves(visit func(path string, leaf repo.Leaf) error) error {
	if s.state.Index == nil {
		return s.repo.Diff(repo.Hash{}, s.state.Tree, func(c repo.Change) error { return visit(c.Path, c.New) })
	}
	for _, f := range s.state.Index.Files {
		if err := visit(f.Path, f.Leaf); err != nil {
			return err
		}
	}
	return nil
}

func (s *Snapshot) lookup(path string) (PathInfo, error) {
	leaf, found, err := s.Leaf(path)
	if err != nil || !found {
		return PathInfo{}, err
	}
	if leaf.Mode != repo.Symlink {
		return PathInfo{IsFile: isFile(leaf)}, nil
	}
	target, err := s.target(path, leaf)
	return PathInfo{IsLink: true, Target: target}, err
}

// target returns the target of a symlink; of one that is too long, enough to show that.
func (s *Snapshot) target(path string, link repo.Leaf) (string, error) {
	f := s.File(path, link)
	return readTarget(f.Open(false))
}

func isFile(l repo.Leaf) bool { return l.Mode == repo.File || l.Mode == repo.Executable }
