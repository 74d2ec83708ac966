package report

import (
	"io"
	"math"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/verdict"
)

// Of reviewdog's Diagnostic Format, proto/rdf/reviewdog.proto of github.com/reviewdog/reviewdog, in the spelling of its
// own examples.
type (
	rdResult struct {
		Source      rdSource                   `json:"source"`
		Severity    string                     `json:"severity"`
		Diagnostics verdict.Each[rdDiagnostic] `json:"diagnostics"`
	}
	rdSource struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	rdDiagnostic struct {
		Message  string     `json:"message"`
		Location rdLocation `json:"location"`
		Severity string     `json:"severity"`
		Code     *rdCode    `json:"code,omitempty"`
		Original string     `json:"original_output"`
	}
	rdLocation struct {
		Path  string   `json:"path"`
		Range *rdRange `json:"range,omitempty"`
	}
	rdRange struct {
		Start rdPosition `json:"start"`
		End   rdPosition `json:"end"`
	}
	rdPosition struct {
		Line   int64 `json:"line"`             // 1-based
		Column int64 `json:"column,omitempty"` // 1-based, bytes; the end's exclusive
	}
	rdCode struct {
		Value string `json:"value"`
		URL   string `json:"url,omitempty"`
	}
)

// writeRDJSON writes reviewdog's rdjson: what could not be decided, then the violations, all of severity ERROR. A PASS
// has no diagnostics, except one of severity INFO if nothing was looked at, or not all.
//
// reviewdog filters: without -filter-mode=nofilter it drops what is not on a line of the diff, errors too. So it
// comments, and policyscan's exit status decides.
//
// Paths are real ones, from the tree's root. Columns are bytes, as the format wants them; in a file that is not UTF-8
// they are bytes of the file as it is. What is about no file is on verdict.json (with an empty path GitHub's API
// refuses all annotations of a check), and what is about no line on line 1: comments on nothing are refused by the
// services that reviewdog writes to. The message is Markdown to some of these and text to others; a line that would not
// be the same in both is a code span. What reviewdog prints in a log holds no command for GitHub's runner.
func writeRDJSON(w io.Writer, v *verdict.Verdict) error {
	return verdict.WriteJSON(w, &rdResult{
		Source:      rdSource{Name: "policyscan", URL: sarifHome},
		Severity:    "ERROR",
		Diagnostics: func(yield func(rdDiagnostic) bool) { writeDiagnostics(newView(v), yield) },
	})
}

// writeDiagnostics calls yield with the diagnostics, until it returns false.
func writeDiagnostics(v *view, yield func(rdDiagnostic) bool) {
	ended := false
	add := func(d rdDiagnostic) { ended = ended || !yield(d) }
	for i := range v.undecided {
		add(errorDiagnostic(&v.undecided[i]))
	}
	inert := map[string]string{}
	for i := range v.Violations {
		if ended {
			return
		}
		add(violationDiagnostic(newFinding(&v.Violations[i]), v.rule(i), inert))
	}
	if but := v.caveats(); v.passes() && len(but) > 0 {
		text := "PASS, but " + strings.Join(but, "; ")
		add(rdDiagnostic{
			Message: text, Location: rdLocation{noFile, rdFirstLine()}, Severity: "INFO",
			Original: text + "\n" + v.summaryLine(),
		})
	}
	info := func(text string, at rdLocation) {
		lines := []string{text}
		add(rdDiagnostic{Message: inertMarkdown(lines), Location: at, Severity: "INFO", Original: printed(lines)})
	}
	if note := v.allowedNote(); note != "" {
		info(sentence(note), rdLocation{noFile, rdFirstLine()})
	}
	for _, a := range v.newAllowed {
		info(allowedSentence(a), rdLocationOf(newFinding(&a.Violation)))
	}
}

// rdLocationOf is where a violation is shown, which may be about no file.
func rdLocationOf(f *finding) rdLocation {
	l := rdLocation{noFile, rdFirstLine()}
	if f.File != "" {
		l.Path = realPath(f.File)
	}
	if f.inFile() {
		l.Range = rdRangeOf(&f.at)
	}
	return l
}

func rdFirstLine() *rdRange { return &rdRange{rdPosition{Line: 1}, rdPosition{Line: 1}} }

func errorDiagnostic(e *verdict.Error) rdDiagnostic {
	at, place := rdLocation{noFile, rdFirstLine()}, ""
	if aboutFile(e) {
		at.Path, place = realPath(e.File), verdict.Visible(e.File)+": "
		if 0 < e.Line && e.Line <= math.MaxInt32 {
			at.Range = &rdRange{rdPosition{Line: e.Line}, rdPosition{Line: e.Line}}
		}
	}
	code, lines := verdict.Visible(e.Code), textLines(e.Message)
	message := "could not decide: " + inertMarkdown(lines)
	lines[0] = place + lines[0] + " [" + code + "]"
	return rdDiagnostic{
		Message: message, Location: at, Severity: "ERROR", Code: &rdCode{Value: code}, Original: printed(lines),
	}
}

