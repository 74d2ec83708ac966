package scanner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/tree"
)

// A submodule in .gitmodules with an empty directory is not checked out: its content is unknown.
func TestSubmodules(t *testing.T) {
	const maxModules = 8 << 20 // limit of .gitmodules in bytes
	const module = "[submodule \"lib\"]\n\tpath = lib\n"
	for _, c := range []struct{ name, modules, file, want string }{
		{"named", module, "a.tf", "I(E_UNAVAILABLE)"},
		{"checked out", module, "lib/.git", "P"},
		{"its neighbour is there", module, "lib.git", "I(E_UNAVAILABLE)"},
		{"its neighbour has files", module, "lib2/.git", "I(E_UNAVAILABLE)"},
		{"not named", "", "a.tf", "P"},
		{"named twice", module + module, "a.tf", "I(E_UNAVAILABLE)"},
		{"another is named", strings.ReplaceAll(module, "lib", "other"), "a.tf", "P"},
		{"a file is named", strings.ReplaceAll(module, "lib", "a.tf"), "a.tf", "P"},
		{"without a path", "[submodule \"lib\"]\n\tpath = \n", "a.tf", "P"},
		{"no file of git's", "[submodule", "a.tf", "I(E_READ)"},
		{"as long as is read", module + strings.Repeat("#", maxModules-len(module)), "a.tf", "I(E_UNAVAILABLE)"},
		{"longer", module + strings.Repeat("#", maxModules-len(module)+1), "a.tf", "I(E_READ)"},
	} {
		dir := writeTree(t, map[string]string{"a.tf": "x", c.file: "x", ".gitmodules": c.modules})
		must(t, os.MkdirAll(filepath.Join(dir, "lib"), 0o777))
		if got := outcome(scanDir(t, dir, testBundle("key"), testOptions{})); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}

	// Those of submodules, those around the scanned directory, and those only in such a place.
	of := func(name string) string { return "[submodule \"x\"]\n\tpath = " + name + "\n" }
	for name, c := range map[string]struct {
		files map[string]string
		scan  string
		want  string
		at    []string
	}{
		"of a submodule": {map[string]string{".gitmodules": of("mid"), "mid/.git": "x",
			"mid/.gitmodules": of("deep/in"), "mid/deep/in/": ""}, "", "I(E_UNAVAILABLE)", []string{"mid/deep/in"}},
		"of a submodule's": {map[string]string{".gitmodules": of("a"), "a/.git": "x",
			"a/.gitmodules": of("b"), "a/b/.git": "x", "a/b/.gitmodules": of("c"), "a/b/c/": ""}, "",
			"I(E_UNAVAILABLE)", []string{"a/b/c"}},
		"all are there": {map[string]string{".git/HEAD": "x", ".gitmodules": of("mid"), "mid/.git": "x",
			"mid/.gitmodules": of("in"), "mid/in/.git/HEAD": "x"}, "", "P", nil},
		"a file alone": {map[string]string{".git/HEAD": "x", ".gitmodules": of("mid"), "mid/cache": "x"},
			"", "I(E_UNAVAILABLE)", []string{"mid"}},
		"a copy without .git": {map[string]string{".gitmodules": of("mid"), "mid/a.tf": "x"}, "", "P", nil},
		"a file alone, of another's": {map[string]string{".git": "x", ".gitmodules": of("mid"), "mid/.git": "x",
			"mid/.gitmodules": of("in"), "mid/in/cache": "x"}, "", "I(E_UNAVAILABLE)", []string{"mid/in"}},
		"not one of a dir": {map[string]string{"mid/.gitmodules": of("in"), "mid/in/": ""}, "", "P", nil},
		"around": {map[string]string{".git": "x", ".gitmodules": of("infra/lib") + of("other") +
			of("infra2/lib"), "infra/a": "x", "infra/lib/": "", "other/": "", "infra2/lib/": ""}, "infra",
			"I(E_UNAVAILABLE)", []string{"lib"}},
		"around, and of one": {map[string]string{".git": "x", ".gitmodules": of("infra/lib"), "infra/a": "x",
			"infra/lib/.git": "x", "infra/lib/.gitmodules": of("in"), "infra/lib/in/": ""}, "infra", "I(E_UNAVAILABLE)",
			[]string{"lib/in"}},
		"around, none of it": {map[string]string{".git": "x", ".gitmodules": of("other"), "infra/a": "x",
			"other/": ""}, "infra", "P", nil},
		"around, no file of git's": {map[string]string{".git": "x", ".gitmodules": "[submodule", "infra/a": "x"},
			"infra", "I(E_READ)", nil},
		"within one": {map[string]string{".git": "x", ".gitmodules": of("lib"), "lib/a/stray": "x"},
			"lib/a", "I(E_UNAVAILABLE)", []string{"."}},
		"one itself": {map[string]string{".git": "x", ".gitmodules": of("lib"), "lib/stray": "x"},
			"lib", "I(E_UNAVAILABLE)", []string{"."}},
		"one itself, empty": {map[string]string{".git": "x", ".gitmodules": of("lib"), "lib/": ""}, "lib",
			"I(E_UNAVAILABLE)", []string{"."}},
		"one itself, checked out": {map[string]string{".git": "x", ".gitmodules": of("lib"), "lib/.git": "x",
			"lib/a": "x"}, "lib", "P", nil},
		"beside one": {map[string]string{".git": "x", ".gitmodules": of("lib"), "lib2/a": "x"}, "lib2",
			"P", nil},
		"itself": {map[string]string{".git": "x", ".gitmodules": of("."), "a": "x"}, "", "P", nil},
	} {
		dirs := []string{}
		for file := range c.files {
			if strings.HasSuffix(file, "/") {
				delete(c.files, file)
				dirs = append(dirs, file)
			}
		}
		dir := writeTree(t, c.files)
		for _, sub := range dirs {
			must(t, os.MkdirAll(filepath.Join(dir, sub), 0o777))
		}
		input, done, err := tree.OpenDir(filepath.Join(dir, c.scan), nil)
		must(t, err)
		v := scanTree(t, testBundle("key"), input, testOptions{})
		done()
		var at []string
		for _, o := range v.Coverage.NotScanned {
			at = append(at, o.File)
		}
		if got := outcome(v); got != c.want || !slices.Equal(at, c.at) {
			t.Errorf("%s: %s, want %s: %q, %+v", name, got, c.want, at, v.Errors)
		}
	}

	// Git ignores these: nothing, a directory, a link.
	for name, make := range map[string]func(path string) error{
		"none": func(string) error { return nil },
		"dir":  func(path string) error { return os.Mkdir(path, 0o777) },
		"link": func(path string) error { return os.Symlink("elsewhere", path) },
	} {
		dir := writeTree(t, map[string]string{"a.tf": "x", "elsewhere": module})
		must(t, os.Mkdir(filepath.Join(dir, "lib"), 0o777))
		if err := make(filepath.Join(dir, ".gitmodules")); err != nil {
			t.Logf("%s: %v", name, err) // on Windows not every user can make a link
			continue
		}
		v := scanDir(t, dir, testBundle("key"), testOptions{})
		if got := outcome(v); got != "P" {
			t.Errorf("%s: %s, want P: %+v", name, got, v.Errors)
		}
	}
}

