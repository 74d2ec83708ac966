//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// asRoot skips what only root can do here.
func asRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: this needs root")
	}
}

// tiny mounts a file system of a few KiB on a directory.
func tiny(t testing.TB, dir, options string) {
	t.Helper()
	asRoot(t)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "none", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no tmpfs can be mounted: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", dir, out)
		}
	})
}

// TestFault_056_OldReports: where a run cannot begin, the reports of an earlier run that passed
// are gone, as its verdict is; but what git tracks, or is not a report, stays.
func TestFault_056_OldReports(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"10.0.0.0/8\"\n")
	scan := []string{"--policy", "policy", "--output", "repo/verdict.json", "--report", "sarif=repo/a.sarif", "--report", "text=repo/a.txt", "repo"}
	for _, fault := range []string{"an index that is torn", "a report that is no report", "a report that is tracked", "a verdict that is none"} {
		g.run(scan...).want(t, exitPass)
		args, stays := scan, ""
		switch fault {
		case "an index that is torn":
			g.put(".git/index", "DIRC")
		case "a report that is no report":
			g.put("a.txt", "mine\n")
			stays = "a.txt"
		case "a report that is tracked":
			g.git("add", "a.sarif")
			stays = "a.sarif"
		case "a verdict that is none":
			g.put("in.json", "{}\n")
			args = append([]string{"report", "repo/in.json"}, scan[4:8]...)
		}
		g.run(args...).want(t, exitUndecided)
		text, err := os.ReadFile(g.path("verdict.json"))
		if v, verr := readVerdict(text); args[0] != "report" && (err != nil || verr != nil || v.Verdict.Verdict != "FAIL") {
			t.Errorf("%s: the verdict is %s", fault, text)
		}
		for _, name := range []string{"a.sarif", "a.txt"} {
			if there := exists(g.path(name)); there != (name == stays) {
				t.Errorf("%s: is %s there: %t", fault, name, there)
			}
		}
		for _, name := range []string{".git/index", "a.sarif", "a.txt"} {
			if err := os.RemoveAll(g.path(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFault_060_NoSpaceForTheMarker: the old PASS is gone, and nothing is scanned.
func TestFault_060_NoSpaceForTheMarker(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.run("--policy", "policy", "good").want(t, exitPass)
	pass := p.verdict().text
	disk := filepath.Join(p.dir, "disk")
	tiny(t, disk, "size=4k")
	p.write("disk/verdict.json", string(pass)) // fills the disk
	e := p.run("--policy", "policy", "--output", "disk/verdict.json", "bad").want(t, exitUndecided)
	if !strings.Contains(e.err, "disk/verdict.json: the verdict cannot be written: no space left on device") || e.out != "" {
		t.Errorf("%q %q", e.out, e.err)
	}
	if names, err := os.ReadDir(disk); err != nil || len(names) != 0 {
		t.Errorf("left on the disk: %v, %v", names, err)
	}
}

// TestFault_060_NoSpaceForTheVerdict: there is room for the marker, which stays, and
// not for the verdict.
func TestFault_060_NoSpaceForTheVerdict(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	tiny(t, filepath.Join(p.dir, "disk"), "size=8k")
	var many strings.Builder
	many.WriteString("rules:\n")
	for i := range 50 {
		many.WriteString(strings.Replace(strings.TrimPrefix(oneRule, "rules:\n"), "NET-1", fmt.Sprintf("NET-%d", i+1), 1))
	}
	p.write("policy/rules/boundaries.yml", many.String())
	for tree, status := range map[string]int{"good": exitUndecided, "bad": exitViolation} {
		e := p.run("--policy", "policy", "--output", "disk/verdict.json", tree).want(t, status)
		if !strings.Contains(e.err, "no space left on device") || strings.Contains(e.out, "PASS") {
			t.Errorf("%q %q", e.out, e.err)
		}
		text, err := os.ReadFile(filepath.Join(p.dir, "disk/verdict.json"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := readVerdict(text)
		if err != nil || strings.Join(summaryOf(v), " ") != "UNDECIDED E_IN_PROGRESS" {
			t.Errorf("%v\n%s", err, text)
		}
		if names, err := os.ReadDir(filepath.Join(p.dir, "disk")); err != nil || len(names) != 1 {
			t.Errorf("left on the disk: %v, %v", names, err)
		}
	}
}

// TestFault_061_ReadOnly: if the old verdict cannot be removed, the message calls it stale.
func TestFault_061_ReadOnly(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	disk := filepath.Join(p.dir, "disk")
	tiny(t, disk, "size=64k")
	p.run("--policy", "policy", "--output", "disk/verdict.json", "good").want(t, exitPass)
	if out, err := exec.Command("mount", "-o", "remount,ro", disk).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	e := p.run("--policy", "policy", "--output", "disk/verdict.json", "good").want(t, exitUndecided)
	if !strings.Contains(e.err, "read-only file system; and disk/verdict.json is STALE: an old verdict that cannot be removed") {
		t.Error(e.err)
	}
}

func TestFault_061_Immutable(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.run("--policy", "policy", "good").want(t, exitPass)
	p.immutable("verdict.json")
	e := p.run("--policy", "policy", "bad").want(t, exitUndecided)
	if !strings.Contains(e.err, "operation not permitted; and verdict.json is STALE") {
		t.Error(e.err)
	}
	if left := p.leftovers(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// immutable makes a file one that not even root can change or remove, until the test ends.
func (p program) immutable(name string) {
	p.t.Helper()
	asRoot(p.t)
	needs(p.t, "chattr")
	file := filepath.Join(p.dir, name)
	if out, err := exec.Command("chattr", "+i", file).CombinedOutput(); err != nil {
		p.t.Skipf("SKIPPED: no immutable files here: %s", out)
	}
	p.t.Cleanup(func() {
		if out, err := exec.Command("chattr", "-i", file).CombinedOutput(); err != nil {
			p.t.Errorf("%s", out)
		}
	})
}

// TestFault_061_ImmutableReport: a report of an earlier run that cannot be removed ends a run before it begins,
// and is named by one that cannot begin for another reason.
func TestFault_061_ImmutableReport(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.run("--policy", "policy", "--report", "markdown=r.md", "good").want(t, exitPass)
	p.immutable("r.md")
	for _, output := range []string{"verdict.json", "good"} {
		e := p.run("--policy", "policy", "--report", "markdown=r.md", "--output", output, "bad").want(t, exitUndecided)
		if !strings.Contains(e.err+e.out, "r.md: the report of an earlier run cannot be removed: operation not permitted") {
			t.Errorf("--output %s: %s%s", output, e.out, e.err)
		}
	}
	if v := p.saying(); v != "UNDECIDED E_USAGE" {
		t.Errorf("the verdict is %s", v)
	}
}

// TestFault_061_UsageOverAnImmutableVerdict: unknown flags end with status 2, whether or not the old verdict can be
// replaced and wherever the flags place it.
func TestFault_061_UsageOverAnImmutableVerdict(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	for _, at := range [][]string{{"--output=v.json"}, {"--output", "v.json"}} {
		p.run("--policy", "policy", "--output", "v.json", "good").want(t, exitPass)
		p.run(append(at, "--nope")...).want(t, exitUndecided)
		if text := readFile(t, filepath.Join(p.dir, "v.json")); !strings.Contains(text, "E_USAGE") {
			t.Errorf("%q: %s", at, text)
		}
	}
	p.env = []string{"POLICYSCAN_OUTPUT=v.json"}
	p.run("--policy", "policy", "good").want(t, exitPass)
	p.immutable("v.json")
	p.run("--nope").want(t, exitUndecided)
}

// TestVerdictThatCannotBeRead: what fails before a report is written is an error of policyscan report.
func TestVerdictThatCannotBeRead(t *testing.T) {
	if _, err := decodeVerdict("-", iotest.ErrReader(errors.New("torn"))); err == nil || !strings.Contains(err.Error(), "torn") {
		t.Error(err)
	}
	c := reportCmd{File: "-", reportFlag: reportFlag{Report: []string{"no\x1bsuch"}}}
	err := c.Run(streams{in: strings.NewReader("{}")})
	if err == nil || !strings.Contains(err.Error(), `--report "no\u{1b}such": unknown format; choose one of text, json`) {
		t.Error(err)
	}
}

// TestOutputThroughALinkThatCannotBeDetermined: if git's index cannot be read, a symlink in the output's path could be
// the change's own.
func TestOutputThroughALinkThatCannotBeDetermined(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	p := newProgram(t)
	if out, err := exec.Command("git", "init", "-q", p.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	p.write(".git/index", "torn")
	if err := os.Symlink("good", filepath.Join(p.dir, "way")); err != nil {
		t.Fatal(err)
	}
	e := p.run("--policy", "policy", "--output", "way/v.json", "bad").want(t, exitUndecided)
	if !strings.Contains(e.err+e.out, "cannot determine whether git tracks way, on the way to the output way/v.json: ") {
		t.Errorf("%s%s", e.out, e.err)
	}
}

// TestFault_062_StandardOutput: a report that no one takes does not change a FAIL,
// and a PASS that was not written completely does not count.
func TestFault_062_StandardOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shell     string
		bad, good int
	}{
		{`exec "$@" >/dev/full`, exitViolation, exitUndecided},
		{`exec "$@" >&-`, exitViolation, exitUndecided},
		{`exec "$@" >/dev/null`, exitViolation, exitPass},
	} {
		if strings.Contains(c.shell, "/dev/full") && !exists("/dev/full") {
			continue
		}
		for tree, want := range map[string]int{"bad": c.bad, "good": c.good} {
			for _, flags := range [][]string{nil, {"--output", "-"}} {
				p := newProgram(t)
				p.under = []string{"sh", "-c", c.shell, "sh"}
				e := p.run(append([]string{"--policy", "policy", tree}, flags...)...)
				if e.status != want {
					t.Errorf("%s, %s, %q: status %d, want %d: %s", c.shell, tree, flags, e.status, want, e.err)
				}
				if flags != nil {
					continue
				}
				said := map[int]string{exitPass: "PASS", exitViolation: "FAIL NET-1@main.tf", exitUndecided: "UNDECIDED E_OUTPUT"}
				if got := p.saying(); got != said[e.status] {
					t.Errorf("%s, %s: status %d with %s", c.shell, tree, e.status, got)
				}
			}
		}
	}
}

// TestFault_062_Version: --version and help are printed, or the status is 2.
func TestFault_062_Version(t *testing.T) {
	t.Parallel()
	if !exists("/dev/full") {
		t.Skip("SKIPPED: no /dev/full here")
	}
	for _, flag := range []string{"--version", "--help"} {
		p := newProgram(t)
		p.under = []string{"sh", "-c", `exec "$@" >/dev/full`, "sh"}
		if e := p.run(flag).want(t, exitUndecided); !strings.Contains(e.err, "no space left") {
			t.Errorf("%s: it says %q", flag, e.err)
		}
	}
}

// TestFault_062_BrokenPipe: the reader is gone before the first byte.
func TestFault_062_BrokenPipe(t *testing.T) {
	t.Parallel()
	for tree, want := range map[string]int{"bad": exitViolation, "good": exitUndecided} {
		p := newProgram(t)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := p.command(context.Background(), "--policy", "policy", tree)
		cmd.Stdout = w
		status := exitOf(cmd.Run())
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		said := map[string]string{"bad": "FAIL NET-1@main.tf", "good": "UNDECIDED E_OUTPUT"}[tree]
		if got := p.saying(); status != want || got != said {
			t.Errorf("%s: status %d with %s, want %d", tree, status, got, want)
		}
	}
}

// TestFault_065_ManyWriters: many runs with one output. The file is at any time one
// run's verdict or marker, whole.
func TestFault_065_ManyWriters(t *testing.T) {
	t.Parallel()
	runs := 100
	if !*long {
		runs = 40
	}
	p := newProgram(t)
	p.write("bad/two.tf", strings.Repeat("x 0.0.0.0/0 y\n", 100))
	whole := map[string]bool{}
	for _, tree := range []string{"good", "bad"} {
		p.run("--policy", "policy", tree)
		whole[string(p.verdict().text)] = true
	}

	quit, gone := make(chan struct{}), make(chan struct{})
	seen := map[string]int{}
	go func() {
		defer close(gone)
		for {
			select {
			case <-quit:
				return
			default:
			}
			text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
			if err != nil {
				t.Error(err)
				return
			}
			seen[string(text)]++
			time.Sleep(100 * time.Microsecond)
		}
	}()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range runs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			tree, want := "good", exitPass
			if i%2 == 1 {
				tree, want = "bad", exitViolation
			}
			p.run("--policy", "policy", tree).want(t, want)
		}()
	}
	wg.Wait()
	close(quit)
	<-gone
	for text := range seen {
		v, err := readVerdict([]byte(text))
		switch {
		case err != nil:
			t.Error(err)
		case !whole[text] && strings.Join(summaryOf(v), " ") != "UNDECIDED E_IN_PROGRESS":
			t.Errorf("neither a run's verdict nor its marker:\n%s", text)
		}
	}
	if len(seen) < 2 {
		t.Errorf("the file was never seen to change (%d)", len(seen))
	}
	if text := string(p.verdict().text); !whole[text] {
		t.Errorf("at the end is\n%s", text)
	}
	if left := p.leftovers(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestFault_068_ManyViolations: 100,000 of them with -long, else 5,000; every one is in the verdict.
func TestFault_068_ManyViolations(t *testing.T) {
	t.Parallel()
	files, patterns := 1000, 100
	if !*long {
		files = 50
	}
	p := newProgram(t)
	var list, content strings.Builder
	for i := range patterns {
		fmt.Fprintf(&list, `, "<%03d>"`, i)
		fmt.Fprintf(&content, "<%03d>\n", i)
	}
	p.write("policy/rules/boundaries.yml", strings.Replace(oneRule, `"0.0.0.0/0"`, list.String()[2:], 1))
	for i := range files {
		p.write(fmt.Sprintf("many/%04d.tf", i), content.String())
	}
	e := p.run("--policy", "policy", "many").want(t, exitViolation)
	if want := fmt.Sprintf("FAIL: %d violations of 1 rule in %d files; ", files*patterns, files); !strings.Contains(e.out, want) {
		t.Errorf("the report ends %q, want %q", e.out[max(0, len(e.out)-200):], want)
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v verdictFile
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&v.Verdict); err != nil {
		t.Fatal(err)
	}
	if len(v.Violations) != files*patterns || !v.Complete {
		t.Errorf("%d violations in the verdict, complete: %v", len(v.Violations), v.Complete)
	}
	for i := range v.Violations {
		x := &v.Violations[i]
		if x.File != fmt.Sprintf("%04d.tf", i/patterns) || x.Evidence.Pattern != fmt.Sprintf("<%03d>", i%patterns) || x.Evidence.Line != int64(i%patterns+1) {
			t.Fatalf("violation %d is %+v", i, x)
		}
	}
}

// TestFault_044_045_069_ViolationAndUnreadable: what cannot be read is an
// error of the verdict; a violation is found all the same, and decides.
func TestFault_044_045_069_ViolationAndUnreadable(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	for _, name := range []string{"secret.tf", "closed/in.tf"} {
		p.write("bad/"+name, "x")
		p.write("good/"+name, "x")
	}
	for _, tree := range []string{"bad", "good"} {
		for _, name := range []string{"secret.tf", "closed"} {
			name = filepath.Join(p.dir, tree, name)
			if err := os.Chmod(name, 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(name, 0o700) }) // or the directory cannot be removed
		}
	}
	if os.Geteuid() == 0 { // whom permissions do not stop
		p.asNobody()
	}
	p.run("--policy", "policy", "bad").want(t, exitViolation)
	if got := p.saying(); got != "FAIL NET-1@main.tf E_READ E_READ" {
		t.Error(got)
	}
	v := p.verdict()
	if v.Complete || v.Errors[0].File != "closed" || v.Errors[1].File != "secret.tf" {
		t.Errorf("%+v", v.Errors)
	}
	if got := fmt.Sprint(v.Coverage.NotScanned); got != "[{secret.tf unreadable}]" {
		t.Error(got)
	}
	p.run("--policy", "policy", "good").want(t, exitUndecided)
	if got := p.saying(); got != "UNDECIDED E_READ E_READ" {
		t.Error(got)
	}
}

// asNobody makes the program run as a user whom permissions stop.
func (p *program) asNobody() {
	p.t.Helper()
	needs(p.t, "setpriv")
	binary, err := exec.LookPath("policyscan")
	if err != nil {
		p.t.Fatal(err)
	}
	// The user must have access to every directory on the way, as in t.TempDir. cp writes the copy: a process of a
	// parallel test would keep a file that is written here open, and a file open for writing cannot be run.
	bin := p.t.TempDir()
	if out, err := exec.Command("cp", binary, filepath.Join(bin, "policyscan")).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(filepath.Join(bin, "policyscan"), 0o755); err != nil {
		p.t.Fatal(err)
	}
	for _, dir := range []string{p.dir, filepath.Dir(p.dir), bin, filepath.Dir(bin)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			p.t.Fatal(err)
		}
	}
	p.under = []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", "env", "PATH=" + bin + ":" + os.Getenv("PATH"), "sh", "-c", `shift; exec policyscan "$@"`, "sh"}
}
