package repo

import (
	"os"
	"path/filepath"
	"testing"
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
	} {
		if got := Sibling(filepath.FromSlash(c.root), filepath.FromSlash(c.dir)); got != filepath.FromSlash(c.want) {
			t.Errorf("%s from %s: %q, want %q", c.dir, c.root, got, c.want)
		}
	}
}