// TestSubmoduleForbidden: forbidden_files forbids submodules, too, checked out or not.
func TestSubmoduleForbidden(t *testing.T) {
	for _, c := range []struct {
		glob, exclude, file, want string
		listed                    int
	}{
		{"lib", "", "lib/.git", "F", 4},
		{"lib", "", "a.tf", "F", 3},
		{"LIB", "", "lib/.git", "P", 3},
		{"lib", "lib", "lib/.git", "P", 3},
		{"lib", "", "lib2/.git", "F", 4},
	} {
		dir := writeTree(t, map[string]string{
			"a.tf": "x", ".git": "x", c.file: "x", ".gitmodules": "[submodule \"lib\"]\n\tpath = lib\n",
		})
		must(t, os.MkdirAll(filepath.Join(dir, "lib"), 0o777))
		r := testBundle("key").Rules[0]
		r.Files, r.Patterns, r.ForbiddenFiles = nil, nil, []string{c.glob}
		if c.exclude != "" {
			r.Exclude = []string{c.exclude}
		}
		v := scanDir(t, dir, rules.New([]rules.Rule{r}, nil), testOptions{})
		if got := outcome(v); got != c.want || v.Coverage.Files != c.listed {
			t.Errorf("%+v: %s, %d files, %+v", c, got, v.Coverage.Files, v.Errors)
		}
	}
}
