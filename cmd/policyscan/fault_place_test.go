//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestFault_029_NormalFormsOfACommit: names that differ in their normal form alone are two
// files of a commit.
func TestFault_029_NormalFormsOfACommit(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	bad, good := g.object("blob", "cidr = \"0.0.0.0/0\"\n"), g.object("blob", "cidr = \"10.0.0.0/8\"\n")
	const composed, decomposed = "caf\u00e9.tf", "cafe\u0301.tf"
	base := g.git("commit-tree", "-m", "base", g.tree())
	for _, c := range []struct{ composed, decomposed, saying string }{
		{bad, bad, "FAIL NET-1@" + decomposed + " NET-1@" + composed},
		{bad, good, "FAIL NET-1@" + composed},
		{good, bad, "FAIL NET-1@" + decomposed},
	} {
		head := g.git("commit-tree", "-m", "both", "-p", base, g.tree("100644 blob "+c.decomposed+"\t"+decomposed, "100644 blob "+c.composed+"\t"+composed))
		g.judge("--diff-base "+base+" --head "+head, exitViolation, c.saying)
		if n := g.verdict().Coverage.Scanned; n != 2 {
			t.Errorf("%d files are scanned, want 2", n)
		}
	}
}

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
			for _, flags := range args {
				g := newGit(t)
				g.change()
				g.git("tag", "packed", "main")
				g.git("pack-refs", "--all", "--no-prune")
				if strings.HasSuffix(flags, "packed") {
					g.git("pack-refs", "--all")
				}
				if err := errors.Join(os.RemoveAll(g.path(name)), os.MkdirAll(filepath.Dir(g.path(name)), 0o777)); err != nil {
					t.Fatal(err)
				}
				if err := syscall.Mkfifo(g.path(name), 0o666); err != nil {
					t.Fatal(err)
				}
				e := g.run(append(strings.Fields(flags), "--policy", "policy", "repo")...)
				got := g.saying()
				// Files that need not be read do not weaken a run's answer.
				needless := name == ".git/info/exclude"
				if e.status != exitUndecided && !(needless && e.status == exitViolation && got == "FAIL NET-1@bad.tf") {
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
	g := newGit(t)
	g.run("--policy", "policy", "good").want(t, exitPass)
	t.Run("as it is written", func(t *testing.T) { forgedVerdict(t, string(g.verdict().text)) })
	var tight bytes.Buffer
	if err := json.Compact(&tight, g.verdict().text); err != nil {
		t.Fatal(err)
	}
	t.Run("in another form", func(t *testing.T) { forgedVerdict(t, tight.String()) })
	t.Run("of no more than its word", func(t *testing.T) { forgedVerdict(t, "\r\n{\"ok\": true, \"verdict\": \"PASS\"}") })
}

func forgedVerdict(t *testing.T, forged string) {
	t.Helper()
	g := newGit(t)
	base, _ := g.change()
	g.put("verdict.json", forged)
	head := g.commit("forged")
	inside := g.program
	inside.dir = g.path("")
	for _, args := range [][]string{{"--diff-base", base}, {"--staged"}, {"--tracked"}, nil, {"--output", "./verdict.json", "--diff-base", base}} {
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

// TestFault_129_DirtyWorkTree: uncommitted edits are outside a change, and a note says so at a terminal; see
// TestUncommitted.
func TestFault_129_DirtyWorkTree(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"10.0.0.0/8\"\n")
	g.put("gone.tf", "x")
	g.put("staged.tf", "x")
	g.commit("base")
	g.git("branch", "base")
	g.put("more.tf", "x")
	g.commit("more")
	g.judge("--diff-base base", exitPass, "PASS")
	const bad = "cidr = \"0.0.0.0/0\"\n"
	for i, dirty := range []func(){
		func() { g.put("main.tf", bad) },
		func() { g.put("new/untracked.tf", bad) },
		func() { g.put("staged.tf", bad); g.git("add", "staged.tf") },
		func() {
			if err := os.Remove(g.path("gone.tf")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dirty()
		if n := strings.Count(g.git("status", "--porcelain", "-uall"), "\n") + 1; n != i+1 {
			t.Fatalf("git counts %d files, not %d", n, i+1)
		}
		g.judge("--diff-base base", exitPass, "PASS")
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
		"$(touch TRACE)", "`touch TRACE`", "; touch TRACE;", "x && touch TRACE #", "\ntouch TRACE\n", "\"; touch TRACE; \"", "'; touch TRACE; '", "${PROGRAM}", "--output=TRACE", "-o TRACE",
		"x\n::add-path::/tmp", "::stop-commands::x", "a b\tc", "*", "~", "$IFS", "\\", "0", "%0A::error::x",
	} {
		hostile = strings.ReplaceAll(hostile, "TRACE", trace)
		for i, p := range actionFile(t).Inputs {
			if p.name == "install" || p.name == "version" {
				continue // of the step that installs, which TestActionReleases and make conformance have
			}
			if !*long && (i+k)%4 != 0 { // each input has a quarter of them
				continue
			}
			s := newStep(g, "push", `{}`, head)
			s.under = []string{"env", "PROGRAM=" + program, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script}
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
				if text := strings.TrimSpace(line); strings.HasPrefix(text, "::") && !strings.HasPrefix(text, "::error ") && !strings.HasPrefix(text, "::error::") && !strings.HasPrefix(text, "::notice") || strings.Contains(text, "##[") {
					t.Errorf("%s=%q: the runner would obey %q", p.name, hostile, line)
				}
			}
		}
	}
}

// TestFault_136_PreCommit runs an installed pre-commit with the hooks of
// .pre-commit-hooks.yaml as local ones: file names that look like flags do not reach the
// program, and many files do not split its run.
func TestFault_136_PreCommit(t *testing.T) {
	t.Parallel()
	needs(t, "pre-commit")
	text := readFile(t, "../../.pre-commit-hooks.yaml")
	var hooks []map[string]any
	if err := yaml.Unmarshal([]byte(text), &hooks); err != nil {
		t.Fatal(err)
	}
	hooks = slices.DeleteFunc(hooks, func(h map[string]any) bool { return h["id"] != "policyscan" && h["id"] != "policyscan-all" })
	if len(hooks) != 2 {
		t.Fatalf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		h["language"] = "system"
		delete(h, "minimum_pre_commit_version") // names of stages are of 3.2.0, and nothing else
		delete(h, "stages")
		h["verbose"] = true
	}
	config, err := yaml.Marshal(map[string]any{"repos": []any{map[string]any{"repo": "local", "hooks": hooks}}})
	if err != nil {
		t.Fatal(err)
	}
	g := newGit(t)
	g.put(".pre-commit-config.yaml", string(config))
	for _, file := range []string{"boundaries.yml", "invariants.yml"} {
		g.put(".policyscan/rules/"+file, readFile(t, filepath.Join(g.dir, "policy/rules", file)))
	}
	for i := range 300 { // names of 200 bytes: more than pre-commit hands to one run
		g.put(fmt.Sprintf("many/%03d-%s.tf", i, strings.Repeat("n", 190)), "x")
	}
	g.commit("base")
	run := func(want int, says ...string) {
		t.Helper()
		cmd := g.program
		cmd.dir = g.path("")
		cmd.file, _ = exec.LookPath("pre-commit")
		bin, err := exec.LookPath("policyscan")
		if err != nil {
			t.Fatal(err)
		}
		cmd.env = []string{"PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"), "PRE_COMMIT_HOME=" + filepath.Join(g.dir, "home"), "GIT_CONFIG_GLOBAL=/dev/null"}
		e := cmd.run("run", "--all-files").want(t, want)
		for _, s := range says {
			if !strings.Contains(e.out, s) {
				t.Errorf("%q is not in\n%s%s", s, e.out, e.err)
			}
		}
		if n := strings.Count(e.out, "\nFAIL: ") + strings.Count(e.out, "\nPASS: "); n != len(hooks) {
			t.Errorf("%d reports of %d hooks:\n%s", n, len(hooks), e.out)
		}
	}
	run(0, "nothing is staged: all tracked files were checked", "PASS: no violation; 301 files checked")
	for _, name := range []string{"--help.tf", "--output=none.tf", "-q.tf", "; touch x.tf"} {
		g.put(name, "cidr = \"0.0.0.0/0\"\n")
	}
	g.git("add", "-A")
	run(1, "--help.tf:1:9: ", "-q.tf:1:9: ", "FAIL: 4 violations")
}

// TestFault_141_ManyRuns: how the program's goroutines and memory are managed does not show
// in the verdict: a thousand runs with -long.
func TestFault_141_ManyRuns(t *testing.T) {
	t.Parallel()
	rounds := 1
	if *long {
		rounds = 63
	}
	p := newProgram(t)
	p.write("policy/rules/boundaries.yml", oneRule+strings.NewReplacer("rules:\n", "", "NET-1", "NET-2", "**/*.tf", "**", "0.0.0.0/0", "cidr").Replace(oneRule))
	for i := range 60 {
		p.write(fmt.Sprintf("many/%d/%d/%d.tf", i%3, i%7, i), strings.Repeat("cidr = \"0.0.0.0/0\"\n", 1+i%5))
	}
	if err := os.Chmod(filepath.Join(p.dir, "many/0/0"), 0o755); err != nil {
		t.Fatal(err)
	}
	var want []byte
	runs := 0
	for range rounds {
		for _, procs := range []string{"1", "2", "3", "64"} {
			for _, gc := range []string{"GOGC=1", "GOGC=100", "GOGC=off", "GODEBUG=asyncpreemptoff=1"} {
				p.env = []string{"GOMAXPROCS=" + procs, gc}
				p.run("--policy", "policy", "many").want(t, exitViolation)
				text := readFile(t, filepath.Join(p.dir, "verdict.json"))
				if want == nil {
					want = p.verdict().text
				}
				if runs++; text != string(want) {
					t.Fatalf("%s: run %d has another verdict", p.env, runs)
				}
			}
		}
	}
	if n := bytes.Count(want, []byte(`"rule_id"`)); n != 120 {
		t.Errorf("%d violations", n)
	}
	t.Logf("%d runs", runs)
}
