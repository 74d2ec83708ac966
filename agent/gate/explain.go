package gate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

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
