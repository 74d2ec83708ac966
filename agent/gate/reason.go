package gate

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// maxShown is how many violations a reason describes: an agent mends the first, and is told of the others
// when it tries again.
const maxShown = 10

// Reason says, to the agent and to the person beside it, why the call is denied or needs a person: one line
// for each thing that is wrong. "" if nothing is.
func (r *Result) Reason() string {
	var lines []string
	worst := r.Outcome().Effect.Rank()
	for _, o := range r.Outcomes {
		if o.Effect.Rank() == 0 || o.Effect.Rank() < worst {
			continue
		}
		lines = append(lines, explain(&o))
	}
	if old := r.before(); worst > 0 && old != "" {
		lines = append(lines, old)
	}
	return strings.Join(lines, "\n")
}

// explain says which rule decided what, and what it says.
func explain(o *call.Outcome) string {
	if o.Set.Dialect == "bundle" {
		return o.Reason
	}
	var b strings.Builder
	switch {
	case o.Rule != nil:
		fmt.Fprintf(&b, "rule %s (%s:%d)", verdict.Visible(o.Rule.ID), verdict.Visible(o.Rule.Origin.File), o.Rule.Origin.Line)
	case o.Code != "":
		fmt.Fprintf(&b, "%s: %s", verdict.Visible(o.Set.Name), o.Code)
	default:
		fmt.Fprintf(&b, "%s: no rule matches, and its default is %s", verdict.Visible(o.Set.Name), o.Decision)
		return b.String()
	}
	if o.Reason != "" {
		fmt.Fprintf(&b, ": %s", lines(o.Reason))
	}
	if o.Rule != nil && o.Rule.Prompt != "" {
		fmt.Fprintf(&b, " %s", lines(o.Rule.Prompt))
	}
	if o.Rule != nil && o.Rule.Instead != "" {
		fmt.Fprintf(&b, " Instead: %s", lines(o.Rule.Instead))
	}
	return b.String()
}

// violations describes what the call would bring, for who is to mend it.
func (r *Result) violations() string {
	byID := map[string]*rules.Rule{}
	for i := range r.bundle.Rules {
		byID[r.bundle.Rules[i].ID] = &r.bundle.Rules[i]
	}
	var b strings.Builder
	b.WriteString("the edit would break the policy:")
	for i := range r.New {
		if i == maxShown {
			fmt.Fprintf(&b, "\n- and %d more", len(r.New)-i)
			break
		}
		v := &r.New[i]
		fmt.Fprintf(&b, "\n- %s: %s:%d:%d must not contain \"%s\"", verdict.Visible(v.RuleID), verdict.Visible(v.File),
			v.Evidence.Line, v.Evidence.Column, verdict.Visible(v.Evidence.Pattern))
		if v.Evidence.Occurrences > 1 {
			fmt.Fprintf(&b, " (%d times after the edit)", v.Evidence.Occurrences)
		}
		rule := byID[v.RuleID]
		fmt.Fprintf(&b, ": %s.", strings.TrimRight(lines(v.Title), "."))
		if rule.Message != "" {
			fmt.Fprintf(&b, " %s", lines(rule.Message))
		}
		if rule.Remediation != "" {
			fmt.Fprintf(&b, " To mend it: %s", lines(rule.Remediation))
		}
		if rule.DocsURL != "" {
			fmt.Fprintf(&b, " See %s", verdict.Visible(rule.DocsURL))
		}
	}
	return b.String()
}

// Allowed says which rule allows the call, if one does.
func (r *Result) Allowed() string {
	if o := r.Outcome(); o.Explicit() {
		return explain(&o)
	}
	return ""
}

// Note says what a person should know of a call that goes on: the violations that were there before it and do not
// stand in its way, and what rules only record. "" if there is nothing.
func (r *Result) Note() string {
	var notes []string
	if old := r.before(); old != "" {
		notes = append(notes, old)
	}
	for i := range r.Outcomes {
		switch o := &r.Outcomes[i]; o.Effect {
		case call.Log:
			notes = append(notes, "recorded: "+explain(o))
		case call.Shadow:
			notes = append(notes, "not denied, for it is only tried out: "+explain(o))
		}
	}
	return strings.Join(notes, "\n")
}

// before names the violations that were there before the call. "" if there are none.
func (r *Result) before() string {
	if len(r.Old) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("there before this edit, and not its doing:")
	for i := range r.Old {
		if i == maxShown {
			fmt.Fprintf(&b, " and %d more", len(r.Old)-i)
			break
		}
		v := &r.Old[i]
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " %s in %s:%d (\"%s\")", verdict.Visible(v.RuleID), verdict.Visible(v.File), v.Evidence.Line, verdict.Visible(v.Evidence.Pattern))
	}
	return b.String()
}

// lines is a text of a rule, which may have several lines, as one.
func lines(s string) string {
	return verdict.Visible(strings.Join(strings.Fields(s), " "))
}
