package repo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Mode is what an entry of a tree or of the index is.
type Mode uint32

// The modes that git writes today. Older ones (such as 0100664) are read as the file
// that they are.
const (
	File       Mode = 0o100644
	Executable Mode = 0o100755
	Symlink    Mode = 0o120000
	Submodule  Mode = 0o160000
	folderMode Mode = 0o040000
)

// IsLeaf reports whether m is that of a leaf, not of a folder.
func (m Mode) IsLeaf() bool { return m != folderMode }

// A Leaf is a file of a tree: a file, a symbolic link or a submodule.
type Leaf struct {
	Mode Mode
	Hash Hash // of the blob, or of a submodule's commit
}

// A Change is a path whose leaf differs between two trees. The zero Leaf is absent.
type Change struct {
	Path     string
	Old, New Leaf
}

// ErrMalformed says that a tree holds what git never writes.
var ErrMalformed = errors.New("malformed tree")

// treeEntry is an entry of a tree object.
type treeEntry struct {
	name   string
	mode   Mode
	hash   Hash
	staged []Staged // what is in a folder of the index
}

// parseTree reads a tree object. git sorts entries by name, a folder as if its name
// ended in a slash; a tree that is not sorted so, has a name twice, or a name that
// could lead elsewhere, is malformed.
func parseTree(content []byte) ([]treeEntry, error) {
	var entries []treeEntry
	for len(content) > 0 {
		space := bytes.IndexByte(content, ' ')
		if space < 0 {
			return nil, fmt.Errorf("%w: it ends within an entry", ErrMalformed)
		}
		mode, err := parseMode(content[:space])
		if err != nil {
			return nil, err
		}
		content = content[space+1:]
		end := bytes.IndexByte(content, 0)
		if end < 0 || len(content) < end+1+20 {
			return nil, fmt.Errorf("%w: it ends within an entry", ErrMalformed)
		}
		e := treeEntry{name: string(content[:end]), mode: mode, hash: Hash(content[end+1 : end+21])}
		content = content[end+21:]
		if err := validName(e.name); err != nil {
			return nil, err
		}
		if e.hash.IsZero() {
			return nil, fmt.Errorf("%w: the entry %q has no object", ErrMalformed, clip(e.name))
		}
		entries = append(entries, e)
	}
	seen := make(map[string]bool, len(entries))
	for i, e := range entries {
		if i > 0 && entries[i-1].key() >= e.key() {
			return nil, fmt.Errorf("%w: the entry %q is not in order", ErrMalformed, clip(e.name))
		}
		if seen[e.name] { // a file and a folder need not be neighbours
			return nil, fmt.Errorf("%w: the entry %q is there twice", ErrMalformed, clip(e.name))
		}
		seen[e.name] = true
	}
	return entries, nil
}

// key is what entries are sorted by.
func (e *treeEntry) key() string {
	if e.mode == folderMode {
		return e.name + "/"
	}
	return e.name
}

func parseMode(text []byte) (Mode, error) {
	var m Mode
	if len(text) == 0 || len(text) > 6 {
		return 0, fmt.Errorf("%w: the mode %q", ErrMalformed, clip(string(text)))
	}
	for _, c := range text {
		if c < '0' || c > '7' {
			return 0, fmt.Errorf("%w: the mode %q", ErrMalformed, text)
		}
		m = m<<3 | Mode(c-'0')
	}
	return knownMode(m)
}

// knownMode returns the mode that git takes m for.
func knownMode(m Mode) (Mode, error) {
	switch {
	case m == Symlink, m == Submodule, m == folderMode:
		return m, nil
	case m&^0o777 == 0o100000 && m&0o100 != 0:
		return Executable, nil
	case m&^0o777 == 0o100000:
		return File, nil
	}
	return 0, fmt.Errorf("%w: the mode %o", ErrMalformed, m)
}

func validName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: an entry without a name", ErrMalformed)
	case name == "." || name == ".." || strings.EqualFold(name, ".git"):
		return fmt.Errorf("%w: an entry named %q", ErrMalformed, name)
	case strings.Contains(name, "/"):
		return fmt.Errorf("%w: an entry named %q", ErrMalformed, clip(name))
	}
	return nil
}

