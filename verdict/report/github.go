package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
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
// the run: an error for each error of the verdict, then one for each place. GitHub keeps 10 of a step: if there are
// more, the tenth counts the rest. A PASS is silent, except for a
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
	for _, f := range annotatedPlaces(v) {
		all = append(all, placeAnnotation(f))
	}
	if places := v.numbers.all(); len(v.undecided)+places > annotationsKept {
		all = all[:min(len(all), annotationsKept-1)]
		errors := min(len(all), len(v.undecided))
		var parts []string
		if n := places - (len(all) - errors); n > 0 {
			parts = append(parts, count(n, "more place"))
		}
		if n := len(v.undecided) - errors; n > 0 {
			parts = append(parts, count(n, "more error"))
		}
		more := strings.Join(parts, " and ")
		all = append(all, annotation{title: "policyscan: " + more, lines: []string{
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

type rulePlace struct {
	*finding
	rule *verdict.Rule
}

// annotatedPlaces returns as many places as GitHub shows: those in lines without an annotation before others, then new
// ones, then the first ones of a rule in a file.
func annotatedPlaces(v *view) []rulePlace {
	type lineOf struct {
		file string
		line int64
	}
	lines := map[lineOf]bool{}
	var byWorth [8][]rulePlace
	for _, g := range v.groups {
		for _, file := range g.files {
			all, _, _ := file.findings(math.MaxInt)
			for i, f := range all {
				worth, at := 0, lineOf{f.File, f.at.Line}
				if f.Commit != "" {
					at.line = 0 // its annotation is at the file
				}
				if lines[at] {
					worth += 4
				}
				lines[at] = true
				if f.status() != verdict.Introduced {
					worth += 2
				}
				if i > 0 {
					worth++
				}
				if len(byWorth[worth]) < annotationsKept {
					byWorth[worth] = append(byWorth[worth], rulePlace{f, g.rule})
				}
			}
		}
	}
	all := slices.Concat(byWorth[:]...)
	return all[:min(len(all), annotationsKept)]
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

func placeAnnotation(f rulePlace) annotation {
	a := annotation{file: f.File, title: "policyscan " + f.RuleID + ": " + f.Title}
	if f.hasLine() {
		a.line, a.end = f.at.Line, lastLine(&f.at)
		if f.at.EndLine == f.at.Line && f.exact {
			a.col, a.endCol = f.at.UTF16Column, f.at.UTF16EndColumn
		}
	}
	about := ruleLines(f.rule, ownerNames(f.rule, f.Violation), remedies(f.rule, f.Violation))
	for _, line := range append(f.lines(), about...) {
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
	message := verdict.DefuseInside(strings.Join(a.lines, "\n"))
	message = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(cut(message, annotationMessage))
	_, _ = fmt.Fprintf(b, "::%s %s::%s\n", name, strings.Join(properties, ","), message) // the error is Flush's
}
