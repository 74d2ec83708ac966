package gate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/edit"
)

// TestFault_153_Project: which other repositories a call is judged by, and which not.
func TestFault_153_Project(t *testing.T) {
	root, beside, other := workTrees(t)
	write(t, filepath.Join(root, "sub", "inner", ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(other, "deep", ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(other, "old"), "a\n")
	patch := func(files ...string) *call.Call {
		text := "*** Begin Patch\n"
		for _, name := range files {
			text += "*** Add File: " + name + "\n+x\n"
		}
		return asked(t, root, "apply_patch", "command", text+"*** End Patch")
	}
	for _, c := range []struct {
		name string
		root string
		call *call.Call
		want string
	}{
		{"the project's own", root, patch("a.tf", "sub/a.tf"), ""},
		{"another work tree of it", root, patch(beside+"/a.tf", beside+"/new/a.tf"), ""},
		{"in no repository", root, patch(filepath.Dir(root) + "/a.tf"), ""},
		{"another", root, patch(other + "/new/a.tf"), other + " false"},
		{"another within it", root, patch(other + "/deep/a.tf"), other + "/deep false, " + other + " false"},
		{"one within the project", root, patch("sub/inner/x/a.tf"), root + "/sub/inner true"},
		{"several files", root, patch("a.tf", other+"/a.tf", other+"/b.tf", "sub/inner/a.tf"), other + " false, " +
			root + "/sub/inner true"},
		{"what is moved away", root, asked(t, root, "apply_patch", "command",
			"*** Begin Patch\n*** Update File: "+other+"/old\n*** Move to: b\n@@\n-a\n+b\n*** End Patch"), other +
			" false"},
		{"what is removed", root, asked(t, root, "Delete", "path", other+"/old"), other + " false"},
		{"a directory of the repository", filepath.Join(root, "sub"), patch("a.tf", "sub/a.tf"), ""},
		{"a directory within one of the repository", filepath.Join(root, "sub"), patch("sub/inner/a.tf", "z/a.tf"),
			root + "/sub/inner true"},
		{"no edit", root, asked(t, root, "Bash", "command", "ls"), ""},
	} {
		var got []string
		p := Project{Gates: []*Gate{{Bundle: bundle(t), Root: c.root}},
			Other: func(root string, within bool) (*Gate, error) {
				got = append(got, fmt.Sprint(root, " ", within))
				return nil, nil
			}}
		if _, err := p.Judge(t.Context(), c.call, callrules.Options{}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s: %q, want %q", c.name, all, c.want)
		}
	}

	// The target of a symlink is in a repository without a bundle, and the symlink in one that has a bundle.
	if err := os.Symlink(filepath.Join(other, "old"), filepath.Join(root, "sub", "inner", "link")); err != nil {
		t.Skip(err)
	}
	linked := Project{Gates: []*Gate{{Bundle: bundle(t), Root: root}},
		Other: func(root string, within bool) (*Gate, error) {
			if within {
				return &Gate{Bundle: bundle(t), Root: root}, nil
			}
			return &Gate{Root: root}, nil
		}}
	r, err := linked.Judge(t.Context(), asked(t, root, "Write", "file_path", "sub/inner/link", "content", "x"),
		callrules.Options{})
	note := "sub/inner/link is in the repository " + other + ", which has no bundle, so no bundle checked it"
	if err != nil || r.Note() != note {
		t.Errorf("%+v, %v", r, err)
	}

	// What goes wrong there denies the call, and a rule that denies it anyway is heard.
	never := &callrules.Set{Name: "f", Dialect: "native", Strategy: callrules.AllViolations, Default: callrules.Deny}
	p := Project{Gates: []*Gate{{Bundle: bundle(t), Root: root}},
		Other: func(string, bool) (*Gate, error) { return nil, errors.New("it broke") }}
	want := other + "/a.tf is in the repository " + other + ": it broke"
	if r, err := p.Judge(t.Context(), patch(other+"/a.tf"), callrules.Options{}); err == nil || err.Error() != want {
		t.Errorf("%+v, %v", r, err)
	}
	p.Gates[0].Sets = []*callrules.Set{never}
	if r, err := p.Judge(t.Context(), patch(other+"/a.tf"), callrules.Options{}); err != nil ||
		r.Reason() != "f: no rule matches, and its default is deny\n"+want {
		t.Errorf("%+v, %v", r, err)
	}
	// The sets judge a call once, whatever the number of roots, and an edit that nobody can read is told of once.
	p.Gates = append(p.Gates, &Gate{Bundle: bundle(t), Root: beside, Sets: []*callrules.Set{never}})
	r, err = p.Judge(t.Context(), asked(t, root, "Write", "file_path", "a.tf"), callrules.Options{})
	if err != nil || strings.Count(r.Reason(), "default is deny") != 1 ||
		strings.Count(r.Reason(), "cannot determine") != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFault_165_Outside: the files outside the root are named, in one sentence.
func TestFault_165_Outside(t *testing.T) {
	root, away := tempDir(t, map[string]string{"a.tf": "x", ".git/HEAD": "x", "sub/x": ""}), tempDir(t, nil)
	text := "*** Begin Patch\n*** Update File: a.tf\n@@\n-x\n+y\n"
	for i := range 12 {
		text += fmt.Sprintf("*** Add File: %s/%d\n+x\n", away, i)
	}
	g := &Gate{Bundle: bundle(t), Root: away, ByDir: true}
	for _, c := range []struct {
		dir, file string
		want      string
	}{
		{root, "a.tf", ""},
		{root + "/sub", "../a.tf", ""},
		{root + "/sub/new", root + "/a.tf", ""},
		{root + "/sub", away + "/a.tf", away + "/a.tf is outside of " + root +
			", so it was not checked against the bundle"},
		{"", root + "/a.tf", root + "/a.tf is outside of " + away + ", so it was not checked against the bundle"},
		{"sub", away + "/a.tf", ""},
	} {
		r := judge(t, g, asked(t, c.dir, "Write", "file_path", c.file, "content", "x"))
		if r.Outside() != c.want || r.Outcome().Reason != c.want || r.Outcome().Effect != callrules.Allow {
			t.Errorf("%s in %q: %q, want %q; %+v", c.file, c.dir, r.Outside(), c.want, r.Outcome())
		}
	}
	r := judge(t, g, asked(t, root, "apply_patch", "command", text+"*** End Patch"))
	if got := r.Outside(); !strings.HasPrefix(got, away+"/0, "+away+"/1, ") ||
		!strings.HasSuffix(got, "/9 and 2 more are outside of "+root+", so they were not checked against the bundle") {
		t.Error(got)
	}
	// A removed file is not judged anywhere.
	if r := judge(t, g, asked(t, root, "Delete", "path", away+"/a")); r.Outside() != "" {
		t.Error(r.Outside())
	}
	if err := os.Symlink("loop", filepath.Join(root, "loop")); err != nil {
		t.Skip(err)
	}
	if r, err := g.Judge(t.Context(), asked(t, root+"/loop", "Write", "file_path", away+"/a", "content", "x"),
		callrules.Options{}); err == nil || !strings.Contains(err.Error(),
		"cannot determine which repository the directory "+root+"/loop is in: ") {
		t.Errorf("%+v, %v", r, err)
	}
	if r := judge(t, g, asked(t, root+"/loop", "Bash", "command", "ls")); r.Outcome().Effect != callrules.Allow {
		t.Errorf("a call that edits nothing needs no root: %+v", r)
	}
}

// TestFault_151_Around: every place where another program would run instead of this one is guarded, even if nothing
// is at that place; on Windows with each executable ending, and first in the current directory.
func TestFault_151_Around(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	env := map[string]string{"BASH_ENV": "b.sh", "ZDOTDIR": at("z"), "SHELL": at("opt/fish"),
		"XDG_DATA_HOME": at("data"), "XDG_DATA_DIRS": "", "GIT_CONFIG_GLOBAL": at("git.conf")}
	a := Around{
		Program: at("cellar/policyscan-1.2"),
		Path:    strings.Join([]string{at("bin"), "tools", "", "~/own"}, string(filepath.ListSeparator)),
		Dirs:    []string{at("repo"), at("repo/sub")}, Home: at("home"),
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
	want(
		"unix",
		all,
		true,
		"cellar/policyscan-1.2",
		"bin/policyscan",
		"bin/sh",
		"bin/bash",
		"repo/tools/policyscan",
		"repo/sub/tools/policyscan",
		"repo/policyscan",
		"repo/sub/sh",
		"repo/b.sh",
		"z/.zshenv",
		"home/.zshenv",
		"home/.profile",
		"home/.config/fish",
		"home/.zshenv.zwc",
		"z/.zshrc.zwc",
		"home/.config/environment.d",
		"opt/fish",
		"git.conf",
		"home/own/policyscan",
		"data/fish",
		"home/.local/share/fish",
		"home/.config/husky",
		"repo/~/own/sh",
	)
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

// TestGuardsWhatIsRemoved: who removes a directory, or moves it, removes what is in it.
func TestGuardsWhatIsRemoved(t *testing.T) {
	root := t.TempDir()
	g := &Gate{Guarded: []string{filepath.Join(root, "Home", ".claude", "settings.json")}}
	for name, want := range map[string]bool{"home": true, "Home/.claude": true, "home/.claude/settings.json/x": true,
		"ho": false, "home/.clau": false, "home/other": false} {
		p := filepath.Join(root, filepath.FromSlash(name))
		for _, f := range []file{{edit: edit.Edit{Path: p, Remove: true}, real: p, named: p},
			{edit: edit.Edit{Path: "new", From: p}, real: filepath.Join(root, "new"), from: p, named: "new"}} {
			if got, err := g.guarded([]file{f}, root); err != nil || (got != "") != want {
				t.Errorf("%+v: %q, %v; want %v", f, got, err, want)
			}
		}
		got, err := g.guarded([]file{{edit: edit.Edit{Path: p}, real: p, named: p}}, root)
		if err != nil || (got != "") != strings.HasSuffix(name, "/x") {
			t.Errorf("a write of %s: %q, %v", name, got, err)
		}
	}
}

// TestIsCI: where CI systems have their files, in any directory and case.
func TestIsCI(t *testing.T) {
	for _, name := range []string{
		".github/workflows/ci.yml", "sub/.GitHub/Workflows/x/CI.yaml", ".github/actions/a/run.sh", "action.yml",
		"tools/lint/action.yaml", ".gitlab-ci.yml", ".gitlab/ci/a.yml",
		"Jenkinsfile", "ci/jenkinsfile", "azure-pipelines.yaml", ".circleci/config.yml", ".travis.yml",
		"bitbucket-pipelines.yml", ".prow.yaml",
	} {
		if !isCI(name) {
			t.Errorf("%s is not guarded", name)
		}
	}
	for _, name := range []string{"main.yml", "github/workflows/ci.yml", ".github/workflows", ".github/CODEOWNERS",
		"action.go", "my-action.yml", "docs/Jenkinsfile.md", "action"} {
		if isCI(name) {
			t.Errorf("%s is one", name)
		}
	}
}
