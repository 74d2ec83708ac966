package report

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A markdownGroup is a rule and what it found.
type markdownGroup struct {
	rule       *verdict.Rule
	violations []*verdict.Violation
	files      int
}

// groups returns the rules that are broken, in the order of their violations, and the
// others.
func (p *markdownPage) groups() (broken []*markdownGroup, held []*verdict.Rule) {
	type key struct{ id, kind, title string }
	unknown := map[key]*verdict.Rule{} // of a verdict that does not list its rules
	byRule := map[*verdict.Rule]*markdownGroup{}
	for i, r := range rulesOf(p.v) {
		x := &p.v.Violations[i]
		if r == nil {
			k := key{x.RuleID, x.RuleType, x.Title}
			if unknown[k] == nil {
				unknown[k] = &verdict.Rule{ID: x.RuleID, Type: x.RuleType, Title: x.Title}
			}
			r = unknown[k]
		}
		g := byRule[r]
		if g == nil {
			g = &markdownGroup{rule: r}
			byRule[r] = g
			broken = append(broken, g)
		}
		// Violations of a rule are in the order of their paths.
		if n := len(g.violations); x.File != "" && (n == 0 || g.violations[n-1].File != x.File) {
			g.files++
		}
		g.violations = append(g.violations, x)
	}
	for i := range p.v.Rules {
		if byRule[&p.v.Rules[i]] == nil {
			held = append(held, &p.v.Rules[i])
		}
	}
	return broken, held
}

// ruleCell is a rule's id, linked to its manual.
func ruleCell(r *verdict.Rule) string { return link(codeMarkdown(clip(r.ID, 200)), r.DocsURL) }

func cellText(s string) string { return prose(clip(s, 200), codeMarkdown) }

func (p *markdownPage) broken(groups []*markdownGroup) {
	if len(groups) == 0 {
		return
	}
	p.line("\n| Rule | Title | Type | Severity | Owner | Violations | In files |\n|---|---|---|---|---|--:|--:|")
	for i, g := range groups {
		r := g.rule
		row := fmt.Sprintf("| %s | %s | %s | %s | %s | %d | %d of %d |\n", ruleCell(r),
			cellText(r.Title), cellText(r.Type),
			cellText(r.Severity), cellText(r.Owner), len(g.violations), g.files, max(r.Files, g.files))
		if !p.add(row, markdownLimit/2) {
			p.line(fmt.Sprintf("\n%s more, in `verdict.json`.", count(len(groups)-i, "broken rule")))
			break
		}
	}
}

