package callrules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/agent/call"
)

// Options are how a decision is made.
type Options struct {
	// Clock tells the time, for the budget of a set. With nil there is no budget.
	Clock func() time.Time
	Trace bool
}

// Decide returns the set's outcome for a call.
func (s *Set) Decide(c *call.Call, o Options) Outcome {
	w := &walk{set: s, facts: &facts{call: c, dir: s.dir, others: s.others}, options: o}
	if o.Trace {
		w.trace = &Trace{}
	}
	var out Outcome
	switch s.Strategy {
	case DenyOverrides:
		out = w.denyOverrides()
	case PriorityFirst, CategoryFirst:
		out = w.firstMatch()
	case MostSpecific:
		out = w.mostSpecific()
	case AllViolations:
		out = w.allViolations()
	default:
		out = Outcome{Effect: Deny, Reason: fmt.Sprintf("the set %s has no strategy", s.Name)}
	}
	out.Set, out.Decision = s, s.Word(out.Effect)
	if w.trace != nil {
		if w.trace.Resolution == "" {
			w.trace.Resolution = resolution(&out)
		}
		out.Trace = w.trace
	}
	return out
}

func resolution(out *Outcome) string {
	switch {
	case out.Code != "":
		return fmt.Sprintf("%s: %s", out.Decision, out.Code)
	case out.Rule != nil:
		return fmt.Sprintf("%s: the rule %s", out.Decision, out.Rule.ID)
	}
	return fmt.Sprintf("%s: no rule decides, so the default", out.Decision)
}

type walk struct {
	set     *Set
	facts   *facts
	options Options
	trace   *Trace
}

// matches evaluates a rule and traces the result.
func (w *walk) matches(r *Rule) bool {
	if r.Disabled {
		w.skip(r, "it is not enabled")
		return false
	}
	if r.EachCommand {
		if all := w.facts.each(); len(all) > 0 {
			return w.matchesEach(r, all)
		}
	}
	ok, why := r.When.holds(w.facts)
	w.asked(r, ok, func() string { return why.failed() })
	return ok
}

// asked traces a rule; why returns the failed test.
func (w *walk) asked(r *Rule, ok bool, why func() string) {
	switch {
	case w.trace == nil:
	case ok:
		w.trace.Steps = append(w.trace.Steps, Step{Rule: r, Matched: true})
	default:
		w.skip(r, why())
	}
}

func (t *Test) failed() string {
	switch {
	case t == nil:
		return "it asks for nothing that exists"
	case t.Broken != "":
		return fmt.Sprintf("%s cannot be asked: %s", t.Shown, t.Broken)
	}
	return fmt.Sprintf("%s does not hold", t.Shown)
}

func (w *walk) skip(r *Rule, why string) {
	if w.trace != nil {
		w.trace.Steps = append(w.trace.Steps, Step{Rule: r, Why: why})
	}
}

// rest traces rules that were not reached, with the id of the rule, or the code, that decided before.
func (w *walk) rest(rules []*Rule, decided string) {
	if w.trace == nil {
		return
	}
	for _, r := range rules {
		w.skip(r, fmt.Sprintf("it is not reached: %s decides first", decided))
	}
}

// inOrder returns the rules in the order of the strategy: priority-first by falling priority, category-first deny,
// allow, ask; otherwise in the order of the files.
func (s *Set) inOrder() []*Rule {
	all := make([]*Rule, len(s.Rules))
	for i := range s.Rules {
		all[i] = &s.Rules[i]
	}
	if s.Strategy == CategoryFirst {
		all = all[:0]
		for _, e := range []Effect{Deny, Allow, Ask} {
			for i := range s.Rules {
				if s.Rules[i].Effect == e {
					all = append(all, &s.Rules[i])
				}
			}
		}
	}
	if s.Strategy == PriorityFirst {
		slices.SortStableFunc(all, func(a, b *Rule) int { return cmp.Compare(b.Priority, a.Priority) })
	}
	return all
}

func (w *walk) first(rules []*Rule) *Rule {
	for i, r := range rules {
		if w.matches(r) {
			w.rest(rules[i+1:], r.ID)
			return r
		}
	}
	return nil
}

// firstMatch: the first of the rules in order that matches decides.
func (w *walk) firstMatch() Outcome {
	r := w.first(w.set.inOrder())
	switch categories := w.set.Strategy == CategoryFirst; {
	case r != nil && !categories:
		return Outcome{Effect: r.Effect, Rule: r, Reason: r.Reason}
	case r == nil && categories:
		return Outcome{Effect: w.set.Default, Reason: "No matching rule; default action: " + w.set.Word(w.set.Default)}
	case r == nil:
		return Outcome{Effect: w.set.Default}
	}
	said := map[Effect]string{Deny: "Denied by rule: ", Allow: "Allowed by rule: ", Ask: "Escalated by rule: "}
	return Outcome{Effect: r.Effect, Rule: r, Reason: cmp.Or(r.Reason, said[r.Effect]+r.ID)}
}

