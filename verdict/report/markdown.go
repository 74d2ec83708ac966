package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

const (
	// markdownLimit is the size of the page, in bytes. GitHub drops a job summary of over 1 MiB, and a step may add
	// more.
	markdownLimit = 900_000
	// A longer error or file is omitted: a path may have any length in a hostile tree.
	markdownPiece = 16 << 10
	// Up to this many places are shown unfolded.
	markdownOpen = 5
)

// writeMarkdown writes the verdict as a page of GitHub's Markdown, for a job summary or a comment: the outcome, the
// errors, the coverage, the rules, and the places by rule, folded, and by file. No text of the tree or the policy is
// markup, a link or a mention: see markdowntext.go. The page has at most 900 KB, and says at its top what it omits.
func writeMarkdown(w io.Writer, document *verdict.Verdict, a Arrangement) error {
	v, omitted := newView(document), map[string]int{}
	v.arrange(a)
	page := func() *markdownPage { return &markdownPage{document: "verdict.json", omitted: omitted} }
	head, p, tail := page(), page(), page()
	head.line("## policyscan " + v.headline())
	errs := inOrder(foldUnparsed(v.Errors, ""), func(e verdict.Error) string { return e.File })
	p.list("error", "\n**This could not be decided:**\n", len(errs), markdownLimit/3, func(i int) string {
		return errorItem("", &errs[i])
	})
	p.facts(v)
	p.list("row", ruleHead, len(v.groups), markdownLimit/2, func(i int) string { return v.ruleRow(v.groups[i]) })
	tail.allowed(v)
	tail.passed(v)
	// The rest is for the first and the last lines.
	places, upto := 0, markdownLimit-head.b.Len()-tail.b.Len()-2<<10
	for i, s := range v.sections {
		places += s.numbers.all()
		share := p.b.Len() + (upto-p.b.Len())/(len(v.sections)-i)
		if heading := "\n### " + words(s.heading(), 1000); s.title != "" && p.b.Len()+len(heading) < share {
			p.line(heading)
		}
		p.violations(s, share)
	}

	var notes []string
	if n := omitted["place"]; n > 0 {
		notes = append(notes, number(n)+" of "+count(places, "place"))
	}
	for _, thing := range []string{"error", "row", "allowance"} {
		if n := omitted[thing]; n > 0 {
			notes = append(notes, count(n, thing))
		}
	}
	if len(notes) > 0 {
		head.line("\n**Not shown, to keep this page under 900 KB**: " + strings.Join(notes, ", ") +
			". All are in `verdict.json`.")
	}
	head.b.Write(p.b.Bytes())
	head.b.Write(tail.b.Bytes())
	return head.end(w, v.Tool.Version)
}

type markdownPage struct {
	b        bytes.Buffer
	document string         // the complete one
	omitted  map[string]int // number of each thing
}

func (p *markdownPage) line(s string) { p.b.WriteString(s + "\n") }

// list writes n pieces under a head, until the page has upto bytes, and returns the indexes of omitted ones, whose
// number it writes, too. If the head does not fit it writes nothing. A piece is a thing that the page counts, or "".
func (p *markdownPage) list(thing, head string, n, upto int, piece func(int) string) (omitted []int) {
	defer func() { p.omitted[thing] += len(omitted) }()
	fits := p.b.Len()+len(head) <= upto
	if n > 0 && fits {
		p.line(head)
	}
	for i := range n {
		if !fits {
			omitted = append(omitted, i)
			continue
		}
		s := piece(i)
		switch fits = p.b.Len()+len(s) <= upto || len(s) > markdownPiece; {
		case !fits || len(s) > markdownPiece:
			omitted = append(omitted, i)
		default:
			p.line(s)
		}
	}
	if len(omitted) > 0 && len(omitted) < n {
		p.line(fmt.Sprintf("\nand %s more, in `%s`.", number(len(omitted)), p.document))
	}
	return omitted
}

