package repo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/policyscan/policyscan/internal/disk"
)

// TestRoot: the root is the nearest folder with a .git folder or file; other things of that name are none.
func TestRoot(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"outer/.git", "outer/a/b", "outer/linked/c", "outer/fifo/.git.d", "plain"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.FromSlash(dir)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "outer", "linked", ".git"), []byte("gitdir: elsewhere\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, root, within string }{
		{"outer", "outer", ""},
		{"outer/a/b", "outer", "a/b"},
		{"outer/linked", "outer/linked", ""},
		{"outer/linked/c", "outer/linked", "c"},
		{"outer/fifo", "outer", "fifo"},
		{"plain", "plain", ""},
	} {
		dir, root := filepath.Join(top, filepath.FromSlash(c.dir)), filepath.Join(top, filepath.FromSlash(c.root))
		if got, err := Root(dir); got != root || err != nil {
			t.Errorf("Root(%s) = %s, %v", c.dir, got, err)
		}
		if got, within, err := Around(dir); got != root || within != c.within || err != nil {
			t.Errorf("Around(%s) = %s, %q, %v", c.dir, got, within, err)
		}
	}
	if _, _, err := Around(filepath.Join(top, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestEnvironment: a folder in another repository than GIT_DIR names is an error, and git tracks what either tracks.
func TestEnvironment(t *testing.T) {
	here, there := newGit(t), newGit(t)
	here.write("a", "x")
	here.git("add", "a")
	there.write("b", "x")
	there.git("add", "b")
	t.Chdir(here.dir)
	env := Environment{GitDir: filepath.Join(there.dir, ".git"), WorkTree: there.dir}
	for _, c := range []struct {
		env    Environment
		folder string
		root   string // "": an error
	}{
		{Environment{}, "", here.dir},
		{Environment{}, there.dir, there.dir},
		{Environment{WorkTree: there.dir}, "", there.dir},
		{env, "", there.dir},
		{env, there.dir, there.dir},
		{env, here.dir, ""}, // not the one that GIT_DIR names
	} {
		r, err := c.env.Open(c.folder)
		switch {
		case c.root == "":
			if !errors.Is(err, ErrNotRepository) {
				t.Errorf("%+v, %q: %v", c.env, c.folder, err)
			}
		case err != nil || !disk.Same(r.WorkTree, c.root):
			t.Errorf("%+v, %q: %+v, %v", c.env, c.folder, r, err)
		}
	}
	for file, want := range map[string]bool{filepath.Join(here.dir, "a"): true, "a": true, filepath.Join(there.dir, "b"): true, "b": false, "none/c": false} {
		if got, err := env.Tracks(file); got != want || err != nil {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
}
