package scanner

import (
	"context"
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// Staged returns the tree of what the index (see [repo.Index.Committed]) adds, modifies or
// renames against HEAD, of scope staged. Contents are the index's blobs. head is HEAD's
// commit; the zero Hash, before the first one, means the empty tree.
func Staged(r *repo.Repository, idx *repo.Index, head repo.Hash) Tree {
	scope := verdict.Scope{Mode: "staged", Base: "HEAD", Strategy: "index"}
	if !head.IsZero() {
		scope.BaseCommit = head.String()
	}
	return &stagedTree{r, idx, head, scope}
}

type stagedTree struct {
	repo  *repo.Repository
	index *repo.Index
	head  repo.Hash
	scope verdict.Scope
}

func (t *stagedTree) Scope() verdict.Scope { return t.scope }

func (t *stagedTree) opener() opener { return blobOpener{t.repo} }

func (t *stagedTree) list(ctx context.Context, l listing) error {
	var tree repo.Hash
	var err error
	if !t.head.IsZero() {
		tree, err = t.repo.Tree(t.head)
	}
	if err == nil {
		err = t.repo.DiffIndex(tree, t.index, func(c repo.Change) error {
			announce(c, l)
			return context.Cause(ctx)
		})
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		l.fail(RepoError(err))
	}
	return nil
}

// Tracked returns the tree of the files that the index names, of scope tracked. Contents
// are those on disk, under the root. A file that is not there is not scanned, which is an
// error of the run: neither its deletion nor its content is staged.
func Tracked(root *worktree.Root, idx *repo.Index) Tree { return &trackedTree{root, idx} }

type trackedTree struct {
	root  *worktree.Root
	index *repo.Index
}

func (t *trackedTree) Scope() verdict.Scope { return verdict.Scope{Mode: "tracked"} }

func (t *trackedTree) opener() opener { return &trackedOpener{diskOpener{t.root.Reader()}} }

func (t *trackedTree) list(ctx context.Context, l listing) error {
	for _, f := range t.index.Files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !l.skip(f.Path) {
			l.visit(entry{Entry: worktree.Entry{Path: f.Path, Kind: kindOf(f.Mode)}, sparse: f.SkipWorktree})
		}
	}
	return nil
}

// trackedOpener opens files that git lists, and that may be something else on disk.
type trackedOpener struct{ diskOpener }

func (o *trackedOpener) open(e entry) (content, error) {
	kind, err := o.Stat(e.Path)
	switch {
	case isNotExist(err), errors.Is(err, worktree.ErrNotFile), errors.Is(err, worktree.ErrPath):
		return nil, &absentError{e.sparse}
	case err != nil:
		return nil, err
	case kind == worktree.Special:
		return nil, errSpecial
	}
	e.Kind = kind
	return o.diskOpener.open(e)
}

// errSpecial says that what git lists as a file is a FIFO, socket or device on disk.
var errSpecial = errors.New("a special file")

// An absentError says that git lists a file that is not on disk.
type absentError struct{ sparse bool }

func (e *absentError) Error() string {
	const found = "git tracks it, but it is not in the work tree"
	if e.sparse {
		return fmt.Sprintf("%s (sparse checkout); check it out, or judge what is committed with --diff-base or --staged", found)
	}
	return fmt.Sprintf("%s; restore it (git restore), or stage that it is gone (git rm)", found)
}
