package repo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What git takes is taken, and says the same.
func TestSettingsAgainstGit(t *testing.T) {
	g := newGit(t)
	for _, text := range []string{
		"[core]\n\tbare = false\n",
		"[core]bare=true\n",
		"[core] bare\n[core]\n\tworktree = /a b \n",
		"[Core]\r\n\tBare = YES\r\n\tWorkTree = \"/a # b\" ; why\r\n",
		"\ufeff[core]\nbare = off # no\n",
		"[branch.foo]\n\tremote = origin\n[core]\nworktree = a\\\\b\\t\\\"c\\\"\\n\n",
		"[x \"\"]\na=b\n[core]\nworktree = one \\\n  two\n",
		"[user]\nname = J\xfcrgen\n[core]\nworktree = \"  quoted  \" tail  \n",
		"[core]\nworktree = a\nworktree = b\n[x \"core]\"]\nworktree = c\n",
		"# only a comment",
		"[azAZ09-.]\n\tazAZ09- = x\n",
		"[core]\nworktree =\n",
		"[core]\n worktree = x;y\n",
		"[extensions]\nobjectFormat = sha1\nworktreeConfig = on\n",
		"[a \"q\\\"uo\\\\te\"]\nb = c\n[core]\nworktree = last",
		"[core", "[core]\n= x\n", "[core \"x\ny\"]\n", "key = x\n", "[core]\nworktree = \"open\n",
		"[core]\nworktree = \\q\n", "[core]\nbare false\n", "[co re]\nx=y\n",
	} {
		file := filepath.Join(t.TempDir(), "config")
		must(t, os.WriteFile(file, []byte(text), 0o666))
		got, err := readSettings(file)
		want, gitErr := g.try("config", "--file", file, "--null", "--list")
		if (err == nil) != (gitErr == nil) {
			t.Errorf("%q: %v; git says %v %q", text, err, gitErr, want)
			continue
		}
		if err != nil {
			continue
		}
		expected := settings{}
		for _, entry := range strings.Split(strings.TrimSuffix(want, "\x00"), "\x00") {
			if entry == "" {
				continue
			}
			name, value, given := strings.Cut(entry, "\n")
			if !given {
				value = "true"
			}
			expected[name] = append(expected[name], value)
		}
		if len(got) != len(expected) {
			t.Errorf("%q: %q, want %q", text, got, expected)
		}
		for name, values := range expected {
			if strings.Join(got[name], "|") != strings.Join(values, "|") {
				t.Errorf("%q: %s is %q, want %q", text, name, got[name], values)
			}
		}
	}
}

// TestSettingsLoop: settings that include themselves are read once. Git refuses to run with them.
func TestSettingsLoop(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	must(t, os.WriteFile(file, []byte("[core]\n\thooksPath = a\n[include]\n\tpath = config\n"), 0o666))
	if value, err := hooksPathIn([]string{file}, true); err != nil || *value != "a" {
		t.Errorf("%v, %v", value, err)
	}
}

