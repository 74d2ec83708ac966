package agents

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/policyscan/policyscan/agent/protocol"
)

var (
	none   = exchange{"no opinion", answers(protocol.Decision{}), true, ""}
	noted  = exchange{"no opinion and a note", answers(protocol.Decision{Note: note}), true, ""}
	allow  = exchange{"allow", answers(protocol.Decision{Permission: protocol.Allow, Reason: why}), true, ""}
	deny   = exchange{"deny", answers(protocol.Decision{Permission: protocol.Deny, Reason: why, Note: note}), false, why}
	ask    = exchange{"ask", answers(protocol.Decision{Permission: protocol.Ask, Reason: why}), false, why}
	unread = exchange{"deny of what could not be read", func(a *protocol.Agent, _ *protocol.Event) hook {
		return hook{answer: a.Answer(nil, protocol.Decision{Reason: why})}
	}, false, why}
	half = exchange{"half a document", fails(hook{answer: []byte(`{"hookSpecificOutput":{"permissionDecision":"deny"`)}), true, ""}
	two  = exchange{"status 2 and a line on standard error", fails(hook{stderr: why, status: 2}), false, ""}
)

// runClaude runs Claude Code with its hook in a project's settings; more are members of its entry.
func runClaude(t *testing.T, mode string, more map[string]any) func(*testing.T, *session) {
	program := filepath.Join(install(t, "@anthropic-ai/claude-code-linux-x64", claudeVersion), "claude")
	return func(t *testing.T, s *session) {
		entry := map[string]any{"type": "command", "command": s.hook, "timeout": 3}
		maps.Copy(entry, more)
		settings(t, filepath.Join(s.dir, ".claude", "settings.json"), map[string]any{"hooks": map[string]any{
			"PreToolUse": []any{map[string]any{"matcher": "*", "hooks": []any{entry}}},
		}})
		args := []string{"-p", "make it"}
		switch mode {
		case "": // nothing permits the command
		case "default":
			args = append(args, "--permission-mode", mode, "--allowedTools", "Bash")
		default:
			args = append(args, "--permission-mode", mode)
		}
		s.run(t, []string{
			"ANTHROPIC_BASE_URL=" + s.model.url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "IS_SANDBOX=1",
		}, program, args...)
	}
}

func TestClaudeCode(t *testing.T) {
	asked(t)
	for _, mode := range []string{"default", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) {
			judge(t, "claude-code", "Bash", runClaude(t, mode, nil), []exchange{
				none, noted, allow, deny, ask, unread, two, half,
				{"status 1", fails(hook{stderr: why, status: 1}), true, ""},
				{"no program", fails(hook{status: 127}), true, ""},
				{"late", fails(hook{answer: protocol.Named("claude-code").Answer(nil, protocol.Decision{}), sleep: 5}), true, ""},
				{"an ask, whatever the mode", func(a *protocol.Agent, _ *protocol.Event) hook {
					return hook{answer: a.Answer(&protocol.Event{CanAsk: true}, protocol.Decision{Permission: protocol.Ask, Reason: why})}
				}, false, ""},
			})
		})
	}
}

// TestClaudeCodePermission: where nothing permits a command and nobody can be asked, no opinion leaves it
// unpermitted, and an allow permits it.
func TestClaudeCodePermission(t *testing.T) {
	asked(t)
	refused := none
	refused.runs = false
	judge(t, "claude-code", "Bash", runClaude(t, "", nil), []exchange{refused, allow})
}

// TestClaudeCodeOnFailure: what the docs page says of onFailure.
func TestClaudeCodeOnFailure(t *testing.T) {
	asked(t)
	judge(t, "claude-code", "Bash", runClaude(t, "default", map[string]any{"onFailure": "block"}), []exchange{
		none, deny, half,
		{"status 1", fails(hook{stderr: why, status: 1}), false, ""},
		{"no program", fails(hook{status: 127}), false, ""},
		{"late", fails(hook{sleep: 5}), false, ""},
	})
}

func TestCodex(t *testing.T) {
	asked(t)
	dir := install(t, "@openai/codex", codexVersion+"-linux-x64")
	program := filepath.Join(dir, "vendor", "x86_64-unknown-linux-musl", "bin", "codex")
	trusted := true
	run := func(t *testing.T, s *session) {
		settings(t, filepath.Join(s.home, ".codex", "hooks.json"), map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{
			"hooks": []any{map[string]any{"type": "command", "command": s.hook, "timeout": 3}},
		}}}})
		write(t, filepath.Join(s.home, ".codex", "config.toml"), "model = \"stand-in\"\nmodel_provider = \"stand-in\"\n"+
			"[model_providers.stand-in]\nname = \"stand-in\"\nbase_url = \""+s.model.url+"/v1\"\nwire_api = \"responses\"\n"+
			"request_max_retries = 0\nstream_max_retries = 0\n[analytics]\nenabled = false\n")
		args := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "make it"}
		if trusted {
			args = append(args, "--dangerously-bypass-hook-trust")
		}
		s.run(t, nil, program, args...)
	}
	t.Run("a hook that no person has trusted is skipped", func(t *testing.T) {
		trusted = false
		defer func() { trusted = true }()
		s := start(t, hook{answer: protocol.Named("codex").Answer(nil, protocol.Decision{})})
		run(t, s)
		if !s.made() || s.asked() {
			t.Errorf("the command ran: %v, the hook ran: %v", s.made(), s.asked())
		}
	})
	judge(t, "codex", "Bash", run, []exchange{
		none, noted, allow, deny, ask, unread, two, half,
		{"status 2 and nothing on standard error", fails(hook{status: 2}), true, ""},
		{"status 1", fails(hook{stderr: why, status: 1}), true, ""},
		{"no program", fails(hook{status: 127}), true, ""},
		{"late", fails(hook{answer: protocol.Named("codex").Answer(nil, protocol.Decision{}), sleep: 5}), true, ""},
	})
}

