package tree

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Changes returns the tree of what a comparison's head adds, modifies or renames
// against each of the merge bases (and the base that it replaces), of scope diff. Contents are the head's blobs. base
// is the base as the user named it, strategy how base and head were found; see [verdict.Scope].
func Changes(r *repo.Repository, c repo.Comparison, base, strategy string) Tree {
	scope := verdict.Scope{
		Mode: "diff", Base: base, BaseCommit: c.Base.String(), HeadCommit: c.Head.String(), Strategy: strategy,
		Behind: c.Behind,
	}
	for _, h := range c.MergeBases {
		scope.MergeBases = append(scope.MergeBases, h.String())
	}
	compared := func() ([]*Snapshot, error) { return comparedWith(r, c) }
	return &gitTree{r, scope, compared, nil, func() (head checkout.Snapshot, bases []checkout.Snapshot, err error) {
		if len(c.MergeBases) != 1 || c.MergeBases[0] != c.Head || c.Replaces {
			return states(r, c)
		}
		if head.Tree, err = r.Tree(c.Head); err == nil { // which files are required of, all the same
			err = &verdict.Error{Code: code.Empty, Message: fmt.Sprintf("the head adds no commit to %q; "+
				"compare with another base, or allow a run with nothing to check with --allow empty", base)}
		}
		return head, nil, err
	}}
}

// states returns what is judged, and what it is compared with: each merge base, and a base that the head replaces.
// What differs from that base is judged, too: what the commits that the head lacks had removed is there again.
func states(r *repo.Repository, c repo.Comparison) (head checkout.Snapshot, bases []checkout.Snapshot, err error) {
	if head.Tree, err = r.Tree(c.Head); err != nil {
		return head, nil, err
	}
	compared := c.MergeBases
	if c.Replaces {
		compared = append(slices.Clone(compared), c.Base)
	}
	for _, h := range compared {
		base, err := r.Tree(h)
		if err != nil {
			return head, nil, err
		}
		bases = append(bases, checkout.Snapshot{Tree: base})
	}
	return head, bases, nil
}

// Whole returns the tree of all files of a commit, of scope full: it has no base that it
// could be compared with. Contents are its blobs.
func Whole(r *repo.Repository, head repo.Hash, strategy string) Tree {
	scope := verdict.Scope{Mode: "full", HeadCommit: head.String(), Strategy: strategy}
	none := func() ([]*Snapshot, error) { return nil, nil }
	return &gitTree{r, scope, none, nil, func() (checkout.Snapshot, []checkout.Snapshot, error) {
		tree, err := r.Tree(head)
		return checkout.Snapshot{Tree: tree}, []checkout.Snapshot{{}}, err
	}}
}

// Staged returns the tree of what the index (see [repo.Index.Committed]) adds, modifies or
// renames against HEAD, of scope staged. Contents are the index's blobs. head is HEAD's
// commit; the zero Hash, before the first one, means the empty tree. merging are the commits that are being merged into
// it (see [repo.Repository.Merging]), asked for if they matter.
func Staged(r *repo.Repository, idx *repo.Index, head repo.Hash, merging func() ([]repo.Hash, error)) Tree {
	scope := verdict.Scope{Mode: "staged", Base: "HEAD", Strategy: "index"}
	if !head.IsZero() {
		scope.BaseCommit = head.String()
	}
	before := func() (base checkout.Snapshot, err error) {
		if !head.IsZero() {
			base.Tree, err = r.Tree(head)
		}
		return base, err
	}
	compared := func() ([]*Snapshot, error) {
		base, err := before()
		s := newSnapshot(r, base)
		s.Name, s.Commit, s.IsBase, s.IsMergeBase, s.Differs = "HEAD", head, true, true, true
		return []*Snapshot{s}, err
	}
	return &gitTree{r, scope, compared, merging, func() (checkout.Snapshot, []checkout.Snapshot, error) {
		base, err := before()
		return checkout.Snapshot{Index: idx}, []checkout.Snapshot{base}, err
	}}
}

// A gitTree is the new side of a change, or all of a commit. Its contents are git's blobs.
type gitTree struct {
	repo  *repo.Repository
	scope verdict.Scope
	// compared returns the states that files are compared with.
	compared func() ([]*Snapshot, error)
	// merging returns the commits that are being merged into what is compared with; nil if there can be none.
	merging func() ([]repo.Hash, error)
	// states returns what is checked, and what it is compared with, at least one.
	states func() (head checkout.Snapshot, bases []checkout.Snapshot, err error)
}

