package main

import (
	"context"
	"errors"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/scope"
)

// testCmd runs the examples of a bundle's rules, and scenarios of tool calls.
type testCmd struct {
	bundleArg       `embed:""`
	scenariosFlag   `embed:""`
	RequireExamples bool `help:"Fail for a rule without an example that violates it and one that does not."`
}

// Help returns the text below the flags.
func (*testCmd) Help() string {
	return `Checks each example of a rule against that rule alone. With --scenarios it judges the calls
in those files by the call rules of --calls, and by a bundle if one is named.

Exit status: 0 every example and scenario has the expected result; 1 one does not;
2 the rules are not valid, or nothing was tested.`
}

// Run runs the scenarios that are named, and the examples of the bundle, unless only scenarios are
// named.
func (c *testCmd) Run(std streams) error {
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
		return outcome{status: exitViolation}
	}
	return nil
}

// examples checks every rule against its own examples, and reports whether all have the expected result.
func (c *testCmd) examples(std streams) (bool, error) {
	all, err := c.bundleArg.load()
	if err != nil {
		return false, err
	}
	right, tested := true, c.given()
	for i := range all {
		ran, wrong, err := c.tryBundle(std, &all[i])
		if err != nil {
			return false, err
		}
		right, tested = right && wrong == 0, tested || ran+wrong > 0
	}
	if !tested {
		return false, errors.New("no rule has an example, so nothing was tested; write some under \"examples\" of a rule")
	}
	return right, nil
}

// tryBundle checks the rules of a bundle against their examples. It returns how many examples there are, and how many
// are wrong.
func (c *testCmd) tryBundle(std streams, p *scope.Policy) (ran, wrong int, err error) {
	bare := 0
	for i := range p.Bundle.Rules {
		r := &p.Bundle.Rules[i]
		var dirty, clean bool
		for _, x := range r.Examples {
			dirty, clean = dirty || x.Violates, clean || !x.Violates
		}
		if len(r.Examples) == 0 {
			bare++
		}
		if lacks := lacking(dirty, clean); c.RequireExamples && lacks != "" {
			wrong++
			if err := showMistakes(std.out, document.Errors{r.Mistake(lacks)}.In(p.Lead())); err != nil {
				return ran, wrong, err
			}
		}
		for i, x := range r.Examples {
			why, err := tryExample(r, x)
			if err != nil {
				return ran, wrong, err
			}
			if ran++; why == "" {
				continue
			}
			wrong++
			if err := showMistakes(std.out, document.Errors{r.ExampleMistake(i, why)}.In(p.Lead())); err != nil {
				return ran, wrong, err
			}
		}
	}
	return ran, wrong, print(std.out, "%s: %s, %d wrong; %s without one\n",
		safe(p.Name), plural(ran, "example"), wrong, plural(bare, "rule"))
}

// lacking says which kind of example a rule does not have; "" if it has both kinds.
func lacking(dirty, clean bool) string {
	switch {
	case !dirty && !clean:
		return "it has no example; write one that violates it and one that does not"
	case !dirty:
		return "it has no example that violates it"
	case !clean:
		return "it has no example that does not violate it"
	}
	return ""
}

// tryExample says what is wrong with an example of a rule; "" if it has the expected result.
func tryExample(r *rules.Rule, x rules.Example) (string, error) {
	found, err := scanner.Check(context.Background(), rules.New([]rules.Rule{*r}, nil), x.Path, []byte(x.Content))
	switch {
	case err != nil:
		return "", err
	case (len(found) > 0) == x.Violates:
		return "", nil
	case len(found) > 0:
		return `it contains "` + found[0].Evidence.Pattern + `", but it says that it does not violate the rule`, nil
	case !r.Selects(x.Path):
		return `the rule does not select "` + x.Path + `", but it says that it violates the rule`, nil
	}
	return "nothing in it violates the rule, but it says so", nil
}
