package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

// A TurnEvent is what an agent tells its hook when a session begins, or before it ends a turn.
type TurnEvent struct {
	Name    string   // of the event; of Copilot's first spelling, which has none, as in its documentation
	Session string   // the session's id, or ""
	Agent   string   // the subagent's id, or ""
	Dir     string   // the working directory, or ""
	Roots   []string // the directories of the project, as the agent names them; only Cursor does

	Begins    bool // the session does; else the turn ends
	Continued bool // a hook sent the agent back, and this is how it goes on. Agents are not to be relied on for it
	Ended     bool // the user or an error ended the turn: the agent would not be sent back
}

// turnEvents are an agent's events when a session begins and before a turn ends.
func (a *Agent) turnEvents() (begins string, ends []string) {
	switch a.Name {
	case "gemini":
		return "SessionStart", []string{"AfterAgent"}
	case "copilot": // in its second spelling it has Claude Code's names, with which it runs that one's hooks, too
		return "sessionStart", []string{"agentStop", "subagentStop", "Stop", "SubagentStop"}
	case "cursor":
		return "sessionStart", []string{"stop", "subagentStop"} // the second for Claude Code's SubagentStop
	}
	return "SessionStart", []string{"Stop", "SubagentStop"}
}

// ReadTurn parses the standard input of a hook at the beginning of a session or the end of a turn.
func (a *Agent) ReadTurn(stdin []byte) (*TurnEvent, error) {
	v, err := call.ParseValue(bytes.TrimPrefix(stdin, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	in := &input{of: v}
	if v.Kind() != call.Object {
		in.fail("it is JSON, but not an object; it must be what %s gives its hooks", a.Title)
		return nil, in.err
	}
	a = a.sender(v)
	e := &TurnEvent{
		Name:    in.text("hook_event_name", "hookEventName"),
		Session: in.text("session_id", "sessionId", "conversation_id"),
		Agent:   in.text("agent_id", "agentId"), Dir: in.dir("cwd"), Roots: in.texts("workspace_roots"),
		Continued: v.Member("stop_hook_active").True() || v.Member("loop_count").Num() > 0,
	}
	switch has := func(name string) bool { return v.Member(name) != nil }; {
	case e.Name != "" || a.Name != "copilot":
	case has("source"):
		e.Name = "sessionStart"
	case has("agentName"):
		e.Name = "subagentStop"
	case has("stopReason"):
		e.Name = "agentStop"
	}
	begins, ends := a.turnEvents()
	switch e.Begins = strings.EqualFold(e.Name, begins); {
	case !e.Begins && !slices.Contains(ends, e.Name):
		in.fail("%q is %q, which is not the beginning of a session or the end of a turn; install the hook for %s",
			"hook_event_name", e.Name, strings.Join(append([]string{begins}, ends...), ", "))
	case a.Name == "cursor" && !e.Begins:
		e.Ended = in.text("status") != "completed" // "aborted" by the user, or "error"
	}
	if in.err != nil {
		return nil, in.err
	}
	return e, nil
}

// turnAnswer is what the agents accept at the end of a turn. Codex allows no other members.
type turnAnswer struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	FollowUp string `json:"followup_message,omitempty"`
	Message  string `json:"systemMessage,omitempty"`
}

// AnswerTurn returns the document for standard output that sends an agent back to work, with the reason for it, or
// lets it end its turn if that is ""; the note is for the user. A note without a place goes with the reason to the
// agent; without that it is not shown.
func (a *Agent) AnswerTurn(reason, note string) (document []byte, shown bool) {
	var out turnAnswer
	shown = a.Name != "cursor" && a.Name != "copilot"
	if reason != "" && note != "" && !shown {
		reason, note = reason+"\n"+note, ""
	}
	switch reason, note = bound(reason), bound(note); {
	case a.Name == "cursor":
		out.FollowUp = reason
	case reason != "" && a.Name == "gemini":
		out.Decision, out.Reason = "deny", reason
	case reason != "":
		out.Decision, out.Reason = "block", reason
	}
	if shown {
		out.Message = note
	}
	text, err := json.Marshal(out)
	if err != nil { // a struct of strings: it cannot be
		panic(err)
	}
	return append(text, '\n'), shown || note == ""
}
