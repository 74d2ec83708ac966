package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// A fleetPage is what fleet.html shows.
type fleetPage struct {
	htmlHead
	*summary.Fleet // raw: the template makes its texts visible

	Undecided []*summary.Repository // all that something of could not be decided, also those with violations
	Failing   []*summary.Repository // the most violations first
	Passing   []*summary.Repository
	RuleRows  []fleetRule // those that the most repositories violate first, then those that none does
	Violated  int         // of RuleRows
	Covered   int         // files
}

// A fleetRule is a rule and the repositories that violate it.
type fleetRule struct {
	*summary.Rule
	// Names has a line for each repository, the most violations first: one text, since a hundred thousand elements
	// would take a browser seconds.
	Names string
}

// writeFleetHTML writes the summary as one page.
func writeFleetHTML(w io.Writer, f *summary.Fleet) error {
	p := newFleetPage(f)
	return writePage(w, "fleet.html", []string{"style.css", "fleet.css"}, "fleet.js", &p.htmlHead, p)
}

func newFleetPage(f *summary.Fleet) *fleetPage {
	p := &fleetPage{htmlHead: newHTMLHead(f.Tool, f.Verdict), Fleet: f, Covered: f.Totals.Governed}
	names := map[string][]tally{} // of the repositories that violate a rule
	for _, r := range f.Worst() {
		if r.Undecided() || r.ErrorCount > 0 {
			p.Undecided = append(p.Undecided, r)
		}
		if !r.Undecided() {
			p.Failing = append(p.Failing, r)
		}
		for _, c := range r.Rules {
			names[c.RuleID] = append(names[c.RuleID], tally{verdict.Visible(r.Name), c.Violations})
		}
	}
	for i := range f.Repositories {
		if r := &f.Repositories[i]; r.Verdict == verdict.Pass {
			p.Passing = append(p.Passing, r)
		}
	}
	for _, r := range f.Broken() {
		p.RuleRows = append(p.RuleRows, fleetRule{r, nameLines(names[r.ID])})
	}
	p.Violated = len(p.RuleRows)
	for i := range f.Rules {
		if r := &f.Rules[i]; r.Violations == 0 {
			p.RuleRows = append(p.RuleRows, fleetRule{Rule: r})
		}
	}
	p.headline(f)
	return p
}

// nameLines lists names behind their numbers, the largest first.
func nameLines(all []tally) string {
	slices.SortStableFunc(all, func(a, b tally) int { return cmp.Or(b.n-a.n, strings.Compare(a.name, b.name)) })
	var b strings.Builder
	for _, x := range all {
		fmt.Fprintf(&b, "%*s  %s\n", len(grouped(int64(all[0].n))), grouped(int64(x.n)), x.name)
	}
	return b.String()
}

// headline says what came of the run, in the order of what is worst.
func (p *fleetPage) headline(f *summary.Fleet) {
	t := &f.Totals
	var parts []string
	for _, x := range []struct {
		n         int
		one, many string
	}{
		{t.Undecided, "could not be decided", "could not be decided"},
		{t.Fail, "violates a rule", "violate rules"},
		{t.Pass, "passes", "pass"},
	} {
		if x.n == 1 {
			parts = append(parts, "1 "+x.one)
		} else if x.n > 1 {
			parts = append(parts, grouped(int64(x.n))+" "+x.many)
		}
	}
	tone, headline := "undecided", "no repository was scanned"
	if t.Repositories > 0 {
		headline = some(t.Repositories, "repository") + ": " + strings.Join(parts, ", ")
	}
	switch {
	case f.Verdict == verdict.Pass:
		tone = "pass"
	case f.Complete && t.Repositories > 0 && t.Repositories == f.List.Repositories:
		tone = "fail"
	}
	p.say(tone, headline, "")
	if t.Repositories != f.List.Repositories {
		p.note(fmt.Sprintf("The list has %s, and this page has %s.", some(f.List.Repositories, "repository"),
			grouped(int64(t.Repositories))))
	}
	if n := t.Incomplete - t.Undecided; n > 0 {
		p.note("Of the repositories with violations, " + grouped(int64(n)) +
			" could not be decided in part, and may have more.")
	}
	p.allowed(f.Allowed)
}

// fleetState is the outcome of a repository: "pass", "undecided" or "fail".
func fleetState(r *summary.Repository) string {
	switch {
	case r.Verdict == verdict.Pass:
		return "pass"
	case r.Undecided():
		return "undecided"
	}
	return "fail"
}

// fleetFiles says how many files a repository has.
func fleetFiles(r *summary.Repository) string {
	return some(r.Files, "file") + ", " + grouped(int64(r.Governed)) + " covered by a rule"
}

// shortCommit is the beginning of a hash; anything else is whole, since an escape of one character must not be cut.
func shortCommit(commit string) string {
	if short := abbreviated(commit); verdict.Visible(commit)[:min(len(verdict.Visible(commit)), 7)] == short {
		return short
	}
	return verdict.Visible(commit)
}

// mostFirst returns counts of rules, the largest first.
func mostFirst(rules []summary.RuleCount) []summary.RuleCount {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b summary.RuleCount) int { return b.Violations - a.Violations })
	return rules
}
