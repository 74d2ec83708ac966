package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

const (
	// markdownLimit is how long the page gets, in bytes. GitHub drops a job summary of over 1 MiB whole, and one step
	// may have more to say than this page.
	markdownLimit = 900 << 10
	// A longer error or violation is omitted: a path may have any length in a hostile tree.
	markdownPiece = 16 << 10
	// Up to this many violations are shown unfolded.
	markdownOpen = 5
)

// writeMarkdown writes the verdict as a page of GitHub's Markdown, for a job summary or a comment: the outcome, what
// could not be decided, what was looked at, the rules, and the violations, folded by rule. Text of the tree and of the
// policy is not markup, link or mention in it: see markdowntext.go. The page has at most 900 KiB; what is omitted is
// counted, and is in verdict.json.
func writeMarkdown(w io.Writer, v *verdict.Verdict) error {
	p := markdownPage{v: newView(v), source: textWriter{TextOptions: TextOptions{Width: 100, Commands: true}}}
	p.line("## policyscan " + p.headline())
	p.errors()
	p.facts()
	p.ruleTable()
	tail := p.allowed() + p.passed()
	p.violations(markdownLimit - len(tail))
	p.b.WriteString(tail)
	return p.end(w, v.Tool.Version, "verdict.json")
}

type markdownPage struct {
	b      bytes.Buffer
	v      *view
	source textWriter // draws lines and carets as the text report does
}

func (p *markdownPage) line(s string) { p.b.WriteString(s + "\n") }

// add writes a piece whole, or not at all and false if the page would get longer than upto.
func (p *markdownPage) add(piece string, upto int) bool {
	if p.b.Len()+len(piece) > upto {
		return false
	}
	p.b.WriteString(piece)
	return true
}

// end writes the last line, and hands the page on.
func (p *markdownPage) end(w io.Writer, version, document string) error {
	p.line("\npolicyscan " + words(version, 100) + ". All of this, for programs, is in `" + document + "`.")
	_, err := w.Write(p.b.Bytes())
	return err
}

// headline is the verdict in one glance. What could not be decided never looks like a PASS, nor does a PASS of a run
// that held nothing against the rules look like any other.
func (p *markdownPage) headline() string {
	v, c := p.v, &p.v.Coverage
	open := len(v.Errors) > 0 || !v.Complete
	switch {
	case len(v.Violations) > 0 && open:
		return "FAIL: " + v.counts(count) + ", and not all could be decided"
	case len(v.Violations) > 0:
		return "FAIL: " + v.counts(count)
	case open:
		return "could not decide: " + count(len(v.Errors), "error")
	case !v.passes():
		return "FAIL: no rule was enforced"
	case c.Files == 0:
		return "PASS, but there was nothing to scan"
	case v.coversNothing():
		return "PASS, but nothing was scanned: no rule selects any file"
	case v.onlyPaths():
		return "PASS: no violation in the paths of " + count(c.Files, "file") + v.allowedSuffix()
	case c.Scanned == 0:
		return "PASS, but nothing was scanned: --allow excluded every file"
	case c.Scanned < c.Governed:
		return fmt.Sprintf("PASS: no violation in %d of %s%s", c.Scanned, count(c.Governed, "covered file"),
			v.allowedSuffix())
	}
	return "PASS: no violation in " + count(c.Scanned, "covered file") + v.allowedSuffix()
}

// errors comes first: they are why there is no PASS.
func (p *markdownPage) errors() {
	v := p.v
	if len(v.Errors) == 0 && v.Complete {
		return
	}
	lead := "**This is not a PASS.** Nothing was scanned, because this could not be decided:"
	if len(v.Violations) > 0 {
		lead = "**Besides the violations, this could not be decided:**"
	} else if v.Coverage.Scanned > 0 {
		lead = "**This is not a PASS.** No violation was found in what was scanned; the rest could not be decided:"
	}
	p.line("\n" + lead + "\n")
	left := len(v.Errors)
	for i := range v.Errors {
		e := &v.Errors[i]
		// Not "-", as the facts below: two lists of one mark are one list.
		s := "* " + codeMarkdown(clip(e.Code, 100))
		if e.File != "" {
			s += " " + codeMarkdown(e.File)
		}
		s += ": " + words(e.Message, 1000)
		if next := nextStep(e.Code); next != "" {
			s += "; " + next
		}
		if len(s) > markdownPiece {
			continue
		}
		if !p.add(s+"\n", markdownLimit/3) {
			break
		}
		left--
	}
	if left > 0 {
		p.line(fmt.Sprintf("* and %s more, in `verdict.json`", count(left, "error")))
	}
}

