package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func readBack(t *testing.T, name string) *Verdict {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v Verdict
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return &v
}

// TestFile: what stands at the output at each moment of a run.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.json")
	for range 2 { // the second time over the first one's PASS
		f, err := Create(name, "1.0", Scope{Mode: "full"})
		if err != nil {
			t.Fatal(err)
		}
		marker := readBack(t, name)
		if marker.Verdict != Fail || marker.Complete || len(marker.Errors) != 1 || marker.Errors[0].Code != InProgress || marker.Scope.Mode != "full" || marker.Tool.Version != "1.0" {
			t.Errorf("the marker is %+v", marker)
		}
		if err := f.Write(passing(t)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := passing(t).Encode()
		if err != nil || !bytes.Equal(text, want) {
			t.Errorf("%v: wrote %s", err, text)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestFault_058_059_OutputIsALink: refused, and left as it is.
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
	for name, want := range map[string]string{link: "symbolic link", dangling: "symbolic link", dir: "not a regular file"} {
		if f, err := Create(name, "1.0", Scope{}); f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "mine" {
		t.Errorf("the target is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link's target was made: %v", err)
	}
}

// TestFault_061_MarkerCannotBeWritten: the old verdict goes with it.
func TestFault_061_MarkerCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, strings.Repeat("x", 250)) // there is no room for a temporary file's name
	if err := os.WriteFile(long, []byte(DocumentHead+"1\", an old PASS"), 0o666); err != nil {
		t.Skipf("SKIPPED: no such names here: %v", err)
	}
	f, err := Create(long, "1.0", Scope{})
	if f != nil || err == nil || strings.Contains(err.Error(), "STALE") || !strings.HasPrefix(err.Error(), long+": ") {
		t.Errorf("%v, %v", f, err)
	}
	if _, err := os.Lstat(long); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old verdict is still there: %v", err)
	}
	if f, err := Create(filepath.Join(dir, "no", "folder.json"), "1.0", Scope{}); f != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", f, err)
	}
	if f, err := Create(filepath.Join(dir, "new\n\x1b.json", "x"), "1.0", Scope{}); f != nil || err == nil || Visible(err.Error()) != err.Error() {
		t.Errorf("%v, %q", f, err)
	}
}

// TestFault_064_LeftoverTemporaryFile: what a killed run left is in no one's way.
func TestFault_064_LeftoverTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "out.json"), "1.0", Scope{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // as if a run of the same process number had been killed
		tmp, err := createTemp(dir, "out.json")
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(tmp.Name())
		if !Temporary(name, "out.json") || !Temporary("a/"+name, "a/out.json") {
			t.Errorf("%s is not known as temporary", name)
		}
		for file, output := range map[string]string{name: "a/out.json", "a/" + name: "out.json", name + "x": "out.json", name[1:]: "out.json", "x" + name: "out.json", ".out.json.1.tmp": "out.json", ".a" + name: "out.json"} {
			if Temporary(file, output) {
				t.Errorf("%s is taken for that of %s", file, output)
			}
		}
		if err := tmp.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Write(passing(t)); err != nil {
		t.Error(err)
	}
	if v := readBack(t, filepath.Join(dir, "out.json")); v.Verdict != Pass {
		t.Errorf("%+v", v)
	}
}

// TestWriteReplaces: the file is another one afterwards, so who has the old one open
// does not see it change.
func TestWriteReplaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: an open file cannot be replaced here")
	}
	name := filepath.Join(t.TempDir(), "out.json")
	f, err := Create(name, "1.0", Scope{})
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(passing(t)); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(name)
	if err != nil || os.SameFile(before, after) {
		t.Errorf("the file was written in place: %v", err)
	}
}

// TestReplace: where a file cannot be put, nothing stays behind; a name without a folder is
// one in the current folder.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := Replace("report", []byte("text")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "report")); string(text) != "text" {
		t.Errorf("it is %q: %v", text, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "folder", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "folder"), []byte("text")); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("a folder is replaced: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// unreadable is a file that may not be read, by nobody.
func unreadable(t *testing.T) string {
	t.Helper()
	if os.Geteuid() > 0 {
		name := filepath.Join(t.TempDir(), "out.json")
		if err := os.WriteFile(name, []byte(DocumentHead), 0); err != nil {
			t.Fatal(err)
		}
		return name
	}
	names, err := filepath.Glob("/sys/bus/*/drivers_probe") // files to write to, whoever asks
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

// TestOutputsThatCannotBeTold: of what cannot be looked at, read or removed it is said so.
func TestOutputsThatCannotBeTold(t *testing.T) {
	wants := func(what string, err error, words ...string) {
		t.Helper()
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q", what, err, w)
			}
		}
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 5000))
	_, err := Create(long, "1.0", Scope{})
	wants("a long name", err, "cannot be looked at", "STALE")
	wants("a report's long name", Replaceable(long), "cannot be looked at")

	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	wants("a folder with a file in it", Clear(full), "cannot be removed")
	if err := Clear(filepath.Join(full, "nothing")); err != nil {
		t.Error(err)
	}

	if IsVerdict(unreadable(t)) {
		t.Error("what cannot be read is said to be a verdict")
	}
}

func TestErrorText(t *testing.T) {
	for e, want := range map[Error]string{{Message: "no rules"}: "no rules", {Message: "it cannot be read", File: "a.tf"}: "a.tf: it cannot be read"} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := errors.New("plain"); Cause(err) != err {
		t.Errorf("%v has another cause", err)
	}
}
