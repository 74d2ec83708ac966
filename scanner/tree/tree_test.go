package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// shown are the entries of all sequences in order, each as a word: its state and kind, its path and, of a regular
// file, its content; or the code of an error.
func shown(t *testing.T, all []iter.Seq2[File, error]) []string {
	t.Helper()
	var mu sync.Mutex
	var got []string
	var ranging sync.WaitGroup
	for _, files := range all {
		ranging.Go(func() {
			for f, err := range files {
				text := word(&f, err)
				mu.Lock()
				got = append(got, text)
				mu.Unlock()
			}
		})
	}
	ranging.Wait()
	slices.Sort(got)
	return got
}

func word(f *File, err error) string {
	var e *verdict.Error
	switch {
	case errors.As(err, &e):
		return e.Code + " " + e.File
	case err != nil:
		return err.Error()
	case f.State == LeftOut:
		return "out " + f.Path + " " + f.Reason
	case f.State == Elsewhere:
		return "elsewhere " + f.Path
	case f.State == Deleted:
		return "deleted " + f.Path
	case f.State == CheckedOut:
		return "checked out " + f.Path
	case f.Kind == worktree.Submodule:
		return "submodule " + f.Path
	}
	c, err := f.Open(true)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	text, err := io.ReadAll(c)
	if err != nil {
		return err.Error()
	}
	if f.Kind == worktree.Symlink {
		return fmt.Sprintf("link %s -> %s", f.Path, text)
	}
	return fmt.Sprintf("file %s %s", f.Path, text)
}

// git runs git in a repository that it makes first.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"},
		args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// repository returns a repository of two commits whose index and work tree differ from both.
func repository(t *testing.T) (string, *repo.Repository) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	for name, text := range map[string]string{"a": "1", "dir/b": "2", "dir/c": "3", "old": "4", "verdict.json": "{}"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	must(t, os.Symlink("dir/b", filepath.Join(dir, "link")))
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	writeFile(t, filepath.Join(dir, "dir/b"), "two")
	git(t, dir, "rm", "-q", "old")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "two")
	writeFile(t, filepath.Join(dir, "a"), "staged")
	git(t, dir, "add", "a")
	writeFile(t, filepath.Join(dir, "a"), "on disk")
	writeFile(t, filepath.Join(dir, "new"), "untracked")
	r, err := repo.Find(dir)
	must(t, err)
	return dir, r
}

