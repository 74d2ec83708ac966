package main

import (
	"errors"
	"fmt"
	"path"

	"github.com/policyscan/policyscan/rules"
)

// validateCmd checks a bundle.
type validateCmd struct {
	Dir string `arg:"" optional:"" help:"Folder that holds rules/, or builtin:infra. Default: the bundle that a scan would use."`
}

// Help is shown below the flags.
func (*validateCmd) Help() string {
	return `Shows every mistake in one run, with the line it is in, and notes on what loads
but is often a slip.

Exit status: 0 the bundle is valid, with or without notes; 2 it is not.`
}

// Run shows the mistakes of a bundle, or what it holds.
func (c *validateCmd) Run(std streams) error {
	p, err := bundleAt(c.Dir)
	if err == nil {
		err = p.load()
	}
	var list rules.Errors
	if errors.As(err, &list) {
		if err := rules.Show(std.out, p.located(list), safe); err != nil {
			return err
		}
		return outcome{exitUndecided, fmt.Errorf("%s: %s", p.name, plural(len(list), "mistake"))}
	}
	if err != nil {
		return err
	}
	for _, n := range rules.Notes(p.bundle) {
		n.File = p.locate(n.File)
		if err := print(std.out, "%s\n", safe(n.String())); err != nil {
			return err
		}
	}
	b := p.bundle
	return print(std.out, "%s: valid: %s, %s, %d deprecated\nsha256 %s\n", safe(p.name),
		plural(b.Count(rules.Boundary), "boundary"), plural(b.Count(rules.Invariant), "invariant"), len(b.Deprecated), b.SHA256)
}

// bundleAt finds the bundle that a command's argument names, "" as a scan would.
func bundleAt(arg string) (policy, error) {
	root := ""
	if arg == "" {
		place, err := findPlace("")
		if err != nil {
			return policy{}, err
		}
		root = place.root
	}
	return findPolicy(arg, root)
}

// locate returns a rule file's path so that it opens from the current folder.
func (p *policy) locate(file string) string {
	if p.dir == "" || file == "" {
		return file
	}
	return path.Join(p.name, file)
}

func (p *policy) located(list rules.Errors) rules.Errors {
	out := make(rules.Errors, len(list))
	for i, e := range list {
		c := *e
		c.File = p.locate(c.File)
		out[i] = &c
	}
	return out
}

func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "boundary":
		return fmt.Sprintf("%d boundaries", n)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
