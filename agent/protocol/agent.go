// Package protocol speaks the hook protocols of coding agents. It turns an agent's payload, which the hook reads
// before a tool runs, into a [call.Call], and a decision into the JSON document that this agent reads from the hook's
// standard output.
//
// There are five protocols: [Agents] is the table. docs/agents.md has the payloads, the answers, the checked versions
// and the cases in which each fails open. This package decides nothing, reads no environment and writes nothing.
//
// # Failing closed
//
// Unreadable input is an error of [Agent.Read], and [Agent.Answer] without an event is a denial that is valid for
// every event of the agent. The hook must exit with status 0: with any other status most agents ignore the document.
// Every agent except Cursor lets a call go on when its hook exceeds the time limit in the settings, so a hook needs a
// shorter one.
//
// # Limits
//
// The hook sees only the model's tool calls, and no other input (a prompt, a file that the user attached). An agent
// that is started without its hooks, or whose settings switch them off, is not seen either.
package protocol

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

// An Agent is a coding agent with hooks.
type Agent struct {
	Name   string   // on the command line
	Title  string   // as its makers write it
	Events []string // of its hooks that Read takes, the one that is installed first

	// ProjectEnv is the environment variable with the project's directory; "" without one.
	ProjectEnv string

	// noAllow is set if the agent rejects an allow, so that none is sent.
	noAllow bool

	// holdsInput names the member of an event that holds the tool's input.
	holdsInput func(*input) string

	read   func(*input) *Event
	answer func(*Event, Decision) any // what is written as JSON
}

// Agents returns the agents in the order of the documentation.
func Agents() []*Agent {
	return []*Agent{claudeCode(), codex(), gemini(), copilot(), cursor()}
}

