package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/verdict"
)

type evalCmd struct {
	callsFlag `embed:""`
	Policy    []string `placeholder:"DIR" sep:"none" help:"@eval_policy"`
	pinFlag   `embed:""`
	Root      string `placeholder:"DIR" help:"@eval_root"`
	Explain   bool   `help:"Explain each decision in words instead of JSON."`
	Trace     bool   `help:"Add to each outcome how it came about."`
	Latency   bool   `help:"Add to each outcome how long it took, in milliseconds: latency_ms."`
	AskMode   string `placeholder:"MODE" aliases:"ask_mode" help:"@eval_ask_mode"`
}

// Run judges the calls on standard input.
func (c *evalCmd) Run(std streams) error {
	if err := ask.CheckMode(ask.Mode(c.AskMode)); err != nil {
		return err
	}
	g, err := c.gate()
	if err != nil {
		return err
	}
	if isEmptyInput(std.in) {
		return errors.New("there is no call on standard input; pipe them in, a line of JSON for each")
	}
	calls, stopped := 0, 0
	for line := range call.Lines(std.in) {
		if line.Err != nil {
			return fmt.Errorf("standard input cannot be read: %w", line.Err)
		}
		calls++
		allowed, err := c.judge(std, g, line.Text)
		if err != nil {
			return fmt.Errorf("standard input:%d: %w", line.Number, err)
		}
		if !allowed {
			stopped++
		}
	}
	switch {
	case calls == 0:
		return errors.New("there is no call on standard input; pipe them in, a line of JSON for each")
	case stopped > 0:
		return exitError{status: exitViolation}
	}
	return nil
}

func (c *evalCmd) gate() (*gate.Gate, error) {
	if len(c.Calls) == 0 && len(c.Policy) == 0 {
		return nil, errors.New("nothing to check calls against; name call rules (--calls) or a bundle (--policy)")
	}
	if c.Root != "" && len(c.Policy) == 0 {
		return nil, errors.New("--root is given without --policy; name a bundle, or remove --root")
	}
	names := eachLine(c.Policy)
	pins, err := c.pins(len(names))
	if err != nil {
		return nil, err
	}
	sets, err := c.load()
	if err != nil {
		return nil, err
	}
	g := &gate.Gate{}
	if len(c.Policy) > 0 {
		root, err := gate.Root(c.Root)
		if err != nil {
			return nil, err
		}
		if g, err = gate.Open(names, pins, root); err != nil {
			return nil, err
		}
		g.ByDir = c.Root == ""
	}
	g.Sets = sets
	return g, nil
}

// judge prints the outcome of a call, and reports whether it is allowed.
func (c *evalCmd) judge(std streams, g *gate.Gate, line []byte) (bool, error) {
	asked, err := callrules.ParseCall(line, g.Judges()...)
	if err != nil {
		return false, err
	}
	began := time.Now()
	r, err := g.Judge(context.Background(), asked, callrules.Options{Clock: time.Now, Trace: c.Trace || c.Explain})
	if err != nil {
		return false, err
	}
	out := r.Outcome()
	took := time.Since(began)
	if mode := ask.Mode(c.AskMode); out.Effect == callrules.Ask && (mode == ask.TTY || mode == ask.Dashboard) {
		dir, err := mode.Dir("", getenv)
		if err != nil {
			return false, err
		}
		question := ask.Question{Call: asked, Reason: r.Reason(), Dir: dir, Safe: safe}
		approved, err := question.Person(context.Background())
		if err != nil {
			printErrors(std.err, err)
		}
		out.Effect = callrules.Deny
		if approved {
			out.Effect = callrules.Allow
		}
		out.Decision = out.Set.Word(out.Effect)
	}
	allowed := out.Effect.Rank() == 0
	if c.Explain {
		var text strings.Builder
		for _, line := range r.Explain(asked, &out) {
			text.WriteString(safe(line) + "\n")
		}
		return allowed, print(std.out, "%s", text.String())
	}
	if !c.Latency {
		took = 0
	}
	traced := r.Outcomes
	if !c.Trace {
		traced = nil
	}
	text, err := out.Line(traced, took)
	if err != nil {
		return false, err
	}
	return allowed, print(std.out, "%s", verdict.EscapeJSON(text))
}
