package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A ruleGroup is a rule and what it found.
type ruleGroup struct {
	rule       *verdict.Rule
	violations []*verdict.Violation // new ones first, else in the verdict's order
	files      int
	fresh      int // of the violations
	allowed    int // more violations of the rule's id
}

// ruleIndexes returns, for each violation, the index in v.Rules of the rule that it is of, or -1 if there is none.
//
// A change is judged by the rules of its base and of its head, so two rules can have one id. Which of them a violation
// is of follows from its texts, and for two rules that differ in nothing that a violation shows from the order of the
// violations: that of the rules, then of the paths.
func ruleIndexes(v *verdict.Verdict) []int {
	byID := map[string][]int{}
	for i := range v.Rules {
		byID[v.Rules[i].ID] = append(byID[v.Rules[i].ID], i)
	}
	type match struct {
		rule                int
		file, kind, pattern string
	}
	taken := map[match]bool{}
	last := map[int]string{} // the path of each rule's last violation
	indexes := make([]int, len(v.Violations))
	at := 0
	for i := range v.Violations {
		x := &v.Violations[i]
		file, e, fits := verdict.RawPath(x.File), &x.Evidence, -1
		for _, r := range byID[x.RuleID] {
			if !fitsRule(x, &v.Rules[r]) {
				continue
			}
			if fits < 0 {
				fits = r
			}
			if r >= at && last[r] <= file && !taken[match{r, file, e.Kind, e.Pattern}] {
				fits, at = r, r
				break
			}
		}
		taken[match{fits, file, e.Kind, e.Pattern}], last[fits], indexes[i] = true, file, fits
	}
	return indexes
}

// fitsRule reports whether a violation can be of a rule, as far as its texts tell.
func fitsRule(v *verdict.Violation, r *verdict.Rule) bool {
	return v.RuleID == r.ID && v.RuleType == r.Type && v.Title == r.Title &&
		(v.Reason == r.Message || r.Message == "" && strings.HasPrefix(v.Reason, r.Title))
}

// groupByRule puts each violation under its rule. One that is of no listed rule, which no run writes, has a rule of its
// own texts.
func (v *view) groupByRule() {
	allowed := map[string]int{}
	for i := range v.AllowedViolations {
		allowed[v.AllowedViolations[i].RuleID]++
	}
	for i := range v.Rules {
		v.byRule = append(v.byRule, &ruleGroup{rule: &v.Rules[i], allowed: allowed[v.Rules[i].ID]})
	}
	type key struct{ id, kind, title string }
	unlisted := map[key]*ruleGroup{}
	for i, index := range ruleIndexes(v.Verdict) {
		x := &v.Violations[i]
		var g *ruleGroup
		if index >= 0 {
			g = v.byRule[index]
		} else if k := (key{x.RuleID, x.RuleType, x.Title}); unlisted[k] != nil {
			g = unlisted[k]
		} else {
			g = &ruleGroup{rule: &verdict.Rule{ID: x.RuleID, Type: x.RuleType, Title: x.Title, Files: 1}}
			unlisted[k] = g
			v.byRule = append(v.byRule, g)
		}
		if len(g.violations) == 0 {
			v.groups = append(v.groups, g)
		}
		// Violations of a rule are in the order of their paths.
		if n := len(g.violations); x.File != "" && (n == 0 || g.violations[n-1].File != x.File) {
			g.files++
		}
		g.fresh += 1 - newFirst(x)
		g.violations = append(g.violations, x)
		v.ruleOf = append(v.ruleOf, g)
	}
	for _, g := range v.groups {
		slices.SortStableFunc(g.violations, func(a, b *verdict.Violation) int { return newFirst(a) - newFirst(b) })
	}
	slices.SortStableFunc(v.groups, func(a, b *ruleGroup) int {
		return newFirst(a.violations[0]) - newFirst(b.violations[0])
	})
}

// commonReason is what all of these give as their reason, "" if they differ.
func commonReason(all []*verdict.Violation) string {
	for _, x := range all {
		if x.Reason != all[0].Reason {
			return ""
		}
	}
	return all[0].Reason
}

// counts says how many violations of the rule there are, and how many of them are new where anything tells.
func (g *ruleGroup) counts() string {
	s := count(len(g.violations), "violation")
	if g.files > 0 {
		s += " in " + count(g.files, "file")
	}
	switch {
	case g.violations[0].Status == "":
		return s
	case g.fresh == len(g.violations):
		return s + ", new"
	}
	return s + ", " + newWords(g.fresh)
}

// unchecked says why it is not known whether files break a rule of which nothing was found; "" if it is.
func (v *view) unchecked(g *ruleGroup) string {
	switch {
	case len(v.undecided) > 0:
		return "not decided: the run is incomplete"
	case g.rule.Files == 0:
		return "this rule selects no file"
	case v.scannedNothing():
		return "no file that it selects was scanned"
	}
	return ""
}

func (v *view) ruleOutcome(g *ruleGroup) string {
	outcome := "no violation"
	switch why := v.unchecked(g); {
	case len(g.violations) > 0:
		outcome = g.counts()
	case why != "":
		return why
	}
	if g.allowed > 0 {
		outcome += fmt.Sprintf(", %d allowed", g.allowed)
	}
	return outcome
}

// untitled is a reason without the title of its rule before it, which the report has said.
func untitled(reason, title string) string { return strings.TrimPrefix(reason, title+": ") }

// fold returns the violations without those that show a reader nothing new: a text or an expression next to a key, for
// files that cannot be parsed, of which every match is at a line that the key finds. also has one of each such pattern.
func (g *ruleGroup) fold() (shown, also []*verdict.Violation) {
	keys := map[string][]*verdict.Violation{}
	for _, v := range g.violations {
		if v.Evidence.Kind == verdict.KindKey {
			keys[v.File] = append(keys[v.File], v)
		}
	}
	patterns := map[string]bool{}
	for _, v := range g.violations {
		if e := &v.Evidence; !besideKeys(v, keys[v.File]) {
			shown = append(shown, v)
		} else if !patterns[e.Pattern] {
			patterns[e.Pattern] = true
			also = append(also, v)
		}
	}
	return shown, also
}

// besideKeys reports whether a text or an expression has all its places at lines of values that these violations, of
// the same rule and file, are about, and whether nothing else is to be said of it.
func besideKeys(v *verdict.Violation, keys []*verdict.Violation) bool {
	e := &v.Evidence
	if e.Kind != verdict.KindText && e.Kind != verdict.KindRegex || int64(len(e.Places)) < e.Occurrences {
		return false
	}
	for _, p := range e.Places {
		overlaps := func(l verdict.Place) bool { return l.Line <= p.EndLine && p.Line <= l.EndLine }
		beside := func(k *verdict.Violation) bool {
			return k.Status == v.Status && k.Note == v.Note && slices.ContainsFunc(k.Evidence.Places, overlaps)
		}
		if !slices.ContainsFunc(keys, beside) {
			return false
		}
	}
	return len(e.Places) > 0
}
