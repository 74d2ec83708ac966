package call

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/agent/call/shell"
)

// Operations are a call's operations in the capability map of clash's document. A nil value is missing.
type Operations struct {
	Exec    bool   // a command is run; which one is unknown if Runs has no name
	Net     bool   // the network is used; which host is unknown if Host is missing
	Op      *Value // "read" or "write"
	Path    *Value // the file or directory, in the form of [Resolve]
	Host    *Value // in the form of [Host], or "*" for any
	URLPath *Value // the path of the URL, "/" if it has none; missing of a search
	Edited  *Value // "edit" for Claude Code's Edit and MultiEdit and what other agents call so

	UnsurePath    string // why Path is missing although the call has one, and the remedy, or ""
	UnsureHost    string // the same of Host
	UnsureURLPath string // the same of URLPath, if Host is there

	Runs    Program   // the first program of the command line
	Through []Program // what was looked through to the program that runs
}

// Operations returns what a call does, by the capability map of clash's document; nothing for an unlisted tool. A
// tool of another agent counts as its equivalent in [Known].
//
// A Read without a file_path still reads a file: its Path is missing, and Op says that it is required.
func (c *Call) Operations() Operations {
	var o Operations
	same := Known(c.Tool).Same
	switch same {
	case "Bash":
		o.Exec = true
		if tokens, ok := c.command(); ok {
			o.Runs, o.Through = program(tokens)
		}
	case "Read", "Write", "Edit":
		o.Op = Text("write")
		if same == "Read" {
			o.Op = Text("read")
		}
		name, ok := c.fileNamed("file_path")
		if o.UnsurePath = unsurePath(name, ok); ok && name != "" && o.UnsurePath == "" {
			file, _ := Resolve(c.Dir, name)
			o.Path = Text(file)
		}
	case "Glob", "Grep":
		o.Op = Text("read")
		o.Path, o.UnsurePath = c.searched(same == "Glob")
	case "WebFetch":
		url := c.Input.Member("url")
		o.Net, o.Host = true, hostOf(url.Str())
		if o.Host == nil && url.Kind() != Absent && url.Kind() != Null {
			o.UnsureHost = "the host of the URL cannot be determined; write it as in https://example.com/path"
		}
		if o.Host != nil {
			if at, ok := urlPath(url.Str()); ok {
				o.URLPath = Text(at)
			} else {
				o.UnsureURLPath = "servers read the path of the URL differently; write it without .., // and %"
			}
		}
	case "WebSearch":
		o.Net, o.Host = true, Text("*")
	}
	if same == "Edit" || same == "MultiEdit" {
		o.Edited = Text("edit")
	}
	return o
}

func (c *Call) command() ([]shell.Token, bool) {
	line, list, ok := c.commandLine()
	if list == nil {
		return shell.Tokens(line), ok
	}
	all := make([]shell.Token, len(list))
	for i, text := range list {
		all[i].Text = text
	}
	return all, ok
}

// fileNamed returns the file of a call: under Claude Code's key, or, for the tools of other agents, under one of
// theirs. It is "" without one; ok is false if it is not a string, or if two of them differ.
func (c *Call) fileNamed(key string) (name string, ok bool) {
	keys := []string{key}
	if Known(c.Tool).Same != c.Tool {
		keys = []string{
			"file_path", "path", "absolute_path", "dir_path", "filePath", "target_file", "target_directory",
		}
	}
	inputs := []*Value{c.Input}
	if c.Tool == "multi_replace_string_in_file" {
		inputs = c.Input.Member("replacements").Items()
	}
	for _, input := range inputs {
		for _, key := range keys {
			v := input.Member(key)
			switch {
			case v.Kind() == Absent || v.Kind() == Null:
			case v.Kind() != String || name != "" && v.Str() != name:
				return "", false
			default:
				name = v.Str()
			}
		}
	}
	return name, true
}

// searched returns the path of a search: its own, else the one in its pattern. A pattern of files may leave the path,
// as in "../../etc/*", and then counts instead of it. A pattern of text that would leave the working directory as a
// path does not change the search, which is in that directory.
//
// unsure says why the path, or a pattern of files, cannot be determined.
func (c *Call) searched(files bool) (at *Value, unsure string) {
	name, ok := c.fileNamed("path")
	pattern := c.Input.Member("pattern").Str()
	if unsure = unsurePath(name, ok); unsure == "" && files {
		unsure = unsurePath(pattern, true)
		if braces := strings.NewReplacer(",", "{").Replace(pattern); strings.Contains(pattern, "{") &&
			(strings.Contains(braces, "..") || strings.Contains(braces, "{/") || strings.Contains(braces, "{~")) {
			unsure = "the pattern has braces that may lead out of the directory; write a pattern for each"
		}
	}
	if unsure != "" {
		return nil, unsure
	}
	base, _ := Resolve(c.Dir, name)
	if pattern == "" {
		return Text(base), ""
	}
	looked, _ := Resolve(base, pattern)
	_, within := CutDir(looked, base)
	if base == "." {
		within = !path.IsAbs(looked) && looked != ".." && !strings.HasPrefix(looked, "../")
	}
	if name != "" && within || !files && !within {
		return Text(base), ""
	}
	return Text(looked), ""
}

