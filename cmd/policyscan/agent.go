package main

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/gate"
)

// This is the one place where the commands of a scanner meet those about tool calls of
// agents. Without agent/ and the files about it, testdata/noagent/agent.go takes the place
// of this file, and the rest is a whole scanner: TestWithoutAgent.

// evalCommand is the subcommand that judges calls from standard input.
type evalCommand struct {
	Eval evalCmd `cmd:"" help:"Check tool calls of agents against call rules."`
}

// agentHooks are the hooks that agents run.
type agentHooks struct {
	ClaudeCode agentHookCmd `cmd:"" name:"claude-code" help:"Check a call of Claude Code."`
	Codex      agentHookCmd `cmd:"" help:"Check a call of Codex."`
	Gemini     agentHookCmd `cmd:"" help:"Check a call of Gemini CLI."`
	Copilot    agentHookCmd `cmd:"" help:"Check a call of GitHub Copilot."`
	Cursor     agentHookCmd `cmd:"" help:"Check a call of Cursor."`
}

// agentInstalls write those hooks.
type agentInstalls struct {
	ClaudeCode hookInstallAgentCmd `cmd:"" name:"claude-code" help:"Put the hook into Claude Code's settings."`
	Codex      hookInstallAgentCmd `cmd:"" name:"codex" help:"Put the hook into Codex's settings."`
	Gemini     hookInstallAgentCmd `cmd:"" name:"gemini" help:"Put the hook into Gemini CLI's settings."`
	Copilot    hookInstallAgentCmd `cmd:"" name:"copilot" help:"Put the hook into GitHub Copilot's settings."`
	Cursor     hookInstallAgentCmd `cmd:"" name:"cursor" help:"Put the hook into Cursor's settings."`
}

// agentUninstalls remove them.
type agentUninstalls struct {
	ClaudeCode hookUninstallAgentCmd `cmd:"" name:"claude-code" help:"Remove the hook from Claude Code's settings."`
	Codex      hookUninstallAgentCmd `cmd:"" name:"codex" help:"Remove the hook from Codex's settings."`
	Gemini     hookUninstallAgentCmd `cmd:"" name:"gemini" help:"Remove the hook from Gemini CLI's settings."`
	Copilot    hookUninstallAgentCmd `cmd:"" name:"copilot" help:"Remove the hook from GitHub Copilot's settings."`
	Cursor     hookUninstallAgentCmd `cmd:"" name:"cursor" help:"Remove the hook from Cursor's settings."`
}

// runHook runs the program as the hook of an agent, if the arguments say that it is one.
func runHook(args []string, std streams) (status int, is bool) {
	a := hookedAgent(args)
	if a == nil {
		return 0, false
	}
	return runAsHook(a, args, std), true
}

// surroundings are what the hook runs in, as far as the system tells it. The agent's shells know no more.
func surroundings() gate.Around {
	a := gate.Around{Getenv: getenv}
	a.Path = a.Getenv("PATH")
	if dir, err := os.Getwd(); err == nil {
		a.Folders = []string{dir}
	}
	if program, err := os.Executable(); err == nil {
		a.Program = program
	}
	if home, err := os.UserHomeDir(); err == nil {
		a.Home = home
	}
	if runtime.GOOS == "windows" {
		a.Exts = strings.Split(cmp.Or(a.Getenv("PATHEXT"), ".COM;.EXE;.BAT;.CMD")+";.PS1", ";")
	}
	return a
}

// dialectNames are the names of the dialects of call rules, for help.
func dialectNames() []string { return dialect.Names() }
