package call

import (
	"strings"
	"testing"
)

// TestRow_0_08_Capabilities: "maps tool names to the 6-capability taxonomy (execute, read, write, search, agent,
// network)". The first of each line is Claude Code's name, for which the others are another agent's.
func TestRow_0_08_Capabilities(t *testing.T) {
	for _, line := range []struct {
		capability Capability
		names      string
	}{
		// 0-09, of sigmashake's adapters
		{Execute, "Bash bash shell command"},
		{Read, "Read"},
		{Write, "Write"},
		{Write, "Edit"},
		{Write, "MultiEdit"},
		{Search, "Glob"},
		{Search, "Grep"},
		{Agent, "Task Agent"},
		{Network, "WebFetch"},
		{Network, "WebSearch"},
		// of the agents themselves
		{Execute, "Bash run_shell_command local_shell shell_command container.exec exec_command execute_bash " +
			"powershell Shell run_terminal_cmd"},
		{Execute, "PowerShell"},
		{Execute, "Monitor"},
		{Read, "Read read_file read_many_files fs_read view view_image"},
		{Read, "NotebookRead"},
		{Write, "Write write_file fs_write create create_file"},
		{Write, "Edit replace edit edit_file str_replace apply_patch Delete delete_file"},
		{Write, "NotebookEdit"},
		{Search, "Glob glob list_directory list_dir LS"},
		{Search, "Grep grep search_file_content grep_search grep_files"},
		{Network, "WebFetch web_fetch webfetch"},
		{Network, "WebSearch google_web_search web_search"},
		{Agent, "Task task spawn_agent"},
	} {
		same, _, _ := strings.Cut(line.names, " ")
		for name := range strings.FieldsSeq(line.names) {
			if got := Known(name); got != (Tool{Same: same, Capability: line.capability}) {
				t.Errorf("%s: %+v, not %s and %s", name, got, same, line.capability)
			}
		}
	}
	if got := Known("write_stdin"); got != (Tool{Capability: Execute}) {
		t.Errorf("write_stdin, which no other agent has: %+v", got)
	}
}

// TestRow_0_10_UnknownTools: of a tool that is not known nothing is guessed from its name, nor from its case.
func TestRow_0_10_UnknownTools(t *testing.T) {
	for _, name := range []string{"", "BASH", "bash ", "read", "write", "edit_", "search", "mcp__shell__exec",
		"execute_sql", "TodoWrite", "Bash:", "agent"} {
		if got := Known(name); got != (Tool{}) {
			t.Errorf("%q: %+v", name, got)
		}
	}
}
