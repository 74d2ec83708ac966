package main

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"github.com/policyscan/policyscan/agent/gate"
)

// withGuards returns a gate that also guards the rules and the hooks of agents, or with --allow-rule-edits nothing.
// folders are those of the project and of the call.
func (c *agentHookCmd) withGuards(agent string, g *gate.Gate, at place, folders []string) (*gate.Gate, error) {
	if c.AllowRuleEdits {
		unguarded := *g
		unguarded.Guarded = nil
		return &unguarded, nil
	}
	w := gate.Guards{Agent: agent, Root: at.root, Folders: folders, Around: surroundings()}
	w.RootNames = []string{sigmashakeConfig}
	if dir, err := c.stateDir(); err == nil {
		w.State = dir
	}
	return g.WithGuards(w)
}

// surroundings are what the hook runs in, as far as the system tells it. The agent's shells know no more.
func surroundings() gate.Around {
	a := gate.Around{Path: os.Getenv("PATH"), Getenv: os.Getenv}
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
		a.Exts = strings.Split(cmp.Or(os.Getenv("PATHEXT"), ".COM;.EXE;.BAT;.CMD")+";.PS1", ";")
	}
	return a
}
