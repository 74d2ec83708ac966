package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/agent/gate"
)

// scenariosFlag has the flags of policyscan test that name the calls to check, and the rules.
type scenariosFlag struct {
	callsFlag `embed:""`
	Scenarios []string `placeholder:"FILE" sep:"none" help:"@test_scenarios"`
	Root      string   `placeholder:"DIR" help:"@test_root"`
}

// check returns an error for flags that would test nothing. named is set if a bundle is named.
func (c *scenariosFlag) check(named bool) error {
	switch {
	case len(c.Calls) > 0 && len(c.Scenarios) == 0:
		return errors.New("--calls is given without --scenarios; name the calls to check")
	case c.Root != "" && (len(c.Scenarios) == 0 || !named):
		return errors.New("--root is given, but no bundle for scenarios; name both, or remove --root")
	case len(c.Scenarios) > 0 && len(c.Calls) == 0 && !named:
		return errors.New("--scenarios is given, but no rules; name call rules with --calls, or a bundle")
	}
	return nil
}

func (c *scenariosFlag) given() bool { return len(c.Scenarios) > 0 }

// judge judges the calls of all files of scenarios, and reports whether every outcome is the expected one.
func (c *scenariosFlag) judge(std streams, of *bundleArg, bundled bool) (bool, error) {
	g := &gate.Gate{}
	if bundled {
		all, err := of.load()
		if err != nil {
			return false, err
		}
		root, err := gate.Root(c.Root)
		if err != nil {
			return false, err
		}
		if g, err = gate.New(all, root); err != nil {
			return false, err
		}
		g.ByDir = c.Root == ""
	}
	var err error
	if g.Sets, err = c.load(); err != nil {
		return false, err
	}
	right := true
	for _, name := range c.Scenarios {
		ok, err := runScenarios(std, g, name)
		if err != nil {
			return false, err
		}
		right = right && ok
	}
	return right, nil
}

func runScenarios(std streams, g *gate.Gate, name string) (bool, error) {
	wrong := 0
	trials, failed := g.Scenarios(name)
	for _, t := range trials {
		text := ""
		for _, d := range t.Differences() {
			text += fmt.Sprintf("  %-9s expected %s\n            got      %s\n", d.What, safe(d.Want), safe(d.Got))
		}
		what := "note: " + t.Outside // as expected, but the bundle did not check all files
		switch {
		case text == "" && t.Outside == "":
			continue
		case text != "":
			wrong++
			what = cmp.Or(t.Scenario.Description, t.Scenario.Call.Tool+" "+t.Scenario.Call.Input.JSON())
			if len(what) > 200 {
				what = strings.ToValidUTF8(what[:200], "") + "…"
			}
			if t.Outcome.Reason != "" {
				text += fmt.Sprintf("  because   %s\n", safe(t.Outcome.Reason))
			}
		}
		if err := print(std.out, "%s:%d: %s\n%s", safe(name), t.Line, safe(what), text); err != nil {
			return false, err
		}
	}
	if failed != nil {
		return false, failed
	}
	return wrong == 0, print(std.out, "%s: %s, %d wrong\n", safe(name), plural(len(trials), "scenario"), wrong)
}
