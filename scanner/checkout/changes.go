package checkout

import (
	"bytes"
	"slices"

	"github.com/policyscan/policyscan/scanner/repo"
)

// EncodingChanges finds the files that a change does not touch but gives another encoding on checkout.
type EncodingChanges struct {
	head    *Checkout
	bases   []*Checkout
	dirs    map[string]bool // directories whose attributes file differs, by folded path
	encodes bool            // one of these files names the encoding
}

// NewEncodingChanges returns the encoding changes from some checkouts to the head's.
func NewEncodingChanges(head *Checkout, bases []*Checkout) *EncodingChanges {
	return &EncodingChanges{head: head, bases: bases, dirs: map[string]bool{}}
}

// Add adds a file that differs between the head and a base. All of them must be added before [EncodingChanges.Any].
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

// names reports whether an attributes file names the encoding; true if it cannot be read.
func (c *EncodingChanges) names(path string, leaf repo.Leaf) bool {
	text, err := c.head.text(path, leaf.Hash)
	return err != nil || bytes.Contains(text, []byte(encodingName))
}

// Any reports whether such files are possible.
func (c *EncodingChanges) Any() (bool, error) {
	if len(c.dirs) == 0 {
		return false, nil
	}
	for _, at := range append(slices.Clone(c.bases), c.head) { // whose macros can name the encoding for other files
		at.mu.Lock()
		roots, err := at.in("")
		at.mu.Unlock()
		if err != nil {
			return false, err
		}
		named := func(f attributesFile) bool { return c.names(f.path, f.leaf) }
		c.encodes = c.encodes || slices.ContainsFunc(roots, named)
	}
	return c.encodes, nil
}

// Has reports whether an unchanged file has another encoding.
func (c *EncodingChanges) Has(path string) bool {
	for dir, _ := cutLast(FoldName(path)); !c.dirs[dir]; dir, _ = cutLast(dir) {
		if dir == "" {
			return false // no attributes file above it differs
		}
	}
	now, err := c.head.Attributes(path)
	return slices.ContainsFunc(c.bases, func(base *Checkout) bool {
		before, baseErr := base.Attributes(path)
		return err != nil || baseErr != nil || !slices.Equal(before.Encodings, now.Encodings)
	})
}

// Decides reports whether a file is an attributes file that could make git write files in another encoding, or could
// be why that is unknown. A tree without one has no [Attributes], for any path.
func Decides(r *repo.Repository, path string, leaf repo.Leaf) bool {
	if _, name := cutLast(path); !isAttributesFile(name) || leaf == (repo.Leaf{}) {
		return false
	}
	text, err := New(r, Snapshot{}).text(path, leaf.Hash)
	return err != nil || bytes.Contains(text, []byte(encodingName)) || bytes.Contains(text, []byte(filterName)) ||
		bytes.Contains(text, []byte(exportSubstName))
}
