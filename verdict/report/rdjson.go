package report

import (
	"io"
	"math"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/verdict"
)

// Of reviewdog's Diagnostic Format, proto/rdf/reviewdog.proto of
// github.com/reviewdog/reviewdog, in the spelling of its own examples.
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

// rdNowhere is the path of what is about no file. There must be one: with an empty path
// GitHub's API refuses all annotations of a check.
const rdNowhere = "verdict.json"

// writeRDJSON writes reviewdog's rdjson: what could not be decided, then the violations,
// all of severity ERROR. A PASS has no diagnostics, but for one of severity INFO if
// nothing was looked at, or not all.
//
// reviewdog filters: without -filter-mode=nofilter it drops what is not on a line
// of the diff, errors too. So it comments, and policyscan's exit status decides.
//
// Paths are real ones, from the tree's root. Columns are bytes, as the format wants them;
// in a file that is not UTF-8 they are bytes of the file as it is. What is about no
// file is on verdict.json, and what is about no line on line 1: comments on nothing are
// refused by the services that reviewdog writes to. The message is Markdown to some of these
// and text to others; a line that would not be the same in both is a code span. What
// reviewdog prints in a log holds no command for GitHub's runner.
func writeRDJSON(w io.Writer, v *verdict.Verdict) error {
	return verdict.WriteJSON(w, &rdResult{
		Source:      rdSource{Name: "policyscan", URL: "https://github.com/policyscan/policyscan"},
		Severity:    "ERROR",
		Diagnostics: func(yield func(rdDiagnostic) bool) { writeDiagnostics(v, yield) },
	})
}

// writeDiagnostics hands the diagnostics to yield, which takes all of them, or ends it with false.
func writeDiagnostics(v *verdict.Verdict, yield func(rdDiagnostic) bool) {
	errs := undecidedOf(v)
	for i := range errs {
		if !yield(errorDiagnostic(&errs[i])) {
			return
		}
	}
	rules := rulesOf(v)
	inert := map[string]string{}
	for i := range v.Violations {
		if !yield(violationDiagnostic(&v.Violations[i], rules[i], inert)) {
			return
		}
	}
	if but := caveats(v); v.Verdict == verdict.Pass && len(but) > 0 {
		text := "PASS, but " + strings.Join(but, "; ")
		if !yield(rdDiagnostic{
			Message: text, Location: rdLocation{rdNowhere, rdFirstLine()}, Severity: "INFO",
			Original: text + "\n" + newView(v).summaryLine(),
		}) {
			return
		}
	}
	if note := allowedNote(v); note != "" {
		if !yield(rdInformation(sentence(note), rdLocation{rdNowhere, rdFirstLine()})) {
			return
		}
	}
	for _, a := range allowedNew(v) {
		at := rdFirstLine()
		if p := pointed(&a.Violation); hasPlace(&p.Evidence) {
			at = rdRangeOf(&p.Evidence)
		}
		if !yield(rdInformation(allowedSentence(a), rdLocation{rdPath(a.File), at})) {
			return
		}
	}
}

// rdInformation is a diagnostic that is no error.
func rdInformation(text string, at rdLocation) rdDiagnostic {
	return rdDiagnostic{
		Message: inertMarkdown([]string{text}), Location: at, Severity: "INFO", Original: printed([]string{text}),
	}
}

// rdPath is the path of a file of a violation, which may be about none.
func rdPath(file string) string {
	if file == "" {
		return rdNowhere
	}
	return realPath(file)
}

func rdFirstLine() *rdRange { return &rdRange{rdPosition{Line: 1}, rdPosition{Line: 1}} }

func errorDiagnostic(e *verdict.Error) rdDiagnostic {
	path, place, at := rdNowhere, "", rdFirstLine()
	if aboutFile(e) {
		path, place = realPath(e.File), verdict.Visible(e.File)+": "
		if 0 < e.Line && e.Line <= math.MaxInt32 {
			at = &rdRange{rdPosition{Line: e.Line}, rdPosition{Line: e.Line}}
		}
	}
	lines := textLines(e.Message)
	return rdDiagnostic{
		Message:  "could not decide: " + inertMarkdown(lines),
		Location: rdLocation{path, at},
		Severity: "ERROR",
		Code:     &rdCode{Value: verdict.Visible(e.Code)},
		Original: printed(append([]string{place + lines[0] + " [" + verdict.Visible(e.Code) + "]"}, lines[1:]...)),
	}
}

