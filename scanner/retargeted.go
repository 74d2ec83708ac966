package scanner

import (
	"io"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
)

// A gitSide is one side of a change, to be asked for links.
type gitSide struct {
	repo *repo.Repository
	find *repo.Finder
	checkout.Snapshot
}

// at returns the leaf or folder at a path.
func (s gitSide) at(path string) (repo.Leaf, bool, error) {
	if s.Index != nil {
		leaf, found := s.Index.Lookup(path)
		return leaf, found, nil
	}
	return s.find.Lookup(s.Tree, path)
}

// files hands on all that the side has.
func (s gitSide) files(visit func(path string, leaf repo.Leaf) error) error {
	if s.Index == nil {
		return s.repo.Diff(repo.Hash{}, s.Tree, func(c repo.Change) error { return visit(c.Path, c.New) })
	}
	for _, f := range s.Index.Files {
		if err := visit(f.Path, f.Leaf); err != nil {
			return err
		}
	}
	return nil
}

func (s gitSide) look(path string) (there, error) {
	leaf, found, err := s.at(path)
	if err != nil || !found {
		return there{}, err
	}
	if leaf.Mode != repo.Symlink {
		return there{file: isFile(leaf)}, nil
	}
	target, err := s.target(leaf)
	return there{link: true, target: target}, err
}

// target returns the target of a link, or so much of it that it is seen to be too long.
func (s gitSide) target(link repo.Leaf) (string, error) {
	blob, err := s.repo.Blob(link.Hash)
	if err != nil {
		return "", err
	}
	defer blob.Close()
	text, err := io.ReadAll(io.LimitReader(blob, maxTarget+1))
	return string(text), err
}

func isFile(l repo.Leaf) bool { return l.Mode == repo.File || l.Mode == repo.Executable }

// A retargeting finds the links that a change does not touch and that lead elsewhere by it.
type retargeting struct {
	head    gitSide
	bases   []gitSide
	changed bool // a link comes, goes or points elsewhere
	gone    bool // a file no longer is one
}

func newRetargeting(r *repo.Repository, head checkout.Snapshot, bases []checkout.Snapshot) retargeting {
	find := r.Finder()
	t := retargeting{head: gitSide{r, find, head}}
	for _, base := range bases {
		t.bases = append(t.bases, gitSide{r, find, base})
	}
	return t
}

func (t *retargeting) see(c repo.Change) {
	t.changed = t.changed || c.Old.Mode == repo.Symlink || c.New.Mode == repo.Symlink
	t.gone = t.gone || isFile(c.Old) && !isFile(c.New)
}

// matter reports whether unchanged links have to be looked at. Where a file was and now a folder can be, what
// matters is what the rules select beneath: if that is the same beneath every folder, nothing does.
func (t *retargeting) matter(uniform func() bool) bool { return t.changed || t.gone && !uniform() }

// visit visits the links of the head that did not change, but lead to another path than at a base, or
// to what was a file there and no longer is. A link whose way cannot be followed at the base is one of
// them: it is judged as it is now.
func (t *retargeting) visit(visit func(path string, leaf repo.Leaf) error) error {
	return t.head.files(func(path string, leaf repo.Leaf) error {
		if leaf.Mode != repo.Symlink {
			return nil
		}
		if same, err := t.unchanged(path, leaf); err != nil || !same {
			return err // it is in the change
		}
		target, err := t.head.target(leaf)
		if err != nil {
			return visit(path, leaf) // whose error it is
		}
		now, err := follow(path, target, t.head.look)
		for _, base := range t.bases {
			if err != nil {
				break
			}
			var was lead
			if was, err = follow(path, target, base.look); err == nil && now.differs(was) {
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
func (t *retargeting) unchanged(path string, leaf repo.Leaf) (bool, error) {
	for _, base := range t.bases {
		if old, found, err := base.at(path); err != nil || !found || old != leaf {
			return false, err
		}
	}
	return true, nil
}

// differs reports whether a link leads elsewhere than it did, or no longer to a file.
func (l lead) differs(was lead) bool {
	return l.path != was.path || l.out != was.out || l.lost != was.lost || was.file && !l.file
}
