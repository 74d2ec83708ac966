package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

const (
	theTree   = "the tree"     // the place of a violation without a file
	noFile    = "verdict.json" // the file of a violation or error without one, in a format that needs one
	mostLines = 5              // line numbers of other places
)

// A finding is a violation and the place in its file that reports point to: the first new one, or else the first. A
// forbidden file and a missing pattern or file have no place, but a missing key may have one.
type finding struct {
	*verdict.Violation
	at    verdict.Evidence // as if that place were the first
	index int              // its index in Evidence.Places, or -1
	exact bool             // UTF16Column and UTF16EndColumn are exact, not approximate
	name  patternName
}

func newFinding(v *verdict.Violation) *finding {
	f := &finding{v, v.Evidence, -1, true, named(&v.Evidence)}
	places := v.Evidence.Places
	f.index = slices.IndexFunc(places, func(p verdict.Place) bool { return p.Status == verdict.Introduced })
	if f.index < 0 {
		f.index = slices.IndexFunc(places, func(p verdict.Place) bool { return p.Offset == f.at.Offset })
		return f
	}
	if p := places[f.index]; p.Offset != f.at.Offset || p.EndLine != f.at.EndLine || p.EndColumn != f.at.EndColumn {
		f.move(p)
		f.at.Excerpt, f.at.LineHash = p.Excerpt, p.LineHash
		f.at.UTF16Column, f.at.UTF16EndColumn, f.exact = f.units()
	}
	return f
}

func (f *finding) move(p verdict.Place) {
	e := &f.at
	e.Offset, e.Line, e.Column, e.EndLine, e.EndColumn = p.Offset, p.Line, p.Column, p.EndLine, p.EndColumn
}

// units returns the columns of the place in UTF-16 code units; a verdict has only those of the first occurrence. The
// excerpt gives them, unless it is cut, masked or not UTF-8.
func (f *finding) units() (column, end int64, exact bool) {
	e, width := &f.at, int64(1) // bytes of a code unit
	if strings.HasPrefix(e.Encoding, "utf-16") || strings.HasPrefix(e.Encoding, "utf-32") {
		width = 2
	}
	near, nearEnd := max((e.Column-1)/width, 0)+1, max((e.EndColumn-1)/width, 0)+1
	masked := e.LineHash == ""
	if masked || utf8.RuneCountInString(e.Excerpt) >= excerptLimit {
		return near, nearEnd, false
	}
	// The first line may begin with a BOM, which the excerpt does not have.
	if e.Line == 1 || e.EndLine != e.Line || e.Encoding != "utf-8" && e.Encoding != "" ||
		strings.ContainsRune(e.Excerpt, utf8.RuneError) || e.EndColumn-1 > int64(len(e.Excerpt)) || e.Column < 1 ||
		e.EndColumn < e.Column {
		return near, nearEnd, false
	}
	before, to := e.Excerpt[:e.Column-1], e.Excerpt[:e.EndColumn-1]
	return utf16Len(before) + 1, utf16Len(to) + 1, utf8.ValidString(before) && utf8.ValidString(to)
}

func (f *finding) inFile() bool { return hasPlace(&f.at) }

func hasPlace(e *verdict.Evidence) bool {
	return e.Kind != verdict.KindFile && (e.Kind != verdict.KindMissing || e.Excerpt != "")
}

// path is the file, safe to print.
func (f *finding) path() string {
	if f.File == "" {
		return theTree
	}
	return verdict.Visible(f.File)
}

// place is where the finding is, safe to print.
func (f *finding) place() string {
	if !f.inFile() {
		return f.path()
	}
	return fmt.Sprintf("%s:%d:%d", f.path(), f.at.Line, f.at.Column)
}

// lastLine is the last line of a match. The exclusive end of a match that ends with a line end is on the next line.
func lastLine(e *verdict.Evidence) int64 {
	if e.EndLine > e.Line && e.EndColumn == 1 {
		return e.EndLine - 1
	}
	return e.EndLine
}

// hidesPattern reports whether the excerpt does not show the pattern, so that a report must name it.
func (f *finding) hidesPattern() bool { return !f.inFile() || f.name.isMapping() }

// encodingNote names the encoding of a match; "" for UTF-8.
func (f *finding) encodingNote() string {
	if f.at.Encoding == "utf-8" || f.at.Encoding == "" {
		return ""
	}
	return "found as " + verdict.Visible(f.at.Encoding)
}

// found returns "found", "missing" or "required", and what: a pattern in words, which the report has escaped.
func (f *finding) found(pattern string) (name, value string) {
	switch kind := f.Evidence.Kind; {
	case kind == verdict.KindFile:
		return "found", "a path that matches " + pattern
	case kind == verdict.KindMissing && f.File == "":
		return "missing", "a file that matches " + pattern + " and is not empty"
	case kind == verdict.KindMissing && len(f.name.paths) > 0 && (f.inFile() || f.why() != ""):
		return "required", pattern
	case kind == verdict.KindMissing:
		return "missing", pattern
	}
	return "found", pattern
}

// pattern is the pattern in words, safe to print.
func (f *finding) pattern() string {
	if !f.name.isMapping() {
		return verdict.Quote(cut(verdict.Visible(f.name.plain), 1000))
	}
	return cut(f.name.words, 1000)
}

func (f *finding) foundLine() string {
	name, value := f.found(f.pattern())
	return name + ": " + value
}

