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

// bundleGate is a gate with the bundle that --policy names, or that root holds.
func bundleGate(flag string, at place) (*gate.Gate, error) {
	p, err := loadPolicy(flag, at.root)
	if err != nil && flag != "" {
		err = fmt.Errorf("%s: %w", p.name, err)
	}
	if err != nil {
		return nil, err
	}
	root, err := realPath(at.root)
	if err != nil {
		return nil, noRoot(err)
	}
	g := &gate.Gate{Bundle: p.bundle, Root: root}
	if p.dir == "" {
		return g, nil
	}
	dir, err := realPath(p.dir)
	if err != nil {
		return nil, fmt.Errorf("where the bundle %s is cannot be told: %w", p.name, systemError(err))
	}
	for _, name := range []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile} {
		g.RuleFiles = append(g.RuleFiles, filepath.Join(dir, filepath.FromSlash(name)))
	}
	g.Guarded = append(g.Guarded, filepath.Join(dir, "rules"))
	return g, nil
}
