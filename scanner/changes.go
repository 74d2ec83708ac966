package scanner

import (
	"context"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A Comparison is two commits of which the second is judged by what it changes.
type Comparison struct {
	Base, Head repo.Hash
	MergeBases []repo.Hash // at least one, in byte order
	// The head takes the place of the base and lacks commits of it, as after a forced push. What
	// differs from the base is judged, too: what those commits had removed is there again.
	Replaces bool
}

// Compare relates the commits that two names mean. Commits that cannot be related
// (unknown, ambiguous, unrelated, beyond the boundary of a shallow clone) are an error.
func Compare(r *repo.Repository, base, head string) (c Comparison, err error) {
	if c.Base, err = r.Commit(base); err != nil {
		return c, err
	}
	if c.Head, err = r.Commit(head); err != nil {
		return c, err
	}
	c.MergeBases, err = r.MergeBases(c.Base, c.Head)
	return c, err
}

// Changes returns the tree of what a comparison's head adds, modifies or renames
// against each of the merge bases (and the base that it replaces), of scope diff. Contents are the head's blobs. base
// is the base as the user named it, strategy how base and head were found; see [verdict.Scope].
func Changes(r *repo.Repository, c Comparison, base, strategy string) Tree {
	scope := verdict.Scope{Mode: "diff", Base: base, BaseCommit: c.Base.String(), HeadCommit: c.Head.String(), Strategy: strategy}
	for _, h := range c.MergeBases {
		scope.MergeBases = append(scope.MergeBases, h.String())
	}
	return &gitTree{r, scope, func() (head snapshot, bases []snapshot, err error) {
		if len(c.MergeBases) == 1 && c.MergeBases[0] == c.Head && !c.Replaces {
			return head, nil, &verdict.Error{Code: code.Empty, Message: fmt.Sprintf("the head adds no commit to %q; compare with another base, or allow a run with nothing to check with --allow empty", base)}
		}
		return c.states(r)
	}}
}

// states returns what is judged, and what it is compared with: each merge base, and a base that the head replaces.
func (c Comparison) states(r *repo.Repository) (head snapshot, bases []snapshot, err error) {
	if head.tree, err = r.Tree(c.Head); err != nil {
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
		bases = append(bases, snapshot{tree: base})
	}
	return head, bases, nil
}

// Whole returns the tree of all files of a commit, of scope full: it has no base that it
// could be compared with. Contents are its blobs.
func Whole(r *repo.Repository, head repo.Hash, strategy string) Tree {
	scope := verdict.Scope{Mode: "full", HeadCommit: head.String(), Strategy: strategy}
	return &gitTree{r, scope, func() (snapshot, []snapshot, error) {
		tree, err := r.Tree(head)
		return snapshot{tree: tree}, []snapshot{{}}, err
	}}
}

// Staged returns the tree of what the index (see [repo.Index.Committed]) adds, modifies or
// renames against HEAD, of scope staged. Contents are the index's blobs. head is HEAD's
// commit; the zero Hash, before the first one, means the empty tree.
func Staged(r *repo.Repository, idx *repo.Index, head repo.Hash) Tree {
	scope := verdict.Scope{Mode: "staged", Base: "HEAD", Strategy: "index"}
	if !head.IsZero() {
		scope.BaseCommit = head.String()
	}
	return &gitTree{r, scope, func() (snapshot, []snapshot, error) {
		var base snapshot
		var err error
		if !head.IsZero() {
			base.tree, err = r.Tree(head)
		}
		return snapshot{index: idx}, []snapshot{base}, err
	}}
}

// A gitTree is the new side of changes, its contents git's blobs.
type gitTree struct {
	repo  *repo.Repository
	scope verdict.Scope
	// states returns what is judged, and what it is compared with, at least one.
	states func() (head snapshot, bases []snapshot, err error)
}

func (t *gitTree) Scope() verdict.Scope { return t.scope }

func (t *gitTree) walk(ctx context.Context, visitors []visitor) error {
	v := visitors[0]
	head, bases, err := t.states()
	if err == nil {
		c := newChanges(t.repo, head, bases)
		err = share(ctx, visitors, func() opener { return blobOpener{t.repo, c.links.head} }, func(found func(entry)) error {
			return c.list(v.uniform, func(path string, leaf repo.Leaf) error {
				switch {
				case leaf == repo.Leaf{}:
					v.deleted()
				case !v.inUse(path, leaf):
					found(entry{Entry: worktree.Entry{Path: path, Kind: kindOf(leaf.Mode)}, blob: leaf.Hash, checkout: c.checkout})
				}
				return context.Cause(ctx)
			})
		})
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		for _, e := range failure.Errors(failure.OfRepo(err)) {
			v.fail(e)
		}
	}
	return nil
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

type blobOpener struct {
	repo *repo.Repository
	head gitSide
}

func (o blobOpener) look(path string) (there, error) { return o.head.look(path) }

// outside: a commit can be checked out anywhere, so no one knows what is there.
func (o blobOpener) outside(string) string { return outOfTree }

func (o blobOpener) close() {}

func (o blobOpener) open(e entry) (content, error) {
	b, err := o.repo.Blob(e.blob)
	if err != nil {
		return nil, err // not b, which as a content would not be nil
	}
	return b, nil
}
