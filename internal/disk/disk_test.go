package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestBehindLink: ".." behind a link is where the link leads, not where the path seems to come from.
func TestBehindLink(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(top, "far", "inner"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("far", "inner"), filepath.Join(top, "link")); err != nil {
		t.Skip(err)
	}
	t.Chdir(top)
	far := filepath.Join(top, "far")
	for path, want := range map[string]string{"": top, ".": top, "link/..": far, filepath.Join(top, "link") + "/..": far, "far/..": top} {
		if got, err := Real(path); got != want || err != nil {
			t.Errorf("Real(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"link": "link", "link/..": "far", "none/../far": "none/../far"} {
		if got := Physical(path); got != want {
			t.Errorf("Physical(%q) = %q; want %q", path, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "none"), filepath.Join(file, "beneath")} {
		if _, err := os.Stat(name); !Absent(err) || Cause(err).Error() == err.Error() {
			t.Errorf("%s: %v, absent: %v, cause: %v", name, err, Absent(err), Cause(err))
		}
	}
	if err := os.Rename(filepath.Join(dir, "none"), file); !errors.Is(err, fs.ErrNotExist) || Cause(err).Error() == err.Error() {
		t.Errorf("%v has the cause %v", err, Cause(err))
	}
	if err := errors.New("plain"); Cause(err) != err {
		t.Errorf("%v has another cause", err)
	}
	denied := &fs.PathError{Op: "open", Path: file, Err: syscall.EACCES}
	if Absent(denied) || !errors.Is(Cause(denied), syscall.EACCES) || Cause(denied).Error() != syscall.EACCES.Error() {
		t.Errorf("%v: absent: %v, cause: %v", denied, Absent(denied), Cause(denied))
	}
}