// TestFiles: each tree has the files of its kind, once, however many sequences there are.
func TestFiles(t *testing.T) {
	dir, r := repository(t)
	head, err := r.Commit("HEAD")
	must(t, err)
	base, err := r.Commit("HEAD~1")
	must(t, err)
	idx, err := r.Index()
	must(t, err)
	staged, err := idx.Committed()
	must(t, err)
	full, closeFull, err := OpenDir(dir, nil)
	must(t, err)
	defer closeFull()
	tracked, closeTracked, err := OpenTracked(dir, idx)
	must(t, err)
	defer closeTracked()
	list, closeList, err := OpenListed(dir, []string{"a", "./dir/../a", "dir", "dir/b", "nothing", "verdict.json",
		"/x"})
	must(t, err)
	defer closeList()
	part, closePart, err := OpenDir(dir, []string{"dir", "a", "link", "nothing", "dir/b", "./new", "link/b",
		"verdict.json", ".git/config"})
	must(t, err)
	defer closePart()
	none, closeNone, err := OpenDir(dir, []string{"nothing"})
	must(t, err)
	defer closeNone()
	whole, closeWhole, err := OpenDir(dir, []string{".", "a"})
	must(t, err)
	defer closeWhole()
	single, err := Single("x/y", []byte("text"))
	must(t, err)
	leaveOut := map[string]string{"verdict.json": Output, "dir/c": "rules"}
	for _, c := range []struct {
		name string
		tree Tree
		q    Query
		want []string
	}{
		{"directory", full, Query{LeaveOut: leaveOut}, []string{
			"file a on disk", "file dir/b two", "file new untracked", "link link -> dir/b", "out .git git",
			"out dir/c rules", "out verdict.json output"}},
		{"one file of a directory", full, Query{Only: "dir/b"}, []string{"file dir/b two"}},
		{"a shard of a directory", full, Query{InShard: func(p string) bool { return p == "a" }}, []string{
			"elsewhere dir/b", "elsewhere dir/c", "elsewhere link", "elsewhere new", "elsewhere verdict.json",
			"file a on disk", "out .git git"}},
		{"tracked", tracked, Query{LeaveOut: leaveOut}, []string{
			"file a on disk", "file dir/b two", "link link -> dir/b", "out dir/c rules", "out verdict.json output"}},
		{"a shard of the tracked files", tracked, Query{InShard: func(p string) bool { return p == "dir/b" }},
			[]string{
				"elsewhere a", "elsewhere dir/c", "elsewhere link", "elsewhere verdict.json", "file dir/b two"}},
		{"list", list, Query{LeaveOut: leaveOut}, []string{
			"E_FILES_FROM ", "E_FILES_FROM dir", "E_FILES_FROM nothing", "file a on disk", "file dir/b two",
			"out verdict.json output"}},
		{"part", part, Query{LeaveOut: leaveOut}, []string{
			"E_FILES_FROM ./new", "E_FILES_FROM link/b", "E_FILES_FROM nothing", "file a on disk", "file dir/b two",
			"link link -> dir/b", "out .git git", "out dir/c rules", "out verdict.json output"}},
		{"nothing of a directory", none, Query{}, []string{"E_FILES_FROM nothing"}},
		{"all of a directory, named", whole, Query{LeaveOut: leaveOut}, []string{
			"file a on disk", "file dir/b two", "file new untracked", "link link -> dir/b", "out .git git",
			"out dir/c rules", "out verdict.json output"}},
		{"single", single, Query{}, []string{"file x/y text"}},
		{"commit", Whole(r, head, "rev"), Query{}, []string{
			"file a 1", "file dir/b two", "file dir/c 3", "file verdict.json {}", "link link -> dir/b"}},
		{"change", Changes(r, repo.Comparison{Base: base, Head: head, MergeBases: []repo.Hash{base}}, "b", "s"),
			Query{},
			[]string{"deleted old", "file dir/b two"}},
		{"what a change touches", Changes(r, repo.Comparison{Base: base, Head: head, MergeBases: []repo.Hash{base}},
			"b", "s"),
			Query{Touched: []string{"a", "dir", "nothing"}}, []string{"deleted old", "file a 1", "file dir/b two"}},
		{"staged", Staged(r, staged, head, nil), Query{}, []string{"file a staged"}},
		{"a change of nothing", Changes(r, repo.Comparison{Base: head, Head: head, MergeBases: []repo.Hash{head}},
			"b", "s"),
			Query{}, []string{"E_EMPTY "}},
	} {
		for n := 1; n <= 3; n++ {
			if got := shown(t, c.tree.Files(t.Context(), n, c.q)); !slices.Equal(got, c.want) {
				t.Errorf("%s, %d sequences:\n got %q\nwant %q", c.name, n, got, c.want)
			}
		}
	}
}

// TestHistory: a change names the states that it is compared with, each once, and what each has.
func TestHistory(t *testing.T) {
	_, r := repository(t)
	head, err := r.Commit("HEAD")
	must(t, err)
	base, err := r.Commit("HEAD~1")
	must(t, err)
	h, err := Changes(r, repo.Comparison{Base: base, Head: head, MergeBases: []repo.Hash{base}}, "b", "s").History()
	must(t, err)
	before, err := h.Before()
	must(t, err)
	if len(before) != 1 || !before[0].IsBase || !before[0].IsMergeBase || !before[0].Differs ||
		before[0].Name != "commit "+base.String()[:7] {
		t.Errorf("%+v", before)
	}
	if got := shown(t, []iter.Seq2[File, error]{before[0].Files(t.Context())}); !slices.Contains(got, "file old 4") {
		t.Errorf("before: %q", got)
	}
	if got := shown(t, []iter.Seq2[File, error]{h.Now.Files(t.Context())}); slices.Contains(got, "file old 4") ||
		len(got) != 5 {
		t.Errorf("now: %q", got)
	}
	for f := range h.Now.Files(t.Context()) { // may end at any time
		t.Log(f.Path)
		break
	}
	if h, err := Whole(r, head, "rev").History(); err != nil || h.Now == nil {
		t.Error(err)
	} else if before, err := h.Before(); err != nil || before != nil {
		t.Errorf("a commit is compared with %v, %v", before, err)
	}
	if h, err := Whole(r, repo.Hash{1}, "rev").History(); err == nil {
		t.Errorf("a commit that is missing has %+v", h)
	}
}

