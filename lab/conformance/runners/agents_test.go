package runners

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/lab/conformance/install"
)

// unjudged is how the reason begins for which policyscan gave none.
const unjudged = "policyscan did not check this call, so it is denied"

var agents = flag.Bool("agents", false, "run the agents, and install them")

func needAgents(t *testing.T) {
	t.Helper()
	if !*agents {
		t.Skip("it takes minutes; see make agents")
	}
}

// An agentCase is a coding agent, with what it needs to talk to a model of this machine.
type agentCase struct {
	name    string // as in "policyscan hook install NAME"
	spec    string // of its npm package
	program string
	args    []string
	env     []string
	calls   []toolCall        // what the model asks for; without any, one of the shell
	user    string            // where the settings of the project are copied to, below the home directory
	files   map[string]string // below the home directory, SERVER for the model's address, WORK for the project
}

// agentCases are the agents that run without an account.
func agentCases() []agentCase {
	return []agentCase{
		{
			name: "claude-code", spec: "@anthropic-ai/claude-code@2.1.197", program: "claude",
			args: []string{"-p", "go", "--allowedTools", "Bash"},
			env:  []string{"ANTHROPIC_BASE_URL=SERVER", "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
		},
		{
			name: "codex", spec: "@openai/codex@0.169.0", program: "codex",
			args: []string{"exec", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", "go"},
			env:  []string{"MODEL_KEY=x"},
			files: map[string]string{".codex/config.toml": `model = "model"
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "SERVER/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
[projects."WORK"]
trust_level = "trusted"
`},
		},
		{
			name: "copilot", spec: "@github/copilot-linux-x64@1.0.102", program: "../@github/copilot-linux-x64/copilot",
			user: ".copilot/hooks/policyscan.json", // a project's hooks wait until a person trusts the project
			args: []string{"-p", "go", "--no-color", "--allow-all-tools"},
			env: []string{"COPILOT_PROVIDER_BASE_URL=SERVER", "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=none",
				"COPILOT_MODEL=claude-sonnet-4", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false"},
		},
		{
			name: "gemini", spec: "@google/gemini-cli@0.61.0", program: "gemini",
			args: []string{"--yolo", "-m", "gemini-2.5-flash", "-p", "go"},
			env:  []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=SERVER", "GEMINI_TELEMETRY_ENABLED=false"},
			files: map[string]string{
				".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}}`,
				// --skip-trust does not do: it leaves the project's settings, and so the hook, out.
				".gemini/trustedFolders.json": `{"WORK": "TRUST_FOLDER"}`,
			},
		},
	}
}

// A toolCall is one that the model asks Claude Code for.
type toolCall struct{ name, input string }

// A model is one that calls the agent's shell once, to make the file "ran", and then ends. It keeps what
// it was told the call came to.
type model struct {
	mu     sync.Mutex
	calls  []toolCall
	result string // the request after the call, as JSON
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	called := false
	for _, mark := range []string{`"tool_result"`, `"function_call_output"`, `"functionResponse"`} {
		called = called || strings.Contains(string(body), mark)
	}
	if called {
		m.mu.Lock()
		m.result = string(body)
		m.mu.Unlock()
	}
	var events []any
	switch {
	case r.Method != http.MethodPost:
		return
	case strings.HasSuffix(r.URL.Path, "/messages"):
		call, n := toolCall{"Bash", `{"command": "touch ran", "description": "x"}`}, strings.Count(string(body), `"tool_result"`)
		if n < len(m.calls) {
			call = m.calls[n]
		}
		if strings.Contains(string(body), `"name":"bash"`) {
			call.name = "bash" // Copilot's
		}
		events = anthropicEvents(call, n >= max(1, len(m.calls)) || !strings.Contains(string(body), `"name":"`+call.name+`"`))
	case strings.HasSuffix(r.URL.Path, "/responses"):
		events = openAIEvents(called)
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		events = geminiEvents(called || !strings.Contains(string(body), `"run_shell_command"`))
	case strings.HasSuffix(r.URL.Path, ":generateContent"):
		events = geminiEvents(true)
		_ = json.NewEncoder(w).Encode(events[0]) // the agent complains
		return
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		var named struct{ Type string }
		if json.Unmarshal(text, &named) == nil && named.Type != "" {
			fmt.Fprintf(w, "event: %s\n", named.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

type object = map[string]any

func anthropicEvents(call toolCall, end bool) []any {
	block, delta, reason := object{"type": "tool_use", "id": "toolu_" + fmt.Sprintf("%x", call.input), "name": call.name, "input": object{}},
		object{"type": "input_json_delta", "partial_json": call.input}, "tool_use"
	if end {
		block, delta, reason = object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "ended"}, "end_turn"
	}
	return []any{
		object{"type": "message_start", "message": object{"id": "m", "type": "message", "role": "assistant", "model": "model", "content": []any{}, "usage": object{"input_tokens": 1, "output_tokens": 1}}},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}},
		object{"type": "message_stop"},
	}
}

func openAIEvents(end bool) []any {
	item := object{"type": "function_call", "id": "f1", "call_id": "c1", "name": "exec_command", "arguments": `{"cmd": "touch ran"}`}
	if end {
		item = object{"type": "message", "role": "assistant", "id": "m1", "content": []any{object{"type": "output_text", "text": "ended"}}}
	}
	return []any{
		object{"type": "response.created", "response": object{"id": "r"}},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": object{"id": "r", "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
	}
}

func geminiEvents(end bool) []any {
	part := object{"functionCall": object{"name": "run_shell_command", "args": object{"command": "touch ran"}}}
	if end {
		part = object{"text": "ended"}
	}
	return []any{object{
		"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}}
}

// TestAgents: the agents themselves read the settings as they are written, run the hook before a call,
// make the call if the hook has no opinion, and make none if policyscan is missing, fails or gives no answer.
func TestAgents(t *testing.T) {
	needAgents(t)
	for _, c := range agentCases() {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			b.write("work/.git/HEAD", "ref: refs/heads/main\n")
			bin := filepath.Join(install.NPM(t, c.spec), ".bin")
			program := b.addProgram()
			denial := protocol.Decision{Permission: protocol.Deny, Reason: "the rule no-touch forbids it"}
			b.write("denial", string(protocol.Named(c.name).Answer(&protocol.Event{}, denial)))
			for _, step := range []struct {
				name       string
				policyscan string // the script of that name in the PATH of the agent; "": nothing
				install    bool
				ran        bool
				told       string // what the model was told
			}{
				{"no hook", "", false, true, ""},
				{"no opinion", "cat >/dev/null; echo '{}'", true, true, ""},
				{"denied", "cat >/dev/null; cat " + b.path("denial"), true, false, "the rule no-touch forbids it"},
				{"silent", "cat >/dev/null", true, false, unjudged},
				{"garbage", "cat >/dev/null; echo fine", true, false, unjudged},
				{"missing", "", true, false, unjudged},
				{"failing", "exit 1", true, false, unjudged},
				{"half an answer", "printf '{\"decision'; exit 80", true, false, ""},
			} {
				if step.install {
					install := exec.Command(program, "hook", "install", c.name)
					install.Dir, install.Env = b.path("work"), b.env
					if out, err := install.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
				}
				if step.install && c.user != "" {
					b.write(c.user, b.read("work/.github/hooks/policyscan.json"))
				}
				if err := os.RemoveAll(b.path("path")); err != nil {
					t.Fatal(err)
				}
				b.write("path/none", "")
				if step.policyscan != "" {
					b.write("path/policyscan", "#!/bin/sh\n[ \"$2\" != stop ] || { echo '{}'; exit; }\n"+step.policyscan+"\n")
					if err := os.Chmod(b.path("path/policyscan"), 0o777); err != nil {
						t.Fatal(err)
					}
				}
				ran, told, out := b.ask(t, c, bin)
				if ran != step.ran || !strings.Contains(told, step.told) || told == "" {
					t.Errorf("%s: the call was made: %v, want %v; the model was told %d bytes, to hold %q\n%s", step.name, ran, step.ran, len(told), step.told, out)
				}
			}
		})
	}
}

// TestAgentTurns: at the end of a turn the agents themselves are sent back for what a command of theirs wrote, three
// times, with the reason; what was there when they began is not in it.
func TestAgentTurns(t *testing.T) {
	needAgents(t)
	for _, c := range agentCases() {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			b.write("work/.policyscan/rules/boundaries.yml", "bundle: \"0.2\"\nrules:\n  - id: PATH-1\n    title: t\n    enforcement: {mode: fail}\n"+
				"    remediation: Remove the file.\n    match: {forbidden_files: [/ran, /before]}\n")
			b.write("work/.policyscan/rules/invariants.yml", "bundle: \"0.2\"\nrules: []\n")
			bin := filepath.Join(install.NPM(t, c.spec), ".bin")
			program := b.addProgram()
			b.must("work", "git", "init", "-q")
			b.must("work", program, "hook", "install", c.name)
			if c.user != "" {
				b.write(c.user, b.read("work/.github/hooks/policyscan.json"))
			}
			b.must("work", "git", "add", "-A")
			b.must("work", "git", "commit", "-qm", "x")
			b.write("work/before", "")
			b.write("path/none", "")
			if err := os.Link(program, b.path("path/policyscan")); err != nil {
				t.Fatal(err)
			}
			ran, told, out := b.ask(t, c, bin)
			if !ran || !strings.Contains(told, "request 3 of 3") || !strings.Contains(told, "PATH-1: ran is forbidden") ||
				!strings.Contains(told, "Remove the file.") || strings.Contains(told, "before is forbidden") {
				t.Errorf("the call was made: %v; the model was told %s\n%s", ran, told, out)
			}
		})
	}
}

// TestClaudePlugin: the plugin of examples/agent is valid; with it Claude Code makes no call that would break a rule,
// and without its hooks the model is told of the violation as a diagnostic.
func TestClaudePlugin(t *testing.T) {
	needAgents(t)
	for hooks, told := range map[bool]string{true: "the edit would break the policy", false: "[NET-1] (policyscan)</new-diagnostics>"} {
		b := newBox(t)
		b.write("work/.policyscan/rules/boundaries.yml", rulesOfOne)
		b.write("work/.policyscan/rules/invariants.yml", rulesOfNone)
		b.write("work/main.tf", good)
		b.must("work", "git", "init", "-q")
		if err := os.CopyFS(b.path("plugin"), os.DirFS(filepath.Join(root(t), "examples/agent/claude-plugin"))); err != nil {
			t.Fatal(err)
		}
		c := agentCases()[0]
		bin := install.NPM(t, "@anthropic-ai/claude-code-linux-x64@2.1.332")
		c.program = "@anthropic-ai/claude-code-linux-x64/claude"
		out := b.must("work", filepath.Join(bin, c.program), "plugin", "validate", b.path("plugin"))
		for _, part := range []string{"hooks: PreToolUse", "hooks: Stop", "hooks: SessionStart", `lspServers: policyscan policyscan ["lsp"]`} {
			if !strings.Contains(out, part) {
				t.Errorf("%q is not in\n%s", part, out)
			}
		}
		if !hooks {
			if err := os.RemoveAll(b.path("plugin/hooks")); err != nil {
				t.Fatal(err)
			}
		}
		b.write("path/none", "")
		if err := os.Link(install.Program(), b.path("path/policyscan")); err != nil {
			t.Fatal(err)
		}
		file := strconv.Quote(b.path("work/main.tf"))
		c.args = []string{"-p", "go", "--allowedTools", "Bash,Read,Write", "--plugin-dir", b.path("plugin")}
		c.calls = []toolCall{
			{"Read", `{"file_path": ` + file + `}`},
			{"Write", `{"file_path": ` + file + `, "content": ` + strconv.Quote(bad) + `}`},
			{"Bash", `{"command": "sleep 3", "description": "x"}`}, // until the server has answered
			{"Bash", `{"command": "true", "description": "x"}`},
		}
		if _, last, out := b.ask(t, c, bin); !strings.Contains(last, told) || (b.read("work/main.tf") == good) != hooks {
			t.Errorf("hooks: %v: the file is %q, and %q is not in\n%s\n%s", hooks, b.read("work/main.tf"), told, last, out)
		}
	}
}

// ask has an agent talk to the model, and returns whether the call was made, what the model was told of
// it, and what the agent printed.
func (b *box) ask(t *testing.T, c agentCase, bin string) (ran bool, told, out string) {
	t.Helper()
	m := &model{calls: c.calls}
	server := httptest.NewServer(m)
	defer server.Close()
	fill := strings.NewReplacer("SERVER", server.URL, "WORK", b.path("work"))
	for name, text := range c.files {
		b.write(name, fill.Replace(text))
	}
	if err := os.RemoveAll(b.path("work/ran")); err != nil {
		t.Fatal(err)
	}
	// Not the directory in which this test built policyscan, nor one of the user's that may have it.
	path := strings.Join([]string{b.path("path"), "/usr/bin", "/bin"}, string(filepath.ListSeparator))
	if node, err := exec.LookPath("node"); err == nil {
		path += string(filepath.ListSeparator) + filepath.Dir(node)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, c.program), c.args...)
	cmd.Dir = b.path("work")
	cmd.Env = slices.Concat([]string{"HOME=" + b.dir, "PATH=" + path, "SHELL=/bin/sh", "LC_ALL=C.UTF-8"}, c.env)
	for i, v := range cmd.Env {
		cmd.Env[i] = fill.Replace(v)
	}
	cmd.WaitDelay = 5 * time.Second // what it leaves running keeps its output open
	text, _ := cmd.CombinedOutput() // its status is its own affair
	_, err := os.Stat(b.path("work/ran"))
	m.mu.Lock()
	defer m.mu.Unlock()
	return err == nil, m.result, string(text)
}
