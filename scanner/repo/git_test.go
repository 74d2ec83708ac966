package repo

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gitRepo is a repository that the git command builds; the program itself never runs it.
type gitRepo struct {
	testing.TB
	dir    string
	format format
	tool   string // the git command; "" is git
	clock  int
	zlib   *zlib.Writer // of loose objects; nil until one is written
}

// inFormats runs a test with repositories of each format, which newGit makes.
func inFormats(t *testing.T, test func(t *testing.T)) {
	for _, f := range []format{formatSHA1, formatSHA256} {
		t.Run(f.String(), test)
	}
}

// newGit makes a repository of the format in the test's name, or of SHA-1.
func newGit(t testing.TB) *gitRepo {
	t.Helper()
	f := formatSHA1
	if strings.Contains(t.Name(), "/"+formatSHA256.String()) {
		f = formatSHA256
	}
	return newGitOf(t, f)
}

func newGitOf(t testing.TB, f format) *gitRepo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	g := &gitRepo{TB: t, dir: t.TempDir(), format: f, clock: 1_700_000_000}
	g.git("init", "-q", "-b", "main", "--object-format="+f.setting())
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
	cmd := exec.Command(cmp.Or(g.tool, "git"), append([]string{"--no-replace-objects"}, args...)...)
	cmd.Dir = g.dir
	g.clock++
	date := fmt.Sprintf("%d +0000", g.clock)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_ALLOW_PROTOCOL=file")
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
	must(g, os.MkdirAll(filepath.Dir(full), 0o777))
	must(g, os.WriteFile(full, []byte(content), 0o666))
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
	must(g, err)
	g.Cleanup(r.Close)
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// commitOf resolves a revision to its commit and tree.
func commitOf(t testing.TB, r *Repository, name string) (commit, tree Hash) {
	t.Helper()
	commit, err := r.Commit(name)
	must(t, err)
	tree, err = r.Tree(commit)
	must(t, err)
	return commit, tree
}

func mustHash(t *testing.T, s string) Hash {
	t.Helper()
	f := formatSHA1
	if len(s) == 64 {
		f = formatSHA256
	}
	h, err := f.parse(s)
	must(t, err)
	return h
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
	// The zeros of an absent leaf are as many as the digits of the other.
	zeros := strings.Repeat("0", max(len(c.Old.Hash.String()), len(c.New.Hash.String())))
	digits := func(h Hash) string { return (h.String() + zeros)[:len(zeros)] }
	return fmt.Sprintf(":%06o %06o %s %s %s\x00%s\x00", uint32(c.Old.Mode), uint32(c.New.Mode), digits(c.Old.Hash),
		digits(c.New.Hash), letter, c.Path)
}

func sortedChanges(t testing.TB, diff func(visit func(Change) error) error) string {
	t.Helper()
	var lines []string
	must(t, diff(func(c Change) error { lines = append(lines, raw(c)); return nil }))
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

func first(s string, _ error) string { return s }
