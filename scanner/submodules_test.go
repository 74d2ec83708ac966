package scanner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A submodule that .gitmodules names and whose folder is empty is not checked out: what is in it is not known.
func TestSubmodules(t *testing.T) {
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
		if got := outcome(scanFolder(t, dir, testBundle("key"), Options{})); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}

	// What git takes no notice of there: nothing, a folder, a link.
	for name, make := range map[string]func(path string) error{
		"none":   func(string) error { return nil },
		"folder": func(path string) error { return os.Mkdir(path, 0o777) },
		"link":   func(path string) error { return os.Symlink("elsewhere", path) },
	} {
		dir := writeTree(t, map[string]string{"a.tf": "x", "elsewhere": module})
		must(t, os.Mkdir(filepath.Join(dir, "lib"), 0o777))
		if err := make(filepath.Join(dir, ".gitmodules")); err != nil {
			t.Logf("%s: %v", name, err) // Windows lets not everyone make a link
			continue
		}
		v := scanFolder(t, dir, testBundle("key"), Options{})
		if got := outcome(v); got != "P" {
			t.Errorf("%s: %s, want P: %+v", name, got, v.Errors)
		}
	}
}
