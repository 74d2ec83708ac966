package repo

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRecentTrees: a tree that was read is not read again soon, and not all are kept.
func TestRecentTrees(t *testing.T) {
	g := newGit(t)
	g.write("a", "a")
	g.commit("a")
	r := g.open()
	h := mustHash(t, g.git("rev-parse", "HEAD^{tree}"))
	list := func() (n int) {
		if err := r.Entries(h, func(name []byte, _ Leaf) { n++ }); err != nil {
			t.Error(err)
		}
		return n
	}
	list()
	if err := os.RemoveAll(filepath.Join(g.dir, ".git/objects", h.String()[:2])); err != nil {
		t.Fatal(err)
	}
	if n := list(); n != 1 {
		t.Errorf("%d entries", n)
	}
	for i := range byte(10) {
		r.trees.keep(Hash{i}, make([]byte, maxRecent/5))
		if r.trees.size > maxRecent || len(r.trees.contents) > 6 {
			t.Fatalf("%d bytes of %d trees are kept", r.trees.size, len(r.trees.contents))
		}
	}
	r.trees.keep(Hash{99}, make([]byte, maxRecent))
	if _, kept := r.trees.contents[Hash{99}]; kept {
		t.Error("a large tree is kept")
	}
}
