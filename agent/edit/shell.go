package edit

import (
	"errors"
	"path"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/late"
)

// shellEdits returns the edits of a patch that Codex takes out of a command of a shell. Its hooks see such a
// command as one of the tool Bash. A command that calls apply_patch with a patch in another way is an
// error: it would be applied. Any other command edits nothing that can be seen here.
func shellEdits(c *call.Call) ([]Edit, error) {
	command := c.Input.Member("command")
	if command.Kind() != call.String && command.Kind() != call.List {
		command = c.Input.Member("cmd")
	}
	if other := c.Input.Member("cmd"); other != command && patches(other.JSON()) {
		return nil, errors.New("it has the fields command and cmd, but only one is run; remove the other")
	}
	argv, script := []string(nil), command.Str()
	for _, item := range command.Items() {
		argv = append(argv, item.Str())
	}
	if argv != nil {
		script = strings.Join(argv, "\n")
	}
	if !patches(script) {
		return nil, nil
	}
	if argv == nil {
		argv = []string{"sh", "-c", script}
	}
	patch, folder, ok := patchOf(argv)
	if !ok {
		return nil, errors.New("the command has a patch for apply_patch in a form that policyscan does not read; " +
			"use the tool apply_patch, or apply_patch <<'EOF' alone")
	}
	if dir := c.Input.Member("workdir"); dir.Kind() != call.Absent && dir.Kind() != call.Null {
		if dir.Kind() != call.String {
			return nil, errors.New("the field workdir is not a string")
		}
		switch {
		case folder == "":
			folder = dir.Str()
		case dir.Str() != "" && !isAbsolute(folder):
			folder = path.Join(dir.Str(), folder)
		}
	}
	return editsOfPatch(patch, folder)
}

// applyPatch finds the names of the command, within others too.
var applyPatch = late.Regexp(`apply_?patch`)

// patches reports whether a command may apply a patch that is in it.
func patches(script string) bool {
	return applyPatch().MatchString(script) && strings.Contains(script, "*** Begin Patch")
}

func isApplyPatch(name string) bool { return name == "apply_patch" || name == "applypatch" }

// patchOf returns the patch that an argument list applies, and the folder that its script goes to first.
func patchOf(argv []string) (patch, folder string, ok bool) {
	for range 3 { // a shell within a shell: hooks see the list as one line
		switch {
		case len(argv) == 2 && isApplyPatch(argv[0]):
			return argv[1], "", true
		case len(argv) != 3 || !isShell(argv[0]) || argv[1] != "-c" && argv[1] != "-lc":
			return "", "", false
		}
		script := argv[2]
		if patch, folder, ok = hereDocument(script); ok {
			return patch, folder, true
		}
		if argv, ok = words(script); !ok {
			return "", "", false
		}
	}
	return "", "", false
}

func isShell(name string) bool {
	switch path.Base(name) {
	case "sh", "bash", "zsh":
		return true
	}
	return false
}

// hereStart is the line before a here-document: the command, perhaps in a folder, and the delimiter.
var hereStart = late.Regexp(`^[ \t\n]*(?:cd[ \t]+('[^'\n]*'|"[^"\n$` + "`" +
	`\\]*"|[A-Za-z0-9_./@%+=:,-]+)[ \t]*&&[ \t\n]*)?apply_?patch[ \t]*<<[ ` +
	`\t]*('[A-Za-z0-9_]+'|"[A-Za-z0-9_]+"|[A-Za-z0-9_]+)[ \t]*\n`)

// hereDocument reads a script that is nothing but apply_patch with a here-document, perhaps after cd and
// &&, as Codex does. Without quotes around the delimiter a shell would expand what is in it.
func hereDocument(script string) (patch, folder string, ok bool) {
	m := hereStart().FindStringSubmatch(script)
	if m == nil {
		return "", "", false
	}
	folder, mark := strings.Trim(m[1], `'"`), strings.Trim(m[2], `'"`)
	if strings.HasPrefix(folder, "-") {
		return "", "", false
	}
	body := "\n" + script[len(m[0]):]
	end := strings.Index(body+"\n", "\n"+mark+"\n")
	if end < 0 || strings.TrimSpace(body[min(end+1+len(mark), len(body)):]) != "" {
		return "", "", false
	}
	patch = strings.TrimPrefix(body[:end], "\n")
	if mark == m[2] && strings.ContainsAny(patch, "$`\\") {
		return "", "", false
	}
	return patch, folder, true
}

// words splits a command that is nothing but plain words, quoted or not.
func words(script string) ([]string, bool) {
	var all []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(script); i++ {
		switch c := script[i]; c {
		case ' ', '\t', '\n':
			if inWord {
				all = append(all, word.String())
			}
			if c == '\n' && len(all) > 0 && strings.TrimSpace(script[i:]) != "" {
				return nil, false // another command
			}
			word.Reset()
			inWord = false
		case '\'':
			end := strings.IndexByte(script[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(script[i+1 : i+1+end])
			i += 1 + end
			inWord = true
		case '"':
			for i++; i < len(script) && script[i] != '"'; i++ {
				if script[i] == '\\' && i+1 < len(script) && strings.IndexByte("\"\\$`", script[i+1]) >= 0 {
					i++
				} else if strings.IndexByte("$`\\!", script[i]) >= 0 {
					return nil, false
				}
				word.WriteByte(script[i])
			}
			if i == len(script) {
				return nil, false
			}
			inWord = true
		case '\\':
			if i++; i == len(script) || script[i] == '\n' {
				return nil, false
			}
			word.WriteByte(script[i])
			inWord = true
		default:
			if strings.IndexByte("|&;()<>$`*?[]#~=%{}!^", c) >= 0 {
				return nil, false
			}
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		all = append(all, word.String())
	}
	return all, true
}
