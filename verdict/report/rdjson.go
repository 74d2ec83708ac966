package report

import (
	"io"
	"math"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A part of reviewdog's Diagnostic Format, proto/rdf/reviewdog.proto of github.com/reviewdog/reviewdog.
type (
	rdResult struct {
		Source struct {
			Name string `json:"name"`
			URL  string `json:"url"`
		} `json:"source"`
		Severity    string                     `json:"severity"`
		Diagnostics verdict.Each[rdDiagnostic] `json:"diagnostics"`
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

// writeRDJSON writes reviewdog's rdjson: the errors, then the places, all of severity ERROR. A PASS has no
// diagnostics, except one of severity INFO if files were not scanned.
//
// Without -filter-mode=nofilter, reviewdog drops diagnostics outside the diff, errors too: it comments, and
// policyscan's exit status decides.
//
// Paths are real ones, from the tree's root. Columns are bytes of the file, in any encoding. The path is verdict.json
// without a file (with an empty path GitHub's API refuses all annotations of a check), and the line 1 without a line:
// services refuse comments without a place. Some services read the message as Markdown, others as text: each line
// begins with our own word, and words that are not plain are code.
func writeRDJSON(w io.Writer, v *verdict.Verdict) error {
	r := &rdResult{Severity: "ERROR"}
	r.Source.Name, r.Source.URL = "policyscan", sarifHome
	r.Diagnostics = newView(v).diagnostics
	return verdict.WriteJSON(w, r)
}

func (v *view) diagnostics(yield func(rdDiagnostic) bool) {
	ended := false
	add := func(d rdDiagnostic) { ended = ended || !yield(d) }
	for i := range v.undecided {
		add(errorDiagnostic(&v.undecided[i]))
	}
	markdown := map[string]string{} // by text: most violations share theirs
	for i := range v.Violations {
		if ended {
			return
		}
		if v.Violations[i].PlaceCount == 0 {
			continue
		}
		for _, f := range findingsOf(&v.Violations[i]) {
			add(placeDiagnostic(f, v.ruleOf[i].rule, markdown))
		}
	}
	info := func(text, more string, at rdLocation) {
		add(rdDiagnostic{
			Message: prose(text, codeMarkdown), Location: at, Severity: "INFO", Original: verdict.Defuse(text) + more,
		})
	}
	nowhere := rdLocation{noFile, rdFirstLine()}
	if v.passes() && len(v.caveats()) > 0 {
		info(v.headline(), "\n"+verdict.Defuse(v.summaryLine()), nowhere)
	}
	if note := v.allowedNote(); note != "" {
		info(sentence(note), "", nowhere)
	}
	for _, a := range v.newAllowed {
		info(allowedSentence(a), "", rdLocationOf(newFinding(&a.Violation)))
	}
}

// rdLocationOf is the location of a violation, which may have no file.
func rdLocationOf(f *finding) rdLocation {
	l := rdLocation{noFile, rdFirstLine()}
	if f.File != "" {
		l.Path = realPath(f.File)
	}
	if f.hasLine() {
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
	code := verdict.Visible(e.Code)
	return rdDiagnostic{
		Message: "could not decide: " + prose(e.Message, codeMarkdown), Location: at, Severity: "ERROR",
		Code: &rdCode{Value: code}, Original: verdict.Defuse(place + flow(e.Message) + " [" + code + "]"),
	}
}

// placeDiagnostic caches the Markdown of texts in known.
func placeDiagnostic(f *finding, r *verdict.Rule, known map[string]string) rdDiagnostic {
	markdown := func(text string) string {
		if _, ok := known[text]; !ok {
			known[text] = prose(text, codeMarkdown)
		}
		return known[text]
	}
	original := f.lines()
	original[0] += " [" + verdict.Visible(f.RuleID) + "]"
	for i, line := range original {
		original[i] = verdict.Defuse(line)
	}
	// No text of the file: the pattern is the bundle's.
	name, found := f.found(codeMarkdown(clip(f.Evidence.Pattern, 1000)))
	message := append(with([]string{"reason: " + markdown(f.Reason)}, label(f.status())), name+": "+found)
	for _, fact := range f.remarks() {
		message = append(message, markdown(fact))
	}
	for _, fix := range remedies(r, f.Violation) {
		message = append(message, "fix: "+markdown(fix))
	}
	d := rdDiagnostic{
		Message: strings.Join(message, "\n"), Location: rdLocationOf(f), Severity: "ERROR",
		Code: &rdCode{Value: verdict.Visible(f.RuleID)}, Original: strings.Join(original, "\n"),
	}
	if isSafeURL(r.DocsURL) && !strings.ContainsAny(r.DocsURL, "()") { // reviewdog links it without escapes
		d.Code.URL = r.DocsURL
	}
	return d
}

// rdRangeOf is the range of a match, in whole lines if it ends with a line end: its exclusive end would be on the next
// line, and reviewdog does not comment on a range that is partly outside the diff.
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
