package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/protocol"
)

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
		{func() { p.write(bundle+"invariants.yml", "rules: []\n"); p.write(bundle+"boundaries.yml", oneRule) },
			"would break the policy of the repository"},
		{func() { p.write(bundle+"boundaries.yml", "rules: [") }, "could not check this call, so it is denied: "},
		{func() { p.write(bundle+"boundaries.yml", oneRule) }, "would break the policy of the repository"},
	}
	c := &agentHookCmd{Root: filepath.Join(p.dir, "project"), Serve: true, Timeout: hang}
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- c.run(streams{in: in, out: out, err: io.Discard}, protocol.Named("claude-code")) }()
	reader := bufio.NewReader(answers)
	for i, step := range steps {
		step.before()
		file := filepath.Join(p.dir, "other", "main.tf")
		if _, err := fmt.Fprintf(ask,
			`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Write",`+
				`"tool_input":{"file_path":%q,"content":"0.0.0.0/0"}}`+"\n", p.dir, file); err != nil {
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

// TestAnswerToNobody: "exit 2 if even that is impossible". Go opens the null device where standard output is closed.
func TestAnswerToNobody(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var said strings.Builder
	if status := runMain([]string{"hook", "codex"}, streams{in: strings.NewReader("{}"), out: null,
		err: &said}); status != exitUndecided || !strings.Contains(said.String(), "standard output is closed") {
		t.Errorf("status %d: %s", status, said.String())
	}
}
