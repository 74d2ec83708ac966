package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

// Program returns the path of the running program for a user's own settings: the one that the PATH finds, since a
// package manager puts the next version elsewhere; if the PATH finds another program or none, the file itself. A
// temporary location, such as that of "go run", is an error: the program would vanish, and every call would be denied.
func Program(running, pathVar string) (string, error) {
	is, err := os.Stat(running)
	if err != nil {
		return "", fmt.Errorf("the program that runs cannot be found: %w; give --user to one that is installed", err)
	}
	found := running
	if path := Find(byName+filepath.Ext(running), pathVar); filepath.IsAbs(path) {
		if st, err := os.Stat(path); err == nil && os.SameFile(is, st) {
			found = path
		}
	}
	if isTemporary(found) {
		return "", errors.New("the program is " + filepath.ToSlash(found) +
			", which is temporary, and without it every call would be denied; " +
			"install it, and run hook install --user with the one that is installed")
	}
	return filepath.ToSlash(found), nil
}

// Find returns the program that a shell runs for a name: the first in the directories of the variable PATH, or "".
func Find(name, pathVar string) string {
	for _, dir := range filepath.SplitList(pathVar) {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		if err == nil && !st.IsDir() && (runtime.GOOS == "windows" || st.Mode().Perm()&0o111 != 0) {
			return path
		}
	}
	return ""
}

// isTemporary reports whether a program is in a directory for programs that run once, as for go run.
func isTemporary(path string) bool {
	if rel, err := filepath.Rel(os.TempDir(), path); err == nil && filepath.IsLocal(rel) {
		return true
	}
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	return false
}

// marks are the characters of an argument in addition to letters and digits.
const marks = `\p{L}\p{M}\p{Nd}_/.:=+,@ -`

var (
	special   = late.Regexp(`[^` + marks + `]`)
	plain     = late.Regexp(`^([A-Za-z0-9_/.][A-Za-z0-9_/.-]*|-[A-Za-z0-9_/-]*)$`) // PowerShell parts -a.b at its dot
	arguments = late.Regexp(`^( [A-Za-z0-9_/.-]+| "[` + marks + `]+")*$`)
)

// quoteAll writes arguments for a command line, each with a space before it, in a form that every shell of an agent
// reads unchanged: only letters, digits, spaces and a few marks that are not special between double quotes. (Some
// agents expand $NAME before any shell sees the line.)
func quoteAll(args []string) (string, error) {
	var b strings.Builder
	for _, arg := range args {
		bad := special().FindString(arg)
		switch {
		case arg == "":
			return "", errors.New("an argument after -- is empty; give it a value, or remove it")
		case bad != "":
			return "", fmt.Errorf("the argument %q has %q in it, which not every shell takes literally; "+
				"write it without, or write the hook by hand", arg, []rune(bad)[0])
		case plain().MatchString(arg):
			b.WriteString(" " + arg)
		default:
			b.WriteString(` "` + arg + `"`)
		}
	}
	return b.String(), nil
}

// quoteProgram writes a program for a command line; "" is the one that the PATH has.
func quoteProgram(path string) (string, error) {
	if path == "" {
		return byName, nil
	}
	quoted, err := quoteAll([]string{path})
	if err != nil {
		return "", fmt.Errorf("the path of the program cannot be part of a command that every shell accepts: %w", err)
	}
	return quoted[1:], nil
}

// isProgram reports whether text is the quoted name, or a quoted absolute path to it.
func isProgram(text string) bool {
	if text == byName {
		return true
	}
	path := strings.Trim(text, `"`)
	drive := len(path) > 2 && path[1] == ':' && path[2] == '/'
	again, err := quoteProgram(path)
	return err == nil && again == text && (drive || strings.HasPrefix(path, "/"))
}
