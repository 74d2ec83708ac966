package callrules

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/call/shell"
)

// each are the commands of the call, read once; none, of a call that runs no command line.
func (f *facts) each() []call.Command {
	if !f.listed {
		f.commands, f.listed = f.call.Commands(), true
	}
	return f.commands
}

// commandFact is a fact of a command; missing of none.
func commandFact(c *call.Command, of Source) *call.Value {
	switch {
	case c == nil:
	case of == FromUnseen && c.Parsed.Unseen != "":
		return call.Text(c.Parsed.Unseen)
	case of == FromProgram && c.Called != nil:
		return call.Text(c.Parsed.Word)
	case of == FromArguments && c.Called != nil:
		return call.NewList(c.Arguments)
	}
	return nil
}

// hidden reports whether an allowing rule without a test of FromUnseen meets a command that is not seen in full.
func (f *facts) hidden() bool {
	return f.allows && !f.accepts && f.command != nil && f.command.Parsed.Unseen != ""
}

// ofProgram tests the program's name. A rule that denies or asks matches any of its names: /usr/bin/git is git. A
// rule that allows matches the word as written, and with Not no other name either: /tmp/git is not git.
func (t *Test) ofProgram(f *facts) bool {
	if f.command.Called == nil {
		return t.Absent == Holds
	}
	if f.allows && !t.Not {
		return t.asks(f.command.Parsed.Word)
	}
	return t.ofWords(f, f.command.Called)
}

// ofUnseen makes a test of why something is not seen. A command for which a variable is set can have two reasons.
func (t *Test) ofUnseen(f *facts) bool {
	words := []string{f.command.Parsed.Unseen}
	if f.command.Parsed.Set && f.command.Parsed.Unseen != shell.Environment {
		words = append(words, shell.Environment)
	}
	return t.ofWords(f, words)
}

// ofWords tests a fact with several words: a rule that allows needs all, any other one.
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

// matchesEach evaluates a rule for each command. A command that does not run as written may hide others, so no
// allowing rule matches it, except one with a test of FromUnseen.
func (w *walk) matchesEach(r *Rule, all []call.Command) bool {
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
		if f.allows && f.command.Parsed.Through {
			continue
		}
		asked := []string{shell.Argument, shell.Code, shell.Script} // these do not hide the program
		if f.hidden() && (f.command.Parsed.Set || !slices.Contains(asked, f.command.Parsed.Unseen)) {
			w.asked(r, false, func() string { return "" })
			why := f.command.Parsed.Unseen
			if f.command.Parsed.Set {
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
