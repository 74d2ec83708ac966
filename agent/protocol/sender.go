package protocol

import (
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

// sender is the agent whose payload it is: a, unless the payload has the marks of a program that runs a's hooks, too.
func (a *Agent) sender(payload *call.Value) *Agent {
	switch {
	case a.Name == "claude-code" && fromCursor(payload):
		return cursorInClaude()
	case (a.Name == "claude-code" || a.Name == "copilot") && fromVSCode(payload):
		return vsCode()
	}
	return a
}

func fromCursor(payload *call.Value) bool {
	return payload.Member("cursor_version").Kind() == call.String
}

// fromVSCode reports whether a payload has a name that only Visual Studio Code has: of a tool, or of the event's member
// in its documentation. Its other calls look like Claude Code's, without a mode, and mean the same.
func fromVSCode(payload *call.Value) bool {
	if payload.Member("permission_mode") != nil || payload.Member("toolName") != nil {
		return false // Claude Code's, Copilot's
	}
	return payload.Member("hookEventName").Kind() == call.String || slices.Contains([]string{
		"create_file", "replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file",
		"edit_notebook_file", "run_in_terminal", "create_and_run_task", "run_task",
	}, payload.Member("tool_name").Str())
}

// cursorInClaude is Cursor where it runs a hook of Claude Code's settings: the payload is its own, and the answer has
// both forms (cursor.com/docs/reference/third-party-hooks, and what users recorded of cursor-agent 2026.09.02).
func cursorInClaude() *Agent {
	a := cursor()
	own := a.answer
	a.answer = func(e *Event, d Decision) any {
		out, decided := own(e, d).(cursorAnswer)
		if !decided {
			return struct{}{}
		}
		out.Specific = &specific{"PreToolUse", out.Permission, d.Reason}
		return out
	}
	return a
}

// vsCode is the agent of Visual Studio Code: its source has Claude Code's names (chatHookService.ts in
// microsoft/vscode-copilot-chat at 31acd00a), its documentation of October 2026 other ones. It was not run, so no ask
// is sent.
func vsCode() *Agent {
	a := &Agent{Name: "vscode", Title: "Visual Studio Code", Events: []string{"PreToolUse"}, holdsInput: toolInput}
	a.read = func(in *input) *Event {
		return &Event{
			Name: in.event(a, "hook_event_name", "hookEventName"), Session: in.text("session_id", "sessionId"),
			Call: &call.Call{Tool: in.text("tool_name"), Input: in.object("tool_input"), Dir: in.dir("cwd")},
		}
	}
	a.answer = answerClaude
	return a
}
