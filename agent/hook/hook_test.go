package hook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/verdict"
)

const threeRules = `rules:
  - {id: RM, title: No rm, effect: deny, when: {fact: command, contains: "rm -rf"}}
  - {id: PUSH, title: Pushes, effect: ask, when: {fact: command, contains: push}}
  - {id: LS, title: Lists, effect: allow, when: {fact: command, equals: ls}}
`

// hookIn returns a hook of Claude Code that checks calls with threeRules, in a directory without links.
func hookIn(t *testing.T) (h *Hook, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "calls.yml"), threeRules)
	return &Hook{
		Agent: protocol.Named("claude-code"),
		Calls: dialect.Files{Names: []string{"calls.yml"}}, Policy: []string{NoPolicy}, Root: dir,
		Timeout: time.Minute, State: filepath.Join(dir, "state"),
		Around: gate.Around{Getenv: func(string) string { return "" }}, Safe: verdict.Visible,
		Warn: func(err error) { t.Logf("warned: %v", err) },
	}, dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// bash is a call of Claude Code's shell.
func bash(command string) string {
	return `{"hook_event_name":"PreToolUse","session_id":"s","permission_mode":"default","tool_name":"Bash",` +
		`"tool_input":{"command":"` + command + `"}}`
}

// TestOnce: what each kind of decision becomes in the answer, with and without SendAllow.
func TestOnce(t *testing.T) {
	h, _ := hookIn(t)
	for _, c := range []struct {
		command, left, sent string // parts of the answer; left: without SendAllow
	}{
		{"rm -rf /", `"permissionDecision":"deny"`, `"permissionDecision":"deny"`},
		{"git push", `"permissionDecision":"ask"`, `"permissionDecision":"ask"`},
		{"ls", "{}\n", `"permissionDecision":"allow"`},
		{"pwd", "{}\n", "{}\n"},
	} {
		for _, send := range []bool{false, true} {
			want := c.left
			if h.SendAllow = send; send {
				want = c.sent
			}
			var out strings.Builder
			err := h.Once(t.Context(), strings.NewReader(bash(c.command)), &out)
			if err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("%s, %v: %v, %s", c.command, send, err, out.String())
			}
		}
	}
}

// TestAgentID: an agent without an id has the flag's id, for rules too.
func TestAgentID(t *testing.T) {
	h, dir := hookIn(t)
	h.AgentID = "bot-7"
	put(t, filepath.Join(dir, "calls.yml"), `rules:
  - {id: BOT, title: No bots, effect: deny, when: {fact: agent, equals: bot-7}}
`)
	for payload, denied := range map[string]bool{
		bash("ls"): true,
		strings.Replace(bash("ls"), `"session_id"`, `"agent_id":"other","session_id"`, 1): false,
	} {
		var out strings.Builder
		err := h.Once(t.Context(), strings.NewReader(payload), &out)
		if err != nil || strings.Contains(out.String(), "deny") != denied {
			t.Errorf("%s: %v, %s", payload, err, out.String())
		}
	}
}

