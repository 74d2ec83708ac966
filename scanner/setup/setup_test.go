package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
)

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWriteBundle: the bundle has the rules for what is there, it loads, and a second one is not written over it.
func TestWriteBundle(t *testing.T) {
	for _, c := range []struct {
		files   map[string]string
		topics  []string
		covered bool
	}{
		{nil, nil, false},
		{map[string]string{"notes.txt": ""}, nil, false},
		{map[string]string{"a/main.tf": "", ".git/x.dockerfile": ""}, []string{"Terraform"}, true},
		{map[string]string{"k.yaml": "apiVersion: v1\nkind: Pod\n"}, []string{"Kubernetes"}, true},
		{map[string]string{"k.yaml": "a: b\n"}, nil, true}, // by the rules for all topics
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			write(t, dir, name, text)
		}
		b, err := WriteBundle(dir)
		if err != nil || !slices.Equal(b.Topics, c.topics) || b.Covered != c.covered || len(b.Files) != 2 ||
			b.KeptSchema {
			t.Errorf("%v: %v, %+v", c.files, err, b)
			continue
		}
		if text := read(t, b.Files[0]); !strings.HasPrefix(text, schemaComment) {
			t.Errorf("%s begins with %.80q", b.Files[0], text)
		}
		if read(t, b.Schema) != string(rules.Schema()) {
			t.Errorf("%s is not the schema", b.Schema)
		}
		if _, err := rules.LoadDir(filepath.Join(dir, rules.HiddenBundle)); err != nil {
			t.Error(err)
		}
		again, err := WriteBundle(dir)
		if err == nil || !strings.Contains(err.Error(), "already has the rules") ||
			len(again.Files) != 0 || again.Schema != "" {
			t.Errorf("the second time: %v, %+v", err, again)
		}
	}
}

// TestWriteBundleOverwritesNothing: what looks like a part of a bundle stays, and so does a schema that is there.
func TestWriteBundleOverwritesNothing(t *testing.T) {
	for _, name := range []string{".policyscan/Boundaries.YAML", "rules/invariants.yaml"} {
		dir := t.TempDir()
		write(t, dir, name, "mine")
		b, err := WriteBundle(dir)
		if err == nil || !strings.Contains(err.Error(), "looks like a part of a bundle") || b.Files != nil {
			t.Errorf("%s: %v, %+v", name, err, b)
		}
	}
	dir := t.TempDir()
	schema := write(t, dir, ".policyscan/"+rules.SchemaFile, "mine")
	if b, err := WriteBundle(dir); err != nil || !b.KeptSchema || b.Schema != schema || read(t, schema) != "mine" {
		t.Errorf("%v, %+v", err, b)
	}
}

// TestWriteNew: a file that is there stays, and one that cannot be written leaves none.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "there", "mine")
	if err := writeNew(file, []byte("other"), 0o666); !os.IsExist(err) || read(t, file) != "mine" {
		t.Errorf("%v: %s", err, read(t, file))
	}
	file = filepath.Join(dir, "new")
	if err := writeNew(file, []byte("text"), 0o666); err != nil || read(t, file) != "text" {
		t.Error(err)
	}
}

