package repo

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A finder finds what a look-up from the root finds, in every tree, and what is missing is an error each time.
func TestFinderIsLookup(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	randomHistory(g, rand.New(rand.NewPCG(1, 150)), 12)
	r := g.open()
	f := r.Finder()
	tried := 0
	for _, commit := range strings.Fields(g.git("rev-list", "--all")) {
		tree, err := r.Tree(mustHash(t, commit))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Split(g.git("ls-tree", "-rt", "-z", "--name-only", commit), "\x00") {
			for _, path := range []string{path, path + "x", path + "/x", path + "/x/y"} {
				want, wantFound, err := r.Lookup(tree, path)
				if err != nil {
					t.Fatal(err)
				}
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
		wantError(t, "a tree that is not there", err, ErrMissing)
	}
	if _, found, err := f.Lookup(Hash{}, "a"); found || err != nil {
		t.Errorf("in the empty tree: %v, %v", found, err)
	}
}
