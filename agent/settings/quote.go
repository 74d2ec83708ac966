package settings

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// quoteAll writes arguments for a command line, each with a space before it, so that every shell that
// an agent may have takes them as they are: there are only letters, digits, spaces and a few marks in
// them, none of which is special between double quotes. (Some agents put values in the place of $NAME
// before any shell sees the line.)
func quoteAll(args []string) (string, error) {
	var b strings.Builder
	for _, arg := range args {
		if arg == "" {
			return "", errors.New("an argument after -- is empty; give it a value, or remove it")
		}
		plain := true
		for _, r := range arg {
			switch {
			case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '/':
			case r == '.' && arg[0] != '-': // PowerShell parts -a.b at its dot
			case strings.ContainsRune(".:=+,@ ", r), unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
				plain = false
			default:
				return "", fmt.Errorf("the argument %q has %q in it, which not every shell takes literally; "+
					"write it without, or write the hook by hand", arg, r)
			}
		}
		if plain {
			b.WriteString(" " + arg)
		} else {
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

// isProgram reports whether a text is what quoteProgram makes of the name, or of an absolute path.
func isProgram(text string) bool {
	if text == byName {
		return true
	}
	path := strings.Trim(text, `"`)
	drive := len(path) > 2 && path[1] == ':' && path[2] == '/'
	again, err := quoteProgram(path)
	return err == nil && again == text && (drive || strings.HasPrefix(path, "/"))
}

// quotes reports whether a text is what quoteAll makes of some arguments.
func quotes(text string) bool {
	var args []string
	for rest := text; rest != ""; {
		arg, end := strings.TrimPrefix(rest, " "), " "
		if inner, quoted := strings.CutPrefix(arg, `"`); quoted {
			arg, end = inner, `"`
		}
		arg, rest, _ = strings.Cut(arg, end)
		if args = append(args, arg); end == " " && rest != "" {
			rest = " " + rest
		}
	}
	again, err := quoteAll(args)
	return err == nil && again == text
}
