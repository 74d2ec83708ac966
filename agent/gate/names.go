package gate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/settings"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
)

// Guards describe the agent, the directories and the environment for which a gate guards rules and hooks.
type Guards struct {
	Agent     string   // whose hook runs, as in "policyscan hook AGENT"
	Root      string   // the directory whose repository is guarded, as the system opens it
	RootNames []string // guarded in each repository's root, in addition to the bundles' files and rootNames
	Dirs      []string // of the project and of the call, in Root or elsewhere: absolute, without links
	State     []string // directories with the state of sessions and with questions
	Around    Around   // the hook's environment; Directories are added to its own
}

// WithGuards returns a copy of the gate that guards the rules and the hooks of agents too.
func (g *Gate) WithGuards(w Guards) (*Gate, error) {
	guarding := *g
	guarding.Guarded = slices.Clone(g.Guarded)
	guard := func(dir string, names ...string) {
		guarding.Guarded = append(guarding.Guarded, under(dir, names)...)
	}
	guarding.GuardedNames = append(agentNames(), treeNames()...)
	// A new file of these names could be the bundle that is found next time.
	bundles := []string{
		".policyscan", rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile, rules.AllowancesFile,
	}
	guarding.GuardedRootNames = slices.Concat(w.RootNames, bundles, rootNames())
	guarding.GuardsCI = true
	dirs := w.Dirs
	if root, err := disk.Real(w.Root); err == nil {
		guarding.Root = root
		guard(root, guarding.GuardedRootNames...) // which may be links
		top, err := repo.Root(root)               // Root may be a directory of the repository
		if err != nil {
			return nil, err
		}
		guard(top, slices.Concat(treeNames(), rootNames())...)
		gitDirs, err := repo.GitDirs(top)
		if err != nil {
			return nil, fmt.Errorf("cannot determine where git's directory of the root is: %w", err)
		}
		guarding.Guarded = append(guarding.Guarded, gitDirs...)
		guarding.Guarded = append(guarding.Guarded, repo.HookPlaces(top)...)
		dirs = append([]string{root}, dirs...)
	}
	for _, dir := range dirs {
		guard(dir, guarding.GuardedNames...)
		switch w.Agent {
		case "vscode": // its chat.hookFilesLocations turns hooks off
			guard(dir, ".vscode/settings.json")
		case "gemini":
			for at := range disk.Upwards(dir) {
				guard(at, geminiVariables()...)
			}
		}
	}
	guarding.Guarded = append(guarding.Guarded, w.State...)
	around := w.Around
	around.Dirs = slices.Concat(dirs, around.Dirs)
	guarding.Around = &around
	guarding.Guarded = append(guarding.Guarded, around.userSettings(w.Agent)...)
	return &guarding, nil
}

// agentNames are the files and directories with an agent's hooks in a project. They are guarded in each directory,
// since the next agent may be started in it, and Codex also reads those on the way to the root.
func agentNames() []string {
	names := []string{
		".claude/settings.local.json", ".codex/config.toml",
		".github/hooks", ".github/copilot/settings.json", ".github/copilot/settings.local.json",
	}
	for _, t := range settings.Targets() {
		names = append(names, t.Project)
	}
	return names
}

// geminiVariables are the files from which Gemini CLI takes the environment variables of its hooks: in the directory
// where it is started, in each above it and in the home directory.
func geminiVariables() []string { return []string{".env", ".gemini/.env"} }

// userSettings are the files of the user's own settings for each agent. agent is the one whose hook runs.
func (a *Around) userSettings(agent string) []string {
	home := func() (string, error) {
		if a.Home == "" {
			return "", errors.New("it is missing")
		}
		return a.Home, nil
	}
	var all []string
	for _, t := range settings.Targets() {
		dir, err := t.UserDir(a.Getenv, home)
		if err != nil {
			continue // unknown without a home directory
		}
		names := []string{t.User}
		switch t.Agent {
		case "codex":
			names = append(names, "config.toml", ".env") // the second has the variables of its hooks
		case "gemini":
			names = append(names, ".gemini/trustedFolders.json")
			if agent == "gemini" {
				names = append(names, geminiVariables()...)
			}
		case "copilot":
			names = append(names, "hooks", "config.json", "settings.json")
		}
		all = append(all, under(dir, names)...)
	}
	return all
}
