package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
)

const oneRule = `rules:
  - id: ID
    title: No word
    enforcement: {mode: fail}
    match: {files: ["*.txt"], forbidden_patterns: [word]}
`

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// bundle writes a bundle of one rule.
func bundle(t testing.TB, dir, id string) {
	t.Helper()
	write(t, filepath.Join(dir, "rules/boundaries.yml"), strings.Replace(oneRule, "ID", id, 1))
	write(t, filepath.Join(dir, "rules/invariants.yml"), "rules: []\n")
}

// TestPlace: the displayed directory, and the prefix of its files.
func TestPlace(t *testing.T) {
	for root, want := range map[string]Place{
		".":    {Root: ".", Shown: ".", Prefix: ""},
		"a":    {Root: "a", Shown: "a", Prefix: "a/"},
		"a/":   {Root: "a/", Shown: "a", Prefix: "a/"},
		"./a":  {Root: "./a", Shown: "a", Prefix: "a/"},
		"../a": {Root: "../a", Shown: "../a", Prefix: "../a/"},
		"/":    {Root: "/", Shown: "/", Prefix: "/"},
	} {
		if got := At(root); got.Shown != want.Shown || got.Prefix != want.Prefix || got.Root != root {
			t.Errorf("%s: %+v, want %+v", root, got, want)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for name, wrong := range map[string]string{"file": "is not a directory", "nothing": "does not exist"} {
		if _, err := Find(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVerdictFile: a verdict goes into the root of the repository, or with a path into the current directory. It is
// always one of the files that are invalidated for unknown options.
func TestVerdictFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/main\n")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "sub"))
	if got := VerdictFiles(repo.Environment{}, "", "a", "b"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("of the files that are named, %q", got)
	}
	above := filepath.Join("..", VerdictName)
	for _, c := range []struct {
		request Options
		want    string
	}{{Options{}, above}, {Options{Path: "."}, VerdictName}, {Options{Tracked: true}, above}} {
		file, err := c.request.VerdictFile()
		if err != nil || file != c.want || !slices.Contains(VerdictFiles(c.request.Git), file) {
			t.Errorf("%+v: %s, %v; of %q", c.request, file, err, VerdictFiles(c.request.Git))
		}
	}
}

// TestLoadRules: bundles are found by name, none is dropped, and ids must be unique.
func TestLoadRules(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"A-1", "B-1"} {
		bundle(t, filepath.Join(dir, id), id)
	}
	a, b := filepath.Join(dir, "A-1"), filepath.Join(dir, "B-1")
	all, err := LoadRules([]string{b, Builtin, a}, dir)
	if err != nil || len(all) != 3 || all[1].Dir != "" || all[1].From != "builtin" || all[2].From != "disk" {
		t.Fatalf("%v: %+v", err, all)
	}
	var mistakes document.Errors
	if _, err := LoadRules([]string{a, a}, dir); !errors.As(err, &mistakes) || mistakes[0].Rule != "A-1" {
		t.Errorf("an id twice: %v", err)
	}
	if all, err := LoadRules([]string{a, "builtin:nonsense", b}, dir); err == nil || len(all) != 2 ||
		!strings.Contains(err.Error(), "choose one of "+Builtin) {
		t.Errorf("%v: %+v", err, all)
	}
	if _, err := LoadRules([]string{""}, dir); !errors.As(err, new(*document.Error)) {
		t.Errorf("no bundle: %v", err)
	}
}

// TestOpen: the enforced rule files and the file of the verdict are not scanned. A given content is skipped only if it
// is the rule file itself.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	bundle(t, dir, "A-1")
	q := Options{Path: dir, Policies: []string{""}, Output: filepath.Join(dir, "v.json")}
	s, err := Open(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for path, why := range map[string]string{
		"rules/boundaries.yml": "rules", "rules/invariants.yml": "rules", "v.json": "output",
	} {
		if s.Skip[path] != why {
			t.Errorf("%s is not excluded: %v", path, s.Skip)
		}
	}
	if len(s.Skip) != 3 || len(s.Sources) != 1 {
		t.Errorf("%d judges, excluded %v", len(s.Sources), s.Skip)
	}
	for text, excluded := range map[string]bool{"rules: []\n": true, "rules: [] # new\n": false} {
		q.ContentPath = "rules/invariants.yml"
		q.Content = func(context.Context) ([]byte, error) { return []byte(text), nil }
		s, err := Open(t.Context(), q)
		if _, is := s.Skip[q.ContentPath]; err != nil || is != excluded || q.Scope().Mode != "stdin" {
			t.Errorf("%q: %v, excluded %v", text, err, s.Skip)
		}
	}
	broken := errors.New("broken")
	q.Content = func(context.Context) ([]byte, error) { return nil, broken }
	if _, err := Open(t.Context(), q); !errors.Is(err, broken) {
		t.Error(err)
	}
	q.Content, q.Tracked, q.Git = nil, true, repo.Environment{}
	if s, err := Open(t.Context(), q); err == nil || s.Tree != nil {
		t.Errorf("no repository: %v", err)
	}
}
