package repo

import "strings"

// A Finder looks up many paths and caches the directories it has read. It is safe for concurrent use.
type Finder struct {
	repo *Repository
	dirs cache[Hash, map[string]Leaf]
}

// maxFound is how many entries of directories a [Finder] caches, each of some 100 bytes.
const maxFound = 200_000

func (r *Repository) Finder() *Finder { return &Finder{repo: r} }

// Lookup is [Repository.Lookup].
func (f *Finder) Lookup(tree Hash, path string) (Leaf, bool, error) {
	return lookup(tree, path, func(dir Hash, name string) (Leaf, error) {
		leaves, known := f.dirs.get(dir)
		if known {
			return leaves[name], nil
		}
		leaves = map[string]Leaf{}
		err := f.repo.Entries(dir, func(name []byte, leaf Leaf) { leaves[string(name)] = leaf })
		if err == nil {
			f.dirs.put(dir, leaves, len(leaves), maxFound)
		}
		return leaves[name], err
	})
}

// Lookup returns the leaf or directory at a path of a tree; false if the path does not exist.
func (r *Repository) Lookup(tree Hash, path string) (Leaf, bool, error) {
	return lookup(tree, path, func(dir Hash, name string) (found Leaf, err error) {
		err = r.Entries(dir, func(entry []byte, leaf Leaf) {
			if string(entry) == name {
				found = leaf
			}
		})
		return found, err
	})
}

// lookup follows a path. in returns the entry of a directory; the zero Leaf if it does not exist.
func lookup(tree Hash, path string, in func(dir Hash, name string) (Leaf, error)) (Leaf, bool, error) {
	at := Leaf{dirMode, tree}
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != dirMode {
			return Leaf{}, false, nil
		}
		var err error
		if at, err = in(at.Hash, name); err != nil || at == (Leaf{}) {
			return Leaf{}, false, err
		}
	}
	return at, true, nil
}

// Entries calls visit with the entries of a tree, in its order: leaves, and directories, whose mode is not IsLeaf.
// name is overwritten later. A malformed entry is an error, after visit was called with the entries before it.
func (r *Repository) Entries(tree Hash, visit func(name []byte, leaf Leaf)) error {
	w := walk{repo: r, distinct: map[Hash]struct{}{}}
	entries, err := w.open("", treeEntry{hash: tree}, 0)
	for err == nil {
		var e treeEntry
		if e, err = entries.next(); e.name == nil {
			break
		}
		visit(e.name, Leaf{e.mode, e.hash})
	}
	return err
}
