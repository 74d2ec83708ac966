package call

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
		"execute_bash", "bash", "powershell", "Shell", "run_terminal_cmd":
		same = "Bash"
	case "read_file", "read_many_files", "fs_read", "view", "view_image":
		same = "Read"
	case "write_file", "fs_write", "create", "create_file":
		same = "Write"
	case "replace", "edit", "edit_file", "str_replace", "StrReplace", "search_replace", "insert", "str_replace_editor",
		"str_replace_based_edit_tool", "apply_patch", "applypatch", "ApplyPatch", "Delete", "delete_file",
		"replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file": // Visual Studio Code's
		same = "Edit"
	case "edit_notebook", "EditNotebook", "edit_notebook_file":
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
	case "write_stdin": // Codex types into a command that it began; no other agent has such a tool
		t.Same, t.Capability = "", Execute
	default:
		t.Same = ""
	}
	return t
}
