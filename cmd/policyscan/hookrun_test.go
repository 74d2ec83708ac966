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

	"github.com/policyscan/policyscan/agent/protocol"
)

const denyShell = `rules:
  - id: SHELL
    title: No shell
    effect: deny
    when: {fact: tool, equals: Bash}
`

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

// TestFault_153_Serve: the bundle of another repository is read for each call, so that a new or broken one counts at
// once.
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
	go func() { done <- c.run(streams{in, out, io.Discard}, protocol.Named("claude-code")) }()
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

// TestReadInTime: to read a call counts, too: most agents make a call whose hook takes too long.
func TestReadInTime(t *testing.T) {
	var many strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&many, `,"%d":[{}]`, i)
	}
	text := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"` + many.String() + `}}`
	var out, said strings.Builder
	var status int
	for try := 1; ; try++ { // the two are measured one after the other, and the machine may be busy with one of them
		began := time.Now()
		if _, err := protocol.Named("claude-code").Read([]byte(text)); err != nil {
			t.Fatal(err)
		}
		whole := time.Since(began)
		out.Reset()
		began = time.Now()
		status = runMain([]string{"hook", "claude-code", "--timeout", "50ms"}, streams{strings.NewReader(text), &out, &said})
		took := time.Since(began)
		if took < whole {
			break
		}
		if try == 10 {
			t.Fatalf("ten times it took longer, %s the last time, than to read it whole takes, %s", took, whole)
		}
	}
	if status != exitPass || !strings.Contains(out.String(), `"permissionDecision":"deny"`) || !strings.Contains(out.String(), `it took over 50ms`) {
		t.Errorf("status %d: %.200s", status, out.String())
	}
}

// TestAnswerToNobody: "exit 2 if even that is impossible". Go opens the null device where standard output is closed.
func TestAnswerToNobody(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var said strings.Builder
	if status := runMain([]string{"hook", "codex"}, streams{strings.NewReader("{}"), null, &said}); status != exitUndecided || !strings.Contains(said.String(), "standard output is closed") {
		t.Errorf("status %d: %s", status, said.String())
	}
}