// runCopilot runs Copilot with a hook of the person; more are arguments.
func runCopilot(t *testing.T, event string, more ...string) func(*testing.T, *session) {
	program := filepath.Join(install(t, "@github/copilot-linux-x64", copilotVersion), "copilot")
	return func(t *testing.T, s *session) {
		settings(t, filepath.Join(s.home, ".copilot", "hooks", "policyscan.json"), map[string]any{"version": 1, "hooks": map[string]any{event: []any{map[string]any{
			"type": "command", "bash": s.hook, "timeoutSec": 3,
		}}}})
		s.run(t, []string{
			"COPILOT_PROVIDER_BASE_URL=" + s.model.url, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=none",
			"COPILOT_MODEL=claude-sonnet-4", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		}, program, append([]string{"-p", "make it", "--no-color"}, more...)...)
	}
}

// TestCopilotPermission is TestClaudeCodePermission.
func TestCopilotPermission(t *testing.T) {
	asked(t)
	refused := none
	refused.runs = false
	judge(t, "copilot", "bash", runCopilot(t, "preToolUse"), []exchange{refused, allow})
}

func TestCopilot(t *testing.T) {
	asked(t)
	for event, tool := range map[string]string{"preToolUse": "bash", "PreToolUse": "Bash"} { // with Claude Code's names
		t.Run(event, func(t *testing.T) {
			judge(t, "copilot", tool, runCopilot(t, event, "--allow-all-tools"), []exchange{
				none, noted, allow, deny, ask, unread, two, half,
				{"status 1", fails(hook{stderr: why, status: 1}), false, ""},
				{"no program", fails(hook{status: 127}), false, ""},
				{"late", fails(hook{answer: protocol.Named("copilot").Answer(nil, protocol.Decision{}), sleep: 5}), true, ""},
			})
		})
	}
}

// geminiSays runs a hook with Gemini's own runner and asks its own scheduler about the call; no
// model is needed for that. It prints what the scheduler says and what the hook was given.
const geminiSays = `
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';
const [core, command, cwd, input] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(core + '/dist/src/' + file).href);
const { HookRunner } = await load('hooks/hookRunner.js');
const { HookAggregator } = await load('hooks/hookAggregator.js');
const { evaluateBeforeToolHook } = await load('scheduler/hook-utils.js');
console.debug = console.warn = () => {};
const runner = new HookRunner({ isTrustedFolder: () => true, sanitizationConfig: {}, storage: { getPlansDir: () => cwd } });
const fireBeforeToolEvent = async (tool_name, tool_input) => {
  const event = { session_id: 's-1', transcript_path: cwd + '/t', cwd, hook_event_name: 'BeforeTool', timestamp: new Date().toISOString(), tool_name, tool_input };
  const result = await runner.executeHook({ type: 'command', command, timeout: 2000 }, 'BeforeTool', event);
  return new HookAggregator().aggregateResults([result], 'BeforeTool').finalOutput;
};
const config = { getHookSystem: () => ({ fireBeforeToolEvent }) };
const params = { command: 'touch made' };
const said = await evaluateBeforeToolHook(config, {}, { name: 'run_shell_command' }, { params });
console.log(JSON.stringify({ status: said.status, asks: said.hookDecision === 'ask', error: said.error?.message ?? '', input: readFileSync(input, 'utf8') }));
process.exit(0);
`

