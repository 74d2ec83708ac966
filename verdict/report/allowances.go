package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

const (
	mostEndings   = 20 // allowances that end soon
	mostNames     = 10 // names in a line
	mostChanges   = 20 // lines about changes to the policy
	fewAllowances = 3  // equal changes of a rule's allowances that have a line each

	newButAllowed = "new but allowed" // the status of a new violation that an allowance permits
)

// allowedPlaces are the places that allowances permit, and how many of them are new.
func (v *view) allowedPlaces() (n, fresh int) {
	for i := range v.AllowedViolations {
		n += int(v.AllowedViolations[i].PlaceCount)
		fresh += int(v.AllowedViolations[i].NewPlaceCount)
	}
	return n, fresh
}

// allowedNote says how many places allowances permit, and, without a comparison, in how many files that would not stop
// more; "" without one.
func (v *view) allowedNote() string {
	n, fresh := v.allowedPlaces()
	if n == 0 {
		return ""
	}
	files, below := map[string]bool{}, map[string]bool{}
	for _, u := range v.usedAllowances() {
		files[u.file] = true
		if u.AtMost > u.places {
			below[u.file] = true
		}
	}
	s := "allowed by allowances.yml: " + count(n, "place") + " in " + count(len(files), "file")
	if v.comparable {
		return s + newAmong(n, fresh)
	}
	if n := len(below); n > 0 {
		s += "; " + count(n, "file") + " " + verb(n, "has fewer than its", "have fewer than their") +
			" at_most: only a scan with --diff-base refuses new places there"
	}
	return s
}

// A usedAllowance is an allowance, and how many places of its rule in its file it permits.
type usedAllowance struct {
	rule, file string
	places     int
	*verdict.Allowance
}

func (v *view) usedAllowances() (all []*usedAllowance) {
	type ruleFile struct{ rule, file string }
	known := map[ruleFile]*usedAllowance{}
	for i := range v.AllowedViolations {
		a := &v.AllowedViolations[i]
		u := known[ruleFile{a.RuleID, a.File}]
		if u == nil {
			u = &usedAllowance{rule: a.RuleID, file: a.File}
			known[ruleFile{a.RuleID, a.File}], all = u, append(all, u)
		}
		u.places, u.Allowance = u.places+int(a.PlaceCount), &a.Allowance
	}
	return all
}

// newAmong says how many of n places are new, to follow their number.
func newAmong(n, fresh int) string {
	switch {
	case fresh == 0:
		return ", none new"
	case n == 1:
		return ", which is new"
	case fresh == n:
		return ", all of them new"
	}
	return ", " + number(fresh) + " of them new"
}

// allowedSuffix is the number of allowed places, to follow the number of others; "" without one.
func (v *view) allowedSuffix() string {
	n, fresh := v.allowedPlaces()
	s := permitted(n, len(v.Violations) > 0)
	if v.comparable && fresh > 0 {
		s += newAmong(n, fresh)
	}
	return s
}

// permitted is the number of allowed places, other ones if there are places that are not; "" without one.
func permitted(n int, other bool) string {
	switch {
	case n == 0:
		return ""
	case other:
		return "; " + count(n, "other place") + " " + verb(n, "is", "are") + " allowed"
	}
	return "; " + count(n, "place") + " allowed"
}

// allowanceWords describes an allowance, safe to print.
func allowanceWords(a *verdict.Allowance) string {
	s := fmt.Sprintf("at most %s, owner %s, reason %s", number(a.AtMost), flow(clip(a.Owner, 200)),
		flow(clip(a.Reason, 500)))
	if a.Until != "" {
		s += ", until " + verdict.Visible(a.Until)
	}
	return s
}

// allowedSentence describes a violation that is new but allowed, with its rule and allowance, safe to print.
func allowedSentence(a *verdict.AllowedViolation) string {
	return "New but allowed (" + verdict.Visible(clip(a.RuleID, 200)) + "; " + allowanceWords(&a.Allowance) +
		"): " + full(clip(flow(a.Reason), 1000))
}

// allowedLines lists the first violations that are new but allowed.
func (v *view) allowedLines(most int) []string {
	var lines []string
	for i, a := range v.newAllowed {
		if i == most {
			return append(lines, "and "+number(len(v.newAllowed)-most)+" more that are new; the verdict has all")
		}
		lines = append(lines, newFinding(&a.Violation).place()+": "+allowedSentence(a))
	}
	return lines
}

