package shell

import (
	"slices"
	"strings"
)

// shells reports whether a program reads commands of the kind that this package reads.
func shells(name string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "yash", "rbash", "fish"}, strings.TrimRight(name, "0123456789.-"))
}

// shell lists what a shell runs: the script behind -c, or what it reads.
func (r *reader) shell(name string, rest []word, in *input) string {
	command, reads, script := false, false, []word(nil)
	for len(rest) > 0 && script == nil {
		w := rest[0]
		if len(w.text) < 2 || w.text[0] != '-' && w.text[0] != '+' {
			break
		}
		rest = rest[1:]
		if w.text == "--" {
			break
		}
		if long, ok := strings.CutPrefix(w.text, "--"); ok {
			name, value, given := strings.Cut(long, "=")
			switch {
			case name == "version" || name == "help":
				return ""
			case name == "command" && given: // fish
				script = []word{{text: value, whole: w.whole}}
			case name == "command":
				command = true
			case (name == "rcfile" || name == "init-file" || name == "init-command") && len(rest) > 0 && !given:
				rest = rest[1:]
			}
			continue
		}
		for _, letter := range w.text[1:] {
			switch {
			case letter == 'c' && w.text[0] == '-':
				command = true
			case letter == 's' && w.text[0] == '-':
				reads = true
			case (letter == 'o' || letter == 'O' || letter == 'C') && len(rest) > 0:
				rest = rest[1:]
			}
		}
	}
	if len(rest) > 0 && rest[0].text == "-" {
		rest = rest[1:]
	}
	why := ""
	if command && script == nil && len(rest) > 0 {
		script = rest[:1]
	}
	switch {
	case script != nil && script[0].added:
		return Input
	case script != nil:
		why = r.join(script, Variable)
	case command: // -c without a script
		return Input
	case len(rest) > 0 && !reads && !rest[0].whole:
		return Variable
	case len(rest) > 0 && !reads && rest[0].text != "/dev/stdin":
		return Script
	case in != nil:
		why = r.join([]word{{text: in.text, whole: in.whole}}, Input)
	default:
		return Input
	}
	if name == "fish" && why == "" {
		return Code // its language is another, though most commands are written alike
	}
	return why
}

// interpreters are programs that run code of another language, by the letters of the options that give it, and by
// those whose value is behind them in one word.
var interpreters = map[string]struct{ code, valued string }{
	"python": {"c", "mWX"}, "pypy": {"c", "mWX"}, "node": {"ep", "r"}, "nodejs": {"ep", "r"}, "bun": {"ep", "r"}, "deno": {"", ""},
	"perl": {"eE", "IMmCDx0"}, "ruby": {"e", "rIEK"}, "php": {"rBRE", "dczf"}, "lua": {"e", "l"}, "luajit": {"e", "l"},
	"rscript": {"e", ""}, "osascript": {"e", "l"}, "tclsh": {"", ""}, "pwsh": {"", ""}, "powershell": {"", ""},
}

// code says whether an interpreter is given code: in an option, or on standard input.
func code(name string, rest []word) string {
	switch strings.TrimRight(name, "0123456789.-") {
	case "awk", "gawk", "mawk", "nawk":
		for _, w := range rest {
			if strings.Contains(w.text, "system") || strings.ContainsAny(w.text, "|") {
				return Code
			}
		}
		return arguments(rest)
	case "cmd":
		return Code
	}
	i, ok := interpreters[strings.TrimRight(name, "0123456789.-")]
	if !ok {
		return arguments(rest)
	}
	for _, w := range rest {
		text := strings.ToLower(w.text)
		switch {
		case w.text == "-":
			return Code
		case !strings.HasPrefix(w.text, "-"):
			if (text == "eval" || text == "repl") && name == "deno" {
				return Code
			}
			return arguments(rest) // a file of code
		case text == "--version", text == "--help", text == "-v", text == "-h":
			return arguments(rest)
		case strings.HasPrefix(text, "--eval"), strings.HasPrefix(text, "--print"), strings.HasPrefix(text, "--run"):
			return Code
		case name == "pwsh", name == "powershell":
			if strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "-e") && !strings.HasPrefix(text, "-ex") {
				return Code
			}
		case strings.HasPrefix(w.text, "--"):
		default:
			letters := w.text[1:]
			if at := strings.IndexAny(letters, i.valued); at >= 0 {
				if letters[at] == 'm' && (name[0] == 'p' && name[1] == 'y') {
					return arguments(rest) // a module
				}
				letters = letters[:at]
			}
			if strings.ContainsAny(letters, i.code) {
				return Code
			}
		}
	}
	return Code // it reads standard input
}
