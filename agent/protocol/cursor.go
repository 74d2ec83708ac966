package protocol

import (
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

// cursorAnswer is the documentation's for an event that asks for permission.
type cursorAnswer struct {
	Permission string `json:"permission"`
	User       string `json:"user_message,omitempty"`
	Agent      string `json:"agent_message,omitempty"`

	Specific *specific `json:"hookSpecificOutput,omitempty"` // of a hook in Claude Code's settings
}

// The events of Cursor.
const (
	generic = "preToolUse"
	shell   = "beforeShellExecution"
	server  = "beforeMCPExecution"
	reading = "beforeReadFile"
)

// cursor follows cursor.com/docs/hooks as of October 2026; no source of it is public. The events before a
// command, a server's tool and a file become the call that preToolUse, which is asked before any tool,
// has for them: Shell, MCP:name and Read.
func cursor() *Agent {
	a := &Agent{
		Name: "cursor", Title: "Cursor", Events: []string{generic, shell, server, reading},
		ProjectEnv: "CURSOR_PROJECT_DIR", // it reads these, too
		holdsInput: toolInput,
	}
	a.read = func(in *input) *Event {
		e := &Event{Name: in.event(a, "hook_event_name"), Session: in.text("conversation_id", "session_id")}
		e.Roots = in.texts("workspace_roots")
		c := &call.Call{Dir: in.dir("cwd")}
		e.Call = c
		var context *call.Value
		switch e.Name {
		case generic:
			c.Tool, c.Input = in.text("tool_name"), cursorInput(in)
		case shell:
			c.Tool = "Shell"
			c.Input = call.NewObject(call.Member{Name: "command", Value: needed(in, "command")})
		case server:
			name := needed(in, "tool_name").Str()
			c.Tool, c.Input = "MCP:"+strings.TrimPrefix(name, "MCP:"), cursorInput(in)
			// The same names as Gemini's.
			var members []call.Member
			for _, m := range []struct{ to, from string }{{"server_name", "mcp_server_name"},
				{"tool_name", "tool_name"}, {"command", "command"}, {"url", "url"}} {
				if text := in.text(m.from); text != "" {
					members = append(members, call.Member{Name: m.to, Value: call.Text(text)})
				}
			}
			context = call.NewObject(members...)
		case reading:
			// Without its content, which is the file's current one.
			c.Tool = "Read"
			c.Input = call.NewObject(call.Member{Name: "file_path", Value: needed(in, "file_path")})
		}
		if c.Dir == "" {
			c.Dir = cursorDir(e)
		}
		c.Request = request(e, call.Member{Name: "mcp_context", Value: context})
		// No CanAsk: preToolUse reads an ask as an allow, beforeReadFile has none, and for the others Cursor's forum
		// has reports that the command ran (threads 144244 and 155438).
		return e
	}
	a.answer = func(e *Event, d Decision) any {
		switch {
		case d.Permission == Allow:
			return cursorAnswer{Permission: "allow"}
		case d.Permission == None:
			// Not allow, which is an opinion.
			return struct{}{}
		case e.Name == reading:
			return cursorAnswer{Permission: "deny", User: d.Reason}
		}
		return cursorAnswer{Permission: "deny", User: d.Reason, Agent: d.Reason}
	}
	return a
}

// needed is a member without which the event says nothing.
func needed(in *input, name string) *call.Value {
	if in.text(name) == "" {
		in.fail("%q is missing or empty", name)
		return nil
	}
	_, v := in.member(name)
	return v
}

// cursorInput is a tool's input, an object or a string of one.
func cursorInput(in *input) *call.Value {
	object, text := in.arguments("tool_input")
	if text != "" {
		in.fail("%q is a string that is not JSON", "tool_input")
	}
	return object
}

// cursorDir is the directory of a call if the event has none: for a command from its input, else the only root.
func cursorDir(e *Event) string {
	if e.Call.Tool == "Shell" {
		for _, name := range []string{"working_directory", "cwd"} {
			if dir := e.Call.Input.Member(name).Str(); dir != "" {
				if !absolute(dir) {
					return ""
				}
				return dir
			}
		}
	}
	if len(e.Roots) == 1 && e.Roots[0] != "" && absolute(e.Roots[0]) {
		return e.Roots[0]
	}
	return ""
}
