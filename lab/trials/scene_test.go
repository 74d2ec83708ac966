//go:build linux

package trials

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/report"
)

// limit is how long any run may take.
const limit = 10 * time.Second

// A scene is a run of policyscan, and what it leaves when nothing is done to it.
type scene struct {
	name    string
	root    string // a copy of which each worker has
	dir     string // of the run, in the directory
	args    []string
	stdin   string
	reports []string // formats; each goes to report.FORMAT
	noFile  bool     // no verdict.json: the run is one of policyscan report
	status  int      // of a run to which nothing is done

	clean ending
	old   map[string][]byte // the outputs of an earlier run, a PASS
}

// An ending is what a run left.
type ending struct {
	status   int // 128 and its number for a signal
	signaled bool
	out, err string
	files    map[string][]byte // of the outputs that are there
}

// outputs are the names of the files that the run writes.
func (s *scene) outputs() []string {
	var names []string
	if !s.noFile {
		names = append(names, "verdict.json")
	}
	for _, format := range s.reports {
		names = append(names, "report."+format)
	}
	return names
}

// words are the arguments of the run.
func (s *scene) words() []string {
	words := append([]string{}, s.args...)
	for _, format := range s.reports {
		words = append(words, "--report", format+"=report."+format)
	}
	return words
}

// environment makes the order of a run's calls repeatable: one processor, no collection of
// garbage, no goroutine that is stopped by a signal.
func environment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C",
		"GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1",
	}
}

// at is the directory of the run, in a worker's copy.
func (s *scene) at(root string) string { return filepath.Join(root, s.dir) }

// file is the path of an output. The verdict is in the root, wherever the run is.
func (s *scene) file(root, name string) string {
	if name == "verdict.json" {
		return filepath.Join(root, name)
	}
	return filepath.Join(s.at(root), name)
}

