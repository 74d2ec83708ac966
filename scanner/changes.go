package scanner

import (
	"context"
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Comparison is two commits of which the second is judged by what it changes.
type Comparison struct {
	Base, Head repo.Hash
	MergeBases []repo.Hash // at least one, in byte order
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
// against each of the merge bases, of scope diff. Contents are the head's blobs. base
// is the base as the user named it.
func Changes(r *repo.Repository, c Comparison, base string) Tree {
	scope := verdict.Scope{Mode: "diff", Base: base, BaseCommit: c.Base.String(), HeadCommit: c.Head.String(), Strategy: "merge-base"}
	for _, h := range c.MergeBases {
		scope.MergeBases = append(scope.MergeBases, h.String())
	}
	return &changeTree{r, c, scope}
}

type changeTree struct {
	repo  *repo.Repository
	c     Comparison
	scope verdict.Scope
}

func (t *changeTree) Scope() verdict.Scope { return t.scope }

func (t *changeTree) opener() opener { return blobOpener{t.repo} }

func (t *changeTree) list(ctx context.Context, l listing) error {
	if len(t.c.MergeBases) == 1 && t.c.MergeBases[0] == t.c.Head {
		l.fail(verdict.Error{Code: verdict.Empty, Message: fmt.Sprintf("the head adds no commit to %q; compare with another base, or accept that there is nothing to judge with --allow empty", t.scope.Base)})
		return nil
	}
	head, err := t.repo.Tree(t.c.Head)
	if err != nil {
		l.fail(RepoError(err))
		return nil
	}
	seen := map[string]bool{} // with several merge bases a path may differ from each
	for _, base := range t.c.MergeBases {
		tree, err := t.repo.Tree(base)
		if err == nil {
			err = t.repo.Diff(tree, head, func(c repo.Change) error {
				if err := context.Cause(ctx); err != nil {
					return err
				}
				if len(t.c.MergeBases) > 1 {
					if seen[c.Path] {
						return nil
					}
					seen[c.Path] = true
				}
				announce(c, l)
				return nil
			})
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			l.fail(RepoError(err))
		}
	}
	return nil
}

// announce hands a change on: as a file, or as a deletion.
func announce(c repo.Change, l listing) {
	switch {
	case c.New == repo.Leaf{}:
		l.deleted()
	case !l.skip(c.Path):
		l.visit(entry{Entry: worktree.Entry{Path: c.Path, Kind: kindOf(c.New.Mode)}, blob: c.New.Hash})
	}
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

type blobOpener struct{ repo *repo.Repository }

func (o blobOpener) close() {}

func (o blobOpener) open(e entry) (content, error) {
	b, err := o.repo.Blob(e.blob)
	if err != nil {
		return nil, err // not b, which as a content would not be nil
	}
	return b, nil
}

// repoCodes are the codes of what can be wrong with a repository, the more exact first.
var repoCodes = []struct {
	err  error
	code string
	hint string
}{
	{repo.ErrLimit, verdict.Limit, ""},
	{repo.ErrHash, verdict.ObjectHash, "; run git fsck"},
	{repo.ErrMalformed, verdict.TreeMalformed, "; run git fsck"},
	{repo.ErrMissing, verdict.Object, "; in a partial clone fetch it, or clone without --filter"},
	{repo.ErrCorrupt, verdict.Object, "; run git fsck"},
	{repo.ErrNoMergeBase, verdict.NoMergeBase, "; the base and the head are unrelated: name a base that the head grew from"},
	{repo.ErrAmbiguous, verdict.RevAmbiguous, ""},
	{repo.ErrSyntax, verdict.RevSyntax, ""},
	{repo.ErrUnknown, verdict.BaseMissing, ""},
	{repo.ErrIndex, verdict.Index, ""},
	{repo.ErrFormat, verdict.RepoFormat, ""},
	{repo.ErrNotRepository, verdict.RepoFormat, ""},
}

// RepoError is the verdict's error for what a repository could not tell.
func RepoError(err error) verdict.Error {
	var shallow *repo.ShallowError
	if errors.As(err, &shallow) {
		return verdict.Error{Code: verdict.Shallow, Message: err.Error() + "; fetch the history (git fetch --unshallow; actions/checkout: fetch-depth: 0)"}
	}
	for _, c := range repoCodes {
		if errors.Is(err, c.err) {
			return verdict.Error{Code: c.code, Message: err.Error() + c.hint}
		}
	}
	return verdict.Error{Code: verdict.Read, Message: "the repository cannot be read: " + errorText(err)}
}
