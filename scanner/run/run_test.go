package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
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

// TestCache: the same sources share compiled bundles, others get their own, and a full cache is cleared.
func TestCache(t *testing.T) {
	var list []rules.Rule
	for i := range 8 {
		id := fmt.Sprint("R-", i)
		list = append(list, rules.Rule{ID: id, Type: rules.Boundary, Files: []string{id},
			Patterns: rules.PlainItems(id)})
	}
	a, b := rules.New(list, nil), rules.New(nil, nil)
	of := func(bundle *rules.Bundle) []RuleSource { return []RuleSource{{From: "disk", Bundle: bundle}} }
	p := &Cache{}
	set, plans, limiter := p.of(of(a))
	if s, e, l := p.of(of(a)); s != set || e != plans || l != limiter {
		t.Error("the same sources are compiled again")
	}
	if s, e, l := p.of(of(b)); s == set || e == plans || l != limiter {
		t.Error("other sources get what is not of their bundle")
	}
	if s, e, l := p.of([]RuleSource{{From: "commit", Bundle: a}}); s == set || e == plans || l != limiter {
		t.Error("sources from elsewhere get what says where others are from")
	}
	for i := range 1 << len(a.Rules) {
		var selected []int
		for k := range a.Rules {
			if i>>k&1 == 1 {
				selected = append(selected, k)
			}
		}
		plans.Plan(selected)
	}
	if s, e, l := p.of(of(a)); s != set || e == plans || l != limiter {
		t.Error("what is full is not made again, or more than that")
	}
	if s, e, l := (*Cache)(nil).of(of(a)); s == set || e == nil || l == limiter {
		t.Error("without it nothing is compiled, or what others compiled is used")
	}
}
