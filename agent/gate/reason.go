package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// maxShown is how many violations a reason describes: an agent fixes the first, and learns of the others
// when it tries again.
const maxShown = 10

// Reason tells the agent and its user why the call is denied or needs a confirmation: one line for each problem, ""
// for none.
func (r *Result) Reason() string {
	var lines []string
	worst := r.Outcome().Effect.Rank()
	for _, o := range r.Outcomes {
		if o.Effect.Rank() == 0 || o.Effect.Rank() < worst {
			continue
		}
		if line := explain(&o); !slices.Contains(lines, line) { // two gates can say the same
			lines = append(lines, line)
		}
	}
	if worst > 0 {
		lines = append(lines, r.besides()...)
	}
	return strings.Join(lines, "\n")
}

// besides are the notes on every call: existing violations, permitted ones with the owners of their allowances, and
// files that no bundle covers.
func (r *Result) besides() []string {
	old := listing("already there before this edit:", "", r.Old, func(v *verdict.Violation) string {
		return fmt.Sprintf("%s in %s", verdict.Visible(v.RuleID), there(v))
	})
	signed := listing("allowed by allowances.yml:", "", r.Signed, func(v *verdict.AllowedViolation) string {
		return fmt.Sprintf("%s in %s, at most %d, owner %s", verdict.Visible(v.RuleID), there(&v.Violation),
			v.Allowance.AtMost, verdict.Visible(v.Allowance.Owner))
	})
	all := append([]string{old, signed, r.Outside()}, r.notes...)
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// explain names the deciding rule, with its message.
func explain(o *callrules.Outcome) string {
	if o.Set.Dialect == "bundle" {
		return o.Reason
	}
	var b strings.Builder
	switch {
	case o.Rule != nil:
		fmt.Fprintf(&b, "rule %s (%s:%d)", verdict.Visible(o.Rule.ID),
			verdict.Visible(o.Rule.Origin.File), o.Rule.Origin.Line)
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

// violations describes the new violations for the agent, which has to fix them.
func (r *Result) violations(elsewhere bool) string {
	byID := map[string]*rules.Rule{}
	for i := range r.bundle.Rules {
		byID[r.bundle.Rules[i].ID] = &r.bundle.Rules[i]
	}
	head := "the edit would break the policy"
	if elsewhere {
		head += " of the repository " + verdict.Visible(r.root)
	}
	return listing(head+":", "\n-", r.New, func(v *verdict.Violation) string {
		of, more := byID[v.RuleID], ""
		if v.Evidence.Occurrences > 1 {
			more = fmt.Sprintf(" (%d times after the edit)", v.Evidence.Occurrences)
		}
		return Broken(v) + more + Fix(v, of.Message, of.Remediation, of.DocsURL)
	})
}

// Fix returns the title of a violation, and how to fix it: the message, the remediation and the docs of its rule.
func Fix(v *verdict.Violation, message, remediation, docs string) string {
	text := ": " + strings.TrimRight(lines(v.Title), ".") + "."
	for _, more := range [][2]string{
		{" ", lines(message)}, {" To fix it: ", lines(remediation)}, {" See ", verdict.Visible(docs)},
	} {
		if more[1] != "" {
			text += more[0] + more[1]
		}
	}
	if v.Note != "" {
		text += " Not allowed: " + lines(v.Note) + "."
	}
	return text
}

// listing is a head, the first items, and the number of further ones; "" without items. Each begins with a mark, or
// without a mark a semicolon separates them.
func listing[T any](head, mark string, all []T, show func(*T) string) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(head)
	for i := range all {
		if i == maxShown {
			fmt.Fprintf(&b, "%s and %d more", mark, len(all)-i)
			break
		}
		if i > 0 && mark == "" {
			b.WriteByte(';')
		}
		b.WriteString(mark + " " + show(&all[i]))
	}
	return b.String()
}

// Broken names the rule and the place of a violation.
func Broken(v *verdict.Violation) string { return verdict.Visible(v.RuleID) + ": " + broken(v) }

func broken(v *verdict.Violation) string {
	file, pattern := verdict.Visible(v.File), v.Evidence.PatternWords()
	place := fmt.Sprintf("%s:%d:%d", file, v.Evidence.Line, v.Evidence.Column)
	switch v.Evidence.Kind {
	case verdict.KindFile:
		return file + " is forbidden: its path matches " + pattern
	case verdict.KindMissing:
		if v.Evidence.Excerpt != "" { // a key, which has a place
			if len(v.Evidence.Places) > 0 {
				pattern += " (" + v.Evidence.Places[0].WhyWords() + ")"
			}
			return place + " must have this: " + pattern
		}
		return file + " must contain " + pattern
	case verdict.KindKey:
		return place + " must not have this: " + pattern
	}
	return place + " must not contain " + pattern
}

func there(v *verdict.Violation) string {
	file, pattern := verdict.Visible(v.File), v.Evidence.PatternWords()
	switch v.Evidence.Kind {
	case verdict.KindFile:
		return fmt.Sprintf("%s (its path matches %s)", file, pattern)
	case verdict.KindMissing:
		return fmt.Sprintf("%s (missing: %s)", file, pattern)
	}
	return fmt.Sprintf("%s:%d (%s)", file, v.Evidence.Line, pattern)
}

// Allowed names the rule that allows the call, if any.
func (r *Result) Allowed() string {
	if o := callrules.Strictest(r.Outcomes); o.Explicit() {
		return explain(&o)
	}
	return ""
}

// Note describes a call that goes on: its existing violations, the files that no bundle checked, and the notes of
// rules. It is "" without any of these.
func (r *Result) Note() string {
	noted := "only noted: "
	if r.Recorded {
		noted = "recorded: "
	}
	notes := r.besides()
	for i := range r.Outcomes {
		switch o := &r.Outcomes[i]; o.Effect {
		case callrules.Log:
			notes = append(notes, noted+explain(o))
		case callrules.Shadow:
			notes = append(notes, "not denied, because the rule is only tried out:  "+explain(o))
		}
	}
	return strings.Join(notes, "\n")
}

// lines joins the lines of a rule's message.
func lines(s string) string {
	return verdict.Visible(strings.Join(strings.Fields(s), " "))
}

// Explain returns, for display, how the decision on a call came about, in unescaped lines. out is the outcome, which
// the user may have changed.
func (r *Result) Explain(c *call.Call, out *callrules.Outcome) []string {
	all := []string{c.Tool + " " + c.Input.JSON(), "  " + out.Decision}
	for line := range strings.SplitSeq(cmp.Or(r.Reason(), r.Allowed()+"\n"+r.Note()), "\n") {
		if line != "" {
			all = append(all, "  "+line)
		}
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		all = append(all, fmt.Sprintf("  %s (%s, %s): %s", o.Set.Name, o.Set.Dialect, o.Set.Strategy, o.Decision))
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
			all = append(all, fmt.Sprintf("    %s %s %s%s", mark, o.Set.Word(s.Rule.Effect), s.Rule.ID, why))
		}
		all = append(all, "    = "+o.Trace.Resolution)
	}
	return all
}
