package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hostileConfig are settings with which git runs a command, MARK, or reads without end.
const hostileConfig = `
[core]
	repositoryformatversion = 1
	fsmonitor = MARK
	hooksPath = hooks
	sshCommand = MARK
	gitProxy = MARK
	askPass = MARK
	editor = MARK
	pager = MARK
	alternateRefsCommand = MARK
	attributesFile = /dev/zero
	excludesFile = /dev/zero
[include]
	path = /dev/zero
	path = nowhere
[includeIf "gitdir:**"]
	path = /dev/zero
[filter "evil"]
	clean = MARK
	smudge = MARK
	process = MARK
	required = true
[diff]
	external = MARK
[diff "evil"]
	textconv = MARK
	command = MARK
[merge "evil"]
	driver = MARK
[credential]
	helper = !MARK
[alias]
	diff = !MARK
[gpg]
	program = MARK
[uploadpack]
	packObjectsHook = MARK
[extensions]
	partialClone = origin
	worktreeConfig = true
[remote "origin"]
	url = "ext::MARK"
	uploadpack = MARK
	promisor = true
	partialclonefilter = blob:none
[protocol "ext"]
	allow = always
[url "ext::MARK"]
	insteadOf = https://
`

// hostile is a repository whose every setting, hook and attribute would run a command.
// From here on git itself must not be run in it. trace is the file that a command
// would write.
func (g *gitRepo) hostile() (trace string) {
	g.t.Helper()
	g.put(".gitattributes", "* filter=evil diff=evil merge=evil\n")
	g.change()
	trace = g.path("executed")
	mark := g.path("mark")
	for _, script := range []string{"mark", ".git/hooks/post-checkout", ".git/hooks/reference-transaction", ".git/hooks/post-index-change", ".git/hooks/fsmonitor-watchman", "hooks/post-checkout", "hooks/pre-commit"} {
		g.put(script, "#!/bin/sh\necho \"$0\" >>'"+trace+"'\n")
		if err := os.Chmod(g.path(script), 0o755); err != nil {
			g.t.Fatal(err)
		}
	}
	config, err := os.ReadFile(g.path(".git/config"))
	if err != nil {
		g.t.Fatal(err)
	}
	settings := strings.ReplaceAll(hostileConfig, "MARK", mark)
	g.put(".git/config", string(config)+settings)
	g.put(".git/config.worktree", settings)
	return trace
}

// TestFault_130_NothingObeyed: nothing that a repository configures is executed or
// waited for. The verdict is the one without those settings.
func TestFault_130_NothingObeyed(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	trace := g.hostile()
	g.judge("--diff-base main", exitViolation, "FAIL NET-1@bad.tf")
	g.judge("--diff-base nowhere", exitUndecided, "UNDECIDED E_BASE_MISSING") // and is not fetched
	if text, err := os.ReadFile(trace); err == nil {
		t.Errorf("executed: %s", text)
	}
	// The same config, except the endless parts, runs a command if git reads it.
	for _, config := range []string{".git/config", ".git/config.worktree"} {
		text, err := os.ReadFile(g.path(config))
		if err != nil {
			t.Fatal(err)
		}
		g.put(config, strings.ReplaceAll(string(text), "/dev/zero", os.DevNull))
	}
	cmd := exec.Command("git", "status")
	cmd.Dir = g.path("")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("git status: %v: %s", err, out) // it is the trace that counts
	}
	if !exists(trace) {
		t.Error("git does not obey the settings either")
	}
}

// TestFault_130_MalformedConfig: settings that cannot be read could say that the
// repository is of another format.
func TestFault_130_MalformedConfig(t *testing.T) {
	t.Parallel()
	needs(t, "mkfifo")
	remake := func(make func(name string) error) func(*gitRepo) {
		return func(g *gitRepo) {
			name := g.path(".git/config")
			if err := os.Remove(name); err != nil {
				g.t.Fatal(err)
			}
			if err := make(name); err != nil {
				g.t.Fatal(err)
			}
		}
	}
	text := func(s string) func(*gitRepo) {
		return func(g *gitRepo) { g.put(".git/config", s) }
	}
	for name, c := range map[string]struct {
		spoil func(*gitRepo)
		code  string
	}{
		"a torn section":        {text("[core\n"), "E_REPO_FORMAT"},
		"a torn subsection":     {text("[remote \"x\n"), "E_REPO_FORMAT"},
		"a value without a key": {text("[core]\n\t= x\n"), "E_REPO_FORMAT"},
		"no text":               {text("\x00\x01\x02[core]\n"), "E_REPO_FORMAT"},
		"a quote without end":   {text("[core]\n\tbare = \"false\n"), "E_REPO_FORMAT"},
		"another format":        {text("[core]\n\trepositoryformatversion = 2\n"), "E_REPO_FORMAT"},
		"a folder":              {remake(func(name string) error { return os.Mkdir(name, 0o777) }), "E_READ"},
		"a FIFO":                {remake(func(name string) error { return exec.Command("mkfifo", name).Run() }), "E_READ"},
		"a link to /dev/zero":   {remake(func(name string) error { return os.Symlink("/dev/zero", name) }), "E_READ"},
		"a loop":                {remake(func(name string) error { return os.Symlink("config", name) }), "E_READ"},
		"endless":               {remake(func(name string) error { return os.WriteFile(name, nil, 0o666) }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			g.change()
			c.spoil(g)
			if c.code == "" {
				if err := os.Truncate(g.path(".git/config"), 1<<40); err != nil {
					t.Skipf("SKIPPED: no such file can be had: %v", err)
				}
				c.code = "E_LIMIT"
			}
			g.judge("--diff-base main", exitUndecided, "UNDECIDED "+c.code)
		})
	}
}

// A run that cannot tell whether its output is tracked leaves no old PASS.
func TestFault_130_OldPassInAMalformedRepository(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.change()
	g.dir = g.path("")
	g.run("--policy", "../policy", "--diff-base", "work", "--allow", "empty").want(t, exitPass)
	writeFile(t, filepath.Join(g.dir, ".git/config"), "[core\n")
	g.run("--policy", "../policy", "--diff-base", "main").want(t, exitUndecided)
	if v := g.verdict(); v.Verdict.Verdict != "FAIL" {
		t.Errorf("the old %s is there", v.Verdict.Verdict)
	}
}
