package shell

import (
	"slices"
	"strings"
	"sync"
)

// shells reports whether a program reads commands of the kind that this package reads.
func shells(name string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "yash", "rbash", "fish"},
		strings.TrimRight(name, "0123456789.-"))
}

// single are bash's long options that it takes after one hyphen as well.
var single = []string{"-norc", "-noprofile", "-login", "-posix", "-rcfile", "-init-file",
	"-noediting", "-verbose", "-restricted"}

// descriptor reports whether a file is an open descriptor, such as standard input.
func descriptor(file string) bool {
	return file == "/dev/stdin" || strings.HasPrefix(file, "/dev/fd/") || strings.HasPrefix(file, "/proc/self/fd/")
}

// shell lists the commands of a shell: the script after -c, or its input.
func (r *reader) shell(name string, rest []word, in *input) string {
	command, reads, script := false, false, []word(nil)
	for len(rest) > 0 && script == nil {
		w := rest[0]
		if w.text == "" || w.text == "-" || w.text[0] != '-' && w.text[0] != '+' {
			break
		}
		rest = rest[1:]
		if w.text == "--" {
			break
		}
		long, ok := strings.CutPrefix(w.text, "--")
		if !ok && slices.Contains(single, w.text) {
			long, ok = w.text[1:], true
		}
		if ok {
			name, value, given := strings.Cut(long, "=")
			switch {
			case name == "version" || name == "help":
				return ""
			case name == "command" && given: // fish
				script = []word{{text: value, whole: w.whole}}
			case name == "command":
				command = true
			case slices.Contains([]string{"rcfile", "init-file", "init-command", "emulate"}, name) &&
				len(rest) > 0 && !given:
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
	case len(rest) > 0 && !reads && !descriptor(rest[0].text):
		return Script
	case len(rest) > 0 && !reads && rest[0].text[len(rest[0].text)-1] != '0' && rest[0].text != "/dev/stdin":
		return Input
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

type interpreter struct {
	code  string // letters of options that give code
	value string // and with a value in the same word, or else in the next
	glued string // and with a value in the same word only
}

var interpreters = sync.OnceValue(func() map[string]interpreter {
	return map[string]interpreter{
		"python": {code: "c", value: "mWXQ"}, "pypy": {code: "c", value: "mWX"},
		"node": {code: "ep", value: "rC"}, "nodejs": {code: "ep", value: "rC"}, "bun": {code: "ep", value: "r"},
		"deno": {},
		"perl": {code: "eE", glued: "IMmCDxiF"}, "ruby": {code: "e", value: "rIEC", glued: "KxiWT"},
		"php": {code: "rBRE", value: "dczf"},
		"lua": {code: "e", value: "l"}, "luajit": {code: "e", value: "l"}, "rscript": {code: "e"},
		"osascript": {code: "e", value: "l"},
		"tclsh":     {}, "pwsh": {}, "powershell": {},
	}
})

// consoles are shells of other languages, and interpreters that have a prompt: whatever they are given is code.
var consoles = []string{
	"csh", "tcsh", "nu", "xonsh", "elvish", "osh", "ysh", "oil", "rc", "es", "ion", "murex", "posh", "hush", "rksh",
	"ipython", "bpython", "ptpython", "irb", "pry", "jshell", "ghci", "iex", "erl", "julia", "guile", "sbcl", "racket",
	"scala", "groovysh", "expect", "wish", "ed", "ftp", "psql", "mysql", "sqlite", "mongosh", "redis-cli",
}

// code says whether an interpreter is given code: in an option, or on standard input.
func code(name string, rest []word) string {
	switch strings.TrimRight(name, "0123456789.-") {
	case "awk", "gawk", "mawk", "nawk":
		for i, w := range rest {
			if strings.Contains(w.text, "system") || strings.ContainsAny(w.text, "|") ||
				i > 0 && rest[i-1].text == "-f" && (w.text == "-" || descriptor(w.text)) {
				return Code
			}
		}
		return arguments(rest)
	case "cmd":
		return Code
	}
	x, ok := interpreters()[strings.TrimRight(name, "0123456789.-")]
	switch {
	case slices.Contains(consoles, strings.TrimRight(name, "0123456789.-")):
		if len(rest) == 1 && (rest[0].text == "--version" || rest[0].text == "--help") {
			return arguments(rest)
		}
		return Code
	case !ok:
		return given(name, rest)
	}
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		text := strings.ToLower(w.text)
		switch {
		case w.text == "-", descriptor(w.text):
			return Code
		case !strings.HasPrefix(w.text, "-"):
			// it may be the value of that option
			if i > 0 && strings.HasPrefix(rest[i-1].text, "--") && i+1 < len(rest) {
				continue
			}
			if (text == "eval" || text == "repl") && name == "deno" {
				return Code
			}
			return arguments(rest) // a file of code
		case text == "--version", text == "--help", text == "-v" && len(rest) == 1, text == "-h":
			return arguments(rest)
		case strings.HasPrefix(text, "--eval"), strings.HasPrefix(text, "--print"), strings.HasPrefix(text, "--run"),
			strings.Contains(text, "data:"), strings.HasPrefix(text, "--import") && i+1 < len(rest) &&
				strings.HasPrefix(rest[i+1].text, "data:"):
			return Code
		case name == "pwsh", name == "powershell":
			if strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "-e") && !strings.HasPrefix(text, "-ex") {
				return Code
			}
		case strings.HasPrefix(w.text, "--"):
		default:
			letters := w.text[1:]
			if at := strings.IndexAny(letters, x.value+x.glued); at >= 0 {
				if letters[at] == 'm' && (name[0] == 'p' && name[1] == 'y') {
					return module(letters[at+1:], rest[i+1:])
				}
				if at == len(letters)-1 && strings.IndexByte(x.value, letters[at]) >= 0 {
					i++
				}
				letters = letters[:at]
			}
			if strings.ContainsAny(letters, x.code) {
				return Code
			}
		}
	}
	return Code // it reads standard input
}

func module(name string, rest []word) string {
	if name == "" && len(rest) > 0 {
		name = rest[0].text
	}
	if slices.Contains([]string{"timeit", "code", "pdb", "trace", "cProfile", "profile"}, name) {
		return Code
	}
	return arguments(rest)
}
