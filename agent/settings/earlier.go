package settings

import "strings"

// unjudged is the reason, unchecked, in what earlier versions wrote, and unjudgedFirst in what the first ones did.
const (
	unjudged = "policyscan did not judge this call, so it is denied: check that the program policyscan is installed, " +
		"in the PATH, and the one it should be"
	unjudgedFirst = "policyscan did not judge this call, so it is denied: " +
		"see that the program policyscan is in the PATH"
)

// withUnjudged returns the hook as earlier versions wrote it: with another reason, and otherwise the same.
func (h hook) withUnjudged() hook {
	for _, line := range []*string{&h.Command, &h.CommandWindows, &h.Bash, &h.PowerShell} {
		*line = strings.ReplaceAll(*line, unchecked, unjudged)
	}
	var within []hook
	for _, inner := range h.Hooks {
		within = append(within, inner.withUnjudged())
	}
	h.Hooks = within
	return h
}

// orExit2Earlier took a program that ends with status 0 and says nothing for one that has no opinion.
func orExit2Earlier(agent, args string) string {
	return "policyscan hook " + agent + args + " || sh -c 'echo \"" + unjudgedFirst + "\" >&2; exit 2'"
}

func earlierClaudeCode(args string) hook {
	return hook{Matcher: "*", Hooks: []hook{{
		Type: "command", Command: orExit2Earlier("claude-code", args), Timeout: 75, OnFailure: "block",
	}}}
}

func earlierCodex(args string) hook {
	return hook{Matcher: "*", Hooks: []hook{{
		Type: "command", Command: "sh -c 'policyscan hook codex" + args + " || { echo \"" +
			unjudgedFirst + "\" >&2; exit 2; }'",
		CommandWindows: "policyscan hook codex" + args + " || (echo " + unjudgedFirst + " 1>&2 & exit 2)",
		Timeout:        75,
	}}}
}

func earlierGemini(args string) hook {
	return hook{Matcher: "*", Hooks: []hook{{
		Name: "policyscan", Type: "command", Command: orExit2Earlier("gemini", args), Timeout: 75000,
	}}}
}

func earlierCopilot(args string) hook {
	deny := denies(unjudgedFirst)
	return hook{
		Type: "command",
		Bash: "out=$(policyscan hook copilot" + args +
			`) && printf '%s\n' "$out" || printf '%s\n' '` + deny + "'",
		PowerShell: "$out = policyscan hook copilot" + args +
			"; if ($LASTEXITCODE -eq 0) { $out } else { '" + deny + "' }",
		TimeoutSec: 75,
	}
}

func earlierCursor(args string) hook {
	return hook{Command: orExit2Earlier("cursor", args), Timeout: 75, FailClosed: true}
}
