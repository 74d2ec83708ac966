package report

import (
	"fmt"
	"io"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/summary"
)

// writeFleetMarkdown writes the summary of a fleet as a page of GitHub's Markdown: the outcome, what could not be
// decided, the rules that are violated, and the repositories, those with the most violations first. As [writeMarkdown],
// it has at most 900 KiB, and no text of a repository or of a bundle is markup in it.
func writeFleetMarkdown(w io.Writer, f *summary.Fleet) error {
	p := markdownPage{}
	outcome := string(verdict.Pass)
	switch {
	case f.Totals.Fail > 0:
		outcome = string(verdict.Fail)
	case f.Verdict != verdict.Pass:
		outcome = "could not decide"
	}
	p.line("## policyscan fleet " + outcome + ": " + fleetCounts(f))
	var undecided, broken []string
	for i := range f.Errors {
		undecided = append(undecided, fleetError("the run", &f.Errors[i]))
	}
	for _, r := range f.Worst() {
		name := codeMarkdown(clip(r.Name, 300))
		for i := range r.Errors {
			undecided = append(undecided, fleetError(name, &r.Errors[i]))
		}
		if more := moreErrors(r); more != "" {
			undecided = append(undecided, "* "+name+": "+more)
		}
		if r.Violations > 0 {
			broken = append(broken, fmt.Sprintf("| %s | %d | %s |", name, r.Violations, fleetRules(r)))
		}
	}
	var rules []string
	for _, r := range f.Broken() {
		rules = append(rules, fmt.Sprintf("| %s | %s | %d | %d |", codeMarkdown(clip(r.ID, 200)),
			words(r.Title, 200), r.Repositories, r.Violations))
	}
	p.pieces("**This could not be decided:**", "", undecided, markdownLimit/3)
	p.pieces("### Rules", "| Rule | Title | Repositories | Violations |\n|---|---|---:|---:|", rules, markdownLimit/2)
	p.pieces("### Repositories", "| Repository | Violations | Rules |\n|---|---:|---|", broken, markdownLimit-4<<10)
	return p.end(w, f.Tool.Version, "fleet.json")
}

// pieces writes a list, as far as the page does not get longer than upto, and how many of it are omitted.
func (p *markdownPage) pieces(title, head string, all []string, upto int) {
	if len(all) == 0 {
		return
	}
	p.line("\n" + title + "\n")
	if head != "" {
		p.line(head)
	}
	for i, s := range all {
		if !p.add(s+"\n", upto) {
			p.line(fmt.Sprintf("\nAnd %d more, in `fleet.json`.", len(all)-i))
			break
		}
	}
}

func fleetError(of string, e *verdict.Error) string {
	at := of
	if e.File != "" {
		at += ", " + codeMarkdown(clip(e.File, 300))
	}
	return fmt.Sprintf("* %s: %s: %s", codeMarkdown(clip(e.Code, 100)), at, words(e.Message, 1000))
}

// fleetRules names the rules that a repository violates.
func fleetRules(r *summary.Repository) string {
	s := ""
	for i, c := range r.Rules {
		const most = 20
		if i == most {
			return s + fmt.Sprintf(" and %d more", len(r.Rules)-most)
		}
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s %d", codeMarkdown(clip(c.RuleID, 200)), c.Violations)
	}
	return s
}
