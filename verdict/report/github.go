package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// What GitHub keeps of annotations, by the source of its runner (actions/runner of August
// 2026: ActionCommand.cs, ActionCommandManager.cs, ExecutionContext.cs) and the manual of
// its checks API. None of it is an error there: what is too much is dropped in silence.
const (
	annotationsKept   = 10   // of each type, for a step
	annotationMessage = 4096 // UTF-16 code units
	annotationTitle   = 255  // characters
)

// writeGitHub writes workflow commands, which GitHub Actions shows as annotations of the
// files and in the summary of the run: an error for each thing that could not be decided,
// then one for each violation, or of a change one for each place of it that is new, and after these one for each
// violation that was there before. GitHub keeps 10 of a step: when there are more, the tenth
// counts those that are omitted. A PASS is silent, but for a notice if nothing was
// looked at, or not all. What allowances accept is a notice.
//
// Paths are real ones, from the tree's root: they lead to the file if that is the root of
// the repository. Lines are those of the verdict. Columns are UTF-16 code units, the end
// exclusive, and are given only where a match is within a line: the runner drops them
// elsewhere. (GitHub's manual names no unit; it shows the lines, not the columns.)
func writeGitHub(w io.Writer, v *verdict.Verdict) error {
	b := bufio.NewWriter(w)
	var all []annotation
	errs := undecidedOf(v)
	for i := range errs {
		all = append(all, errorAnnotation(&errs[i]))
	}
	rules := rulesOf(v)
	spots := spotsOf(v)
	for _, spot := range spots[:min(len(spots), annotationsKept)] {
		all = append(all, violationAnnotation(&v.Violations[spot.violation], spot.place, rules[spot.violation]))
	}
	if len(errs)+len(spots) > annotationsKept {
		all = append(all[:annotationsKept-1], restAnnotation(v, len(errs), len(spots)))
	}
	for i := range all {
		all[i].write(b, "error")
	}
	if but := caveats(v); v.Verdict == verdict.Pass && len(but) > 0 {
		a := annotation{title: "policyscan: PASS, but " + but[0], lines: append(but, newView(v).summaryLine())}
		a.write(b, "notice")
	}
	if note := allowedNote(v); note != "" {
		a := annotation{title: "policyscan: " + note, lines: allowedLines(v)}
		a.write(b, "notice")
	}
	return b.Flush() // a bufio.Writer keeps its first error
}

// A spot is what an annotation is about: a violation, by its index, and one of its places, or -1 for the one that
// reports point to.
type spot struct{ violation, place int }

// spotsOf returns what to annotate, new places first.
func spotsOf(v *verdict.Verdict) []spot {
	var fresh, others []spot
	for i := range v.Violations {
		x := &v.Violations[i]
		if x.Status != introduced {
			others = append(others, spot{i, -1})
			continue
		}
		p := pointed(x)
		fresh = append(fresh, spot{i, -1})
		last := p.Line
		for k, at := range p.Places {
			if at.Status == introduced && k != p.index && at.Line != last {
				fresh, last = append(fresh, spot{i, k}), at.Line
			}
		}
	}
	return append(fresh, others...)
}

// allowedLines says what allowances accept, and what of it is new.
func allowedLines(v *verdict.Verdict) []string {
	lines := []string{sentence(allowedNote(v))}
	for i, a := range allowedNew(v) {
		if i == annotationsKept {
			lines = append(lines, "and more, in the verdict (--output, verdict.json) and in the text report")
			break
		}
		lines = append(lines, placeOf(&a.Violation)+": "+cut(allowedSentence(a), annotationMessage/16))
	}
	return lines
}

// An annotation is a message on a place.
type annotation struct {
	file      string // as Path writes it; "": on no file
	line, end int64  // 1-based, inclusive; 0: on the file as a whole
	col       int64  // 1-based; 0: on whole lines
	endCol    int64
	title     string
	lines     []string
}

func errorAnnotation(e *verdict.Error) annotation {
	a := annotation{title: "policyscan could not decide: " + e.Code, lines: textLines(e.Message)}
	if aboutFile(e) {
		a.file = e.File
		a.lines[0] = verdict.Visible(e.File) + ": " + a.lines[0] // the log shows the message alone
		a.line, a.end, a.col, a.endCol = e.Line, e.Line, e.UTF16Column, e.UTF16Column
	}
	return a
}