// TestBatches: what panics while it lists is an error among the files, and a goroutine that stops early leaves none
// waiting.
func TestBatches(t *testing.T) {
	got := shown(t, Batches(t.Context(), 2, nil, func(found func(File, error)) {
		found(File{Path: "a", State: Deleted}, nil)
		panic("oh")
	}))
	if !slices.Equal(got, []string{code.Internal + " ", "deleted a"}) {
		t.Errorf("%q", got)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		all := Batches(t.Context(), 2, nil, func(found func(File, error)) {
			for i := range 10_000 {
				found(File{Path: fmt.Sprint(i)}, nil)
			}
		})
		for _, files := range all {
			for range files {
				break
			}
		}
	}
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// TestInterrupted: sequences end when the context does, and say nothing of it.
func TestInterrupted(t *testing.T) {
	dir, r := repository(t)
	head, err := r.Commit("HEAD")
	must(t, err)
	full, done, err := OpenDir(dir, nil)
	must(t, err)
	defer done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, of := range []Tree{full, List(openRoot(t, dir), []string{"a"}), Whole(r, head, "rev")} {
		if got := shown(t, of.Files(ctx, 2, Query{})); len(got) != 0 {
			t.Errorf("%s: %q", of.Scope().Mode, got)
		}
	}
}

// TestTarget: the target of a link is read once; what it is said to be is what is matched.
func TestTarget(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	must(t, os.Symlink("one", link))
	var targets []string
	for f, err := range Dir(openRoot(t, dir)).Files(t.Context(), 1, Query{})[0] {
		must(t, err)
		target, err := f.Target()
		must(t, err)
		must(t, os.Remove(link))
		must(t, os.Symlink("two", link))
		again := word(&f, nil)
		f.Fail(os.ErrPermission)
		targets = append(targets, target, again, word(&f, nil))
	}
	// Its directory changed, which is another error.
	if want := []string{"one", "link link -> one", os.ErrPermission.Error()}; !slices.Equal(targets[:3], want) {
		t.Errorf("%q", targets)
	}
}

// TestFollow: where links lead.
func TestFollow(t *testing.T) {
	links := map[string]string{"a": "b", "b": "dir/c", "dir/up": "../../x", "loop": "loop", "abs": "/etc",
		"dir/d": "."}
	lookup := func(path string) (PathInfo, error) {
		target, isLink := links[path]
		return PathInfo{IsLink: isLink, Target: target, IsFile: path == "dir/c"}, nil
	}
	for link, want := range map[string]SymlinkTarget{
		"a":      {Path: "dir/c", IsFile: true},
		"dir/up": {Outside: "../x"},
		"abs":    {Outside: "/etc"},
		"dir/d":  {Path: "dir"},
		"loop":   {Broken: "leads in a circle, or through more than 40 links"},
	} {
		if got, err := Follow(link, links[link], lookup); err != nil || got != want {
			t.Errorf("%s: %+v, %v", link, got, err)
		}
	}
	if got, err := Follow("x", strings.Repeat("a", MaxTarget+1), lookup); err != nil || got.Broken == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.WriteFile(path, []byte(text), 0o666))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openRoot(t testing.TB, dir string) *worktree.Root {
	t.Helper()
	root, err := worktree.Open(dir)
	must(t, err)
	t.Cleanup(root.Close)
	return root
}