// why says why a required key is not as required at the place; "" for other patterns.
func (f *finding) why() string {
	if i := max(f.index, 0); i < len(f.Evidence.Places) {
		return f.Evidence.Places[i].WhyWords()
	}
	return ""
}

// facts are the facts of a violation other than its place, reason and pattern, each safe to print.
func (f *finding) facts() []string {
	facts := with(slices.Concat(with(nil, f.why()), f.also(mostLines)), f.encodingNote())
	if f.Note != "" {
		facts = append(facts, "note: "+cut(flow(f.Note), 1000))
	}
	return facts
}

// lines describe a violation in full: its place and reason, the excerpt, and the facts.
func (f *finding) lines() []string {
	at := f.place() + ": "
	if status := label(f.Status); status != "" {
		at += status + ": "
	}
	lines := []string{at + cut(flow(f.Reason), 1000)}
	if f.inFile() && f.at.Excerpt != "" {
		lines = append(lines, namedLines("excerpt: ", f.at.Excerpt)...)
	}
	return append(append(lines, f.foundLine()), f.facts()...)
}

// sentence describes a violation in one line, without its place and excerpt, and with the pattern if the reason does
// not have it.
func (f *finding) sentence() string {
	s, clauses := full(clip(flow(f.Reason), 1000)), with(nil, label(f.Status))
	if !strings.Contains(f.Reason, f.Evidence.Pattern) && !strings.Contains(f.Reason, f.pattern()) {
		clauses = append(clauses, f.foundLine())
	}
	for _, clause := range append(clauses, f.facts()...) {
		s += " " + full(sentence(clause))
	}
	return strings.TrimSpace(s)
}

// ruleLines are the facts of a violated rule, each safe to print.
func ruleLines(r *verdict.Rule) []string {
	var lines []string
	for _, note := range [][2]string{
		{"fix: ", r.Remediation}, {"docs: ", r.DocsURL}, {"owner: ", r.Owner}, {"severity: ", r.Severity},
	} {
		if strings.TrimSpace(note[1]) != "" {
			lines = append(lines, namedLines(note[0], note[1])...)
		}
	}
	return lines
}

// also lists the other places of a violation, in one or two clauses, each safe to print. most limits the line numbers;
// 0: all.
func (f *finding) also(most int) []string {
	places := f.at.Places
	switch {
	case !f.inFile() || len(places) == 0 && f.at.Occurrences <= 1:
		return nil
	case len(places) == 0:
		return []string{fmt.Sprintf("the first of %d occurrences in this file", f.at.Occurrences)}
	}
	var clauses []string
	add := func(lead, status string) {
		if where := f.where(status, most); where != "" {
			clauses = append(clauses, lead+" "+where)
		}
	}
	if places[max(f.index, 0)].Status != verdict.Introduced {
		add("also", places[0].Status)
		return clauses
	}
	add("also new", verdict.Introduced)
	add("was there before", verdict.PreExisting)
	more := int(f.at.Occurrences) - len(places)
	older := slices.ContainsFunc(places, func(p verdict.Place) bool { return p.Status != verdict.Introduced })
	if !older && more > 0 {
		clauses = append(clauses, "also in "+count(more, "more place")+", new or not")
	}
	return clauses
}

// where lists the lines of the other places with a status: "at lines 79, 83 and 4 more"; "" without one.
func (f *finding) where(status string, most int) string {
	var all []verdict.Place
	for i, p := range f.at.Places {
		if i != f.index && p.Status == status {
			all = append(all, p)
		}
	}
	more := 0
	// Of more than 100 places the new ones are kept: if another one is listed, the missing ones are like it.
	if status != verdict.Introduced && (len(all) > 0 || f.index >= 0 && f.at.Places[f.index].Status == status) {
		more = max(int(f.at.Occurrences)-len(f.at.Places), 0)
		if f.index < 0 {
			more = max(more-1, 0)
		}
	}
	here := ""
	var lines []string
	last := f.at.Line
	for i, p := range all {
		if p.Line == f.at.Line {
			here = "in this line"
			continue
		}
		if p.Line == last {
			continue
		}
		if most > 0 && len(lines) == most && i < len(all)-1 {
			more += len(all) - i
			break
		}
		last = p.Line
		lines = append(lines, strconv.FormatInt(p.Line, 10))
	}
	where := ""
	switch n := len(lines); {
	case n == 0 && more > 0:
		where = "in " + count(more, "more place")
	case n > 0 && more > 0:
		where = fmt.Sprintf("at %s %s and %d more", noun(n, "line"), strings.Join(lines, ", "), more)
	case n == 1:
		where = "at line " + lines[0]
	case n > 1:
		where = "at lines " + strings.Join(lines[:n-1], ", ") + " and " + lines[n-1]
	}
	if here != "" && where != "" {
		here += " and "
	}
	return here + where
}

// aboutFile reports whether an error is about a file other than the tree's root.
func aboutFile(e *verdict.Error) bool { return e.File != "" && e.File != "." }

// errorFingerprint identifies an error in reports, as [verdict.Fingerprint] does a violation.
func errorFingerprint(e *verdict.Error) string {
	return verdict.Fingerprint(e.Code, e.File, e.Message, nil)
}

// realPath returns the path of a file for programs, from the text of [verdict.Path]. A path that is not UTF-8 or has a
// hidden character stays as Path and [verdict.Visible] write it: a link to it is not worth a control character in a
// log.
func realPath(path string) string {
	if raw := verdict.RawPath(path); utf8.ValidString(raw) && verdict.Visible(raw) == raw {
		return raw
	}
	return verdict.Visible(path)
}
