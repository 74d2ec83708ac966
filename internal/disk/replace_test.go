package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFault_064_LeftoverTemporaryFile: what a killed run left is in no one's way.
func TestFault_064_LeftoverTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.json")
	if err := Replace(name, []byte("old")); err != nil {
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
	if err := Replace(name, []byte("new")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(name); string(text) != "new" {
		t.Errorf("it is %q: %v", text, err)
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
	if err := Replace(filepath.Join(dir, "folder"), []byte("text")); err == nil {
		t.Errorf("a folder is replaced: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
