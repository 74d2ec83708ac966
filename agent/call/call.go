// Package call describes a coding agent's tool call before it runs.
//
// A [Call] is a tool's name, its input and its working directory. The input is a [Value], JSON with its names in
// order and without duplicates. [Known] classifies a tool of any agent, [Call.Operations] returns what a call does in
// the terms of clash's document, and [Call.Commands] the commands that it runs, for the native rules. [Resolve] and
// [Host] normalize paths and hosts, so that they can be compared.
//
// The package decides nothing and knows no rules; package callrules does. It opens no files and looks nothing up.
//
// # Limits
//
// A call is the agent's request. The effects of a running program (a script, a child process) are not seen.
// [Call.Commands] finds the commands of a command line through package shell; [Call.Operations] has only the first.
package call

// A Call is one call of a tool by an agent, before it runs.
type Call struct {
	Tool  string // the tool's name, as the agent says it; not empty
	Input *Value // the tool's input, an object, or nil
	Agent string // the agent's id, or ""
	Dir   string // the working directory, absolute; "" if it is not known

	// Request is what the dot-paths of deny-overrides walk, and Input if the request has no input. If it is
	// nil, it is made of the above: tool_name, agent_id, input and cwd.
	Request *Value
}