// fold is [markdownPage.list] in an element that a reader can open.
func (p *markdownPage) fold(
	thing, summary string, open bool, head string, n, upto int, piece func(int) string,
) []int {
	attribute := ""
	if open {
		attribute = " open"
	}
	before := p.b.Len()
	head = fmt.Sprintf("\n<details%s>\n<summary>%s</summary>\n%s", attribute, summary, head)
	omitted := p.list(thing, head, n, upto, piece)
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
	if date := dateWords(v.Scope.HeadDate); date != "" {
		fact("Commit", codeMarkdown(abbreviated(v.Scope.HeadCommit))+" of "+words(date, 100))
	}
	for _, change := range v.policyChanges() {
		fact("Policy change", words(change, 1000))
	}
	fact("Scope", words(v.scopeLine(), 1000))
	if looked := strings.TrimPrefix(v.looked(), "; "); looked != "" {
		looked += ", " + count(int(c.Bytes), "byte") + " scanned"
		if c.Deleted > 0 {
			looked += ", " + number(c.Deleted) + " deleted"
		}
		fact("Coverage", looked)
	}
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

// omissions names the first files of a list, with the reasons; one of several files is said once.
func omissions(files []verdict.Omission) string {
	var all []string
	same := ""
	alike := len(files) > 1 && !slices.ContainsFunc(files, func(o verdict.Omission) bool {
		return o.Reason != files[0].Reason
	})
	for _, o := range inOrder(files, func(o verdict.Omission) string { return o.File }) {
		why := words(o.Reason, 100)
		if s := reasonWords(o.Reason); s != "" {
			why += ": " + prose(s, codeMarkdown)
		}
		if why = " (" + why + ")"; alike {
			same, why = " (each "+why[2:], ""
		}
		all = append(all, codeMarkdown(clip(o.File, 300))+why)
	}
	return firstOf(all, mostNames) + same
}

// words is [prose] of the first n characters.
func words(s string, n int) string { return prose(clip(s, n), codeMarkdown) }

const ruleHead = "\n| Rule | Title | Type | Severity | Owner | Selects | Outcome |\n|---|---|---|---|---|--:|---|"

// ruleRow is a rule in a table, its id linked to its manual.
func (v *view) ruleRow(g *ruleGroup) string {
	r := g.rule
	row := "| " + link(codeMarkdown(clip(r.ID, 200)), r.DocsURL)
	for _, s := range []string{r.Title, r.Type, r.Severity, ownerNames(g.rule, g.violations...)} {
		row += " | " + words(s, 200)
	}
	return row + " | " + count(r.Files, "file") + " | " + v.ruleOutcome(g) + " |"
}

func (p *markdownPage) passed(v *view) {
	passed := slices.DeleteFunc(slices.Clone(v.byRule), func(g *ruleGroup) bool { return len(g.violations) > 0 })
	p.fold("row", count(len(passed), "rule")+" without a violation", false, ruleHead, len(passed),
		p.b.Len()+markdownLimit/8, func(i int) string { return v.ruleRow(passed[i]) })
}

// violations lists the places by rule and by file. The rules share the room up to upto, so that one with thousands of
// places leaves some to the next ones.
func (p *markdownPage) violations(s *section, upto int) {
	const most = 64 // rules that room is kept for
	open := s.numbers.all() <= markdownOpen
	for i, g := range s.groups {
		reason, onePattern := commonReason(g.violations), isOnePattern(g.violations)
		summary := fmt.Sprintf("%s %s: %s", codeHTML(clip(g.rule.ID, 200)), prose(clip(g.rule.Title, 200), codeHTML),
			g.numbers.words(""))
		head, share := "", (upto-p.b.Len())/min(len(s.groups)-i, most)
		for _, note := range ruleNotes(g.rule, reason, remedies(g.rule, g.violations...)) {
			head += "\n" + note + "\n"
		}
		first := newFinding(g.violations[0])
		if name, _ := first.found(""); onePattern && first.hidesPattern() && !first.isIn(reason) {
			head += "\n**" + sentence(name) + "**" + strings.TrimPrefix(patternMarkdown(first), name) + "\n"
		}
		head = strings.TrimSuffix(head, "\n")
		cut := make([]int, len(g.files)) // places of each file
		for _, i := range p.fold("", summary, open, head, len(g.files), p.b.Len()+share, func(i int) (piece string) {
			piece, cut[i] = fileMarkdown(g.files[i], reason, onePattern)
			return piece
		}) {
			cut[i] = g.files[i].numbers.all()
		}
		for _, n := range cut {
			p.omitted["place"] += n
		}
	}
}

func ruleNotes(r *verdict.Rule, reason string, fixes []string) []string {
	all := [][2]string{{"Why", words(reason, 1000)}}
	for _, fix := range fixes {
		all = append(all, [2]string{"Fix", lines(clip(fix, 2000))})
	}
	var notes []string
	for _, note := range append(all, [2]string{"Docs", link(codeMarkdown(clip(r.DocsURL, 2000)), r.DocsURL)}) {
		if note[1] != "" {
			notes = append(notes, "**"+note[0]+"**: "+note[1])
		}
	}
	return notes
}

func patternMarkdown(f *finding) string {
	name, found := f.found(codeMarkdown(f.pattern()))
	return name + ": " + found
}

// fileMarkdown is a file and its places, except for a reason and a pattern that all places of the rule have. omitted is
// the number of places for which there is no room.
func fileMarkdown(f *fileGroup, reason string, onePattern bool) (s string, omitted int) {
	all, more, _ := f.findings(math.MaxInt)
	if len(all) == 1 && more == 0 {
		return placeMarkdown(all[0], placeOf(all[0]), placeLabel(all[0].status()), reason, onePattern), 0
	}
	if all[0].inFile() || all[len(all)-1].inFile() { // otherwise each has its path
		s = "\n**" + cmp.Or(codeMarkdown(f.path), theTree) + "** " + f.numbers.perFile() + "\n"
	}
	for i := 0; i < len(all) && omitted == 0; {
		first := all[i]
		var places []string
		if !first.inFile() {
			places, i = []string{placeOf(first)}, i+1
		}
		for ; i < len(all) && (len(places) == 0 || first.inFile() && all[i].continues(first)); i++ {
			places = append(places, codeMarkdown(fmt.Sprintf("%d:%d", all[i].at.Line, all[i].at.Column)))
		}
		piece := placeMarkdown(first, strings.Join(places, ", "), placeLabel(first.status()), reason, onePattern) + "\n"
		if len(s)+len(piece) > markdownPiece-100 {
			omitted = len(all) - i + len(places)
			break
		}
		s += piece
	}
	if more += omitted; more > 0 {
		return s + "\nand " + count(more, "more place"), omitted
	}
	return strings.TrimSuffix(s, "\n"), 0
}

// continues reports whether a place has no line to show, so that it can be in a list after another one of its kind.
func (f *finding) continues(before *finding) bool {
	return f.Violation == before.Violation && f.status() == before.status() && f.at.Excerpt+before.at.Excerpt == ""
}

func placeOf(f *finding) string {
	switch {
	case f.File == "":
		return theTree
	case f.inFile():
		return codeMarkdown(fmt.Sprintf("%s:%d:%d", pathOf(f.Violation), f.at.Line, f.at.Column))
	}
	return codeMarkdown(pathOf(f.Violation))
}

// placeMarkdown is a place, its status and facts, and its line, if the verdict has it.
func placeMarkdown(f *finding, place, status, reason string, onePattern bool) string {
	s := "\n**" + place + "**"
	if status != "" {
		s += " **" + status + "**"
	}
	if reason == "" && f.Reason != "" {
		s += " " + words(f.Reason, 1000)
	}
	var facts []string
	if !onePattern && (f.hidesPattern() || f.at.Excerpt == "") {
		facts = append(facts, patternMarkdown(f))
	}
	if f.first {
		for _, fact := range f.remarks() {
			facts = append(facts, prose(fact, codeMarkdown))
		}
	}
	if len(facts) > 0 {
		s += " (" + strings.Join(facts, "; ") + ")"
	}
	if !f.inFile() || f.at.Excerpt == "" {
		return s
	}
	// Every line begins with a gutter, so none can end the block. For careless renderers, the fence is longer than any
	// run of backticks in it.
	source := textWriter{TextOptions: TextOptions{Width: 100, Commands: true}}
	lead := fmt.Sprintf("%5d | ", f.at.Line)
	left, match, right := sourceLine(&f.at)
	src, carets := source.snippet(left, match, right, source.Width-len(lead))
	fence := "```"
	for strings.Contains(src, fence) {
		fence += "`"
	}
	gutter := strings.Repeat(" ", len(lead)-len(" | ")) + " | "
	src = strings.TrimRight(verdict.Defuse(lead+src), " ")
	return s + "\n\n" + fence + "\n" + src + "\n" + gutter + carets + "\n" + fence
}

// allowed counts the allowed violations and lists the new ones, then the allowances that end soon.
func (p *markdownPage) allowed(v *view) {
	const most = markdownLimit / 8
	if note := v.allowedNote(); note != "" {
		p.line("\n" + prose(full(sentence(note)), codeMarkdown))
	}
	ending := v.endings()
	fresh := inOrder(v.newAllowed, func(a *verdict.AllowedViolation) string { return a.File })
	p.fold("allowance", number(len(fresh))+" "+newButAllowed, len(fresh) <= markdownOpen, "", len(fresh),
		p.b.Len()+most, func(i int) string {
			a := fresh[i]
			f := newFinding(&a.Violation)
			f.first = true
			return placeMarkdown(f, placeOf(f), newButAllowed, a.Reason, false) + "\n\n" +
				codeMarkdown(clip(a.RuleID, 200)) + ": " + prose(allowanceWords(&a.Allowance), codeMarkdown)
		})
	p.fold("allowance", prose(v.endingsNote(), codeHTML), len(ending) <= markdownOpen, "", len(ending), p.b.Len()+most,
		func(i int) string { return "* " + prose(ending[i], codeMarkdown) })
}
