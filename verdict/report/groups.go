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

// ruleIndexes returns, for each violation, the index of its rule in v.Rules, or -1.
//
// The rules of the base and the head of a change can share an id. A violation's texts tell which of them it violates;
// if they do not, the order of the violations does: by rule, then by path.
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

// fitsRule reports whether a violation has the texts of a rule.
func fitsRule(v *verdict.Violation, r *verdict.Rule) bool {
	return v.RuleID == r.ID && v.RuleType == r.Type && v.Title == r.Title &&
		(v.Reason == r.Message || r.Message == "" && strings.HasPrefix(v.Reason, r.Title))
}

// groupByRule puts each violation under its rule. A violation of an unlisted rule, which no run writes, gets a new
// one.
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

// commonReason is the reason of all violations; "" if they differ.
func commonReason(all []*verdict.Violation) string {
	for _, x := range all {
		if x.Reason != all[0].Reason {
			return ""
		}
	}
	return all[0].Reason
}

// counts is the number of violations of the rule, and how many of them are new, if known.
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

// unchecked explains why a rule without a violation did not pass; "" if it passed.
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

// untitled is a reason without its rule's title, which the report has already shown.
func untitled(reason, title string) string { return strings.TrimPrefix(reason, title+": ") }

// fold returns the violations without redundant ones: of a literal or regex that is next to a key pattern, for files
// that cannot be parsed, and only matches in lines that the key pattern finds. also has one for each such pattern.
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

// besideKeys reports whether all places of a literal or regex are in the lines of these violations of key patterns, of
// the same rule and file, and its note is theirs, too.
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
