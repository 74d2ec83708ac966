package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// FleetFormats returns the formats of a fleet's summary, in the order of the manual. They write f, not a verdict.
func FleetFormats(f *summary.Fleet) []Format {
	return formatsOf(f, "fleet.json", "", "## policyscan fleet ", "one page to read and to search",
		WriteFleetText, writeFleetMarkdown, writeFleetHTML)
}

// FleetNames are the names of these formats, for display.
func FleetNames() string { return names(FleetFormats(nil)) }

// WriteFleetText writes the report for people: the undecided repositories, those with violations, most first, the
// violated rules, and in the last line the outcome and the counts. Root is the directory of the results.
func WriteFleetText(w io.Writer, f *summary.Fleet, o TextOptions) error {
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o}
	for i := range f.Errors {
		t.error(&f.Errors[i])
	}
	t.gap(len(f.Errors))
	var undecided, worst, rules [][]string // the lines of each
	for _, r := range f.Worst() {
		name := t.paint(bold, verdict.Visible(r.Name)+":")
		var lines []string
		for _, e := range r.Errors {
			at := name
			if e.File != "" {
				at = t.paint(bold, verdict.Visible(r.Name)+": "+verdict.Visible(e.File)+":")
			}
			lines = append(lines, fmt.Sprintf("%s %s %s", at, flow(e.Message), t.paint(red, "["+e.Code+"]")))
		}
		if more := moreErrors(r); more != "" {
			lines = append(lines, name+" "+more)
		}
		if r.ErrorCount > 0 {
			undecided = append(undecided, lines)
		}
		if r.Places > 0 {
			worst = append(worst, []string{name + " " + count(r.Places, "place") + ": " +
				strings.Join(ruleTallies(r), " ")})
		}
	}
	for _, r := range f.Broken() {
		rules = append(rules, []string{fmt.Sprintf("%s %s, %s: %s", t.paint(bold, verdict.Visible(r.ID)+":"),
			count(r.Repositories, "repository"), count(r.Places, "place"), flow(clip(r.Title, 200)))})
	}
	t.list(count(len(undecided), "repository")+" could not be decided:", undecided)
	t.list(count(len(worst), "repository")+" with violations:", worst)
	t.list(count(len(rules), "rule")+" violated:", rules)
	t.endFleet(f)
	return t.w.Flush()
}

// list writes the lines of each item under a heading, and the number of items that are not shown.
func (t *textWriter) list(heading string, items [][]string) {
	if len(items) == 0 {
		return
	}
	t.line("%s", t.paint(bold, heading))
	for i, lines := range items {
		if t.Most > 0 && i == t.Most {
			where := "--report text=FILE has all"
			if t.Root != "" {
				where = "all are in " + verdict.Visible(t.Root) + "/fleet.json"
			}
			t.line("  and %d more; %s", len(items)-i, where)
			break
		}
		for _, l := range lines {
			t.line("  %s", l)
		}
	}
	t.line("")
}

func (t *textWriter) endFleet(f *summary.Fleet) {
	policy := with(nil, verdict.Visible(t.Policy))
	if f.OwnPolicy {
		policy = append(policy, "the bundle in each repository")
	}
	t.labelled("policy: ", strings.Join(policy, " and "))
	t.labelled("results: ", t.Root)
	for _, note := range t.Notes {
		t.labelled("note: ", flow(note))
	}
	c := &f.Totals
	if c.Repositories == 0 {
		t.last(f.Verdict, "could not decide ("+count(len(f.Errors), "error")+"); no repository was scanned", 0)
		return
	}
	t.last(f.Verdict, fmt.Sprintf("%s; %s, %s covered by a rule, %s bytes scanned", fleetCounts(f),
		count(c.Files, "file"), number(c.Governed), number(int(c.Bytes))), t.Elapsed)
}

func fleetCounts(f *summary.Fleet) string {
	c := &f.Totals
	if c.Repositories == 0 {
		return "no repository was scanned"
	}
	s := count(c.Repositories, "repository")
	if c.Repositories != f.List.Repositories {
		s += fmt.Sprintf(" of %d in the list", f.List.Repositories)
	}
	s += ": " + number(c.Pass) + verb(c.Pass, " passes", " pass")
	if c.Fail > 0 {
		s += ", " + number(c.Fail) + verb(c.Fail, " fails with ", " fail with ") + count(c.Places, "place")
	}
	if c.Undecided > 0 {
		s += ", " + number(c.Undecided) + " undecided"
	}
	if n := c.Incomplete - c.Undecided; n > 0 {
		s += fmt.Sprintf(" (%d of the failed could not be decided in part)", n)
	}
	return s + permitted(c.AllowedPlaces, c.Places > 0)
}

func moreErrors(r *summary.Repository) string {
	if n := r.ErrorCount - len(r.Errors); n > 0 {
		return "and " + count(n, "more error")
	}
	return ""
}

func ruleTallies(r *summary.Repository) []string {
	var counts []tally
	for _, c := range r.Rules {
		counts = append(counts, tally{c.RuleID, c.Places})
	}
	return tallyWords(counts)
}

// writeFleetMarkdown writes the summary of a fleet as a page of GitHub's Markdown: the outcome, the errors, the
// violated rules, and the repositories, most places first. The limits of [writeMarkdown] apply.
func writeFleetMarkdown(w io.Writer, f *summary.Fleet) error {
	p := markdownPage{document: "fleet.json", omitted: map[string]int{}}
	p.line("## policyscan fleet " + string(f.Verdict) + ": " + fleetCounts(f))
	var undecided, rules, broken []string
	for i := range f.Errors {
		undecided = append(undecided, errorItem("the run", &f.Errors[i]))
	}
	for _, r := range f.Worst() {
		name := codeMarkdown(clip(r.Name, 300))
		for i := range r.Errors {
			undecided = append(undecided, errorItem(name, &r.Errors[i]))
		}
		if more := moreErrors(r); more != "" {
			undecided = append(undecided, "* "+name+": "+more)
		}
		if r.Places > 0 {
			broken = append(broken, fmt.Sprintf("| %s | %d | %s |", name, r.Places,
				prose(strings.Join(ruleTallies(r), " "), codeMarkdown)))
		}
	}
	for _, r := range f.Broken() {
		rules = append(rules, fmt.Sprintf("| %s | %s | %d | %d |", codeMarkdown(clip(r.ID, 200)),
			words(r.Title, 200), r.Repositories, r.Places))
	}
	list := func(title, head string, all []string, upto int) {
		p.list("", "\n"+title+"\n"+head, len(all), upto, func(i int) string { return all[i] })
	}
	list("**This could not be decided:**", "", undecided, markdownLimit/3)
	list("### Rules", "\n| Rule | Title | Repositories | Places |\n|---|---|---:|---:|", rules, markdownLimit/2)
	list("### Repositories", "\n| Repository | Places | Rules |\n|---|---:|---|", broken, markdownLimit-4<<10)
	return p.end(w, f.Tool.Version)
}

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
	p := &fleetPage{Fleet: f, Covered: f.Totals.Governed}
	p.htmlHead = htmlHead{Tone: "undecided", Outcome: f.Verdict, Headline: fleetCounts(f)}
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
	return writePage(w, "fleet.html", []string{"style.css", "fleet.css"}, "fleet.js", &p.htmlHead, p, nil)
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
