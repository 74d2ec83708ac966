package uncommitted

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// What is counted is what git status lists.
func TestFault_129_AgainstGitStatus(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, target string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		_ = os.Remove(file) // it need not be there
		if err := os.Symlink(target, file); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write(".gitignore", "# build output\n*.o\nbuild/\n/root-only\n!keep.o\ndocs/*.html\n")
	write("sub/.gitignore", "local\n*.log\n!kept.log\n")
	for _, f := range []string{"a.tf", "b.tf", "deep/c.tf", "deep/d.tf", "e.tf", "forced.o"} {
		write(f, f)
	}
	link("link", "a.tf")
	git("add", "-f", ".")
	git("commit", "-qm", "base")

	for _, step := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"same bytes, another time", func() { // git has to look into the file
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(dir, "a.tf"), old, old); err != nil {
				t.Fatal(err)
			}
		}},
		{"modified, of the same length, in the same moment", func() { write("a.tf", "A.TF") }},
		{"staged", func() { git("add", "a.tf") }},
		{"staged and modified once more", func() { write("a.tf", "A.tf") }},
		{"deleted", func() { remove("deep/c.tf") }},
		{"staged deletion", func() { git("rm", "-q", "b.tf") }},
		{"another target", func() { link("link", "elsewhere") }},
		{"a file in the place of a link", func() { remove("link"); write("link", "a.tf") }},
		{"a folder in the place of a file", func() { remove("e.tf"); write("e.tf/inner", "x") }},
		{"untracked", func() { write("new.tf", "x"); write("deep/new/er.tf", "x"); write("odd \n name", "x") }},
		{"intended to be added", func() { write("later.tf", "x"); git("add", "-N", "later.tf") }},
		{"ignored", func() {
			write("x.o", "x")
			write("deep/x.o", "x")
			write("build/x.tf", "x")
			write("deep/build/x.tf", "x")
			write("root-only", "x")
			write("sub/local", "x")
			write("sub/x/y.log", "x")
			write("docs/x.html", "x")
		}},
		{"not ignored after all", func() {
			write("keep.o", "x")
			write("deep/keep.o", "x")
			write("deep/root-only", "x")
			write("local", "x")
			write("sub/kept.log", "x")
			write("docs/deep/x.html", "x")
			write("builds", "x")
		}},
		{"tracked, though ignored", func() { write("forced.o", "changed") }},
		{"a file named as an ignored folder", func() { remove("deep/build"); write("deep/build", "x") }},
	} {
		step.do()
		want := 0 // git must not write down in its index what it finds out
		status := git("--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
		fields := strings.Split(status, "\x00")
		for _, f := range fields {
			if f != "" {
				want++
			}
		}
		r, err := repo.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		head, err := r.Commit("HEAD")
		if err != nil {
			t.Fatal(err)
		}
		root, err := worktree.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := count(t.Context(), r, root, head, "")
		root.Close()
		if err != nil || got != want {
			t.Errorf("%s: %d, %v; git says %d: %q", step.name, got, err, want, fields)
		}
	}
	write("verdict.json", "{}")
	r, err := repo.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.Commit("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	root, err := worktree.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	with, err := count(t.Context(), r, root, head, "")
	if err != nil {
		t.Fatal(err)
	}
	without, err := count(t.Context(), r, root, head, "verdict.json")
	if err != nil || with != without+1 {
		t.Errorf("%d with our own output, %d without, %v", with, without, err)
	}
}
