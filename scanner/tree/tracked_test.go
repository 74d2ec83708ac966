//go:build unix

package tree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// TestTrackedKinds: however many files of a directory git tracks, and whatever else is in it, each file is handed to
// one visitor once, as a link exactly if it is one on disk.
func TestTrackedKinds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(22, 40))
	rounds, links := 25, 0
	for round := range rounds {
		dir := t.TempDir()
		idx, want := trackedDirs(t, r, dir)
		got := kindsOf(t, dir, idx, 1+r.IntN(3))
		if !slices.Equal(got, want) {
			t.Fatalf("round %d:\ngot  %q\nwant %q", round, got, want)
		}
		for _, line := range want {
			if strings.HasPrefix(line, "1 ") {
				links++
			}
		}
	}
	if links < rounds {
		t.Errorf("only %d links", links)
	}
}

// trackedDirs fills a directory and returns an index of files in it, and the kind of each on disk.
func trackedDirs(t *testing.T, r *rand.Rand, dir string) (*repo.Index, []string) {
	t.Helper()
	idx := &repo.Index{}
	var want []string
	dirs := []string{"", "a", "a/b", "a/b/c", "a0", "b", "b/a/b", "é"}
	for _, sub := range dirs {
		must(t, os.MkdirAll(filepath.Join(dir, sub), 0o777))
		if r.IntN(8) == 0 {
			for i := range 150 { // that git does not track
				writeFile(t, filepath.Join(dir, sub, fmt.Sprintf("untracked%d", i)), "")
			}
		}
		if r.IntN(8) == 0 {
			must(t, os.Symlink("nowhere", filepath.Join(dir, sub, "untracked link")))
		}
		rare := r.IntN(40) // one in rare files is a symlink
		for i := range r.IntN(30) {
			name := path.Join(sub, fmt.Sprintf("%c%d", "Nz"[r.IntN(2)], i)) // before and after the directories
			f := repo.Staged{Path: name, Leaf: repo.Leaf{Mode: repo.File}}
			switch at := filepath.Join(dir, name); {
			case r.IntN(1+rare) == 0:
				must(t, os.Symlink("target", at))
			case r.IntN(30) == 0:
				must(t, syscall.Mkfifo(at, 0o666))
			case r.IntN(30) == 0:
				must(t, os.Mkdir(at, 0o777))
			case r.IntN(30) != 0:
				writeFile(t, at, "")
			}
			kind := worktree.Regular
			if st, err := os.Lstat(filepath.Join(dir, name)); err == nil && st.Mode()&os.ModeSymlink != 0 {
				kind = worktree.Symlink
			}
			switch r.IntN(30) {
			case 0:
				f.Mode, kind = repo.Submodule, worktree.Submodule
			case 1:
				f.Mode = repo.Symlink
			}
			idx.Files = append(idx.Files, f)
			want = append(want, fmt.Sprint(kind, " ", name))
		}
	}
	slices.SortFunc(idx.Files, func(a, b repo.Staged) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(want)
	return idx, want
}

// kindsOf returns the kind of each file, in order.
func kindsOf(t *testing.T, dir string, idx *repo.Index, n int) (got []string) {
	t.Helper()
	tracked, done, err := OpenTracked(dir, idx)
	must(t, err)
	defer done()
	var mu sync.Mutex
	var ranging sync.WaitGroup
	for _, files := range tracked.Files(t.Context(), n, Query{}) {
		ranging.Go(func() {
			for f := range files {
				mu.Lock()
				got = append(got, fmt.Sprint(f.Kind, " ", f.Path))
				mu.Unlock()
			}
		})
	}
	ranging.Wait()
	slices.Sort(got)
	return got
}

// TestTrackedListing: a directory whose files are looked at together costs no look at each, though an untracked link,
// or very many untracked files, make it cost that.
func TestTrackedListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	idx := &repo.Index{}
	add := func(name string) {
		writeFile(t, filepath.Join(dir, name), "")
		idx.Files = append(idx.Files, repo.Staged{Path: name, Leaf: repo.Leaf{Mode: repo.File}})
	}
	for i := range 100 {
		for _, sub := range []string{"crowded", "linked", "plain", "plain/in"} {
			add(fmt.Sprintf("%s/f%02d", sub, i))
		}
	}
	add("plain/last") // whose directory is known
	for i := range 2000 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("crowded/untracked%d", i)), "")
	}
	must(t, os.Symlink("nowhere", filepath.Join(dir, "linked/link")))
	slices.SortFunc(idx.Files, func(a, b repo.Staged) int { return strings.Compare(a.Path, b.Path) })
	root := openRoot(t, dir)
	o := &trackedSource{diskSource: diskSource{files: root.Reader()}}
	defer o.close()
	listed := map[string]int{}
	for i, f := range idx.Files {
		if o.linkless(idx.Files[i:]) {
			listed[path.Dir(f.Path)]++
		}
	}
	want := map[string]int{}
	if runtime.GOOS == "linux" {
		want = map[string]int{"plain": 101, "plain/in": 100}
	}
	if !maps.Equal(listed, want) || len(o.dirs) > 2 {
		t.Errorf("got %v, want %v; %d directories are kept", listed, want, len(o.dirs))
	}
}

