//go:build linux

// Package disk scans file systems that the tests themselves serve (FUSE) and that break as a test wants it. There is no
// code in it. It needs Linux, root and /dev/fuse; without them its tests are skipped.
package disk

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/verdict"
)

// built is the path of policyscan, built once.
var built string

func TestMain(m *testing.M) {
	os.Exit(build.WithProgram(func(path string) int {
		built = path
		return m.Run()
	}))
}

// The exit statuses of policyscan.
const (
	exitPass      = 0
	exitViolation = 1
	exitUndecided = 2
)

// A program is policyscan, to be run in a directory.
type program struct {
	t     testing.TB
	dir   string
	env   []string // next to PATH and HOME
	stdin string
	limit time.Duration // 0: a minute
}

// newProgram returns a program in a new directory that holds a bundle of one rule in policy.
func newProgram(t testing.TB) program {
	t.Helper()
	p := program{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{
		"boundaries.yml": `rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}
`,
		"invariants.yml": "rules: []\n",
	} {
		file := filepath.Join(p.dir, "policy", "rules", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// run runs the program, which must end with this status.
func (p program) run(status int, args ...string) {
	p.t.Helper()
	limit := p.limit
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, built, args...)
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(p.stdin)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}, p.env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		p.t.Fatalf("policyscan %q: %v, %v\n%s", args, err, ctx.Err(), out)
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("policyscan %q: exit status %d, want %d\n%s", args, got, status, out)
	}
}

func (p program) verdictFile() []byte {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "verdict.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

func (p program) verdict() *verdict.Verdict {
	p.t.Helper()
	v, err := verdict.Decode(p.verdictFile())
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// saying is the verdict in words: PASS, FAIL or UNDECIDED, then RULE@FILE for each violation and the code of each error.
func (p program) saying() string {
	p.t.Helper()
	v := p.verdict()
	words := []string{string(v.Verdict)}
	if !v.Complete && len(v.Violations) == 0 {
		words[0] = "UNDECIDED"
	}
	for i := range v.Violations {
		words = append(words, v.Violations[i].RuleID+"@"+v.Violations[i].File)
	}
	for _, e := range v.Errors {
		words = append(words, e.Code)
	}
	return strings.Join(words, " ")
}

// A gitRepo is a program and, in its directory repo, a repository.
type gitRepo struct{ program }

func newGit(t testing.TB) *gitRepo {
	t.Helper()
	g := &gitRepo{newProgram(t)}
	if err := os.Mkdir(filepath.Join(g.dir, "repo"), 0o777); err != nil {
		t.Fatal(err)
	}
	g.git("", "init", "-q", "-b", "main", "--template=")
	return g
}

// git runs git in the repository, which reads stdin, and returns what it printed.
func (g *gitRepo) git(stdin string, args ...string) string {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = filepath.Join(g.dir, "repo"), strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		g.t.Fatalf("git %q: %v\n%s", args, err, said.String())
	}
	return strings.TrimSpace(out.String())
}

// tracks puts files into the index, whether the disk has them or not, and commits it.
func (g *gitRepo) tracks(files map[string]string) {
	g.t.Helper()
	g.git("", "config", "core.ignoreCase", "false") // or git takes two names for one
	for path, content := range files {
		g.git("", "update-index", "--add", "--cacheinfo", "100644,"+g.git(content, "hash-object", "-w", "--stdin")+","+path)
	}
	g.git("", "commit", "-q", "-m", "both")
}

// judge scans the directory disk, and fails unless the run ends with this status and its verdict says so.
func (g *gitRepo) judge(status int, saying string, args ...string) {
	g.t.Helper()
	if err := os.RemoveAll(filepath.Join(g.dir, "verdict.json")); err != nil { // of an earlier run
		g.t.Fatal(err)
	}
	g.run(status, append([]string{"--policy", "policy", "disk"}, args...)...)
	if got := g.saying(); got != saying {
		g.t.Errorf("%q: the verdict is %s, want %s", args, got, saying)
	}
}
