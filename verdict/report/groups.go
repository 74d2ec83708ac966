package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

type ruleGroup struct {
	rule       *verdict.Rule
	violations []*verdict.Violation // with places to fix: new ones first, else in the verdict's order
	files      []*fileGroup         // those with new places first, else in natural order
	numbers    placeCounts
	allowed    int // places of the rule's id that allowances permit
}

// A fileGroup is a file that violates a rule, or the tree ("") that lacks required files.
type fileGroup struct {
	path       string               // as in pathOf
	violations []*verdict.Violation // of the rule, in the verdict's order
	numbers    placeCounts
}

// inCommit is 0 for a file of the head and 1 for one of a commit.
func (f *fileGroup) inCommit() int { return min(len(f.violations[0].Commit), 1) }

type placeCounts struct {
	places, fresh         int // in files; fresh: the new ones
	files                 int
	missing, freshMissing int  // required files that the tree lacks
	compared              bool // with a baseline
}

func (n *placeCounts) add(x *verdict.Violation) {
	n.compared = n.compared || x.Status != ""
	if x.File == "" {
		n.missing++
		n.freshMissing += 1 - newFirst(x)
		return
	}
	n.places += int(x.PlaceCount)
	n.fresh += int(x.NewPlaceCount)
}

// words are the numbers in a clause or two; after the places comes a verb phrase, such as "break 2 rules".
func (n *placeCounts) words(verbs string) string {
	var clauses []string
	add := func(s string, fresh, all int) {
		switch {
		case n.compared && fresh == all && verbs == "":
			s += ", new"
		case n.compared:
			s += ", " + newWords(fresh)
		}
		clauses = append(clauses, s)
	}
	if n.places > 0 {
		add(count(n.places, "place")+" in "+count(n.files, "file")+verbs, n.fresh, n.places)
	}
	if n.missing > 0 {
		add(count(n.missing, "required file")+" "+verb(n.missing, "is", "are")+" missing", n.freshMissing, n.missing)
	}
	return strings.Join(clauses, "; ")
}

// all is the number of places, in files or missing.
func (n *placeCounts) all() int { return n.places + n.missing }

// order sorts what has something new before other things.
func (n *placeCounts) order() int {
	if n.fresh+n.freshMissing > 0 {
		return 0
	}
	return 1
}

// severityRank orders severities, the gravest first; unknown ones, and none, are last.
func severityRank(s string) int {
	return slices.Index([]string{"critical", "high", "medium", "low", s}, s)
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
		if i > 0 && x.Commit != v.Violations[i-1].Commit { // the rules begin again
			at = 0
			clear(taken)
			clear(last)
		}
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

// groupByRule puts each violation under its rule and its file. Rules with new places come first, then the graver ones,
// then the earlier ones. A violation of an unlisted rule, which no run writes, gets a new one.
func (v *view) groupByRule() {
	allowed := map[string]int{}
	for i := range v.AllowedViolations {
		allowed[v.AllowedViolations[i].RuleID] += int(v.AllowedViolations[i].PlaceCount)
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
		v.ruleOf = append(v.ruleOf, g)
		if x.PlaceCount == 0 { // a key item of the rule finds all of it, and has its own violation
			continue
		}
		if len(g.violations) == 0 {
			v.groups = append(v.groups, g)
		}
		g.add(x)
		v.numbers.add(x)
	}
	sortGroups(v.groups)
}

// add adds a violation of the rule. They are in the order of their paths.
func (g *ruleGroup) add(x *verdict.Violation) {
	if n := len(g.files); n == 0 || g.files[n-1].path != pathOf(x) {
		g.files = append(g.files, &fileGroup{path: pathOf(x)})
		if x.File != "" {
			g.numbers.files++
		}
	}
	f := g.files[len(g.files)-1]
	f.violations = append(f.violations, x)
	g.violations = append(g.violations, x)
	f.numbers.add(x)
	g.numbers.add(x)
}

func sortGroups(groups []*ruleGroup) {
	for _, g := range groups {
		slices.SortStableFunc(g.violations, func(a, b *verdict.Violation) int { return newFirst(a) - newFirst(b) })
		slices.SortStableFunc(g.files, func(a, b *fileGroup) int {
			if a.inCommit()+b.inCommit() > 0 { // in the verdict's order
				return a.inCommit() - b.inCommit()
			}
			return cmp.Or(a.numbers.order()-b.numbers.order(), Natural(a.path, b.path))
		})
	}
	slices.SortStableFunc(groups, func(a, b *ruleGroup) int {
		return cmp.Or(a.numbers.order()-b.numbers.order(), severityRank(a.rule.Severity)-severityRank(b.rule.Severity))
	})
}

// findings are at most this many places of the file, new ones before others, in the order of lines. more is the number
// of places that the verdict does not list; fresh of them are new.
func (f *fileGroup) findings(most int) (all []*finding, more, fresh int) {
	more, fresh = f.numbers.all(), f.numbers.fresh+f.numbers.freshMissing
	for _, x := range f.violations {
		all = append(all, findingsOf(x)...)
	}
	byLine := func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column))
	}
	old := 0
	slices.SortStableFunc(all, byLine)
	for _, x := range all {
		if x.status() != verdict.Introduced {
			old++
		}
	}
	more, fresh = max(more-len(all), 0), max(fresh-len(all)+old, 0)
	if len(all) > most {
		slices.SortStableFunc(all, func(a, b *finding) int {
			return strings.Compare(placeLabel(b.status()), placeLabel(a.status()))
		})
		all = all[:most]
		slices.SortStableFunc(all, byLine)
	}
	seen := map[*verdict.Violation]bool{}
	for _, x := range all {
		x.first = !seen[x.Violation]
		seen[x.Violation] = true
	}
	return all, more, fresh
}

// commonReason is the reason of all violations; "" if they differ.
func commonReason(all []*verdict.Violation) string {
	if slices.ContainsFunc(all, func(x *verdict.Violation) bool { return x.Reason != all[0].Reason }) {
		return ""
	}
	return all[0].Reason
}

// unchecked explains why a rule without a violation did not pass; "" if it passed.
func (v *view) unchecked(g *ruleGroup) string {
	switch {
	case len(v.undecided) > 0:
		return "not decided: the run is incomplete"
	case v.selectsNothing(g.rule):
		return "this rule selects no file"
	case g.rule.Files > 0 && v.scannedNothing():
		return "no file that it selects was scanned"
	}
	return ""
}

func (v *view) ruleOutcome(g *ruleGroup) string {
	outcome := "no violation"
	switch why := v.unchecked(g); {
	case len(g.violations) > 0:
		outcome = g.numbers.words("")
	case why != "":
		return why
	}
	if g.allowed > 0 {
		outcome += "; " + number(g.allowed) + " allowed"
	}
	return outcome
}

// untitled is a reason without its rule's title, which the report has already shown.
func untitled(reason, title string) string { return strings.TrimPrefix(reason, title+": ") }
