package main

import (
	"context"
	"errors"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
)

// testCmd runs the examples of a bundle's rules.
type testCmd struct {
	bundleArg `embed:""`
}

// Help is shown below the flags.
func (*testCmd) Help() string {
	return `Holds each example of a rule against that rule alone.

Exit status: 0 every example is as it says; 1 one is not; 2 the bundle is not valid,
or no rule has an example.`
}

// Run holds every rule against its own examples.
func (c *testCmd) Run(std streams) error {
	p, err := c.load()
	if err != nil {
		return err
	}
	ran, wrong, bare := 0, 0, 0
	for _, r := range p.bundle.Rules {
		if len(r.Examples) == 0 {
			bare++
		}
		alone := rules.New([]rules.Rule{r}, nil)
		for i, x := range r.Examples {
			found, err := scanner.Check(context.Background(), alone, x.Path, []byte(x.Content))
			if err != nil {
				return err
			}
			ran++
			if (len(found) > 0) == x.Violates {
				continue
			}
			wrong++
			why := "nothing in it violates the rule, but it says so"
			switch {
			case len(found) > 0:
				why = "it contains " + quoted(found[0].Evidence.Pattern) + ", but it says that it does not violate the rule"
			case !r.Selects(x.Path):
				why = "the rule does not select " + quoted(x.Path) + ", but it says that it violates the rule"
			}
			if err := print(std.out, "%s:%d: rule %s: example %d: %s\n", safe(p.locate(r.File)), r.Line, quoted(r.ID), i+1, why); err != nil {
				return err
			}
		}
	}
	if err := print(std.out, "%s: %s, %d wrong; %s without one\n", safe(p.name), plural(ran, "example"), wrong, plural(bare, "rule")); err != nil {
		return err
	}
	switch {
	case wrong > 0:
		return outcome{status: exitViolation}
	case ran == 0:
		return errors.New("no rule has an example, so nothing was tested; write some under \"examples\" of a rule")
	}
	return nil
}
