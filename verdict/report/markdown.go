package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

const (
	// markdownLimit is the size of the page, in bytes. GitHub drops a job summary of over 1 MiB, and a step may add
	// more.
	markdownLimit = 900 << 10
	// A longer error or violation is omitted: a path may have any length in a hostile tree.
	markdownPiece = 16 << 10
	// Up to this many violations are shown unfolded.
	markdownOpen = 5
)

// writeMarkdown writes the verdict as a page of GitHub's Markdown, for a job summary or a comment: the outcome, the
// errors, the coverage, the rules, and the violations, folded by rule. No text of the tree or the policy is markup, a
// link or a mention: see markdowntext.go. The page has at most 900 KiB, and counts what it omits.
func writeMarkdown(w io.Writer, document *verdict.Verdict) error {
	v := newView(document)
	p, tail := markdownPage{document: "verdict.json"}, markdownPage{document: "verdict.json"}
	p.line("## policyscan " + v.headline())
	p.errors(foldUnparsed(v.Errors, ""))
	p.facts(v)
	p.list(ruleHead, len(v.groups), markdownLimit/2, func(i int) string { return v.ruleRow(v.groups[i]) })
	tail.allowed(v)
	tail.passed(v)
	p.violations(v, markdownLimit-tail.b.Len()-2<<10) // the rest is for the last lines
	p.b.Write(tail.b.Bytes())
	return p.end(w, v.Tool.Version)
}

type markdownPage struct {
	b        bytes.Buffer
	document string // the complete one
}

func (p *markdownPage) line(s string) { p.b.WriteString(s + "\n") }

// list writes n pieces under a head, until the page has upto bytes, and returns the number of omitted ones, which it
// writes, too. If the head does not fit it writes nothing.
func (p *markdownPage) list(head string, n, upto int, piece func(int) string) (omitted int) {
	if n == 0 || p.b.Len()+len(head) > upto {
		return n
	}
	p.line(head)
	for i := range n {
		s := piece(i)
		if len(s) > markdownPiece {
			omitted++
			continue
		}
		if p.b.Len()+len(s) > upto {
			omitted += n - i
			break
		}
		p.line(s)
	}
	if omitted > 0 {
		p.line(fmt.Sprintf("\nand %d more, in `%s`.", omitted, p.document))
	}
	return omitted
}

// fold is [markdownPage.list] in an element that a reader can open.
func (p *markdownPage) fold(summary string, open bool, head string, n, upto int, piece func(int) string) (omitted int) {
	attribute := ""
	if open {
		attribute = " open"
	}
	before := p.b.Len()
	omitted = p.list(fmt.Sprintf("\n<details%s>\n<summary>%s</summary>\n%s", attribute, summary, head), n, upto, piece)
	if p.b.Len() > before {
		p.line("\n</details>")
	}
	return omitted
}

func (p *markdownPage) end(w io.Writer, version string) error {
	p.line("\npolicyscan " + words(version, 100) + ". All of this, for programs, is in `" + p.document + "`.")
	_, err := w.Write(p.b.Bytes())
	return err
}

func (p *markdownPage) errors(all []verdict.Error) {
	p.list("\n**This could not be decided:**\n", len(all), markdownLimit/3, func(i int) string {
		return errorItem("", &all[i])
	})
}

// errorItem is an error in a list; of is its origin, as Markdown.
func errorItem(of string, e *verdict.Error) string {
	s := "* " + codeMarkdown(clip(e.Code, 100))
	for _, at := range []string{of, codeMarkdown(e.File)} {
		if at != "" {
			s += " " + at
		}
	}
	if next := nextStep(e); next != "" {
		return s + ": " + words(e.Message, 1000) + "; " + next
	}
	return s + ": " + words(e.Message, 1000)
}

func (p *markdownPage) facts(v *view) {
	c := &v.Coverage
	fact := func(name, text string) {
		if text != "" {
			p.line("- **" + name + "**: " + text)
		}
	}
	p.line("")
	for _, change := range v.policyChanges() {
		fact("Policy change", words(change, 1000))
	}
	fact("Scope", words(v.scopeLine(), 1000))
	looked := v.looked() + ", " + count(int(c.Bytes), "byte") + " scanned"
	if c.Deleted > 0 {
		looked += fmt.Sprintf(", %d deleted", c.Deleted)
	}
	fact("Coverage", looked)
	fact("Not scanned", omissions(c.NotScanned))
	fact("Only text checked", omissions(v.unparsed()))
	fact("Left out", omissions(c.LeftOut))
	for i := range v.Policy[:min(len(v.Policy), 10)] {
		fact("Policy", words(v.bundle(i), 1000))
	}
	for _, note := range append(v.notes(), v.limits()...) {
		fact("Note", words(note, 1000))
	}
	fact("Accepted with `--allow`", words(strings.Join(v.Allowed, ", "), 300))
}

// omissions names the first files of a list, with the reasons.
func omissions(files []verdict.Omission) string {
	var all []string
	for _, o := range files {
		why := words(o.Reason, 100)
		if s := reasonWords(o.Reason); s != "" {
			why += ": " + prose(s, codeMarkdown)
		}
		all = append(all, codeMarkdown(clip(o.File, 300))+" ("+why+")")
	}
	return firstOf(all, mostNames)
}

// words is [prose] of the first n characters.
func words(s string, n int) string { return prose(clip(s, n), codeMarkdown) }

const ruleHead = "\n| Rule | Title | Type | Severity | Owner | Selects | Outcome |\n|---|---|---|---|---|--:|---|"

