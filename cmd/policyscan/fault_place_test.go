//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFault_037_FIFOs: a FIFO where git or the user has a file. It is never waited for,
// and never a reason to pass.
func TestFault_037_FIFOs(t *testing.T) {
	for name, args := range map[string][]string{
		".git":                         {"--diff-base main", "--staged", "--tracked"},
		".git/HEAD":                    {"--diff-base main", "--staged"}, // which --tracked does not need,
		".git/config":                  {"--diff-base main", "--staged", "--tracked"},
		".git/refs/heads/main":         {"--diff-base main"},
		".git/refs/heads/work":         {"--diff-base main", "--staged"},
		".git/packed-refs":             {"--diff-base packed"},
		".git/index":                   {"--staged", "--tracked"},
		".git/shallow":                 {"--diff-base main"},
		".git/objects":                 {"--diff-base main", "--staged"},
		".git/objects/pack":            {"--diff-base packed"},
		".git/info/exclude":            {"--diff-base main --require-governed"},
		".git/objects/info/alternates": {"--diff-base main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, flags := range args {
				if i > 0 && !*long {
					break
				}
				g := newGit(t)
				g.change()
				g.git("tag", "packed", "main")
				g.git("pack-refs", "--all", "--no-prune")
				if strings.HasSuffix(flags, "packed") {
					g.git("pack-refs", "--all")
				}
				if err := errors.Join(os.RemoveAll(g.path(name)),
					os.MkdirAll(filepath.Dir(g.path(name)), 0o777)); err != nil {
					t.Fatal(err)
				}
				if err := syscall.Mkfifo(g.path(name), 0o666); err != nil {
					t.Fatal(err)
				}
				e := g.run(append(strings.Fields(flags), "--policy", "policy", "repo")...)
				got := g.saying()
				// Files that need not be read do not weaken a run's answer.
				needless := name == ".git/info/exclude"
				if e.status != exitUndecided && !(needless && e.status == exitViolation &&
					got == "FAIL NET-1@bad.tf") {
					t.Errorf("%s: status %d, %s\n%s%s", flags, e.status, got, e.out, e.err)
				}
				if e.status == exitUndecided && !strings.HasPrefix(got, "UNDECIDED E_") {
					t.Errorf("%s: %s", flags, got)
				}
			}
		})
	}
	t.Run("output", func(t *testing.T) {
		p := newProgram(t)
		if err := syscall.Mkfifo(filepath.Join(p.dir, "verdict.json"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, tree := range []string{"good", "bad"} {
			e := p.run("--policy", "policy", tree).want(t, exitUndecided)
			if !strings.Contains(e.err, "not a regular file") || e.out != "" {
				t.Errorf("%q %q", e.out, e.err)
			}
		}
		p.run("--policy", "policy", "--output", "none", "--report", "json=verdict.json", "good").want(t, exitUndecided)
	})
	t.Run("part", func(t *testing.T) { // of a fleet
		p := newProgram(t)
		if err := os.Mkdir(filepath.Join(p.dir, "shard"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(p.dir, "shard/shard.json"), 0o666); err != nil {
			t.Fatal(err)
		}
		e := p.run("merge", "shard", "--output", "out").want(t, exitUndecided)
		if !strings.Contains(e.err+e.out, "its shard.json is not a regular file") {
			t.Errorf("%q %q", e.out, e.err)
		}
	})
	t.Run("list", func(t *testing.T) {
		p := newProgram(t)
		if err := syscall.Mkfifo(filepath.Join(p.dir, "list"), 0o666); err != nil {
			t.Fatal(err)
		}
		p.run("--policy", "policy", "--timeout", "1s", "--files-from", "list", "good").want(t, exitUndecided)
		if got := p.saying(); !strings.HasPrefix(got, "UNDECIDED E_") {
			t.Error(got)
		}
	})
}

// TestFault_057_ForgedVerdict: the change brings a verdict.json that says PASS. As the output's path it is refused
// before the scan, and the action's verdict goes elsewhere.
func TestFault_057_ForgedVerdict(t *testing.T) {
	t.Parallel()
	const forged = "\r\n{\"ok\": true, \"verdict\": \"PASS\"}"
	g := newGit(t)
	base, _ := g.change()
	g.put("verdict.json", forged)
	head := g.commit("forged")
	inside := g.program
	inside.dir = g.path("")
	for _, args := range [][]string{{"--diff-base", base}, {"--staged"}, {"--tracked"}, nil,
		{"--output", "./verdict.json", "--diff-base", base}} {
		e := inside.run(append(args, "--policy", "../policy")...).want(t, exitUndecided)
		if !strings.Contains(e.err, "verdict.json is tracked by git") || e.out != "" {
			t.Errorf("%q: %q %q", args, e.out, e.err)
		}
		// A next step does not find the forged PASS either.
		v, err := readVerdict([]byte(readFile(t, g.path("verdict.json"))))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(summaryOf(v), " "); !strings.HasPrefix(got, "UNDECIDED E_") || v.Coverage.Files != 0 {
			t.Errorf("%q: %s is left", args, got)
		}
		g.git("checkout", "-q", "verdict.json")
	}
	// The forged one is a file like any other.
	g.judge("--diff-base "+base, exitViolation, "FAIL NET-1@bad.tf")

	s := newStep(g, "push", fmt.Sprintf(`{"before": %q, "after": %q}`, base, head), head)
	r := s.act()
	s.want(r, exitViolation, "FAIL NET-1@bad.tf")
	if rel, err := filepath.Rel(g.path(""), r.outputs["verdict-file"]); err != nil || !strings.HasPrefix(rel, "..") {
		t.Errorf("the action's verdict is %s", r.outputs["verdict-file"])
	}
	if readFile(t, g.path("verdict.json")) != forged {
		t.Error("the file of the checkout was written")
	}
}

// TestFault_135_HostileInputs: the action's inputs reach a shell only as text. The steps are those of action.yml.
func TestFault_135_HostileInputs(t *testing.T) {
	t.Parallel()
	needs(t, "bash")
	g := newGit(t)
	g.put("main.tf", "cidr = \"0.0.0.0/0\"\n")
	head := g.commit("all")
	var script string
	for _, s := range actionFile(t).steps {
		if s["id"] == "scan" {
			script = fmt.Sprint(s["run"])
		}
	}
	program, err := exec.LookPath("policyscan")
	if err != nil || script == "" {
		t.Fatalf("%v, the step is %q", err, script)
	}
	trace := filepath.Join(g.dir, "trace")
	for k, hostile := range []string{
		"$(touch TRACE)", "`touch TRACE`", "; touch TRACE;", "x && touch TRACE #", "\ntouch TRACE\n",
		"\"; touch TRACE; \"", "'; touch TRACE; '", "${PROGRAM}", "--output=TRACE", "-o TRACE",
		"x\n::add-path::/tmp", "::stop-commands::x", "a b\tc", "*", "~", "$IFS", "\\", "0", "%0A::error::x",
	} {
		hostile = strings.ReplaceAll(hostile, "TRACE", trace)
		for i, p := range actionFile(t).Inputs {
			if p.name == "install" || p.name == "version" {
				continue // of the step that installs, which TestActionReleases and make conformance have
			}
			if !*long && (i+k)%16 != 0 { // each input has some of them
				continue
			}
			s := newStep(g, "push", `{}`, head)
			s.under = []string{"env", "PROGRAM=" + program, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c",
				script}
			r := s.act("scope=full", "summary=false", p.name+"="+hostile)
			if r.status != exitUndecided && r.status != exitViolation {
				t.Errorf("%s=%q: status %d\n%s%s", p.name, hostile, r.status, r.out, r.err)
			}
			if exists(trace) {
				t.Fatalf("%s=%q was executed, or written to", p.name, hostile)
			}
			if r.outputs["verdict"] != "FAIL" {
				t.Errorf("%s=%q: %q", p.name, hostile, r.outputs)
			}
			for line := range strings.Lines(strings.ReplaceAll(r.out, "\r", "\n")) {
				if text := strings.TrimSpace(line); strings.HasPrefix(text, "::") &&
					!strings.HasPrefix(text, "::error ") && !strings.HasPrefix(text, "::error::") &&
					!strings.HasPrefix(text, "::notice") || strings.Contains(text, "##[") {
					t.Errorf("%s=%q: the runner would obey %q", p.name, hostile, line)
				}
			}
		}
	}
}