// reset puts the outputs of an earlier run in place, as if no run had been since.
func (s *scene) reset(root string) error {
	if err := s.tidy(root); err != nil {
		return err
	}
	for _, name := range s.outputs() {
		if err := os.WriteFile(s.file(root, name), s.old[name], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// tidy takes away the temporary files that killed runs left.
func (s *scene) tidy(root string) error {
	for _, dir := range []string{root, s.at(root)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if slices.ContainsFunc(s.outputs(), func(output string) bool { return disk.Temporary(e.Name(), output) }) {
				err := os.Remove(filepath.Join(dir, e.Name()))
				if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was in both, which are one
					return err
				}
			}
		}
	}
	return nil
}

// look reads what a run left.
func (s *scene) look(root string, e *ending) error {
	e.files = map[string][]byte{}
	for _, name := range s.outputs() {
		text, err := os.ReadFile(s.file(root, name))
		switch {
		case err == nil:
			e.files[name] = text
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// run does the run with nothing in its way.
func (s *scene) run(root string) (ending, error) {
	cmd := exec.Command(program, s.words()...)
	cmd.Dir, cmd.Env = s.at(root), environment(root)
	cmd.Stdin = strings.NewReader(s.stdin)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	ended := watch(func() { _ = cmd.Process.Kill() }) // it may have ended in this moment
	werr := cmd.Wait()
	hung := ended()
	e := ending{status: cmd.ProcessState.ExitCode(), out: out.String(), err: err.String()}
	if hung {
		return e, fmt.Errorf("it did not end within %s", limit)
	}
	if e.status < 0 {
		return e, werr
	}
	return e, s.look(root, &e)
}

// watch calls kill after the limit, until ended is called, which says whether that came to it.
// Time in which this process itself was stopped does not count: the run may have been, too.
func watch(kill func()) (ended func() (hung bool)) {
	quit, hung := make(chan struct{}), make(chan bool, 1)
	go func() {
		const step = limit / 100
		tick := time.NewTicker(step)
		defer tick.Stop()
		for left := limit; left > 0; left -= step {
			select {
			case <-quit:
				hung <- false
				return
			case <-tick.C:
			}
		}
		kill()
		hung <- true
	}()
	return func() bool { close(quit); return <-hung }
}

// What becomes of a run to which something was done.
const (
	same      = "as without"            // status and every output
	found     = "1, incomplete"         // a violation, and what else went wrong
	undecided = "2, incomplete FAIL"    // in verdict.json
	nothing   = "2, no verdict"         // verdict.json is absent
	stale     = "2, says STALE"         // the old one could not be replaced
	notBegun  = "2, before main"        // Go's runtime did not start
	reported  = "2, the reports' error" // of policyscan report, which writes no verdict
)

func outcomes() []string {
	return []string{same, found, undecided, nothing, stale, notBegun, reported}
}

// judge returns the outcome of a run, and what must not be.
func (s *scene) judge(e ending) (outcome string, wrong error) {
	crash := crashed(e.err)
	switch {
	case crash != "":
		return "", fmt.Errorf("it says %q", crash)
	case e.status < 0 || e.status > 2:
		return "", fmt.Errorf("status %d", e.status)
	case e.status == s.clean.status && s.asClean(e):
		return same, nil
	case e.status == 0:
		return "", fmt.Errorf("status 0, with other outputs than without: %s", s.differs(e))
	case e.status == 1 && s.clean.status != 1:
		return "", errors.New("status 1, and there is no violation")
	}
	if s.noFile {
		return reported, s.reportsAlone(e)
	}
	text, there := e.files["verdict.json"]
	switch {
	case !there && e.status == 1:
		outcome = found
	case !there:
		outcome = nothing
	case bytes.Equal(text, s.old["verdict.json"]):
		if e.status != 2 || !strings.Contains(e.err, "verdict.json") || !strings.Contains(e.err, "STALE") {
			return "", fmt.Errorf("the old PASS is there, status %d", e.status)
		}
		outcome = stale
	default:
		outcome = undecided
		if e.status == 1 {
			outcome = found
		}
		if err := s.verdictOf(e, text); err != nil {
			return "", err
		}
	}
	return outcome, s.reportsOf(e)
}

// crashed returns the word of Go's runtime for its own end, if it is in a text.
func crashed(text string) string {
	for _, word := range []string{"panic:", "fatal error:", "goroutine 1", "a bug in policyscan", "runtime: "} {
		if strings.Contains(text, word) {
			return word
		}
	}
	return ""
}

func (s *scene) asClean(e ending) bool { return s.differs(e) == "" }

// differs names an output that is not that of the run to which nothing was done.
func (s *scene) differs(e ending) string {
	for _, name := range s.outputs() {
		if text, there := e.files[name]; !there || !bytes.Equal(text, s.clean.files[name]) {
			return name
		}
	}
	return ""
}

// verdictOf is an error if verdict.json is wrong.
func (s *scene) verdictOf(e ending, text []byte) error {
	v, err := verdict.Decode(text)
	switch {
	case err != nil:
		return fmt.Errorf("verdict.json: %w", err)
	case v.Verdict != verdict.Fail:
		return fmt.Errorf("verdict.json says %s, status %d", v.Verdict, e.status)
	case v.Complete && !bytes.Equal(text, s.clean.files["verdict.json"]):
		return errors.New("verdict.json is complete, and another than without")
	case e.status == 1 && len(v.Violations) == 0 && v.Errors[0].Code != code.InProgress:
		return errors.New("status 1, and verdict.json has no violation")
	}
	known := map[string]bool{}
	if s.clean.files["verdict.json"] != nil {
		clean, err := verdict.Decode(s.clean.files["verdict.json"])
		if err != nil {
			return err
		}
		for _, x := range clean.Violations {
			known[asText(x)] = true
		}
	}
	for _, x := range v.Violations {
		if !known[asText(x)] {
			return fmt.Errorf("no violation: %s", asText(x))
		}
	}
	return nil
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// reportsOf is an error unless each report is absent, or that of the verdict next to it; or
// it is the old one, and the run says so.
func (s *scene) reportsOf(e ending) error {
	var v *verdict.Verdict
	if text, there := e.files["verdict.json"]; there {
		var err error
		if v, err = verdict.Decode(text); err != nil {
			return err
		}
	}
	for _, f := range report.Formats() {
		name := "report." + f.Name
		text, there := e.files[name]
		if !there {
			continue
		}
		if bytes.Equal(text, s.old[name]) {
			if !strings.Contains(e.err, name) && !strings.Contains(e.err, "STALE") {
				return fmt.Errorf("the old %s is there, and nothing says so", name)
			}
			continue
		}
		var want bytes.Buffer
		if v != nil {
			if err := f.Write(&want, v); err != nil {
				return err
			}
		}
		// A verdict that says FAIL, but could not be written after its reports, is in them.
		if !bytes.Equal(text, want.Bytes()) && (s.clean.status == 0 || !bytes.Equal(text, s.clean.files[name])) {
			return fmt.Errorf("%s is not that of the verdict beside it", name)
		}
	}
	return nil
}

// reportsAlone is reportsOf for policyscan report: a report is absent, or whole, or the old
// one, and the run says so.
func (s *scene) reportsAlone(e ending) error {
	for _, name := range s.outputs() {
		text, there := e.files[name]
		switch {
		case !there, bytes.Equal(text, s.clean.files[name]):
		case !bytes.Equal(text, s.old[name]):
			return fmt.Errorf("%s is partial", name)
		case e.err == "":
			return fmt.Errorf("the old %s is there, and nothing says so", name)
		}
	}
	return nil
}

// A builder makes the directories of scenes.
type builder struct {
	testing.TB
	dir  string
	hash string // as in GIT_DEFAULT_HASH; "": sha1
	now  int    // of the last commit
}

func newBuilder(t testing.TB) *builder {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	return &builder{TB: t, dir: t.TempDir()}
}

func (b *builder) write(name, content string) {
	b.Helper()
	file := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		b.Fatal(err)
	}
}

func (b *builder) git(args ...string) string {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.dir
	date := fmt.Sprintf("%d +0000", 1_700_000_000+b.now)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=" + date,
		"GIT_DEFAULT_HASH=" + cmp.Or(b.hash, "sha1"),
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *builder) commit(message string) {
	b.Helper()
	b.now++
	b.git("add", "-A")
	b.git("commit", "-q", "-m", message)
}

const boundaries = `rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      exclude: ["**/testdata/**"]
      forbidden_patterns: ["0.0.0.0/0", "::/0"]
`

const invariants = `rules:
  - id: K8S-1
    title: No privileged pods
    enforcement: {mode: fail}
    match:
      files: ["k8s/**"]
      required_absent: ["privileged: true"]
`

const deprecated = `rules:
  - id: OLD-1
    title: No telnet
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      forbidden_patterns: ["telnet"]
`

// repository makes a repository with all that the scopes read: a bundle, packed and loose
// objects and refs, a branch ahead of main, a staged change. Where bad is, each change
// and each state has violations.
func (b *builder) repository(bad bool) {
	b.Helper()
	open, closed := "cidr = \"10.0.0.0/8\"\n", "cidr = \"10.0.0.0/16\"\n"
	pod := "kind: Pod\n"
	if bad {
		open, closed, pod = "cidr = \"0.0.0.0/0\"\n", "cidr = \"::/0\"\n", "kind: Pod\nprivileged: true\n"
	}
	b.git("init", "-q", "-b", "main", ".")
	b.write(".gitignore", "verdict.json\nreport.*\n.*.tmp\nin.json\nold.json\n")
	b.write(".policyscan/rules/boundaries.yml", boundaries)
	b.write(".policyscan/rules/invariants.yml", invariants)
	b.write(".policyscan/rules/deprecated.yml", deprecated)
	b.write("README.md", "how to\n")
	b.write("infra/main.tf", open)
	b.write("infra/net/vpc.tf", "name = \"vpc\"\n"+strings.Repeat("# a long file\n", 3000))
	b.write("k8s/pod.yaml", pod)
	if err := os.Symlink("infra/main.tf", filepath.Join(b.dir, "link.tf")); err != nil {
		b.Fatal(err)
	}
	b.commit("one")
	b.write("README.md", "how to do it\n")
	b.commit("two")
	b.git("checkout", "-q", "-b", "work", "HEAD~1")
	b.write("infra/net/vpc.tf", "name = \"vpc\"\n"+closed+strings.Repeat("# a long file\n", 3000))
	b.write("k8s/web.yaml", pod)
	b.commit("three")
	b.git("gc", "-q")
	b.write("infra/dns.tf", open)
	b.commit("four")
	b.write("infra/staged.tf", closed)
	b.git("add", "-A")
}

// missing adds a submodule that is checked out, and has a submodule that is not: all else
// passes, so whoever fails to see that one passes it.
func (b *builder) missing() {
	b.Helper()
	b.write(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib\n")
	b.write("lib/.git", "gitdir: ../.git/modules/lib\n")
	b.write("lib/main.tf", "cidr = \"10.0.0.0/8\"\n")
	b.write("lib/.gitmodules", "[submodule \"deep\"]\n\tpath = deep\n\turl = ../deep\n")
	if err := os.Mkdir(filepath.Join(b.dir, "lib/deep"), 0o777); err != nil {
		b.Fatal(err)
	}
}

// scenes are the reference runs, by scope; each over a tree that passes and over one that
// does not; and one that cannot be decided, as a part of the tree is missing.
func scenes(t testing.TB) []*scene {
	t.Helper()
	var all []*scene
	reports := []string{"sarif", "markdown"}
	for _, bad := range []bool{false, true} {
		b := newBuilder(t)
		b.repository(bad)
		suffix := ""
		text := "cidr = \"10.0.0.0/8\"\n"
		if bad {
			suffix, text = ", violations", "cidr = \"0.0.0.0/0\"\n"
		}
		for _, s := range []*scene{
			{name: "full", dir: "infra"}, // whose root is to be found
			{name: "tracked", args: []string{"--tracked"}},
			{name: "diff", args: []string{"--diff-base", "main", "--policy", ".policyscan"}},
			{name: "staged", args: []string{"--staged"}},
			{name: "stdin", args: []string{"--stdin", "--stdin-path", "infra/new.tf"}, stdin: text},
			{name: "report", args: []string{"report", "in.json"}, noFile: true},
		} {
			s.name += suffix
			s.root, s.reports = copied(t, b.dir), reports
			if bad && !s.noFile {
				s.status = 1
			}
			s.prepare(t)
			all = append(all, s)
		}
	}
	b := newBuilder(t)
	b.repository(false)
	b.missing()
	s := &scene{name: "full, a submodule is missing", dir: "infra", root: b.dir, reports: reports, status: 2}
	s.prepare(t)
	return append(all, s)
}

// prepare does the clean run, and makes the outputs of an earlier one.
func (s *scene) prepare(t testing.TB) {
	t.Helper()
	// An earlier run, over another tree, which passed: all of its outputs say so.
	earlier := &builder{TB: t, dir: t.TempDir()}
	earlier.write("rules/boundaries.yml", boundaries)
	earlier.write("rules/invariants.yml", "rules: []\n")
	earlier.write("old.tf", "old\n")
	e, err := (&scene{root: earlier.dir, reports: s.reports}).run(earlier.dir)
	if err != nil || e.status != 0 {
		t.Fatalf("%s: the earlier run: status %d, %v\n%s", s.name, e.status, err, e.err)
	}
	s.old = e.files
	if s.noFile {
		in := *s
		in.args, in.noFile, in.reports = []string{"--tracked", "--output", "in.json"}, false, nil
		if _, err := in.run(s.root); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.reset(s.root); err != nil {
		t.Fatal(err)
	}
	if s.clean, err = s.run(s.root); err != nil {
		t.Fatal(err)
	}
	if s.clean.status != s.status {
		t.Fatalf("%s: status %d, want %d\n%s%s", s.name, s.clean.status, s.status, s.clean.out, s.clean.err)
	}
	for _, name := range s.outputs() {
		if bytes.Equal(s.clean.files[name], s.old[name]) || len(s.old[name]) == 0 || s.clean.files[name] == nil {
			t.Fatalf("%s: %s is the same as that of the earlier run, or missing", s.name, name)
		}
	}
}

// copies gives each worker its own copy of the scene's directory.
func (s *scene) copies(t testing.TB, n int) []string {
	t.Helper()
	var all []string
	for range n {
		all = append(all, copied(t, s.root))
	}
	return all
}

// copied returns a copy of a directory, with the times that the index knows.
func copied(t testing.TB, root string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", "-a", root, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}
