package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// A fleetPage is what fleet.html shows. The template makes the texts of the summary visible.
type fleetPage struct {
	htmlHead
	*summary.Fleet

	Undecided []*summary.Repository // with an error, also those with violations
	Failing   []*summary.Repository // most places first
	Passing   []*summary.Repository
	RuleRows  []fleetRule // most violating repositories first
	Violated  int         // of RuleRows
	Covered   int         // files
}

type fleetRule struct {
	*summary.Rule
	// Names has a line for each repository, most places first. 100,000 elements would take a browser seconds.
	Names string
}

func writeFleetHTML(w io.Writer, f *summary.Fleet) error {
	p := &fleetPage{
		Fleet: f, Covered: f.Totals.Governed,
		htmlHead: htmlHead{Tone: "undecided", Outcome: f.Verdict, Headline: fleetCounts(f)},
	}
	switch {
	case f.Verdict == verdict.Pass:
		p.Tone = "pass"
	case f.Complete && f.Totals.Repositories > 0 && f.Totals.Repositories == f.List.Repositories:
		p.Tone = "fail"
	}
	if len(f.Allowed) > 0 {
		p.Notes = []string{"accepted with --allow: " + strings.Join(f.Allowed, ", ")}
	}
	names := map[string][]tally{} // of the repositories that violate a rule
	for _, r := range f.Worst() {
		if r.Undecided() || r.ErrorCount > 0 {
			p.Undecided = append(p.Undecided, r)
		}
		if !r.Undecided() {
			p.Failing = append(p.Failing, r)
		}
		for _, c := range r.Rules {
			names[c.RuleID] = append(names[c.RuleID], tally{inert(r.Name), c.Places})
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
		if r := &f.Rules[i]; r.Places == 0 {
			p.RuleRows = append(p.RuleRows, fleetRule{Rule: r})
		}
	}
	return writePage(w, "fleet.html", []string{"style.css", "fleet.css"}, "fleet.js", &p.htmlHead, p)
}

// nameLines lists numbers and names, the largest number first.
func nameLines(all []tally) string {
	sortTallies(all)
	var b strings.Builder
	for _, x := range all {
		fmt.Fprintf(&b, "%*d  %s\n", len(strconv.Itoa(all[0].Count)), x.Count, x.Name)
	}
	return b.String()
}

func mostFirst(rules []summary.RuleCount) []summary.RuleCount {
	byPlaces := func(a, b summary.RuleCount) int { return b.Places - a.Places }
	return slices.SortedStableFunc(slices.Values(rules), byPlaces)
}
