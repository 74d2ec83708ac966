package protocol

import "github.com/policyscan/policyscan/agent/call"

// geminiAnswer is the used part of HookOutput in packages/core/src/hooks/types.ts.
type geminiAnswer struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"systemMessage,omitempty"`
}

// gemini is checked with version 0.61.0: docs/hooks/reference.md and packages/core/src/hooks.
func gemini() *Agent {
	a := &Agent{
		Name: "gemini", Title: "Gemini CLI", Events: []string{"BeforeTool"},
		ProjectEnv: "GEMINI_PROJECT_DIR", holdsInput: toolInput,
	}
	a.read = func(in *input) *Event {
		e := readClaude(in, a)
		e.Call.Request = request(e, call.Member{Name: "mcp_context", Value: in.object("mcp_context")})
		// Its code has an ask since 0.56 at the latest; its documentation has none, what is not a deny lets
		// the call go on in a version that has none either, and the input does not name the version.
		return e
	}
	a.answer = func(_ *Event, d Decision) any {
		out := geminiAnswer{Message: d.Note}
		if d.Permission != None {
			out.Decision, out.Reason = d.Permission.String(), d.Reason
		}
		return out
	}
	return a
}
