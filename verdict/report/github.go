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

// The annotations that GitHub keeps, by the source of its runner (actions/runner of August 2026: ActionCommand.cs,
// ActionCommandManager.cs, ExecutionContext.cs) and the manual of its checks API. It drops the rest silently.
const (
	annotationsKept   = 10   // of each type, for a step
	annotationMessage = 4096 // UTF-16 code units
	annotationTitle   = 255  // characters
)

// writeGitHub writes workflow commands, which GitHub Actions shows as annotations of the files and in the summary of
// the run: an error for each error of the verdict, then one for each violation, in a change first one for each new
// place. GitHub keeps 10 of a step: if there are more, the tenth counts the rest. A PASS is silent, except for a
// notice if files were not scanned. Allowed violations are a notice.
//
// Paths are real ones, from the tree's root, which must be the root of the repository. Columns are UTF-16 code units,
// the end exclusive, only for a match within a line: the runner drops others.
func writeGitHub(w io.Writer, document *verdict.Verdict) error {
	b, v := bufio.NewWriter(w), newView(document)
	var all []annotation
	for i := range v.undecided {
		all = append(all, errorAnnotation(&v.undecided[i]))
	}
	targets := annotationTargets(v)
	for _, t := range targets[:min(len(targets), annotationsKept)] {
		f, rule := newFinding(&v.Violations[t.violation]), v.ruleOf[t.violation].rule
		all = append(all, violationAnnotation(f, t.place, rule))
	}
	if len(v.undecided)+len(targets) > annotationsKept {
		const shown = annotationsKept - 1
		var parts []string
		thing := "more violation"
		if len(targets) > len(v.Violations) {
			thing = "more place"
		}
		if n := len(targets) - max(shown-len(v.undecided), 0); n > 0 {
			parts = append(parts, count(n, thing))
		}
		if n := len(v.undecided) - shown; n > 0 {
			parts = append(parts, count(n, "more error"))
		}
		more := strings.Join(parts, " and ")
		all = append(all[:annotationsKept-1], annotation{title: "policyscan: " + more, lines: []string{
			more + " not shown: GitHub keeps 10 annotations per step. " +
				"All are in the verdict (--output, verdict.json) and in the text report.",
			v.summaryLine(),
		}})
	}
	for i := range all {
		all[i].write(b, "error")
	}
	if v.passes() && len(v.caveats()) > 0 {
		a := annotation{title: "policyscan: " + v.headline(), lines: append(v.caveats(), v.summaryLine())}
		a.write(b, "notice")
	}
	if note := v.allowedNote(); note != "" {
		a := annotation{title: "policyscan: " + note, lines: append([]string{sentence(note)},
			v.allowedLines(annotationsKept)...)}
		a.write(b, "notice")
	}
	return b.Flush() // a bufio.Writer keeps its first error
}

// An annotationTarget is the index of a violation and of one of its places, or -1 for the place that reports point to.
type annotationTarget struct{ violation, place int }

func annotationTargets(v *view) []annotationTarget {
	var fresh, others []annotationTarget
	for i := range v.Violations {
		x := &v.Violations[i]
		if x.Status != verdict.Introduced {
			others = append(others, annotationTarget{i, -1})
			continue
		}
		f := newFinding(x)
		fresh = append(fresh, annotationTarget{i, -1})
		last := f.at.Line
		for k, p := range x.Evidence.Places {
			if p.Status == verdict.Introduced && k != f.index && p.Line != last {
				fresh, last = append(fresh, annotationTarget{i, k}), p.Line
			}
		}
	}
	return append(fresh, others...)
}

type annotation struct {
	file      string // as in Path, or ""
	line, end int64  // 1-based, inclusive; 0: the whole file
	col       int64  // 1-based; 0: whole lines
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

// violationAnnotation annotates a place of a violation, as in [annotationTarget].
func violationAnnotation(f *finding, place int, r *verdict.Rule) annotation {
	inFile := f.inFile()
	if place >= 0 {
		f.move(f.Evidence.Places[place])
		f.index = place
		f.at.Excerpt, f.at.Places, f.exact = "", nil, false
	}
	a := annotation{file: f.File, title: "policyscan " + f.RuleID + ": " + f.Title}
	if inFile {
		a.line, a.end = f.at.Line, lastLine(&f.at)
		if f.at.EndLine == f.at.Line && f.exact {
			a.col, a.endCol = f.at.UTF16Column, f.at.UTF16EndColumn
		}
	}
	for _, line := range append(f.lines(), ruleLines(r)...) {
		a.lines = append(a.lines, cut(line, annotationMessage/4)) // so that the limit of all takes nothing else
	}
	return a
}

// write writes the command of the name. The runner drops a "=" at the start of a property's value, and trims the last
// value: the file comes first, and the title begins with our own word.
func (a *annotation) write(b *bufio.Writer, name string) {
	var properties []string
	property := func(key, value string) {
		escaped := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(value)
		properties = append(properties, key+"="+escaped)
	}
	numbers := func(key string, n int64, endKey string, end int64) bool {
		if n < 1 || end < n || end > math.MaxInt32 { // the runner reads numbers of 32 bits
			return false
		}
		property(key, strconv.FormatInt(n, 10))
		property(endKey, strconv.FormatInt(end, 10))
		return true
	}
	if a.file != "" {
		file := realPath(a.file)
		if strings.HasPrefix(file, "=") {
			file = "./" + file
		}
		property("file", file)
		if numbers("line", a.line, "endLine", a.end) {
			numbers("col", a.col, "endColumn", a.endCol)
		}
	}
	property("title", cut(flow(a.title), annotationTitle))

	// The runner prints the message in the log, where "##[" at the start of a line is markup.
	message := strings.ReplaceAll(strings.Join(a.lines, "\n"), "##[", `#\u{23}[`)
	message = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(cut(message, annotationMessage))
	_, _ = fmt.Fprintf(b, "::%s %s::%s\n", name, strings.Join(properties, ","), message) // the error is Flush's
}
