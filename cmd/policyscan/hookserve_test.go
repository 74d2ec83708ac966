package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/scanner/scope"
)

const denyShell = `rules:
  - id: SHELL
    title: No shell
    effect: deny
    when: {fact: tool, equals: Bash}
`

// kept is a keeper of one file of call rules, at a time that the test sets.
func kept(t *testing.T) (k *gate.Keeper, file string, now *time.Time) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "calls.yml")
	if err := os.WriteFile(file, []byte(denyShell), 0o666); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	c := &agentHookCmd{callsFlag: callsFlag{Calls: []string{file}}, Policy: []string{"none"}}
	return &gate.Keeper{Load: func() (*gate.Gate, error) { return c.gate(scope.Place{Root: dir}) }, Now: func() time.Time { return at }}, file, &at
}

func decision(t *testing.T, g *gate.Gate, tool string) callrules.Effect {
	t.Helper()
	r, err := g.Judge(t.Context(), &call.Call{Tool: tool}, callrules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Outcome().Effect
}

func current(t *testing.T, k *gate.Keeper) (*gate.Gate, string) {
	t.Helper()
	g, err := k.Current()
	if err != nil {
		return g, err.Error()
	}
	return g, ""
}

// TestReload: claudecube 2.5, "The rule engine supports runtime reloading ... when the file is modified", for every
// dialect and the bundle.
func TestReload(t *testing.T) {
	k, file, now := kept(t)
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
		t.Fatal(said)
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, *now, *now); err != nil {
			t.Fatal(err)
		}
	}

	// "Debounced: File change events are debounced (e.g., 500ms) to handle editors that write files in multiple steps."
	write(strings.Replace(denyShell, "Bash", "Read", 1))
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
		t.Error("a change is taken up at once", said)
	}
	*now = now.Add(gate.Settle - time.Millisecond)
	if g, _ := current(t, k); decision(t, g, "Bash") != callrules.Deny {
		t.Error("a change is taken up too early")
	}
	write(strings.Replace(denyShell, "Bash", "Grep", 1)) // the second step of the editor
	*now = now.Add(time.Millisecond)
	if g, _ := current(t, k); decision(t, g, "Bash") != callrules.Deny {
		t.Error("a change is taken up while the file still changes")
	}
	*now = now.Add(gate.Settle)
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Allow || decision(t, g, "Grep") != callrules.Deny || decision(t, g, "Read") != callrules.Allow {
		t.Error("a change is not taken up", said)
	}

	// A change that is long over is taken up by the first call after it.
	write(denyShell)
	*now = now.Add(time.Hour)
	if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
		t.Error("an old change is not taken up at once", said)
	}

	// "If validation fails (bad YAML, invalid regex, schema error), the change is rejected and a warning is logged. The
	// previous valid rule engine remains active."
	for _, bad := range []string{"rules: [", "rulez: []\n", strings.Replace(denyShell, "equals: Bash", "matches: '('", 1), ""} {
		write(bad)
		*now = now.Add(time.Hour)
		if g, said := current(t, k); said == "" || decision(t, g, "Bash") != callrules.Deny {
			t.Errorf("%q: %q", bad, said)
		}
		if g, said := current(t, k); said != "" || decision(t, g, "Bash") != callrules.Deny {
			t.Errorf("%q is said twice: %q", bad, said)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(time.Hour)
	if _, said := current(t, k); said != "" { // seen for the first time
		t.Error(said)
	}
	*now = now.Add(gate.Settle)
	if g, said := current(t, k); said == "" || decision(t, g, "Bash") != callrules.Deny {
		t.Errorf("without the file: %q", said)
	}

	// An editor writes another file and renames it.
	if err := os.WriteFile(file+"~", []byte(strings.Replace(denyShell, "Bash", "Read", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+"~", file); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(time.Hour)
	if g, said := current(t, k); said != "" || decision(t, g, "Read") != callrules.Deny {
		t.Error("a file that was renamed is not taken up", said)
	}
}

// TestNoRulesAtFirst: claudecube 2.3, "ensuring the server does not start with invalid rules".
func TestNoRulesAtFirst(t *testing.T) {
	k, file, _ := kept(t)
	if err := os.WriteFile(file, []byte("rules: ["), 0o666); err != nil {
		t.Fatal(err)
	}
	if g, err := k.Current(); g != nil || err == nil {
		t.Errorf("%v, %v", g, err)
	}
}

// TestServe: real files, a real process, a call on each line.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls.yml")
	if err := os.WriteFile(calls, []byte(denyShell), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := program{t: t, dir: dir}.command(t.Context(), "hook", "claude-code", "--serve", "--policy", "none", "--calls", calls)
	cmd.Stdin = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	complaints, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer complaints.Close()
	cmd.Stderr = complaints
	said := func() string {
		text, err := os.ReadFile(complaints.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	ask := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Out struct {
				Decision string `json:"permissionDecision"`
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal([]byte(answer), &form); err != nil {
			t.Fatalf("%q: %v", answer, err)
		}
		return form.Out.Decision
	}
	askFor := func(tool string) string {
		return ask(fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":{}}`, dir, tool))
	}
	if got := askFor("Bash"); got != "deny" {
		t.Error(got)
	}
	if got := askFor("Glob"); got != "" {
		t.Error(got)
	}
	if got := ask(`{"hook_event_name":`); got != "deny" {
		t.Error("half a call:", got)
	}
	if err := os.WriteFile(calls, []byte(strings.Replace(denyShell, "Bash", "Glob", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return askFor("Glob") == "deny" })
	if got := askFor("Bash"); got != "" {
		t.Error(got)
	}
	if err := os.WriteFile(calls, []byte("rules: ["), 0o666); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { askFor("Glob"); return strings.Contains(said(), "the old ones stay in force") })
	if got := askFor("Glob"); got != "deny" {
		t.Error("the old rules are gone:", got)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, said())
	}
}

// TestFault_153_Serve: what judges in another repository is read for each call, so that a bundle that appears, or
// breaks, counts at once.
func TestFault_153_Serve(t *testing.T) {
	p := newProgram(t)
	p.write("project/.policyscan/rules/boundaries.yml", oneRule)
	p.write("project/.policyscan/rules/invariants.yml", "rules: []\n")
	p.write("project/.git/HEAD", "ref: refs/heads/main\n")
	p.write("other/.git/HEAD", "ref: refs/heads/main\n")
	bundle := "other/.policyscan/rules/"
	steps := []struct {
		before func()
		want   string
	}{
		{func() {}, "which has no bundle, so no bundle checked it"},
		{func() { p.write(bundle+"invariants.yml", "rules: []\n"); p.write(bundle+"boundaries.yml", oneRule) }, "would break the policy of the repository"},
		{func() { p.write(bundle+"boundaries.yml", "rules: [") }, "could not check this call, so it is denied: "},
		{func() { p.write(bundle+"boundaries.yml", oneRule) }, "would break the policy of the repository"},
	}
	c := &agentHookCmd{Root: filepath.Join(p.dir, "project"), Serve: true, Timeout: hang}
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- c.serve(streams{in, out, io.Discard}, protocol.Named("claude-code")) }()
	reader := bufio.NewReader(answers)
	for i, step := range steps {
		step.before()
		file := filepath.Join(p.dir, "other", "main.tf")
		if _, err := fmt.Fprintf(ask, `{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":%q,"content":"0.0.0.0/0"}}`+"\n", p.dir, file); err != nil {
			t.Fatal(err)
		}
		answer, err := reader.ReadString('\n')
		if err != nil || !strings.Contains(answer, step.want) {
			t.Errorf("step %d: %v, %s", i, err, answer)
		}
	}
	ask.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// waitFor waits until something holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

// TestServeLate: a judgement that was given up runs on while later ones run. For go test -race.
func TestServeLate(t *testing.T) {
	_, file, _ := kept(t)
	var in strings.Builder
	for i := range 300 {
		fmt.Fprintf(&in, `{"hook_event_name":"PreToolUse","cwd":%q,"tool_name":"Bash","tool_input":{"n":%d}}`+"\n", t.TempDir(), i)
	}
	var out, said strings.Builder
	c := &agentHookCmd{callsFlag: callsFlag{Calls: []string{file}}, Policy: []string{"none"}, Serve: true, Timeout: 300 * time.Microsecond}
	if err := c.serve(streams{strings.NewReader(in.String()), &out, &said}, protocol.Named("codex")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 300 {
		t.Errorf("%d of 300 calls are answered", n)
	}
}