// held returns the rules that nothing was found against, folded.
func (p *markdownPage) held(rules []*verdict.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	what := "without a violation"
	switch {
	case p.v.Coverage.Scanned == 0 && !onlyPaths(p.v):
		what = "not checked against any file"
	case len(p.v.Errors) > 0:
		what += " in what was scanned"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n<details>\n<summary>%s %s</summary>\n\n| Rule | Title | Type | Selects |\n|---|---|---|--:|\n",
		count(len(rules), "rule"), what)
	for i, r := range rules {
		row := fmt.Sprintf("| %s | %s | %s | %s |\n", ruleCell(r), cellText(r.Title),
			cellText(r.Type), count(r.Files, "file"))
		if b.Len()+len(row) > markdownLimit/8 {
			fmt.Fprintf(&b, "\n%s more, in `verdict.json`.\n", count(len(rules)-i, "rule"))
			break
		}
		b.WriteString(row)
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// violations folds what was found by rule. The rules share the room that is left up to
// upto, so that one with thousands of violations leaves some to those after it.
func (p *markdownPage) violations(groups []*markdownGroup, upto int) {
	const (
		rest = 2 << 10 // for what is below
		most = 64      // rules for which room is kept at a time
	)
	shown := 0
	for i, g := range groups {
		left := upto - rest - p.b.Len()
		shown += p.group(g, p.b.Len()+left/min(len(groups)-i, most))
	}
	if n := len(p.v.Violations) - shown; n > 0 {
		p.line(fmt.Sprintf("\n**%d of %s not shown**, to keep this page under 900 KiB. All are in `verdict.json`.", n,
			count(len(p.v.Violations), "violation")))
	}
}

// group writes the fold of a rule and returns how many violations are in it. It is left
// out if not one has room.
func (p *markdownPage) group(g *markdownGroup, upto int) (shown int) {
	const closing = "\n</details>\n"
	upto -= len(closing) + 100
	was := p.b.Len()
	if !p.add(p.groupHead(g), upto) {
		return 0
	}
	reason := p.reason(g)
	for _, x := range g.violations {
		piece := p.violation(x, reason)
		if len(piece) > markdownPiece {
			continue
		}
		if !p.add(piece, upto) {
			break
		}
		shown++
	}
	if shown == 0 {
		p.b.Truncate(was)
		return 0
	}
	if n := len(g.violations) - shown; n > 0 {
		p.line(fmt.Sprintf("\n%s more of this rule, in `verdict.json`.", count(n, "violation")))
	}
	p.b.WriteString(closing)
	return shown
}

// reason is what all violations of a rule give as their reason, "" if they differ.
func (p *markdownPage) reason(g *markdownGroup) string {
	reason := g.violations[0].Reason
	for _, x := range g.violations {
		if x.Reason != reason {
			return ""
		}
	}
	return reason
}

func (p *markdownPage) groupHead(g *markdownGroup) string {
	r := g.rule
	var b strings.Builder
	b.WriteString("\n<details")
	if len(p.v.Violations) <= markdownOpen {
		b.WriteString(" open")
	}
	fmt.Fprintf(&b, ">\n<summary>%s of %s: %s</summary>\n", count(len(g.violations), "violation"),
		codeHTML(clip(r.ID, 200)), prose(clip(r.Title, 200), codeHTML))
	note := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n**%s**: %s\n", name, text)
		}
	}
	note("Why", prose(clip(p.reason(g), 1000), codeMarkdown))
	note("Fix", lines(clip(r.Remediation, 2000)))
	note("Docs", link(codeMarkdown(clip(r.DocsURL, 2000)), r.DocsURL))
	return b.String()
}

func (p *markdownPage) violation(x *verdict.Violation, reason string) string {
	e := &x.Evidence
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s**", markdownPlace(x))
	if reason == "" && x.Reason != "" {
		b.WriteString(" " + prose(clip(x.Reason, 1000), codeMarkdown))
	}
	var notes []string
	if e.Occurrences > 1 {
		notes = append(notes, fmt.Sprintf("the first of %d in this file", e.Occurrences))
	}
	if hidesPattern(e) {
		name, found := foundOf(x, codeMarkdown(clip(e.Pattern, 1000)))
		notes = append(notes, name+": "+found)
	}
	if inAnotherEncoding(e) {
		notes = append(notes, "found as "+codeMarkdown(clip(e.Encoding, 100)))
	}
	if x.Note != "" {
		notes = append(notes, prose(clip(x.Note, 1000), codeMarkdown))
	}
	if len(notes) > 0 {
		b.WriteString(" (" + strings.Join(notes, "; ") + ")")
	}
	if !hasPlace(e) {
		b.WriteString("\n")
		return b.String()
	}
	// Every line begins with a gutter, so none can end the block. The fence is longer than
	// any run in it all the same, for renderers that look no closer.
	number := fmt.Sprintf("%5d", e.Line)
	src, carets := p.source.source(e, len(number)+len(" | "))
	fence := "```"
	for strings.Contains(src, fence) {
		fence += "`"
	}
	gutter := strings.Repeat(" ", len(number))
	fmt.Fprintf(&b, "\n\n%s\n%s\n%s\n%s\n", fence, strings.TrimRight(number+" | "+src, " "), gutter+" | "+carets, fence)
	return b.String()
}

// markdownPlace is where a violation is.
func markdownPlace(x *verdict.Violation) string {
	switch {
	case x.File == "":
		return theTree
	case !hasPlace(&x.Evidence):
		return codeMarkdown(x.File)
	}
	return codeMarkdown(fmt.Sprintf("%s:%d:%d", x.File, x.Evidence.Line, x.Evidence.Column))
}
