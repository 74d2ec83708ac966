package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// newTraceable is newProgram with the program as it is released, without a test or a
// dynamic linker in it.
func newTraceable(t *testing.T) program {
	t.Helper()
	needs(t, "strace")
	if out, err := exec.Command("strace", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace cannot trace here: %s", out)
	}
	p := newProgram(t)
	file, err := released()
	if err != nil {
		t.Fatal(err)
	}
	p.file = file
	return p
}

// traced returns the program with strace to watch it. What that saw is in log.
func (p program) traced(flags ...string) (watched program, log string) {
	p.t.Helper()
	log = filepath.Join(p.t.TempDir(), "log")
	p.under = append([]string{"strace", "-f", "-o", log}, flags...)
	return p, log
}

// calls are the system calls through which a run touches files. Those that the Go
// runtime alone makes are left out. make inject and make kill (lab/trials) find out the
// rest: all errors, and each call of each scope.
func calls(all bool) []string {
	// A listing certainly comes after the marker and before the verdict.
	some := []string{"openat", "getdents64", "write", "fsync", "renameat", "close"}
	if all {
		some = append(some, "openat2", "read", "fstat", "newfstatat", "lseek", "unlinkat", "fcntl", "exit_group")
	}
	return some
}

// moments are the calls of a kind that are tampered with, one per run, counted from 1: with -long all, otherwise the
// first, the last and some between.
func moments(n int) []int {
	const most = 4
	var all []int
	for i := range n {
		if *long || n <= most || i*(most-1)/(n-1) != (i-1)*(most-1)/(n-1) || i == 0 {
			all = append(all, i+1)
		}
	}
	return all
}

// counts are how often a run makes each call.
func counts(p program, args ...string) map[string]int {
	p.t.Helper()
	watched, log := p.traced()
	watched.run(args...)
	text, err := os.ReadFile(log)
	if err != nil {
		p.t.Fatal(err)
	}
	n := called(text)
	if n["openat"] == 0 || n["fsync"] == 0 {
		p.t.Fatalf("strace saw no run: %v", n)
	}
	return n
}

// called counts the calls in what strace wrote.
func called(log []byte) map[string]int {
	n := map[string]int{}
	for _, call := range regexp.MustCompile(`(?m)^\d+ +([a-z0-9_]+)\(`).FindAllSubmatch(log, -1) {
		n[string(call[1])]++
	}
	return n
}

