package protocol

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/policyscan/policyscan/agent/call"
)

// answers is the file of an agent's archive that is written by -update. All others are inputs, written after what the
// agent's documents say or its program sends.
const answers = "answers"

func archive(t testing.TB, agent string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", agent+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// recorded is a file of an agent's archive in testdata: AGENT/FILE.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	agent, file, _ := strings.Cut(name, "/")
	for _, f := range archive(t, agent).Files {
		if f.Name == file {
			return f.Data
		}
	}
	t.Fatalf("testdata/%s.txtar has no %s", agent, file)
	return nil
}

func TestRead(t *testing.T) {
	const nowhere = ""
	shop := []string{"/work/shop"}
	for _, c := range []struct {
		file                string
		event, tool, input  string
		agent, dir, session string
		roots               []string
		canAsk              bool
		request             string // its members behind those above
	}{
		{"claude-code/bash.json", "PreToolUse", "Bash", `{"command":"terraform apply -auto-approve","description":"Apply"}`, "", "/work/shop", "5f0c7a52-0000-4000-8000-000000000001", nil, true, ""},
		{"claude-code/subagent.json", "PreToolUse", "Write", `{"file_path":"/work/shop/main.tf","content":"acl = \"public-read\"\n"}`, "a-7", "/work/shop", "5f0c7a52-0000-4000-8000-000000000001", nil, false, ""},
		{"claude-code/mcp.json", "PreToolUse", "mcp__github__create_issue", `{"title":"x"}`, "", "/work/shop", "5f0c7a52-0000-4000-8000-000000000001", nil, true, ""},
		{"codex/bash.json", "PreToolUse", "Bash", `{"command":"git push --force"}`, "", "/work/shop", "01a1ff75-0000-7000-8000-000000000001", nil, false, ""},
		{"codex/apply_patch.json", "PreToolUse", "apply_patch", `{"command":"*** Begin Patch\n*** Add File: a.tf\n+x = 1\n*** End Patch\n"}`, "a-7", "/work/shop", "01a1ff75-0000-7000-8000-000000000001", nil, false, ""},
		{"codex/mcp.json", "PreToolUse", "mcp__github__create_issue", `{"title":"x"}`, "", "/work/shop", "01a1ff75-0000-7000-8000-000000000001", nil, false, ""},
		{"gemini/shell.json", "BeforeTool", "run_shell_command", `{"command":"rm -rf build","description":"Clean"}`, "", "/work/shop", "s-1", nil, false, ""},
		{"gemini/mcp.json", "BeforeTool", "mcp_github_create_issue", `{"title":"x"}`, "", "/work/shop", "s-1", nil, false, `,"mcp_context":{"server_name":"github","tool_name":"create_issue","command":"npx","args":["-y","github-mcp"]}`},
		{"copilot/camel.json", "preToolUse", "bash", `{"command":"rm -rf build","description":"Clean"}`, "", "/work/shop", "s-1", nil, true, ""},
		{"copilot/camel-text.json", "preToolUse", "create", `{"path":"/work/shop/a.tf","file_text":"x"}`, "", "/work/shop", "s-1", nil, true, ""},
		{"copilot/camel-patch.json", "preToolUse", "apply_patch", `{"input":"*** Begin Patch\n*** Delete File: a.tf\n*** End Patch\n"}`, "", "/work/shop", "s-1", nil, true, ""},
		{"copilot/snake.json", "PreToolUse", "Bash", `{"command":"rm -rf build"}`, "", "/work/shop", "s-1", nil, true, ""},
		{"cursor/preToolUse.json", "preToolUse", "Shell", `{"command":"rm -rf build","cwd":"/work/shop/web","timeout":30000}`, "", "/work/shop/web", "c-1", shop, false, ""},
		{"cursor/preToolUse-write.json", "preToolUse", "Write", `{"file_path":"/work/shop/a.tf","content":"x","cwd":"/elsewhere"}`, "", "/work/shop", "c-1", shop, false, ""},
		{"cursor/beforeShellExecution.json", "beforeShellExecution", "Shell", `{"command":"rm -rf build"}`, "", "/work/shop", "c-1", shop, false, ""},
		{"cursor/beforeMCPExecution.json", "beforeMCPExecution", "MCP:create_issue", `{"title":"x"}`, "", "/work/shop", "c-1", shop, false, `,"mcp_context":{"server_name":"github","tool_name":"create_issue","command":"npx -y github-mcp"}`},
		{"cursor/beforeReadFile.json", "beforeReadFile", "Read", `{"file_path":"/work/shop/.env"}`, "", "/work/shop", "c-1", shop, false, ""},
		{"cursor/two-roots.json", "beforeShellExecution", "Shell", `{"command":"ls"}`, "", nowhere, "c-1", []string{"/work/shop", "/work/lib"}, false, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			name, _, _ := strings.Cut(c.file, "/")
			e, err := Named(name).Read(recorded(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			request := `{"tool_name":` + call.Text(c.tool).JSON()
			for _, m := range [][2]string{{"agent_id", c.agent}, {"cwd", c.dir}, {"session_id", c.session}} {
				if m[1] != "" {
					request += `,"` + m[0] + `":` + call.Text(m[1]).JSON()
				}
			}
			request += `,"input":` + c.input + c.request + `}`
			got := []any{e.Name, e.Call.Tool, e.Call.Input.JSON(), e.Call.Agent, e.Call.Dir, e.Session, e.Roots, e.CanAsk, e.Call.Request.JSON()}
			want := []any{c.event, c.tool, c.input, c.agent, c.dir, c.session, c.roots, c.canAsk, request}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadRefuses: what is not the input of a hook before a tool, or leaves open what the tool would do.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ agent, input, err string }{
		{"claude-code", ``, "it is empty"},
		{"claude-code", `{"hook_event_name":"PreToolUse"`, "it is not JSON: "},
		{"claude-code", `["PreToolUse"]`, "it is JSON, but not an object; it must be what Claude Code gives its hooks"},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash"}`, `the name "tool_name" occurs twice in one object`},
		{"claude-code", `{"tool_name":"Bash"}`, `"hook_event_name" is "", which is not asked before a tool runs; install the hook for PreToolUse`},
		{"claude-code", `{"hook_event_name":"PostToolUse","tool_name":"Bash"}`, `"hook_event_name" is "PostToolUse", which`},
		{"claude-code", `{"hook_event_name":"SessionStart"}`, `"hook_event_name" is "SessionStart", which`},
		{"claude-code", `{"hook_event_name":7,"tool_name":"Bash"}`, `"hook_event_name" is not a string`},
		{"claude-code", `{"hook_event_name":"PreToolUse"}`, "it names no tool; it must be what Claude Code gives its hooks"},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":["Bash"]}`, `"tool_name" is not a string`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"ls"}`, `"tool_input" is not an object`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"work"}`, `"cwd" is "work", which is not an absolute path`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"C:work"}`, `"cwd" is "C:work", which is not an absolute path`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"C:"}`, `"cwd" is "C:", which is not an absolute path`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":1}`, `"cwd" is not a string`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","agent_id":1}`, `"agent_id" is not a string`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","session_id":1}`, `"session_id" is not a string`},
		{"claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","permission_mode":1}`, `"permission_mode" is not a string`},
		{"codex", `{"hook_event_name":"PermissionRequest","tool_name":"Bash"}`, `"hook_event_name" is "PermissionRequest", which`},
		{"codex", `{"hook_event_name":"PreToolUse","tool_name":"x","tool_input":[]}`, `"tool_input" is not an object`},
		{"gemini", `{"hook_event_name":"AfterTool","tool_name":"glob"}`, `"hook_event_name" is "AfterTool", which is not asked before a tool runs; install the hook for BeforeTool`},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"x","mcp_context":"github"}`, `"mcp_context" is not an object`},
		{"copilot", `{}`, "it names no tool; it must be what GitHub Copilot gives its hooks"},
		{"copilot", `{"toolName":"view","tool_name":"bash"}`, `"toolName" and "tool_name" differ, so policyscan cannot determine which of them counts`},
		{"copilot", `{"toolName":"bash","toolArgs":{"command":"ls"},"tool_input":{"command":"rm"}}`, `"toolArgs" and "tool_input" differ, so policyscan cannot determine which of them counts`},
		{"copilot", `{"toolName":"bash","toolArgs":"rm -rf /"}`, "the tool's input is a string that is not JSON"},
		{"copilot", `{"toolName":"bash","toolArgs":"[1]"}`, `"toolArgs" is a string of JSON, but not of an object`},
		{"copilot", `{"toolName":"bash","toolArgs":7}`, `"toolArgs" is not an object`},
		{"copilot", `{"toolName":"bash","toolArgs":"{\"command\":\"ls\",\"command\":\"rm\"}"}`, "the tool's input is a string that is not JSON"},
		{"copilot", `{"toolName":"bash","toolArgs":"null"}`, `"toolArgs" is missing or null, so what the tool would do cannot be checked; GitHub Copilot gives`},
		{"copilot", `{"toolName":"bash","toolArgs":{},"toolResult":{}}`, `it has "toolResult", which is not asked before a tool runs; install the hook for preToolUse`},
		{"copilot", `{"toolName":"bash","toolArgs":{},"error":"x"}`, `it has "error", which`},
		{"copilot", `{"hook_event_name":"PostToolUse","tool_name":"bash"}`, `"hook_event_name" is "PostToolUse", which`},
		{"cursor", `{"hook_event_name":"afterFileEdit","file_path":"/a"}`, `"hook_event_name" is "afterFileEdit", which is not asked before a tool runs; install the hook for preToolUse, beforeShellExecution, beforeMCPExecution, beforeReadFile`},
		{"cursor", `{"hook_event_name":"beforeShellExecution"}`, `"command" is missing or empty`},
		{"cursor", `{"hook_event_name":"beforeShellExecution","command":["ls"]}`, `"command" is not a string`},
		{"cursor", `{"hook_event_name":"beforeMCPExecution","tool_input":{}}`, `"tool_name" is missing or empty`},
		{"cursor", `{"hook_event_name":"beforeMCPExecution","tool_name":"x","tool_input":"not JSON"}`, `"tool_input" is a string that is not JSON`},
		{"cursor", `{"hook_event_name":"beforeReadFile"}`, `"file_path" is missing or empty`},
		{"cursor", `{"hook_event_name":"preToolUse"}`, "it names no tool; it must be what Cursor gives its hooks"},
		{"cursor", `{"hook_event_name":"preToolUse","tool_name":"Shell","workspace_roots":"/a"}`, `"workspace_roots" is not a list`},
		{"cursor", `{"hook_event_name":"preToolUse","tool_name":"Shell","workspace_roots":[1]}`, `"workspace_roots" has an item that is not a string`},
	} {
		t.Run(c.agent+" "+c.input, func(t *testing.T) {
			e, err := Named(c.agent).Read([]byte(c.input))
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%v, want %s", err, c.err)
			}
			if e != nil {
				t.Errorf("with the error comes an event: %+v", e)
			}
		})
	}
}