// unsurePath says why the file of a path cannot be determined, or "". ok is whether the call has at most one path.
// Some agents expand ~, and some remove spaces at the ends.
func unsurePath(name string, ok bool) string {
	trimmed := strings.TrimFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff'
	})
	switch {
	case !ok:
		return "the path is not one string; write one path"
	case strings.HasPrefix(trimmed, "~"):
		return "the path begins with ~, which may be a home directory; write the whole path, or ./~"
	case trimmed != name:
		return "the path begins or ends with a space, which may be removed; write it without"
	}
	return ""
}

// CutDir returns the rest of a clean path after a clean directory, "" or with a slash before it; false, if the
// path is neither the directory nor in it.
func CutDir(name, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return rest, ok && (rest == "" || rest[0] == '/')
}

// Resolve returns the clean path of a name in a directory, with slashes, without a ".." that could lead out of
// anything. It is absolute if the name is, or the directory. Windows' paths are known by their drive or their two
// backslashes; the drive is then a capital letter. Nothing is looked up: symlinks are not followed, and case does not
// change.
func Resolve(dir, name string) (clean string, absolute bool) {
	drive, rest := cutDrive(name)
	home, base := cutDrive(dir)
	if strings.HasPrefix(base, `\\`) {
		base = strings.ReplaceAll(base, `\`, "/")
	}
	windows := home != "" || base != dir || !path.IsAbs(dir) && strings.HasPrefix(name, `\\`)
	switch {
	case drive == "" && windows:
		rest = strings.ReplaceAll(rest, `\`, "/")
		drive = home
	case drive != "" && home == "" && path.IsAbs(dir) && !path.IsAbs(rest):
		drive, rest = "", name // "C:notes.txt" is a file's name like any other where there are no drives
	}
	if !path.IsAbs(rest) && dir != "" && drive == home {
		rest = base + "/" + rest
	} else if drive != "" && !path.IsAbs(rest) {
		rest = "/" + rest
	}
	clean = path.Clean(rest)
	if d, _ := cutDrive(clean); drive == "" && d != "" {
		clean = "./" + clean // a relative name that only looks like a drive
	}
	return drive + clean, path.IsAbs(rest)
}

// cutDrive cuts the drive off a path of Windows, and gives the rest slashes. Of any other path there is no drive.
func cutDrive(name string) (drive, rest string) {
	if len(name) < 2 || name[1] != ':' || name[0]|0x20 < 'a' || name[0]|0x20 > 'z' {
		return "", name
	}
	return strings.ToUpper(name[:2]), strings.ReplaceAll(name[2:], `\`, "/")
}

// mostPrefixes is how many programs that only run another are looked through. Nobody writes so many, and
// a line that is nothing else must not take long.
const mostPrefixes = 32

// A Program is one that a command line runs, and all words after it.
type Program struct {
	Name *Value // as it is written; nil, if it cannot be determined
	Args []*Value
}

func programOf(line []shell.Token) Program {
	r := Program{Name: Text(line[0].Text)}
	for _, t := range line[1:] {
		r.Args = append(r.Args, Text(t.Text))
	}
	return r
}

// program returns the program that a command line runs first, and all words after it. What is before
// it is left out: operators and where they redirect to, settings of variables, and the programs that only run
// another, which are in through. Such a program is the one that runs where no other follows it. Of a line that runs
// nothing the program is ""; nil, if it is unknown.
func program(line []shell.Token) (runs Program, through []Program) {
	for range mostPrefixes {
		line = skipPrefix(line)
		if len(line) == 0 {
			if n := len(through) - 1; n >= 0 {
				return through[n], through[:n]
			}
			return Program{Name: Text("")}, nil
		}
		inner, ok := []shell.Token(nil), false
		if slices.Contains(LookedThrough(), line[0].Text) {
			inner, ok = shell.Inner(line)
		}
		if !ok {
			return programOf(line), through
		}
		through = append(through, programOf(line))
		line = inner
	}
	return Program{}, through
}

// Runs returns the program that a command of these words runs, as clash reads it: env, time and the like are looked
// through. It is "" if that cannot be determined.
func Runs(words []string) string {
	var line []shell.Token
	for _, w := range words {
		line = append(line, shell.Token{Text: w})
	}
	runs, _ := program(line)
	return runs.Name.Str()
}

// LookedThrough are the programs that clash's reading looks through.
func LookedThrough() []string {
	return []string{"env", "time", "nice", "nohup", "timeout", "command"}
}

func skipPrefix(line []shell.Token) []shell.Token {
	for len(line) > 0 {
		switch t := line[0]; {
		case t.Operator && strings.ContainsAny(t.Text, "<>") && len(line) > 1 && !line[1].Operator:
			line = line[2:]
		case t.Operator, t.Text == "!", t.Text == "{", shell.Assigns(t.Text):
			line = line[1:]
		default:
			return line
		}
	}
	return line
}
