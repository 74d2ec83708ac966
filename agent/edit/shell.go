package edit

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/late"
)

// shellEdits returns the edits of a patch that Codex extracts from a shell command; its hooks see the tool Bash. A
// command that calls apply_patch in another way is an error, since it would be applied. Other commands have no edits.
func shellEdits(c *call.Call) ([]Edit, error) {
	command := c.Input.Member("command")
	if command.Kind() != call.String && command.Kind() != call.List {
		command = c.Input.Member("cmd")
	}
	if other := c.Input.Member("cmd"); other != command && patches(other.JSON()) {
		return nil, errors.New("it has the fields command and cmd, but only one is run; remove the other")
	}
	if !patches(command.JSON()) {
		return nil, nil
	}
	patch, base, ok := patchOf(command)
	if !ok {
		return nil, errors.New("the command has a patch for apply_patch in a form that policyscan does not read; " +
			"use the tool apply_patch, or apply_patch <<'EOF' alone")
	}
	if dir := c.Input.Member("workdir"); dir.Kind() != call.Absent && dir.Kind() != call.Null {
		if dir.Kind() != call.String {
			return nil, errors.New("the field workdir is not a string")
		}
		switch {
		case base == "":
			base = dir.Str()
		case dir.Str() != "" && !isAbsolute(base):
			base = path.Join(dir.Str(), base)
		}
	}
	return editsOfPatch(patch, base)
}

// applyPatch finds the names of the command, also within others.
var applyPatch = late.Regexp(`apply_?patch`)

// patches reports whether a command may apply a patch in it.
func patches(script string) bool {
	return applyPatch().MatchString(script) && strings.Contains(script, "*** Begin Patch")
}

// patchOf returns the patch that a command applies, and the directory that its script goes to first. The command is a
// script, or a list of the program and its arguments.
func patchOf(command *call.Value) (patch, base string, ok bool) {
	script := command.Str()
	switch argv := command.Items(); {
	case isPatchList(argv):
		return argv[1].Str(), "", true
	case len(argv) == 3 && slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(argv[0].Str())) &&
		(argv[1].Str() == "-c" || argv[1].Str() == "-lc"):
		script = argv[2].Str()
	}
	return hereDocument(script)
}

// isPatchList reports whether a list is the name of the command and its patch.
func isPatchList(argv []*call.Value) bool {
	return len(argv) == 2 && (argv[0].Str() == "apply_patch" || argv[0].Str() == "applypatch") &&
		argv[1].Kind() == call.String
}

// hereStart is the line before a here-document: the command, perhaps in a directory, and the delimiter.
var hereStart = late.Regexp(`^[ \t\n]*(?:cd[ \t]+('[^'\n]*'|"[^"\n$` + "`" +
	`\\]*"|[A-Za-z0-9_./@%+=:,-]+)[ \t]*&&[ \t\n]*)?apply_?patch[ \t]*<<[ \t]*` +
	`('[A-Za-z0-9_]+'|"[A-Za-z0-9_]+")[ \t]*\n`)

// hereDocument parses a script of only apply_patch with a here-document, perhaps after cd and &&, like Codex. Without
// quotes around the delimiter a shell would expand the patch.
func hereDocument(script string) (patch, base string, ok bool) {
	m := hereStart().FindStringSubmatch(script)
	if m == nil {
		return "", "", false
	}
	base, mark := strings.Trim(m[1], `'"`), strings.Trim(m[2], `'"`)
	body := "\n" + script[len(m[0]):] + "\n"
	patch, after, ok := strings.Cut(body, "\n"+mark+"\n")
	if !ok || strings.TrimSpace(after) != "" || strings.HasPrefix(base, "-") {
		return "", "", false
	}
	return strings.TrimPrefix(patch, "\n"), base, true
}
