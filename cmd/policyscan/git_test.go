package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A gitRepo is a program and, in its folder, a repository that the git command builds.
// The bundle policy/ next to that repository is one that no change can touch.
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

// path is that of a file in the repository.
func (g *gitRepo) path(name string) string { return filepath.Join(g.dir, "repo", name) }

// git runs git in the repository and returns what it printed.
func (g *gitRepo) git(args ...string) string {
	g.t.Helper()
	return g.gitIn("repo", "", args...)
}

// gitIn runs git in a folder of the program's, with stdin to read.
func (g *gitRepo) gitIn(dir, stdin string, args ...string) string {
	g.t.Helper()
	g.clock++
	date := fmt.Sprintf("%d +0000", g.clock)
	cmd := exec.Command("git", append([]string{"--no-replace-objects"}, args...)...)
	cmd.Dir = filepath.Join(g.dir, dir)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=" + date,
	}
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

// tree writes a tree of lines as git ls-tree prints them. What they name need not exist.
func (g *gitRepo) tree(lines ...string) string {
	g.t.Helper()
	var list strings.Builder
	for _, line := range lines {
		list.WriteString(line + "\x00")
	}
	return g.gitIn("repo", list.String(), "mktree", "-z", "--missing")
}

// judge runs the program with the bundle next to the repository, PATH being the
// repository, and fails unless it ends so. saying is in the words of the scripts'
// verdict command; each of texts is in what was printed.
func (g *gitRepo) judge(args string, status int, saying string, texts ...string) {
	g.t.Helper()
	g.judgeIn("repo", append([]string{"--policy", "policy"}, strings.Fields(args)...), status, saying, texts...)
}

// judgeOwn is judge with the bundles that the repository holds.
func (g *gitRepo) judgeOwn(args string, status int, saying string, texts ...string) {
	g.t.Helper()
	g.judgeIn("repo", strings.Fields(args), status, saying, texts...)
}

// judgeIn is judge with any PATH ("": none) and arguments.
func (g *gitRepo) judgeIn(path string, args []string, status int, saying string, texts ...string) {
	g.t.Helper()
	old := filepath.Join(g.dir, "verdict.json") // must not be taken for this run's
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
