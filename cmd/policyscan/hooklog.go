package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/record"
	"github.com/policyscan/policyscan/internal/disk"
)

// quotesCall reports whether an outcome's texts may quote the call. Those of a bundle and of the guard name its files;
// those of call rules come from the rules, except for the command that a step names.
func quotesCall(o callrules.Outcome) bool { return o.Set.Dialect == "bundle" }

// withoutTexts returns outcomes whose traces do not quote the call.
func withoutTexts(outcomes []callrules.Outcome) []callrules.Outcome {
	outcomes = slices.Clone(outcomes)
	for i := range outcomes {
		o := &outcomes[i]
		if o.Trace == nil {
			continue
		}
		trace := &callrules.Trace{Steps: slices.Clone(o.Trace.Steps), Resolution: o.Trace.Resolution}
		for k := range trace.Steps {
			trace.Steps[k].Of = ""
		}
		if quotesCall(*o) {
			trace.Resolution = o.Decision
		}
		o.Trace = trace
	}
	return outcomes
}

// logTime is how long writing a decision may take. The hook must end within the limit of the agent's settings even if
// it has asked a person.
const logTime = 5 * time.Second

// maxLogged is how many violations of one call are written.
const maxLogged = 100

// logged is a decision, and how it came about, as far as that is known.
type logged struct {
	decision protocol.Decision
	of       *gate.Result // nil if the call could not be judged
	err      error        // why it could not
	approved *bool
}

// aboutCall is an error whose message may quote the call.
type aboutCall struct{ error }

func (e aboutCall) Unwrap() error { return e.error }

// answered writes a decision to the log, if there is one, and returns the answer. If it cannot be written, the call is
// denied.
func (c *agentHookCmd) answered(std streams, a *protocol.Agent, e *protocol.Event, l logged) []byte {
	if err := c.log(a, e, l); err != nil {
		complain(std.err, err)
		return a.Answer(e, protocol.Decision{Permission: protocol.Deny, Reason: "policyscan: " + err.Error()})
	}
	return a.Answer(e, l.decision)
}

// failed writes to the log that a call was denied because it could not be read, and returns why it was.
func (c *agentHookCmd) failed(a *protocol.Agent, err error) error {
	if lerr := c.log(a, nil, logged{decision: undecided(err), err: err}); lerr != nil {
		return fmt.Errorf("%w; %w", err, lerr)
	}
	return err
}

// log appends a decision to the log, if there is one. e is nil if the agent's call could not be read.
func (c *agentHookCmd) log(a *protocol.Agent, e *protocol.Event, l logged) error {
	if c.Log == "" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), logTime, fmt.Errorf("it took over %s", logTime))
	defer cancel()
	_, err := inTime(ctx, func() (struct{}, error) {
		name, err := c.logFile(a, e)
		if err != nil {
			return struct{}{}, err
		}
		line, err := c.entry(a, e, l).Line(c.LogInput)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, record.Append(name, line)
	})
	if err != nil {
		return fmt.Errorf("the decision cannot be written to the log %s, so the call is denied: %w",
			quoted(c.Log), disk.Cause(err))
	}
	return nil
}

// logFile returns the file of the log. Its name counts from the same root as those of --calls.
func (c *agentHookCmd) logFile(a *protocol.Agent, e *protocol.Event) (string, error) {
	if filepath.IsAbs(c.Log) {
		return c.Log, nil
	}
	if e == nil { // then from the environment or the current folder
		e = &protocol.Event{Call: &call.Call{}}
	}
	places, err := c.places(a, e)
	if err != nil {
		return "", err
	}
	return filepath.Abs(disk.Under(places[0].Root, c.Log))
}

// entry returns what the log says about a decision.
func (c *agentHookCmd) entry(a *protocol.Agent, e *protocol.Event, l logged) *record.Entry {
	entry := &record.Entry{
		Time: time.Now(), Version: version(), Agent: a.Name, AgentID: c.AgentId,
		Answer: a.Answered(e, l.decision.Permission).String(), Approved: l.approved,
	}
	if e != nil {
		entry.AgentID, entry.Session, entry.Event = cmp.Or(e.Call.Agent, c.AgentId), e.Session, e.Name
		entry.Tool, entry.Dir, entry.Input = e.Call.Tool, e.Call.Dir, e.Call.Input
	}
	if l.of == nil {
		reason := l.err.Error()
		if quotes := (aboutCall{}); errors.As(l.err, &quotes) && !c.LogInput {
			reason = "what the call would do cannot be determined; " +
				"the answer to the agent says why, and with --log-input so does the log"
		}
		entry.Outcome = callrules.Form{Decision: string(callrules.Deny), Reason: &reason}
		return entry
	}
	out, traced := l.of.Outcome(), l.of.Outcomes
	if !c.LogInput {
		out, traced = callrules.Strictest(traced), withoutTexts(traced) // the reason of the result names files, too
	}
	entry.Outcome = out.Form(traced)
	if out.Set == nil { // neither rules nor a bundle have an opinion on the call
		entry.Outcome.Decision = string(callrules.Allow)
	} else if quotesCall(out) && !c.LogInput {
		entry.Outcome.Reason = nil
	}
	for i := range l.of.New[:min(len(l.of.New), maxLogged)] {
		v := &l.of.New[i]
		of := record.Violation{
			Rule: v.RuleID, Pattern: v.Evidence.Pattern,
			Line: v.Evidence.Line, Column: v.Evidence.Column, Occurrences: v.Evidence.Occurrences,
		}
		if c.LogInput {
			of.File = &v.File
		}
		entry.Violations = append(entry.Violations, of)
	}
	return entry
}