// violationDiagnostic keeps in inert what Markdown a text became: most violations share theirs with others, and the
// search for what is active in them took a third of the format's time.
func violationDiagnostic(v *verdict.Violation, r *verdict.Rule, inert map[string]string) rdDiagnostic {
	markdown := func(text string) string {
		known, ok := inert[text]
		if !ok {
			known = inertMarkdown(textLines(text))
			inert[text] = known
		}
		return known
	}
	p := pointed(v)
	e := &p.Evidence
	original := textLines(v.Reason)
	if hasPlace(e) {
		original = append(original, textLines(e.Excerpt)...)
	}
	original[0] = placeOf(v) + ": " + original[0] + " [" + verdict.Visible(v.RuleID) + "]"
	original = append(original, foundLine(v))
	if inAnotherEncoding(e) {
		original = append(original,
			"found as "+verdict.Visible(e.Encoding)+"; the columns are bytes of the file as it is")
	}
	at := rdFirstLine()
	if hasPlace(e) {
		at = rdRangeOf(e)
	}
	clauses := alsoAt(v, mostLines)
	if len(e.Places) == 0 { // of an older verdict, whose message had none
		clauses = nil
	}
	if status := statusWords(v.Status); status != "" {
		clauses = append([]string{status}, clauses...)
	}
	original = append(original, clauses...)
	// A comment has no text of the file: the pattern is the bundle's.
	name, found := foundOf(v, codeSpan(verdict.Defuse(cut(verdict.Visible(e.Pattern), 1000))))
	d := rdDiagnostic{
		Message:  markdown(v.Reason) + "\n" + name + ": " + found,
		Location: rdLocation{rdPath(v.File), at},
		Severity: "ERROR",
		Code:     &rdCode{Value: verdict.Visible(v.RuleID)},
		Original: printed(original),
	}
	for _, clause := range clauses {
		d.Message += "\n" + clause
	}
	if v.Note != "" {
		d.Message += "\nnote: " + inertMarkdown(textLines(v.Note))
	}
	if r == nil {
		return d
	}
	if fix := strings.TrimSpace(r.Remediation); fix != "" {
		d.Message += "\nfix: " + markdown(fix)
	}
	if url := r.DocsURL; strings.HasPrefix(url, "http") && verdict.Visible(url) == url &&
		!strings.ContainsAny(url, " ()<>\"`\\") {
		d.Code.URL = url // it becomes a link in Markdown, as it is
	}
	return d
}

// rdRangeOf is the range of a match. One that ends with a line end is given by whole lines:
// its exclusive end would be on a line that may not be in the diff, and reviewdog
// comments only on what is in the diff whole.
func rdRangeOf(e *verdict.Evidence) *rdRange {
	if e.Line < 1 || lastLineOf(e) < e.Line || lastLineOf(e) > math.MaxInt32 { // the format has 32 bits
		return rdFirstLine()
	}
	r := &rdRange{rdPosition{Line: e.Line}, rdPosition{Line: lastLineOf(e)}}
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

// activeMarkdown finds what Markdown, as GitHub, GitLab and Gitea read it, may take for
// more than text: markup, HTML, mentions, references and emoji anywhere, and what begins a
// block at the start of a line. An underscore within a word is text. So is a web address:
// the link that is made of it leads where it says.
var activeMarkdown = late.Regexp("[][\\\\`*<>&~|@#!$^{}]|(^|[^\\pL\\pN])_|_($|[^\\pL\\pN])|:[\\w+-]+:|^ " +
	"*([-+=]|\\d+[.)])|^ {4}|GH-\\d")

// inertMarkdown joins lines that are text and Markdown at once, and mean the same as either: a
// line that could be more than text in Markdown is written as a code span.
func inertMarkdown(lines []string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if out[i] = verdict.Defuse(line); activeMarkdown().MatchString(out[i]) {
			out[i] = codeSpan(out[i])
		}
	}
	return strings.Join(out, "\n")
}

// codeSpan writes a line as CommonMark's code span: the fence is longer than any run of
// backticks within, and spaces keep them apart.
func codeSpan(line string) string {
	if line == "" {
		return ""
	}
	longest := 0
	for _, run := range strings.FieldsFunc(line, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(run))
	}
	fence := strings.Repeat("`", longest+1)
	first, last := line[0], line[len(line)-1]
	// The reader removes one space at each end, if both have one.
	if first == '`' || last == '`' || first == ' ' && last == ' ' && strings.TrimSpace(line) != "" {
		line = " " + line + " "
	}
	return fence + line + fence
}
