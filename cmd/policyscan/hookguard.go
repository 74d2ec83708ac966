package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/settings"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
)

// withGuards returns a gate that guards the rules and the hooks of agents, those in folders of a project outside of the root
// too, or nothing.
func (c *agentHookCmd) withGuards(agent string, g *gate.Gate, at place, folders []string) (*gate.Gate, error) {
	guarding := *g
	if c.AllowRuleEdits {
		guarding.Guarded = nil
		return &guarding, nil
	}
	guarding.Guarded = slices.Clone(g.Guarded)
	guard := func(dir string, names ...string) {
		for _, name := range names {
			guarding.Guarded = append(guarding.Guarded, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	// In each folder, for the next agent may be started there; Codex reads those on the way to the root, too.
	guarding.GuardedNames = []string{".claude/settings.local.json", ".codex/config.toml", ".github/hooks", ".github/copilot/settings.json", ".github/copilot/settings.local.json"}
	for _, t := range settings.Targets() {
		guarding.GuardedNames = append(guarding.GuardedNames, t.Project)
	}
	guarding.GuardedNames = append(guarding.GuardedNames, gate.TreeNames()...)
	// Another bundle could come to be the one that is discovered.
	guarding.GuardedRootNames = []string{sigmashakeConfig, ".policyscan", rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile}
	guarding.GuardedRootNames = append(guarding.GuardedRootNames, gate.RootNames()...)
	guarding.GuardsCI = true
	if root, err := disk.Real(at.root); err == nil {
		guarding.Root = root
		guard(root, guarding.GuardedRootNames...) // which may be links
		top, err := repo.Root(root)               // which is above what --root names, if that is a folder in it
		if err != nil {
			return nil, err
		}
		guard(top, slices.Concat(gate.TreeNames(), gate.RootNames())...)
		dirs, err := repo.GitDirs(top)
		if err != nil {
			return nil, fmt.Errorf("cannot determine where git's folder of the root is: %w", err)
		}
		guarding.Guarded = append(guarding.Guarded, dirs...)
		guarding.Guarded = append(guarding.Guarded, repo.HookPlaces(top)...)
		folders = append([]string{root}, folders...)
	}
	for _, dir := range folders { // which need not be in the root
		guard(dir, guarding.GuardedNames...)
		for at := dir; agent == "gemini"; at = filepath.Dir(at) { // which takes variables from them, with which it calls its hooks
			guard(at, ".env", ".gemini/.env")
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	if dir, err := c.stateDir(); err == nil {
		guarding.Guarded = append(guarding.Guarded, dir)
	}
	for _, t := range settings.Targets() { // and the user's own
		dir, err := t.UserDir(os.Getenv, os.UserHomeDir)
		if err != nil {
			continue // without a home folder there are none
		}
		guard(dir, t.User)
		switch t.Agent {
		case "codex":
			guard(dir, "config.toml", ".env") // the variables with which it calls its hooks
		case "gemini":
			guard(dir, ".gemini/trustedFolders.json")
			if agent == "gemini" {
				guard(dir, ".env", ".gemini/.env")
			}
		case "copilot":
			guard(dir, "hooks", "config.json", "settings.json")
		}
	}
	guarding.Around = surroundings(folders)
	return &guarding, nil
}

// surroundings are what the hook runs in. folders are the project's and the call's.
func surroundings(folders []string) *gate.Around {
	a := &gate.Around{Path: os.Getenv("PATH"), Folders: slices.Clone(folders), Getenv: os.Getenv}
	// What the system does not tell, the agent's shells do not know either.
	if dir, err := os.Getwd(); err == nil {
		a.Folders = append(a.Folders, dir)
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
