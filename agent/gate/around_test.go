package gate

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFault_151_Around: every place at which a program would be taken for this one is guarded, also where there is none; on
// Windows under each ending that it takes, and in the current folder before all others.
func TestFault_151_Around(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	env := map[string]string{"BASH_ENV": "b.sh", "ZDOTDIR": at("z")}
	a := Around{
		Program: at("cellar/policyscan-1.2"), Path: strings.Join([]string{at("bin"), "tools", ""}, string(filepath.ListSeparator)),
		Folders: []string{at("repo"), at("repo/sub")}, Home: at("home"), Getenv: func(name string) string { return env[name] },
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
	want("unix", all, true, "cellar/policyscan-1.2", "bin/policyscan", "bin/sh", "bin/bash", "repo/tools/policyscan", "repo/sub/tools/policyscan", "repo/policyscan", "repo/sub/sh",
		"repo/b.sh", "z/.zshenv", "home/.zshenv", "home/.profile", "home/.config/fish")
	want("unix", all, false, "bin/policyscan.exe", "bin", "home", "cellar/policyscan", "repo/.profile")
	a.Exts, a.Path = []string{".EXE", ".cmd"}, at("bin")
	all = a.Guarded()
	want("windows", all, true, "bin/policyscan", "bin/policyscan.exe", "bin/policyscan.cmd", "bin/findstr.exe", "bin/powershell.exe", "repo/policyscan.exe", "repo/sub/sh.exe")
	want("windows", all, false, "bin/findstr", "repo/tools/policyscan.exe")
	a = Around{Getenv: func(string) string { return "" }}
	if all := a.Guarded(); len(all) != 0 {
		t.Errorf("of nothing %q is guarded", all)
	}
}

// TestIsCI: where CI systems have their files, in any folder and case.
func TestIsCI(t *testing.T) {
	for _, name := range []string{
		".github/workflows/ci.yml", "sub/.GitHub/Workflows/x/CI.yaml", ".github/actions/a/run.sh", "action.yml", "tools/lint/action.yaml", ".gitlab-ci.yml", ".gitlab/ci/a.yml",
		"Jenkinsfile", "ci/jenkinsfile", "azure-pipelines.yaml", ".circleci/config.yml", ".travis.yml", "bitbucket-pipelines.yml", ".prow.yaml",
	} {
		if !isCI(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{"main.yml", "github/workflows/ci.yml", ".github/workflows", ".github/CODEOWNERS", "action.go", "my-action.yml", "docs/Jenkinsfile.md", "action"} {
		if isCI(name) {
			t.Errorf("%s is one", name)
		}
	}
}