// noRoom is a writer that writes nothing.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestOnceFails: what keeps a call from being answered is an error, and in the log it is a denial.
func TestOnceFails(t *testing.T) {
	h, dir := hookIn(t)
	h.Log = "log"
	var written bytes.Buffer
	for _, c := range []struct {
		in   io.Reader
		out  io.Writer
		want string
	}{
		{nil, &written, "there is no call on standard input"},
		{strings.NewReader(`{"half`), &written, "is not one that claude-code makes"},
		{strings.NewReader(bash("ls")), noRoom{}, "the answer could not be written completely"},
	} {
		if err := h.Once(t.Context(), c.in, c.out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	if written.Len() > 0 {
		t.Errorf("an answer: %s", &written)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for line := range strings.Lines(string(log)) {
		_, rest, _ := strings.Cut(line, `"answer":"`)
		answer, _, _ := strings.Cut(rest, `"`)
		answers = append(answers, answer)
	}
	if want := []string{"deny", "deny", "none", "deny"}; !slices.Equal(answers, want) {
		t.Errorf("the log says %q, not %q:\n%s", answers, want, log)
	}
	h.Log = filepath.Join("none", "log")
	err = h.Once(t.Context(), nil, &written)
	if err == nil || !strings.Contains(err.Error(), "cannot be written to the log") {
		t.Errorf("without a log: %v", err)
	}
}

// TestInTime: work that panics is an error that may quote the call; work that is late is the error of the context.
func TestInTime(t *testing.T) {
	failed, late := errors.New("failed"), errors.New("late")
	ctx, end := context.WithCancelCause(t.Context())
	if n, err := inTime(ctx, func() (int, error) { return 7, failed }); n != 7 || err != failed {
		t.Errorf("%d, %v", n, err)
	}
	_, err := inTime(ctx, func() (int, error) { panic("oh") })
	quotes := aboutCall{}
	if !errors.As(err, &quotes) || !strings.Contains(err.Error(), "a bug in policyscan, please report it: oh") {
		t.Errorf("after a panic: %v", err)
	}
	hangs := make(chan int)
	time.AfterFunc(10*time.Millisecond, func() { end(late) })
	if _, err := inTime(ctx, func() (int, error) { return <-hangs, nil }); err != late {
		t.Errorf("work that hangs: %v", err)
	}
	if n, err := inTime(ctx, func() (int, error) { return 7, nil }); n != 0 || err != late {
		t.Errorf("work that is late: %d, %v", n, err)
	}
}

// TestRoots: the flag's directory counts, else the agent's variable and open directories, else the call's directory,
// else the current one; each gives the root of the repository around it, once.
func TestRoots(t *testing.T) {
	h, dir := hookIn(t)
	for _, name := range []string{"a/.git", "a/deep", "b/.git", "plain"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	t.Chdir(at("b"))
	for _, c := range []struct {
		flag, variable string
		event          protocol.Event
		want           []string
	}{
		{"", "", protocol.Event{Call: &call.Call{}}, []string{"."}},
		{"", "", protocol.Event{Call: &call.Call{Dir: at("a/deep")}}, []string{at("a")}},
		{
			"", "", protocol.Event{Call: &call.Call{Dir: at("b")}, Roots: []string{at("a/deep"), at("a")}},
			[]string{at("a")},
		},
		{
			"", at("plain"), protocol.Event{Call: &call.Call{Dir: at("b")}, Roots: []string{at("a")}},
			[]string{at("plain"), at("a")},
		},
		{at("a/deep"), at("b"), protocol.Event{Call: &call.Call{}, Roots: []string{at("b")}}, []string{at("a/deep")}},
		{"", at("none"), protocol.Event{Call: &call.Call{}}, nil},
	} {
		h.Root = c.flag
		h.Around.Getenv = func(name string) string {
			if name == "CLAUDE_PROJECT_DIR" {
				return c.variable
			}
			return ""
		}
		got, err := h.roots(&c.event)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
}

// TestReady: what would deny every call is said when the hook is installed.
func TestReady(t *testing.T) {
	for _, c := range []struct {
		change func(h *Hook, dir string)
		want   string
	}{
		{func(*Hook, string) {}, ""},
		{func(h *Hook, _ string) { h.Root = "none" }, "--root none: "},
		{func(h *Hook, _ string) { h.Calls.Names = nil }, "with --policy none there are no rules"},
		{func(h *Hook, _ string) { h.Policy = []string{NoPolicy, "x"} }, "none excludes every other --policy"},
		{func(h *Hook, _ string) { h.Policy = nil }, "to check with the call rules alone, add --policy none"},
		{func(h *Hook, _ string) { h.Policy = []string{"bundle"} }, "bundle"},
		{func(h *Hook, dir string) { put(t, filepath.Join(dir, "calls.yml"), "rules: [") }, "calls.yml"},
		{func(h *Hook, dir string) {
			put(t, filepath.Join(dir, "a.rules"), "rule x {\n  DENY any\n  IF tool CONTAINS \"e\"\n}\n")
			put(t, filepath.Join(dir, sigmashake.ConfigFile), "[hook]\nask_mode = \"web\"\n")
			h.Calls.Names = []string{"a.rules"}
		}, `write "tty", "dashboard" or "agent"`},
	} {
		h, dir := hookIn(t)
		c.change(h, dir)
		err := h.Ready()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}

// TestFault_180_OtherPrograms: a payload of a program that runs another agent's hooks is judged as that program's and
// answered in its form; where nobody says that it runs them, the call is denied, and the reason says what to do.
func TestFault_180_OtherPrograms(t *testing.T) {
	const denied = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",`
	const bad, good = "0.0.0.0/0", "10.0.0.0/8"
	code := func(event, tool, input string) string {
		return `{"timestamp": "2026-11-20T10:00:00.000Z", "` + event + `": "PreToolUse", "cwd": "/x",
			"tool_name": "` + tool + `", "tool_input": ` + input + `, "tool_use_id": "t"}`
	}
	cursor := func(tool, input string) string {
		return "\ufeff" + `{"conversation_id": "a", "hook_event_name": "preToolUse", "cursor_version": "2.1", "cwd": "",
			"workspace_roots": ["/x"], "tool_name": "` + tool + `", "tool_input": ` + input + `}`
	}
	create := func(text string) string { return `{"filePath": "/x/b.tf", "content": "` + text + `"}` }
	replace := func(text string) string {
		return `{"filePath": "/x/a.tf", "oldString": "old", "newString": "` + text + `"}`
	}
	multi := func(text string) string { return `{"explanation": "e", "replacements": [` + replace(text) + `]}` }
	for _, c := range []struct{ agent, payload, says string }{
		{"claude-code", cursor("Shell", `{"command": "ls"}`), "{}\n"},
		{"claude-code", cursor("Write", `{"file_path": "/x/b.tf", "content": "`+good+`"}`), "{}\n"},
		{"claude-code", cursor("Write", `{"file_path": "/x/b.tf", "content": "`+bad+`"}`), `{"permission":"deny",`},
		{"claude-code", code("hook_event_name", "run_in_terminal", `{"command": "ls"}`), "{}\n"},
		{"claude-code", code("hookEventName", "run_in_terminal", `{"command": "ls"}`), "{}\n"},
		{"claude-code", code("hook_event_name", "create_file", create(good)), "{}\n"},
		{"claude-code", code("hook_event_name", "create_file", create(bad)), denied},
		{"copilot", code("hookEventName", "create_file", create(good)), "{}\n"},
		{"copilot", code("hookEventName", "create_file", create(bad)), denied},
		{"copilot", code("hook_event_name", "replace_string_in_file", replace(good)), "{}\n"},
		{"copilot", code("hook_event_name", "replace_string_in_file", replace(bad)), denied},
		{"claude-code", code("hook_event_name", "multi_replace_string_in_file", multi(good)), "{}\n"},
		{"claude-code", code("hook_event_name", "multi_replace_string_in_file", multi(bad)), denied},
		{"claude-code", code("hook_event_name", "insert_edit_into_file", `{"filePath": "/x/a.tf", "code": "a"}`),
			"replace a text of the file, write a new one, or let a person do it"},
		{"claude-code", code("hook_event_name", "edit_notebook_file", `{"filePath": "/x/a.ipynb"}`), denied},
		{"claude-code", code("hook_event_name", "create_file", `{"filePath": "/x/.vscode/settings.json",
			"content": "{}"}`), denied},
		{"codex", `{"hook_event_name": "beforeShellExecution", "cursor_version": "2.1", "command": "ls",
			"cwd": ""}`, "run policyscan hook install cursor, and turn off third-party plugins"},
		{"gemini", code("hookEventName", "create_file", create(good)), "the setting chat.hookFilesLocations"},
		{"copilot", strings.Replace(code("hookEventName", "create_file", create(good)), "PreToolUse", "PostToolUse", 1),
			"which is not asked before a tool runs; install the hook for PreToolUse"},
		{"cursor", `{"hook_event_name": "preToolUse", "cursor_version": "2.1"}`, "cursor makes: it names no tool"},
		{"claude-code", `{"hook_event_name": "Stop"}`, `"hook_event_name" is "Stop", which is not asked before a tool`},
	} {
		h, dir := hookIn(t)
		put(t, filepath.Join(dir, "a.tf"), "old\n")
		put(t, filepath.Join(dir, ".policyscan/rules/invariants.yml"), "rules: []\n")
		put(t, filepath.Join(dir, ".policyscan/rules/boundaries.yml"), `rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}
`)
		h.Policy = nil
		h.Agent = protocol.Named(c.agent)
		var out strings.Builder
		err := h.Once(t.Context(), strings.NewReader(strings.ReplaceAll(c.payload, "/x", dir)), &out)
		text := out.String()
		if err != nil {
			text += err.Error()
		}
		if !strings.Contains(text, c.says) || c.says == "{}\n" && text != c.says ||
			c.agent != "gemini" && strings.Contains(text, "install the hook of") { // which runs
			t.Errorf("%s: %s\n%s, want %s", c.agent, c.payload, text, c.says)
		}
	}
}
