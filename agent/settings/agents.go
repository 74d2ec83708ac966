package settings

import (
	"strings"
	"time"
)

// A Target is an agent's settings: their files, and the entry that runs policyscan.
type Target struct {
	Agent   string // as in "policyscan hook AGENT"
	Title   string // as its maker writes it
	Project string // the project's file, from its root, with slashes
	User    string // the user's own file, relative to Home, with slashes

	// HomeVar is the environment variable with the directory of User, or "".
	HomeVar string
	// Home is the directory of User without HomeVar, relative to the user's home directory, with slashes; "" is the
	// home directory itself.
	Home string

	// Next is what has to be known, or done, for the agent to run the hook: a sentence without its end.
	Next string

	more    []string    // further files with hooks or switches: absolute, from the project's root, or ~/ of the user's
	lists   []entryList // that have an entry each; that of calls first
	version bool        // "version": 1 is required
	only    []string    // the members that there may be; nil: any
	off     [][]string  // paths of switches that, if true, leave all hooks out
	on      []string    // the path of the switch that, if false, does so
	names   []string    // the path of a list of names of hooks that are left out
}

// An entryList is an array of hooks, for an event, that one of policyscan's is an element of.
type entryList struct {
	path []string // of the array
	runs string   // the command: "hook claude-code"
	// entry is what is written. The program is quoted, and so are args, each with a space before it.
	entry func(program, args string) hook
}

// eventLists are the lists of some events, for one command.
func eventLists(command string, entry func(program, args string) hook, events ...string) []entryList {
	var all []entryList
	for _, event := range events {
		all = append(all, entryList{[]string{"hooks", event}, command, entry})
	}
	return all
}

// listsFor are the lists that an entry with these arguments belongs in: without a bundle a turn is not checked.
func (t *Target) listsFor(args string) []entryList {
	if strings.Contains(args+" ", " --policy none ") || strings.Contains(args, `"--policy=none"`) {
		return t.lists[:1]
	}
	return t.lists
}

// A hook is an element of an agent's list of hooks, as they are written; every agent has its own part of
// the fields, in this order.
type hook struct {
	Matcher        string `json:"matcher,omitempty"`
	Hooks          []hook `json:"hooks,omitempty"`
	Name           string `json:"name,omitempty"`
	Type           string `json:"type,omitempty"`
	Command        string `json:"command,omitempty"`
	CommandWindows string `json:"commandWindows,omitempty"`
	Bash           string `json:"bash,omitempty"`
	PowerShell     string `json:"powershell,omitempty"`
	Timeout        int    `json:"timeout,omitempty"`
	TimeoutSec     int    `json:"timeoutSec,omitempty"`
	OnFailure      string `json:"onFailure,omitempty"`
	FailClosed     bool   `json:"failClosed,omitempty"`
}

// Limit is how long an agent waits for the hook. Most agents let the call proceed then, so the hook has to deny well
// before: it takes up to 8 seconds, unless a flag says otherwise, and waits 60 for the user at the terminal.
const Limit = 75 * time.Second

const seconds = int(Limit / time.Second)

const byName = "policyscan"

// unchecked is the reason of a deny without policyscan's own, mostly because it is not installed. It is quoted by
// three shells and by JSON, and has no character that is special in one of them.
const unchecked = "policyscan did not check this call, so it is denied: " +
	"check that the program policyscan is installed, " +
	"in the PATH, and the one it should be"

func denies(reason string) string {
	return `{"permissionDecision":"deny","permissionDecisionReason":"` + reason + `"}`
}

// orExit2 is a line that passes an answer on, a string from { to }, and otherwise ends with status 2 and a reason:
// after any other status, 127 of a missing program too, or without an answer, Claude Code, Codex and Gemini CLI make
// the call. It runs in sh whatever shell the agent uses: fish ends a line at once when a program is missing. It
// contains no variable, because Gemini CLI expands $NAME.
func orExit2(agent, program, args string) string {
	return `sh -c 'set -- "$(` + program + " hook " + agent + args + ` || echo x)"; ` +
		`case "$*" in "{"*"}") printf "%s\n" "$*" && exit;; esac; echo "` + unchecked + `" >&2; exit 2'`
}

// orNothing is a line that passes on an answer at the end of a turn, and otherwise tells the user. It never ends with a
// status: 2 would send the agent back, again and again.
func orNothing(agent, program, args string) string {
	return `sh -c 'set -- "$(` + program + " hook stop " + agent + args + ` || echo x)"; ` +
		`case "$*" in "{"*"}") printf "%s\n" "$*";; *) echo "{\"systemMessage\":\"` + turnUnchecked + `\"}";; esac'`
}

// turnUnchecked is what the user is told without an answer at the end of a turn.
const turnUnchecked = "policyscan did not check this turn: check that the program policyscan is installed, " +
	"in the PATH, and the one it should be"

