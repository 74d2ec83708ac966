package repo

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A finder finds the entries of every tree, and what is missing is an error each time.
func TestFinder(t *testing.T) { inFormats(t, testFinder) }

func testFinder(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	importedHistory(g, rand.New(rand.NewPCG(1, 150)), 12)
	r := g.open()
	f := r.Finder()
	for _, commit := range strings.Fields(g.git("rev-list", "--all")) {
		_, tree := commitOf(t, r, commit)
		for _, line := range strings.Split(g.git("ls-tree", "-rt", "-z", commit), "\x00") {
			leaf, path, is := strings.Cut(line, "\t") // mode, kind and hash
			got, found, err := f.Lookup(tree, path)
			if is && (!strings.HasSuffix(leaf, got.Hash.String()) || !found || err != nil) {
				t.Errorf("%q in %s: %v, %v, %v", line, commit, got, found, err)
			}
			for _, missing := range []string{path + "x", path + "/x\x01", path + "/x/y"} {
				if got, found, err := f.Lookup(tree, missing); found || err != nil {
					t.Errorf("%q in %s: %v, %v", missing, commit, got, err)
				}
			}
		}
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
		r.trees.put(Hash{i}, nil, maxTrees/5)
		if n := len(r.trees.young) + len(r.trees.old); r.trees.size > maxTrees/2 || n > 5 {
			t.Fatalf("%d bytes of %d trees are kept", r.trees.size, n)
		}
	}
}
