package repo

import (
	"strings"
	"sync"
)

// A Finder looks up many paths, and remembers the folders that it has read. It is safe for concurrent use.
type Finder struct {
	repo *Repository

	mu      sync.Mutex // of what follows
	folders map[Hash]map[string]Leaf
	held    int // entries of folders
}

// maxFound is how many entries of folders a [Finder] remembers, each of some 100 bytes.
const maxFound = 200_000

// Finder returns a finder that has read nothing yet.
func (r *Repository) Finder() *Finder { return &Finder{repo: r, folders: map[Hash]map[string]Leaf{}} }

// Lookup is [Repository.Lookup].
func (f *Finder) Lookup(tree Hash, path string) (Leaf, bool, error) {
	at, found := Leaf{folderMode, tree}, true
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != folderMode {
			return Leaf{}, false, nil
		}
		folder, err := f.folder(at.Hash, path)
		if err != nil {
			return Leaf{}, false, err
		}
		if at, found = folder[name]; !found {
			return Leaf{}, false, nil
		}
	}
	return at, true, nil
}

// folder returns what is in a folder; path is where it was met.
func (f *Finder) folder(h Hash, path string) (map[string]Leaf, error) {
	f.mu.Lock()
	folder, known := f.folders[h]
	f.mu.Unlock()
	if known {
		return folder, nil
	}
	w := walk{repo: f.repo, distinct: map[Hash]struct{}{}}
	entries, err := w.open(path, treeEntry{hash: h}, 0)
	if err != nil {
		return nil, err
	}
	folder = map[string]Leaf{}
	for {
		e, err := entries.next() // to the last one: what is malformed is not an answer
		if err != nil {
			return nil, err
		}
		if e.name == nil {
			break
		}
		folder[string(e.name)] = Leaf{e.mode, e.hash}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held += len(folder); f.held > maxFound {
		f.folders, f.held = map[Hash]map[string]Leaf{}, len(folder)
	}
	f.folders[h] = folder
	return folder, nil
}
