package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// rulesIn writes rules against rm into a directory, a file for each dialect.
func rulesIn(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range sections(readFile(t, "testdata/calls.txt")) {
		writeFile(t, filepath.Join(dir, name), text+"\n")
	}
	return dir
}

// fed runs the program with a standard input.
func fed(in string, args ...string) (status int, out, said string) {
	var o, e strings.Builder
	status = runMain(args, streams{in: strings.NewReader(in), out: &o, err: &e})
	return status, o.String(), e.String()
}

// TestFault_163_Bundle: a request may have any input for rules that take it as it is; a bundle judges the call as
// well, and what it is must then be clear.
func TestFault_163_Bundle(t *testing.T) {
	dir := rulesIn(t)
	writeFile(t, filepath.Join(dir, "bundle/rules/boundaries.yml"), oneRule)
	writeFile(t, filepath.Join(dir, "bundle/rules/invariants.yml"), "rules: []\n")
	args := []string{"eval", "--calls", filepath.Join(dir, "evaluator.json")}
	with := append(args[:3:3], "--policy", filepath.Join(dir, "bundle"))
	const text = `{"tool_name":"pay","input":"5"}`
	t.Chdir(dir)
	if status, out, said := fed(text, args...); status != exitPass {
		t.Errorf("status %d: %s%s", status, out, said)
	}
	if status, out, said := fed(text, with...); status != exitUndecided ||
		!strings.Contains(said, `"input" is a string that is not a JSON object`) {
		t.Errorf("status %d: %s%s", status, out, said)
	}
	for _, input := range []string{"input", "tool_input", "toolInput", "toolArgs", "arguments"} {
		line := `{"toolName":"Write","cwd":"` + dir + `","` + input + `":{"file_path":"a.tf","content":"0.0.0.0/0"}}`
		if status, out, said := fed(line, append(with, "--calls",
			filepath.Join(dir, "native.yml"))...); status != exitViolation ||
			!strings.Contains(out, `"rule":"NET-1"`) {
			t.Errorf("%s: status %d: %s%s", line, status, out, said)
		}
	}
}

// TestFault_163_Hook: a payload whose input member is missing or null is denied, whatever the rules. With that member
// the call is checked; an empty object means a tool without arguments.
func TestFault_163_Hook(t *testing.T) {
	dir := rulesIn(t)
	for _, c := range []struct{ agent, payload, member string }{ // INPUT is the input's member
		{"claude-code", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"gemini", `{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"copilot", `{"sessionId":"s","toolName":"Bash"INPUT}`, "toolArgs"},
		{"cursor", `{"hook_event_name":"preToolUse","conversation_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"cursor", `{"hook_event_name":"beforeMCPExecution","conversation_id":"s","tool_name":"Bash"INPUT}`,
			"tool_input"},
		{"cursor", `{"hook_event_name":"beforeShellExecution","conversation_id":"s"INPUT}`, "command"},
	} {
		for _, name := range []string{"native.yml", "evaluator.json", "clash.clash"} {
			hook := func(input string) string {
				t.Helper()
				payload := strings.Replace(c.payload, "INPUT", input, 1)
				status, out, said := fed(payload, "hook", c.agent, "--root", dir, "--policy", "none", "--calls", name,
					"--state", filepath.Join(dir, "state"))
				if status != exitPass {
					t.Errorf("%s: status %d: %s", payload, status, said)
				}
				return out
			}
			object := c.member == "tool_input" || c.member == "toolArgs"
			wrong := []string{"", `,"` + c.member + `":null`}
			if object {
				wrong = append(wrong, `,"`+c.member+`":[]`, `,"`+c.member+`":7`, `,"other_input":{}`)
			} else {
				wrong = append(wrong, `,"`+c.member+`":""`, `,"`+c.member+`":{}`)
			}
			for _, input := range wrong {
				out := hook(input)
				text := strings.ReplaceAll(out, `\"`, `"`)
				if !strings.Contains(text, "deny") || !strings.Contains(text, `"`+c.member+`" is `) ||
					!strings.Contains(text, c.agent) {
					t.Errorf("%s, %s%s: %s", name, c.payload, input, out)
				}
			}
			if object && !strings.Contains(c.payload, "beforeMCP") { // whose tools are never Bash
				if out := hook(`,"` + c.member + `":{"command":"rm -rf /"}`); !strings.Contains(out, "deny") ||
					strings.Contains(out, "could not check") {
					t.Errorf("%s, %s: %s", name, c.payload, out)
				}
			}
			if object {
				if out := hook(`,"` + c.member + `":{}`); strings.Contains(out, "could not check") {
					t.Errorf("%s, %s: an empty object: %s", name, c.payload, out)
				}
			}
		}
	}
}
