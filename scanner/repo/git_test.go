package repo

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// gitRepo is a repository that the git command builds; the program itself never runs it.
type gitRepo struct {
	testing.TB
	dir   string
	clock int
	zlib  *zlib.Writer // of loose objects; nil until one is written
}

func newGit(t testing.TB) *gitRepo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	g := &gitRepo{TB: t, dir: t.TempDir(), clock: 1_700_000_000}
	g.git("init", "-q", "-b", "main")
	return g
}

func (r *Repository) mergeBases(a, b Hash) ([]Hash, error) {
	c, err := r.Relate(a, b)
	return c.MergeBases, err
}

func (g *gitRepo) git(args ...string) string {
	g.Helper()
	out, err := g.try(args...)
	if err != nil {
		g.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(out)
}

func (g *gitRepo) try(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"--no-replace-objects"}, args...)...)
	cmd.Dir = g.dir
	g.clock++
	date := fmt.Sprintf("%d +0000", g.clock)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_ALLOW_PROTOCOL=file")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

func (g *gitRepo) write(name, content string) {
	g.Helper()
	full := filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		g.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
		g.Fatal(err)
	}
}

func (g *gitRepo) commit(message string) string {
	g.Helper()
	g.git("add", "-A")
	g.git("commit", "-q", "--allow-empty", "-m", message)
	return g.git("rev-parse", "HEAD")
}

func (g *gitRepo) open() *Repository {
	g.Helper()
	r, err := Find(g.dir)
	if err != nil {
		g.Fatal(err)
	}
	return r
}

func mustHash(t *testing.T, s string) Hash {
	t.Helper()
	if !plumbing.IsHash(s) {
		t.Fatalf("%q is no hash", s)
	}
	return plumbing.NewHash(s)
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// ends fails unless f ends: opening a FIFO for reading waits for a writer for ever.
func ends(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatalf("%s: it does not end", what)
	}
}

// raw is a change as printed by git diff-tree -r -z --no-renames.
func raw(c Change) string {
	letter := "M"
	switch {
	case c.Old == Leaf{}:
		letter = "A"
	case c.New == Leaf{}:
		letter = "D"
	case c.Old.Mode&0o170000 != c.New.Mode&0o170000:
		letter = "T"
	}
	return fmt.Sprintf(":%06o %06o %s %s %s\x00%s\x00", uint32(c.Old.Mode), uint32(c.New.Mode), c.Old.Hash, c.New.Hash, letter, c.Path)
}

