package settings

// A Target is an agent's settings: where they are, and what runs policyscan from them.
type Target struct {
	Agent   string // as in "policyscan hook AGENT"
	Title   string // as its maker writes it
	Project string // the project's file, from its root, with slashes
	User    string // the user's own file, beneath Home, with slashes

	// HomeVar is the environment variable that names the folder of User; "" if there is none.
	HomeVar string
	// Home is the folder of User where HomeVar is not set, beneath the user's home folder, with
	// slashes; "" is the home folder itself.
	Home string

	// Next is what has to be known, or done, for the agent to run the hook: a sentence without its end.
	Next string

	path    []string               // of the array that the entry is an element of
	version bool                   // "version": 1 must be there
	only    []string               // the members that there may be; nil: any
	off     [][]string             // paths of switches that, if true, leave all hooks out
	on      []string               // the path of the switch that, if false, does so
	names   []string               // the path of a list of names of hooks that are left out
	entry   func(args string) hook // what is written; args are quoted, each with a blank before it
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

// seconds is how long an agent waits for the hook. Most let the call proceed then, so that the hook has to end, with
// a deny, well before: it judges for 8 seconds at most, and waits 60 for a person at the terminal.
const seconds = 75

// unjudged is the reason of a deny for which policyscan itself gave none: mostly it is not installed. It
// stands in quotes of three shells and of JSON, and has no character that is special in one of them.
const unjudged = "policyscan did not judge this call, so it is denied: see that the program policyscan is in the PATH"

// denyJSON is the deny of Copilot.
const denyJSON = `{"permissionDecision":"deny","permissionDecisionReason":"` + unjudged + `"}`

// orExit2 is a line that ends with status 2 and a reason, whatever becomes of policyscan: with any other
// status, that of a program that is missing (127) too, Claude Code, Codex and Gemini CLI make the call.
func orExit2(agent, args string) string {
	return "policyscan hook " + agent + args + " || sh -c 'echo \"" + unjudged + "\" >&2; exit 2'"
}

// shExit2 is such a line for an agent that runs it by the user's own shell: fish ends a line at once, with
// 127, when a program is missing.
func shExit2(agent, args string) string {
	return "sh -c 'policyscan hook " + agent + args + " || { echo \"" + unjudged + "\" >&2; exit 2; }'"
}

// Targets returns the agents whose settings are known, in the order of the documentation.
func Targets() []*Target {
	return []*Target{
		{
			// https://code.claude.com/docs/en/hooks and the program's own schema (2.1.197). onFailure is newer (2.1.330),
			// and makes a timeout a deny, too; 2.1.197 passes over it.
			Agent: "claude-code", Title: "Claude Code",
			Project: ".claude/settings.json", User: "settings.json", HomeVar: "CLAUDE_CONFIG_DIR", Home: ".claude",
			Next: "Claude Code reads it where it is started, not in the folders beneath, and asks once whether the folder is trusted",
			path: []string{"hooks", "PreToolUse"},
			off:  [][]string{{"disableAllHooks"}},
			entry: func(args string) hook {
				return hook{Matcher: "*", Hooks: []hook{{Type: "command", Command: orExit2("claude-code", args), Timeout: seconds, OnFailure: "block"}}}
			},
		},
		{
			// https://developers.openai.com/codex/hooks and codex-rs/hooks (0.169.0). A file with any
			// other member is refused by Codex as a whole, and none of its hooks run.
			Agent: "codex", Title: "Codex",
			Project: ".codex/hooks.json", User: "hooks.json", HomeVar: "CODEX_HOME", Home: ".codex",
			Next: "Codex does not run it before the project is trusted and the hook reviewed: start codex, and type /hooks",
			path: []string{"hooks", "PreToolUse"},
			only: []string{"description", "hooks"},
			entry: func(args string) hook {
				return hook{Matcher: "*", Hooks: []hook{{
					Type: "command", Command: shExit2("codex", args),
					CommandWindows: "policyscan hook codex" + args + " || (echo " + unjudged + " 1>&2 & exit 2)",
					Timeout:        seconds,
				}}}
			},
		},
		{
			// docs/hooks/reference.md of google-gemini/gemini-cli (5411f113, 0.61.0).
			Agent: "gemini", Title: "Gemini CLI",
			Project: ".gemini/settings.json", User: ".gemini/settings.json", HomeVar: "GEMINI_CLI_HOME",
			Next:  "Gemini CLI reads it where it is started, not in the folders beneath, and only in a folder that is trusted",
			path:  []string{"hooks", "BeforeTool"},
			on:    []string{"hooksConfig", "enabled"},
			names: []string{"hooksConfig", "disabled"},
			entry: func(args string) hook {
				return hook{Matcher: "*", Hooks: []hook{{Name: "policyscan", Type: "command", Command: orExit2("gemini", args), Timeout: seconds * 1000}}}
			},
		},
		{
			// content/copilot/reference/hooks-reference.md of github/docs (05da5bc). A hook that fails
			// denies by now; earlier versions skipped it, and took only JSON with status 0.
			Agent: "copilot", Title: "GitHub Copilot",
			Project: ".github/hooks/policyscan.json", User: "hooks/policyscan.json", HomeVar: "COPILOT_HOME", Home: ".copilot",
			Next:    "the cloud agent reads it from the default branch, and makes no call before its setup steps install policyscan",
			path:    []string{"hooks", "preToolUse"},
			version: true,
			off:     [][]string{{"disableAllHooks"}},
			entry: func(args string) hook {
				return hook{
					Type:       "command",
					Bash:       "out=$(policyscan hook copilot" + args + `) && printf '%s\n' "$out" || printf '%s\n' '` + denyJSON + "'",
					PowerShell: "$out = policyscan hook copilot" + args + "; if ($LASTEXITCODE -eq 0) { $out } else { '" + denyJSON + "' }",
					TimeoutSec: seconds,
				}
			},
		},
		{
			// https://cursor.com/docs/hooks. With failClosed a hook that fails, or takes too long, denies.
			Agent: "cursor", Title: "Cursor",
			Project: ".cursor/hooks.json", User: "hooks.json", Home: ".cursor",
			Next:    "Cursor reads it in the folder that is opened, once the workspace is trusted",
			path:    []string{"hooks", "preToolUse"},
			version: true,
			entry: func(args string) hook {
				return hook{Command: orExit2("cursor", args), Timeout: seconds, FailClosed: true}
			},
		},
	}
}

// Named returns the settings of an agent: nil if there are none of that name.
func Named(agent string) *Target {
	for _, t := range Targets() {
		if t.Agent == agent {
			return t
		}
	}
	return nil
}
