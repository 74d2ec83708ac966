// Package agents gives policyscan's answers to the agents themselves: their
// programs from npm, with a model that stands in for theirs and asks for one command.
// Its tests install those programs and are run by: make agents
package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/protocol"
)

var (
	agents = flag.Bool("agents", false, "run the agents, and install them")
	npm    = flag.String("npm", "", "a directory to keep the packages of npm in; without it they are installed anew")
)

// The versions that the documentation says were checked.
const (
	claudeVersion  = "2.1.330"
	codexVersion   = "0.169.0"
	geminiVersion  = "0.61.0"
	copilotVersion = "1.0.102"
)

// asked skips a test that was not asked for, and where the packages have no program.
func asked(t *testing.T) {
	t.Helper()
	if !*agents {
		t.Skip("it runs with -agents")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the programs are for Linux on amd64")
	}
}

// install returns the directory of a package of npm, which is installed without running anything of it.
func install(t *testing.T, name, version string) string {
	t.Helper()
	root := *npm
	if root == "" {
		root = t.TempDir()
	}
	root = filepath.Join(root, strings.NewReplacer("/", "+", "@", "").Replace(name)+"-"+version)
	dir := filepath.Join(root, "node_modules", filepath.FromSlash(name))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(root, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, "package.json"), `{"private":true}`)
		cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", name+"@"+version)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm install %s@%s: %v\n%s", name, version, err, out)
		}
	}
	return dir
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o777); err != nil {
		t.Fatal(err)
	}
}

// settings writes a file of JSON.
func settings(t *testing.T, name string, value any) {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, string(b))
}

// A hook is what the agent's hook does: it writes an answer, says something on standard error, and
// leaves with a status.
type hook struct {
	answer []byte
	stderr string
	status int
	sleep  int // seconds, before anything of that
}

// A session is one run of an agent in its own directory.
type session struct {
	dir, home string
	model     *model
	hook      string // the command of the hook
}

// start prepares a session: a project, a home, a model that asks for a file to be made, and a hook that
// keeps its input.
func start(t *testing.T, h hook) *session {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{dir: filepath.Join(root, "project"), home: filepath.Join(root, "home")}
	s.model = startModel(t, "touch made")
	s.hook = filepath.Join(root, "hook.sh")
	write(t, filepath.Join(root, "answer"), string(h.answer))
	write(t, filepath.Join(root, "stderr"), h.stderr)
	write(t, s.hook, fmt.Sprintf("#!/bin/sh\ncat >%[1]s/input\nsleep %[3]d\ncat %[1]s/answer\ncat %[1]s/stderr >&2\nexit %[2]d\n", root, h.status, h.sleep))
	for _, dir := range []string{s.dir, s.home} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run runs the agent to its end, and fails if that never came to its model.
func (s *session) run(t *testing.T, env []string, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=dumb"}, env...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("it did not end: %v\n%s\n%q", err, out, s.model.paths)
	}
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	if !s.model.asked {
		t.Fatalf("the model was not asked for a step: %v\n%s\n%q", err, out, s.model.paths)
	}
}

// made reports whether the command of the model ran.
func (s *session) made() bool {
	_, err := os.Stat(filepath.Join(s.dir, "made"))
	return err == nil
}

// asked reports whether the hook was run.
func (s *session) asked() bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(s.dir), "input"))
	return err == nil
}

// event is what the agent gave its hook, read by us.
func (s *session) event(t *testing.T, a *protocol.Agent) *protocol.Event {
	t.Helper()
	input, err := os.ReadFile(filepath.Join(filepath.Dir(s.dir), "input"))
	if err != nil {
		t.Fatalf("the hook was not run: %v", err)
	}
	e, err := a.Read(input)
	if err != nil {
		t.Fatalf("%v: %s", err, input)
	}
	if got := e.Call.Input.Member("command").Str(); got != s.model.command {
		t.Errorf("the command is %q: %s", got, input)
	}
	if e.Call.Dir != s.dir {
		t.Errorf("the directory is %q, not %q: %s", e.Call.Dir, s.dir, input)
	}
	return e
}

const (
	why  = "the rule no-touch forbids it: \"<made>\" & more"
	note = "a note for the person"
)

// An exchange is a decision of ours, or a failure of the hook, and how the agent reacts.
type exchange struct {
	name   string
	hook   func(a *protocol.Agent, e *protocol.Event) hook
	runs   bool   // whether the command runs
	reason string // what the model is told if it does not
}

func answers(d protocol.Decision) func(*protocol.Agent, *protocol.Event) hook {
	return func(a *protocol.Agent, e *protocol.Event) hook { return hook{answer: a.Answer(e, d)} }
}

func fails(h hook) func(*protocol.Agent, *protocol.Event) hook {
	return func(*protocol.Agent, *protocol.Event) hook { return h }
}

// judge runs the exchanges with one agent. The event of the answers is one of the agent's own, taken in
// a first session.
func judge(t *testing.T, name, tool string, run func(*testing.T, *session), exchanges []exchange) {
	a := protocol.Named(name)
	first := start(t, hook{answer: a.Answer(&protocol.Event{}, protocol.Decision{})})
	run(t, first)
	e := first.event(t, a)
	if e.Call.Tool != tool {
		t.Errorf("the tool is %q, not %q", e.Call.Tool, tool)
	}
	for _, x := range exchanges {
		t.Run(x.name, func(t *testing.T) {
			s := start(t, x.hook(a, e))
			run(t, s)
			s.event(t, a)
			if s.made() != x.runs {
				t.Errorf("the command ran: %v, want %v; the model was told %s", s.made(), x.runs, s.model.result)
			}
			if !x.runs && !strings.Contains(s.model.result, marshaled(t, x.reason)) {
				t.Errorf("the model was told %s, not %q", s.model.result, x.reason)
			}
		})
	}
}

// marshaled is a text as it is within JSON.
func marshaled(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Trim(b, `"`))
}

// lastLine is the last line of an output; what an agent's code says of itself comes before.
func lastLine(out []byte) []byte {
	out = bytes.TrimSpace(out)
	return out[bytes.LastIndexByte(out, '\n')+1:]
}