// nextStep is what a person does about an error whose message says only what was found.
func nextStep(errorCode string) string {
	switch errorCode {
	case code.Read:
		return "fix permissions or disk"
	case code.FilesFrom:
		return "fix the list"
	case code.Output:
		return "fix where the output goes"
	}
	return ""
}

// facts says what was looked at, and by what.
func (p *markdownPage) facts() {
	v, c := p.v, &p.v.Coverage
	fact := func(name, text string) {
		if text != "" {
			p.line("- **" + name + "**" + text)
		}
	}
	p.line("")
	for _, change := range v.policyChanges() {
		fact("Policy change", ": "+words(change, 1000))
	}
	scope := words(v.compared(), 1000)
	if scope != "" && v.Scope.Mode == "diff" {
		scope += ", head " + codeMarkdown(abbreviated(v.Scope.HeadCommit))
	}
	if scope == "" {
		scope = cmp.Or(v.scopeWords(), words(v.Scope.Mode, 100))
		if v.Scope.Base != "" {
			scope += ", since " + codeMarkdown(clip(v.Scope.Base, 300))
		}
	}
	fact("Scope", ": "+scope)
	if note := v.behindNote(); note != "" {
		fact("Behind", ": "+words(note, 1000))
	}
	s := fmt.Sprintf(": %s, %d covered, %d scanned in full (%s)", count(c.Files, "file"), c.Governed, c.Scanned,
		count(int(c.Bytes), "byte"))
	if c.Deleted > 0 {
		s += fmt.Sprintf(", %d deleted", c.Deleted)
	}
	fact("Coverage", s)
	fact("Not scanned", omissions(c.NotScanned))
	fact("Only text checked", omissions(v.unparsed()))
	fact("Left out", omissions(c.LeftOut))
	for i := range v.Policy[:min(len(v.Policy), 10)] {
		b := &v.Policy[i]
		s := ": " + count(b.Boundaries, "boundary rule") + ", " + count(b.Invariants, "invariant rule")
		if b.Deprecated > 0 {
			s += fmt.Sprintf(", %d deprecated and not enforced", b.Deprecated)
		}
		fact("Policy", s+", from "+words(b.From, 100)+" (sha256 "+codeMarkdown(b.SHA256[:min(len(b.SHA256), 12)])+")")
	}
	if n := len(v.unused); v.Scope.Mode == "full" && c.Governed > 0 && n > 0 {
		fact("Unused", fmt.Sprintf(": %d of %s %s no file of this tree", n, count(len(v.Rules), "rule"), selects(n)))
	}
	if v.Partial {
		fact("Narrowed", " by `--rule` or `--exclude`: this verdict is not about the whole tree")
	}
	if len(v.Allowed) > 0 {
		fact("Allowed", " by `--allow`: "+words(strings.Join(v.Allowed, ", "), 300))
	}
}

// omissions names the first files of a list, with the reasons; "" if there are none.
func omissions(files []verdict.Omission) string {
	const most = 10
	s, comma := "", ": "
	for i, o := range files {
		if i == most {
			return s + fmt.Sprintf(", and %d more", len(files)-most)
		}
		s += comma + codeMarkdown(clip(o.File, 300)) + " (" + words(o.Reason, 100) + ")"
		comma = ", "
	}
	return s
}

// ruleCell is a rule's id, linked to its manual.
func ruleCell(r *verdict.Rule) string { return link(codeMarkdown(clip(r.ID, 200)), r.DocsURL) }

// words is [prose] of the first n characters.
func words(s string, n int) string { return prose(clip(s, n), codeMarkdown) }