// Targets returns the settings of the known agents, in the order of the documentation.
func Targets() []*Target {
	return []*Target{
		{
			// https://code.claude.com/docs/en/hooks and the program's own schema (2.1.197). onFailure is newer
			// (2.1.330), and makes a timeout a deny, too; 2.1.197 ignores it.
			Agent: "claude-code", Title: "Claude Code",
			Project: ".claude/settings.json", User: "settings.json", HomeVar: "CLAUDE_CONFIG_DIR", Home: ".claude",
			Next: "Claude Code reads it where it is started, not in the directories below it, " +
				"and asks once whether the directory is trusted",
			off:  [][]string{{"disableAllHooks"}},
			more: []string{".claude/settings.local.json", "/etc/claude-code/managed-settings.json"},
			lists: append(eventLists("hook claude-code", func(program, args string) hook {
				return hook{Matcher: "*",
					Hooks: []hook{{Type: "command", Command: orExit2("claude-code", program, args),
						Timeout: seconds, OnFailure: "block"}}}
			}, "PreToolUse"), eventLists("hook stop claude-code", func(program, args string) hook {
				return hook{Hooks: []hook{{Type: "command", Command: orNothing("claude-code", program, args),
					Timeout: seconds}}}
			}, "Stop", "SubagentStop", "SessionStart")...),
		},
		{
			// https://developers.openai.com/codex/hooks and codex-rs/hooks (0.169.0). A file with any
			// other member is refused by Codex as a whole, and none of its hooks run.
			Agent: "codex", Title: "Codex",
			Project: ".codex/hooks.json", User: "hooks.json", HomeVar: "CODEX_HOME", Home: ".codex",
			Next: "Codex does not run it before the project is trusted and the hook reviewed: " +
				"start codex, and type /hooks",
			only: []string{"description", "hooks"},
			lists: append(eventLists("hook codex", func(program, args string) hook {
				return hook{Matcher: "*", Hooks: []hook{{
					Type: "command", Command: orExit2("codex", program, args),
					CommandWindows: program + " hook codex" + args + " | findstr /b { || (echo " +
						unchecked + " 1>&2 & exit 2)",
					Timeout: seconds,
				}}}
			}, "PreToolUse"), eventLists("hook stop codex", func(program, args string) hook {
				return hook{Hooks: []hook{{
					Type: "command", Command: orNothing("codex", program, args),
					CommandWindows: program + " hook stop codex" + args + " | findstr /b { || echo {}",
					Timeout:        seconds,
				}}}
			}, "Stop", "SessionStart")...),
		},
		{
			// docs/hooks/reference.md of google-gemini/gemini-cli (5411f113, 0.61.0).
			Agent: "gemini", Title: "Gemini CLI",
			Project: ".gemini/settings.json", User: ".gemini/settings.json", HomeVar: "GEMINI_CLI_HOME",
			Next: "Gemini CLI reads it where it is started, not in the directories below it, " +
				"and only in a directory that is trusted",
			on:    []string{"hooksConfig", "enabled"},
			names: []string{"hooksConfig", "disabled"},
			more:  []string{"/etc/gemini-cli/settings.json"},
			lists: append(eventLists("hook gemini", func(program, args string) hook {
				return hook{Matcher: "*",
					Hooks: []hook{{Name: "policyscan", Type: "command",
						Command: orExit2("gemini", program, args), Timeout: seconds * 1000}}}
			}, "BeforeTool"), eventLists("hook stop gemini", func(program, args string) hook {
				return hook{Hooks: []hook{{Name: "policyscan", Type: "command",
					Command: orNothing("gemini", program, args), Timeout: seconds * 1000}}}
			}, "AfterAgent", "SessionStart")...),
		},
		{
			// content/copilot/reference/hooks-reference.md of github/docs (05da5bc). A hook that fails
			// denies by now; earlier versions skipped it, and took only JSON with status 0.
			Agent: "copilot", Title: "GitHub Copilot",
			Project: ".github/hooks/policyscan.json", User: "hooks/policyscan.json",
			HomeVar: "COPILOT_HOME", Home: ".copilot",
			Next: "the cloud agent reads it from the default branch, " +
				"and makes no call before its setup steps install policyscan",
			version: true,
			off:     [][]string{{"disableAllHooks"}},
			more: []string{
				".github/hooks/*.json", ".github/copilot/settings.json", "~/hooks/*.json", "~/settings.json",
			},
			lists: append(eventLists("hook copilot", func(program, args string) hook {
				call := program
				if program != byName {
					call = "& " + program
				}
				return hook{
					Type: "command",
					Bash: `set -- "$(` + program + " hook copilot" + args + ` || echo x)"; ` +
						`case "$*" in "{"*"}") printf '%s\n' "$*";; ` +
						`*) printf '%s\n' '` + denies(unchecked) + "';; esac",
					PowerShell: "$out = " + call + " hook copilot" + args +
						`; if ($LASTEXITCODE -eq 0 -and "$out" -like '{*}') { $out } else { '` +
						denies(unchecked) + "' }",
					TimeoutSec: seconds,
				}
			}, "preToolUse"), eventLists("hook stop copilot", func(program, args string) hook {
				call := program
				if program != byName {
					call = "& " + program
				}
				return hook{Type: "command", Bash: program + " hook stop copilot" + args,
					PowerShell: call + " hook stop copilot" + args, TimeoutSec: seconds}
			}, "agentStop", "sessionStart")...),
		},
		{
			// https://cursor.com/docs/hooks. With failClosed a hook that fails, or takes too long, denies.
			Agent: "cursor", Title: "Cursor",
			Project: ".cursor/hooks.json", User: "hooks.json", Home: ".cursor",
			Next:    "Cursor reads it in the directory that is opened, once the workspace is trusted",
			version: true,
			more:    []string{"/etc/cursor/hooks.json"},
			lists: append(eventLists("hook cursor", func(program, args string) hook {
				return hook{Command: orExit2("cursor", program, args), Timeout: seconds, FailClosed: true}
			}, "preToolUse"), eventLists("hook stop cursor", func(program, args string) hook {
				return hook{Command: orNothing("cursor", program, args), Timeout: seconds}
			}, "stop", "sessionStart")...),
		},
	}
}

// Named returns the settings of an agent, nil for an unknown name.
func Named(agent string) *Target {
	for _, t := range Targets() {
		if t.Agent == agent {
			return t
		}
	}
	return nil
}
