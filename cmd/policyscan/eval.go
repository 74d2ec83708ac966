package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/gate"
)

// evalCmd judges tool calls.
type evalCmd struct {
	callsFlag `embed:""`
	Policy    []string `placeholder:"DIR" sep:"none" help:"Also check what the calls would write, with the bundle in this folder, or builtin:infra. Repeatable."`
	Root      string   `placeholder:"DIR" help:"Folder from which the bundle's globs count. Default: for each call the root of the repository around its cwd."`
	Explain   bool     `help:"Print for a person how each decision came about."`
	Trace     bool     `help:"Add to each outcome how it came about."`
	Latency   bool     `help:"Add to each outcome how long it took, in milliseconds: latency_ms."`
	AskMode   string   `placeholder:"MODE" aliases:"ask_mode" help:"With tty: ask a person at the terminal about each call that needs one. Default: print that it does."`
}

// Help returns the text below the flags.
func (*evalCmd) Help() string {
	return `Reads one call on each line of standard input, as JSON:
  {"tool": "Bash", "input": {"command": "ls"}}

with agent_id and cwd if they are known; or what an agent gives its hooks; or a
request as the evaluator has it, with tool_name and any other members. Prints
one outcome for each, as JSON.
See docs/dialects.md.

Exit status: 0 every call is allowed; 1 one is not; 2 the rules or a call are not
valid, or there is no call.`
}

// Run judges the calls on standard input.
func (c *evalCmd) Run(std streams) error {
	ctx := context.Background()
	if err := checkAskMode(c.AskMode); err != nil {
		return err
	}
	g, err := c.gate()
	if err != nil {
		return err
	}
	if nothingOn(std.in) {
		return errors.New("there is no call on standard input; pipe them in, a line of JSON for each")
	}
	calls, stopped := 0, 0
	lines := newLines(std.in)
	for lines.next(ctx) {
		asked, err := call.Parse(lines.line, g.Judges()...)
		if err != nil {
			return fmt.Errorf("standard input:%d: %w", lines.number, err)
		}
		calls++
		allowed, err := c.judge(ctx, std, g, asked)
		if err != nil {
			return fmt.Errorf("standard input:%d: %w", lines.number, err)
		}
		if !allowed {
			stopped++
		}
	}
	switch {
	case lines.err != nil:
		return fmt.Errorf("standard input cannot be read: %w", lines.err)
	case calls == 0:
		return errors.New("there is no call on standard input; pipe them in, a line of JSON for each")
	case stopped > 0:
		return outcome{status: exitViolation}
	}
	return nil
}

// gate returns the gate that judges the calls.
func (c *evalCmd) gate() (*gate.Gate, error) {
	if len(c.Calls) == 0 && len(c.Policy) == 0 {
		return nil, errors.New("there is nothing to judge calls by; name call rules with --calls, or a bundle with --policy")
	}
	if c.Root != "" && len(c.Policy) == 0 {
		return nil, errors.New("--root is given without --policy, but call rules have no root; " +
			"name a bundle, or remove --root")
	}
	sets, err := c.load("")
	if err != nil {
		return nil, err
	}
	g := &gate.Gate{}
	if len(c.Policy) > 0 {
		at, err := rootAt(c.Root)
		if err != nil {
			return nil, err
		}
		if g, err = bundleGate((&policyFlag{c.Policy}).flags(), at); err != nil {
			return nil, err
		}
		g.ByFolder = c.Root == ""
	}
	g.Sets = sets
	return g, nil
}

// judge prints the outcome of a call, and reports whether it is allowed.
func (c *evalCmd) judge(ctx context.Context, std streams, g *gate.Gate, asked *call.Call) (bool, error) {
	began := time.Now()
	r, err := g.Judge(ctx, asked, call.Options{Clock: time.Now, Trace: c.Trace || c.Explain})
	if err != nil {
		return false, err
	}
	out := r.Outcome()
	took := time.Since(began)
	if out.Effect == call.Ask && c.AskMode == askTerminal {
		if approved, err := askPerson(ctx, asked, r.Reason()); err != nil {
			complain(std.err, err)
			out = settled(out, call.Deny)
		} else if approved {
			out = settled(out, call.Allow)
		} else {
			out = settled(out, call.Deny)
		}
	}
	if c.Explain {
		return out.Effect.Rank() == 0, explain(std.out, asked, r, &out)
	}
	if !c.Latency {
		took = 0
	}
	traced := r.Outcomes
	if !c.Trace {
		traced = nil
	}
	line, err := out.Line(traced, took)
	if err == nil {
		_, err = std.out.Write(line)
	}
	return out.Effect.Rank() == 0, err
}

// settled returns an outcome that asked a person, with the person's answer.
func settled(o call.Outcome, e call.Effect) call.Outcome {
	o.Effect, o.Decision = e, o.Set.Word(e)
	return o
}

// explain prints how a decision came about, for a person to read.
func explain(w io.Writer, asked *call.Call, r *gate.Result, out *call.Outcome) error {
	b := bufio.NewWriter(w)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(b, format, args...) } // Flush has the error
	p("%s %s\n", safe(asked.Tool), safe(asked.Input.JSON()))
	reason := cmp.Or(r.Reason(), strings.TrimPrefix(r.Allowed()+"\n"+r.Note(), "\n"))
	p("  %s\n", safe(out.Decision))
	for line := range strings.SplitSeq(reason, "\n") {
		if line != "" {
			p("  %s\n", safe(line))
		}
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		p("  %s (%s, %s): %s\n", safe(o.Set.Name), o.Set.Dialect, o.Set.Strategy, safe(o.Decision))
		if o.Trace == nil {
			continue
		}
		for _, s := range o.Trace.Steps {
			mark, why := "-", s.Reason()
			if s.Matched {
				mark = "+"
			}
			if why != "" {
				why = "  " + why
			}
			p("    %s %s %s%s\n", mark, safe(o.Set.Word(s.Rule.Effect)), safe(s.Rule.ID), safe(why))
		}
		p("    = %s\n", safe(o.Trace.Resolution))
	}
	return b.Flush()
}
