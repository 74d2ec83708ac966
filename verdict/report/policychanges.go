package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// mostChanges is how many lines about changes to the policy a report has. verdict.json has all.
const mostChanges = 20

// fewAllowances is how many changed allowances a report has one by one only, without lines that count them first.
const fewAllowances = 10

// policyChanges says what a change does to the bundle that checks it: a line for each rule that it alters, and one
// each for the rules that it removes and adds; then how many allowances it changes in which way, and a line for each of
// these, those first that let more be. Each line is safe to print.
func policyChanges(v *verdict.Verdict) []string {
	var lines, removed, added []string
	var allowances []*verdict.PolicyChange
	for i := range v.PolicyChanges {
		c := &v.PolicyChanges[i]
		id := verdict.Visible(clip(c.RuleID, 200))
		switch {
		case c.Kind != verdict.ChangedRule:
			allowances = append(allowances, c)
		case c.Change == verdict.Removed && len(c.Fields) > 0:
			lines = append(lines, fmt.Sprintf("rule %s is no longer enforced: it is deprecated", id))
		case c.Change == verdict.Removed:
			removed = append(removed, id)
		case c.Change == verdict.Added:
			added = append(added, id)
		default:
			var fields []string
			for k := range c.Fields {
				fields = append(fields, fieldChange(&c.Fields[k]))
			}
			lines = append(lines, fmt.Sprintf("rule %s changed: %s", id, strings.Join(fields, "; ")))
		}
	}
	lines = slices.Concat(rulesAre("no longer enforced", removed), lines, rulesAre("added", added),
		allowanceLines(allowances))
	if n := len(lines); n > mostChanges {
		lines = append(lines[:mostChanges-1], fmt.Sprintf("and %d more; verdict.json has all", n-mostChanges+1))
	}
	return lines
}

// byWeight are the ways in which an allowance changes, those first that let more be.
var byWeight = []string{
	"raised", verdict.Added, "extended", verdict.Altered, "moved", "lowered", "shortened", verdict.Removed,
}

// allowanceLines says how allowances changed.
func allowanceLines(all []*verdict.PolicyChange) []string {
	slices.SortStableFunc(all, func(a, b *verdict.PolicyChange) int {
		return cmp.Compare(slices.Index(byWeight, a.Change), slices.Index(byWeight, b.Change))
	})
	var lines, each []string
	for i := 0; i < len(all); {
		same, before, after := i, 0, 0
		rules := map[string]bool{}
		for ; i < len(all) && all[i].Change == all[same].Change; i++ {
			before, after = before+all[i].Before, after+all[i].After
			rules[all[i].RuleID] = true
			each = append(each, allowanceLine(all[i]))
		}
		if len(all) > fewAllowances {
			lines = append(lines, fmt.Sprintf("%s %s, for %s: %d before, %d now", count(i-same, "allowance"),
				verdict.Visible(all[same].Change), count(len(rules), "rule"), before, after))
		}
	}
	return append(lines, each...)
}

// allowanceLine says how one changed.
func allowanceLine(c *verdict.PolicyChange) string {
	parts := []string{fmt.Sprintf("%d before, %d now", c.Before, c.After)}
	for k := range c.Fields {
		parts = append(parts, fieldChange(&c.Fields[k]))
	}
	return fmt.Sprintf("allowance for rule %s in %s %s: %s", verdict.Visible(clip(c.RuleID, 200)),
		verdict.Visible(clip(c.File, 300)), verdict.Visible(c.Change), strings.Join(parts, "; "))
}

// rulesAre is a line that names rules, none without any.
func rulesAre(what string, ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	n := len(ids)
	return []string{fmt.Sprintf("%s %s: %s", count(n, "rule"), what, firstOf(ids))}
}

// fieldChange says how a key of a rule changed.
func fieldChange(f *verdict.FieldChange) string {
	name := verdict.Visible(f.Name)
	switch {
	case slices.Contains([]string{"title", "message", "remediation", "docs_url"}, f.Name):
		return name // too long for a line, and nothing that decides
	case len(f.Removed)+len(f.Added) == 0:
		return name + " in another order"
	}
	var parts []string
	for _, part := range []struct {
		verb  string
		texts []string
	}{{"removed", f.Removed}, {"added", f.Added}} {
		var quoted []string
		for _, s := range part.texts {
			quoted = append(quoted, `"`+verdict.Visible(clip(s, 100))+`"`)
		}
		if len(quoted) > 0 {
			parts = append(parts, part.verb+" "+firstOf(quoted))
		}
	}
	return name + " " + strings.Join(parts, ", ")
}
