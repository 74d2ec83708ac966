package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/protocol"
)

// callRules are rules of each dialect against rm, by the names of their files.
func callRules() map[string]string {
	return map[string]string{
		"native.yml": `rules: [{id: RM, title: No rm, effect: deny, when: {fact: command, contains: "rm -rf"}}]`,
		"sigmashake.rules": `rule rm {
  DENY execution
  IF command CONTAINS "rm -rf"
  MESSAGE "No."
}`,
		"evaluator.json": `{"policies": [{"policyId": "6f1c1a36-2f0a-4d3e-9a53-1f0d6f6b6c11", "policyVersion": 3, "document": {
 "apiVersion": "agent-governance.io/v1", "kind": "Policy", "metadata": {"name": "rm"}, "spec": {"defaultEffect": "allow", "rules": [
 {"id": "rm", "effect": "deny", "conditions": [{"field": "input.command", "operator": "contains", "value": "rm -rf"}]}]}}}]}`,
		"claudecube.yml": `version: "1"
defaults: {unmatched: allow}
rules:
  - {name: No rm, action: deny, tool: Bash, match: {command: [{pattern: "rm -rf", type: regex}]}}
`,
		"clash.clash": `(default allow "main")
(policy "main" (deny (exec "rm" "-rf" *)))
`,
	}
}

// rulesIn writes callRules into a directory.
func rulesIn(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range callRules() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fed runs the program with a standard input.
func fed(in string, args ...string) (status int, out, said string) {
	var o, e strings.Builder
	status = runMain(args, streams{strings.NewReader(in), &o, &e})
	return status, o.String(), e.String()
}

// TestFault_163_Eval: in every dialect a call is checked with its input, whatever the member's name, or it is an
// error.
func TestFault_163_Eval(t *testing.T) {
	dir := rulesIn(t)
	for name := range callRules() {
		t.Run(name, func(t *testing.T) {
			eval := func(line string) (int, string) {
				status, out, said := fed(line, "eval", "--calls", filepath.Join(dir, name))
				return status, out + said
			}
			for _, tool := range []string{"tool", "tool_name", "toolName"} {
				for _, input := range []string{"input", "tool_input", "toolInput", "toolArgs", "arguments"} {
					for _, text := range []string{`{"command":"rm -rf /"}`, `"{\"command\":\"rm -rf /\"}"`} {
						line := `{"` + tool + `":"Bash","` + input + `":` + text + `}`
						if status, said := eval(line); status != exitViolation || !strings.Contains(said, `"rule":"`) {
							t.Errorf("%s: status %d: %s", line, status, said)
						}
						line = strings.ReplaceAll(line, "rm -rf", "ls")
						if status, said := eval(line); status != exitPass {
							t.Errorf("%s: status %d: %s", line, status, said)
						}
					}
				}
			}
			if status, said := eval(`{"session_id":"s","transcript_path":"/t","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"u"}`); status != exitViolation {
				t.Errorf("what Claude Code sends: status %d: %s", status, said)
			}
			for line, want := range map[string]string{
				`{"tool":"Bash","input":{},"tool_input":{"command":"rm -rf /"}}`:       `names the input twice, as "input" and as "tool_input"`,
				`{"toolName":"Bash","toolInput":{},"toolArgs":{"command":"rm -rf /"}}`: `names the input twice, as "toolInput" and as "toolArgs"`,
				`{"tool_name":"Bash","tool_input":{},"arguments":{}}`:                  `names the input twice`,
				`{"tool_name":"Bash","tool_input":"rm -rf /"}`:                         `"tool_input" is a string that is not a JSON object`,
				`{"tool":"Bash","arguments":["rm","-rf","/"]}`:                         `"arguments" is not an object`,
				`{"tool":"Bash","toolName":"Read"}`:                                    `names the tool twice`,
			} {
				if status, said := eval(line); status != exitUndecided || !strings.Contains(said, want) {
					t.Errorf("%s: status %d: %s", line, status, said)
				}
			}
			// A call may be one without input: "only tool must be there".
			for _, line := range []string{`{"tool":"Bash"}`, `{"tool":"Bash","input":null}`, `{"tool_name":"Bash","tool_input":null}`} {
				if status, said := eval(line); status == exitUndecided {
					t.Errorf("%s: status %d: %s", line, status, said)
				}
			}
			both := `{"tool_name":"Bash","input":{"command":"ls"},"tool_input":{"command":"rm -rf /"},"tool":"x","cwd":["/"]}`
			status, said := eval(both)
			if request := name == "evaluator.json"; request && status != exitPass || !request && (status != exitUndecided || !strings.Contains(said, "names the tool twice")) {
				t.Errorf("%s: status %d: %s", both, status, said)
			}
		})
	}
}

// TestFault_163_Bundle: a request may have any input for rules that take it as it is; a bundle judges the call as well, and
// what it is must then be clear.
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
	if status, out, said := fed(text, with...); status != exitUndecided || !strings.Contains(said, `"input" is a string that is not a JSON object`) {
		t.Errorf("status %d: %s%s", status, out, said)
	}
	for _, input := range []string{"input", "tool_input", "toolInput", "toolArgs", "arguments"} {
		line := `{"toolName":"Write","cwd":"` + dir + `","` + input + `":{"file_path":"a.tf","content":"0.0.0.0/0"}}`
		if status, out, said := fed(line, append(with, "--calls", filepath.Join(dir, "native.yml"))...); status != exitViolation || !strings.Contains(out, `"rule":"NET-1"`) {
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
		{"codex", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"gemini", `{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"copilot", `{"sessionId":"s","toolName":"Bash"INPUT}`, "toolArgs"},
		{"copilot", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"cursor", `{"hook_event_name":"preToolUse","conversation_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"cursor", `{"hook_event_name":"beforeMCPExecution","conversation_id":"s","tool_name":"Bash"INPUT}`, "tool_input"},
		{"cursor", `{"hook_event_name":"beforeShellExecution","conversation_id":"s"INPUT}`, "command"},
		{"cursor", `{"hook_event_name":"beforeReadFile","conversation_id":"s"INPUT}`, "file_path"},
	} {
		for name := range callRules() {
			hook := func(input string) string {
				t.Helper()
				payload := strings.Replace(c.payload, "INPUT", input, 1)
				status, out, said := fed(payload, "hook", c.agent, "--root", dir, "--policy", "none", "--calls", name, "--state", filepath.Join(dir, "state"))
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
				if !strings.Contains(text, "deny") || !strings.Contains(text, `"`+c.member+`" is `) || !strings.Contains(text, c.agent) {
					t.Errorf("%s, %s%s: %s", name, c.payload, input, out)
				}
			}
			if object && !strings.Contains(c.payload, "beforeMCP") { // whose tools are never Bash
				if out := hook(`,"` + c.member + `":{"command":"rm -rf /"}`); !strings.Contains(out, "deny") || strings.Contains(out, "could not check") {
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
	if len(protocol.Agents()) != 5 {
		t.Error("there is an agent that this does not test")
	}
}
