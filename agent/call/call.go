// Package call is a coding agent's call of a tool: what it asks for, and what it would do.
//
// A [Call] is a tool's name, its input and where it would run. The input is a [Value], JSON with its names in order
// and none of them twice. [Known] says what a tool of any agent is, [Call.Operations] what a call does, in the terms
// of clash's document, and [Call.Commands] which commands it runs, as the native rules see them. [Resolve] and [Host]
// write the paths and hosts that calls name in one form, so that they can be compared.
//
// The package decides nothing and knows no rules; package callrules does. It opens no files and looks nothing up.
//
// # Limits
//
// A call is what the agent asked for. What a program does once it runs (a script, a child process) is not seen.
// [Call.Commands] finds the commands of a command line through package shell; [Call.Operations] has only the first.
package call

// A Call is one call of a tool by an agent, before it runs.
type Call struct {
	Tool  string // the tool's name, as the agent says it; not empty
	Input *Value // the tool's input, an object; nil if there is none
	Agent string // the agent's id; "" if there is none
	Dir   string // the working directory, absolute; "" if it is not known

	// Request is what the dot-paths of deny-overrides walk, and where it has no input of its own, Input. If it is
	// nil, it is made of the above: tool_name, agent_id, input and cwd.
	Request *Value
}
