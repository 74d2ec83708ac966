//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	scan := []string{"--policy", "policy", "--output", "repo/verdict.json", "--report", "sarif=repo/a.sarif",
		"--report", "text=repo/a.txt", "repo"}
	for _, fault := range []string{"an index that is torn", "not a report", "a report that is tracked",
		"not a verdict"} {
		g.run(scan...).want(t, exitPass)
		args, stays := scan, ""
		switch fault {
		case "an index that is torn":
			g.put(".git/index", "DIRC")
		case "not a report":
			g.put("a.txt", "mine\n")
			stays = "a.txt"
		case "a report that is tracked":
			g.git("add", "a.sarif")
			stays = "a.sarif"
		case "not a verdict":
			g.put("in.json", "{}\n")
			args = append([]string{"report", "repo/in.json"}, scan[4:8]...)
		}
		g.run(args...).want(t, exitUndecided)
		text, err := os.ReadFile(g.path("verdict.json"))
		if v, verr := readVerdict(text); args[0] != "report" &&
			(err != nil || verr != nil || v.Verdict.Verdict != "FAIL") {
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
	if !strings.Contains(e.err, "disk/verdict.json: the verdict cannot be written: no space left on device") ||
		e.out != "" {
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
		many.WriteString(strings.Replace(strings.TrimPrefix(oneRule, "rules:\n"), "NET-1", fmt.Sprintf("NET-%d", i+1),
			1))
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
	if !strings.Contains(e.err,
		"read-only file system; and disk/verdict.json is STALE: an old verdict that cannot be removed") {
		t.Error(e.err)
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
		if !strings.Contains(e.err+e.out,
			"r.md: the report of an earlier run cannot be removed: operation not permitted") {
			t.Errorf("--output %s: %s%s", output, e.out, e.err)
		}
	}
	if v := p.saying(); v != "UNDECIDED E_USAGE" {
		t.Errorf("the verdict is %s", v)
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
	p.under = []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", "env",
		"PATH=" + bin + ":" + os.Getenv("PATH"), "sh", "-c", `shift; exec policyscan "$@"`, "sh"}
}
