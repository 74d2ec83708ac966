package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
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

// TestFault_046_WhoseBundle: whether the bundle that --policy names lives in the repository is
// asked of the system. Where that fails the run could not decide: it is not judged by the
// bundle on disk alone, which the change has loosened.
func TestFault_046_WhoseBundle(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.file = newTraceable(t).file
	g.put("policy/rules/boundaries.yml", oneRule)
	g.put("policy/rules/invariants.yml", "rules: []\n")
	g.put("sub/.keep", "")
	g.commit("base")
	g.git("checkout", "-q", "-b", "work")
	g.put("policy/rules/boundaries.yml", strings.Replace(oneRule, "0.0.0.0/0", "nothing", 1))
	g.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
	g.commit("harm")
	root := g.path("")
	for dir, policy := range map[string]string{"": "policy", "policy": "."} {
		p := g.program
		p.dir = g.path(dir)
		args := []string{"--diff-base", "main", "--policy", policy, "--output", "none"}
		p.run(args...).want(t, exitViolation)
		statuses := map[int]int{}
		for _, when := range moments(16) {
			fault := fmt.Sprintf("inject=newfstatat,readlinkat:error=EIO:when=%d", when)
			watched, _ := p.traced("-P", filepath.Clean(root), "-e", fault)
			e := watched.run(args...)
			statuses[e.status]++
			if e.status == exitPass {
				t.Errorf("in %q, %s: status 0\n%s", dir, fault, e.out)
			}
		}
		if statuses[exitUndecided] == 0 {
			t.Errorf("in %q: nothing failed: %v", dir, statuses)
		}
	}
}
