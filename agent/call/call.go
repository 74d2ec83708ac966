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

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

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

// Capability is a capability of a tool, by the taxonomy of sigmashake's document.
type Capability string

// The capabilities. An unknown tool has none.
const (
	Execute Capability = "execute"
	Read    Capability = "read"
	Write   Capability = "write"
	Search  Capability = "search"
	Agent   Capability = "agent"
	Network Capability = "network"
)

// A Tool describes a tool by its name, for any agent.
type Tool struct {
	Same       string // the name that Claude Code has for a tool of this meaning; "" if it has none
	Capability Capability
}

// Known describes a tool of that name, in any agent of docs/agents.md; it is zero for any other, such as an MCP
// server's.
func Known(name string) Tool {
	same := name
	switch name {
	case "run_shell_command", "shell", "local_shell", "shell_command", "container.exec", "exec_command", "command",
		"execute_bash", "bash", "powershell", "Shell", "run_terminal_cmd", "run_in_terminal", "runTerminalCommand":
		same = "Bash"
	case "read_file", "read_many_files", "fs_read", "view", "view_image":
		same = "Read"
	case "write_file", "fs_write", "create", "create_file", "createFile":
		same = "Write"
	case "replace", "edit", "edit_file", "str_replace", "StrReplace", "search_replace", "insert", "str_replace_editor",
		"str_replace_based_edit_tool", "apply_patch", "applypatch", "ApplyPatch", "Delete", "delete_file",
		"replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", // Visual Studio Code's
		"editFiles", "edit_files", "deleteFile":
		same = "Edit"
	case "edit_notebook", "EditNotebook", "edit_notebook_file", "create_new_jupyter_notebook":
		same = "NotebookEdit"
	case "glob", "list_directory", "list_dir", "LS":
		same = "Glob"
	case "grep", "rg", "search_file_content", "grep_search", "grep_files":
		same = "Grep"
	case "web_fetch", "webfetch":
		same = "WebFetch"
	case "google_web_search", "web_search":
		same = "WebSearch"
	case "task", "Agent", "spawn_agent":
		same = "Task"
	}
	t := Tool{Same: same}
	switch same {
	case "Bash", "PowerShell", "Monitor":
		t.Capability = Execute
	case "Read", "NotebookRead":
		t.Capability = Read
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		t.Capability = Write
	case "Glob", "Grep":
		t.Capability = Search
	case "Task":
		t.Capability = Agent
	case "WebFetch", "WebSearch":
		t.Capability = Network
	// Codex types into a command that it began, Visual Studio Code runs a task; no other agent has such tools.
	case "write_stdin", "create_and_run_task", "run_task":
		t.Same, t.Capability = "", Execute
	default:
		t.Same = ""
	}
	return t
}

// Servers returns the MCP servers to which a call says that its tool belongs: in the tool's name as Claude Code and
// Codex write it, mcp__SERVER__TOOL, or in that of the request's member mcp_tool_name, and in its mcp_context, as
// Gemini CLI and Cursor describe the server. unknown is set if it is a server's tool, and none is named.
func (c *Call) Servers() (servers []string, unknown bool) {
	for _, name := range []string{c.Tool, c.Request.Member("mcp_tool_name").Str()} {
		if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
			if server, _, ok := strings.Cut(rest, "__"); ok && server != "" {
				servers = append(servers, server)
				continue
			}
		}
		unknown = unknown || strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "MCP:")
	}
	context := c.Request.Member("mcp_context")
	if server := context.Member("server_name").Str(); server != "" {
		servers = append(servers, server)
	}
	return servers, servers == nil && (unknown || context.Kind() == Object)
}

// MaxLine is how many bytes of JSON a call may have: it has the content of a file in it.
const MaxLine = 64 << 20

// A Line is one line of an input, or its error.
type Line struct {
	Number int    // counted from 1
	Text   []byte // without spaces at its ends; valid until the next line is read
	Err    error
}

// Lines returns the lines of an input that are not empty. One that has an error is the last.
func Lines(in io.Reader) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		s := bufio.NewScanner(in)
		s.Buffer(nil, MaxLine)
		n := 0
		for s.Scan() {
			n++
			if text := bytes.TrimSpace(s.Bytes()); len(text) > 0 && !yield(Line{Number: n, Text: text}) {
				return
			}
		}
		err := s.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d has over %d bytes", n+1, MaxLine)
		}
		if err != nil {
			yield(Line{Err: err})
		}
	}
}
