package main

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/gate"
)

// Only this file connects the scanner's commands with those for agents' tool calls. Without agent/ and its files,
// testdata/noagent/agent.go replaces this file, and the rest is a whole scanner: TestWithoutAgent.

// evalCommand has the subcommands about calls that are no hooks.
type evalCommand struct {
	Eval evalCmd `cmd:"" help:"Check tool calls of agents against call rules."`
	Ask  askCmd  `cmd:"" help:"Answer here what the hooks of agents ask."`
}

// A forEachAgent has a subcommand for each agent. Its help contains the agent's name: see [expandHelps].
type forEachAgent[T any] struct {
	ClaudeCode T `cmd:"" name:"claude-code" help:"Claude Code"`
	Codex      T `cmd:"" name:"codex" help:"Codex"`
	Gemini     T `cmd:"" name:"gemini" help:"Gemini CLI"`
	Copilot    T `cmd:"" name:"copilot" help:"GitHub Copilot"`
	Cursor     T `cmd:"" name:"cursor" help:"Cursor"`
}

type (
	agentHooks struct {
		forEachAgent[agentHookCmd]
		Stop   hookStopCmd   `cmd:"" help:"Check what a session changed, when an agent ends a turn."`
		Doctor hookDoctorCmd `cmd:"" help:"Check that the hooks of agents are in place, and deny a violation."`
	}
	agentInstalls struct {
		forEachAgent[hookInstallAgentCmd]
	}
	agentUninstalls struct {
		forEachAgent[hookUninstallAgentCmd]
	}
)

// runHook runs the program as an agent's hook, if the arguments ask for it.
func runHook(args []string, std streams) (status int, is bool) {
	a := hookedAgent(args)
	if a == nil {
		return 0, false
	}
	return runAsHook(a, args, std), true
}

// hookContext describes the hook's environment where the system tells it. The agent's shells know no more.
func hookContext() gate.Around {
	a := gate.Around{Getenv: getenv}
	a.Path = a.Getenv("PATH")
	if dir, err := os.Getwd(); err == nil {
		a.Dirs = []string{dir}
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
