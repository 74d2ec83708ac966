package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/policyscan/policyscan/verdict"
)

// passing returns a verdict that says PASS.
func passing(t testing.TB) *verdict.Verdict {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("..", "report", "testdata", "pass.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdict.Decode(archive.Files[0].Data)
	if err != nil || v.Verdict != verdict.Pass {
		t.Fatalf("%v: %+v", err, v)
	}
	return v
}

// TestFault_058_059_OutputIsALink: refused, and kept.
func TestFault_058_059_OutputIsALink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target.json")
	if err := os.WriteFile(target, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("SKIPPED: no links here: %v", err)
	}
	dangling := filepath.Join(dir, "dangling.json")
	if err := os.Symlink(filepath.Join(dir, "nothing"), dangling); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{link: "symbolic link", dangling: "symbolic link",
		dir: "not a regular file"} {
		if err := create(name, "1.0", verdict.Scope{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "mine" {
		t.Errorf("the target is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link's target was made: %v", err)
	}
}

// TestFault_061_MarkerCannotBeWritten: the old verdict is removed.
func TestFault_061_MarkerCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, strings.Repeat("x", 250)) // no room for a temporary file's name
	if err := os.WriteFile(long, []byte(verdict.DocumentHead+"1\", an old PASS"), 0o666); err != nil {
		t.Skipf("SKIPPED: no such names here: %v", err)
	}
	err := create(long, "1.0", verdict.Scope{})
	if err == nil || strings.Contains(err.Error(), "STALE") || !strings.HasPrefix(err.Error(), long+": ") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(long); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old verdict is still there: %v", err)
	}
	if err := create(filepath.Join(dir, "no", "dir.json"), "1.0", verdict.Scope{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := create(filepath.Join(dir, "new\n\x1b.json", "x"), "1.0", verdict.Scope{}); err == nil ||
		verdict.Visible(err.Error()) != err.Error() {
		t.Errorf("%q", err)
	}
}

// TestWriteReplaces: the file is another one afterwards, so a reader of the old one does not see it change.
func TestWriteReplaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: an open file cannot be replaced here")
	}
	name := filepath.Join(t.TempDir(), "out.json")
	err := create(name, "1.0", verdict.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(name, passing(t)); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(name)
	if err != nil || os.SameFile(before, after) {
		t.Errorf("the file was written in place: %v", err)
	}
}

// unreadable is a file that no user can read.
func unreadable(t *testing.T) string {
	t.Helper()
	if os.Geteuid() > 0 {
		name := filepath.Join(t.TempDir(), "out.json")
		if err := os.WriteFile(name, []byte(verdict.DocumentHead), 0); err != nil {
			t.Fatal(err)
		}
		return name
	}
	names, err := filepath.Glob("/sys/bus/*/drivers_probe") // only for writing, for every user
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if f, err := os.Open(name); err == nil {
			f.Close()
		} else if st, err := os.Lstat(name); err == nil && st.Mode().IsRegular() {
			return name
		}
	}
	t.Skip("SKIPPED: every file can be read here")
	return ""
}

// TestOutputsThatCannotBeDetermined: a file that cannot be examined, read or removed is reported.
func TestOutputsThatCannotBeDetermined(t *testing.T) {
	wants := func(what string, err error, words ...string) {
		t.Helper()
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q", what, err, w)
			}
		}
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 5000))
	err := create(long, "1.0", verdict.Scope{})
	wants("a long name", err, "cannot be inspected", "STALE")
	wants("a report's long name", replaceable(long), "cannot be inspected")

	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	wants("a directory with a file in it", (&Report{file: full}).clear(), "cannot be removed")
	if err := (&Report{file: filepath.Join(full, "nothing")}).clear(); err != nil {
		t.Error(err)
	}

	if IsVerdict(unreadable(t)) {
		t.Error("what cannot be read is said to be a verdict")
	}
}

// TestStale: an old verdict that can be neither replaced nor removed is reported as stale.
func TestStale(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("SKIPPED: every file can be removed here")
	}
	name := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(name, []byte(verdict.DocumentHead+"1\", an old PASS"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(name), 0o500); err != nil {
		t.Fatal(err)
	}
	err := create(name, "1.0", verdict.Scope{})
	if err == nil || !strings.Contains(err.Error(), "cannot be written") ||
		!strings.Contains(err.Error(), name+" is STALE") {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(filepath.Dir(name), 0o700); err != nil { // so that it can be removed
		t.Fatal(err)
	}
}
