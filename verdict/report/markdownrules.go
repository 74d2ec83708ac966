package report

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// ruleCell is a rule's id, linked to its manual.
func ruleCell(r *verdict.Rule) string { return link(codeMarkdown(clip(r.ID, 200)), r.DocsURL) }

func cellText(s string) string { return prose(clip(s, 200), codeMarkdown) }

func (p *markdownPage) broken(groups []*ruleGroup) {
	if len(groups) == 0 {
		return
	}
	heading, line := "\n| Rule | Title | Type | Severity | Owner | Violations |", "|---|---|---|---|---|--:|"
	if hasStatus(p.v) {
		heading, line = heading+" New |", line+"--:|"
	}
	p.line(heading + " In files |\n" + line + "--:|")
	for i, g := range groups {
		r := g.rule
		row := fmt.Sprintf("| %s | %s | %s | %s | %s | %d |", ruleCell(r), cellText(r.Title), cellText(r.Type),
			cellText(r.Severity), cellText(r.Owner), len(g.violations))
		if hasStatus(p.v) {
			row += fmt.Sprintf(" %d |", countNew(g.violations))
		}
		row += fmt.Sprintf(" %d of %d |\n", g.files, max(r.Files, g.files))
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
	if len(p.v.AllowedViolations) > 0 {
		what += " that is not allowed"
	}
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
// upto, so that one with thousands of violations leaves some to those after it. What was there before
// gets only what the new ones leave.
func (p *markdownPage) violations(groups []*ruleGroup, upto int) {
	const (
		rest = 2 << 10 // for what is below
		most = 64      // rules for which room is kept at a time
	)
	left := upto - rest - p.b.Len()
	folds := make([]*markdownFold, len(groups))
	for i, g := range groups {
		folds[i] = &markdownFold{page: p, group: g, reason: commonReason(g.violations), fresh: countNew(g.violations)}
	}
	all := true // of the new ones that are not too long are shown
	for i, f := range folds {
		left -= f.take(left/min(len(folds)-i, most), f.fresh)
	}
	for _, f := range folds {
		left -= f.take(left, f.fresh)
		all = all && f.next >= f.fresh
	}
	for i, f := range folds {
		if all {
			left -= f.take(left/min(len(folds)-i, most), len(f.group.violations))
		}
	}
	shown := 0
	for _, f := range folds {
		shown += f.shown
		f.write()
	}
	if n := len(p.v.Violations) - shown; n > 0 {
		p.line(fmt.Sprintf("\n**%d of %s not shown**, to keep this page under 900 KiB. All are in `verdict.json`.", n,
			count(len(p.v.Violations), "violation")))
	}
}

// A markdownFold is a rule and as many of its violations as the page has room for.
type markdownFold struct {
	page   *markdownPage
	group  *ruleGroup
	reason string
	fresh  int // of the violations, which come first
	next   int // the first that was not looked at
	shown  int // of those before it; the others are too long
}

const (
	markdownClosing = "\n</details>\n"
	markdownMore    = 100 // bytes at most for how many more there are
)

// take shows more violations, up to one of them, in at most so many bytes, and returns how many it needs.
func (f *markdownFold) take(room, upto int) (used int) {
	for ; f.next < upto; f.next++ {
		n := len(f.piece(f.next))
		if n > markdownPiece {
			continue
		}
		if f.shown == 0 {
			n += len(f.page.groupHead(f.group)) + len(markdownClosing) + markdownMore
		}
		if used+n > room {
			break
		}
		used += n
		if f.shown++; f.shown == len(f.group.violations) {
			used -= markdownMore
		}
	}
	return used
}

func (f *markdownFold) piece(i int) string {
	x := f.group.violations[i]
	return f.page.violation(x, statusWords(x.Status), f.reason)
}

// write writes the fold, if anything is shown in it.
func (f *markdownFold) write() {
	p := f.page
	if f.shown == 0 {
		return
	}
	p.b.WriteString(p.groupHead(f.group))
	for i := range f.next {
		if piece := f.piece(i); len(piece) <= markdownPiece {
			p.b.WriteString(piece)
		}
	}
	if n := len(f.group.violations) - f.shown; n > 0 {
		p.line(fmt.Sprintf("\n%s more of this rule, in `verdict.json`.", count(n, "violation")))
	}
	p.b.WriteString(markdownClosing)
}

func (p *markdownPage) groupHead(g *ruleGroup) string {
	r := g.rule
	var b strings.Builder
	b.WriteString("\n<details")
	if len(p.v.Violations) <= markdownOpen {
		b.WriteString(" open")
	}
	fresh := ""
	if g.violations[0].Status != "" {
		fresh = " (" + newWords(countNew(g.violations)) + ")"
	}
	fmt.Fprintf(&b, ">\n<summary>%s of %s: %s%s</summary>\n", count(len(g.violations), "violation"),
		codeHTML(clip(r.ID, 200)), prose(clip(r.Title, 200), codeHTML), fresh)
	note := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n**%s**: %s\n", name, text)
		}
	}
	note("Why", prose(clip(commonReason(g.violations), 1000), codeMarkdown))
	note("Fix", lines(clip(r.Remediation, 2000)))
	note("Docs", link(codeMarkdown(clip(r.DocsURL, 2000)), r.DocsURL))
	return b.String()
}