func TestGemini(t *testing.T) {
	asked(t)
	core := install(t, "@google/gemini-cli-core", geminiVersion)
	a := protocol.Named("gemini")
	e := &protocol.Event{}
	for _, x := range []exchange{
		none, noted, allow, deny, ask, unread, two, half,
		{"status 2 and nothing on standard error", fails(hook{status: 2}), true, ""},
		{"status 1", fails(hook{stderr: why, status: 1}), true, ""},
		{"no program", fails(hook{stderr: "not found", status: 127}), false, ""},
		{"late", fails(hook{answer: a.Answer(nil, protocol.Decision{}), sleep: 4}), true, ""},
		{"no opinion, and more on standard error", func(a *protocol.Agent, e *protocol.Event) hook {
			return hook{answer: a.Answer(e, protocol.Decision{}), stderr: `{"decision":"deny","reason":"not the answer"}`}
		}, true, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := start(t, x.hook(a, e))
			script := filepath.Join(filepath.Dir(s.dir), "says.mjs")
			write(t, script, geminiSays)
			out, err := exec.Command("node", script, core, s.hook, s.dir, filepath.Join(filepath.Dir(s.dir), "input")).Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var said struct {
				Status, Error, Input string
				Asks                 bool
			}
			if err := json.Unmarshal(lastLine(out), &said); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if runs := said.Status == "continue"; runs != x.runs || said.Asks {
				t.Errorf("the call goes on: %v, asks: %v, want %v: %s", runs, said.Asks, x.runs, out)
			}
			if !x.runs && (!strings.HasPrefix(said.Error, "Tool execution blocked: ") || !strings.HasSuffix(said.Error, x.reason)) {
				t.Errorf("the model is told %q, not %q", said.Error, x.reason)
			}
			got, err := a.Read([]byte(said.Input))
			if err != nil || got.Call.Tool != "run_shell_command" || got.Call.Input.Member("command").Str() != "touch made" || got.Call.Dir != s.dir {
				t.Errorf("%v: %s", err, said.Input)
			}
		})
	}
}

// A model stands in for the model of an agent: it asks for one shell command, and then it is done. It
// speaks the Messages API, as Claude Code and Copilot want it, and the Responses API, as Codex does.
type model struct {
	url     string
	command string

	mu     sync.Mutex
	asked  bool     // whether it asked for the command
	result string   // what the agent answered to that; "" if it did not
	paths  []string // of all requests
}

func startModel(t *testing.T, command string) *model {
	t.Helper()
	m := &model{command: command}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paths = append(m.paths, r.Method+" "+r.URL.Path)
	var request map[string]any
	if json.Unmarshal(body, &request) != nil {
		request = map[string]any{}
	}
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages"):
		m.messages(w, request)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		m.responses(w, request)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"models":[],"input_tokens":1}`)
	}
}

// tool returns the first of some names that the request offers as a tool.
func tool(request map[string]any, names ...string) string {
	list, _ := request["tools"].([]any)
	var offered []string
	for _, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["name"].(string)
		offered = append(offered, name)
	}
	for _, name := range names {
		if slices.Contains(offered, name) {
			return name
		}
	}
	return ""
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// results returns the items of a type anywhere in a request.
func results(v any, of string) []map[string]any {
	var all []map[string]any
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			all = append(all, results(item, of)...)
		}
	case map[string]any:
		if x["type"] == of {
			return []map[string]any{x}
		}
		for _, item := range x {
			all = append(all, results(item, of)...)
		}
	}
	return all
}

func event(w io.Writer, value map[string]any) {
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", value["type"], text(value))
}

func (m *model) messages(w http.ResponseWriter, request map[string]any) {
	name := tool(request, "Bash", "bash")
	if found := results(request["messages"], "tool_result"); len(found) > 0 {
		m.result, name = text(found), ""
	}
	content := map[string]any{"type": "text", "text": "done"}
	stop := "end_turn"
	input := map[string]any{"command": m.command, "description": "a step of the test"}
	if name != "" {
		m.asked, stop = true, "tool_use"
		content = map[string]any{"type": "tool_use", "id": "toolu_01AAAAAAAAAAAAAAAAAAAAAA", "name": name, "input": map[string]any{}}
	}
	message := map[string]any{
		"id": "msg_01AAAAAAAAAAAAAAAAAAAAAA", "type": "message", "role": "assistant", "model": request["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}
	if request["stream"] != true {
		content["input"] = input
		message["content"], message["stop_reason"] = []any{content}, stop
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text(message))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	delta := map[string]any{"type": "input_json_delta", "partial_json": text(input)}
	if name == "" {
		content["text"] = ""
		delta = map[string]any{"type": "text_delta", "text": "done"}
	}
	event(w, map[string]any{"type": "message_start", "message": message})
	event(w, map[string]any{"type": "content_block_start", "index": 0, "content_block": content})
	event(w, map[string]any{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, map[string]any{"type": "content_block_stop", "index": 0})
	event(w, map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1}})
	event(w, map[string]any{"type": "message_stop"})
}

func (m *model) responses(w http.ResponseWriter, request map[string]any) {
	item := map[string]any{
		"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": "done", "annotations": []any{}}},
	}
	name := tool(request, "exec_command", "shell_command", "shell")
	if found := results(request["input"], "function_call_output"); len(found) > 0 {
		m.result, name = text(found), ""
	}
	if name != "" {
		m.asked = true
		arguments := map[string]any{"command": m.command}
		switch name {
		case "exec_command":
			arguments = map[string]any{"cmd": m.command}
		case "shell":
			arguments = map[string]any{"command": []string{"sh", "-c", m.command}}
		}
		item = map[string]any{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": text(arguments)}
	}
	response := map[string]any{
		"id": "resp_1", "object": "response", "status": "completed", "output": []any{item},
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, map[string]any{"type": "response.created", "response": map[string]any{"id": "resp_1"}})
	event(w, map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, map[string]any{"type": "response.completed", "response": response})
}
