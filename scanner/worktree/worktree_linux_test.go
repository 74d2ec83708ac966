//go:build linux

package worktree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAccessTime: reading a file leaves the time at which it was last read, where the file is our own. One of another
// user is read, too.
func TestAccessTime(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/file", []byte("text"), 0o644))
	before := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(dir+"/file", before, before)) // a mount with relatime sets it at the next read
	r, err := Open(dir)
	must(t, err)
	defer r.Close()
	rd := r.Reader()
	defer rd.Close()
	read := func(rd *Reader, name string) {
		f, err := rd.Open(name, false)
		must(t, err)
		defer f.Close()
		if n, err := f.Read(make([]byte, 64)); n == 0 || err != nil {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
	read(rd, "file")
	var st unix.Stat_t
	must(t, unix.Stat(dir+"/file", &st))
	if got := time.Unix(st.Atim.Unix()); got.Unix() != before.Unix() {
		t.Errorf("it was read at %v, want %v", got, before)
	}

	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		must(t, unix.Setfsuid(65534)) // of this thread, whose files they are not then
		defer func() { must(t, unix.Setfsuid(0)) }()
		read(rd, "file")
	} else {
		etc, err := Open("/etc")
		must(t, err)
		defer etc.Close()
		rd = etc.Reader()
		defer rd.Close()
		read(rd, "passwd")
	}
	if !rd.accessTimes {
		t.Error("a file of another user was opened as one of our own")
	}
}

// A file that is not watched is what it was listed as, or an error says that it is not, as long as one read brings all
// of it.
func TestOpenUnwatched(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want error
	}{
		"a file":        {func(p string) error { return os.WriteFile(p, []byte("text"), 0o666) }, nil},
		"an empty file": {func(p string) error { return os.WriteFile(p, nil, 0o666) }, nil},
		"a large file": {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("x", 5000)), 0o666) },
			ErrSeveral},
		"a directory": {func(p string) error { return os.Mkdir(p, 0o777) }, ErrChanged},
		"a FIFO":      {func(p string) error { return syscall.Mkfifo(p, 0o666) }, ErrChanged},
		"a link":      {func(p string) error { return os.Symlink("/etc/hostname", p) }, ErrChanged},
		"nothing":     {func(string) error { return nil }, ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, c.make(dir+"/file"))
			r, err := Open(dir)
			must(t, err)
			defer r.Close()
			rd := r.Reader()
			defer rd.Close()
			var size int
			f, err := rd.Open("file", false)
			if err == nil {
				defer f.Close()
				buf := make([]byte, 4096)
				var n int
				for err == nil {
					n, err = f.Read(buf)
					size += n
				}
				if errors.Is(err, io.EOF) {
					err = nil
				}
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v after %d bytes, want %v", err, size, c.want)
			}
		})
	}
}

// TestWalkCoarseTimes: a tmpfs has the same time for all that is done to a directory within some milliseconds, so that
// the directory's time does not tell that it was written to again.
func TestWalkCoarseTimes(t *testing.T) {
	const shared = "/dev/shm"
	var st unix.Statfs_t
	if err := unix.Statfs(shared, &st); err != nil || st.Type != unix.TMPFS_MAGIC {
		t.Skipf("SKIPPED: no tmpfs in %s: %v", shared, err)
	}
	dir, err := os.MkdirTemp(shared, "policyscan")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	defer os.RemoveAll(dir)
	walkDirGoes(t, dir)
}