// violation writes a violation: its place, with its status in words, what else is to be known of it, and its line.
func (p *markdownPage) violation(x *verdict.Violation, status, reason string) string {
	shown := pointed(x)
	e := &shown.Evidence
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s**", markdownPlace(x))
	if status != "" {
		b.WriteString(" **" + status + "**")
	}
	if reason == "" && x.Reason != "" {
		b.WriteString(" " + prose(clip(x.Reason, 1000), codeMarkdown))
	}
	notes := alsoAt(x, mostLines)
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
	left, match, right := sourceLine(e)
	src, carets := p.source.snippet(left, match, right, p.source.Width-len(number+" | "))
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
	switch p := pointed(x); {
	case x.File == "":
		return theTree
	case !hasPlace(&x.Evidence):
		return codeMarkdown(x.File)
	default:
		return codeMarkdown(fmt.Sprintf("%s:%d:%d", x.File, p.Line, p.Column))
	}
}

// allowed says how much is allowed, and shows what of it is new, folded; then come the allowances that end soon.
func (p *markdownPage) allowed() string {
	const most = markdownLimit / 8
	var b strings.Builder
	fold := func(title string, pieces []string) {
		if len(pieces) == 0 {
			return
		}
		open := ""
		if len(pieces) <= markdownOpen {
			open = " open"
		}
		fmt.Fprintf(&b, "\n<details%s>\n<summary>%s</summary>\n", open, title)
		upto := b.Len() + most
		for i, piece := range pieces {
			if b.Len()+len(piece) > upto {
				fmt.Fprintf(&b, "\nand %d more, in `verdict.json`.\n", len(pieces)-i)
				break
			}
			b.WriteString(piece)
		}
		b.WriteString("\n</details>\n")
	}
	if note := allowedNote(p.v); note != "" {
		b.WriteString("\n" + prose(sentence(note), codeMarkdown) + ".\n")
	}
	var fresh, ending []string
	for _, a := range allowedNew(p.v) {
		piece := p.violation(&a.Violation, newButAllowed, a.Reason)
		fresh = append(fresh, fmt.Sprintf("%s\n%s: %s\n", piece, codeMarkdown(clip(a.RuleID, 200)),
			prose(allowanceWords(&a.Allowance), codeMarkdown)))
	}
	mark := "\n* "
	for _, line := range endings(p.v) {
		ending, mark = append(ending, mark+prose(line, codeMarkdown)+"\n"), "* "
	}
	fold(fmt.Sprintf("%d new but allowed", len(fresh)), fresh)
	fold(prose(endingsNote(p.v), codeHTML), ending)
	return b.String()
}
