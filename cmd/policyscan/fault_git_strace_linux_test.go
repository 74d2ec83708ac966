package main

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// TestFault_130_NoProgramNoSocket: the run of a change starts no program, opens no
// socket and follows no include, whatever the repository configures.
func TestFault_130_NoProgramNoSocket(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.file = newTraceable(t).file
	trace := g.hostile()
	for args, status := range map[string]int{
		"--diff-base main":                       exitViolation,
		"--diff-base main --head HEAD~0":         exitViolation,
		"--diff-base " + strings.Repeat("1", 40): exitUndecided, // which the promisor might have
	} {
		watched, log := g.traced("-e", "trace=network,execve,execveat,vfork,fork,open,openat,openat2")
		watched.run(append(strings.Fields(args), "--policy", "policy", "repo")...).want(t, status)
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		seen := called(text)
		if seen["open"]+seen["openat"]+seen["openat2"] == 0 || !strings.Contains(string(text), "/repo/.git/config\"") {
			t.Errorf("%s: strace saw no run: %v", args, seen)
		}
		for _, name := range []string{"open", "openat", "openat2"} {
			delete(seen, name)
		}
		if !maps.Equal(seen, map[string]int{"execve": 1}) {
			t.Errorf("%s: %v\n%s", args, seen, text)
		}
		for _, never := range []string{"/dev/zero", "nowhere", "/hooks", ".gitattributes"} {
			if strings.Contains(string(text), never) {
				t.Errorf("%s: %s is opened\n%s", args, never, text)
			}
		}
		if exists(trace) {
			t.Errorf("%s: a command was executed", args)
		}
	}
}