// TestHooksAgainstGit: the directory of the hooks is git's, or it is an error: never another.
func TestHooksAgainstGit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	const own = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	for name, c := range map[string]struct {
		local    string // settings of the repository, after the required ones
		worktree string // settings in its config.worktree
		files    map[string]string
		refused  string // what the error says; "": the directory is git's
	}{
		"plain":           {},
		"relative":        {local: "[core]\n\thooksPath = .githooks\n"},
		"relative, deep":  {local: "[core]\nhookspath = \"a b/./c/../d\" ; why\n"},
		"absolute":        {local: "[core]\n\thooksPath = /srv/hooks\n"},
		"home":            {local: "[core]\n\thooksPath = ~/hooks of mine\n"},
		"the last counts": {local: "[core]\n\thooksPath = a\n[core]\n\thooksPath = b\n"},
		"nowhere":         {local: "[core]\n\thooksPath = /dev/null\n"},
		"a user's home": {local: "[core]\n\thooksPath = ~root/hooks\n",
			refused: `core.hooksPath is "~root/hooks"`},
		"git's own directory": {local: "[core]\n\thooksPath = %(prefix)/hooks\n",
			refused: `core.hooksPath is "%(prefix)/hooks"`},
		"empty": {local: "[core]\n\thooksPath =\n", refused: `core.hooksPath is ""`},
		"of the work tree": {local: "[core]\nhooksPath = a\n[extensions]\nworktreeConfig = true\n",
			worktree: "[core]\n\thooksPath = b\n"},
		"of no work tree": {local: "[core]\nhooksPath = a\n", worktree: "[core]\n\thooksPath = b\n"},
		"global": {files: map[string]string{"home/.gitconfig": "[core]\n\thooksPath = /srv/hooks\n"},
			refused: `home/.gitconfig sets core.hooksPath to "/srv/hooks"`},
		"global, overridden": {local: "[core]\n\thooksPath = .git/hooks\n",
			files: map[string]string{"home/.gitconfig": "[core]\n\thooksPath = /srv/hooks\n"}},
		"global, elsewhere": {files: map[string]string{"home/.config/git/config": "[core]\n\thooksPath = h\n"},
			refused: `home/.config/git/config sets core.hooksPath to "h"`},
		"included": {local: "[include]\n\tpath = more\n",
			files:   map[string]string{"repo/.git/more": "[core]\nhooksPath = x\n"},
			refused: `more sets core.hooksPath to "x"`},
		"included, harmless": {local: "[include]\n\tpath = more\n\tpath = missing\n",
			files: map[string]string{"repo/.git/more": "[core]\nbare = false\n"}},
		"included, global": {files: map[string]string{"home/.gitconfig": "[include]\npath = ~/more\n",
			"home/more": "[include]\npath = again\n", "home/again": "[core]\nhooksPath = x\n"},
			refused: `again sets core.hooksPath to "x"`},
		"on a condition": {files: map[string]string{
			"home/.gitconfig": "[includeIf \"gitdir:~/\"]\npath = more\n", "home/more": "[core]\nhooksPath = x\n",
		}, refused: `more sets core.hooksPath to "x"`},
		"malformed": {files: map[string]string{"home/.gitconfig": "[core\n"}, refused: ".gitconfig: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			g.dir = filepath.Join(g.dir, "repo")
			home := filepath.Join(filepath.Dir(g.dir), "home")
			t.Setenv("HOME", home)
			t.Setenv("XDG_CONFIG_HOME", "")
			t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			for _, dir := range []string{g.dir, home} {
				must(t, os.MkdirAll(dir, 0o777))
			}
			g.git("init", "-q")
			g.write(".git/config", own+c.local)
			g.write(".git/config.worktree", c.worktree)
			for file, text := range c.files {
				g.write("../"+file, text)
			}
			r, err := Find(g.dir)
			must(t, err)
			got, err := r.Hooks()
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%q, %v; want an error with %q", got, err, c.refused)
				}
				return
			}
			must(t, err)
			if want := gitHooks(t, g.dir); got != want {
				t.Errorf("the hooks are in %s; git says %s", got, want)
			}
		})
	}
}

// gitHooks is where git looks for hooks, with the settings of the user.
func gitHooks(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("git", "rev-parse", "--git-path", "hooks")
	cmd.Dir = dir
	out, err := cmd.Output()
	must(t, err)
	path := strings.TrimSpace(string(out))
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// TestHooksOfKinds: linked work trees share a directory, a submodule has its own, and a bare repository makes no
// commits.
func TestHooksOfKinds(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	g := newGit(t)
	g.write("a", "a")
	g.commit("a")
	outer := filepath.Join(t.TempDir(), "outer")
	g.git("worktree", "add", "-q", "linked")
	g.git("init", "-q", outer)
	g.git("-C", outer, "submodule", "--quiet", "add", "file://"+g.dir, "inner")
	for _, dir := range []string{g.dir, filepath.Join(g.dir, "linked"), outer, filepath.Join(outer, "inner")} {
		r, err := Find(dir)
		must(t, err)
		got, err := r.Hooks()
		if want := gitHooks(t, dir); err != nil || got != want {
			t.Errorf("%s: the hooks are in %s (%v); git says %s", dir, got, err, want)
		}
	}
	g.git("clone", "-q", "--bare", ".", "bare.git")
	r, err := openNamed(filepath.Join(g.dir, "bare.git"), "")
	must(t, err)
	if dir, err := r.Hooks(); !errors.Is(err, errHooks) {
		t.Errorf("a bare repository has hooks in %q: %v", dir, err)
	}
}
