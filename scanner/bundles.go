package scanner

import (
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
)

// ErrNoBundle says that there is no bundle at any place of discovery.
var ErrNoBundle = errors.New("no bundle")

// Bundles finds the bundles that a repository holds, in commits and in the index, and
// loads each of them once.
type Bundles struct {
	repo   *repo.Repository
	loaded map[string]*rules.Bundle
}

// A RuleFile is a file of a bundle that was read from git's objects.
type RuleFile struct {
	Path string
	Blob repo.Hash
}

// NewBundles returns the bundles of a repository.
func NewBundles(r *repo.Repository) *Bundles {
	return &Bundles{r, map[string]*rules.Bundle{}}
}

// InCommit loads the bundle that a commit holds in dir, or, with an empty dir, where a
// scan would find it: .policyscan if it has rules, else the root. It returns its rule
// files as well. A commit without one is [ErrNoBundle]; a bundle with mistakes is
// rules.Errors.
func (b *Bundles) InCommit(commit repo.Hash, dir string) (*rules.Bundle, []RuleFile, error) {
	tree, err := b.repo.Tree(commit)
	if err != nil {
		return nil, nil, err
	}
	return b.in(func(path string) (repo.Leaf, bool, error) { return b.repo.Lookup(tree, path) }, dir)
}

// InIndex loads the bundle that the index holds, as [Bundles.InCommit] does that of a
// commit.
func (b *Bundles) InIndex(idx *repo.Index, dir string) (*rules.Bundle, []RuleFile, error) {
	return b.in(func(path string) (repo.Leaf, bool, error) {
		leaf, found := idx.Lookup(path)
		return leaf, found, nil
	}, dir)
}

// A lookup returns the leaf or folder at a path, false if there is none.
type lookup func(path string) (repo.Leaf, bool, error)

func (b *Bundles) in(at lookup, dir string) (*rules.Bundle, []RuleFile, error) {
	places := []string{dir}
	if dir == "" {
		places = []string{".policyscan", "."}
	}
	for _, place := range places {
		mark := "rules"
		if place == "." {
			mark = rules.BoundariesFile
		}
		found, err := at.has(path.Join(place, mark), place)
		if err != nil {
			return nil, nil, err
		}
		if found {
			return b.load(at, place)
		}
	}
	return nil, nil, ErrNoBundle
}

// has reports whether there is something at a path. A link or a submodule on the way is a
// mistake in the bundle: what is behind it is not here, and to take it for nothing would
// leave the change's own bundle alone to judge. So is a file in the place of the bundle's
// folder.
func (at lookup) has(name, bundle string) (bool, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		leaf, found, err := at(name[:i])
		switch {
		case err != nil:
			return false, err
		case !found:
			return false, nil
		case leaf.Mode == repo.Symlink, leaf.Mode == repo.Submodule, leaf.Mode.IsLeaf() && name[:i] == bundle:
			return false, rules.Errors{{Code: rules.CodeRead, File: name[:i], Found: "is a link, a submodule or a file", Fix: "make it a folder"}}
		case leaf.Mode.IsLeaf():
			return false, nil
		}
	}
	_, found, err := at(name)
	return found, err
}

func (b *Bundles) load(at lookup, dir string) (*rules.Bundle, []RuleFile, error) {
	key := ""
	var names []string
	var inUse []RuleFile
	for _, name := range []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile} {
		full := path.Join(dir, name)
		leaf, found, err := at(full)
		if err != nil {
			return nil, nil, err
		}
		if !found {
			continue
		}
		if leaf.Mode != repo.File && leaf.Mode != repo.Executable {
			return nil, nil, rules.Errors{{Code: rules.CodeRead, File: name, Found: "is no regular file", Fix: "put a regular file there"}}
		}
		key += name + " " + leaf.Hash.String() + "\n"
		names, inUse = append(names, name), append(inUse, RuleFile{full, leaf.Hash})
	}
	if known := b.loaded[key]; known != nil {
		return known, inUse, nil
	}
	files := rules.Files{}
	for i, f := range inUse {
		text, err := b.read(f.Blob)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		files[names[i]] = text
	}
	bundle, err := rules.Load(files)
	if err != nil {
		return nil, nil, err
	}
	b.loaded[key] = bundle
	return bundle, inUse, nil
}

// read returns a rule file, or so much of it that it is seen to be too long.
func (b *Bundles) read(h repo.Hash) ([]byte, error) {
	blob, err := b.repo.Blob(h)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(io.LimitReader(blob, rules.MaxFileBytes+1))
}
