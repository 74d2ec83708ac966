package agents

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/policyscan/policyscan/agent/protocol"
)

var (
	none   = exchange{"no opinion", answers(protocol.Decision{}), true, ""}
	noted  = exchange{"no opinion and a note", answers(protocol.Decision{Note: note}), true, ""}
	allow  = exchange{"allow", answers(protocol.Decision{Permission: protocol.Allow, Reason: why}), true, ""}
	deny   = exchange{"deny", answers(protocol.Decision{Permission: protocol.Deny, Reason: why, Note: note}), false, why}
	ask    = exchange{"ask", answers(protocol.Decision{Permission: protocol.Ask, Reason: why}), false, why}
	unread = exchange{"deny of what could not be read", func(a *protocol.Agent, _ *protocol.Event) hook {
		return hook{answer: a.Answer(nil, protocol.Decision{Reason: why})}
	}, false, why}
	half = exchange{"half a document", fails(hook{answer: []byte(`{"hookSpecificOutput":{"permissionDecision":"deny"`)}), true, ""}
	two  = exchange{"status 2 and a line on standard error", fails(hook{stderr: why, status: 2}), false, ""}
)

// runClaude runs Claude Code with its hook in a project's settings; more are members of its entry.
func runClaude(t *testing.T, mode string, more map[string]any) func(*testing.T, *session) {
	program := filepath.Join(install(t, "@anthropic-ai/claude-code-linux-x64", claudeVersion), "claude")
	return func(t *testing.T, s *session) {
		entry := map[string]any{"type": "command", "command": s.hook, "timeout": 3}
		maps.Copy(entry, more)
		settings(t, filepath.Join(s.dir, ".claude", "settings.json"), map[string]any{"hooks": map[string]any{
			"PreToolUse": []any{map[string]any{"matcher": "*", "hooks": []any{entry}}},
		}})
		args := []string{"-p", "make it"}
		switch mode {
		case "": // nothing permits the command
		case "default":
			args = append(args, "--permission-mode", mode, "--allowedTools", "Bash")
		default:
			args = append(args, "--permission-mode", mode)
		}
		s.run(t, []string{
			"ANTHROPIC_BASE_URL=" + s.model.url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "IS_SANDBOX=1",
		}, program, args...)
	}
}

func TestClaudeCode(t *testing.T) {
	asked(t)
	for _, mode := range []string{"default", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) {
			judge(t, "claude-code", "Bash", runClaude(t, mode, nil), []exchange{
				none, noted, allow, deny, ask, unread, two, half,
				{"status 1", fails(hook{stderr: why, status: 1}), true, ""},
				{"no program", fails(hook{status: 127}), true, ""},
				{"too late", fails(hook{answer: protocol.Named("claude-code").Answer(nil, protocol.Decision{}), sleep: 5}), true, ""},
				{"an ask, whatever the mode", func(a *protocol.Agent, _ *protocol.Event) hook {
					return hook{answer: a.Answer(&protocol.Event{CanAsk: true}, protocol.Decision{Permission: protocol.Ask, Reason: why})}
				}, false, ""},
			})
		})
	}
}

// TestClaudeCodePermission: where nothing permits a command and nobody can be asked, no opinion leaves it
// unpermitted, and an allow permits it.
func TestClaudeCodePermission(t *testing.T) {
	asked(t)
	refused := none
	refused.runs = false
	judge(t, "claude-code", "Bash", runClaude(t, "", nil), []exchange{refused, allow})
}

// TestClaudeCodeOnFailure: what the docs page says of onFailure.
func TestClaudeCodeOnFailure(t *testing.T) {
	asked(t)
	judge(t, "claude-code", "Bash", runClaude(t, "default", map[string]any{"onFailure": "block"}), []exchange{
		none, deny, half,
		{"status 1", fails(hook{stderr: why, status: 1}), false, ""},
		{"no program", fails(hook{status: 127}), false, ""},
		{"too late", fails(hook{sleep: 5}), false, ""},
	})
}

