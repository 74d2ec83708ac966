package repo

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A finder finds what a look-up from the root finds, in every tree, and what is missing is an error each time.
func TestFinderIsLookup(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	checkedOut(g, rand.New(rand.NewPCG(1, 150)), 12)
	r := g.open()
	f := r.Finder()
	tried := 0
	for _, commit := range strings.Fields(g.git("rev-list", "--all")) {
		tree, err := r.Tree(mustHash(t, commit))
		must(t, err)
		for _, path := range strings.Split(g.git("ls-tree", "-rt", "-z", "--name-only", commit), "\x00") {
			for _, path := range []string{path, path + "x", path + "/x", path + "/x/y"} {
				want, wantFound, err := r.Lookup(tree, path)
				must(t, err)
				tried++
				if got, found, err := f.Lookup(tree, path); got != want || found != wantFound || err != nil {
					t.Errorf("%q in %s: %v, %v, %v; want %v, %v", path, commit, got, found, err, want, wantFound)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d paths were tried", tried)
	}
	for range 2 {
		_, _, err := f.Lookup(mustHash(t, strings.Repeat("1", 40)), "a")
		wantError(t, "a missing tree", err, ErrMissing)
	}
	if _, found, err := f.Lookup(Hash{}, "a"); found || err != nil {
		t.Errorf("in the empty tree: %v, %v", found, err)
	}
}

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
	must(t, os.RemoveAll(filepath.Join(g.dir, ".git/objects", h.String()[:2])))
	if n := list(); n != 1 {
		t.Errorf("%d entries", n)
	}
	for i := range byte(10) {
		r.trees.put(Hash{i}, nil, maxTrees/5, maxTrees)
		if r.trees.size > maxTrees || len(r.trees.values) > 6 {
			t.Fatalf("%d bytes of %d trees are kept", r.trees.size, len(r.trees.values))
		}
	}
}
