package scanner

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/failure"
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
	compared := func() ([]reference, error) { return references(r, c) }
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
	return &gitTree{r, scope, nil, nil, func() (checkout.Snapshot, []checkout.Snapshot, error) {
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
	compared := func() ([]reference, error) {
		base, err := before()
		return []reference{{commit: head, base: true, mergeBase: true, differs: true, Snapshot: base}}, err
	}
	return &gitTree{r, scope, compared, merging, func() (checkout.Snapshot, []checkout.Snapshot, error) {
		base, err := before()
		return checkout.Snapshot{Index: idx}, []checkout.Snapshot{base}, err
	}}
}

// A gitTree is the new side of changes, its contents git's blobs.
type gitTree struct {
	repo  *repo.Repository
	scope verdict.Scope
	// compared returns the states that files are compared with; nil if there are none.
	compared func() ([]reference, error)
	// merging returns the commits that are being merged into what is compared with; nil if there can be none.
	merging func() ([]repo.Hash, error)
	// states returns what is judged, and what it is compared with, at least one.
	states func() (head checkout.Snapshot, bases []checkout.Snapshot, err error)
}

func (t *gitTree) Scope() verdict.Scope { return t.scope }

func (t *gitTree) walk(ctx context.Context, visitors []visitor) error {
	v := visitors[0]
	head, bases, err := t.states()
	if err == nil {
		c := newChanges(t.repo, head, bases)
		blobs := func() opener { return blobOpener{t.repo, c.links.head} }
		err = share(ctx, visitors, blobs, func(found func(entry)) error {
			return c.list(v.uniform, v.touched, func(path string, leaf repo.Leaf) error {
				switch {
				case leaf == repo.Leaf{}:
					v.deleted()
				case !v.inUse(path, leaf) && v.owns(path, contentOf(leaf)):
					at := worktree.Entry{Path: path, Kind: kindOf(leaf.Mode)}
					found(entry{Entry: at, blob: leaf.Hash, checkout: c.checkout})
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
	if v.required == nil || head == (checkout.Snapshot{}) {
		return nil
	}
	err = gitSide{repo: t.repo, Snapshot: head}.files(func(path string, leaf repo.Leaf) error {
		v.required(path, leaf)
		return context.Cause(ctx)
	})
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return cause
	case err != nil:
		for _, e := range failure.Errors(failure.OfRepo(err)) {
			v.fail(e)
		}
	default:
		v.requiredAll()
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

func (o blobOpener) present(string) (bool, error) { return false, nil }

func (o blobOpener) close() {}

func (o blobOpener) open(e entry) (content, error) {
	b, err := o.repo.Blob(e.blob)
	if err != nil {
		return nil, err // not b, which as a content would not be nil
	}
	return b, nil
}

// changes are the files of one snapshot that differ from some other: their leaf, the encoding in which git checks
// them out, or what a link leads to.
type changes struct {
	repo     *repo.Repository
	head     checkout.Snapshot
	bases    []checkout.Snapshot
	checkout *checkout.Checkout // of the head
	recoding *checkout.Recoding
	links    retargeting
}

func newChanges(r *repo.Repository, head checkout.Snapshot, bases []checkout.Snapshot) *changes {
	at := checkout.New(r, head)
	return &changes{r, head, bases, at, checkout.NewRecoding(at, bases), newRetargeting(r, head, bases)}
}

// list hands each file that differs from any base to visit, once; the zero leaf if it was deleted. uniform says
// whether the rules select the same beneath every folder, touched which files are visited though nothing differs.
func (c *changes) list(
	uniform func() bool, touched func() []string, visit func(path string, leaf repo.Leaf) error,
) error {
	more := map[string]bool{}
	for _, path := range touched() {
		more[path] = true
	}
	visited := visit
	visit = func(path string, leaf repo.Leaf) error {
		delete(more, path)
		return visited(path, leaf)
	}
	if err := c.listChanged(uniform, visit); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(more)) {
		leaf, there, err := c.links.head.at(path)
		if err != nil {
			return err
		}
		if there && leaf.Mode.IsLeaf() {
			if err := visited(path, leaf); err != nil {
				return err
			}
		}
	}
	return nil
}

// listChanged is list without what is touched.
func (c *changes) listChanged(uniform func() bool, visit func(path string, leaf repo.Leaf) error) error {
	seen := map[string]bool{}
	for _, base := range c.bases {
		each := func(change repo.Change) error {
			c.links.see(change)
			if !c.allNew() {
				c.recoding.See(change)
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
	if err := c.recoding.Visit(c.links.unchanged, visit); err != nil || c.allNew() || !c.links.matter(uniform) {
		return err
	}
	return c.links.visit(visit)
}

// allNew reports whether there is nothing to compare with.
func (c *changes) allNew() bool { return len(c.bases) == 1 && c.bases[0] == (checkout.Snapshot{}) }
