// Package hook answers the calls of one coding agent: from the agent's payload on standard input to the answer on
// standard output.
//
// [Hook.Once] answers one call, [Hook.Serve] a call on each line. Package protocol reads the call, package gate
// checks it by the rules of the agent's project, and a [Hook] maps the result to the answer: it asks the user, keeps
// the state of sessions for sigmashake's loop guard, and logs each decision.
//
// # Failing closed
//
// Most agents make a call if their hook fails. So once a call is read, every failure is an answer that denies it:
// invalid rules, a check that takes longer than Timeout or panics, a log that cannot be written. For earlier
// failures, the caller writes [Denial].
//
// # Limits
//
// A check that takes too long is abandoned, not stopped: until it ends it still reads files. With Serve, rules that
// become invalid leave the old ones in force, except for the bundles of other repositories, which are read for each
// call.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/run"
)

// A Hook says how the calls of an agent are answered.
type Hook struct {
	Agent   *protocol.Agent
	AgentID string // of the agent, if its hook gives none; may be ""

	Calls  dialect.Files // call rules; their names count from the root
	Policy []string      // bundles, or only [NoPolicy]; their names count from the root. None: the bundle in the root
	Pins   run.Pins      // the pins of these bundles; bundles of other repositories are not pinned
	Root   string        // from which globs count; "": the root of the repository around the agent's project

	SendAllow      bool     // answer allow if a rule allows the call or the user approved it
	AllowRuleEdits bool     // guard nothing
	AskMode        ask.Mode // how the user is asked; "": by sigmashake's settings, or by the agent
	AskDir         string   // where questions for another terminal are; "": the default directory

	Timeout  time.Duration // to check a call, without the wait for the user
	State    string        // directory with the state of sessions; "": the default one
	Log      string        // file to which decisions are written; it counts from the root. "": none
	LogInput bool          // also write the texts of the calls

	Version string              // of the program
	Around  gate.Around         // the hook's environment
	Safe    func(string) string // makes a string safe to print within a line
	Warn    func(error)         // receives problems that do not prevent an answer

	settingsOf string // the agent in whose settings the hook is, and a space, if Agent is another that runs it; else ""
}

// Denial returns the answer that denies any call, because it could not be checked.
func Denial(a *protocol.Agent, err error) []byte { return a.Answer(nil, denialOf(err)) }

func denialOf(err error) protocol.Decision {
	reason := "policyscan could not check this call, so it is denied: " + err.Error()
	return protocol.Decision{Permission: protocol.Deny, Reason: reason}
}

// Once answers the call that is the whole input. A nil input is empty. ctx ends the check, and the wait for the user,
// which may take longer. After an error the call is denied, but the answer is not written, or only a part of it.
func (h *Hook) Once(ctx context.Context, in io.Reader, out io.Writer) error {
	e, err := h.once(ctx, in, out)
	if err != nil {
		return h.failed(e, err)
	}
	return nil
}

func (h *Hook) once(person context.Context, in io.Reader, out io.Writer) (*protocol.Event, error) {
	ctx, cancel := h.limited(person)
	defer cancel()
	text, err := allOf(ctx, in)
	if err != nil {
		return nil, err
	}
	e, answer, err := h.answer(ctx, person, text, h.gate)
	if err != nil {
		return nil, err
	}
	return e, h.write(out, answer)
}

// Unanswered writes to the log that the call that is the whole input is denied, because it cannot be answered, and
// returns why.
func (h *Hook) Unanswered(ctx context.Context, in io.Reader, why error) error {
	ctx, cancel := h.limited(ctx)
	defer cancel()
	e, _ := inTime(ctx, func() (*protocol.Event, error) { // nil, if it cannot be read
		text, err := allOf(ctx, in)
		if err != nil {
			return nil, err
		}
		return h.Agent.Read(text)
	})
	return h.failed(e, why)
}

func allOf(ctx context.Context, in io.Reader) ([]byte, error) {
	if in == nil {
		return nil, errors.New("there is no call on standard input; " +
			"this is for the agent to run, see policyscan hook install --help")
	}
	text, err := inTime(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(in, call.MaxLine+1)) })
	if err != nil {
		return nil, fmt.Errorf("the agent's call on standard input cannot be read: %w", disk.Cause(err))
	}
	if len(text) > call.MaxLine {
		return nil, fmt.Errorf("the agent's call on standard input has over %d bytes", call.MaxLine)
	}
	return text, nil
}

// write writes an answer. A reader that reads nothing is not waited for forever.
func (h *Hook) write(out io.Writer, answer []byte) error {
	ctx, cancel := within(writeTime)
	defer cancel()
	if _, err := inTime(ctx, func() (int, error) { return out.Write(answer) }); err != nil {
		return fmt.Errorf("the answer could not be written completely, so the call is denied: %w", disk.Cause(err))
	}
	return nil
}

func (h *Hook) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, h.Timeout, fmt.Errorf("it took over %s", h.Timeout))
}

// answer checks the call that the agent's hook received, and returns the answer. Once the call is read, a failure is
// an answer, too. ctx limits the check, person the wait for the user.
func (h *Hook) answer(
	ctx, person context.Context, text []byte, gateOf func(root string) (*gate.Gate, error),
) (*protocol.Event, []byte, error) {
	e, err := inTime(ctx, func() (*protocol.Event, error) { return h.Agent.Read(text) })
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, err
	case err != nil:
		return nil, nil, fmt.Errorf("the agent's call on standard input is not one that %s makes: %w%s",
			h.Agent.Name, err, h.Agent.OtherProgram(text))
	}
	if e.Agent != h.Agent {
		other := *h
		other.Agent, other.settingsOf = e.Agent, h.Agent.Name+" "
		h = &other
	}
	if h.AgentID != "" && e.Call.Agent == "" {
		e.Call.Agent = h.AgentID
		if e.Call.Request != nil {
			e.Call.Request = e.Call.Request.With(call.Member{Name: "agent_id", Value: call.Text(h.AgentID)})
		}
	}
	j, err := inTime(ctx, func() (judgement, error) { return h.judge(ctx, e, gateOf) })
	if err != nil {
		err = fmt.Errorf("%w%s", err, h.Agent.OtherProgram(text))
		h.Warn(err)
		return e, h.answered(e, ruling{decision: denialOf(err), err: err}), nil
	}
	j.result.Recorded = h.Log != ""
	return e, h.answered(e, h.ruling(person, e, j)), nil
}

// inTime runs work that may hang or panic.
func inTime[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		of  T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = aboutCall{fmt.Errorf("a bug in policyscan, please report it: %v\n%s", p, debug.Stack())}
			}
			done <- r
		}()
		r.of, r.err = work()
	}()
	select {
	case r := <-done:
		if ctx.Err() == nil {
			return r.of, r.err
		}
	case <-ctx.Done():
	}
	var none T
	return none, context.Cause(ctx)
}
