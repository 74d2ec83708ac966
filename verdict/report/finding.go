package report

import (
	"cmp"
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

// A finding is a violation at one of its places. A forbidden file and a missing pattern or file have no place, but a
// missing key may have one.
type finding struct {
	*verdict.Violation
	at    verdict.Evidence // as if that place were the first; the excerpt is "" if the verdict has none
	index int              // of the place in Evidence.Places, or -1
	exact bool             // UTF16Column and UTF16EndColumn are exact, not approximate
	first bool             // of the shown places of its violation
	name  patternName
}

// newFinding returns the place that reports point to if they show one: the first new one, or else the first. It
// ignores a place that a key item finds.
func newFinding(v *verdict.Violation) *finding {
	first := -1
	for i, p := range v.Evidence.Places {
		if !p.SameAsKey && (first < 0 || p.Status == verdict.Introduced) {
			first = i
			if p.Status == verdict.Introduced {
				break
			}
		}
	}
	return findingAt(v, named(&v.Evidence), first)
}

// findingsOf returns all places that the verdict lists, in its order, except the ones that a key item finds.
func findingsOf(v *verdict.Violation) []*finding {
	name := named(&v.Evidence)
	if len(v.Evidence.Places) == 0 {
		return []*finding{findingAt(v, name, -1)}
	}
	var all []*finding
	for i, p := range v.Evidence.Places {
		if !p.SameAsKey {
			all = append(all, findingAt(v, name, i))
		}
	}
	return all
}

// findingAt returns the place of an index, or with -1 the first occurrence.
func findingAt(v *verdict.Violation, name patternName, i int) *finding {
	f := &finding{Violation: v, at: v.Evidence, index: i, exact: true, name: name}
	if i < 0 {
		return f
	}
	e, p := &f.at, v.Evidence.Places[i]
	if p.Offset != e.Offset || p.EndLine != e.EndLine || p.EndColumn != e.EndColumn {
		e.Offset, e.Line, e.Column, e.EndLine, e.EndColumn = p.Offset, p.Line, p.Column, p.EndLine, p.EndColumn
		e.Excerpt, e.LineHash = p.Excerpt, p.LineHash
		e.UTF16Column, e.UTF16EndColumn, f.exact = f.units()
	}
	return f
}

// status is the place's, as in the violation.
func (f *finding) status() string {
	if f.index < 0 {
		return f.Status
	}
	return f.Evidence.Places[f.index].Status
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

// hasSource reports whether the verdict has the line of the place: it has that of the first and of the first new one.
func (f *finding) hasSource() bool { return f.index <= 0 || f.at.Excerpt != "" }

// pathOf is a violation's file, as in [verdict.Path]; in a commit in git's syntax, such as 1234567:FILE.
func pathOf(v *verdict.Violation) string {
	if v.Commit == "" {
		return v.File
	}
	return abbreviated(v.Commit) + ":" + v.File
}

// hasLine reports whether the place is in a file that a reader has: the head need not have a commit's line.
func (f *finding) hasLine() bool { return f.inFile() && f.Commit == "" }

// rewrite is the advice for a violation that only a commit has.
const rewrite = "rewrite it (git rebase) so that it never has this, and revoke a secret"

// remedies are the fixes of a rule's violations: in the head, in commits, or both.
func remedies(r *verdict.Rule, all ...*verdict.Violation) (fixes []string) {
	for _, x := range all {
		fix := r.Remediation
		if x.Commit != "" {
			fix = "where a commit is named, " + rewrite
		}
		fixes = with(fixes, fix)
	}
	return fixes
}

func (f *finding) inFile() bool { return hasPlace(&f.Evidence) }

func hasPlace(e *verdict.Evidence) bool {
	return e.Kind != verdict.KindFile && (e.Kind != verdict.KindMissing || e.Excerpt != "")
}

// place is where the finding is, safe to print.
func (f *finding) place() string {
	path := cmp.Or(verdict.Visible(pathOf(f.Violation)), theTree)
	if !f.inFile() {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, f.at.Line, f.at.Column)
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

// remarks are the encoding of a match, unless it is UTF-8, and the violation's note.
func (f *finding) remarks() []string {
	all := with(nil, f.encodingNote())
	if f.Note != "" {
		all = append(all, "note: "+cut(flow(f.Note), 1000))
	}
	return all
}

// lines describe a place in full: where it is and why, the excerpt, and the facts.
func (f *finding) lines() []string {
	lines := []string{f.leadLine() + cut(flow(f.Reason), 1000)}
	if f.inFile() && f.at.Excerpt != "" {
		lines = append(lines, namedLines("excerpt: ", f.at.Excerpt)...)
	}
	return append(with(append(lines, f.foundLine()), f.why()), f.remarks()...)
}

// leadLine is a place and its status, to begin a line.
func (f *finding) leadLine() string {
	return strings.Join(with([]string{f.place()}, label(f.status())), ": ") + ": "
}

// sentence describes a violation in one line, without its place and excerpt, and with the pattern if the reason does
// not have it.
func (f *finding) sentence() string {
	s, clauses := full(clip(flow(f.Reason), 1000)), with(nil, label(f.Status))
	if !strings.Contains(f.Reason, f.Evidence.Pattern) && !strings.Contains(f.Reason, f.pattern()) {
		clauses = append(clauses, f.foundLine())
	}
	if f.Commit != "" {
		clauses = append(clauses, "it is at "+f.place()+", in that commit alone: "+rewrite)
	}
	for _, clause := range slices.Concat(with(clauses, f.why()), f.also(), f.remarks()) {
		s += " " + full(sentence(clause))
	}
	return strings.TrimSpace(s)
}

// ruleLines are the fixes and facts of a violated rule, each safe to print.
func ruleLines(r *verdict.Rule, owner string, fixes []string) []string {
	var lines []string
	for _, fix := range fixes {
		if strings.TrimSpace(fix) != "" {
			lines = append(lines, namedLines("fix: ", fix)...)
		}
	}
	for _, note := range [][2]string{
		{"docs: ", r.DocsURL}, {"owner: ", owner}, {"severity: ", r.Severity},
	} {
		if strings.TrimSpace(note[1]) != "" {
			lines = append(lines, namedLines(note[0], note[1])...)
		}
	}
	return lines
}

// also lists the lines of the other places, in one or two clauses, each safe to print: for a format that has one item
// for each violation.
func (f *finding) also() []string {
	if !f.inFile() || f.PlaceCount <= 1 {
		return nil
	}
	if len(f.at.Places) == 0 {
		return []string{"the first of " + count(int(f.PlaceCount), "place") + " in this file"}
	}
	others := map[bool][]*finding{} // by whether they are new
	for _, x := range findingsOf(f.Violation) {
		if x.index != f.index {
			isNew := x.status() == verdict.Introduced
			others[isNew] = append(others[isNew], x)
		}
	}
	fresh, lead := int(f.NewPlaceCount), "also"
	if f.status() == verdict.Introduced {
		fresh, lead = fresh-1, "was there before"
	}
	old := int(f.PlaceCount) - 1 - fresh
	return with(with(nil, f.where("also new", others[true], fresh)), f.where(lead, others[false], old))
}

// where lists the lines of n other places after a lead: "also at lines 79, 83 and 4 more"; "" without one.
func (f *finding) where(lead string, listed []*finding, n int) string {
	here := ""
	var lines []string
	last := f.at.Line
	for i, x := range listed {
		if x.at.Line == f.at.Line {
			here = "in this line"
		} else if x.at.Line != last {
			if len(lines) == mostLines && i < len(listed)-1 {
				listed = listed[:i]
				break
			}
			last = x.at.Line
			lines = append(lines, strconv.FormatInt(last, 10))
		}
	}
	more, where := n-len(listed), "at "+noun(len(lines), "line")+" "
	if more > 0 && len(lines) > 0 {
		lines = append(lines, number(more)+" more")
	}
	switch last := len(lines) - 1; {
	case last > 0:
		where += strings.Join(lines[:last], ", ") + " and " + lines[last]
	case last == 0:
		where += lines[0]
	case more > 0:
		where = "in " + count(more, "more place")
	default:
		where = ""
	}
	if clauses := with(with(nil, here), where); len(clauses) > 0 {
		return lead + " " + strings.Join(clauses, " and ")
	}
	return ""
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
