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
		if call == "exit_group" || call == "close" || call == "fcntl" || call == "lseek" { // a close is done even so; the others are never interrupted
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
	if trials < 15 || *long && trials < 20 {
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
				if v := p.verdict(); v.Verdict.Verdict == "PASS" && !strings.Contains(e.err, "STALE") && e.out+e.err != "" && !strings.Contains(e.err, "runtime: ") {
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

// TestFault_049_NoHandleLeft: each opening of a file or directory, in turn, finds no handle left, in the process or in
// the system.
func TestFault_049_NoHandleLeft(t *testing.T) {
	t.Parallel()
	p := newTraceable(t)
	for i := range 4 {
		p.write(fmt.Sprintf("good/%s/%d.tf", strings.Repeat("d/", i), i), "cidr = \"10.0.0.0/8\"\n")
	}
	p.write("good/d/d/last.tf", "cidr = \"0.0.0.0/0\"\n")
	p.run("--policy", "policy", "good").want(t, exitViolation)
	final := p.verdict().text
	n := counts(p, "--policy", "policy", "good")
	statuses := map[int]int{}
	for i, call := range []string{"openat", "openat2"} {
		for when := 1; when <= n[call]; when++ {
			watched, _ := p.traced("-e", fmt.Sprintf("inject=%s:error=%s:when=%d", call, []string{"EMFILE", "ENFILE"}[(when+i)%2], when))
			e := watched.run("--policy", "policy", "good")
			statuses[e.status]++
			if e.status != exitUndecided && e.status != exitViolation {
				t.Errorf("%s %d: status %d\n%s%s", call, when, e.status, e.out, e.err)
			}
			if !exists(filepath.Join(p.dir, "verdict.json")) {
				if e.status != exitUndecided { // the marker could not be written, and the old output was removed
					t.Errorf("%s %d: status %d without a verdict", call, when, e.status)
				}
				p.write("verdict.json", string(final))
				continue
			}
			if v := p.verdict(); v.Complete && !bytes.Equal(v.text, final) {
				t.Errorf("%s %d: a complete verdict is another than without\n%s", call, when, v.text)
			}
		}
	}
	if statuses[exitUndecided] < 4 || statuses[exitViolation] == 0 {
		t.Errorf("statuses: %v", statuses)
	}
}

// memoryGroup returns a new memory cgroup whose processes are killed beyond so many bytes.
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
	p := newTraceable(t) // the program as it is released: a race detector has memory of its own
	dir := memoryGroup(t, 24<<20)
	p.run("--policy", "policy", "good").want(t, exitPass)
	pass := p.verdict().text
	within := p.by("sh", "-c", `echo $$ >"`+dir+`/cgroup.procs" && exec "$@"`, "sh")
	within.run("--policy", "policy", "good").want(t, exitPass) // for which it is enough
	p.write("policy/rules/boundaries.yml", "rules:\n"+manyRules(10_000))
	p.run("--policy", "policy", "good").want(t, exitPass)
	for range 3 {
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
			case e.status == exitUndecided && bytes.Equal(v.text, final[tree]) && strings.Contains(e.out, fmt.Sprintf("%s: ", v.Verdict.Verdict)):
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
	for high-low > 1 {
		if mid := (low + high) / 2; try(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	// Where it begins, and does not end, is narrow, and not in the same place each time.
	rounds, step := 1, 12
	if *long {
		rounds, step = 5, 4
	}
	for range rounds {
		for mib := high + 2; mib > 0 && mib > high-60; mib -= step {
			try(mib)
		}
		if outcomes["UNDECIDED E_IN_PROGRESS"] > 0 {
			break
		}
	}
	t.Logf("%v", outcomes)
	if outcomes["did not begin"] == 0 || outcomes["right"] == 0 {
		t.Errorf("some outcome was never met: %v", outcomes)
	}
}

// TestFault_053_CurrentFolder: a removed or unreadable current directory is not an empty tree.
func TestFault_053_CurrentFolder(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	out, policy := filepath.Join(p.dir, "out.json"), filepath.Join(p.dir, "policy")
	gone := p.by("sh", "-c", `mkdir gone && cd gone && rmdir ../gone && exec "$@"`, "sh")
	for _, args := range [][]string{nil, {"."}, {"--allow", "empty"}, {"--diff-base", "main"}, {"--staged"}, {"--files-from", "-"}} {
		e := gone.run(append(args, "--policy", policy, "--output", out)...).want(t, exitUndecided)
		if strings.Contains(e.out+e.err, "PASS") {
			t.Errorf("%q: %s%s", args, e.out, e.err)
		}
	}
	if e := gone.run("--policy", policy).want(t, exitUndecided); exists(filepath.Join(p.dir, "verdict.json")) {
		t.Errorf("a verdict in another folder\n%s", e.err)
	}

	closed := newProgram(t)
	closed.write("closed/main.tf", "x")
	folder := filepath.Join(closed.dir, "closed")
	closed.write("out/verdict.json", "")
	for _, dir := range []string{folder, filepath.Join(closed.dir, "out")} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		closed.asNobody()
	}
	if err := os.Chmod(folder, 0o111); err != nil { // it can be entered, and not read
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(folder, 0o777) }()
	if err := os.Remove(filepath.Join(closed.dir, "out/verdict.json")); err != nil {
		t.Fatal(err)
	}
	closed.dir = folder
	for _, args := range [][]string{nil, {"."}, {"--allow", "empty"}} {
		e := closed.run(append(args, "--policy", "../policy", "--output", "../out/verdict.json")...).want(t, exitUndecided)
		if strings.Contains(e.out+e.err, "PASS") || !strings.Contains(e.out+e.err, "permission denied") {
			t.Errorf("%q: %s%s", args, e.out, e.err)
		}
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

// TestLogFullDisk: the rest of a line that did not fit is removed, and the call is denied.
func TestLogFullDisk(t *testing.T) {
	run := func(t *testing.T, p program, why string) {
		p.write("calls.yml", denyShell)
		p.stdin = `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"x":[` + strings.Repeat(`"y",`, 20) + `1]}}`
		denied := 0
		for range 12 {
			e := p.run("hook", "codex", "--policy", "none", "--calls", "calls.yml", "--log", "disk/log").want(t, exitPass)
			switch {
			case strings.Contains(strings.ReplaceAll(e.out, `\"`, ""), "cannot be written to the log disk/log, so the call is denied: "+why):
				denied++
			case e.out != "{}\n" || denied > 0:
				t.Errorf("%s%s", e.out, e.err)
			}
		}
		if n := len(loggedIn(t, filepath.Join(p.dir, "disk/log"))); n == 0 || denied == 0 || n+denied != 12 {
			t.Errorf("%d lines, %d denied", n, denied)
		}
	}
	t.Run("disk", func(t *testing.T) {
		p := newProgram(t)
		tiny(t, filepath.Join(p.dir, "disk"), "size=8k")
		run(t, p, "no space left on device")
	})
	t.Run("limit", func(t *testing.T) {
		needs(t, "prlimit")
		p := newProgram(t)
		p.write("disk/other", "")
		p.under = []string{"prlimit", "--fsize=7000"}
		run(t, p, "file too large")
	})
}
