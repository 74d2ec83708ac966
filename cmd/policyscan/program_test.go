package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A program is the built program, to be run in a directory.
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

// An ending is the result of a program's run.
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
	own := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + os.TempDir()}
	cmd.Env = slices.Concat(own, inherited(), p.env)
	cmd.Stdin = strings.NewReader(p.stdin)
	return cmd
}

// inherited are the settings of this process that go to the programs that it runs: of Go's race detector,
// by which they end when they are done and not a second later (see .ci/run), of its coverage, and of git: with
// GIT_DEFAULT_HASH=sha256 the repositories are of SHA-256.
func inherited() (env []string) {
	for _, name := range []string{"GORACE", "GOCOVERDIR", "GIT_DEFAULT_HASH"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// verdict reads the verdict that a run left in the directory.
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

// newProgram returns a program in a new directory: policy has a bundle of one rule, bad a tree that violates it and
// good one that does not.
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

// leftovers are the files of the directory that newProgram did not write.
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

// A gitRepo is a program and, in its directory, a repository that the git command builds. The bundle policy/ next to
// that repository cannot be changed by any commit.
type gitRepo struct {
	program
	clock int // of the next commit, in seconds: the same history has the same hashes
}

func newGit(t testing.TB) *gitRepo {
	t.Helper()
	needs(t, "git")
	g := &gitRepo{program: newProgram(t), clock: 1_700_000_000}
	if err := os.Mkdir(g.path(""), 0o777); err != nil {
		t.Fatal(err)
	}
	g.git("init", "-q", "-b", "main", "--template=") // without sample hooks, which take their time
	return g
}

// path is a path in the repository.
func (g *gitRepo) path(name string) string { return filepath.Join(g.dir, "repo", name) }

// git runs git in the repository and returns its output.
func (g *gitRepo) git(args ...string) string {
	g.t.Helper()
	return g.gitIn("repo", "", args...)
}

// gitIn runs git in one of the program's directories, with stdin to read.
func (g *gitRepo) gitIn(dir, stdin string, args ...string) string {
	g.t.Helper()
	g.clock++
	date := fmt.Sprintf("%d +0000", g.clock)
	cmd := exec.Command("git", append([]string{"--no-replace-objects"}, args...)...)
	cmd.Dir = filepath.Join(g.dir, dir)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(gitEnv(), "PATH="+os.Getenv("PATH"), "HOME="+g.dir, "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_DATE="+date)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if fault := cmd.Run(); fault != nil {
		g.t.Fatalf("git %q: %v\n%s", args, fault, err.String())
	}
	return strings.TrimSpace(out.String())
}

// put writes a file of the repository's work tree.
func (g *gitRepo) put(name, content string) {
	g.t.Helper()
	writeFile(g.t, g.path(name), content)
}

// commit commits the work tree as it is and returns the commit.
func (g *gitRepo) commit(message string) string {
	g.t.Helper()
	g.git("add", "-A")
	g.git("commit", "-q", "--allow-empty", "-m", message)
	return g.git("rev-parse", "HEAD")
}

// change is the history of most tests: main, and work with one more commit that adds
// bad.tf, which breaks the rule.
func (g *gitRepo) change() (base, head string) {
	g.t.Helper()
	g.put("main.tf", "cidr = \"10.0.0.0/8\"\n")
	base = g.commit("base")
	g.git("checkout", "-q", "-b", "work")
	g.put("bad.tf", "cidr = \"0.0.0.0/0\"\n")
	return base, g.commit("harm")
}

// object writes an object as it is, malformed or not.
func (g *gitRepo) object(kind, content string) string {
	g.t.Helper()
	return g.gitIn("repo", content, "hash-object", "-t", kind, "-w", "--stdin", "--literally")
}

// tree writes a tree of lines as git ls-tree prints them. Its objects need not exist.
func (g *gitRepo) tree(lines ...string) string {
	g.t.Helper()
	var list strings.Builder
	for _, line := range lines {
		list.WriteString(line + "\x00")
	}
	return g.gitIn("repo", list.String(), "mktree", "-z", "--missing")
}

// judge scans the repository with the bundle next to it, and fails unless the run ends so. saying is in the words of
// the scripts' verdict command; each of texts is in the output.
func (g *gitRepo) judge(args string, status int, saying string, texts ...string) {
	g.t.Helper()
	g.judgeIn("repo", append([]string{"--policy", "policy"}, strings.Fields(args)...), status, saying, texts...)
}

// judgeOwn is judge with the repository's bundles.
func (g *gitRepo) judgeOwn(args string, status int, saying string, texts ...string) {
	g.t.Helper()
	g.judgeIn("repo", strings.Fields(args), status, saying, texts...)
}

// judgeIn is judge with any PATH ("": none) and arguments.
func (g *gitRepo) judgeIn(path string, args []string, status int, saying string, texts ...string) {
	g.t.Helper()
	old := filepath.Join(g.dir, "verdict.json") // must not be mistaken for this run's
	if err := os.RemoveAll(old); err != nil {
		g.t.Fatal(err)
	}
	if path != "" {
		args = append(slices.Clip(args), path)
	}
	e := g.run(args...).want(g.t, status)
	if got := g.saying(); got != saying {
		g.t.Errorf("%q: the verdict is %s, want %s\n%s%s", args, got, saying, e.out, e.err)
	}
	for _, text := range texts {
		if !strings.Contains(e.out, text) {
			g.t.Errorf("%q: %q is not in\n%s%s", args, text, e.out, e.err)
		}
	}
}

// sub is the repository for a subtest.
func (g *gitRepo) sub(t testing.TB) *gitRepo {
	c := *g
	c.t = t
	return &c
}
