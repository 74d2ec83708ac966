package checkout

import (
	"bytes"
	"path"
	"slices"

	"github.com/policyscan/policyscan/scanner/attributes"
	"github.com/policyscan/policyscan/scanner/repo"
)

// A Recoding finds the files that a change does not touch, and that git checks out in another encoding because of it.
type Recoding struct {
	head  *Checkout
	bases []Snapshot

	// Of the attributes files that differ:
	folders map[string]bool // what the paths of theirs have in common, see FoldName
	decide  bool            // one of them names the encoding
}

// NewRecoding returns the recoding of a change from some states of the repository to the head's.
func NewRecoding(head *Checkout, bases []Snapshot) *Recoding {
	return &Recoding{head: head, bases: bases}
}

// See takes a file that differs between the head and a base. It has to be called for all of them.
func (c *Recoding) See(change repo.Change) {
	folder, name := cutLast(change.Path)
	if !attributes.IsFile(name) {
		return
	}
	if c.folders == nil {
		c.folders = map[string]bool{}
	}
	c.folders[FoldName(folder)] = true
	for _, leaf := range []repo.Leaf{change.Old, change.New} {
		if leaf != (repo.Leaf{}) && leaf.Mode != repo.Submodule {
			c.decide = c.decide || c.names(leaf)
		}
	}
}

// names reports whether an attributes file names the encoding. One that cannot be read may.
func (c *Recoding) names(leaf repo.Leaf) bool {
	text, err := c.head.text(leaf.Hash)
	return err != nil || bytes.Contains(text, []byte(attributes.Encoding))
}

// Visit hands those files to visit whose leaf is the same everywhere, as unchanged says, and whose encoding is not,
// because an attributes file above them changed.
func (c *Recoding) Visit(
	unchanged func(path string, leaf repo.Leaf) (bool, error), visit func(path string, leaf repo.Leaf) error,
) error {
	if len(c.folders) == 0 {
		return nil
	}
	var before []*Checkout
	for _, base := range c.bases {
		before = append(before, New(c.head.repo, base))
	}
	// A file in a folder can give the encoding by a macro that the root's defines.
	for _, at := range append(before, c.head) {
		roots, err := at.attributesIn("")
		if err != nil {
			return err
		}
		c.decide = c.decide || slices.ContainsFunc(roots, func(f attributesFile) bool { return c.names(f.leaf) })
	}
	if !c.decide {
		return nil
	}
	return c.beneath(func(at string, leaf repo.Leaf) error {
		if leaf.Mode != repo.File && leaf.Mode != repo.Executable {
			return nil // git writes links as they are
		}
		now, failed := c.head.Written(at)
		same := true
		for i := range c.bases {
			then, err := before[i].Written(at)
			same = same && failed == nil && err == nil && slices.Equal(then.Encodings, now.Encodings)
		}
		if same {
			return nil
		}
		if same, err := unchanged(at, leaf); err != nil || !same {
			return err // it differs, so that it was visited
		}
		return visit(at, leaf)
	})
}

// beneath hands the head's files beneath the noted folders to visit.
func (c *Recoding) beneath(visit func(at string, leaf repo.Leaf) error) error {
	if idx := c.head.snapshot.Index; idx != nil {
		for i := range idx.Files {
			f := &idx.Files[i]
			if folder, _ := cutLast(f.Path); c.within(FoldName(folder)) {
				if err := visit(f.Path, f.Leaf); err != nil {
					return err
				}
			}
		}
		return nil
	}
	root := c.head.snapshot.Tree
	files, err := newTreeFiles(c.head.repo, root)
	if err != nil {
		return err
	}
	for folder := range c.folders {
		if above, _ := cutLast(folder); folder != "" && c.within(above) {
			continue // it is beneath another
		}
		trees := []namedTree{{"", root}}
		if folder != "" {
			if trees, err = files.alike(folder); err != nil {
				return err
			}
		}
		for _, n := range trees {
			err := c.head.repo.Diff(repo.Hash{}, n.tree, func(change repo.Change) error {
				return visit(path.Join(n.path, change.Path), change.New)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// within reports whether a folder is a noted one or in one, by what its path has in common with others.
func (c *Recoding) within(folded string) bool {
	for {
		if c.folders[folded] {
			return true
		}
		if folded == "" {
			return false
		}
		folded, _ = cutLast(folded)
	}
}
