package disk

import (
	"errors"
	"io"
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
	for _, name := range []string{filepath.Join(dir, "none"), filepath.Join(file, "below")} {
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

// TestFault_064_LeftoverTemporaryFile: what a killed run left is in no one's way.
func TestFault_064_LeftoverTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.json")
	if err := Replace(name, []byte("old")); err != nil {
		t.Fatal(err)
	}
	for range 3 { // as if a run of the same process number had been killed
		tmp, err := createTemp(dir, "out.json", 0o666)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(tmp.Name())
		if !Temporary(name, "out.json") || !Temporary("a/"+name, "a/out.json") {
			t.Errorf("%s is not known as temporary", name)
		}
		for file, output := range map[string]string{
			name: "a/out.json", "a/" + name: "out.json", name + "x": "out.json", name[1:]: "out.json",
			"x" + name: "out.json", ".out.json.1.tmp": "out.json", ".a" + name: "out.json",
		} {
			if Temporary(file, output) {
				t.Errorf("%s is mistaken for that of %s", file, output)
			}
		}
		if err := tmp.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(name, []byte("new")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(name); string(text) != "new" {
		t.Errorf("it is %q: %v", text, err)
	}
}

// TestReplace: where a file cannot be put, nothing stays behind; a name without a directory is one in the current
// directory.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := Replace("report", []byte("text")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "report")); string(text) != "text" {
		t.Errorf("it is %q: %v", text, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "sub"), []byte("text")); err == nil {
		t.Errorf("a directory is replaced: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestUnder: a name counts from the directory unless it is absolute.
func TestUnder(t *testing.T) {
	dir := t.TempDir()
	abs := filepath.Join(dir, "abs")
	for _, c := range []struct{ dir, name, want string }{
		{"", "a", "a"}, {".", "a/../b", "b"}, {dir, "a", filepath.Join(dir, "a")}, {"other", abs, abs},
	} {
		if got := Under(c.dir, c.name); got != c.want {
			t.Errorf("Under(%q, %q) = %q; want %q", c.dir, c.name, got, c.want)
		}
	}
}

// TestReplaceIf: the file keeps its permissions, and one that changed just before the rename is left as it is.
func TestReplaceIf(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := errors.New("changed")
	for _, c := range []struct {
		unchanged error
		want      string
	}{{changed, "old"}, {nil, "new"}} {
		if err := ReplaceIf(name, []byte("new"), was, func() error { return c.unchanged }); !errors.Is(err, c.unchanged) {
			t.Errorf("the error is %v, not %v", err, c.unchanged)
		}
		text, err := os.ReadFile(name)
		if err != nil || string(text) != c.want {
			t.Errorf("it is %q, not %q: %v", text, c.want, err)
		}
		if st, err := os.Stat(name); err != nil || st.Mode() != was.Mode() {
			t.Errorf("the mode is %v, not %v: %v", st.Mode(), was.Mode(), err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
}

// TestReplaceBy: a writer that fails leaves the file as it was, and nothing next to it.
func TestReplaceBy(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report")
	if err := Replace(name, []byte("old")); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := ReplaceBy(name, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1<<20))
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	text, err := os.ReadFile(name)
	if entries, derr := os.ReadDir(dir); err != nil || derr != nil || string(text) != "old" || len(entries) != 1 {
		t.Errorf("the file is %q, %v; next to it: %v, %v", text, err, entries, derr)
	}
}