// ruleRow is a rule in a table, its id linked to its manual.
func (v *view) ruleRow(g *ruleGroup) string {
	r := g.rule
	row := "| " + link(codeMarkdown(clip(r.ID, 200)), r.DocsURL)
	for _, s := range []string{r.Title, r.Type, r.Severity, r.Owner} {
		row += " | " + words(s, 200)
	}
	return row + " | " + count(r.Files, "file") + " | " + v.ruleOutcome(g) + " |"
}

func (p *markdownPage) passed(v *view) {
	var passed []*ruleGroup
	for _, g := range v.byRule {
		if len(g.violations) == 0 {
			passed = append(passed, g)
		}
	}
	p.fold(count(len(passed), "rule")+" without a violation", false, ruleHead, len(passed), p.b.Len()+markdownLimit/8,
		func(i int) string { return v.ruleRow(passed[i]) })
}

// violations lists the violations by rule. The rules share the room up to upto, so that one with thousands of
// violations leaves some to the next ones.
func (p *markdownPage) violations(v *view, upto int) {
	const most = 64 // rules that room is kept for
	hidden := 0
	for i, g := range v.groups {
		r, reason := g.rule, commonReason(g.violations)
		summary := fmt.Sprintf("%s %s: %s", codeHTML(clip(r.ID, 200)), prose(clip(r.Title, 200), codeHTML), g.counts())
		head, share := "", (upto-p.b.Len())/min(len(v.groups)-i, most)
		for _, note := range ruleNotes(r, reason) {
			head += "\n" + note + "\n"
		}
		head = strings.TrimSuffix(head, "\n")
		hidden += p.fold(summary, len(v.Violations) <= markdownOpen, head, len(g.violations), p.b.Len()+share,
			func(i int) string { return violationMarkdown(g.violations[i], label(g.violations[i].Status), reason) })
	}
	if hidden > 0 {
		p.line(fmt.Sprintf("\n**%d of %s not shown**, to keep this page under 900 KiB. All are in `verdict.json`.",
			hidden, count(len(v.Violations), "violation")))
	}
}

// ruleNotes are paragraphs about a violated rule.
func ruleNotes(r *verdict.Rule, reason string) []string {
	var notes []string
	for _, note := range [][2]string{
		{"Why", words(reason, 1000)}, {"Fix", lines(clip(r.Remediation, 2000))},
		{"Docs", link(codeMarkdown(clip(r.DocsURL, 2000)), r.DocsURL)},
	} {
		if note[1] != "" {
			notes = append(notes, "**"+note[0]+"**: "+note[1])
		}
	}
	return notes
}

// factsMarkdown is the pattern and the other facts of a violation.
func factsMarkdown(f *finding) []string {
	name, found := f.found(codeMarkdown(f.pattern()))
	facts := []string{name + ": " + found}
	for _, fact := range f.facts() {
		facts = append(facts, prose(fact, codeMarkdown))
	}
	return facts
}

// violationMarkdown is a violation: its place and status, its facts, and its line.
func violationMarkdown(x *verdict.Violation, status, reason string) string {
	f := newFinding(x)
	place := theTree
	switch {
	case f.inFile() && x.File != "":
		place = codeMarkdown(fmt.Sprintf("%s:%d:%d", x.File, f.at.Line, f.at.Column))
	case x.File != "":
		place = codeMarkdown(x.File)
	}
	s := "\n**" + place + "**"
	if status != "" {
		s += " **" + status + "**"
	}
	if reason == "" && x.Reason != "" {
		s += " " + words(x.Reason, 1000)
	}
	facts := factsMarkdown(f)
	if !f.hidesPattern() {
		facts = facts[1:]
	}
	if len(facts) > 0 {
		s += " (" + strings.Join(facts, "; ") + ")"
	}
	if !f.inFile() {
		return s
	}
	// Every line begins with a gutter, so none can end the block. For careless renderers, the fence is longer than any
	// run of backticks in it.
	source := textWriter{TextOptions: TextOptions{Width: 100, Commands: true}}
	number := fmt.Sprintf("%5d | ", f.at.Line)
	left, match, right := sourceLine(&f.at)
	src, carets := source.snippet(left, match, right, source.Width-len(number))
	fence := "```"
	for strings.Contains(src, fence) {
		fence += "`"
	}
	gutter := strings.Repeat(" ", len(number)-len(" | ")) + " | "
	src = strings.TrimRight(verdict.Defuse(number+src), " ")
	return s + "\n\n" + fence + "\n" + src + "\n" + gutter + carets + "\n" + fence
}

// allowed counts the allowed violations and lists the new ones, then the allowances that end soon.
func (p *markdownPage) allowed(v *view) {
	const most = markdownLimit / 8
	if note := v.allowedNote(); note != "" {
		p.line("\n" + prose(full(sentence(note)), codeMarkdown))
	}
	fresh, ending := v.newAllowed, v.endings()
	p.fold(fmt.Sprintf("%d %s", len(fresh), newButAllowed), len(fresh) <= markdownOpen, "", len(fresh), p.b.Len()+most,
		func(i int) string {
			a := fresh[i]
			return violationMarkdown(&a.Violation, newButAllowed, a.Reason) + "\n\n" +
				codeMarkdown(clip(a.RuleID, 200)) + ": " + prose(allowanceWords(&a.Allowance), codeMarkdown)
		})
	p.fold(prose(v.endingsNote(), codeHTML), len(ending) <= markdownOpen, "", len(ending), p.b.Len()+most,
		func(i int) string { return "* " + prose(ending[i], codeMarkdown) })
}