// violationAnnotation is about a place of a violation: one of its Places, or with -1 the one that reports point to.
func violationAnnotation(v *verdict.Violation, place int, r *verdict.Rule) annotation {
	p := pointed(v)
	at := placeOf(v)
	if place >= 0 {
		other := p.Places[place]
		p.Line, p.EndLine, p.EndColumn, p.Excerpt, p.exact = other.Line, other.EndLine, other.EndColumn, "", false
		at = fmt.Sprintf("%s:%d:%d", fileOf(v), other.Line, other.Column)
	}
	e := &p.Evidence
	a := annotation{file: v.File, title: "policyscan " + v.RuleID + ": " + v.Title}
	if hasPlace(&v.Evidence) {
		a.line, a.end = e.Line, lastLineOf(e)
	}
	if hasPlace(&v.Evidence) && e.EndLine == e.Line && p.exact {
		a.col, a.endCol = e.UTF16Column, e.UTF16EndColumn
	}
	if status := statusWords(v.Status); status != "" {
		at += ": " + status
	}
	// What is long is cut here, so that the limit of the message takes nothing else.
	a.lines = []string{cut(strings.Join(textLines(v.Reason), "\n"), annotationMessage/4)}
	if e.Excerpt == "" || !hasPlace(e) {
		a.lines[0] = at + ": " + a.lines[0] // the log shows the message alone
	} else {
		for i, l := range textLines(e.Excerpt) {
			if i == 0 {
				l = at + ": " + l
			}
			a.lines = append(a.lines, cut(l, annotationMessage/4))
		}
	}
	found := foundLine(v)
	if e.Occurrences > 1 {
		found += fmt.Sprintf(", %d times in this file", e.Occurrences)
	}
	a.lines = append(a.lines, found)
	if place < 0 && len(p.Places) > 0 {
		a.lines = append(a.lines, alsoAt(v, mostLines)...)
	}
	if v.Note != "" {
		a.lines = append(a.lines, "note: "+cut(flow(v.Note), annotationMessage/4))
	}
	if r != nil && r.DocsURL != "" {
		a.lines = append(a.lines, "docs: "+verdict.Visible(r.DocsURL))
	}
	if r != nil && r.Remediation != "" {
		fix := textLines(strings.TrimSpace(r.Remediation))
		a.lines = append(append(a.lines, "fix: "+fix[0]), fix[1:]...)
	}
	return a
}

// restAnnotation replaces all annotations from the tenth on. There are so many of errors, and of violations.
func restAnnotation(v *verdict.Verdict, errs, spots int) annotation {
	const shown = annotationsKept - 1
	thing := "more violation"
	if spots > len(v.Violations) {
		thing = "more place"
	}
	var parts []string
	if n := errs - shown; n > 0 {
		parts = append(parts, count(n, "more error"))
	}
	if n := spots - max(shown-errs, 0); n > 0 {
		parts = append(parts, count(n, thing))
	}
	more := strings.Join(parts, " and ")
	return annotation{title: "policyscan: " + more, lines: []string{
		more + " not shown: GitHub keeps 10 annotations per step. " +
			"All are in the verdict (--output, verdict.json) and in the text report.",
		newView(v).summaryLine(),
	}}
}

// write writes the command of the name. A property's value must not begin with "=", which
// the runner drops, and the last must not end in a space, which it trims: the file's comes
// first, and the title's begins with a word of ours.
func (a *annotation) write(b *bufio.Writer, name string) {
	property := func(key, value string) string {
		return key + "=" +
			strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(value)
	}
	number := func(key string, n int64) string { return key + "=" + strconv.FormatInt(n, 10) }

	var properties []string
	if a.file != "" {
		file := realPath(a.file)
		if strings.HasPrefix(file, "=") {
			file = "./" + file
		}
		properties = append(properties, property("file", file))
		if 0 < a.line && a.line <= a.end && a.end <= math.MaxInt32 { // the runner reads numbers of 32 bits
			properties = append(properties, number("line", a.line), number("endLine", a.end))
			if 0 < a.col && a.col <= a.endCol && a.endCol <= math.MaxInt32 {
				properties = append(properties, number("col", a.col), number("endColumn", a.endCol))
			}
		}
	}
	properties = append(properties, property("title", cut(flow(a.title), annotationTitle)))

	// The runner prints the message in the log, where "##[" at the start of a line is markup.
	message := strings.ReplaceAll(strings.Join(a.lines, "\n"), "##[", `#\u{23}[`)
	message = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(cut(message, annotationMessage))
	_, _ = fmt.Fprintf(b, "::%s %s::%s\n", name, strings.Join(properties, ","), message) // the error is Flush's
}
