//go:build linux || darwin

package disk

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReplaceWithoutRoom: a file that cannot be written completely replaces nothing.
func TestReplaceWithoutRoom(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	if err := Replace(name, []byte("old")); err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails
	few := was
	few.Cur = 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &few); err != nil {
		t.Fatal(err)
	}
	err := Replace(name, []byte("more than ten bytes"))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Reset(syscall.SIGXFSZ)
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("the error is %v", err)
	}
	if text, err := os.ReadFile(name); string(text) != "old" {
		t.Errorf("it is now %q: %v", text, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(name)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestSyncDir: a directory that cannot be synced is an error, except one without read permission and on a file system
// without sync.
func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := syncDir(dir); err != nil {
		t.Error(err)
	}
	if err := syncDir(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o300); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(closed, "report"), []byte("text")); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(closed, 0o700); err != nil { // so that it can be removed
		t.Fatal(err)
	}
	for err, passes := range map[error]bool{syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.EACCES: true, syscall.EIO: false} {
		if got := ignoreUnsyncable(&fs.PathError{Op: "sync", Path: dir, Err: err}); (got == nil) != passes {
			t.Errorf("%v: %v", err, got)
		}
	}
}
