package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/edit"
)

// TestFault_151_Around: every place at which a program would be taken for this one is guarded, also where there is
// none; on Windows under each ending that it takes, and in the current folder before all others.
func TestFault_151_Around(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	env := map[string]string{"BASH_ENV": "b.sh", "ZDOTDIR": at("z"), "SHELL": at("opt/fish"),
		"XDG_DATA_HOME": at("data"), "XDG_DATA_DIRS": "", "GIT_CONFIG_GLOBAL": at("git.conf")}
	a := Around{
		Program: at("cellar/policyscan-1.2"),
		Path:    strings.Join([]string{at("bin"), "tools", "", "~/own"}, string(filepath.ListSeparator)),
		Folders: []string{at("repo"), at("repo/sub")}, Home: at("home"),
		Getenv: func(name string) string { return env[name] },
	}
	want := func(what string, all []string, yes bool, names ...string) {
		t.Helper()
		for _, name := range names {
			if slices.Contains(all, at(name)) != yes {
				t.Errorf("%s: %s is guarded: %v", what, name, !yes)
			}
		}
	}
	all := a.Guarded()
	want("unix", all, true, "cellar/policyscan-1.2", "bin/policyscan", "bin/sh", "bin/bash", "repo/tools/policyscan",
		"repo/sub/tools/policyscan", "repo/policyscan", "repo/sub/sh",
		"repo/b.sh", "z/.zshenv", "home/.zshenv", "home/.profile", "home/.config/fish",
		"home/.zshenv.zwc", "z/.zshrc.zwc", "home/.config/environment.d", "opt/fish", "git.conf", "home/own/policyscan", "data/fish", "home/.local/share/fish", "home/.config/husky", "repo/~/own/sh")
	for _, name := range []string{"/etc/profile", "/etc/profile.d", "/etc/zsh", "/etc/claude-code"} {
		if !slices.Contains(all, filepath.FromSlash(name)) {
			t.Errorf("%s is not guarded", name)
		}
	}
	want("unix", all, false, "bin/policyscan.exe", "bin", "home", "cellar/policyscan", "repo/.profile")
	a.Exts, a.Path = []string{".EXE", ".cmd"}, at("bin")
	all = a.Guarded()
	want("windows", all, true, "bin/policyscan", "bin/policyscan.exe", "bin/policyscan.cmd", "bin/findstr.exe",
		"bin/powershell.exe", "repo/policyscan.exe", "repo/sub/sh.exe")
	want("windows", all, false, "bin/findstr", "repo/tools/policyscan.exe")
	a.Home = "home"
	want("a relative home", a.Guarded(), true, "repo/home/.profile", "repo/sub/home/.profile")
	a = Around{Exts: []string{".EXE"}, Getenv: func(string) string { return "" }}
	if all := a.Guarded(); len(all) != 0 {
		t.Errorf("of nothing %q is guarded", all)
	}
}

// TestFoldedWithLinks: a path is there as it is and as it is once its links are followed, for each path as if it were
// the only one.
func TestFoldedWithLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"Real/sub", "other"} {
		if err := os.MkdirAll(at(dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "Real", "chain": "link/sub", "Real/file": "../other/file",
		"dangling": "nowhere/x", "loop": "loop"} {
		if err := os.Symlink(filepath.FromSlash(target), at(link)); err != nil {
			t.Skip(err)
		}
	}
	var paths []string
	for _, name := range []string{"Real/a", "link/a", "link/file", "link/sub/x", "chain/x", "chain", "none/x/y",
		"dangling", "dangling/x", "loop", "loop/x", "other/../link/b", "Real/file/x"} {
		paths = append(paths, at(name))
	}
	for i := range paths {
		for _, some := range [][]string{paths, paths[i : i+1]} {
			all := foldedWithLinks(some)
			want := []string{folded(paths[i])}
			if real, err := follow(filepath.Clean(paths[i]), 40); err == nil {
				want = append(want, folded(real))
			}
			for _, p := range want {
				if !slices.Contains(all, p) {
					t.Errorf("of %q: %s is not in %q", paths[i], p, all)
				}
			}
		}
	}
}

// TestGuardsWhatIsRemoved: who removes a folder, or moves it, removes what is in it.
func TestGuardsWhatIsRemoved(t *testing.T) {
	root := t.TempDir()
	g := &Gate{Guarded: []string{filepath.Join(root, "Home", ".claude", "settings.json")}}
	for name, want := range map[string]bool{"home": true, "Home/.claude": true, "home/.claude/settings.json/x": true,
		"ho": false, "home/.clau": false, "home/other": false} {
		p := filepath.Join(root, filepath.FromSlash(name))
		for _, f := range []file{{Edit: edit.Edit{Path: p, Remove: true}, real: p, named: p},
			{Edit: edit.Edit{Path: "new", From: p}, real: filepath.Join(root, "new"), from: p, named: "new"}} {
			if got, err := g.guarded([]file{f}, root); err != nil || (got != "") != want {
				t.Errorf("%+v: %q, %v; want %v", f, got, err, want)
			}
		}
		got, err := g.guarded([]file{{Edit: edit.Edit{Path: p}, real: p, named: p}}, root)
		if err != nil || (got != "") != strings.HasSuffix(name, "/x") {
			t.Errorf("a write of %s: %q, %v", name, got, err)
		}
	}
}

// TestIsCI: where CI systems have their files, in any folder and case.
func TestIsCI(t *testing.T) {
	for _, name := range []string{
		".github/workflows/ci.yml", "sub/.GitHub/Workflows/x/CI.yaml", ".github/actions/a/run.sh", "action.yml",
		"tools/lint/action.yaml", ".gitlab-ci.yml", ".gitlab/ci/a.yml",
		"Jenkinsfile", "ci/jenkinsfile", "azure-pipelines.yaml", ".circleci/config.yml", ".travis.yml",
		"bitbucket-pipelines.yml", ".prow.yaml",
	} {
		if !isCI(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{"main.yml", "github/workflows/ci.yml", ".github/workflows", ".github/CODEOWNERS",
		"action.go", "my-action.yml", "docs/Jenkinsfile.md", "action"} {
		if isCI(name) {
			t.Errorf("%s is one", name)
		}
	}
}
