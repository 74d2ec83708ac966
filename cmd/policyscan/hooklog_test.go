package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// logLine is the part of a log line that the tests check.
type logLine struct {
	Time, Version, Agent, Answer, Decision string
	AgentID                                *string `json:"agent_id"`
	Session, Event, Tool, Cwd, Rule, Code  *string
	Reason                                 *string
	Approved                               *bool
	Violations                             []map[string]any
	Trace                                  []map[string]any
	Input                                  map[string]any
}

// loggedIn returns the lines of a log.
func loggedIn(t testing.TB, name string) (all []logLine) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || !strings.HasSuffix(line, "}\n") {
			t.Fatalf("%v: %q", err, line)
		}
		if at, err := time.Parse(time.RFC3339Nano, l.Time); err != nil || !strings.HasSuffix(l.Time, "Z") ||
			time.Since(at) > time.Hour || l.Version != version() {
			t.Errorf("%v: %q of %q", err, l.Time, l.Version)
		}
		all = append(all, l)
	}
	return all
}

func str(p *string) string {
	if p == nil {
		return "null"
	}
	return *p
}

// said is a line in short.
func (l *logLine) said() string {
	return strings.Join([]string{l.Agent, str(l.AgentID), str(l.Session), str(l.Event), str(l.Tool), str(l.Cwd),
		l.Answer, l.Decision, str(l.Rule)}, " ")
}

