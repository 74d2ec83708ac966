package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/document"
)

// TestSpaceNotes: no note about a space if the rule shows that it is intended.
func TestSpaceNotes(t *testing.T) {
	for _, rule := range []*Rule{
		{Patterns: PlainItems("@main ", "@main\n")},
		{Patterns: PlainItems("curl -k "), Examples: []Example{{Content: "curl -keep"}}},
	} {
		if got := itemNotes(rule, Plain(rule.Patterns[0].Text)); len(got) != 0 {
			t.Errorf("%q: %q", Names(rule.Patterns), got)
		}
	}
	if got := itemNotes(&Rule{Patterns: PlainItems("a ", "a"), Examples: []Example{{Content: "a", Violates: true}}},
		Plain("a ")); len(got) != 1 {
		t.Errorf("a blank that no example explains: %q", got)
	}
}

// TestFault_146_UnreadFiles: any file in the rules directory that looks like a rule file is reported, at any depth.
func TestFault_146_UnreadFiles(t *testing.T) {
	good := func(more ...string) Files {
		f := Files{BoundariesFile: []byte(ruleWith(`["**"]`, `[x]`)), InvariantsFile: []byte(goodInvariants)}
		for _, name := range more {
			f[name] = nil
		}
		return f
	}
	dir := t.TempDir()
	onDisk := func(f Files) error {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for name, text := range f {
			full := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := LoadDir(dir)
		return err
	}
	for _, names := range [][]string{
		{"rules/terraform.yml"}, {"rules/team/boundaries.yml"}, {"rules/a/b/c/d.yaml"}, {"rules/X.YML"},
		{"rules/x.Yaml", "rules/y.yml"},
		{"rules/deprecated.yaml"}, {"rules/.yml"}, {"rules/deprecated.yml/x.yml"},
	} {
		_, inMemory := Load(good(names...))
		for where, err := range map[string]error{"in memory": inMemory, "on disk": onDisk(good(names...))} {
			var list document.Errors
			if !errors.As(err, &list) {
				t.Errorf("%q %s: %v", names, where, err)
				continue
			}
			for _, name := range names {
				if !slices.ContainsFunc(list,
					func(e *document.Error) bool { return e.Code == document.CodeUnread && e.File == name }) {
					t.Errorf("%q %s: no error for %s: %v", names, where, name, err)
				}
			}
		}
	}
	for _, names := range [][]string{{"rules/README.md"}, {"rules/notes/x.txt", "rules/yml"}, {"calls.yml"},
		{"other/rules/x.yml"}} {
		if _, err := Load(good(names...)); err != nil {
			t.Errorf("%q: %v", names, err)
		}
		if err := onDisk(good(names...)); err != nil {
			t.Errorf("%q on disk: %v", names, err)
		}
	}

	// A likely misspelt name of a missing file is reported once.
	f := good("rules/Invariants.yaml")
	delete(f, InvariantsFile)
	if _, err := Load(f); err == nil || strings.Count(err.Error(), "\n") != 0 ||
		!strings.Contains(err.Error(), `name it "invariants.yml"`) {
		t.Errorf("a misnamed file: %v", err)
	}

	// A symlink could point to more rules. It is not followed.
	if err := onDisk(good()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"team", "x.yml", "README.md"} {
		link := filepath.Join(dir, "rules", name)
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadDir(dir); err == nil || !strings.Contains(err.Error(), "rules/"+name+": is a symbolic link") {
			t.Errorf("a link %s: %v", name, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVanishing: a rule file that is listed and then removed before it is read is not treated as an optional missing
// file.
func TestVanishing(t *testing.T) {
	files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants),
		DeprecatedFile: []byte("rules: []\n")}
	if _, err := Load(files); err != nil {
		t.Fatal(err)
	}
	_, err := loadWithout(files, DeprecatedFile, fs.ErrNotExist)
	if err == nil || err.Error() != "rules/deprecated.yml: appeared after the bundle was read; run it again" {
		t.Error(err)
	}
}

// TestOtherFiles: in a 0.2 bundle the other *.yml files in the directory are read, and files that only look like rule
// files are errors.
func TestOtherFiles(t *testing.T) {
	const (
		boundaries = "bundle: \"0.2\"\nrules: []\n"
		rule       = "bundle: \"0.2\"\ntype: boundary\nrules:\n  - {id: X, title: t, enforcement: {mode: fail}, " +
			"match: {forbidden_files: [a/b]}}\n"
	)
	files := Files{BoundariesFile: []byte(boundaries), "rules/x.yml": []byte(rule)}
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), string(text))
	}
	b, err := LoadDir(dir)
	if err != nil || len(b.Rules) != 1 || b.Rules[0].File != "rules/x.yml" || len(b.Files) != 2 || !b.Is02 {
		t.Fatalf("%+v, %v", b, err)
	}
	inMemory, err := Load(files)
	if err != nil || inMemory.SHA256 != b.SHA256 {
		t.Errorf("%v: other on disk", err)
	}
	// A file that is listed and then removed before it is read is not optional.
	for _, gone := range []string{"rules/x.yml", BoundariesFile} {
		if _, err := loadWithout(files, gone, fs.ErrNotExist); err == nil || !strings.Contains(err.Error(), gone+": ") {
			t.Errorf("%s is gone: %v", gone, err)
		}
	}
	files[InvariantsFile] = []byte("rules: []\n")
	if _, err := loadWithout(files, InvariantsFile, fs.ErrNotExist); err == nil ||
		err.Error() != "rules/invariants.yml: appeared after the bundle was read; run it again" {
		t.Error(err)
	}
	// A symlink is neither followed nor read, wherever it points.
	for _, name := range []string{"y.yml", "team", "invariants.yml", "deprecated.yml"} {
		link := filepath.Join(dir, "rules", name)
		if err := os.Symlink("x.yml", link); err != nil {
			t.Skip(err)
		}
		if _, err := LoadDir(dir); err == nil || !strings.Contains(err.Error(), "rules/"+name+": is a symbolic link") {
			t.Errorf("a link %s: %v", name, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	// A directory of that name is searched.
	write(t, filepath.Join(dir, "rules", "y.yml", "z.yml"), rule)
	if _, err := LoadDir(dir); err == nil || !strings.HasPrefix(err.Error(), "rules/y.yml/z.yml: this file is not read") {
		t.Error(err)
	}
}

// TestIdentity02 computes the hash of a bundle with other files by hand, in byte order of the paths.
func TestIdentity02(t *testing.T) {
	b, files := load02(t)
	h := sha256.New()
	for _, name := range []string{"A", "a", "b", "boundaries", "c", "deprecated", "invariants"} {
		path := "rules/" + name + ".yml"
		fmt.Fprintf(h, "%s\n%s\n", path, files[path])
		if b.Files[path] != sha256.Sum256(files[path]) {
			t.Errorf("%s: another sum", path)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != b.SHA256 || len(b.Files) != 7 {
		t.Errorf("%s, want %s", b.SHA256, got)
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
