package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// mostChanges is how many lines about changes to the policy a report has. verdict.json has all.
const mostChanges = 20

// policyChanges says what a change does to the bundle that checks it: a line for each rule that it alters, and one
// each for the rules that it removes and adds. Each line is safe to print.
func policyChanges(v *verdict.Verdict) []string {
	var lines, removed, added []string
	for i := range v.PolicyChanges {
		c := &v.PolicyChanges[i]
		id := verdict.Visible(clip(c.RuleID, 200))
		switch {
		case c.Kind != verdict.ChangedRule:
			lines = append(lines, fmt.Sprintf("allowance for rule %s in %s %s: %d before, %d now",
				id, verdict.Visible(clip(c.File, 300)), verdict.Visible(c.Change), c.Before, c.After))
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
	lines = slices.Concat(rulesAre("no longer enforced", removed), lines, rulesAre("added", added))
	if n := len(lines); n > mostChanges {
		lines = append(lines[:mostChanges-1], fmt.Sprintf("and %d more; verdict.json has all", n-mostChanges+1))
	}
	return lines
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

// firstOf joins words, the first ten of them.
func firstOf(words []string) string {
	const most = 10
	if n := len(words); n > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(words, ", ")
}