func (t *gitTree) Scope() verdict.Scope { return t.scope }

func (t *gitTree) Absent(string) string {
	if head := t.scope.HeadCommit; head != "" {
		return "is not in the commit " + head[:12]
	}
	return "is not there"
}

func (t *gitTree) Files(ctx context.Context, n int, q Query) []iter.Seq2[File, error] {
	return Batches(ctx, n, nil, func(found func(File, error)) {
		head, bases, err := t.states()
		if err == nil {
			err = newChanges(t.repo, head, bases).files(ctx, &q, func(f File) { found(f, nil) })
		}
		if err != nil && ctx.Err() == nil {
			found(File{}, RepoError(err))
		}
	})
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

// A blobSource reads git's blobs. Several goroutines may use it.
type blobSource struct{ snapshot *Snapshot }

func (s blobSource) Lookup(path string) (PathInfo, error) { return s.snapshot.lookup(path) }

// Outside: a commit can be checked out anywhere, so it is unknown what is there.
func (s blobSource) Outside(string) string { return OutsideTree }

func (s blobSource) IsPresent(string) (bool, error) { return false, nil }

func (s blobSource) Open(f File, _ bool) (Content, error) {
	b, err := s.snapshot.repo.Blob(f.Blob)
	if err != nil {
		return nil, err // not b, which as a content would not be nil
	}
	return b, nil
}

// changes are the files of one snapshot that differ from some other: their leaf, the encoding in which git checks
// them out, or what a link leads to.
type changes struct {
	repo      *repo.Repository
	head      checkout.Snapshot
	bases     []checkout.Snapshot
	encodings *checkout.EncodingChanges
	links     symlinkChanges
}

func newChanges(r *repo.Repository, head checkout.Snapshot, bases []checkout.Snapshot) *changes {
	at := checkout.New(r, head)
	c := &changes{repo: r, head: head, bases: bases, encodings: checkout.NewEncodingChanges(at, bases)}
	find := r.Finder()
	c.links.head = &Snapshot{repo: r, find: find, state: head, checkout: at}
	for _, base := range bases {
		c.links.bases = append(c.links.bases, &Snapshot{repo: r, find: find, state: base})
	}
	return c
}

// files calls found with each file that differs from any base, once, those that it deletes included, and with the
// files that are part of the change even if it does not change them.
func (c *changes) files(ctx context.Context, q *Query, found func(File)) error {
	uniform := q.Uniform
	if uniform == nil {
		uniform = func() bool { return false }
	}
	more := map[string]bool{}
	for _, path := range q.Touched {
		more[path] = true
	}
	add := func(path string, leaf repo.Leaf) error {
		f := File{Path: path, State: Deleted}
		if leaf != (repo.Leaf{}) {
			f = c.links.head.File(path, leaf)
			if q.elsewhere(path) {
				f.State = Elsewhere
			}
		}
		found(f)
		return context.Cause(ctx)
	}
	err := c.listChanged(uniform, func(path string, leaf repo.Leaf) error {
		delete(more, path)
		return add(path, leaf)
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(more)) {
		leaf, there, err := c.links.head.Leaf(path)
		if err != nil {
			return err
		}
		if there && leaf.Mode.IsLeaf() {
			if err := add(path, leaf); err != nil {
				return err
			}
		}
	}
	return nil
}

// listChanged is files without what is only touched.
func (c *changes) listChanged(uniform func() bool, visit func(path string, leaf repo.Leaf) error) error {
	seen := map[string]bool{}
	for _, base := range c.bases {
		each := func(change repo.Change) error {
			c.links.see(change)
			if !c.allNew() {
				c.encodings.Add(change)
			}
			if len(c.bases) > 1 {
				if seen[change.Path] {
					return nil
				}
				seen[change.Path] = true
			}
			return visit(change.Path, change.New)
		}
		var err error
		if c.head.Index != nil {
			err = c.repo.DiffIndex(base.Tree, c.head.Index, each)
		} else {
			err = c.repo.Diff(base.Tree, c.head.Tree, each)
		}
		if err != nil {
			return err
		}
	}
	if err := c.encodings.Visit(c.links.unchanged, visit); err != nil || c.allNew() || !c.links.needed(uniform) {
		return err
	}
	return c.links.visit(visit)
}

// allNew reports whether there is nothing to compare with.
func (c *changes) allNew() bool { return len(c.bases) == 1 && c.bases[0] == (checkout.Snapshot{}) }
