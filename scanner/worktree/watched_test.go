//go:build linux

package worktree

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that is not watched is what it was listed as, or an error says that it is not, as
// long as one read brings all of it.
func TestOpenUnwatched(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want error
	}{
		"a file":        {func(p string) error { return os.WriteFile(p, []byte("text"), 0o666) }, nil},
		"an empty file": {func(p string) error { return os.WriteFile(p, nil, 0o666) }, nil},
		"a large file":  {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("x", 5000)), 0o666) }, ErrSeveral},
		"a folder":      {func(p string) error { return os.Mkdir(p, 0o777) }, ErrChanged},
		"a FIFO":        {func(p string) error { return syscall.Mkfifo(p, 0o666) }, ErrChanged},
		"a link":        {func(p string) error { return os.Symlink("/etc/hostname", p) }, ErrChanged},
		"nothing":       {func(string) error { return nil }, ErrChanged},
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

// TestWalkCoarseTimes: a tmpfs has the same time for all that is done to a folder within some
// milliseconds, so that the folder's time does not tell that it was written to again.
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
	walkFolderGoes(t, dir)
}
