package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/record"
	"github.com/policyscan/policyscan/agent/settings"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
)

// quotesCall reports whether an outcome's message may quote the call. The bundle and the guard name its files; call
// rules have their own messages, except for the command in a step.
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

// writeTime is how long a line of the log, or an answer, may take to write.
const writeTime = 5 * time.Second

func within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("it took over %s", limit))
}

// MaxTimeout is the longest Timeout of a hook that an agent runs: the hook must end within the limit of the agent's
// settings even if it has asked a person and written to the log.
const MaxTimeout = settings.Limit - ask.Patience - writeTime

// maxLogged is how many violations of one call are written.
const maxLogged = 100

// aboutCall is an error whose message may quote the call.
type aboutCall struct{ error }

func (e aboutCall) Unwrap() error { return e.error }

// answered logs a decision, if there is a log, and returns the answer. If it cannot be logged, the call is denied.
func (h *Hook) answered(e *protocol.Event, r ruling) []byte {
	if err := h.log(e, r); err != nil {
		h.Warn(err)
		return h.Agent.Answer(e, protocol.Decision{Permission: protocol.Deny, Reason: "policyscan: " + err.Error()})
	}
	return h.Agent.Answer(e, r.decision)
}

// failed writes to the log that a call was denied because it could not be read or answered, and returns why it was. e
// is nil if the call could not be read.
func (h *Hook) failed(e *protocol.Event, err error) error {
	if lerr := h.log(e, ruling{decision: denialOf(err), err: err}); lerr != nil {
		return fmt.Errorf("%w; %w", err, lerr)
	}
	return err
}

// log appends a decision to the log, if there is one. e is nil if the agent's call could not be read.
func (h *Hook) log(e *protocol.Event, r ruling) error {
	if h.Log == "" {
		return nil
	}
	ctx, cancel := within(writeTime)
	defer cancel()
	_, err := inTime(ctx, func() (struct{}, error) {
		name, err := h.logFile(e)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, record.Append(name, h.entry(e, r).Line(h.LogInput))
	})
	if err != nil {
		return fmt.Errorf("the decision cannot be written to the log %s, so the call is denied: %w",
			h.quoted(h.Log), disk.Cause(err))
	}
	return nil
}

// logFile returns the file of the log. Its name counts from the same root as those of the call rules.
func (h *Hook) logFile(e *protocol.Event) (string, error) {
	if filepath.IsAbs(h.Log) {
		return h.Log, nil
	}
	if e == nil { // then from the environment or the current directory
		e = &protocol.Event{Call: &call.Call{}}
	}
	roots, err := h.roots(e)
	if err != nil {
		return "", err
	}
	return filepath.Abs(disk.Under(roots[0], h.Log))
}

func (h *Hook) entry(e *protocol.Event, r ruling) *record.Entry {
	entry := &record.Entry{
		Time: time.Now(), Version: h.Version, Agent: h.Agent.Name, AgentID: &h.AgentID,
		Answer: h.Agent.Answered(e, r.decision.Permission).String(), Approved: r.approved,
	}
	if e != nil {
		id := cmp.Or(e.Call.Agent, h.AgentID)
		entry.AgentID, entry.Session, entry.Event = &id, &e.Session, &e.Name
		entry.Tool, entry.Dir, entry.Input = &e.Call.Tool, &e.Call.Dir, e.Call.Input
	}
	if r.of == nil {
		reason := r.err.Error()
		if quotes := (aboutCall{}); errors.As(r.err, &quotes) && !h.LogInput {
			reason = "what the call would do cannot be determined; " +
				"the answer to the agent says why, and with --log-input so does the log"
		}
		entry.Form = callrules.Form{Decision: string(callrules.Deny), Reason: &reason}
		return entry
	}
	out, traced := r.of.Outcome(), r.of.Outcomes
	if !h.LogInput {
		out, traced = callrules.Strictest(traced), withoutTexts(traced) // the reason of the result names files, too
	}
	entry.Form = out.Form(traced)
	if out.Set == nil { // neither rules nor a bundle have an opinion on the call
		entry.Form.Decision = string(callrules.Allow)
	} else if quotesCall(out) && !h.LogInput {
		entry.Form.Reason = nil
	}
	for i := range r.of.New[:min(len(r.of.New), maxLogged)] {
		entry.Violations = append(entry.Violations, h.violation(&r.of.New[i]))
	}
	for i := range r.of.Signed[:min(len(r.of.Signed), maxLogged)] {
		v := &r.of.Signed[i]
		entry.Allowed = append(entry.Allowed, record.Allowed{
			Violation: h.violation(&v.Violation), AtMost: v.Allowance.AtMost, Owner: v.Allowance.Owner,
		})
	}
	return entry
}

func (h *Hook) violation(v *verdict.Violation) record.Violation {
	of := record.Violation{
		Rule: v.RuleID, Kind: v.Evidence.Kind, Pattern: v.Evidence.Pattern,
		Line: v.Evidence.Line, Column: v.Evidence.Column, Occurrences: v.Evidence.Occurrences,
	}
	if h.LogInput {
		of.File = &v.File
	}
	return of
}