// ruleTable lists the rules with violations.
func (p *markdownPage) ruleTable() {
	groups := p.v.groups
	if len(groups) == 0 {
		return
	}
	heading, line := "\n| Rule | Title | Type | Severity | Owner | Violations |", "|---|---|---|---|---|--:|"
	if p.v.comparable {
		heading, line = heading+" New |", line+"--:|"
	}
	p.line(heading + " In files |\n" + line + "--:|")
	for i, g := range groups {
		r := g.rule
		row := "| " + ruleCell(r)
		for _, s := range []string{r.Title, r.Type, r.Severity, r.Owner} {
			row += " | " + words(s, 200)
		}
		row += fmt.Sprintf(" | %d |", len(g.violations))
		if p.v.comparable {
			row += fmt.Sprintf(" %d |", g.fresh)
		}
		if !p.add(fmt.Sprintf("%s %d of %d |\n", row, g.files, max(r.Files, g.files)), markdownLimit/2) {
			p.line(fmt.Sprintf("\n%s more, in `verdict.json`.", count(len(groups)-i, "broken rule")))
			break
		}
	}
}

// passed returns the rules without a violation, folded.
func (p *markdownPage) passed() string {
	v := p.v
	if len(v.passed) == 0 {
		return ""
	}
	what := "without a violation"
	if len(v.AllowedViolations) > 0 {
		what += " that is not allowed"
	}
	switch {
	case v.Coverage.Scanned == 0 && !v.onlyPaths():
		what = "not checked against any file"
	case len(v.Errors) > 0:
		what += " in what was scanned"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n<details>\n<summary>%s %s</summary>\n\n| Rule | Title | Type | Selects |\n|---|---|---|--:|\n",
		count(len(v.passed), "rule"), what)
	for i, r := range v.passed {
		row := fmt.Sprintf("| %s | %s | %s | %s |\n", ruleCell(r), words(r.Title, 200), words(r.Type, 200),
			count(r.Files, "file"))
		if b.Len()+len(row) > markdownLimit/8 {
			fmt.Fprintf(&b, "\n%s more, in `verdict.json`.\n", count(len(v.passed)-i, "rule"))
			break
		}
		b.WriteString(row)
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// violation writes a violation: its place, with its status in words, what else is to be known of it, and its line.
func (p *markdownPage) violation(x *verdict.Violation, status, reason string) string {
	f := newFinding(x)
	e, place := &f.at, theTree
	switch {
	case f.inFile() && x.File != "":
		place = codeMarkdown(fmt.Sprintf("%s:%d:%d", x.File, e.Line, e.Column))
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
	notes := f.also(mostLines)
	if f.hidesPattern() {
		name, found := f.found(codeMarkdown(clip(e.Pattern, 1000)))
		notes = append(notes, name+": "+found)
	}
	if f.encodingNote() != "" {
		notes = append(notes, "found as "+codeMarkdown(clip(e.Encoding, 100)))
	}
	if x.Note != "" {
		notes = append(notes, words(x.Note, 1000))
	}
	if len(notes) > 0 {
		s += " (" + strings.Join(notes, "; ") + ")"
	}
	if !f.inFile() {
		return s + "\n"
	}
	// Every line begins with a gutter, so none can end the block. The fence is longer than any run in it anyway, for
	// renderers that look no closer.
	number := fmt.Sprintf("%5d | ", e.Line)
	left, match, right := sourceLine(e)
	src, carets := p.source.snippet(left, match, right, p.source.Width-len(number))
	fence := "```"
	for strings.Contains(src, fence) {
		fence += "`"
	}
	gutter := strings.Repeat(" ", len(number)-len(" | ")) + " | "
	return s + "\n\n" + fence + "\n" + strings.TrimRight(number+src, " ") + "\n" + gutter + carets + "\n" + fence + "\n"
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
	if note := p.v.allowedNote(); note != "" {
		b.WriteString("\n" + prose(sentence(note), codeMarkdown) + ".\n")
	}
	var fresh, ending []string
	for _, a := range p.v.newAllowed {
		piece := p.violation(&a.Violation, newButAllowed, a.Reason)
		fresh = append(fresh, fmt.Sprintf("%s\n%s: %s\n", piece, codeMarkdown(clip(a.RuleID, 200)),
			prose(allowanceWords(&a.Allowance), codeMarkdown)))
	}
	for i, line := range p.v.endings() {
		ending = append(ending, "* "+prose(line, codeMarkdown)+"\n")
		if i == 0 {
			ending[0] = "\n" + ending[0]
		}
	}
	fold(fmt.Sprintf("%d new but allowed", len(fresh)), fresh)
	fold(prose(p.v.endingsNote(), codeHTML), ending)
	return b.String()
}