// TestLogAgents: each agent's decisions, in each of its events, are in the log as they were answered.
func TestLogAgents(t *testing.T) {
	for _, c := range []struct{ agent, payload, event, tool, none string }{
		{"claude-code",
			`{"hook_event_name":"PreToolUse","session_id":"s","agent_id":"a","cwd":"/w","permission_mode":"default",` +
				`"tool_name":"Bash","tool_input":{"command":"COMMAND"}}`, "PreToolUse", "Bash", "allow"},
		{"gemini", `{"hook_event_name":"BeforeTool","session_id":"s","cwd":"/w","tool_name":"run_shell_command",` +
			`"tool_input":{"command":"COMMAND"}}`, "BeforeTool", "run_shell_command", "allow"},
		{"copilot", `{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"COMMAND\"}"}`,
			"preToolUse", "bash", "allow"},
		{"cursor", `{"hook_event_name":"beforeShellExecution","conversation_id":"s","cwd":"/w","command":"COMMAND"}`,
			"beforeShellExecution", "Shell", "allow"},
	} {
		dir := rulesIn(t)
		writeFile(t, filepath.Join(dir, "calls.yml"), `rules:
  - {id: RM, title: No rm, effect: deny, when: {fact: command, contains: "rm -rf"}}
  - {id: PUSH, title: Pushes, effect: ask, when: {fact: command, contains: push}}
  - {id: LS, title: Lists, effect: allow, when: {fact: command, equals: ls}}
`)
		args := []string{"hook", c.agent, "--root", dir, "--policy", "none", "--calls", "calls.yml", "--log", "log",
			"--send-allow"}
		asks := map[string]string{"claude-code": "ask", "copilot": "ask"}[c.agent]
		if asks == "" {
			asks = "deny"
		}
		agentID := "null"
		if strings.Contains(c.payload, "agent_id") {
			agentID = "a"
		}
		var want []string
		for _, w := range [][4]string{{"rm -rf /", "deny", "deny", "RM"}, {"git push", asks, "ask", "PUSH"},
			{"ls", c.none, "allow", "LS"}, {"pwd", "none", "allow", "null"}} {
			status, out, said := fed(strings.Replace(c.payload, "COMMAND", w[0], 1), args...)
			if status != exitPass || said != "" || strings.Contains(out, `deny"`) != (w[1] == "deny") {
				t.Errorf("%s: status %d: %s%s", c.agent, status, out, said)
			}
			want = append(want, strings.Join([]string{c.agent, agentID, "s", c.event, c.tool, "/w", w[1], w[2], w[3]},
				" "))
		}
		// An unreadable call, or one that broken rules cannot decide, is logged as a decision, too.
		for _, in := range []string{`{"half`, strings.Replace(c.payload, `"s"`, "7", 1)} {
			fed(in, args...)
			want = append(want, c.agent+" null null null null null deny deny null")
		}
		fed(c.payload, append(args, "--calls", "none.yml")...)
		want = append(want, strings.Join([]string{c.agent, agentID, "s", c.event, c.tool, "/w deny deny null"}, " "))
		var got []string
		all := loggedIn(t, filepath.Join(dir, "log"))
		for _, l := range all {
			got = append(got, l.said())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if l := all[0]; str(l.Reason) != "No rm" || len(l.Trace) != 1 || l.Trace[0]["file"] != "calls.yml" ||
			l.Input["command"].(map[string]any)["bytes"] != 8.0 {
			t.Errorf("%+v", l)
		}
		for i, reason := range []string{"is not JSON", "is not a string", "none.yml"} {
			if l := all[4+i]; !strings.Contains(str(l.Reason), reason) {
				t.Errorf("%s: %s", reason, str(l.Reason))
			}
		}
	}
}

// TestLogKeepsTexts: without --log-input no text of a call is in the log, whoever denied it and why; with it all are.
func TestLogKeepsTexts(t *testing.T) {
	dir := rulesIn(t)
	for name, text := range map[string]string{"bundle/rules/boundaries.yml": oneRule,
		"bundle/rules/invariants.yml": "rules: []\n", "SECRET9.tf": "SECRET8\n",
		"exec.yml": "rules:\n  - {id: GIT, title: No git, effect: ask, when: {fact: exec.bin, equals: git}}\n  - " +
			"{id: LS, title: Lists, effect: allow, when: {fact: exec.bin, equals: ls}}\n"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	const begins = `{"hook_event_name":"PreToolUse","session_id":"s","permission_mode":"default","tool_name":`
	payloads := []string{
		begins + `"Bash","tool_input":{"command":"rm -rf SECRET1","description":"SECRET2"}}`,
		begins + `"Bash","tool_input":{"command":"ls SECRET1"}}`,
		begins + `"mcp__x__y","tool_input":{"a":[{"b":"SECRET3"},["SECRET4"]]}}`,
		begins + `"Write","tool_input":{"file_path":"` + dir + `/SECRET5.tf","content":"0.0.0.0/0 SECRET6\n"}}`,
		begins + `"Write","tool_input":{"file_path":"` + dir + `/bundle/rules/SECRET5.yml","content":"SECRET6"}}`,
		begins + `"Edit","tool_input":{"file_path":"` + dir +
			`/SECRET9.tf","old_string":"SECRET6","new_string":"SECRET7"}}`,
		begins + `"Edit","tool_input":{"file_path":"` + dir + `/SECRET9.tf","old_string":"SECRET8"}}`,
		begins + `"Write","tool_input":{"file_path":"SECRET5.tf","content":"SECRET6"}}`,
		begins + `"Write","tool_input":{"file_path":"/proc/self/SECRET5","content":["SECRET6"]}}`,
		begins + `"Write","tool_input":{"file_path":"` + filepath.Dir(dir) + `/SECRET5.tf","content":"SECRET6"}}`,
		begins + `"Write","tool_input":{"file_path":"` + filepath.Dir(dir) + `/SECRET5","content":"SECRET6"},"cwd":"` +
			dir + `"}`,
		begins + `"Edit","tool_input":{"file_path":"` + dir +
			`/SECRET9.tf","old_string":"SECRET6","new_string":"SECRET7","command":"rm -rf SECRET1"}}`,
		begins + `"WebFetch","tool_input":{"url":"https://SECRET7@example.com:x/","prompt":"SECRET8"}}`,
		begins + `"Bash","tool_input":{"command":"cd x && git push SECRET1"}}`, // a trace names the command
		begins + `"Bash","tool_input":{"command":"bash -c $SECRET1"}}`,
	}
	for _, texts := range []bool{false, true} {
		name := filepath.Join(dir, fmt.Sprint("log-", texts))
		args := []string{"hook", "claude-code", "--root", dir, "--policy", "bundle", "--state",
			filepath.Join(dir, "state"), "--log", name, "--calls", "exec.yml"}
		for _, calls := range []string{"native.yml", "sigmashake.rules", "evaluator.json", "claudecube.yml",
			"clash.clash"} {
			args = append(args, "--calls", calls)
		}
		if texts {
			args = append(args, "--log-input")
		}
		answers := ""
		for _, payload := range payloads {
			status, out, said := fed(payload, args...)
			if answers += out + said; status != exitPass {
				t.Errorf("status %d: %s", status, said)
			}
		}
		if !strings.Contains(answers, "SECRET") {
			t.Errorf("no answer quotes a call, so there is nothing to keep: %s", answers)
		}
		all := loggedIn(t, name)
		text, err := os.ReadFile(name)
		if err != nil || len(all) != len(payloads) {
			t.Fatalf("%d lines, %v", len(all), err)
		}
		if texts {
			for i := 1; i <= 9; i++ {
				if !strings.Contains(string(text), fmt.Sprint("SECRET", i)) {
					t.Errorf("SECRET%d is not in the log", i)
				}
			}
			continue
		}
		if strings.Contains(string(text), "SECRET") {
			t.Errorf("a text of a call is in the log:\n%s", text)
		}
		if l := all[3]; str(l.Rule) != "NET-1" || l.Reason != nil || len(l.Violations) != 1 ||
			l.Violations[0]["pattern"] != "0.0.0.0/0" ||
			l.Violations[0]["kind"] != "text" || l.Violations[0]["file"] != nil {
			t.Errorf("%+v", l)
		}
		if l := all[4]; l.Decision != "ask" || l.Answer != "ask" || str(l.Rule) != "policyscan:guard" {
			t.Errorf("%+v", l)
		}
		if l := all[5]; l.Answer != "deny" || !strings.Contains(str(l.Reason), "cannot be determined") {
			t.Errorf("%+v", l)
		}
	}
	// At most 4 KiB of each, cut between two characters.
	long := filepath.Join(dir, "long")
	fed(begins+`"Bash","tool_input":{"command":"x`+strings.Repeat("ü", 4000)+`","short":"ü"}}`,
		"hook", "claude-code",
		"--root", dir, "--policy", "bundle", "--log", long, "--log-input")
	for _, l := range loggedIn(t, long) {
		if cut, ok := l.Input["command"].(map[string]any); !ok || cut["text"] != "x"+strings.Repeat("ü", 2047) ||
			cut["bytes"] != 8001.0 || l.Input["short"] != "ü" {
			t.Errorf("%v", l.Input)
		}
	}
	status, out, _ := fed(payloads[0], "hook", "claude-code", "--root", dir, "--policy", "bundle", "--log", "-")
	if status != exitPass || !strings.Contains(out, "--log is -, but standard output is for the answer") {
		t.Errorf("status %d: %s", status, out)
	}
	status, out, _ = fed(payloads[0], "hook", "claude-code", "--root", dir, "--policy", "bundle", "--log-input")
	if status != exitPass || !strings.Contains(out, "--log-input is given without --log") {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestLogDenies: a call whose decision cannot be written is denied, with the reason in the answer; nothing is
// followed, made or changed on the way.
func TestLogDenies(t *testing.T) {
	dir := rulesIn(t)
	writeFile(t, filepath.Join(dir, "target"), "mine")
	place := func(name string) string { return filepath.Join(dir, name) }
	logs := map[string]string{"none/log": "", place("none/log"): "", "native.yml/log": "", ".": "it is a ",
		dir: "it is a "}
	for name, target := range map[string]string{"link": "target", "dangling": "new", "full": "/dev/full"} {
		if err := os.Symlink(target, place(name)); err != nil {
			t.Skip(err)
		}
		logs[name] = "it is a link; name the file itself"
	}
	if runtime.GOOS == "linux" {
		logs["/dev/full"], logs["/dev/stdout"], logs["fifo"] = "it is not a regular file", "it is a link",
			"it is not a regular file"
		if out, err := exec.Command("mkfifo", place("fifo")).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
		if os.Geteuid() != 0 {
			writeFile(t, place("readonly"), "")
			if err := os.Chmod(place("readonly"), 0o400); err != nil {
				t.Fatal(err)
			}
			logs["readonly"] = "permission denied"
		}
	}
	for name, why := range logs {
		for _, serve := range []bool{false, true} {
			args := []string{"hook", "codex", "--root", dir, "--policy", "none", "--calls", "native.yml", "--log",
				name}
			if serve {
				args = append(args, "--serve")
			}
			status, out,
				said := fed(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
				args...)
			if status != exitPass || !strings.Contains(out, `"permissionDecision":"deny"`) ||
				!strings.Contains(out, "cannot be written to the log") || !strings.Contains(out, why) ||
				!strings.Contains(said, "cannot be written to the log") {
				t.Errorf("%s: status %d: %s%s", name, status, out, said)
			}
			if status, out, _ := fed(`{"half`, args...); status != exitPass || !strings.Contains(out, "is not JSON") ||
				!strings.Contains(out, "cannot be written to the log") {
				t.Errorf("%s: status %d: %s", name, status, out)
			}
		}
	}
	if text, err := os.ReadFile(place("target")); string(text) != "mine" || exists(place("new")) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestLogIsGuarded: an edit of the log needs a person, by whatever name, and a note calls recorded only what is.
func TestLogIsGuarded(t *testing.T) {
	dir := rulesIn(t)
	writeFile(t, filepath.Join(dir, "log.rules"), "rule all {\n  LOG any\n  IF tool CONTAINS \"e\"\n}\n")
	write := `{"hook_event_name":"PreToolUse","session_id":"s","permission_mode":"default","cwd":"` + dir +
		`","tool_name":"Write","tool_input":{"file_path":"sub/../LOG","content":""}}`
	args := []string{"hook", "claude-code", "--root", dir, "--policy", "none", "--calls", "log.rules", "--state",
		filepath.Join(dir, "state")}
	if _, out, _ := fed(write, args...); strings.Contains(out, "ask") ||
		!strings.Contains(out, `"systemMessage":"only noted: rule all`) || strings.Contains(out, "recorded") {
		t.Errorf("without a log: %s", out)
	}
	args = append(args, "--log", "log")
	if _, out, _ := fed(strings.Replace(write, "LOG", "other", 1), args...); strings.Contains(out, "ask") ||
		!strings.Contains(out, `"systemMessage":"recorded: rule all`) {
		t.Errorf("with a log: %s", out)
	}
	for _, name := range []string{"sub/../LOG", "log", filepath.Join(dir, "log")} {
		if _, out, _ := fed(strings.Replace(write, "sub/../LOG", name, 1), args...); !strings.Contains(out,
			`"permissionDecision":"ask"`) || !strings.Contains(out, "part of what checks this agent") {
			t.Errorf("%s: %s", name, out)
		}
	}
	// The hook may run in any directory if nothing names the root.
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "deep/er/x"), "")
	t.Chdir(filepath.Join(dir, "deep", "er"))
	args = append([]string{"hook", "claude-code"}, args[4:]...)
	write = `{"hook_event_name":"PreToolUse","permission_mode":"default","session_id":"s",` +
		`"tool_name":"Write","tool_input":{"file_path":"` + dir + `/log","content":""}}`
	if _, out, _ := fed(write, args...); !strings.Contains(out, `"permissionDecision":"ask"`) ||
		!strings.Contains(out, "part of what checks this agent") {
		t.Errorf("from a directory of the root: %s", out)
	}
	if n := len(loggedIn(t, filepath.Join(dir, "log"))); n != 5 {
		t.Errorf("%d lines, want 5", n)
	}
}

// TestLogExample: the line in the manual is what the hook writes, except for time and version.
func TestLogExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(page), "\n{\"time\":")
	example, _, _ = strings.Cut(example, "\n")
	if !found {
		t.Fatal("the manual has no example")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "calls.yml"), `rules:
  - id: NO-FORCE
    title: No force push
    effect: deny
    when: {fact: command, contains: --force}
    message: Force pushes rewrite what others have.
`)
	status, out,
		said := fed(`{"session_id":"s-1","cwd":"/work/shop","hook_event_name":"PreToolUse",`+
		`"tool_name":"Bash","tool_input":{"command":"git push --force"}}`,
		"hook", "claude-code", "--root", dir, "--policy", "none", "--calls", "calls.yml", "--log", "log")
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if status != exitPass || err != nil {
		t.Fatalf("status %d: %s%s %v", status, out, said, err)
	}
	rest := func(line string) string {
		_, line, _ = strings.Cut(line, `"agent":`)
		return strings.TrimSpace(line)
	}
	if got, want := rest(string(text)), rest(example); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
