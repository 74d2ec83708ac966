package gate

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/disk"
)

// A Trial is a scenario with its result.
type Trial struct {
	Line     int // of the file
	Scenario *callrules.Scenario
	Outcome  callrules.Outcome
	Outside  string // see [Result.Outside]
}

// A Difference is an expected value that the result does not have.
type Difference struct{ What, Want, Got string }

// Scenarios checks the calls in a file of scenarios, up to the first error. A file without a call is one.
func (g *Gate) Scenarios(name string) (all []*Trial, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the scenarios %s cannot be read: %w", name, disk.Cause(err))
	}
	defer f.Close() // read only: nothing to lose
	for line := range call.Lines(f) {
		if line.Err != nil {
			return all, fmt.Errorf("the scenarios %s cannot be read: %w", name, disk.Cause(line.Err))
		}
		trial, err := g.try(line)
		if err != nil {
			return all, fmt.Errorf("%s:%d: %w", name, line.Number, err)
		}
		if trial != nil {
			all = append(all, trial)
		}
	}
	if all == nil {
		err = fmt.Errorf("the scenarios %s contain no call, so nothing was tested", name)
	}
	return all, err
}

// try checks the call on a line; nil for a line without one.
func (g *Gate) try(line call.Line) (*Trial, error) {
	s, err := callrules.ParseScenario(line.Text, g.Judges()...)
	if err != nil || s == nil {
		return nil, err
	}
	r, err := g.Judge(context.Background(), s.Call, callrules.Options{})
	if err != nil {
		return nil, err
	}
	return &Trial{line.Number, s, r.Outcome(), r.Outside()}, nil
}

// Differences returns where the outcome is not the expected one; nothing if it is.
func (t *Trial) Differences() []Difference {
	s, out := t.Scenario, &t.Outcome
	var all []Difference
	differ := func(what, want, got string) {
		if want != got {
			all = append(all, Difference{what, want, got})
		}
	}
	differ("decision", s.Decision, out.Decision)
	if !s.AnyRule {
		id := ""
		if out.Rule != nil {
			id = out.Rule.ID
		}
		differ("rule", cmp.Or(s.Rule, "no rule"), cmp.Or(id, "no rule"))
	}
	if !s.AnyCode {
		differ("code", cmp.Or(s.Code, "no code"), cmp.Or(out.Code, "no code"))
	}
	return all
}
