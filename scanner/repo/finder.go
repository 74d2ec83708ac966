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

// Lookup returns the leaf or directory at a path of a tree; false if the path does not exist.
func (f *Finder) Lookup(tree Hash, path string) (Leaf, bool, error) {
	at := Leaf{dirMode, tree}
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != dirMode {
			return Leaf{}, false, nil
		}
		leaves, known := f.dirs.get(at.Hash)
		if !known {
			leaves = map[string]Leaf{}
			err := f.repo.Entries(at.Hash, func(name []byte, leaf Leaf) { leaves[string(name)] = leaf })
			if err != nil {
				return Leaf{}, false, err
			}
			f.dirs.put(at.Hash, leaves, len(leaves), maxFound)
		}
		if at = leaves[name]; at == (Leaf{}) {
			return Leaf{}, false, nil
		}
	}
	return at, true, nil
}

// Lookup is [Finder.Lookup] for one path.
func (r *Repository) Lookup(tree Hash, path string) (Leaf, bool, error) {
	return r.Finder().Lookup(tree, path)
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
