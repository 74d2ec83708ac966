package hook

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/session"
	"github.com/policyscan/policyscan/agent/turn"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/run"
)

// The times of a turn: the check reads the work tree, where that of a call reads a file.
const (
	turnTime  = 60 * time.Second
	checkTime = 50 * time.Second // then what was found counts
)

// Turn answers the event that is the whole input: when a session begins it remembers the violations that are there,
// and before a turn ends it sends the agent back for new ones. No failure keeps a turn from ending. untold is a note
// for the user that the agent's protocol has no place for.
func (h *Hook) Turn(ctx context.Context, in io.Reader, out io.Writer) (untold string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, turnTime, fmt.Errorf("it took over %s", turnTime))
	defer cancel()
	a, err := inTime(ctx, func() (turnAnswer, error) {
		text, err := allOf(ctx, in)
		if err != nil {
			return turnAnswer{}, err
		}
		return h.turn(ctx, text)
	})
	if err != nil {
		a.note = "policyscan could not check what this session changed: " + err.Error()
	}
	document, shown := h.Agent.AnswerTurn(a.reason, a.note)
	if !shown {
		untold = a.note
	}
	return untold, h.write(out, document)
}

type turnAnswer struct{ reason, note string }

func (h *Hook) turn(ctx context.Context, text []byte) (a turnAnswer, err error) {
	e, err := h.Agent.ReadTurn(text)
	if err != nil {
		return a, fmt.Errorf("what is on standard input is not what %s gives its hooks: %w%s",
			h.Agent.Name, err, h.Agent.OtherProgram(text))
	}
	if e.Ended || slices.Contains(h.Policy, NoPolicy) {
		return a, nil
	}
	roots, err := h.roots(&protocol.Event{Call: &call.Call{Dir: e.Dir}, Roots: e.Roots})
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, checkTime, fmt.Errorf("it took over %s", checkTime))
	defer cancel()
	r := turn.Check(ctx, roots, func(root string) run.Options {
		return run.Options{
			Version: h.Version, Policies: h.policies(root), Pins: h.Pins,
			Getenv: func(string) string { return "" }, // HEAD is no base of CI
		}
	})
	var nth int
	var back, say bool
	err = h.turns(e, func(t *session.Turns, isNew bool) {
		switch {
		case !e.Begins:
			r.Since(t.Started)
			nth, back = t.SendBack(e.Agent, r.Keys())
			say = t.SayUndecided(r.Undecided())
		case isNew: // a session that goes on, or is summarized, began earlier
			t.Start(r.Counts())
		}
	})
	if e.Begins {
		return a, err
	}
	var notes []string
	if err != nil { // then the agent is sent back once, if its payload tells
		nth, back, say = 1, !e.Continued, !e.Continued
		notes = append(notes, "policyscan cannot tell what this session began with: "+err.Error())
	}
	switch found := len(r.Keys()) > 0; {
	case found && back:
		a.reason = r.Reason(nth, session.MaxSame)
	case found:
		notes = append(notes, r.Left())
	}
	if say && len(r.Undecided()) > 0 {
		notes = append(notes, r.NotDecided())
	}
	a.note = strings.Join(notes, "\n")
	return a, nil
}

// turns changes what is known of a session's turns.
func (h *Hook) turns(e *protocol.TurnEvent, change func(t *session.Turns, isNew bool)) error {
	dir, err := h.stateDir()
	if err != nil {
		return err
	}
	sessions, err := session.Open(dir)
	if err != nil {
		return err
	}
	defer sessions.Close() // each change is written
	id := e.Session
	if id != "" {
		id = h.Agent.Name + " " + id
	}
	return sessions.ChangeTurns(id, time.Now(), change)
}

// policies are the names of the bundles, as the scanner knows them.
func (h *Hook) policies(root string) []string {
	names := []string{""}
	if len(h.Policy) > 0 {
		names = slices.Clone(h.Policy)
	}
	for i, name := range names {
		if name != "" && !run.IsBuiltin(name) {
			names[i] = disk.Under(root, name)
		}
	}
	return names
}
