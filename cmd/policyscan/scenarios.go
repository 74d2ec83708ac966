package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/internal/disk"
)

// scenariosFlag has the flags of policyscan test that name the calls to judge, and the rules.
type scenariosFlag struct {
	callsFlag `embed:""`
	Scenarios []string `placeholder:"FILE" sep:"none" help:"Calls, and what is expected of them: a line of JSON for each. Repeatable."`
	Root      string   `placeholder:"DIR" help:"Folder from which the bundle's globs count for the scenarios. Default: for each the root of the repository around its cwd."`
}

// check returns an error for flags that would test nothing. named says whether a bundle is named.
func (c *scenariosFlag) check(named bool) error {
	switch {
	case len(c.Calls) > 0 && len(c.Scenarios) == 0:
		return errors.New("--calls is given without --scenarios; name the calls to judge")
	case c.Root != "" && (len(c.Scenarios) == 0 || !named):
		return errors.New("--root is given, but no bundle judges a scenario; name scenarios and a bundle, or remove --root")
	case len(c.Scenarios) > 0 && len(c.Calls) == 0 && !named:
		return errors.New("--scenarios is given, but nothing to judge calls by; name call rules with --calls, or a bundle")
	}
	return nil
}

// given reports whether there are scenarios to judge.
func (c *scenariosFlag) given() bool { return len(c.Scenarios) > 0 }

// judge judges the calls of all files of scenarios, and reports whether every outcome is the expected one.
func (c *scenariosFlag) judge(std streams, of *bundleArg, bundled bool) (bool, error) {
	g := &gate.Gate{}
	if bundled {
		all, err := of.load()
		if err != nil {
			return false, err
		}
		at, err := rootAt(c.Root)
		if err != nil {
			return false, err
		}
		if g, err = newGate(all, at); err != nil {
			return false, err
		}
		g.ByFolder = c.Root == ""
	}
	var err error
	if g.Sets, err = c.callsFlag.load(""); err != nil {
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

// runScenarios judges the calls of one file.
func runScenarios(std streams, g *gate.Gate, name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, fmt.Errorf("the scenarios %s cannot be read: %w", name, disk.Cause(err))
	}
	defer f.Close() // read only: nothing to lose
	ran, wrong := 0, 0
	lines := newLines(f)
	for lines.next(context.Background()) {
		s, err := call.ParseScenario(lines.line, g.Judges()...)
		if err != nil {
			return false, fmt.Errorf("%s:%d: %w", name, lines.number, err)
		}
		if s == nil {
			continue
		}
		r, err := g.Judge(context.Background(), s.Call, call.Options{})
		if err != nil {
			return false, fmt.Errorf("%s:%d: %w", name, lines.number, err)
		}
		out := r.Outcome()
		ran++
		diff := differs(s, &out)
		if outside := r.Outside(); diff == "" && outside != "" { // as expected, but the bundle did not judge all files
			if err := print(std.out, "%s:%d: note: %s\n", safe(name), lines.number, safe(outside)); err != nil {
				return false, err
			}
		}
		if diff == "" {
			continue
		}
		wrong++
		what := s.Description
		if what == "" {
			what = s.Call.Tool + " " + s.Call.Input.JSON()
		}
		if err := print(std.out, "%s:%d: %s\n%s", safe(name), lines.number, safe(cutTo(what, 200)), diff); err != nil {
			return false, err
		}
	}
	if lines.err != nil {
		return false, fmt.Errorf("the scenarios %s cannot be read: %w", name, disk.Cause(lines.err))
	}
	if ran == 0 {
		return false, fmt.Errorf("the scenarios %s contain no call, so nothing was tested", name)
	}
	return wrong == 0, print(std.out, "%s: %s, %d wrong\n", safe(name), plural(ran, "scenario"), wrong)
}

// differs returns where an outcome differs from the expected one, a line for each difference; "" if it does not.
func differs(s *call.Scenario, out *call.Outcome) string {
	diff := ""
	if out.Decision != s.Decision {
		diff += fmt.Sprintf("  decision  expected %s\n            got      %s\n", safe(s.Decision), safe(out.Decision))
	}
	want, got := "no rule", "no rule"
	if s.Rule != "" {
		want = safe(s.Rule)
	}
	if out.Rule != nil {
		got = safe(out.Rule.ID)
	}
	if !s.AnyRule && want != got {
		diff += fmt.Sprintf("  rule      expected %s\n            got      %s\n", want, got)
	}
	if !s.AnyCode && s.Code != out.Code {
		diff += fmt.Sprintf("  code      expected %s\n            got      %s\n",
			safe(cmp.Or(s.Code, "no code")), safe(cmp.Or(out.Code, "no code")))
	}
	if diff != "" && out.Reason != "" {
		diff += fmt.Sprintf("  because   %s\n", safe(out.Reason))
	}
	return diff
}
