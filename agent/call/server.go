package call

import "strings"

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
