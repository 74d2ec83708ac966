package repo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/policyscan/policyscan/internal/disk"
)

func TestSibling(t *testing.T) {
	g := newGit(t)
	main, err := filepath.EvalSymlinks(g.dir)
	if err != nil {
		t.Fatal(err)
	}
	g.commit("one")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(base, "other")
	g.git("init", "-q", other)
	g.git("worktree", "add", "-q", filepath.Join(base, "beside"))
	g.git("worktree", "add", "-q", filepath.Join(main, "within"))
	g.git("init", "-q", filepath.Join(base, "beside", "nested"))
	for _, dir := range []string{filepath.Join(base, "beside", "broken"), filepath.Join(main, "within", "broken")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(main, "broken"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(main, "broken", ".git"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ root, dir, want string }{
		{main, main, ""},
		{main, main + "/new/folder", ""},
		{main, base + "/beside", base + "/beside"},
		{main, base + "/beside/new/folder", base + "/beside"},
		{main, main + "/within/x", main + "/within"},
		{base + "/beside", main + "/x", main},
		{base + "/beside", main + "/within", main + "/within"},
		{main, other, ""},
		{main, base, ""},
		{main, main + "/broken/x", ""},
		{base, main, ""},
		{main, base + "/beside/nested/x", base + "/beside"}, // what is checked out in it is its own, too
		{main, base + "/beside/broken/x", base + "/beside"},
		{main, main + "/within/broken/x", main + "/within"},
		{main + "/within", main + "/within/x", ""},
	} {
		if got, err := Sibling(filepath.FromSlash(c.root), filepath.FromSlash(c.dir)); err != nil || got != filepath.FromSlash(c.want) {
			t.Errorf("%s from %s: %q, %v, want %q", c.dir, c.root, got, err, c.want)
		}
	}
}

// TestSiblingOfBroken: of a root whose git folder cannot be determined nothing is said.
func TestSiblingOfBroken(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := Sibling(root, filepath.Dir(root)); err == nil {
		t.Errorf("%q", got)
	}
	if got, err := GitDirs(root); err == nil {
		t.Errorf("%q", got)
	}
}

func TestGitDirs(t *testing.T) {
	g := newGit(t)
	main, err := filepath.EvalSymlinks(g.dir)
	if err != nil {
		t.Fatal(err)
	}
	g.commit("one")
	linked := filepath.Join(t.TempDir(), "linked")
	g.git("worktree", "add", "-q", linked)
	for _, c := range []struct {
		root string
		want []string
	}{
		{main, []string{main + "/.git"}},
		{linked, []string{main + "/.git/worktrees/linked", main + "/.git"}},
		{t.TempDir(), nil},
	} {
		got, err := GitDirs(c.root)
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %q, %v, want %q", c.root, got, err, c.want)
			continue
		}
		for i := range got {
			if !disk.Same(got[i], c.want[i]) {
				t.Errorf("%s: %q, want %q", c.root, got, c.want)
			}
		}
	}
}