// Limits of a walk over trees. A tree can hold another many times over, and that one
// a third: 10 times 10 levels deep are 10^10 paths in eleven objects.
const (
	maxTreeDepth = 2048
	maxRepeats   = 64     // visits for each distinct tree, ...
	freeVisits   = 20_000 // beyond these
)

// walk is one walk over one or two trees.
type walk struct {
	repo     *Repository
	index    *Index // of DiffIndex
	visit    func(Change) error
	visits   int
	distinct map[Hash]struct{}
}

// Diff hands every leaf that differs between two trees to visit, in the order of the
// trees. Renames are an absent and a new leaf. The zero Hash is the empty tree.
func (r *Repository) Diff(oldTree, newTree Hash, visit func(Change) error) error {
	if oldTree == newTree {
		return nil
	}
	w := walk{repo: r, visit: visit, distinct: map[Hash]struct{}{}}
	return w.trees("", treeEntry{hash: oldTree}, treeEntry{hash: newTree}, 0)
}

// DiffIndex hands every leaf that differs between a tree and an index to visit, as
// [Repository.Diff] does.
func (r *Repository) DiffIndex(tree Hash, idx *Index, visit func(Change) error) error {
	w := walk{repo: r, index: idx, visit: visit, distinct: map[Hash]struct{}{}}
	return w.entries("", treeEntry{mode: folderMode, hash: tree}, idx.folder("", "", idx.Files), -1)
}

// load returns the entries of a folder; none of the zero Hash.
func (w *walk) load(prefix string, folder treeEntry, depth int) ([]treeEntry, error) {
	if depth > maxTreeDepth {
		return nil, fmt.Errorf("%w: folders more than %d deep", ErrLimit, maxTreeDepth)
	}
	h := folder.hash
	if folder.staged != nil {
		return w.index.in(prefix, folder.staged), nil
	}
	if h.IsZero() {
		return nil, nil
	}
	w.visits++
	w.distinct[h] = struct{}{}
	if w.visits > freeVisits+maxRepeats*len(w.distinct) {
		return nil, fmt.Errorf("%w: the same trees again and again, at %q", ErrLimit, clip(prefix))
	}
	content, err := w.repo.objects.read(h, plumbing.TreeObject)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(content)
	return entries, wrapObject(h, err)
}

// trees compares two trees. Both are sorted by key, so that one pass pairs their
// entries; a file and a folder of the same name are two entries.
func (w *walk) trees(prefix string, oldTree, newTree treeEntry, depth int) error {
	olds, err := w.load(prefix, oldTree, depth)
	if err != nil {
		return err
	}
	news, err := w.load(prefix, newTree, depth)
	if err != nil {
		return err
	}
	for len(olds) > 0 || len(news) > 0 {
		var o, n treeEntry
		switch {
		case len(news) == 0 || len(olds) > 0 && olds[0].key() < news[0].key():
			o, olds = olds[0], olds[1:]
		case len(olds) == 0 || news[0].key() < olds[0].key():
			n, news = news[0], news[1:]
		default:
			o, olds, n, news = olds[0], olds[1:], news[0], news[1:]
		}
		if err := w.entries(prefix, o, n, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entries(prefix string, o, n treeEntry, depth int) error {
	if o.mode == n.mode && o.hash == n.hash && !n.hash.IsZero() { // zero: a folder of the index
		return nil
	}
	path := prefix + max(o.name, n.name)
	if o.mode == folderMode || n.mode == folderMode {
		if path != "" {
			path += "/"
		}
		return w.trees(path, o, n, depth+1)
	}
	return w.visit(Change{path, Leaf{o.mode, o.hash}, Leaf{n.mode, n.hash}})
}

// Lookup returns the leaf or folder at a path of a tree; false if there is none.
func (r *Repository) Lookup(tree Hash, path string) (Leaf, bool, error) {
	w := walk{repo: r, distinct: map[Hash]struct{}{}}
	at := Leaf{folderMode, tree}
	for i, name := range strings.Split(path, "/") {
		if at.Mode != folderMode {
			return Leaf{}, false, nil
		}
		entries, err := w.load(path, treeEntry{hash: at.Hash}, i)
		if err != nil {
			return Leaf{}, false, err
		}
		k := slices.IndexFunc(entries, func(e treeEntry) bool { return e.name == name })
		if k < 0 {
			return Leaf{}, false, nil
		}
		at = Leaf{entries[k].mode, entries[k].hash}
	}
	return at, true, nil
}
