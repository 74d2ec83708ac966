package protocol

import "github.com/policyscan/policyscan/agent/call"

// specific is the part of Claude Code's answer that decides, which Codex and Copilot's second spelling took over.
type specific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
}

// claudeAnswer is the used part of SyncHookJSONOutput in the Claude Agent SDK's sdk.d.ts. Codex has
// pre-tool-use.command.output, whose schema allows no other members.
type claudeAnswer struct {
	Specific *specific `json:"hookSpecificOutput,omitempty"`
	Message  string    `json:"systemMessage,omitempty"`
}

// claudeCode is checked with version 2.1.330 and the types of the Agent SDK 0.3.330.
func claudeCode() *Agent {
	a := &Agent{
		Name: "claude-code", Title: "Claude Code", Events: []string{"PreToolUse"},
		ProjectEnv: "CLAUDE_PROJECT_DIR", holdsInput: toolInput,
	}
	a.read = func(in *input) *Event {
		e := readClaude(in, a)
		switch in.text("permission_mode") {
		case "default", "acceptEdits", "plan":
			// In the other modes an ask does not ask: bypassPermissions and auto have let the call go on
			// (anthropics/claude-code issues 77212, 51255, 89561), and dontAsk denies without our reason.
			e.CanAsk = true
		}
		return e
	}
	a.answer = answerClaude
	return a
}

func answerClaude(_ *Event, d Decision) any {
	out := claudeAnswer{Message: d.Note}
	if d.Permission != None {
		out.Specific = &specific{"PreToolUse", d.Permission.String(), d.Reason}
	}
	return out
}

// readClaude reads what Claude Code, Codex and Gemini CLI have in common.
func readClaude(in *input, a *Agent) *Event {
	return &Event{
		Name: in.event(a, "hook_event_name"), Session: in.text("session_id"),
		Call: &call.Call{
			Tool: in.text("tool_name"), Input: in.object("tool_input"),
			Agent: in.text("agent_id"), Dir: in.dir("cwd"),
		},
	}
}

// toolInput is the member of all agents except for one spelling of Copilot's.
func toolInput(*input) string { return "tool_input" }

// codex is checked with version 0.169.0: the schemas in its program, and codex-rs/hooks of its source. Of arguments
// that are empty it makes an empty object (core/src/tools/handlers/mcp.rs).
func codex() *Agent {
	a := &Agent{Name: "codex", Title: "Codex", Events: []string{"PreToolUse"}, holdsInput: toolInput, noAllow: true}
	a.read = func(in *input) *Event { return readClaude(in, a) }
	// Of the three decisions of its schema only deny works: an allow without another input, and an ask, are
	// "unsupported", the hook counts as failed, and the call goes on (engine/output_parser.rs).
	a.answer = answerClaude
	return a
}
