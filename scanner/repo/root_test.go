package repo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/internal/disk"
)

// TestRoot: the root is the nearest directory with a .git directory or file; other things of that name do not count.
func TestRoot(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{"outer/.git", "outer/a/b", "outer/linked/c", "outer/fifo/.git.d", "plain"} {
		must(t, os.MkdirAll(filepath.Join(top, filepath.FromSlash(dir)), 0o777))
	}
	must(t, os.WriteFile(filepath.Join(top, "outer", "linked", ".git"), []byte("gitdir: elsewhere\n"), 0o666))
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
		t.Errorf("a missing directory: %v", err)
	}
}

// TestMerging: of an environment only what git merge sets counts, and of that only the commits that are here and that
// HEAD does not contain.
func TestMerging(t *testing.T) { inFormats(t, testMerging) }

func testMerging(t *testing.T) {
	here := newGit(t)
	here.git("commit", "-q", "--allow-empty", "-m", "root")
	root := here.git("rev-parse", "HEAD")
	here.git("checkout", "-q", "-b", "other")
	here.git("commit", "-q", "--allow-empty", "-m", "other")
	other := here.git("rev-parse", "HEAD")
	here.git("checkout", "-q", "--orphan", "unrelated")
	here.git("commit", "-q", "--allow-empty", "-m", "unrelated")
	unrelated := here.git("rev-parse", "HEAD")
	here.git("checkout", "-q", root)
	names := Merging([]string{
		"GITHEAD_" + unrelated + "=a", "GITHEAD_" + other + "=a=b", "GITHEAD_" + root + "=main", "GITHEAD_=x",
		"GITHEAD_main=x",
		"GITHEAD_" + other[:39] + "=x", "XGITHEAD_" + other + "=x",
		"GITHEAD_" + strings.Repeat("1", 40) + "=elsewhere",
	})
	r, err := Environment{Merging: names}.Open(here.dir)
	must(t, err)
	want := []string{other, unrelated}
	slices.Sort(want)
	head, err := r.Commit("HEAD")
	must(t, err)
	check := func(want ...string) {
		t.Helper()
		var got []string
		all, err := r.Merging(head)
		for _, h := range all {
			got = append(got, h.String())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("merging %q, %v, want %q", got, err, want)
		}
	}
	check(want...)
	here.write(".git/MERGE_HEAD", other+"\n"+root+"\n"+other+"\n") // which says more than the variables
	check(other)
	if all, err := r.Merging(Hash{}); all != nil || err != nil {
		t.Errorf("before the first commit: %v, %v", all, err)
	}
	here.write(".git/MERGE_HEAD", strings.Repeat("1", 40)+"\n")
	if all, err := r.Merging(head); err == nil {
		t.Errorf("a missing commit: %v", all)
	}
}

// TestEnvironment: a directory in another repository than GIT_DIR names is an error, and git tracks what either
// tracks.
func TestEnvironment(t *testing.T) {
	here, there := newGit(t), newGit(t)
	here.write("a", "x")
	here.git("add", "a")
	there.write("b", "x")
	there.git("add", "b")
	t.Chdir(here.dir)
	env := Environment{GitDir: filepath.Join(there.dir, ".git"), WorkTree: there.dir}
	for _, c := range []struct {
		env  Environment
		dir  string
		root string // "": an error
	}{
		{Environment{}, "", here.dir},
		{Environment{}, there.dir, there.dir},
		{Environment{WorkTree: there.dir}, "", there.dir},
		{env, "", there.dir},
		{env, there.dir, there.dir},
		{env, here.dir, ""}, // not the one that GIT_DIR names
	} {
		r, err := c.env.Open(c.dir)
		switch {
		case c.root == "":
			if !errors.Is(err, ErrNotRepository) {
				t.Errorf("%+v, %q: %v", c.env, c.dir, err)
			}
		case err != nil || !disk.Same(r.WorkTree, c.root):
			t.Errorf("%+v, %q: %+v, %v", c.env, c.dir, r, err)
		}
	}
	for file, want := range map[string]bool{filepath.Join(here.dir, "a"): true, "a": true,
		filepath.Join(there.dir, "b"): true, "b": false, "none/c": false} {
		if got, err := env.Tracks(file); got != want || err != nil {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
}

func TestSibling(t *testing.T) {
	g := newGit(t)
	main, err := filepath.EvalSymlinks(g.dir)
	must(t, err)
	g.commit("one")
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	other := filepath.Join(base, "other")
	g.git("init", "-q", other)
	g.git("worktree", "add", "-q", filepath.Join(base, "beside"))
	g.git("worktree", "add", "-q", filepath.Join(main, "within"))
	g.git("init", "-q", filepath.Join(base, "beside", "nested"))
	for _, dir := range []string{filepath.Join(base, "beside", "broken"), filepath.Join(main, "within", "broken")} {
		must(t, os.MkdirAll(dir, 0o777))
		must(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("x"), 0o666))
	}
	must(t, os.MkdirAll(filepath.Join(main, "broken"), 0o777))
	must(t, os.WriteFile(filepath.Join(main, "broken", ".git"), []byte("x"), 0o666))
	for _, c := range []struct{ root, dir, want string }{
		{main, main, ""},
		{main, main + "/new/directory", ""},
		{main, base + "/beside", base + "/beside"},
		{main, base + "/beside/new/directory", base + "/beside"},
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
		if got, err := Sibling(filepath.FromSlash(c.root), filepath.FromSlash(c.dir)); err != nil ||
			got != filepath.FromSlash(c.want) {
			t.Errorf("%s from %s: %q, %v, want %q", c.dir, c.root, got, err, c.want)
		}
	}
}

// TestSiblingOfBroken: of a root whose git directory cannot be determined nothing is said.
func TestSiblingOfBroken(t *testing.T) {
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, ".git"), []byte("x"), 0o666))
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
	must(t, err)
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
