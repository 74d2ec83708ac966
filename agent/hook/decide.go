package hook

import (
	"context"
	"fmt"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/protocol"
)

// A ruling is the answer to a call, and how it came about if known.
type ruling struct {
	decision protocol.Decision
	of       *gate.Result // nil if the call could not be checked
	err      error        // why it could not
	approved *bool        // the user's answer at the terminal; nil without one
}

func (h *Hook) ruling(person context.Context, e *protocol.Event, j judgement) ruling {
	r := ruling{of: j.result}
	out, reason := j.result.Outcome(), "policyscan: "+j.result.Reason()
	switch {
	case out.Effect.Rank() == 2:
		r.decision = protocol.Decision{Permission: protocol.Deny, Reason: reason}
	case out.Effect == callrules.Ask && j.askMode == ask.Agent:
		r.decision = protocol.Decision{Permission: protocol.Ask, Reason: reason}
	case out.Effect == callrules.Ask:
		r.decision, r.approved = h.askedAtTerminal(person, e, j)
	case h.SendAllow && out.Explicit():
		r.decision = protocol.Decision{Permission: protocol.Allow, Reason: j.result.Allowed(), Note: j.result.Note()}
	default:
		r.decision = protocol.Decision{Note: j.result.Note()}
	}
	return r
}

// askedAtTerminal asks the user at the terminal about a call. A yes is passed on with SendAllow; without it the agent
// decides about the call.
func (h *Hook) askedAtTerminal(
	ctx context.Context, e *protocol.Event, j judgement,
) (d protocol.Decision, approved *bool) {
	reason := j.result.Reason()
	question := ask.Question{Call: e.Call, Reason: reason, Safe: h.Safe}
	yes, err := question.Person(ctx)
	if err != nil {
		h.Warn(err)
		reason = fmt.Sprintf("policyscan: %s\n%v", reason, err)
		return protocol.Decision{Permission: protocol.Deny, Reason: reason}, nil
	}
	if !yes {
		reason = "policyscan: the person at the terminal did not approve: " + reason
		return protocol.Decision{Permission: protocol.Deny, Reason: reason}, &yes
	}
	d.Note = j.result.Note()
	if h.SendAllow {
		d.Permission, d.Reason = protocol.Allow, "policyscan: a person at the terminal approved it: "+reason
	}
	return d, &yes
}