// violationDiagnostic keeps in inert what Markdown a text became: most violations share theirs with others, and the
// search for what is active in them took a third of the format's time.
func violationDiagnostic(f *finding, r *verdict.Rule, inert map[string]string) rdDiagnostic {
	markdown := func(text string) string {
		known, ok := inert[text]
		if !ok {
			known = inertMarkdown(textLines(text))
			inert[text] = known
		}
		return known
	}
	id, original := verdict.Visible(f.RuleID), textLines(f.Reason)
	if f.inFile() {
		original = append(original, textLines(f.at.Excerpt)...)
	}
	original[0] = f.place() + ": " + original[0] + " [" + id + "]"
	original = append(original, f.foundLine())
	if note := f.encodingNote(); note != "" {
		original = append(original, note+"; the columns are bytes of the file as it is")
	}
	var clauses []string
	if status := label(f.Status); status != "" {
		clauses = append(clauses, status)
	}
	if len(f.at.Places) > 0 { // an older verdict has none, and its message had no clauses
		clauses = append(clauses, f.also(mostLines)...)
	}
	// A comment has no text of the file: the pattern is the bundle's.
	name, found := f.found(codeSpan(verdict.Defuse(cut(verdict.Visible(f.at.Pattern), 1000))))
	message := append([]string{markdown(f.Reason), name + ": " + found}, clauses...)
	if f.Note != "" {
		message = append(message, "note: "+inertMarkdown(textLines(f.Note)))
	}
	d := rdDiagnostic{
		Location: rdLocationOf(f), Severity: "ERROR", Code: &rdCode{Value: id},
		Original: printed(append(original, clauses...)),
	}
	if r != nil {
		if fix := strings.TrimSpace(r.Remediation); fix != "" {
			message = append(message, "fix: "+markdown(fix))
		}
		if url := r.DocsURL; strings.HasPrefix(url, "http") && verdict.Visible(url) == url &&
			!strings.ContainsAny(url, " ()<>\"`\\") {
			d.Code.URL = url // it becomes a link in Markdown, as it is
		}
	}
	d.Message = strings.Join(message, "\n")
	return d
}

// rdRangeOf is the range of a match. One that ends with a line end is given by whole lines: its exclusive end would be
// on a line that may not be in the diff, and reviewdog comments only on what is in the diff whole.
func rdRangeOf(e *verdict.Evidence) *rdRange {
	if e.Line < 1 || lastLine(e) < e.Line || lastLine(e) > math.MaxInt32 { // the format has 32 bits
		return rdFirstLine()
	}
	r := &rdRange{rdPosition{Line: e.Line}, rdPosition{Line: lastLine(e)}}
	if r.End.Line == e.EndLine && 0 < e.Column && e.Column <= math.MaxInt32 && 0 < e.EndColumn &&
		e.EndColumn <= math.MaxInt32 {
		r.Start.Column, r.End.Column = e.Column, e.EndColumn
	}
	return r
}

// printed joins lines as they may be in a log.
func printed(lines []string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = verdict.Defuse(line)
	}
	return strings.Join(out, "\n")
}

// activeMarkdown finds what Markdown, as GitHub, GitLab and Gitea read it, may take for more than text: markup, HTML,
// mentions, references and emoji anywhere, and what begins a block at the start of a line. An underscore within a word
// is text. So is a web address: the link that is made of it leads where it says.
var activeMarkdown = late.Regexp("[][\\\\`*<>&~|@#!$^{}]|(^|[^\\pL\\pN])_|_($|[^\\pL\\pN])|:[\\w+-]+:|^ " +
	"*([-+=]|\\d+[.)])|^ {4}|GH-\\d")

// inertMarkdown joins lines that are text and Markdown at once, and mean the same as either: a line that could be more
// than text in Markdown is written as a code span.
func inertMarkdown(lines []string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if out[i] = verdict.Defuse(line); activeMarkdown().MatchString(out[i]) {
			out[i] = codeSpan(out[i])
		}
	}
	return strings.Join(out, "\n")
}

// codeSpan writes a line as CommonMark's code span: the fence is longer than any run of backticks within, and spaces
// keep them apart.
func codeSpan(line string) string {
	if line == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(line, '`')+1)
	first, last := line[0], line[len(line)-1]
	// The reader removes one space at each end, if both have one.
	if first == '`' || last == '`' || first == ' ' && last == ' ' && strings.TrimSpace(line) != "" {
		line = " " + line + " "
	}
	return fence + line + fence
}
