package repo

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A torn commit-graph is not used.
func TestTornCommitGraph(t *testing.T) { inFormats(t, testTornCommitGraph) }

func testTornCommitGraph(t *testing.T) {
	g := newGit(t)
	checkedOut(g, rand.New(rand.NewPCG(5, 5)), 20)
	g.git("commit-graph", "write", "--reachable")
	file := filepath.Join(g.dir, ".git", "objects", "info", "commit-graph")
	whole, err := os.ReadFile(file)
	must(t, err)
	if g.open().openGraph() == nil {
		t.Fatal("the commit-graph is not used")
	}
	must(t, os.Chmod(file, 0o666))
	for i := 0; i < len(whole); i += 1 + len(whole)/150 {
		for _, torn := range [][]byte{whole[:i], flipped(whole, i)} {
			must(t, os.WriteFile(file, torn, 0o666))
			if g.open().openGraph() != nil {
				t.Fatalf("byte %d: the torn graph is used", i)
			}
		}
	}
}

func flipped(content []byte, at int) []byte {
	c := slices.Clone(content)
	c[at] ^= 1 << (at % 8)
	return c
}

// After some commits the commit-graph is read instead of commits.
func TestCommitGraphIsUsed(t *testing.T) { inFormats(t, testCommitGraphIsUsed) }

func testCommitGraphIsUsed(t *testing.T) {
	g := newGit(t)
	var commits []string // the oldest first
	for range 8 {
		commits = append(commits, g.commit("c"))
	}
	g.git("commit-graph", "write", "--reachable")
	lost := commits[3]
	must(t, os.Remove(filepath.Join(g.dir, ".git/objects", lost[:2], lost[2:])))
	for before, want := range map[int]bool{0: true, 3: true, 6: false, 8: false} {
		r := g.open()
		r.beforeGraph = before
		_, err := r.mergeBases(mustHash(t, commits[7]), mustHash(t, commits[0]))
		if (err == nil) != want {
			t.Errorf("a commit that only the graph has is found after %d others: %v, want %v (%v)", before,
				err == nil, want, err)
		}
	}
}

// In a shallow clone, the commit-graph of the original repository goes beyond the boundary.
func TestNoCommitGraphWhenShallow(t *testing.T) { inFormats(t, testNoCommitGraphWhenShallow) }

func testNoCommitGraphWhenShallow(t *testing.T) {
	g := newGit(t)
	g.commit("one")
	g.git("commit-graph", "write", "--reachable")
	r := g.open()
	r.shallow = map[Hash]bool{{1}: true}
	if r.openGraph() != nil {
		t.Error("the commit-graph is used")
	}
}
