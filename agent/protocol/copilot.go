package protocol

import "github.com/policyscan/policyscan/agent/call"

// copilotAnswer follows the documentation: the decision at the top. In the second spelling it also has Claude Code's
// part, which Visual Studio Code reads.
type copilotAnswer struct {
	Decision string    `json:"permissionDecision"`
	Reason   string    `json:"permissionDecisionReason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

// copilot is checked with version 1.0.102 of the CLI and GitHub's hooks reference. Its payload has two
// spellings: that of preToolUse has toolName and no name of the event, that of PreToolUse has tool_name.
func copilot() *Agent {
	a := &Agent{
		Name: "copilot", Title: "GitHub Copilot", Events: []string{"preToolUse", "PreToolUse"}, // it reads these, too
	}
	a.holdsInput = func(in *input) string {
		if in.of.Member("toolName") == nil {
			return "tool_input"
		}
		return "toolArgs"
	}
	a.read = func(in *input) *Event {
		e := &Event{Name: "preToolUse", Session: in.text("sessionId", "session_id"), CanAsk: true}
		if name, v := in.member("hook_event_name", "hookEventName"); v != nil {
			e.Name, e.snake = in.event(a, name), true
		}
		// Without a name, an event after the tool ran is known by what it adds.
		for _, name := range []string{"toolResult", "tool_result", "error"} {
			if in.of.Member(name) != nil {
				in.fail("it has %q, which is not asked before a tool runs; install the hook for preToolUse", name)
			}
		}
		e.Call = &call.Call{Tool: in.text("toolName", "tool_name"), Dir: in.dir("cwd")}
		arguments, text := in.arguments("toolArgs", "tool_input")
		if text != "" {
			// A model writes a patch as it is. Of any other tool a text without names would hide from rules.
			if e.Call.Tool != "apply_patch" && e.Call.Tool != "Edit" {
				in.fail("the tool's input is a string that is not JSON")
			}
			arguments = call.NewObject(call.Member{Name: "input", Value: call.Text(text)})
		}
		e.Call.Input = arguments
		return e
	}
	a.answer = func(e *Event, d Decision) any {
		if d.Permission == None {
			return struct{}{}
		}
		word := d.Permission.String()
		out := copilotAnswer{Decision: word, Reason: d.Reason}
		if e.snake {
			out.Specific = &specific{"PreToolUse", word, d.Reason}
		}
		return out
	}
	return a
}
