package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// by returns the program with another to run it.
func (p program) by(words ...string) program {
	p.under = words
	return p
}

// TestFault_047_InterruptedCalls: each call that touches files is interrupted once, in
// turn. It is made again: status and verdict are those of a run in peace.
func TestFault_047_InterruptedCalls(t *testing.T) {
	t.Parallel()
	p := newTraceable(t)
	for i := range 3 {
		p.write(fmt.Sprintf("bad/%d/more.tf", i), strings.Repeat("x", 10_000))
	}
	p.run("--policy", "policy", "bad").want(t, exitViolation)
	final := p.verdict().text
	n := counts(p, "--policy", "policy", "bad")
	trials := 0
	for _, call := range calls(*long) {
		// a close is done even so; the others are never interrupted
		if call == "exit_group" || call == "close" || call == "fcntl" || call == "lseek" {
			continue
		}
		for _, when := range moments(n[call]) {
			watched, _ := p.traced("-e", fmt.Sprintf("inject=%s:error=EINTR:when=%d", call, when))
			e := watched.run("--policy", "policy", "bad")
			trials++
			if v := p.verdict(); e.status != exitViolation || !bytes.Equal(v.text, final) {
				t.Errorf("%s %d: status %d, %s: %s", call, when, e.status, p.saying(), e.err)
			}
		}
	}
	if trials < 10 || *long && trials < 20 {
		t.Errorf("%d calls were interrupted", trials)
	}
}

// TestFault_049_TooFewHandles: with few files that may be open at a time a run is right,
// or it is not decided; nothing is skipped.
func TestFault_049_TooFewHandles(t *testing.T) {
	t.Parallel()
	needs(t, "prlimit")
	p := newTraceable(t) // the program as it is released, without what tests open
	for i := range 30 {
		for _, tree := range []string{"good", "bad"} {
			p.write(fmt.Sprintf("%s/%s/%d.tf", tree, strings.Repeat("d/", i), i), "cidr = \"10.0.0.0/8\"\n")
		}
	}
	final := map[string][]byte{}
	for _, tree := range []string{"good", "bad"} {
		p.run("--policy", "policy", tree)
		final[tree] = p.verdict().text
	}
	statuses := map[int]int{}
	step := 4
	if *long {
		step = 1
	}
	for limit := 4; limit <= 40; limit += step {
		for _, tree := range []string{"good", "bad"} {
			p.write("verdict.json", string(final["good"])) // an old PASS
			e := p.by("prlimit", fmt.Sprintf("--nofile=%d", limit)).run("--policy", "policy", tree)
			statuses[e.status]++
			text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
			if errors.Is(err, fs.ErrNotExist) && e.status == exitUndecided {
				continue // the old one could be removed, and no new one made
			}
			if err != nil {
				t.Fatal(err)
			}
			switch what := fmt.Sprintf("%d handles, %s: status %d", limit, tree, e.status); {
			case e.status == exitUndecided:
				if v := p.verdict(); v.Verdict.Verdict == "PASS" && !strings.Contains(e.err, "STALE") &&
					e.out+e.err != "" && !strings.Contains(e.err, "runtime: ") {
					t.Errorf("%s, and the old PASS is there\n%s%s", what, e.out, e.err)
				}
			case e.status == exitViolation && tree == "bad":
				if v := p.verdict(); v.Complete && !bytes.Equal(text, final[tree]) {
					t.Errorf("%s: another verdict that calls itself complete\n%s", what, text)
				}
			case e.status == exitPass && tree == "good":
				if !bytes.Equal(text, final[tree]) {
					t.Errorf("%s: another PASS\n%s", what, text)
				}
			default:
				t.Errorf("%s\n%s%s", what, e.out, e.err)
			}
		}
	}
	t.Logf("statuses: %v", statuses)
	if statuses[exitUndecided] == 0 || statuses[exitPass] == 0 || statuses[exitViolation] == 0 {
		t.Errorf("some outcome was never met: %v", statuses)
	}
}

// memoryGroup returns a new memory cgroup whose processes are killed above a number of bytes.
func memoryGroup(t *testing.T, limit int) string {
	t.Helper()
	asRoot(t)
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("SKIPPED: this needs a memory cgroup: %v", err)
	}
	own, file := "", ""
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if parts[1] == "memory" && exists("/sys/fs/cgroup/memory") {
			own, file = "/sys/fs/cgroup/memory"+parts[2], "memory.limit_in_bytes"
		} else if parts[1] == "" && own == "" {
			own, file = "/sys/fs/cgroup", "memory.max" // only the topmost may have groups and processes
		}
	}
	dir, err := os.MkdirTemp(own, "policyscan-test-")
	if err != nil {
		t.Skipf("SKIPPED: this needs a memory cgroup: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, file), fmt.Append(nil, limit), 0); err != nil {
		t.Skipf("SKIPPED: this needs a memory cgroup: %v", err)
	}
	// Where there is swap, it is no way out: absent without the kernel's accounting of it.
	_ = os.WriteFile(filepath.Join(dir, "memory.swap.max"), []byte("0"), 0)
	return dir
}

