package call

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/call/shell"
)

// A command is one of those that a call runs, as the native rules see them.
type command struct {
	shell.Command
	names []string // the word as it is written, and what else it can be called; nil if there is no word
	args  []*Value
}

// Unseen are all that the fact FromUnseen can be.
func Unseen() []string { return shell.Reasons() }

// About reports whether a predicate has a test of a source.
func (p *Predicate) About(s Source) bool {
	about := func(p Predicate) bool { return p.About(s) }
	return p.Test != nil && p.Test.Fact.Source == s || slices.ContainsFunc(p.All, about) || slices.ContainsFunc(p.Any, about)
}

// each are the commands of the call, read once; none, of a call that runs no command line.
func (f *facts) each() []command {
	if !f.listed {
		f.commands, f.listed = f.call.commands(), true
	}
	return f.commands
}

// commands lists what a call runs. A command line that runs nothing has one command, whose program is "". So has a
// call whose command line is not a string: its program is missing.
func (c *Call) commands() []command {
	if Known(c.Tool).Same != "Bash" {
		return nil
	}
	v := first(c.Input, "command", "cmd")
	if v.Kind() == String {
		return commandsOf(v.Str())
	}
	list, _ := v.texts()
	switch {
	case len(list) == 0:
		return []command{{Command: shell.Command{Unseen: shell.Syntax}}}
	case isScript(list):
		return commandsOf(list[2])
	}
	return facing(shell.ReadList(list))
}

// texts are the items of a list of nothing but texts.
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

// isScript reports whether the list form of a command, Codex's, is a shell and its script.
func isScript(list []string) bool {
	return len(list) == 3 && strings.HasPrefix(list[1], "-") && strings.HasSuffix(list[1], "c") &&
		slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(list[0]))
}

func commandsOf(line string) []command {
	all := shell.Read(line)
	at := slices.IndexFunc(all, func(c shell.Command) bool {
		return slices.Contains([]string{shell.Syntax, shell.Length, shell.Depth}, c.Unseen)
	})
	if at >= 0 { // what is read by words alone is read as clash does, too
		if runs, _ := program(shell.Tokens(line[:min(len(line), shell.MaxRough)])); runs.bin != nil {
			c := shell.Command{Word: runs.bin.Str(), Unseen: all[at].Unseen}
			for _, a := range runs.args {
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

func facing(all []shell.Command) []command {
	out := make([]command, len(all))
	values := map[*string][]*Value{} // of arguments that several commands share: env nice git push
	for i, c := range all {
		out[i] = command{Command: c, names: c.Names()}
		if len(c.Args) == 0 {
			continue
		}
		last := &c.Args[len(c.Args)-1]
		shared := values[last]
		if n := len(shared) - len(c.Args); n >= 0 {
			out[i].args = shared[n:]
			continue
		}
		for k := range c.Args {
			out[i].args = append(out[i].args, Text(c.Args[k]))
		}
		values[last] = out[i].args
	}
	return out
}

// value is a fact of a command; missing of none.
func (c *command) value(of Source) *Value {
	switch {
	case c == nil:
	case of == FromUnseen && c.Unseen != "":
		return Text(c.Unseen)
	case of == FromProgram && c.names != nil:
		return Text(c.Word)
	case of == FromArguments && c.names != nil:
		return &Value{kind: List, items: c.args}
	}
	return nil
}

// String is a command for a person, at most a line.
func (c *command) String() string {
	text := strings.TrimSpace(c.Word + " " + strings.Join(c.Args[:min(len(c.Args), 20)], " "))
	if utf8.RuneCountInString(text) > 80 {
		text = string([]rune(text)[:80]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// hidden reports whether a rule that allows is asked about a command that is not seen in full, and does not say that
// it knows.
func (f *facts) hidden() bool {
	return f.allows && !f.accepts && f.command != nil && f.command.Unseen != ""
}

// ofProgram makes a test of the program's name. A rule that denies or asks is met by any of its names: /usr/bin/git
// is git. A rule that allows is met by the word as it is written, and with Not by no other name either: /tmp/git is
// not git.
func (t *Test) ofProgram(f *facts) bool {
	if f.command.names == nil {
		return t.Absent == Holds
	}
	if f.allows && !t.Not {
		return t.asks(f.command.Word)
	}
	return t.ofWords(f, f.command.names)
}

// ofUnseen makes a test of why something is not seen. A command for which a variable is set can have two reasons.
func (t *Test) ofUnseen(f *facts) bool {
	words := []string{f.command.Unseen}
	if f.command.Set && f.command.Unseen != shell.Environment {
		words = append(words, shell.Environment)
	}
	return t.ofWords(f, words)
}

// ofWords makes a test of a fact that is several words: a rule that allows needs all, any other one.
func (t *Test) ofWords(f *facts, words []string) bool {
	any, all := false, true
	for _, w := range words {
		is := t.asks(w) != t.Not
		any, all = any || is, all && is
	}
	if f.allows {
		return all
	}
	return any
}

// matchesEach asks a rule about each command. What is not run as it is written, so that there may be other commands,
// meets no rule that allows, unless the rule has a test of what is unseen.
func (w *walk) matchesEach(r *Rule, all []command) bool {
	f := w.facts
	f.allows, f.accepts = r.Effect.Rank() == 0, r.Unseen
	defer func() { f.command, f.allows, f.accepts = nil, false, false }()
	of := func(i int, why string) {
		if w.trace == nil {
			return
		}
		step := &w.trace.Steps[len(w.trace.Steps)-1]
		step.Why, step.Of = fmt.Sprintf("command %d of %d%s", i+1, len(all), why), all[i].String()
	}
	last := 0
	var ok bool
	var failed *Test
	for i := range all {
		f.command = &all[i]
		if f.allows && f.command.Through {
			continue
		}
		if f.hidden() && (f.command.Set || !slices.Contains([]string{shell.Argument, shell.Code, shell.Script}, f.command.Unseen)) {
			w.asked(r, false, func() string { return "" })
			why := f.command.Unseen
			if f.command.Set {
				why = shell.Environment
			}
			of(i, fmt.Sprintf(" cannot be read in full (%s)", why))
			return false
		}
		ok, failed = r.When.holds(f)
		if last = i; ok != f.allows {
			break
		}
	}
	w.asked(r, ok, func() string {
		if len(all) > 1 {
			return fmt.Sprintf("none of the %d commands matches; in the last, %s", len(all), failed.failed())
		}
		return failed.failed()
	})
	switch {
	case ok && f.allows && len(all) > 1:
		if w.trace != nil {
			w.trace.Steps[len(w.trace.Steps)-1].Why = fmt.Sprintf("all of %d commands", len(all))
		}
	case ok:
		of(last, "")
	case f.allows && w.trace != nil:
		of(last, ", "+failed.failed())
	}
	return ok
}
