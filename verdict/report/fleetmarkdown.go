package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict/summary"
)

// writeFleetMarkdown writes the summary of a fleet as a page of GitHub's Markdown: the outcome, what could not be
// decided, the rules that are violated, and the repositories, those with the most violations first. As [writeMarkdown],
// it has at most 900 KiB, and no text of a repository or of a bundle is markup in it.
func writeFleetMarkdown(w io.Writer, f *summary.Fleet) error {
	p := markdownPage{document: "fleet.json"}
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
		if r.Violations > 0 {
			broken = append(broken, fmt.Sprintf("| %s | %d | %s |", name, r.Violations,
				prose(strings.Join(ruleTallies(r), " "), codeMarkdown)))
		}
	}
	for _, r := range f.Broken() {
		rules = append(rules, fmt.Sprintf("| %s | %s | %d | %d |", codeMarkdown(clip(r.ID, 200)),
			words(r.Title, 200), r.Repositories, r.Violations))
	}
	list := func(title, head string, all []string, upto int) {
		p.list("\n"+title+"\n"+head, len(all), upto, func(i int) string { return all[i] })
	}
	list("**This could not be decided:**", "", undecided, markdownLimit/3)
	list("### Rules", "\n| Rule | Title | Repositories | Violations |\n|---|---|---:|---:|", rules, markdownLimit/2)
	list("### Repositories", "\n| Repository | Violations | Rules |\n|---|---:|---|", broken, markdownLimit-4<<10)
	return p.end(w, f.Tool.Version)
}
