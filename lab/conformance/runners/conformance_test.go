// Package runners runs the program under the programs of others, as their users do. Each
// test is skipped unless make conformance asks for it,
// and then installs what it needs, and fails if it cannot.
package runners

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
	"github.com/policyscan/policyscan/lab/conformance/install"
)

var (
	conformance = flag.Bool("conformance", false, "run the tests that install and run the programs of others")
	long        = flag.Bool("long", false, "every case")
	update      = flag.Bool("update", false, "write what the manual shows")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(install.Main(*conformance || *agents, m.Run))
}

// needConformance skips a test without -conformance. With it, the test runs next to others: most of them wait.
func needConformance(t *testing.T) {
	t.Helper()
	if !*conformance {
		t.Skip("SKIPPED: -conformance was not given")
	}
	t.Parallel()
}

// A box is its own directory, in which programs run with nothing of the user's settings.
type box struct {
	t   *testing.T
	dir string
	env []string
}

func newBox(t *testing.T) *box {
	t.Helper()
	b := &box{t: t, dir: t.TempDir()}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(b.dir, "gitconfig"),
	}
	b.write("gitconfig", "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n[advice]\n\tdetachedHead = false\n")
	// What go needs to build again what this test's own build has downloaded.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		b.env = append(b.env, name+"="+strings.TrimSpace(string(out)))
	}
	return b
}

func (b *box) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *box) write(name, content string) {
	b.t.Helper()
	file := b.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// try runs a program in a directory of the box and returns all that it printed, and whether it
// ended well.
func (b *box) try(dir, name string, args ...string) (string, bool) {
	b.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = b.path(dir), b.env
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (b *box) must(dir, name string, args ...string) string {
	b.t.Helper()
	out, ok := b.try(dir, name, args...)
	if !ok {
		b.t.Fatalf("%s %q failed\n%s", name, args, out)
	}
	return strings.TrimSpace(out)
}

// addProgram puts policyscan into bin, the first directory of the box's PATH, and returns its path.
func (b *box) addProgram() string {
	b.t.Helper()
	file := b.path("bin/policyscan")
	if err := os.MkdirAll(b.path("bin"), 0o777); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Link(install.Program(), file); err != nil {
		b.t.Fatal(err)
	}
	b.env = append(b.env, "PATH="+b.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return file
}

const (
	rulesOfOne = `rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}
`
	rulesOfNone = "rules: []\n"
	good        = "cidr = \"10.0.0.0/8\"\n"
	bad         = "cidr = \"0.0.0.0/0\"\n"
)

// A work is the repository "work" of a box, whose hooks run policyscan.
type work struct {
	*box
	tree string // the work tree in which commits are made
}

// put writes a file of the work tree.
func (w *work) put(name, content string) {
	w.t.Helper()
	w.write(w.tree+"/"+name, content)
}

func (w *work) git(args ...string) string {
	w.t.Helper()
	return w.must(w.tree, "git", args...)
}

// bundle writes a bundle of one rule.
func (w *work) bundle() {
	w.t.Helper()
	w.put(".policyscan/rules/boundaries.yml", rulesOfOne)
	w.put(".policyscan/rules/invariants.yml", rulesOfNone)
}

func (w *work) head() string {
	w.t.Helper()
	out, ok := w.try(w.tree, "git", "rev-parse", "-q", "--verify", "HEAD")
	if !ok {
		return "" // before the first commit
	}
	return strings.TrimSpace(out)
}

// passes runs git, which must make a commit, and fails must not: it prints what is named,
// the files stay as they are, and no verdict is left.
func (w *work) passes(args ...string) string {
	w.t.Helper()
	return w.commits(true, nil, args...)
}

func (w *work) fails(says []string, args ...string) string {
	w.t.Helper()
	return w.commits(false, says, args...)
}

func (w *work) commits(want bool, says []string, args ...string) string {
	w.t.Helper()
	before, status := w.head(), w.status()
	out, ok := w.try(w.tree, "git", args...)
	w.t.Logf("git %s\n%s", strings.Join(args, " "), out)
	after := w.head()
	if ok != want || (after != before) != want {
		w.t.Errorf("git %q: ended well: %v, HEAD was %q and is %q; want a commit: %v", args, ok, before, after, want)
	}
	for _, text := range says {
		if !strings.Contains(out, text) {
			w.t.Errorf("git %q does not print %q", args, text)
		}
	}
	if now := w.status(); !want && now != status {
		w.t.Errorf("git %q left\n%s, it was\n%s", args, now, status)
	}
	if strings.Contains(w.status(), "verdict.json") {
		w.t.Errorf("git %q left a verdict", args)
	}
	return out
}

func (w *work) status() string {
	w.t.Helper()
	return w.must(w.tree, "git", "status", "--porcelain=v1", "--untracked-files=all", "--ignored")
}

// root is the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := build.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// must runs a program in a directory and returns all that it printed. It must end with status 0.
func must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