// Named returns the agent of a name, or nil.
func Named(name string) *Agent {
	for _, a := range Agents() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// An Event is a tool call that an agent asks its hook about.
type Event struct {
	// Call has the tool's name and input as the agent gave them, Agent if a subagent calls, and in Dir the working
	// directory. Its Request has tool_name, agent_id, input, cwd and session_id if the agent sent them, and of Gemini
	// and Cursor also mcp_context if a server's tool is called.
	Call *call.Call

	Name    string   // of the event, as the agent names it; of Copilot's first spelling, which has none, "preToolUse"
	Session string   // the session's id, or ""
	Roots   []string // the directories of the project, as the agent names them; only Cursor does
	CanAsk  bool     // whether an Ask is put to a person; where it is not, Answer denies
	snake   bool     // of Copilot: the input is in the second spelling

	Agent *Agent // whose payload it is: another than the one that read it, if a program runs that one's hooks, too
}

// Permission is the decision on a call.
type Permission uint8

// String is the permission in a word.
func (p Permission) String() string {
	return [...]string{"none", "allow", "ask", "deny"}[min(p, Deny)]
}

// The permissions.
const (
	None  Permission = iota // no opinion: what the agent would do without the hook
	Allow                   // the call goes on, and the agent need not ask the user
	Ask                     // the user decides
	Deny
)

// A Decision is the hook's answer.
type Decision struct {
	Permission Permission

	// Reason is for the agent and the user. Ask and Deny need one: agents reject a deny without a reason and let the
	// call go on, so an empty one is replaced.
	Reason string
	// Note is for the user, and may come with any permission. Agents without a field for it do not show it.
	Note string
}

// Read parses the standard input of a hook. Unknown members are ignored: agents add some with each version. A payload
// without the tool's input is an error: nothing in it could be checked, and no agent sends one.
func (a *Agent) Read(stdin []byte) (*Event, error) {
	// Cursor writes the mark on Windows.
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
	e := a.read(in)
	e.Agent = a
	if in.err == nil && e.Call.Tool == "" {
		in.fail("it names no tool; it must be what %s gives its hooks", a.Title)
	}
	if in.err == nil && e.Call.Input == nil {
		in.fail("%q is missing or null, so what the tool would do cannot be checked; "+
			"%s gives its hooks an object there, for a tool without arguments an empty one", a.holdsInput(in), a.Title)
	}
	if in.err != nil {
		return nil, in.err
	}
	if e.Call.Request == nil {
		e.Call.Request = request(e)
	}
	return e, nil
}

// OtherProgram says, after a semicolon, which other program wrote a hook's standard input, and how to fix it, if it
// was not understood. It is "" if unknown.
func (a *Agent) OtherProgram(stdin []byte) string {
	v, err := call.ParseValue(bytes.TrimPrefix(stdin, []byte("\ufeff")))
	switch {
	case err != nil:
		return ""
	case a.Name != "cursor" && fromCursor(v):
		// cursor.com/docs/reference/third-party-hooks, November 2026
		return "; this is a call of Cursor, which can run the hooks of Claude Code, too: " +
			"run policyscan hook install cursor, and turn off third-party plugins and skills in Cursor's settings"
	case a.Name != "vscode" && a.sender(v) == a && fromVSCode(v): // else a hook that it is known to run
		// code.visualstudio.com/docs/agent-customization/hooks, November 2026
		return "; this is a call of Visual Studio Code, which runs the hooks in .github/hooks and .claude, too: " +
			"install the hook of claude-code or copilot there, or turn it off with the setting chat.hookFilesLocations"
	}
	return ""
}

// request is what dot-paths walk.
func request(e *Event, more ...call.Member) *call.Value {
	members := []call.Member{{Name: "tool_name", Value: call.Text(e.Call.Tool)}}
	for _, m := range []struct{ name, text string }{{"agent_id", e.Call.Agent},
		{"cwd", e.Call.Dir}, {"session_id", e.Session}} {
		if m.text != "" {
			members = append(members, call.Member{Name: m.name, Value: call.Text(m.text)})
		}
	}
	members = append(members, call.Member{Name: "input", Value: e.Call.Input})
	return call.NewObject(append(members, more...)...)
}

// Answered returns the permission that Answer writes for a decision: a deny for an ask that the agent would not show
// to the user, no opinion for an allow that it rejects. A nil event could not be read.
func (a *Agent) Answered(e *Event, p Permission) Permission {
	switch p = min(p, Deny); { // anything that is not a constant denies
	case e == nil, p == Ask && !e.CanAsk:
		return Deny
	case p == Allow && a.noAllow:
		return None
	}
	return p
}

// Answer returns the document for the hook's standard output, with a line feed at its end. It is never empty: no
// opinion is "{}", so that a silent program is not mistaken for a check. A nil event could not be read: the answer is
// then a deny, whatever the decision's permission, in a shape that is valid for any event of the agent.
func (a *Agent) Answer(e *Event, d Decision) []byte {
	asked := d.Permission == Ask
	d.Permission = a.Answered(e, d.Permission)
	if e == nil {
		asked, e = false, &Event{snake: true}
	}
	d.Reason, d.Note = bound(d.Reason), bound(d.Note)
	if asked && d.Permission == Deny {
		d.Reason = bound("needs a person's approval: " + said(d.Reason))
	}
	if d.Permission >= Ask {
		d.Reason = said(d.Reason)
	}
	text, err := json.Marshal(a.answer(e, d))
	if err != nil { // structs of texts: it cannot be
		panic(err)
	}
	return append(text, '\n')
}

// longest is how many characters of a reason are answered. It goes into the model's context, and Codex
// keeps of a longer text only its ends.
const longest = 4000

// bound makes a string that every agent accepts unchanged: valid UTF-8, not too long, and without spaces at its ends
// (Codex ignores a reason of spaces).
func bound(s string) string {
	const more = " … (cut)"
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\ufffd"))
	n := 0
	for at := range s {
		if n == longest {
			return s[:at] + more
		}
		n++
	}
	return s
}

func said(reason string) string {
	if reason == "" {
		return "the policy gives no reason"
	}
	return reason
}
