package call

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/call/shell"
)

// A Command is one command of a call, for the native rules.
type Command struct {
	Parsed    shell.Command
	Called    []string // Word, and other names of the program; nil without a word
	Arguments []*Value // Args
}

// Unseen lists all values of Command.Unseen except "".
func Unseen() []string { return shell.Reasons() }

// Commands lists the commands of a call. A command line that runs nothing has one command, whose program is "". So
// has a call whose command line is not a string: its program is missing.
func (c *Call) Commands() []Command {
	if Known(c.Tool).Same != "Bash" {
		return nil
	}
	line, list, ok := c.commandLine()
	switch {
	case !ok:
		return []Command{{Parsed: shell.Command{Unseen: shell.Syntax}}}
	case list != nil:
		return facing(shell.ReadList(list))
	}
	return commandsOf(line)
}

// commandLine returns the command line of a call. Codex's shell has a list, of a shell and its script or of a program
// and its arguments; the latter is the list.
func (c *Call) commandLine() (line string, list []string, ok bool) {
	v := c.Input.First("command", "cmd")
	if v.Kind() == String {
		return v.Str(), nil, true
	}
	list, ok = v.texts()
	if len(list) == 3 && strings.HasPrefix(list[1], "-") && strings.HasSuffix(list[1], "c") &&
		slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(list[0])) {
		return list[2], nil, true
	}
	return "", list, ok && len(list) > 0
}

// texts are the items of a list of strings.
func (v *Value) texts() ([]string, bool) {
	var list []string
	for _, item := range v.Items() {
		if item.Kind() != String {
			return nil, false
		}
		list = append(list, item.text)
	}
	return list, v.Kind() == List
}

func commandsOf(line string) []Command {
	all := shell.Read(line)
	at := slices.IndexFunc(all, func(c shell.Command) bool {
		return slices.Contains([]string{shell.Syntax, shell.Length, shell.Depth}, c.Unseen)
	})
	if at >= 0 { // text that is split into words alone is read as clash does, too
		if runs, _ := program(shell.Tokens(line[:min(len(line), shell.MaxRough)])); runs.Name != nil {
			c := shell.Command{Word: runs.Name.Str(), Unseen: all[at].Unseen}
			for _, a := range runs.Args {
				c.Args = append(c.Args, a.Str())
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		all = []shell.Command{{}}
	}
	return facing(all)
}

func facing(all []shell.Command) []Command {
	out := make([]Command, len(all))
	values := map[*string][]*Value{} // of arguments that several commands share: env nice git push
	for i, c := range all {
		out[i] = Command{Parsed: c, Called: c.Names()}
		if len(c.Args) == 0 {
			continue
		}
		last := &c.Args[len(c.Args)-1]
		shared := values[last]
		if n := len(shared) - len(c.Args); n >= 0 {
			out[i].Arguments = shared[n:]
			continue
		}
		for k := range c.Args {
			out[i].Arguments = append(out[i].Arguments, Text(c.Args[k]))
		}
		values[last] = out[i].Arguments
	}
	return out
}

// String returns the command for display, at most a line.
func (c *Command) String() string {
	text := strings.TrimSpace(c.Parsed.Word + " " + strings.Join(c.Parsed.Args[:min(len(c.Parsed.Args), 20)], " "))
	if utf8.RuneCountInString(text) > 80 {
		text = string([]rune(text)[:80]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
