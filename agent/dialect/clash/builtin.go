package clash

import (
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

// The names of clash's own policies. A policy of such a name in a file replaces it, and is in force without an include.
const (
	clashPolicy    = "__internal_clash__" // runs clash itself, so there is nothing of it here
	claudePolicy   = "__internal_claude__"
	worktreePolicy = "__worktree__"
)

func isBuiltin(name string) bool {
	return slices.Contains([]string{clashPolicy, claudePolicy, worktreePolicy}, name)
}

// harmless are the tools that touch no file, run no command and reach no network: they plan, ask the user, or manage
// the agent's own tasks, whose calls are checked one by one.
func harmless() []string {
	return []string{
		"AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillShell", "Task", "TaskCreate", "TaskGet",
		"TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite",
	}
}

// builtin returns the rules of the built-in policies that no level replaces.
func builtin(levels []*compiler) []callrules.Rule {
	replaced := func(name string) bool {
		return slices.ContainsFunc(levels, func(c *compiler) bool { return c.policies[name] != nil })
	}
	var all []callrules.Rule
	add := func(name string, r *rule) {
		r.effect = callrules.Allow
		all = append(all, callrules.Rule{
			ID: name, Effect: r.effect, When: r.when(), Domain: r.domain,
			Origin: callrules.Origin{File: "built-in", Line: 1},
		})
	}
	if !replaced(claudePolicy) {
		names := pattern{form: either, shown: "(or " + strings.Join(harmless(), " ") + ")"}
		for _, name := range harmless() {
			names.members = append(names.members, pattern{form: literal, text: name, shown: name})
		}
		add(claudePolicy, &rule{domain: "tool", first: names})
	}
	pwd, absolute := call.Resolve("", levels[0].define["PWD"])
	if replaced(worktreePolicy) || !absolute {
		return all
	}
	dirs, err := gitDirs(pwd)
	if err != nil {
		dirs = nil // what is not certain is not allowed
	}
	for _, dir := range dirs {
		add(worktreePolicy, &rule{domain: "fs", ops: []string{"read"},
			first: pattern{form: subpath, text: dir, shown: "(subpath " + dir + ")"}})
	}
	return all
}