// TestFault_050_KilledForMemory: the kernel kills a run that takes more than it may. The
// marker stays, where the old PASS was.
func TestFault_050_KilledForMemory(t *testing.T) {
	t.Parallel()
	p := newTraceable(t) // the program as it is released: a race detector needs more memory
	dir := memoryGroup(t, 24<<20)
	p.run("--policy", "policy", "good").want(t, exitPass)
	pass := p.verdict().text
	within := p.by("sh", "-c", `echo $$ >"`+dir+`/cgroup.procs" && exec "$@"`, "sh")
	within.run("--policy", "policy", "good").want(t, exitPass) // for which it is enough
	p.write("policy/rules/boundaries.yml", "rules:\n"+manyRules(10_000))
	p.run("--policy", "policy", "good").want(t, exitPass)
	for range 1 + map[bool]int{true: 2}[*long] {
		p.write("verdict.json", string(pass))
		e := within.run("--policy", "policy", "good").want(t, 137)
		if got := p.saying(); got != "UNDECIDED E_IN_PROGRESS" || e.out != "" {
			t.Errorf("%s, printed %q", got, e.out)
		}
	}
}

// TestFault_050_NoMemory: the system gives no more memory. A run is right or it is not
// decided, and an old PASS is left only by one that did not come to begin.
func TestFault_050_NoMemory(t *testing.T) {
	t.Parallel()
	needs(t, "prlimit")
	p := newTraceable(t) // the program as it is released
	p.write("policy/rules/boundaries.yml", oneRule+strings.TrimPrefix(manyRules(800), "rules:\n"))
	final := map[string][]byte{}
	for _, tree := range []string{"good", "bad"} {
		p.run("--policy", "policy", tree)
		final[tree] = p.verdict().text
	}
	outcomes := map[string]int{}
	try := func(mib int) (enough bool) {
		enough = true
		for tree, status := range map[string]int{"good": exitPass, "bad": exitViolation} {
			p.write("verdict.json", string(final["good"]))
			e := p.by("prlimit", fmt.Sprintf("--as=%d", mib<<20)).run("--policy", "policy", tree)
			v := p.verdict()
			what := p.saying()
			switch {
			case e.status == status && bytes.Equal(v.text, final[tree]):
				what = "right"
			case e.status == exitUndecided && bytes.Equal(v.text, final[tree]) &&
				strings.Contains(e.out, fmt.Sprintf("%s: ", v.Verdict.Verdict)):
				what = "right, and then no memory" // Go's own end of a program has the status 2
			case e.status == exitPass || e.status == exitViolation || strings.Contains(e.out, "PASS"):
				t.Errorf("%d MiB, %s: status %d, %s\n%s%s", mib, tree, e.status, what, e.out, e.err)
			case what == "PASS" && e.out != "":
				t.Errorf("%d MiB, %s: the old PASS is there: status %d\n%s", mib, tree, e.status, e.err)
			}
			if what == "PASS" {
				what = "did not begin"
			}
			outcomes[what]++
			enough = enough && what == "right"
		}
		return enough
	}
	low, high := 16, 2048
	if !*long {
		try(low)
		try(high)
	}
	for *long && high-low > 1 {
		if mid := (low + high) / 2; try(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	// Where it begins, and does not end, is narrow, and not in the same place each time.
	for round := 0; *long && round < 5 && outcomes["UNDECIDED E_IN_PROGRESS"] == 0; round++ {
		for mib := high + 2; mib > 0 && mib > high-60; mib -= 4 {
			try(mib)
		}
	}
	t.Logf("%v", outcomes)
	if outcomes["did not begin"] == 0 || outcomes["right"] == 0 {
		t.Errorf("some outcome was never met: %v", outcomes)
	}
}

// TestFault_053_CurrentDirectory: a removed or unreadable current directory is not an empty tree.
func TestFault_053_CurrentDirectory(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, policy := filepath.Join(p.dir, "out.json"), filepath.Join(p.dir, "policy")
	gone := p.by("sh", "-c", `mkdir gone && cd gone && rmdir ../gone && exec "$@"`, "sh")
	for _, args := range [][]string{nil, {"."}, {"--allow", "empty"}, {"--diff-base", "main"}, {"--staged"},
		{"--files-from", "-"}} {
		e := gone.run(append(args, "--policy", policy, "--output", out)...).want(t, exitUndecided)
		if strings.Contains(e.out+e.err, "PASS") {
			t.Errorf("%q: %s%s", args, e.out, e.err)
		}
	}
	if e := gone.run("--policy", policy).want(t, exitUndecided); exists(filepath.Join(p.dir, "verdict.json")) {
		t.Errorf("a verdict in another directory\n%s", e.err)
	}
}

// TestFault_054_OwnedByAnother: a repository that belongs to another user, where git
// itself refuses. It is read, and nothing of it is executed.
func TestFault_054_OwnedByAnother(t *testing.T) {
	t.Parallel()
	asRoot(t)
	g := newGit(t)
	trace := g.hostile()
	own := func(uid int) {
		t.Helper()
		err := filepath.WalkDir(g.path(""), func(name string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(name, uid, uid)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wants := func() {
		t.Helper()
		g.judge("--diff-base main", exitViolation, "FAIL NET-1@bad.tf")
		g.judge("--tracked", exitViolation, "FAIL NET-1@bad.tf")
		g.judge("", exitViolation, "FAIL NET-1@bad.tf")
		g.judge("--diff-base main~0 --head main", exitUndecided, "UNDECIDED E_EMPTY")
	}
	own(54321)
	wants()
	own(0)
	g.asNobody() // and the other way round
	wants()
	if text, err := os.ReadFile(trace); err == nil {
		t.Errorf("executed: %s", text)
	}
}

func manyRules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			"  - {id: R-%d, title: t, enforcement: {mode: fail}, match: {files: [a], forbidden_patterns: [x]}}\n", i)
	}
	return b.String()
}