func TestCodex(t *testing.T) {
	asked(t)
	dir := install(t, "@openai/codex", codexVersion+"-linux-x64")
	program := filepath.Join(dir, "vendor", "x86_64-unknown-linux-musl", "bin", "codex")
	trusted := true
	run := func(t *testing.T, s *session) {
		settings(t, filepath.Join(s.home, ".codex", "hooks.json"), map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{
			"hooks": []any{map[string]any{"type": "command", "command": s.hook, "timeout": 3}},
		}}}})
		write(t, filepath.Join(s.home, ".codex", "config.toml"), "model = \"stand-in\"\nmodel_provider = \"stand-in\"\n"+
			"[model_providers.stand-in]\nname = \"stand-in\"\nbase_url = \""+s.model.url+"/v1\"\nwire_api = \"responses\"\n"+
			"request_max_retries = 0\nstream_max_retries = 0\n[analytics]\nenabled = false\n")
		args := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "make it"}
		if trusted {
			args = append(args, "--dangerously-bypass-hook-trust")
		}
		s.run(t, nil, program, args...)
	}
	t.Run("a hook that no person has trusted is skipped", func(t *testing.T) {
		trusted = false
		defer func() { trusted = true }()
		s := start(t, hook{answer: protocol.Named("codex").Answer(nil, protocol.Decision{})})
		run(t, s)
		if !s.made() || s.asked() {
			t.Errorf("the command ran: %v, the hook ran: %v", s.made(), s.asked())
		}
	})
	judge(t, "codex", "Bash", run, []exchange{
		none, noted, allow, deny, ask, unread, two, half,
		{"status 2 and nothing on standard error", fails(hook{status: 2}), true, ""},
		{"status 1", fails(hook{stderr: why, status: 1}), true, ""},
		{"no program", fails(hook{status: 127}), true, ""},
		{"too late", fails(hook{answer: protocol.Named("codex").Answer(nil, protocol.Decision{}), sleep: 5}), true, ""},
	})
}

// runCopilot runs Copilot with a hook of the person; more are arguments.
func runCopilot(t *testing.T, event string, more ...string) func(*testing.T, *session) {
	program := filepath.Join(install(t, "@github/copilot-linux-x64", copilotVersion), "copilot")
	return func(t *testing.T, s *session) {
		settings(t, filepath.Join(s.home, ".copilot", "hooks", "policyscan.json"), map[string]any{"version": 1, "hooks": map[string]any{event: []any{map[string]any{
			"type": "command", "bash": s.hook, "timeoutSec": 3,
		}}}})
		s.run(t, []string{
			"COPILOT_PROVIDER_BASE_URL=" + s.model.url, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=none",
			"COPILOT_MODEL=claude-sonnet-4", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		}, program, append([]string{"-p", "make it", "--no-color"}, more...)...)
	}
}

// TestCopilotPermission is TestClaudeCodePermission.
func TestCopilotPermission(t *testing.T) {
	asked(t)
	refused := none
	refused.runs = false
	judge(t, "copilot", "bash", runCopilot(t, "preToolUse"), []exchange{refused, allow})
}

func TestCopilot(t *testing.T) {
	asked(t)
	for event, tool := range map[string]string{"preToolUse": "bash", "PreToolUse": "Bash"} { // with Claude Code's names
		t.Run(event, func(t *testing.T) {
			judge(t, "copilot", tool, runCopilot(t, event, "--allow-all-tools"), []exchange{
				none, noted, allow, deny, ask, unread, two, half,
				{"status 1", fails(hook{stderr: why, status: 1}), false, ""},
				{"no program", fails(hook{status: 127}), false, ""},
				{"too late", fails(hook{answer: protocol.Named("copilot").Answer(nil, protocol.Decision{}), sleep: 5}), true, ""},
			})
		})
	}
}
