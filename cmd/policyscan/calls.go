package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/rules"
)

// callsFlag is how the commands about tool calls are told the rules about them.
type callsFlag struct {
	Calls   []string          `placeholder:"FILE" sep:"none" help:"Call rules: a file, or a folder of .rules files. Repeatable; the strictest wins."`
	Dialect string            `placeholder:"NAME" help:"What the call rules are written in, if their names do not tell: ${dialects}."`
	Define  map[string]string `placeholder:"NAME=VALUE" mapsep:"none" help:"What (env NAME) is in clash. Repeatable."`
}

// load reads the call rules, whose names count from dir, "" is the current folder; the error has the mistakes of all
// files.
func (c *callsFlag) load(dir string) ([]*call.Set, error) {
	if c.Dialect != "" {
		if err := oneOf("--dialect", c.Dialect, dialect.Names()); err != nil {
			return nil, err
		}
	}
	var sets []*call.Set
	var mistakes rules.Errors
	for _, name := range c.Calls {
		s, err := dialect.Load(dir, filepath.ToSlash(filepath.Clean(name)), c.Dialect, c.Define)
		var list rules.Errors
		if errors.As(err, &list) {
			mistakes = append(mistakes, list...)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the call rules cannot be read: %w", err)
		}
		sets = append(sets, s)
	}
	if mistakes != nil {
		return nil, mistakes
	}
	return sets, nil
}

// guard puts what the sets were read from among the files that the gate guards.
func (c *callsFlag) guard(g *gate.Gate, dir string) error {
	for _, name := range c.Calls {
		name = under(dir, name)
		real, err := realPath(name)
		if err != nil {
			return fmt.Errorf("where %s is cannot be told: %w", name, systemError(err))
		}
		g.Guarded = append(g.Guarded, real)
	}
	return nil
}

// under is a path that counts from a folder, as it is opened.
func under(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// takes makes a file the first of the call rules.
func (c *callsFlag) takes(name string) bool {
	c.Calls = append([]string{name}, c.Calls...)
	return true
}

// given reports whether call rules are named.
func (c *callsFlag) given() bool { return len(c.Calls) > 0 }

// validate shows the mistakes of each file of call rules, or what it holds.
func (c *callsFlag) validate(std streams) (failed error) {
	for _, name := range c.Calls {
		failed = errors.Join(failed, c.validateOne(std, name))
	}
	return failed
}

// validateOne checks a file of call rules, or a folder of them.
func (c *callsFlag) validateOne(std streams, name string) error {
	one := callsFlag{Calls: []string{name}, Dialect: c.Dialect, Define: c.Define}
	sets, err := one.load("")
	var list rules.Errors
	if errors.As(err, &list) {
		return mistaken(std, name, list)
	}
	if err != nil {
		return err
	}
	s := sets[0]
	for _, n := range s.Notes {
		if err := print(std.out, "%s:%d: note: %s\n", safe(n.Origin.File), n.Origin.Line, safe(n.Text)); err != nil {
			return err
		}
	}
	return print(std.out, "%s: valid: %s, %s; %s\n", safe(s.Name), s.Dialect, s.Strategy, safe(defaulted(s)))
}

// defaulted is what a set holds, and what becomes of a call that no rule is about.
func defaulted(s *call.Set) string {
	e := s.Default
	if s.Strategy == call.DenyOverrides {
		e = call.Deny // without a policy
		if len(s.Policies) > 0 {
			e = s.Policies[0].Default
		}
	}
	return fmt.Sprintf("%s; else %s", s.Summary(), s.Word(e))
}