// TestTrackedSwapped: what becomes a link, or no longer is one, between the listing of its directory and its turn is
// no content: a link is judged by where it leads, which has not happened.
func TestTrackedSwapped(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o666))
	must(t, os.Symlink("elsewhere", filepath.Join(dir, "link")))
	root, err := worktree.Open(dir)
	must(t, err)
	defer root.Close()
	o := &trackedSource{
		diskSource: diskSource{files: root.Reader()}, collisions: func() map[string]error { return nil },
	}
	defer o.close()
	for _, was := range []worktree.Kind{worktree.Regular, worktree.Symlink} {
		for name, is := range map[string]worktree.Kind{"file": worktree.Regular, "link": worktree.Symlink} {
			c, err := o.Open(File{Path: name, Kind: was}, false)
			if err == nil {
				c.Close()
			}
			if same := was == is; same != (err == nil) || !same && !errors.Is(err, worktree.ErrChanged) {
				t.Errorf("%s, which was of kind %v: %v", name, was, err)
			}
		}
	}
}

// TestNextPart: every file is in one part, and the last parts are small.
func TestNextPart(t *testing.T) {
	t.Parallel()
	for _, files := range []int{0, 1, minBatch, minBatch + 1, 1000, 50_000} {
		for sequences := 1; sequences <= 5; sequences++ {
			var taken atomic.Int64
			at, last, parts := 0, 0, 0
			for {
				from, to := nextPart(&taken, files, sequences)
				if from != at {
					t.Fatalf("%d files, %d sequences: a part from %d, want %d", files, sequences, from, at)
				}
				if from == to {
					break
				}
				at, last, parts = to, to-from, parts+1
			}
			if at != files || last > minBatch || parts > 300 {
				t.Errorf("%d files, %d sequences: %d files in %d parts, the last of %d", files, sequences, at, parts,
					last)
			}
		}
	}
}

// TestTrackedInterrupted: a walk ends when its context does.
func TestTrackedInterrupted(t *testing.T) {
	t.Parallel()
	idx := &repo.Index{}
	for i := range 1000 {
		idx.Files = append(idx.Files, repo.Staged{Path: fmt.Sprintf("f%03d", i), Leaf: repo.Leaf{Mode: repo.File}})
	}
	tracked, done, err := OpenTracked(t.TempDir(), idx)
	must(t, err)
	defer done()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range tracked.Files(ctx, 1, Query{})[0] {
		if n++; n == 10 {
			cancel()
		}
	}
	if n != 10 {
		t.Errorf("%d files", n)
	}
}

func TestIsASCII(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		if plain := strings.Repeat("~", n); !isASCII(plain) {
			t.Errorf("%q", plain)
		}
		for at := range n {
			if b := []byte(strings.Repeat("a", n)); !isASCII(string(b)) {
				t.Errorf("%q", b)
			} else if b[at] = 0x80; isASCII(string(b)) {
				t.Errorf("%q", b)
			}
		}
	}
}