func sortedChanges(t *testing.T, r *Repository, a, b Hash) string {
	t.Helper()
	ta, err := r.Tree(a)
	if err != nil {
		t.Fatal(err)
	}
	tb, err := r.Tree(b)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	if err := r.Diff(ta, tb, func(c Change) error { lines = append(lines, raw(c)); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func sortRaw(out string) string {
	fields := strings.SplitAfter(out, "\x00")
	var lines []string
	for i := 0; i+1 < len(fields); i += 2 {
		lines = append(lines, fields[i]+fields[i+1])
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// randomHistory makes commits on several branches: edits, renames, type and mode changes, deletions, odd names, merges
// and criss-crosses, and sometimes packs.
func randomHistory(g *gitRepo, r *rand.Rand, commits int) {
	names := []string{"a.tf", "b/c.tf", "b/d/e.yaml", "b", "b.c", "b-/x", "odd \n name", "tab\there", "ü.tf", "--help.tf", "deep/er/and/deeper/f"}
	branches := []string{"main"}
	g.commit("root")
	for i := range commits {
		switch r.IntN(10) {
		case 0:
			b := fmt.Sprintf("b%d", i)
			g.git("checkout", "-q", "-f", "-b", b)
			branches = append(branches, b)
		case 1:
			g.git("checkout", "-q", "-f", branches[r.IntN(len(branches))])
		case 2:
			if _, err := g.try("merge", "-q", "-s", "ours", "--no-edit", branches[r.IntN(len(branches))]); err != nil {
				g.Fatal(err)
			}
			continue
		case 3:
			switch r.IntN(4) {
			case 0:
				g.git("gc", "-q")
			case 1:
				g.git("repack", "-q", "-a", "-d", "-f", "--depth=50")
			case 2:
				g.git("pack-refs", "--all")
			}
		}
		for range 1 + r.IntN(3) {
			name := names[r.IntN(len(names))]
			full := filepath.Join(g.dir, name)
			for dir := filepath.Dir(full); dir != g.dir; dir = filepath.Dir(dir) {
				if st, err := os.Lstat(dir); err == nil && !st.IsDir() {
					os.RemoveAll(dir)
				}
			}
			os.RemoveAll(full)
			switch r.IntN(6) {
			case 0:
			case 1:
				os.MkdirAll(filepath.Dir(full), 0o777)
				os.Symlink("target"+fmt.Sprint(r.IntN(3)), full)
			case 2:
				g.write(name, fmt.Sprint(r.IntN(3)))
				os.Chmod(full, 0o755)
			case 3:
				g.git("add", "-A")
				g.git("update-index", "--add", "--cacheinfo", "160000,"+g.git("rev-parse", "HEAD")+",sub"+fmt.Sprint(r.IntN(2)))
			default:
				g.write(name, strings.Repeat(fmt.Sprint(r.IntN(100)), 1+r.IntN(300)))
			}
		}
		g.git("add", "-A")
		g.git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
	}
}

// TestAgainstGit compares histories made by git, command by command. TestDifferential_Histories has many more, made by
// one process.
func TestAgainstGit(t *testing.T) {
	histories, length := 4, 60
	if !*long {
		histories = 1
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(uint64(seed), 7))
			g := newGit(t)
			randomHistory(g, rnd, length)
			if c := g.compareHistory(t, rnd, seed, 40); c.changes < 100 || c.bases < c.met/2 {
				t.Errorf("too little to say much: %+v", c)
			}
		})
	}
}

func first(s string, _ error) string { return s }

func TestIndexAgainstGit(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run(version, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 9))
			g := newGit(t)
			randomHistory(g, rnd, 12)
			g.git("update-index", "--index-version", version)
			g.write("later.tf", "x")
			g.git("add", "-N", "later.tf")
			g.write("new/one.tf", "y")
			g.git("add", "new")
			r := g.open()
			idx, err := r.Index()
			if err != nil {
				t.Fatal(err)
			}
			committed, err := idx.Committed()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range committed.Files {
				got = append(got, fmt.Sprintf("%06o %s 0\t%s\x00", uint32(f.Mode), f.Hash, f.Path))
			}
			var want []string
			for _, l := range strings.SplitAfter(g.git("ls-files", "-s", "-z"), "\x00") {
				if l != "" && !strings.HasSuffix(l, "\tlater.tf\x00") {
					want = append(want, l)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
			if len(idx.Files) != len(committed.Files)+1 {
				t.Errorf("%d files, %d of them would be committed", len(idx.Files), len(committed.Files))
			}

			// The changes of a next commit, and none missed once it is made.
			for _, old := range strings.Fields(g.git("rev-list", "--all")) {
				commit, err := r.Commit(old)
				if err != nil {
					t.Fatal(err)
				}
				tree, err := r.Tree(commit)
				if err != nil {
					t.Fatal(err)
				}
				var lines []string
				if err := r.DiffIndex(tree, committed, func(c Change) error { lines = append(lines, raw(c)); return nil }); err != nil {
					t.Fatal(err)
				}
				slices.Sort(lines)
				if got, want := strings.Join(lines, ""), sortRaw(g.git("diff-tree", "-r", "-z", "--no-renames", old, strings.TrimSpace(g.git("write-tree")))); got != want {
					t.Errorf("against %s: got\n%s\nwant\n%s", old, got, want)
				}
			}
		})
	}
}
