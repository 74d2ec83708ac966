package repo

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// Mode is the kind of an entry of a tree or of the index.
type Mode uint32

// The modes that git writes today. Older ones (such as 0100664) are read as the file they mean.
const (
	File       Mode = 0o100644
	Executable Mode = 0o100755
	Symlink    Mode = 0o120000
	Submodule  Mode = 0o160000
	dirMode    Mode = 0o040000
)

// IsLeaf reports whether m is the mode of a leaf, not of a directory.
func (m Mode) IsLeaf() bool { return m != dirMode }

// A Leaf is a file, a symlink or a submodule of a tree.
type Leaf struct {
	Mode Mode
	Hash Hash // of the blob, or of a submodule's commit
}

// A Change is a path whose leaf differs between two trees. The zero Leaf is absent.
type Change struct {
	Path     string
	Old, New Leaf
}

// ErrMalformed: a tree that git never writes.
var ErrMalformed = errors.New("malformed tree")

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

func knownMode(m Mode) (Mode, error) {
	switch {
	case m == Symlink, m == Submodule, m == dirMode:
		return m, nil
	case m&^0o777 == 0o100000 && m&0o100 != 0:
		return Executable, nil
	case m&^0o777 == 0o100000:
		return File, nil
	}
	return 0, fmt.Errorf("%w: the mode %o", ErrMalformed, m)
}

// Limits of a walk over trees. A tree can contain another many times, and that one a third: 10 times 10 levels deep
// are 10^10 paths in eleven objects.
const (
	maxTreeDepth = 2048
	maxRepeats   = 64     // visits for each distinct tree, ...
	freeVisits   = 20_000 // beyond these
)

type walk struct {
	repo     *Repository
	index    *Index // of DiffIndex
	visit    func(Change) error
	visits   int
	distinct map[Hash]struct{}
}

// Diff calls visit with each leaf that differs between two trees, in tree order. A rename is a removed and a new leaf.
// The zero Hash is the empty tree.
func (r *Repository) Diff(oldTree, newTree Hash, visit func(Change) error) error {
	if oldTree == newTree {
		return nil
	}
	w := walk{repo: r, visit: visit, distinct: map[Hash]struct{}{}}
	return w.trees("", treeEntry{hash: oldTree}, treeEntry{hash: newTree}, 0)
}

// DiffIndex calls visit with each leaf that differs between a tree and an index, as [Repository.Diff] does.
func (r *Repository) DiffIndex(tree Hash, idx *Index, visit func(Change) error) error {
	w := walk{repo: r, index: idx, visit: visit, distinct: map[Hash]struct{}{}}
	return w.entries("", treeEntry{mode: dirMode, hash: tree}, idx.dir("", idx.Files), -1)
}

// open returns the entries of a directory; an absent one is empty.
func (w *walk) open(prefix string, dir treeEntry, depth int) (*entries, error) {
	if depth > maxTreeDepth {
		return nil, fmt.Errorf("%w: directories more than %d deep", ErrLimit, maxTreeDepth)
	}
	if dir.staged != nil {
		return &entries{index: w.index, prefix: prefix, staged: dir.staged}, nil
	}
	h := dir.hash
	if h.IsZero() || h == w.repo.emptyTree {
		return &entries{}, nil
	}
	w.visits++
	w.distinct[h] = struct{}{}
	if w.visits > freeVisits+maxRepeats*len(w.distinct) {
		return nil, fmt.Errorf("%w: the same trees again and again, at %q", ErrLimit, clip(prefix))
	}
	content, err := w.repo.readTree(h)
	return &entries{format: w.repo.objects.format, hash: h, content: content}, err
}

// maxTrees is how many bytes of trees are cached: the trees above a file, used again for its attributes, and the trees
// of a bundle. Inflating and checking a tree takes longer than reading it.
const maxTrees = 4 << 20

func (r *Repository) readTree(h Hash) ([]byte, error) {
	content, known := r.trees.get(h)
	if known {
		return content, nil
	}
	content, err := r.objects.read(h, plumbing.TreeObject)
	if err == nil && len(content) <= maxTrees/4 {
		r.trees.put(h, content, len(content))
	}
	return content, err
}

// trees compares two directories. Both have the same order, so one pass pairs their entries; a file and a directory of
// the same name are two entries.
func (w *walk) trees(prefix string, oldTree, newTree treeEntry, depth int) error {
	olds, err := w.open(prefix, oldTree, depth)
	if err != nil {
		return err
	}
	news, err := w.open(prefix, newTree, depth)
	if err != nil {
		return err
	}
	o, err := olds.next()
	if err != nil {
		return err
	}
	n, err := news.next()
	for err == nil && (o.name != nil || n.name != nil) {
		var order int
		switch {
		case n.name == nil:
			order = -1
		case o.name == nil:
			order = 1
		default:
			order = o.compare(&n)
		}
		pair := [2]treeEntry{o, n}
		if order > 0 {
			pair[0] = treeEntry{}
		}
		if order < 0 {
			pair[1] = treeEntry{}
		}
		if err := w.entries(prefix, pair[0], pair[1], depth); err != nil {
			return err
		}
		if order <= 0 {
			o, err = olds.next()
		}
		if order >= 0 && err == nil {
			n, err = news.next()
		}
	}
	return err
}

func (w *walk) entries(prefix string, o, n treeEntry, depth int) error {
	if o.mode == n.mode && o.hash == n.hash && !n.hash.IsZero() { // zero: a directory of the index
		return nil
	}
	name := o.name
	if name == nil {
		name = n.name
	}
	path := prefix + string(name)
	if o.mode == dirMode || n.mode == dirMode {
		if path != "" {
			path += "/"
		}
		return w.trees(path, o, n, depth+1)
	}
	return w.visit(Change{path, Leaf{o.mode, o.hash}, Leaf{n.mode, n.hash}})
}
