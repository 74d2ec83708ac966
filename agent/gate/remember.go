package gate

import (
	"slices"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect/sigmashake"
	"github.com/policyscan/policyscan/agent/session"
)

// The ids of sigmashake's safety features, which are not rules of a file.
const (
	LoopGuard      = "sigmashake:loop-guard"
	CircuitBreaker = "sigmashake:circuit-breaker"
)

// Remembers reports whether the result depends on earlier calls: rules of sigmashake took part.
func (r *Result) Remembers() bool {
	return slices.ContainsFunc(r.Outcomes,
		func(o callrules.Outcome) bool { return o.Set.Dialect == sigmashake.Dialect })
}

// Remember adds a call to its session and applies sigmashake's loop guard and, if breaker is set, its circuit breaker
// to the result. The breaker opens sigmashake's rules only: other rules and the bundle still count.
func (r *Result) Remember(f *session.Dir, id string, c *call.Call, breaker bool, now time.Time) error {
	return f.Change(id, now, func(s *session.State) {
		loops := s.Repeats(c)
		var set *callrules.Set
		denied := loops
		for _, o := range r.Outcomes {
			if o.Set.Dialect == sigmashake.Dialect {
				set = o.Set
				denied = denied || o.Effect.Rank() == 2
			}
		}
		switch through := s.Judged(denied, breaker); {
		case through:
			reason := "five calls in a row were denied, so the circuit breaker lets this one through"
			if loops {
				reason += "; the loop guard would have blocked it, the same command for the third time in a row"
			}
			ruled := false
			for i := range r.Outcomes {
				if o := &r.Outcomes[i]; o.Set.Dialect == sigmashake.Dialect && o.Effect.Rank() == 2 {
					*o, ruled = safety(o.Set, callrules.Log, CircuitBreaker, reason), true
				}
			}
			if !ruled { // the loop guard alone
				r.Outcomes = append(r.Outcomes, safety(set, callrules.Log, CircuitBreaker, reason))
			}
		case loops:
			r.Outcomes = append(r.Outcomes,
				safety(set, callrules.Deny, LoopGuard,
					"the same command for the third time in a row; do something else, or change it"))
		}
	})
}

func safety(s *callrules.Set, e callrules.Effect, id, reason string) callrules.Outcome {
	return callrules.Outcome{
		Effect: e, Decision: s.Word(e), Reason: reason, Set: s,
		Rule: &callrules.Rule{ID: id, Effect: e, Origin: callrules.Origin{File: s.Name, Line: 1}},
	}
}
