package repo

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A commit-graph that is torn changes no answer: it is not used.
func TestTornCommitGraph(t *testing.T) {
	g := newGit(t)
	randomHistory(g, rand.New(rand.NewPCG(5, 5)), 20)
	commits := strings.Fields(g.git("rev-list", "--all"))
	bases := func() [][]Hash {
		t.Helper()
		var all [][]Hash
		r := g.open()
		r.beforeGraph = 0
		for _, c := range commits {
			h, err := r.Commit(c)
			if err != nil {
				t.Fatal(err)
			}
			head, err := r.Commit("main")
			if err != nil {
				t.Fatal(err)
			}
			found, err := r.MergeBases(h, head)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, found)
		}
		return all
	}
	want := bases()
	g.git("commit-graph", "write", "--reachable")
	file := filepath.Join(g.dir, ".git", "objects", "info", "commit-graph")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if g.open().openGraph() == nil {
		t.Fatal("the commit-graph is not used")
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	same := func(got [][]Hash) bool { return slices.EqualFunc(got, want, slices.Equal) }
	for i := 0; i < len(whole); i += 1 + len(whole)/150 {
		for _, torn := range [][]byte{whole[:i], flipped(whole, i)} {
			if err := os.WriteFile(file, torn, 0o666); err != nil {
				t.Fatal(err)
			}
			if g.open().openGraph() != nil {
				t.Fatalf("byte %d: the torn graph is used", i)
			}
		}
		if got := bases(); !same(got) {
			t.Fatalf("byte %d: %v, want %v", i, got, want)
		}
	}
}

func flipped(content []byte, at int) []byte {
	c := slices.Clone(content)
	c[at] ^= 1 << (at % 8)
	return c
}

// In a shallow clone the commit-graph of what it was cloned from would lead beyond the
// boundary.
// After some commits the commit-graph is read in their place.
func TestCommitGraphIsUsed(t *testing.T) {
	g := newGit(t)
	var commits []string // the oldest first
	for range 8 {
		commits = append(commits, g.commit("c"))
	}
	g.git("commit-graph", "write", "--reachable")
	lost := commits[3]
	if err := os.Remove(filepath.Join(g.dir, ".git/objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[int]bool{0: true, 3: true, 6: false, 8: false} {
		r := g.open()
		r.beforeGraph = before
		_, err := r.MergeBases(mustHash(t, commits[7]), mustHash(t, commits[0]))
		if (err == nil) != want {
			t.Errorf("a commit that only the graph has is found after %d others: %v, want %v (%v)", before, err == nil, want, err)
		}
	}
}

func TestNoCommitGraphWhenShallow(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	g.git("commit-graph", "write", "--reachable")
	r := g.open()
	r.shallow = map[Hash]bool{{1}: true}
	if r.openGraph() != nil {
		t.Error("the commit-graph is used")
	}
}
