package main

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/scope"
)

// withGuards returns a gate that also guards the rules and the hooks of agents, or with --allow-rule-edits nothing.
// folders are those of the project and of the call.
func (c *agentHookCmd) withGuards(agent string, g *gate.Gate, at scope.Place, folders []string) (*gate.Gate, error) {
	if c.AllowRuleEdits {
		unguarded := *g
		unguarded.Guarded = nil
		return &unguarded, nil
	}
	w := gate.Guards{Agent: agent, Root: at.Root, Folders: folders, Around: surroundings()}
	w.RootNames = []string{sigmashake.ConfigFile}
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

// projectFolders returns the folders in which the agent was started or that are open in it, as far as it says, without
// links.
func projectFolders(a *protocol.Agent, e *protocol.Event) []string {
	var folders []string
	for _, dir := range append([]string{projectDir(a), e.Call.Dir}, e.Roots...) {
		if real, err := disk.Real(dir); dir != "" && err == nil {
			folders = append(folders, real)
		}
	}
	return folders
}

// projectDir returns the project's folder from the environment variable that the agent sets for its hook, or "".
func projectDir(a *protocol.Agent) string {
	if a.ProjectEnv == "" {
		return ""
	}
	return os.Getenv(a.ProjectEnv)
}
