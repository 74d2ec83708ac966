package scanner

import (
	"bytes"
	"path"
	"slices"

	"github.com/policyscan/policyscan/scanner/attributes"
	"github.com/policyscan/policyscan/scanner/repo"
)

// changes are the files of one snapshot that differ from some other: their leaf, or the encoding in which git checks
// them out.
type changes struct {
	repo     *repo.Repository
	head     snapshot
	bases    []snapshot
	checkout *checkout // of the head
	links    retargeting

	// Of the attributes files that differ:
	folders map[string]bool // what the paths of theirs have in common, see foldName
	decide  bool            // one of them names the encoding
}

func newChanges(r *repo.Repository, head snapshot, bases []snapshot) *changes {
	return &changes{repo: r, head: head, bases: bases, checkout: newCheckout(r, head), links: newRetargeting(r, head, bases)}
}

// list hands each file that differs from any base to visit, once; the zero leaf if it was deleted. uniform says whether
// the rules select the same beneath every folder.
func (c *changes) list(uniform func() bool, visit func(path string, leaf repo.Leaf) error) error {
	seen := map[string]bool{}
	for _, base := range c.bases {
		each := func(change repo.Change) error {
			c.links.see(change)
			if _, name := cutLast(change.Path); attributes.IsFile(name) && !c.allNew() {
				c.note(change)
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
		if c.head.index != nil {
			err = c.repo.DiffIndex(base.tree, c.head.index, each)
		} else {
			err = c.repo.Diff(base.tree, c.head.tree, each)
		}
		if err != nil {
			return err
		}
	}
	if err := c.recoded(visit); err != nil || c.allNew() || !c.links.matter(uniform) {
		return err
	}
	return c.links.visit(visit)
}

// allNew reports whether there is nothing to compare with.
func (c *changes) allNew() bool { return len(c.bases) == 1 && c.bases[0] == (snapshot{}) }

// note notes that an attributes file differs.
func (c *changes) note(change repo.Change) {
	if c.folders == nil {
		c.folders = map[string]bool{}
	}
	folder, _ := cutLast(change.Path)
	c.folders[foldName(folder)] = true
	for _, leaf := range []repo.Leaf{change.Old, change.New} {
		if leaf != (repo.Leaf{}) && leaf.Mode != repo.Submodule {
			c.decide = c.decide || c.names(leaf)
		}
	}
}

// names reports whether an attributes file names the encoding. One that cannot be read may.
func (c *changes) names(leaf repo.Leaf) bool {
	text, err := c.checkout.text(leaf.Hash)
	return err != nil || bytes.Contains(text, []byte(attributes.Encoding))
}

// recoded hands those files to visit whose leaf is the same everywhere, and whose encoding is not, because an
// attributes file above them changed.
func (c *changes) recoded(visit func(path string, leaf repo.Leaf) error) error {
	if len(c.folders) == 0 {
		return nil
	}
	var before []*checkout
	for _, base := range c.bases {
		before = append(before, newCheckout(c.repo, base))
	}
	// A file in a folder can give the encoding by a macro that the root's defines.
	for _, at := range append(before, c.checkout) {
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
		now, failed := c.checkout.of(at)
		same := true
		for i := range c.bases {
			then, err := before[i].of(at)
			same = same && failed == nil && err == nil && slices.Equal(then.encodings, now.encodings)
		}
		if same {
			return nil
		}
		for _, base := range c.links.bases {
			if old, _, err := base.at(at); err != nil || old != leaf {
				return err // it differs, so that it was visited
			}
		}
		return visit(at, leaf)
	})
}

// beneath hands the head's files beneath the noted folders to visit.
func (c *changes) beneath(visit func(at string, leaf repo.Leaf) error) error {
	if c.head.index != nil {
		for i := range c.head.index.Files {
			f := &c.head.index.Files[i]
			if folder, _ := cutLast(f.Path); c.within(foldName(folder)) {
				if err := visit(f.Path, f.Leaf); err != nil {
					return err
				}
			}
		}
		return nil
	}
	files, err := newTreeFiles(c.repo, c.head.tree)
	if err != nil {
		return err
	}
	for folder := range c.folders {
		if above, _ := cutLast(folder); folder != "" && c.within(above) {
			continue // it is beneath another
		}
		trees := []namedTree{{"", c.head.tree}}
		if folder != "" {
			if trees, err = files.alike(folder); err != nil {
				return err
			}
		}
		for _, n := range trees {
			err := c.repo.Diff(repo.Hash{}, n.tree, func(change repo.Change) error { return visit(path.Join(n.path, change.Path), change.New) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// within reports whether a folder is a noted one or in one, by what its path has in common with others.
func (c *changes) within(folded string) bool {
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
