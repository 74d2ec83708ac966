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
			w.trace.Resolution = resolution(s, &out)
		}
		out.Trace = w.trace
	}
	return out
}

func resolution(s *Set, out *Outcome) string {
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

// mostSpecific: in each domain that the call asks for something of, the first rule that matches; of
// several domains the strictest.
func (w *walk) mostSpecific() Outcome {
	ops := w.facts.operations()
	tool := w.facts.call.Tool
	if tool == notInMap {
		*ops = call.Operations{}
	}
	if file, _ := ops.Path.Scalar(); file != "" {
		if _, absolute := call.Resolve("", file); !absolute {
			ops.Path = nil // the working directory is not known, and rules are about absolute paths
		}
	}
	var out Outcome
	var said []string
	for _, d := range []struct {
		name  string
		asked bool
		about *call.Value
		what  string
		why   string
	}{
		{"exec", ops.Exec, ops.Runs.Name, "which program it runs", ""},
		{"fs", ops.Op != nil, ops.Path, "which file it is about", ops.UnsurePath},
		{"net", ops.Net, ops.Host, "which host it contacts", ops.UnsureHost},
		{"tool", !ops.Exec && ops.Op == nil && !ops.Net, call.Text(tool), "", ""},
	} {
		rules := ofDomain(w.set.Rules, d.name)
		if !d.asked {
			for _, r := range rules {
				w.skip(r, "the call has nothing to do with "+d.name)
			}
			continue
		}
		rules = append(rules, ofDomain(w.set.Builtin, d.name)...)
		if ops.UnsureURLPath != "" && d.name == "net" &&
			slices.ContainsFunc(rules, func(r *Rule) bool { return r.When.About(FromNetPath) }) {
			d.about, d.what, d.why = nil, "which path it fetches", ops.UnsureURLPath
		}
		var r *Rule
		effect, by := w.set.Default, "default"
		if d.about != nil {
			r = w.first(rules)
		} else {
			r = w.strictest(rules)
		}
		if r != nil {
			effect = r.Effect
		}
		if d.name == "exec" {
			if stricter := w.through(rules, effect); stricter != nil {
				r, effect = stricter, stricter.Effect
			}
		}
		if r == nil && d.about != nil {
			continue
		}
		if r != nil {
			by = r.ID
		}
		by = fmt.Sprintf("%s by %s", w.set.Word(effect), by)
		if d.about == nil {
			if d.why != "" {
				d.why = fmt.Sprintf(" (%s)", d.why)
			}
			by = fmt.Sprintf("%s cannot be determined%s, and the strictest possibility is %s", d.what, d.why, by)
		}
		said = append(said, by)
		if len(said) == 1 || effect.Rank() > out.Effect.Rank() {
			out = Outcome{Effect: effect, Rule: r, asksUser: slices.Contains(askingUser(), tool)}
		}
	}
	if len(said) == 0 {
		reason := fmt.Sprintf("no rule matches; default: %s", w.set.Word(w.set.Default))
		return Outcome{Effect: w.set.Default, Reason: reason}
	}
	if out.Reason = strings.Join(said, "; "); out.Rule != nil && out.Rule.Reason != "" {
		out.Reason = out.Rule.Reason
	}
	if w.trace != nil && len(said) > 1 {
		w.trace.Resolution = fmt.Sprintf("%s: of %s the strictest", w.set.Word(out.Effect), strings.Join(said, ", "))
	}
	return out
}

func ofDomain(all []Rule, domain string) []*Rule {
	var rules []*Rule
	for i := range all {
		if all[i].Domain == domain {
			rules = append(rules, &all[i])
		}
	}
	return rules
}

// askingUser are the tools whose use is a question to the user: to send an allow is to answer it.
func askingUser() []string { return []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"} }

// through returns a rule that is stricter than an effect and names a wrapper program, as env in "env git status", or
// nil. Of the rules that name such a program the most specific decides; an allowing one does not cover the wrapped
// command.
func (w *walk) through(rules []*Rule, effect Effect) (by *Rule) {
	ops := w.facts.operations()
	runs := ops.Runs
	defer func() { ops.Runs = runs }()
	for _, ops.Runs = range ops.Through {
		i := slices.IndexFunc(rules, func(r *Rule) bool {
			ok, _ := r.When.holds(w.facts)
			return ok && r.Through
		})
		if i < 0 || rules[i].Effect.Rank() <= effect.Rank() {
			continue
		}
		by, effect = rules[i], rules[i].Effect
		if w.trace != nil {
			why := fmt.Sprintf("%s is part of the command, and runs what follows it", ops.Runs.Name.Str())
			w.trace.Steps = slices.DeleteFunc(w.trace.Steps, func(s Step) bool { return s.Rule == by })
			w.trace.Steps = append(w.trace.Steps, Step{Rule: by, Matched: true, Why: why})
		}
	}
	return by
}

// strictest returns the strictest rule of a domain that might decide a call whose value is unknown, or nil for the
// default. Rules after one that matches any value do not count.
func (w *walk) strictest(rules []*Rule) *Rule {
	var best *Rule
	for i, r := range rules {
		w.facts.may = true
		might := w.matches(r)
		w.facts.may = false
		if !might {
			continue
		}
		if best == nil || r.Effect.Rank() > best.Effect.Rank() {
			best = r
		}
		if sure, _ := r.When.holds(w.facts); sure {
			w.rest(rules[i+1:], r.ID)
			return best
		}
	}
	if best != nil && best.Effect.Rank() <= w.set.Default.Rank() {
		return nil // it might as well be the default
	}
	return best
}

// unsure says, after a reason, why a rule was taken to match a call that names a file or a host which cannot be
// determined; "" if the rule matches for certain.
func (w *walk) unsure(r *Rule) string {
	why := cmp.Or(w.facts.ops.UnsurePath, w.facts.ops.UnsureHost) // made by now, if the rule asks for them
	if why == "" {
		return ""
	}
	if sure, _ := r.When.holds(w.facts); sure {
		return ""
	}
	return " (" + why + ")"
}

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
