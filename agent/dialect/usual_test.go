package dialect

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestAuto: the usual places that have something are read, each as its own dialect, the project's before the user's.
func TestAuto(t *testing.T) {
	project := map[string]string{
		".policyscan/calls.yml":     texts()["native"],
		".sigmashake/rules/a.rules": texts()["sigmashake"],
		"config/rules.yaml":         texts()["claudecube"],
		".clash/policy.sexpr":       texts()["clash"],
	}
	user := map[string]string{
		".config/rubric/policies.json": texts()["evaluator"],
		".clash/policy.sexpr":          texts()["clash"],
	}
	for _, c := range []struct {
		name          string
		project, user []string
		want          string // dialects, or a part of the error
	}{
		{"nothing", nil, nil, "--calls auto finds no call rules; it looks for .policyscan/calls.yml, .sigmashake/rules, " +
			"config/rules.yaml, .clash/policy.sexpr, "},
		{"all", []string{".policyscan/calls.yml", ".sigmashake/rules/a.rules", "config/rules.yaml",
			".clash/policy.sexpr"}, []string{".config/rubric/policies.json", ".clash/policy.sexpr"},
			"native sigmashake claudecube clash evaluator clash"},
		{"the project's", []string{"config/rules.yaml"}, nil, "claudecube"},
		{"the user's", nil, []string{".clash/policy.sexpr"}, "clash"},
	} {
		root, home := t.TempDir(), t.TempDir()
		for _, name := range c.project {
			writeIn(t, root, name, project[name])
		}
		for _, name := range c.user {
			writeIn(t, home, name, user[name])
		}
		f := Files{Names: []string{Auto}, Home: home}
		sets, err := f.Load(root)
		var got []string
		for _, s := range sets {
			got = append(got, s.Dialect)
		}
		if said := strings.Join(got, " "); said != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v", c.name, said, err)
		}
		places, err := f.Places(root)
		if err != nil || len(places) != 6 || places[2] != filepath.Join(root, "config", "rules.yaml") ||
			places[5] != filepath.Join(home, ".clash", "policy.sexpr") {
			t.Errorf("%s: %v in %q", c.name, err, places)
		}
	}
}

// TestAutoReads: what is in a usual place and cannot be read is never passed over.
func TestAutoReads(t *testing.T) {
	root, config := t.TempDir(), t.TempDir()
	f := Files{Names: []string{Auto}, Config: config}
	for name, text := range map[string]string{"config/rules.yaml": texts()["native"], ".sigmashake/rules/x": "",
		".policyscan/calls.yml": "rules:", ".clash/policy.sexpr/x": ""} {
		writeIn(t, root, name, text)
		if _, err := f.Load(root); err == nil {
			t.Errorf("%s is passed over", name)
		}
		first, _, _ := strings.Cut(name, "/")
		if err := os.RemoveAll(filepath.Join(root, first)); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink("nowhere", filepath.Join(config, "rubric")); err != nil {
			t.Fatal(err)
		}
		writeIn(t, root, ".clash/x", "")
		if err := os.Symlink("nowhere", filepath.Join(root, ".clash/policy.sexpr")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Load(root); err == nil || !strings.Contains(err.Error(), "is a symbolic link") {
			t.Errorf("a link to nowhere: %v", err)
		}
		if err := os.Remove(filepath.Join(root, ".clash/policy.sexpr")); err != nil {
			t.Fatal(err)
		}
		writeIn(t, root, ".policyscan/calls.yml", texts()["native"])
		if sets, err := f.Load(root); err != nil || len(sets) != 1 {
			t.Errorf("a directory that is a link to nowhere: %v, %v", sets, err)
		}
		if err := os.Symlink(".sigmashake", filepath.Join(root, ".sigmashake")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Load(root); err == nil {
			t.Error("a place that cannot be looked at is passed over")
		}
		if err := errors.Join(os.Remove(filepath.Join(config, "rubric")),
			os.Remove(filepath.Join(root, ".sigmashake")), os.RemoveAll(filepath.Join(root, ".policyscan"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(root, ".clash")); err != nil {
		t.Fatal(err)
	}
	// A file in the way of a place has no rules.
	writeIn(t, root, "config", "")
	writeIn(t, config, "rubric/policies.json", texts()["evaluator"])
	if sets, err := f.Load(root); err != nil || len(sets) != 1 || sets[0].Dialect != "evaluator" {
		t.Errorf("%v, %v", sets, err)
	}
	// Named files go with it, and keep their order.
	writeIn(t, root, "a.rules", texts()["sigmashake"])
	f.Names = []string{"a.rules", Auto}
	if sets, err := f.Load(root); err != nil || len(sets) != 2 || sets[0].Dialect != "sigmashake" {
		t.Errorf("%v, %v", sets, err)
	}
	f.Dialect = "sigmashake"
	if _, err := f.Load(root); err == nil || !strings.Contains(err.Error(), "--dialect is given with --calls auto") {
		t.Error(err)
	}
	f.Levels = true
	if _, err := f.Load(root); err == nil || !strings.Contains(err.Error(), "--levels is given with --calls auto") {
		t.Error(err)
	}
	if names := f.UsualNames(); !slices.Contains(names, ".sigmashake/rules") {
		t.Errorf("%q", names)
	}
	if names := (Files{Names: []string{"a.rules"}}).UsualNames(); names != nil {
		t.Errorf("%q", names)
	}
}

func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
