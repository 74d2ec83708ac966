package tree

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"sync"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Changes returns the tree of what a comparison's head adds, modifies or renames against each of the merge bases (and
// the base that it replaces), of scope diff. Contents are the head's blobs. base is the base as the user named it,
// strategy how base and head were found; see [verdict.Scope].
func Changes(r *repo.Repository, c repo.Comparison, base, strategy string) Tree {
	return changesOf(r, c, base, strategy)
}

func changesOf(r *repo.Repository, c repo.Comparison, base, strategy string) *gitTree {
	scope := verdict.Scope{
		Mode: "diff", Base: base, BaseCommit: c.Base.String(), HeadCommit: c.Head.String(), Strategy: strategy,
		Behind: c.Behind,
	}
	scope.HeadDate, _ = r.Date(c.Head) // the listing reports a commit that cannot be read
	for _, h := range c.MergeBases {
		scope.MergeBases = append(scope.MergeBases, h.String())
	}
	t := newGitTree(r, scope)
	t.head = func() (*Snapshot, error) { return t.commit(c.Head) }
	t.compared = sync.OnceValues(func() ([]*Snapshot, error) { return t.comparedWith(c) })
	if len(c.MergeBases) == 1 && c.MergeBases[0] == c.Head && !c.Replaces {
		hint := "compare with another base"
		if strategy == "merge-base" { // named by the user
			hint = "for work that is not yet committed add --uncommitted, or use --staged"
		}
		t.empty = &verdict.Error{Code: code.Empty, Message: fmt.Sprintf("the head adds no commit to %q; %s, "+
			"or allow a run with nothing to check with --allow empty", base, hint)}
	}
	return t
}

// Whole returns the tree of all files of a commit, of scope full, without a base. Contents are its blobs.
func Whole(r *repo.Repository, head repo.Hash, strategy string) Tree {
	scope := verdict.Scope{Mode: "full", HeadCommit: head.String(), Strategy: strategy}
	scope.HeadDate, _ = r.Date(head) // as above
	t := newGitTree(r, scope)
	t.head = func() (*Snapshot, error) { return t.commit(head) }
	t.compared = func() ([]*Snapshot, error) { return nil, nil }
	return t
}

// Staged returns the tree of what the index (see [repo.Index.Committed]) adds, modifies or renames against HEAD, of
// scope staged. Contents are the index's blobs. head is HEAD's commit; the zero Hash, before the first commit, means
// the empty tree. merging returns the commits that are being merged into it (see [repo.Repository.Merging]), called if
// needed.
func Staged(r *repo.Repository, idx *repo.Index, head repo.Hash, merging func() ([]repo.Hash, error)) Tree {
	scope := verdict.Scope{Mode: "staged", Base: "HEAD", Strategy: "index"}
	if !head.IsZero() {
		scope.BaseCommit = head.String()
	}
	t := newGitTree(r, scope)
	t.merging = merging
	t.head = func() (*Snapshot, error) { return t.snapshot(checkout.Snapshot{Index: idx}), nil }
	t.compared = sync.OnceValues(func() ([]*Snapshot, error) {
		base, err := t.snapshot(checkout.Snapshot{}), error(nil)
		if !head.IsZero() {
			if base, err = t.commit(head); err != nil {
				return nil, err
			}
		}
		base.Name, base.IsBase, base.IsMergeBase, base.Differs = "HEAD", true, true, true
		return []*Snapshot{base}, nil
	})
	return t
}

// A gitTree is the head of a change, or a whole commit. Its contents are git's blobs.
type gitTree struct {
	repo  *repo.Repository
	find  *repo.Finder
	scope verdict.Scope
	head  func() (*Snapshot, error) // what is checked
	// compared returns the snapshots to compare with, always the same; nil if all files are checked.
	compared func() ([]*Snapshot, error)
	// merging returns the commits that are being merged into the base; nil if impossible.
	merging func() ([]repo.Hash, error)
	empty   error // why there is nothing to check; else nil
}

func newGitTree(r *repo.Repository, scope verdict.Scope) *gitTree {
	return &gitTree{repo: r, find: r.Finder(), scope: scope}
}

func (t *gitTree) Scope() verdict.Scope { return t.scope }

func (t *gitTree) Absent(string) string {
	if head := t.scope.HeadCommit; head != "" {
		return "is not in the commit " + head[:12]
	}
	return "is not in the tree"
}

func (t *gitTree) Files(ctx context.Context, n int, q Query) []iter.Seq2[File, error] {
	return Batches(ctx, n, nil, func(found func(File, error)) {
		err := t.list(ctx, &q, func(f File) { found(f, nil) })
		if err != nil && ctx.Err() == nil {
			found(File{}, RepoError(err))
		}
	})
}

func (t *gitTree) list(ctx context.Context, q *Query, found func(File)) error {
	head, err := t.head()
	if err == nil {
		err = t.empty
	}
	if err != nil {
		return err
	}
	compared, err := t.compared()
	if err != nil {
		return err
	}
	var bases []*Snapshot
	for _, s := range compared {
		if s.Differs {
			bases = append(bases, s)
		}
	}
	if len(compared) == 0 {
		bases = []*Snapshot{t.snapshot(checkout.Snapshot{})}
	}
	var checkouts []*checkout.Checkout
	for _, base := range bases {
		checkouts = append(checkouts, base.checkout)
	}
	c := &changes{head: head, bases: bases, encodings: checkout.NewEncodingChanges(head.checkout, checkouts)}
	return c.files(ctx, q, found)
}

func kindOf(m repo.Mode) worktree.Kind {
	switch m {
	case repo.Symlink:
		return worktree.Symlink
	case repo.Submodule:
		return worktree.Submodule
	}
	return worktree.Regular
}

// keyOf is the [File.Key] of a leaf of git's.
func keyOf(leaf repo.Leaf) uint64 { return binary.BigEndian.Uint64(leaf.Hash[:8]) + uint64(leaf.Mode) }

// BlobFile returns a file of git's objects that is in no certain tree: only its content can be read.
func BlobFile(r *repo.Repository, path string, leaf repo.Leaf) File {
	return (&Snapshot{repo: r}).File(path, leaf)
}

// A blobSource reads git's blobs. Several goroutines may use it.
type blobSource struct{ snapshot *Snapshot }

func (s blobSource) Lookup(path string) (PathInfo, error) { return s.snapshot.lookup(path) }

// Outside always fails: a commit can be checked out anywhere, so its surroundings are unknown.
func (s blobSource) Outside(string) string { return OutsideTree }

func (s blobSource) IsPresent(string) (bool, error) { return false, nil }

func (s blobSource) Open(f File, _ bool) (Content, error) {
	b, err := s.snapshot.repo.Blob(f.Blob)
	if err != nil {
		return nil, err // not b, which as a Content would not be nil
	}
	return b, nil
}