// denyOverrides: policies and rules in order; a deny decides at once. Else the last that asked decides, else the last
// that allowed.
func (w *walk) denyOverrides() Outcome {
	s := w.set
	var began time.Time
	timed := w.options.Clock != nil && s.Budget > 0
	if timed {
		began = w.options.Clock()
	}
	next := 0
	failed := func(code, reason string, policy *Policy) Outcome {
		w.restOf(next, code)
		return Outcome{Effect: Deny, Code: code, Reason: reason, Policy: policy}
	}
	sent, _ := w.facts.request().Member("agent_id").Scalar() // which need not be a text
	for _, agent := range []string{w.facts.call.Agent, sent} {
		if agent != "" && slices.ContainsFunc(s.Frozen, func(id string) bool { return strings.EqualFold(id, agent) }) {
			return failed(codeFrozen, "agent frozen by operator", nil)
		}
	}
	if reason := s.refuses(w.facts); reason != "" {
		return failed(codeServer, reason, nil)
	}
	if len(s.Policies) == 0 {
		return failed(CodeNoPolicies, "no bundle loaded — failing closed", nil)
	}
	var allowed, asked *Rule
	certain := false // of one that asked
	for p := range s.Policies {
		policy := &s.Policies[p]
		if policy.Broken != "" {
			return failed(CodeCompile, fmt.Sprintf(
				"policy contains a regex pattern that failed to compile — failing closed: policy %s, %s",
				policy.ID, policy.Broken), policy)
		}
		for ; next < len(s.Rules) && s.Rules[next].Policy == p; next++ {
			if timed && w.options.Clock().Sub(began) > s.Budget {
				return failed(codeTimeout, "evaluation exceeded wall-clock budget — failing closed", nil)
			}
			r := &s.Rules[next]
			if !w.matches(r) {
				continue
			}
			switch r.Effect {
			case Deny:
				w.restOf(next+1, r.ID)
				return Outcome{Effect: Deny, Rule: r, Policy: policy, Reason: cmp.Or(r.Reason, "denied by rule "+r.ID)}
			case Ask:
				asked = r
				if !certain {
					certain, _ = r.Certain.holds(w.facts)
				}
			default:
				allowed = r
			}
		}
	}
	switch {
	case asked != nil && (certain || allowed != nil || s.Default.Rank() < 2):
		return Outcome{Effect: Ask, Rule: asked, Policy: &s.Policies[asked.Policy],
			Reason: cmp.Or(asked.Reason, "asked by rule "+asked.ID)}
	case allowed != nil:
		policy := &s.Policies[allowed.Policy]
		return Outcome{Effect: allowed.Effect, Rule: allowed, Policy: policy, Reason: allowed.Reason}
	}
	out := Outcome{Effect: s.Default}
	if out.Effect.Rank() > 0 {
		of := "default of the first policy"
		if out.Effect != s.Policies[0].Default {
			of = "the strictest default"
		}
		out.Reason = fmt.Sprintf("no rule matches; %s: %s", of, w.set.Word(out.Effect))
	}
	return out
}

// refuses says why the gate of MCP servers denies a call; "" if it does not.
func (s *Set) refuses(f *facts) string {
	if !s.GatesServers {
		return ""
	}
	servers, unknown := f.call.Servers()
	if unknown {
		return "the call does not tell which MCP server's tool it is, so the server is not approved"
	}
	for _, name := range servers {
		if !slices.Contains(s.Servers, name) {
			return fmt.Sprintf("the MCP server %q is not approved for this agent", name)
		}
	}
	return ""
}

func (w *walk) restOf(from int, decided string) {
	if w.trace != nil {
		w.rest(w.set.inOrder()[from:], decided)
	}
}

// notInMap is a tool that clash's document does not have in its map, though other dialects know it as a search.
const notInMap = "LS"

// allViolations evaluates every rule; the strictest effect wins, and of equal ones the first. The reason joins the
// reasons of every rule that denies or asks, else it is the reason of the rule that lets the call go on.
func (w *walk) allViolations() Outcome {
	out := Outcome{Effect: w.set.Default}
	var said []string
	for i := range w.set.Rules {
		r := &w.set.Rules[i]
		w.facts.strict = r.Effect.Rank() > 0
		matched := w.matches(r)
		w.facts.strict = false
		if !matched {
			continue
		}
		if out.Rule == nil || r.Effect.Rank() > out.Effect.Rank() {
			out.Effect, out.Rule = r.Effect, r
		}
		if r.Effect.Rank() > 0 {
			said = append(said, cmp.Or(r.Reason, r.ID)+w.unsure(r))
		}
	}
	if out.Rule != nil && out.Effect.Rank() == 0 {
		said = append(said, cmp.Or(out.Rule.Reason, out.Rule.ID))
	}
	if out.Rule == nil && out.Effect.Rank() > 0 {
		said = append(said, "no rule matches; default: "+w.set.Word(out.Effect))
	}
	out.Reason = strings.Join(said, "; ")
	return out
}