// TestIgnoreVerdict: the line is added once, with the line ends of the file, and never through a link.
func TestIgnoreVerdict(t *testing.T) {
	for _, c := range []struct{ before, after, did string }{
		{"", "/verdict.json\n", "wrote "},
		{"a\n", "a\n/verdict.json\n", "added "},
		{"a", "a\n/verdict.json\n", "added "},
		{"a\r\nb", "a\r\nb\r\n/verdict.json\r\n", "added "},
		{"*.json\nverdict.json\r\n*.log\n", "*.json\nverdict.json\r\n*.log\n", ""},
		{"*.json\n", "*.json\n", ""},
		{"*.json\n!verdict.json\n", "*.json\n!verdict.json\n/verdict.json\n", "added "},
	} {
		dir := t.TempDir()
		if did, err := IgnoreVerdict(dir); err != nil || !strings.Contains(did, "there is no git repository here") {
			t.Errorf("without a repository: %q, %v", did, err)
		}
		write(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
		if c.before != "" {
			write(t, dir, ".gitignore", c.before)
		}
		did, err := IgnoreVerdict(dir)
		if err != nil || !strings.HasPrefix(did, c.did) || c.did == "" && did != "" {
			t.Errorf("%q: %q, %v", c.before, did, err)
		}
		if got := read(t, filepath.Join(dir, ".gitignore")); got != c.after {
			t.Errorf("%q becomes %q, not %q", c.before, got, c.after)
		}
		if did, err := IgnoreVerdict(dir); did != "" || err != nil {
			t.Errorf("the second time: %q, %v", did, err)
		}
	}
	dir := t.TempDir()
	write(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	target := write(t, t.TempDir(), "target", "mine\n")
	if err := os.Symlink(target, filepath.Join(dir, ".gitignore")); err != nil {
		t.Skipf("SKIPPED: no links here: %v", err)
	}
	did, err := IgnoreVerdict(dir)
	if err != nil || !strings.Contains(did, "is not a regular file") || read(t, target) != "mine\n" {
		t.Errorf("%q, %v: %s", did, err, read(t, target))
	}
}

// TestIgnoreHint: whether git ignores a file by the lines of an ignore file. git check-ignore gives the same answers.
func TestIgnoreHint(t *testing.T) {
	dir := t.TempDir()
	if err := exec.Command("git", "init", "-q", dir).Run(); err != nil {
		t.Skipf("SKIPPED: git: %v", err)
	}
	write(t, dir, ".git/info/exclude", "")
	var input, want strings.Builder
	for i, c := range []struct {
		lines string
		is    bool
	}{
		{"verdict.json", true}, {"/verdict.json", false}, {"sub/verdict.json", true}, {"/sub/verdict.json  ", true},
		{"verdict.json/", false}, {"sub/", true}, {"/sub", true}, {"b/", false}, {"*.json", true}, {"*.js", false},
		{"**/verdict.json", true}, {"a/**/verdict.json", false}, {"sub/**", true}, {"sub/**/verdict.json", true},
		{"*\n!*.json", true},
		{"/sub/*\n!*.json", false}, {"!verdict.json\n*.json", true}, {"# verdict.json\n", false}, {"[!a]erdict.json", true},
		{"verdict.jso?\r\n", true}, {"*/*.json", true}, {"/*.json", false}, {"verdict.json x", false}, {"", false},
	} {
		name := strings.Repeat("r", i+1)
		write(t, dir, name+"/.gitignore", c.lines)
		fmt.Fprintf(&input, "%s/sub/verdict.json\n", name)
		if c.is {
			fmt.Fprintf(&want, "%s/sub/verdict.json\n", name)
		}
		hint := map[bool]string{false: "/" + name + "/sub/verdict.json"}[c.is]
		if got := IgnoreHint(write(t, dir, name+"/sub/verdict.json", "")); got != hint {
			t.Errorf("%q: %q", c.lines, got)
		}
	}
	check := exec.Command("git", "-C", dir, "check-ignore", "--stdin")
	check.Stdin = strings.NewReader(input.String())
	if out, _ := check.Output(); string(out) != want.String() {
		t.Errorf("git says\n%s\nwant\n%s", out, want.String())
	}
}

// TestHook: the hook is written once and removed only as it was written. Others' hooks stay.
func TestHook(t *testing.T) {
	h := Hook{File: filepath.Join(t.TempDir(), "hooks", "pre-commit")}
	if was, err := h.Remove(); was || err != nil {
		t.Errorf("nothing to remove: %t, %v", was, err)
	}
	for _, want := range []bool{false, true} {
		if already, err := h.Install(); already != want || err != nil || read(t, h.File) != HookText {
			t.Errorf("%t, %v", already, err)
		}
		if st, err := os.Stat(h.File); err != nil || runtime.GOOS != "windows" && st.Mode()&0o100 == 0 {
			t.Errorf("%v: git skips the hook", err)
		}
		if err := os.Chmod(h.File, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := h.Remove(); !was || err != nil {
		t.Errorf("%t, %v", was, err)
	}
	for _, text := range []string{"#!/bin/sh\n", strings.Replace(HookText, "exec", "ex", 1)} {
		write(t, filepath.Dir(h.File), "pre-commit", text)
		if _, err := h.Install(); err == nil || !strings.Contains(err.Error(), "|| exit $?") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := h.Remove(); err == nil || !strings.Contains(err.Error(), "is not as policyscan wrote it") {
			t.Errorf("%q: %v", text, err)
		}
		if read(t, h.File) != text {
			t.Errorf("%q is now %q", text, read(t, h.File))
		}
	}
}