// endings lists the allowances that end soon: a line each and one for the rest, safe to print.
func (v *view) endings() []string {
	var lines []string
	for i := range v.EndingAllowances {
		if i == mostEndings {
			return append(lines, "and "+count(len(v.EndingAllowances)-i, "more allowance")+"; verdict.json has all")
		}
		e := &v.EndingAllowances[i]
		lines = append(lines, fmt.Sprintf("%s: %s in %s (at most %s, owner %s)", verdict.Visible(e.Allowance.Until),
			verdict.Visible(clip(e.RuleID, 200)), verdict.Visible(clip(e.File, 300)), number(e.Allowance.AtMost),
			flow(clip(e.Allowance.Owner, 200))))
	}
	return lines
}

func (v *view) endingsNote() string {
	n := len(v.EndingAllowances)
	return fmt.Sprintf("%s %s within %d days of %s", count(n, "allowance"), verb(n, "ends", "end"),
		verdict.EndingDays, verdict.Visible(v.AsOf))
}

// policyChanges describes a change's edits of the bundle that checks it, in lines that are safe to print: one for the
// removed rules, one for each changed rule, one for the added ones; then the allowances, more permissive changes first.
func (v *view) policyChanges() []string {
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
			lines = append(lines, changeWords(c)+"; "+effectWords(c))
		}
	}
	if n := len(removed); n > 0 {
		lines = slices.Insert(lines, 0, count(n, "rule")+" no longer enforced: "+firstOf(removed, mostNames))
	}
	if n := len(added); n > 0 {
		lines = append(lines, count(n, "rule")+" added: "+firstOf(added, mostNames))
	}
	lines = append(lines, allowanceChanges(allowances)...)
	if n := len(lines); n > mostChanges {
		lines = append(lines[:mostChanges-1], "and "+number(n-mostChanges+1)+" more; verdict.json has all")
	}
	return lines
}

// allowanceChanges has a line for each change of an allowance, or one for all equal ones of a rule, if there are many
// or, as on the day of adoption, they are new.
func allowanceChanges(all []*verdict.PolicyChange) []string {
	byWeight := []string{
		"raised", verdict.Added, "extended", verdict.Altered, "moved", "lowered", "shortened", verdict.Removed,
	}
	slices.SortStableFunc(all, func(a, b *verdict.PolicyChange) int {
		return cmp.Or(cmp.Compare(slices.Index(byWeight, a.Change), slices.Index(byWeight, b.Change)),
			Natural(a.File, b.File))
	})
	type kind struct{ change, rule, fields string }
	equal := map[kind][]*verdict.PolicyChange{}
	var kinds []kind
	for _, c := range all {
		k := kind{c.Change, c.RuleID, strings.Join(append([]string{""}, fieldChanges(c)...), "; ")}
		if equal[k] == nil {
			kinds = append(kinds, k)
		}
		equal[k] = append(equal[k], c)
	}
	var lines []string
	for _, k := range kinds {
		rule, change := verdict.Visible(clip(k.rule, 200)), verdict.Visible(k.change)
		before, after := 0, 0
		var each []string
		for _, c := range equal[k] {
			before, after = before+c.Before, after+c.After
			each = append(each, fmt.Sprintf("allowance for rule %s in %s %s: %s before, %s now%s", rule,
				verdict.Visible(clip(c.File, 300)), change, number(c.Before), number(c.After), k.fields))
		}
		switch n := len(each); {
		case k.change == verdict.Added && n > 1:
			lines = append(lines, fmt.Sprintf("rules/allowances.yml: %s added for rule %s: %s in %s%s",
				count(n, "allowance"), rule, count(after, "place"), count(n, "file"), k.fields))
		case n > fewAllowances:
			lines = append(lines, fmt.Sprintf("rules/allowances.yml: %s for rule %s %s: %s before, %s now%s",
				count(n, "allowance"), rule, change, number(before), number(after), k.fields))
		default:
			lines = append(lines, each...)
		}
	}
	return lines
}

func fieldChanges(c *verdict.PolicyChange) []string {
	var all []string
	for _, f := range c.Fields {
		s := verdict.Visible(f.Name)
		switch {
		case slices.Contains([]string{"title", "message", "remediation", "docs_url"}, f.Name):
			// too long for a line, and nothing that decides
		case len(f.Removed)+len(f.Added) == 0:
			s += " in another order"
		case len(f.Removed) > 0 && len(f.Added) > 0:
			s += " removed " + quotedTexts(f.Removed) + ", added " + quotedTexts(f.Added)
		case len(f.Removed) > 0:
			s += " removed " + quotedTexts(f.Removed)
		default:
			s += " added " + quotedTexts(f.Added)
		}
		all = append(all, s)
	}
	return all
}

func quotedTexts(texts []string) string {
	var quoted []string
	for _, s := range texts {
		if words, ok := verdict.MappingWords(s); ok {
			quoted = append(quoted, clip(words, 100))
			continue
		}
		quoted = append(quoted, `"`+verdict.Visible(clip(s, 100))+`"`)
	}
	return firstOf(quoted, mostNames)
}
