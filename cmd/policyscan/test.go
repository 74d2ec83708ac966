package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/policyscan/policyscan/scanner"
)

type testCmd struct {
	bundleArg       `embed:""`
	scenariosFlag   `embed:""`
	colorFlag       `embed:""`
	RequireExamples bool `help:"Fail for a rule without an example that violates it and one that does not."`
}

// Run runs the named scenarios, and the bundle's examples unless only scenarios are named.
func (c *testCmd) Run(std streams) error {
	std.color = c.Color
	named := c.Dir != "" || len(c.Policy) > 0
	if err := c.check(named); err != nil {
		return err
	}
	bundled := !c.given() || named
	right := true
	if c.given() {
		ok, err := c.judge(std, &c.bundleArg, bundled)
		if err != nil {
			return err
		}
		right = ok
	}
	if bundled {
		ok, err := c.examples(std)
		if err != nil {
			return err
		}
		right = right && ok
	}
	if !right {
		return exitError{status: exitViolation}
	}
	return nil
}

func (c *testCmd) examples(std streams) (bool, error) {
	all, err := c.bundleArg.load()
	if err != nil {
		return false, err
	}
	right, tested := true, c.given()
	for i := range all {
		p := &all[i]
		t, err := scanner.RunExamples(p.Bundle, c.RequireExamples)
		if err != nil {
			return false, err
		}
		ran := plural(t.Ran, "example")
		if t.Ran > 0 {
			ran += fmt.Sprintf(", %d wrong", t.Failed)
		}
		if err := cmp.Or(showMistakes(std, t.Mistakes.In(p.PathPrefix())),
			print(std.out, "%s: %s; %s without one\n", safe(p.Name), ran, plural(t.Untested, "rule"))); err != nil {
			return false, err
		}
		right, tested = right && len(t.Mistakes) == 0, tested || t.Ran+len(t.Mistakes) > 0
	}
	if !tested {
		return false, errors.New("no rule has an example, so nothing was tested; write \"examples\" in one")
	}
	return right, nil
}