// TestFault_056_064_KilledAtAnyCall: over an old PASS a run with violations is killed at each system call that touches
// files. That leaves the marker or the run's whole verdict. The old PASS stays only if the run had not yet read bundle
// or tree; the leftovers of a kill harm no later run.
func TestFault_056_064_KilledAtAnyCall(t *testing.T) {
	t.Parallel()
	p := newTraceable(t)
	p.run("--policy", "policy", "good").want(t, exitPass)
	pass := p.verdict().text
	p.run("--policy", "policy", "bad").want(t, exitViolation)
	final := p.verdict().text
	n := counts(p, "--policy", "policy", "bad")
	found := map[string]int{}
	for _, call := range calls(*long) {
		for _, when := range moments(n[call]) {
			p.write("verdict.json", string(pass))
			watched, log := p.traced("-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, when))
			e := watched.run("--policy", "policy", "bad")
			text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
			if err != nil {
				t.Fatalf("%s %d: %v", call, when, err)
			}
			trace, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			what := "marker"
			switch v, err := readVerdict(text); {
			case err != nil:
				t.Errorf("%s %d: %v", call, when, err)
			case bytes.Equal(text, final):
				what = "whole"
			case bytes.Equal(text, pass):
				what = "old"
				if bytes.Contains(trace, []byte(".yml\"")) || bytes.Contains(trace, []byte("main.tf")) {
					t.Errorf("%s %d: the old PASS is there, after the scan began", call, when)
				}
			case strings.Join(summaryOf(v), " ") != "UNDECIDED E_IN_PROGRESS":
				t.Errorf("%s %d: %s", call, when, text)
			}
			if e.status == exitPass {
				t.Errorf("%s %d: status 0", call, when)
			}
			found[what]++
		}
	}
	t.Logf("left behind: %v, and %d temporary files", found, len(p.leftovers()))
	if found["old"] == 0 || found["marker"] == 0 || found["whole"] == 0 {
		t.Errorf("left behind: %v; some moment was never met", found)
	}
	p.run("--policy", "policy", "bad").want(t, exitViolation)
	if !bytes.Equal(p.verdict().text, final) {
		t.Error("the run after the kills has another verdict")
	}
}

// TestFault_046_048_060_061_AnyCallFails: each such call fails once, as on a full or broken disk. No run passes
// wrongly; a verdict that calls itself complete equals the one without the fault; the old PASS is removed, or the
// message calls it stale.
func TestFault_046_048_060_061_AnyCallFails(t *testing.T) {
	t.Parallel()
	p := newTraceable(t)
	for i := range 3 {
		for _, tree := range []string{"good", "bad"} {
			p.write(fmt.Sprintf("%s/%d/more.tf", tree, i), strings.Repeat("x", 10_000))
		}
	}
	p.run("--policy", "policy", "--allow", "partial", "good").want(t, exitPass)
	old := p.verdict().text // differs from the verdicts below by its "allowed"
	names := []string{"good", "bad"}
	errs := []string{"EIO", "ENOSPC"}
	if !*long {
		names, errs = names[1:], errs[:1]
	}
	statuses := map[int]int{}
	for _, tree := range names {
		p.run("--policy", "policy", tree)
		final := p.verdict().text
		n := counts(p, "--policy", "policy", tree)
		for _, call := range calls(*long) {
			if call == "exit_group" {
				continue
			}
			for _, when := range moments(n[call]) {
				fault := fmt.Sprintf("%s: %s %d fails with %s", tree, call, when, errs[when%len(errs)])
				p.write("verdict.json", string(old))
				watched, _ := p.traced("-e", fmt.Sprintf("inject=%s:error=%s:when=%d", call, errs[when%len(errs)],
					when))
				e := watched.run("--policy", "policy", tree)
				statuses[e.status]++
				if e.status > exitUndecided || tree == "bad" && e.status == exitPass {
					t.Errorf("%s: status %d\n%s", fault, e.status, e.err)
				}
				text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
				if err != nil {
					if e.status == exitPass || strings.Contains(e.out, "PASS") {
						t.Errorf("%s: status %d without a verdict", fault, e.status)
					}
					continue
				}
				v, err := readVerdict(text)
				switch {
				case err != nil:
					t.Errorf("%s: %v", fault, err)
				case bytes.Equal(text, old):
					if e.status != exitUndecided || strings.HasPrefix(e.err, "policyscan:") &&
						!strings.Contains(e.err, "STALE") {
						t.Errorf("%s: the old PASS is there, status %d\n%s%s", fault, e.status, e.out, e.err)
					}
				case v.Complete && !bytes.Equal(text, final):
					t.Errorf("%s: a complete verdict is another than without\n%s", fault, text)
				case e.status == exitPass && v.Verdict.Verdict != "PASS", e.status == exitViolation &&
					len(v.Violations) == 0 && v.Errors[0].Code != "E_IN_PROGRESS":
					t.Errorf("%s: status %d with %q", fault, e.status, summaryOf(v))
				}
			}
		}
	}
	t.Logf("statuses: %v", statuses)
	for _, left := range p.leftovers() {
		t.Logf("left behind: %s", left) // the call that failed was the one to remove it
	}
}

// TestFault_046_WhereTheOutputIs: the verdict and the bundle are in the tree. A run that cannot
// find out where does not scan them as files of it: it could not decide.
func TestFault_046_WhereTheOutputIs(t *testing.T) {
	t.Parallel()
	p := newTraceable(t)
	p.write(".policyscan/rules/boundaries.yml", oneRule)
	p.write(".policyscan/rules/invariants.yml", "rules: []\n")
	p.write("main.tf", "cidr = \"10.0.0.0/8\"\n")
	args := []string{"--allow", "partial", "--exclude", "bad/**", "--quiet"}
	p.run(args...).want(t, exitPass)
	final := p.verdict().text
	undecided := 0
	n := counts(p, args...)["getcwd"]
	for when := 1; when <= n; when++ {
		watched, _ := p.traced("-e", fmt.Sprintf("inject=getcwd:error=EIO:when=%d", when))
		e := watched.run(args...)
		switch {
		case e.status == exitPass && !bytes.Equal(p.verdict().text, final):
			t.Errorf("getcwd %d fails: status 0 with\n%s", when, p.verdict().text)
		case e.status == exitUndecided:
			undecided++
		}
	}
	if undecided < 3 {
		t.Errorf("%d runs could not decide: nothing was tried", undecided)
	}
}

// TestAccessTimeRefused: a file system refuses to open a file without setting when it was read, with an error of its
// own. The file is then opened as any other.
func TestAccessTimeRefused(t *testing.T) {
	t.Parallel()
	p := newTraceable(t)
	p.write("bad/seldom.tf", "0.0.0.0/0")
	p.run("--policy", "policy", "bad").want(t, exitViolation)
	final := p.verdict().text
	first := regexp.MustCompile(`"seldom.tf".*`)
	for _, refusal := range []string{"EPERM", "EIO"} {
		var e ending
		var trace []byte
		refused := 2
		// strace counts the calls of each thread. Where the program goes on in another thread, the second call is
		// the first of that thread and refused as well: then it is tried again.
		for tries := 0; refused > 1 && tries < 50; tries++ {
			watched, log := p.traced("-P", "seldom.tf", "-e", "inject=openat:error="+refusal+":when=1")
			e = watched.run("--policy", "policy", "bad")
			var err error
			if trace, err = os.ReadFile(log); err != nil {
				t.Fatal(err)
			}
			refused = bytes.Count(trace, []byte("(INJECTED)"))
		}
		if refused != 1 || !bytes.Contains(first.Find(trace), []byte("O_NOATIME")) {
			t.Errorf("%s: %d calls were refused\n%s", refusal, refused, trace)
		}
		e.want(t, exitViolation)
		if !bytes.Equal(p.verdict().text, final) {
			t.Errorf("%s: the verdict is another\n%s", refusal, p.verdict().text)
		}
	}
}

// TestFault_138_NoSocket: a run opens no socket and starts no program, whatever the proxy variables.
func TestFault_138_NoSocket(t *testing.T) {
	t.Parallel()
	p := newTraceable(t)
	p.env = []string{"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9",
		"ALL_PROXY=socks5://127.0.0.1:9"}
	if err := os.Mkdir(filepath.Join(p.dir, "new"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--policy", "policy", "bad"},
		{"--policy", "builtin:infra", "bad"},
		{"validate", "policy"},
		{"list", "policy"},
		{"list", "policy", "--for", "main.tf"},
		{"explain", "--policy", "policy", "--root", "bad", "bad/main.tf"},
		{"test", "policy"},
		{"init", "new"},
		{"--help"},
	} {
		watched, log := p.traced("-e", "trace=network,execve,execveat,vfork,fork")
		watched.run(args...)
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if seen := called(text); !maps.Equal(seen, map[string]int{"execve": 1}) {
			t.Errorf("%q: %v\n%s", args, seen, text)
		}
	}
}
