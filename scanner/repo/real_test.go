package repo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRealRepository compares 500 pairs of commits of a real repository with git, if
// GIT_REPOSITORY names one.
func TestRealRepository(t *testing.T) {
	dir := os.Getenv("GIT_REPOSITORY")
	if dir == "" {
		t.Skip("GIT_REPOSITORY names no repository to compare with git")
	}
	g := &gitRepo{TB: t, dir: dir}
	r := g.open()
	commits := strings.Fields(g.git("rev-list", "HEAD"))
	rnd := rand.New(rand.NewPCG(5, 6))
	for i := range 500 {
		near := rnd.IntN(len(commits))
		far := min(len(commits)-1, near+rnd.IntN(1+i*4))
		a, b := commits[far], commits[near]
		ha, err := r.Commit(a)
		if err != nil {
			t.Fatal(err)
		}
		hb, err := r.Commit(b)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(first(g.try("merge-base", "--all", a, b)))
		slices.Sort(want)
		bases, err := r.MergeBases(ha, hb)
		if err != nil && !errors.Is(err, ErrNoMergeBase) {
			t.Fatal(err)
		}
		var got []string
		for _, h := range bases {
			got = append(got, fmt.Sprint(h))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("merge-base %s %s: got %q, want %q", a, b, got, want)
		}
		out, _ := g.try("diff-tree", "-r", "-z", "--no-renames", a, b)
		if sortedChanges(t, r, ha, hb) != sortRaw(out) {
			t.Fatalf("diff %s %s differs", a, b)
		}
	}
}
