package tree

import (
	"github.com/policyscan/policyscan/scanner/repo"
)

// symlinkChanges finds the links that a change does not touch and that lead elsewhere by it.
type symlinkChanges struct {
	head        *Snapshot
	bases       []*Snapshot
	changed     bool // a link comes, goes or points elsewhere
	fileRemoved bool // a file no longer is one
}

func (t *symlinkChanges) see(c repo.Change) {
	t.changed = t.changed || c.Old.Mode == repo.Symlink || c.New.Mode == repo.Symlink
	t.fileRemoved = t.fileRemoved || isFile(c.Old) && !isFile(c.New)
}

// needed reports whether unchanged links have to be looked at. Where a file was and now a folder can be, what
// matters is what the rules select below: if that is the same below every directory, nothing does.
func (t *symlinkChanges) needed(uniform func() bool) bool {
	return t.changed || t.fileRemoved && !uniform()
}

// visit visits the links of the head that did not change, but lead to another path than at a base, or
// to what was a file there and no longer is. A link whose way cannot be followed at the base is one of
// them: it is judged as it is now.
func (t *symlinkChanges) visit(visit func(path string, leaf repo.Leaf) error) error {
	return t.head.leaves(func(path string, leaf repo.Leaf) error {
		if leaf.Mode != repo.Symlink {
			return nil
		}
		if same, err := t.unchanged(path, leaf); err != nil || !same {
			return err // it is in the change
		}
		target, err := t.head.target(path, leaf)
		if err != nil {
			return visit(path, leaf) // whose error it is
		}
		now, err := Follow(path, target, t.head.lookup)
		for _, base := range t.bases {
			if err != nil {
				break
			}
			var was SymlinkTarget
			if was, err = Follow(path, target, base.lookup); err == nil && now.differs(was) {
				return visit(path, leaf)
			}
		}
		if err != nil {
			return visit(path, leaf)
		}
		return nil
	})
}

// unchanged reports whether a leaf of the head is the same at each base.
func (t *symlinkChanges) unchanged(path string, leaf repo.Leaf) (bool, error) {
	for _, base := range t.bases {
		if old, found, err := base.Leaf(path); err != nil || !found || old != leaf {
			return false, err
		}
	}
	return true, nil
}

// differs reports whether a link leads elsewhere than it did, or no longer to a file.
func (l SymlinkTarget) differs(was SymlinkTarget) bool {
	return l.Path != was.Path || l.Outside != was.Outside || l.Broken != was.Broken || was.IsFile && !l.IsFile
}
