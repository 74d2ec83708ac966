package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// hostile is a repository whose every setting, hook and attribute would run a command.
// From here on git itself must not be run in it. trace is the file that a command
// would write.
func (g *gitRepo) hostile() (trace string) {
	g.t.Helper()
	g.put(".gitattributes", "* filter=evil diff=evil merge=evil\n")
	g.change()
	trace = g.path("executed")
	mark := g.path("mark")
	for _, script := range []string{"mark", ".git/hooks/post-checkout", ".git/hooks/reference-transaction",
		".git/hooks/post-index-change", ".git/hooks/fsmonitor-watchman", "hooks/post-checkout", "hooks/pre-commit"} {
		g.put(script, "#!/bin/sh\necho \"$0\" >>'"+trace+"'\n")
		if err := os.Chmod(g.path(script), 0o755); err != nil {
			g.t.Fatal(err)
		}
	}
	config, err := os.ReadFile(g.path(".git/config"))
	if err != nil {
		g.t.Fatal(err)
	}
	// With these settings git runs a command, MARK, or reads without end.
	settings := "\n" + strings.ReplaceAll(readFile(g.t, "testdata/hostile/config"), "MARK", mark)
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
