package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A program is the built program, to be run in a folder.
type program struct {
	t     testing.TB
	dir   string
	file  string   // of the program; "": this test's own, as "policyscan" in the PATH
	env   []string // besides PATH, HOME and TMPDIR, which are always there
	under []string // a program that runs it, and its arguments
	stdin string   // all that it reads
}

// hang is how long a run may take before it is said to hang, on however busy a machine.
const hang = 5 * time.Minute

// An ending is what a run of a program left.
type ending struct {
	status   int
	out, err string
}

func (p program) run(args ...string) ending {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	cmd := p.command(ctx, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	status := exitOf(cmd.Run())
	if ctx.Err() != nil {
		p.t.Fatalf("policyscan %q hangs: it did not end within %s", args, hang)
	}
	return ending{status, out.String(), err.String()}
}

func (p program) command(ctx context.Context, args ...string) *exec.Cmd {
	p.t.Helper()
	file := p.file
	if file == "" {
		var err error
		if file, err = exec.LookPath("policyscan"); err != nil {
			p.t.Fatal(err)
		}
	}
	words := append(append(append([]string{}, p.under...), file), args...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.WaitDelay = 10 * time.Second // a program under strace outlives it
	cmd.Dir = p.dir
	cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + os.TempDir()}, inherited(), p.env)
	cmd.Stdin = strings.NewReader(p.stdin)
	return cmd
}

// inherited are the settings of this process that go to the programs that it runs: of Go's race detector,
// by which they end when they are done and not a second later (see .ci/run), and of its coverage.
func inherited() (env []string) {
	for _, name := range []string{"GORACE", "GOCOVERDIR"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// verdict reads the verdict that a run left in the folder.
func (p program) verdict() *verdictFile {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	v, err := readVerdict(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// saying is the verdict in the words of the scripts' verdict command.
func (p program) saying() string {
	p.t.Helper()
	return strings.Join(summaryOf(p.verdict()), " ")
}

const oneRule = `rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}
`

// newProgram returns a program in a new folder that holds a bundle of one rule in
// policy, a tree that breaks it in bad and one that does not in good.
func newProgram(t testing.TB) program {
	t.Helper()
	p := program{t: t, dir: t.TempDir()}
	p.write("policy/rules/boundaries.yml", oneRule)
	p.write("policy/rules/invariants.yml", "rules: []\n")
	p.write("bad/main.tf", "cidr = \"0.0.0.0/0\"\n")
	p.write("good/main.tf", "cidr = \"10.0.0.0/8\"\n")
	return p
}

func (p program) write(name, content string) {
	p.t.Helper()
	writeFile(p.t, filepath.Join(p.dir, name), content)
}

// leftovers are the files of the folder that are not of newProgram's making.
func (p program) leftovers() []string {
	p.t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "verdict.json" {
			names = append(names, e.Name())
		}
	}
	return names
}

// want fails unless a run ended as it should.
func (e ending) want(t testing.TB, status int) ending {
	t.Helper()
	if e.status != status {
		t.Errorf("exit status %d, want %d\n%s%s", e.status, status, e.out, e.err)
	}
	return e
}

func needs(t testing.TB, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("SKIPPED: %s is not installed", tool)
	}
}