// TestReadTakes: what is no reason to refuse an input.
func TestReadTakes(t *testing.T) {
	for _, c := range []struct{ name, agent, input, want string }{
		{"members that are not known", "claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"new":[1]}`, `{"tool_name":"Bash","input":{"command":"ls"}}`},
		{"a tool without arguments", "codex", `{"hook_event_name":"PreToolUse","tool_name":"mcp__a__b","tool_input":{}}`, `{"tool_name":"mcp__a__b","input":{}}`},
		{"an input that is an empty text", "copilot", `{"toolName":"mcp","toolArgs":""}`, `{"tool_name":"mcp","input":{}}`},
		{"an input that is an empty text, of Cursor", "cursor", `{"hook_event_name":"beforeMCPExecution","tool_name":"x","tool_input":" "}`, `{"tool_name":"MCP:x","input":{},"mcp_context":{"tool_name":"x"}}`},
		{"the mark of a byte order", "cursor", "\ufeff" + `{"hook_event_name":"preToolUse","tool_name":"Read","tool_input":{"file_path":"a"}}`, `{"tool_name":"Read","input":{"file_path":"a"}}`},
		{"a folder of Windows", "claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"cwd":"C:\\work"}`, `{"tool_name":"Bash","cwd":"C:\\work","input":{}}`},
		{"the first drive itself", "claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"cwd":"a:\\"}`, `{"tool_name":"Bash","cwd":"a:\\","input":{}}`},
		{"the last drive, with a slash", "claude-code", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"cwd":"Z:/work"}`, `{"tool_name":"Bash","cwd":"Z:/work","input":{}}`},
		{"a server's name with the prefix", "cursor", `{"hook_event_name":"beforeMCPExecution","tool_name":"MCP:x","tool_input":{}}`, `{"tool_name":"MCP:x","input":{},"mcp_context":{"tool_name":"MCP:x"}}`},
		{"both spellings that agree", "copilot", `{"hookEventName":"PreToolUse","sessionId":"s","session_id":"s","toolName":"bash","tool_name":"bash","toolArgs":null,"tool_input":{}}`, `{"tool_name":"bash","session_id":"s","input":{}}`},
		{"a command in a folder that is not absolute", "cursor", `{"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"ls","cwd":"web"},"workspace_roots":["/a"]}`, `{"tool_name":"Shell","input":{"command":"ls","cwd":"web"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := Named(c.agent).Read([]byte(c.input))
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Call.Request.JSON(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestCanAsk: an ask stays one only if the user is sure to be asked.
func TestCanAsk(t *testing.T) {
	for mode, want := range map[string]bool{
		"default": true, "acceptEdits": true, "plan": true,
		"bypassPermissions": false, "auto": false, "dontAsk": false, "": false, "new": false,
	} {
		e, err := Named("claude-code").Read([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"permission_mode":"` + mode + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		if e.CanAsk != want {
			t.Errorf("%q: %v, want %v", mode, e.CanAsk, want)
		}
	}
}

func TestAgents(t *testing.T) {
	var names []string
	for _, a := range Agents() {
		names = append(names, a.Name)
		if got := Named(a.Name); got == nil || got.Name != a.Name || got.Title == "" || len(got.Events) == 0 {
			t.Errorf("Named(%q) is %+v", a.Name, got)
		}
	}
	if diff := cmp.Diff([]string{"claude-code", "codex", "gemini", "copilot", "cursor"}, names); diff != "" {
		t.Error(diff)
	}
	if got := Named("Codex"); got != nil {
		t.Errorf("Named of no agent is %+v", got)
	}
}
