package baseline

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
)

// counts are how often each rule is broken in a file.
type counts struct {
	absent     allowance.Reason // why the whole file has none
	unreadable bool             // its content cannot be read
	selected   []int            // the rules that check its content
	undecided  []int            // the selected rules whose keys could not be checked: the file cannot be parsed
	textOnly   bool             // it cannot be parsed, and a rule with keys checks its text
	forbidden  []rules.GlobOf
	byRule     map[int]ruleCount // nil if none is broken
	findings   []check.Finding   // not in the cache
}

type ruleCount struct {
	places int64
	same   int64 // matches at the places of others
	text   int64 // occurrences of items without a key
}

func countsOf(r *check.Result) *counts {
	c := &counts{
		forbidden: r.Forbidden, findings: r.Findings, undecided: r.UndecidedRules(), textOnly: r.TextAlone(),
	}
	if r.Plan != nil {
		c.selected, c.unreadable = r.Plan.Rules, !r.Scanned && !r.OnlyKeysFailed
	}
	if len(r.Findings) > 0 {
		c.byRule = map[int]ruleCount{}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		n := c.byRule[f.Rule]
		n.places += f.PlaceCount()
		n.same += f.Occurrences() - f.PlaceCount()
		if f.Key == nil {
			n.text += f.Occurrences()
		}
		c.byRule[f.Rule] = n
	}
	return c
}

func (c *counts) of(rule int) allowance.Count {
	switch {
	case c.absent != allowance.Counted:
		return allowance.Count{Reason: c.absent}
	case slices.Contains(c.undecided, rule):
		return allowance.Count{Reason: allowance.Unparsed}
	case slices.Contains(c.selected, rule):
		if c.unreadable {
			return allowance.Count{Reason: allowance.Unreadable}
		}
	case !slices.ContainsFunc(c.forbidden, func(g rules.GlobOf) bool { return g.Rule == rule }):
		return allowance.Count{Reason: allowance.NotSelected}
	}
	return allowance.Count{Count: int(c.byRule[rule].places), Same: int(c.byRule[rule].same)}
}
