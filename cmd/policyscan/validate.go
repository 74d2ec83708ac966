package main

import (
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/rules"
)

// validateCmd checks a bundle.
type validateCmd struct {
	bundleArg `embed:""`
}

// Help is shown below the flags.
func (*validateCmd) Help() string {
	return `Shows every mistake in one run, with the line it is in, and notes on what loads
but is often a slip.

Exit status: 0 the bundle is valid, with or without notes; 2 it is not.`
}

// Run shows the mistakes of a bundle, or what it holds.
func (c *validateCmd) Run(std streams) error {
	p, err := c.load()
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

func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "boundary":
		return fmt.Sprintf("%d boundaries", n)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
