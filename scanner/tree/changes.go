package tree

import (
	"context"
	"maps"
	"slices"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
)

// changes are the files of one snapshot that differ from another: in their leaf, the encoding of their checkout, or
// the target of a symlink.
type changes struct {
	head        *Snapshot
	bases       []*Snapshot // at least one
	encodings   *checkout.EncodingChanges
	linkChanged bool // a symlink was added, removed or retargeted
	fileRemoved bool // a file was removed or is of another kind
}

// files calls found once with each file that differs from any base, deleted files included, and with the unchanged
// files that are part of the change.
func (c *changes) files(ctx context.Context, q *Query, found func(File)) error {
	touched := map[string]bool{}
	for _, path := range q.Touched {
		touched[path] = true
	}
	add := func(path string, leaf repo.Leaf) error {
		f := File{Path: path, State: Deleted}
		if leaf != (repo.Leaf{}) {
			f = c.head.File(path, leaf)
			if q.elsewhere(path) {
				f.State = Elsewhere
			}
		}
		found(f)
		return context.Cause(ctx)
	}
	addChanged := func(path string, leaf repo.Leaf) error {
		delete(touched, path)
		return add(path, leaf)
	}
	if err := c.direct(addChanged); err != nil {
		return err
	}
	if err := c.indirect(q, addChanged); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(touched)) {
		leaf, there, err := c.head.Leaf(path)
		if err == nil && there && leaf.Mode.IsLeaf() {
			err = add(path, leaf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *changes) direct(visit func(path string, leaf repo.Leaf) error) error {
	seen := map[string]bool{}
	for _, base := range c.bases {
		each := func(change repo.Change) error {
			c.linkChanged = c.linkChanged || change.Old.Mode == repo.Symlink || change.New.Mode == repo.Symlink
			c.fileRemoved = c.fileRemoved || isFile(change.Old) && !isFile(change.New)
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
		if now := c.head.state; now.Index != nil {
			err = c.head.repo.DiffIndex(base.state.Tree, now.Index, each)
		} else {
			err = c.head.repo.Diff(base.state.Tree, now.Tree, each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *changes) allNew() bool {
	return len(c.bases) == 1 && c.bases[0].state == (checkout.Snapshot{})
}

// indirect visits the files that are the same at each base, but are checked out in another encoding, or are symlinks
// with another target. If a directory may have replaced a file, symlinks matter only if the rules select differently
// below some directories.
func (c *changes) indirect(q *Query, visit func(path string, leaf repo.Leaf) error) error {
	encodings, err := c.encodings.Any()
	links := c.linkChanged || c.fileRemoved && (q.Uniform == nil || !q.Uniform())
	links = links && !c.allNew()
	if err != nil || !encodings && !links {
		return err
	}
	return c.head.leaves(func(path string, leaf repo.Leaf) error {
		if !(encodings && isFile(leaf) && c.encodings.Has(path)) && !(links && leaf.Mode == repo.Symlink) {
			return nil
		}
		for _, base := range c.bases {
			if old, found, err := base.Leaf(path); err != nil || !found || old != leaf {
				return err // it differs and was visited
			}
		}
		if leaf.Mode == repo.Symlink && !c.leadsElsewhere(path, leaf) {
			return nil
		}
		return visit(path, leaf)
	})
}

// leadsElsewhere reports whether a symlink has another target than at a base, or its target was a file and no longer
// is. It is true if the target cannot be followed: the symlink is checked as it is now.
func (c *changes) leadsElsewhere(path string, leaf repo.Leaf) bool {
	target, err := c.head.target(path, leaf)
	if err != nil {
		return true // which has the error
	}
	now, err := Follow(path, target, c.head.lookup)
	return err != nil || slices.ContainsFunc(c.bases, func(base *Snapshot) bool {
		was, err := Follow(path, target, base.lookup)
		return err != nil || now.Path != was.Path || now.Outside != was.Outside || now.Broken != was.Broken ||
			was.IsFile && !now.IsFile
	})
}