func TestOutside(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{"repo/sub/deep", "repo/.git", "other", "repository"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o777))
	}
	for _, file := range []string{"repo/payload", "repo/sub/x", "other/file"} {
		must(t, os.WriteFile(filepath.Join(top, file), nil, 0o666))
	}
	for link, target := range map[string]string{
		"alias": "repo", "other/back": "../repo/sub", "other/on": "/usr", "other/loop": "loop", "other/a": "b",
		"other/b": top + "/alias", "repo/out": "../other",
		"other/here": ".", "other/empty-way": "nothing/../../repo/payload",
	} {
		must(t, os.Symlink(target, filepath.Join(top, link)))
	}
	t.Chdir(filepath.Join(top, "repo", "sub"))
	repository, err := Open(filepath.Join(top, "repo"))
	must(t, err)
	defer repository.Close()
	sub, err := Open(filepath.Join(top, "repo/sub"))
	must(t, err)
	defer sub.Close()
	for _, c := range []struct {
		root *Root
		name string
		want bool
	}{
		{repository, "../other/file", true},
		{repository, "../other", true},
		{repository, "../repository", true},
		{repository, "../nothing/at/all", true},
		{repository, "../repo-that-will-be", true},
		{repository, "../other/file/x", true},
		{repository, "/usr/bin/python3", true},
		{repository, "/proc/self/environ", true},
		{repository, "/dev/zero", true},
		{repository, "../other/on/share", true},
		{repository, "../other/here/here/file", true},
		{repository, "//usr//bin/", true},
		{repository, top + "/repo/../other/file", true},
		{repository, "../repo/out/file", true},
		{repository, "../other/back/../../other/file", true}, // through the repository
		{repository, "../other/nothing/../file", true},

		{repository, "..", false}, // it holds the repository
		{repository, "../..", false},
		{repository, "/", false},
		{repository, "../repo/payload", false},
		{repository, "../repo/nothing", false},
		{repository, "../repo", false},
		{repository, "../repo/.git/config", false},
		{repository, "../alias/payload", false},
		{repository, "../other/back/x", false},
		{repository, "../other/a/payload", false},
		{repository, "../other/empty-way", false},
		{repository, "../other/loop", false},
		{repository, "../other/nothing/../../repo/payload", false},
		{repository, top + "/repo/payload", false},
		{repository, top + "//repo/./sub/../payload", false},
		{repository, "../" + strings.Repeat("x/", 4000), true},
		{repository, "../" + strings.Repeat("n", 5000), false}, // who can say

		{sub, "../payload", false},
		{sub, "..", false},
		{sub, "../../other", true},
		{sub, "../out/file", true}, // through the repository
		{sub, "../../..", false},
	} {
		if got := c.root.Outside(repository, c.name); got != c.want {
			t.Errorf("%.100s leads out of the repository: %v", c.name, got)
		}
	}
	if _, err := os.Lstat("/proc/self/cwd"); err == nil {
		for _, name := range []string{"/proc/self/cwd/x", "/proc/thread-self/cwd",
			"/proc/self/root" + top + "/repo/payload"} {
			if repository.Outside(repository, name) {
				t.Errorf("%s leads out of the repository", name)
			}
		}
	}
}

// BenchmarkWalk lists, opens, reads and closes 2,000 files of 8 KB in 40 directories. What a second visitor brings is
// why a walk has several.
func BenchmarkWalk(b *testing.B) {
	dir, text := b.TempDir(), strings.Repeat("resource \"a\" \"b\" {}\n", 400)
	for i := range 2000 {
		write(b, filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d.tf", i%4, i%40, i)), text)
	}
	root, err := Open(dir)
	must(b, err)
	defer root.Close()
	var count atomic.Int64
	visitor := func() Visitor {
		buf := make([]byte, 256<<10)
		return Visitor{
			Skip: func(string) bool { return false }, Passing: nothing,
			Failed: func(dir string, err error) { b.Error(dir, err) },
			File: func(e Entry, rd *Reader) {
				f, err := rd.Open(e.Path, false)
				if err != nil {
					b.Error(err)
					return
				}
				defer f.Close()
				for err == nil {
					_, err = f.Read(buf)
				}
				if !errors.Is(err, io.EOF) {
					b.Error(err)
				}
				count.Add(1)
			},
		}
	}
	for visitors := 1; visitors <= 2; visitors++ {
		b.Run(fmt.Sprint("visitors=", visitors), func(b *testing.B) {
			b.SetBytes(int64(2000 * len(text)))
			for b.Loop() {
				count.Store(0)
				must(b, walkAll(b.Context(), root, []Visitor{visitor(), visitor()}[:visitors]...))
				if n := count.Load(); n != 2000 {
					b.Fatal(n, "files")
				}
			}
		})
	}
}
