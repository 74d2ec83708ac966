package checkout

import (
	"bytes"
	"slices"

	"github.com/policyscan/policyscan/scanner/repo"
)

// EncodingChanges finds the files that a change does not touch, and that git checks out in another encoding after it.
type EncodingChanges struct {
	head    *Checkout
	bases   []Snapshot
	dirs    map[string]bool // where an attributes file differs, by folded path
	encodes bool            // such a file names the encoding
}

// NewEncodingChanges returns those of a change from some snapshots to the head's.
func NewEncodingChanges(head *Checkout, bases []Snapshot) *EncodingChanges {
	return &EncodingChanges{head: head, bases: bases, dirs: map[string]bool{}}
}

// Add adds a file that differs between the head and a base. All of them must be added before [EncodingChanges.Visit].
func (c *EncodingChanges) Add(change repo.Change) {
	dir, name := cutLast(change.Path)
	if !isAttributesFile(name) {
		return
	}
	c.dirs[FoldName(dir)] = true
	for _, leaf := range []repo.Leaf{change.Old, change.New} {
		if leaf != (repo.Leaf{}) && leaf.Mode != repo.Submodule {
			c.encodes = c.encodes || c.names(change.Path, leaf)
		}
	}
}

// names reports whether an attributes file names the encoding. One that cannot be read may.
func (c *EncodingChanges) names(path string, leaf repo.Leaf) bool {
	text, err := c.head.text(path, leaf.Hash)
	return err != nil || bytes.Contains(text, []byte(encodingName))
}

// Visit calls visit with each file whose leaf is the same everywhere, as unchanged says, and whose encoding is not.
func (c *EncodingChanges) Visit(
	unchanged func(path string, leaf repo.Leaf) (bool, error), visit func(path string, leaf repo.Leaf) error,
) error {
	if len(c.dirs) == 0 {
		return nil
	}
	all := []*Checkout{c.head}
	for _, base := range c.bases {
		all = append(all, New(c.head.repo, base))
	}
	for _, at := range all { // whose macros can name the encoding for other files
		roots, err := at.attributesIn("")
		if err != nil {
			return err
		}
		named := func(f attributesFile) bool { return c.names(f.path, f.leaf) }
		c.encodes = c.encodes || slices.ContainsFunc(roots, named)
	}
	if !c.encodes {
		return nil
	}
	return c.files(func(path string, leaf repo.Leaf) error {
		if leaf.Mode != repo.File && leaf.Mode != repo.Executable || !c.covers(path) {
			return nil // git writes links as they are
		}
		now, failed := c.head.Attributes(path)
		same := failed == nil
		for _, base := range all[1:] {
			before, err := base.Attributes(path)
			same = same && err == nil && slices.Equal(before.Encodings, now.Encodings)
		}
		if same {
			return nil
		}
		if same, err := unchanged(path, leaf); err != nil || !same {
			return err // it differs, so it was visited
		}
		return visit(path, leaf)
	})
}

// covers reports whether an attributes file above a path differs.
func (c *EncodingChanges) covers(path string) bool {
	for dir, _ := cutLast(FoldName(path)); ; dir, _ = cutLast(dir) {
		if c.dirs[dir] || dir == "" {
			return c.dirs[dir]
		}
	}
}

// files calls visit with all files of the head.
func (c *EncodingChanges) files(visit func(path string, leaf repo.Leaf) error) error {
	idx := c.head.snapshot.Index
	if idx == nil {
		return c.head.repo.Diff(repo.Hash{}, c.head.snapshot.Tree, func(change repo.Change) error {
			return visit(change.Path, change.New)
		})
	}
	for i := range idx.Files {
		if err := visit(idx.Files[i].Path, idx.Files[i].Leaf); err != nil {
			return err
		}
	}
	return nil
}
