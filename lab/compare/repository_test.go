//go:build linux

package compare

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A scenario is a row: what a change does, in which checkout, with which configuration. A
// tool that edits skip is n/a, if there are edits.
type scenario struct {
	name   string
	base   func(r *repository) // what main holds next to the tool's files
	change func(r *repository) // what the change does; nil for the text in main.tf
	after  func(r *repository) // what happens to the checkout
	edits  map[string]edit     // by a tool's name or family; "*" for all others
	clone  []string            // arguments of git clone
	hook   bool                // the tools run as hooks before a commit
	nobody bool                // as a user without rights
	killed bool                // by SIGTERM, after half of its time
	large  bool                // left out of -short
	often  int                 // runs after the first, for a tool that does not always do the same: the worst counts
}

func (s scenario) setup(t tool) (setup, bool) {
	made := t.clone()
	if s.hook && t.hook != "" {
		made.script = t.hook
	}
	if s.edits == nil {
		return made, true
	}
	for _, key := range []string{t.name, t.family, "*"} {
		if e, ok := s.edits[key]; ok {
			if !e(&made) {
				return setup{}, true
			}
			return made, true
		}
	}
	return setup{}, false
}

// What became of a run.
const (
	caught  = "caught"  // not 0, and the text was reported
	missed  = "missed"  // 0
	refused = "refused" // not 0, and nothing was reported
	hung    = "hung"    // had to be killed
	none    = "n/a"
)

type result struct {
	what   string
	status int
	output string
}

func (r result) String() string { return fmt.Sprintf("%s, %d", r.what, r.status) }

// cell is what the page says.
func (r result) cell(status bool) string {
	what := r.what
	if what == missed || what == hung {
		what = "**" + what + "**"
	}
	if status && r.what != none && r.what != hung {
		return fmt.Sprintf("%s, %d", what, r.status)
	}
	return what
}

// A repository is one that a scenario makes for a tool.
type repository struct {
	t    *testing.T
	tool tool
	dir  string // the work tree
}

func (r *repository) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *repository) write(name, content string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repository) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "protocol.file.allow=always", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Env = environment(os.Getenv("PATH"), os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit takes what is in the work tree, ignored or not.
func (r *repository) commit() {
	r.t.Helper()
	r.git("add", "--all", "--force")
	r.git("commit", "--quiet", "--allow-empty", "--message", "a change")
}

// truncate halves the file of a loose object.
func (r *repository) truncate(object string) {
	r.t.Helper()
	id := r.git("rev-parse", object)
	name := r.path(filepath.Join(".git", "objects", id[:2], id[2:]))
	content, err := os.ReadFile(name)
	r.must(err)
	r.must(os.Remove(name))
	r.must(os.WriteFile(name, content[:len(content)/2], 0o644))
}

// loosen takes the rule out of the tool's own configuration.
func (r *repository) loosen() {
	r.t.Helper()
	s := r.tool.clone()
	if !swap("public-read", "no-such-text")(&s) && !swap("public[-]read", "no[-]such[-]text")(&s) {
		r.t.Fatalf("%s: nothing to loosen", r.tool.name)
	}
	for name, content := range s.files {
		r.write(name, content)
	}
}

// environment is the environment of a CI job without any set-up.
func environment(path, home string) []string {
	return []string{
		"PATH=" + path, "HOME=" + home, "LC_ALL=C.UTF-8", "NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
}

// run makes the repository, checks the change out as CI does, and runs a tool over it.
func (s scenario) run(t *testing.T, tool tool, path string) result {
	t.Helper()
	made, ok := s.setup(tool)
	if !ok {
		return result{what: none}
	}
	if made.script == "" {
		t.Fatalf("%s: %s: nothing to edit", s.name, tool.name)
	}
	dir := open(t)
	defer os.RemoveAll(dir)
	r := &repository{t: t, tool: tool, dir: filepath.Join(dir, "origin")}
	r.must(os.Mkdir(r.dir, 0o755))
	r.git("init", "--quiet", "--initial-branch=main")
	for name, content := range made.files {
		r.write(name, content)
	}
	r.write("README.md", "# Logs\n")
	r.write("versions.tf", "terraform {\n  required_version = \"~> 1.9\"\n}\n")
	if s.base != nil {
		s.base(r)
	}
	r.commit()
	r.git("checkout", "--quiet", "-b", "change")
	if s.change != nil {
		s.change(r)
	} else {
		r.write("main.tf", bucket(text))
	}
	r.commit()
	checkout := filepath.Join(dir, "checkout")
	r.git(append(append([]string{"clone", "--quiet", "--branch", "change"}, s.clone...), "file://"+r.dir, checkout)...)
	r.dir = checkout
	if s.after != nil {
		s.after(r)
	}
	home := filepath.Join(dir, "home")
	r.must(os.Mkdir(home, 0o755))
	j := job{script: made.script, dir: checkout, env: append(environment(path, home), "TMPDIR="+home)}
	if s.nobody && os.Getuid() == 0 {
		j.nobody = true
		r.must(filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(name, 65534, 65534))
		}))
	}
	if s.nobody { // nothing is left behind that cannot be removed
		defer func() { _ = exec.Command("chmod", "-R", "u+rwX", checkout).Run() }()
	}
	if s.killed {
		return j.killed(t, tool)
	}
	result := j.run(t, tool, 0)
	if result.what == hung { // or was the machine busy?
		result = j.run(t, tool, 0)
	}
	for range s.often {
		if again := j.run(t, tool, 0); again.what == missed {
			return again
		}
	}
	return result
}

// patience is how long a run may take.
const patience = 40 * time.Second

// A job is a script to be run.
type job struct {
	script, dir string
	env         []string
	nobody      bool
}

// run runs it; after, if it is not 0, it is ended by SIGTERM.
func (j job) run(t *testing.T, tool tool, after time.Duration) result {
	t.Helper()
	cmd := exec.Command("sh", "-c", j.script)
	cmd.Dir, cmd.Env = j.dir, j.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if j.nobody {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func(signal syscall.Signal) func() { return func() { _ = syscall.Kill(-cmd.Process.Pid, signal) } }
	late := false
	timer := time.AfterFunc(patience, func() { late = true; end(syscall.SIGKILL)() })
	if after > 0 {
		time.AfterFunc(after, end(syscall.SIGTERM))
	}
	_ = cmd.Wait()
	timer.Stop()
	r := result{status: cmd.ProcessState.ExitCode(), output: out.String()}
	if state := cmd.ProcessState.Sys().(syscall.WaitStatus); state.Signaled() {
		r.status = 128 + int(state.Signal())
	}
	switch {
	case late:
		r.what = hung
	case r.status == 0:
		r.what = missed
	case tool.reported.MatchString(r.output):
		r.what = caught
	default:
		r.what = refused
	}
	if len(r.output) > 2000 {
		r.output = r.output[:2000] + "…"
	}
	return r
}

// killed ends a run when half of its time is over, and tries again if it was over by then.
func (j job) killed(t *testing.T, tool tool) result {
	t.Helper()
	begin := time.Now()
	j.run(t, tool, 0)
	took := time.Since(begin)
	for try := range 12 {
		r := j.run(t, tool, took>>(try+1))
		if r.status > 128 || r.what == refused {
			return r
		}
	}
	t.Fatalf("%s: too fast to be killed: %v", tool.name, took)
	return result{}
}
