package repo

import (
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxRecent is how many bytes of trees are kept.
const maxRecent = 4 << 20

// recentTrees are checked trees that may be asked for again soon: those above a file are, for its attributes, and those
// of a bundle. To inflate and check a tree takes longer than to go through it.
type recentTrees struct {
	mu       sync.Mutex // of what follows
	contents map[Hash][]byte
	size     int // bytes
}

// read returns the checked content of a tree.
func (t *recentTrees) read(from *objects, h Hash) ([]byte, error) {
	t.mu.Lock()
	content, known := t.contents[h]
	t.mu.Unlock()
	if known {
		return content, nil
	}
	content, err := from.read(h, plumbing.TreeObject)
	if err == nil {
		t.keep(h, content)
	}
	return content, err
}

// keep keeps a tree, if it is not too large, and lets go of the others when they are together.
func (t *recentTrees) keep(h Hash, content []byte) {
	if len(content) > maxRecent/4 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size += len(content); t.contents == nil || t.size > maxRecent {
		t.contents, t.size = map[Hash][]byte{}, len(content)
	}
	t.contents[h] = content
}
