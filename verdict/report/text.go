package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/policyscan/policyscan/verdict"
)

// TextOptions is what the text report says besides the verdict, and how.
type TextOptions struct {
	Prefix   string        // from the current folder to the tree's root: "" or a path that ends in "/"
	Policy   string        // the bundle in use, as a person would name it
	Root     string        // the tree's root, likewise
	Notes    []string      // what else is to be known
	Elapsed  time.Duration // 0: not shown
	Color    bool          // ANSI colours
	Width    int           // of the terminal, in columns; 0: lines are not fitted to any
	Commands bool          // the reader obeys workflow commands (GitHub Actions): defuse them

	Mistakes map[verdict.Error]Mistake // of errors that the report can say more of than the verdict does
}

// WriteText writes the report for a person: each violation with its place first,
// so that terminals and editors link it, then what could not be decided, then the
// bundle, the root and, in the last line, the outcome and the counts.
func WriteText(w io.Writer, v *verdict.Verdict, o TextOptions) error {
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o}
	for i, r := range rulesOf(v) {
		t.violation(&v.Violations[i], r)
	}
	for i := range v.Errors {
		t.error(&v.Errors[i])
	}
	t.summary(v)
	return t.w.Flush() // a bufio.Writer keeps its first error
}

type textWriter struct {
	w *bufio.Writer
	TextOptions
}

// The colours of the report, as parameters of an SGR sequence.
const (
	bold  = "1"
	faint = "2"
	red   = "1;31"
	green = "1;32"
	blue  = "1;34"
)

func (t *textWriter) paint(color, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (t *textWriter) line(format string, args ...any) {
	s := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if t.Commands {
		s = verdict.Defuse(s)
	}
	_, _ = t.w.WriteString(s + "\n") // the error is Flush's
}

// flow makes text of several lines one line. Spaces within a line stay as they are, for they may be those of a pattern.
func flow(s string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(s, isLineEnd) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return verdict.Visible(strings.ReplaceAll(strings.Join(lines, " "), "\t", " "))
}

// isLineEnd reports whether Unicode ends a line at a character.
func isLineEnd(r rune) bool { return '\n' <= r && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 }

func (t *textWriter) violation(v *verdict.Violation, r *verdict.Rule) {
	e := &v.Evidence
	place := theTree
	if v.File != "" { // what is at no place has one all the same: editors and problem matchers look for it
		place = fmt.Sprintf("%s:%d:%d", verdict.Visible(t.Prefix+v.File), e.Line, e.Column)
	}
	reason := flow(v.Reason)
	t.line("%s %s %s", t.paint(bold, place+":"), reason, t.paint(red, "["+verdict.Visible(v.RuleID)+"]"))

	number := fmt.Sprintf("%5d", e.Line)
	margin := strings.Repeat(" ", len(number))
	note := func(name, text string) { t.note(margin, name, text) }
	if hasPlace(e) {
		bar := t.paint(blue, "|")
		src, caret := t.source(e, len(number)+len(" | "))
		t.line("%s %s %s", t.paint(blue, number), bar, src)
		t.line("%s %s %s", margin, bar, caret)
	}
	pattern := quotedPattern(e)
	// The reason of a rule without a message has the pattern, unless it was too wide to stay as it is.
	said := strings.HasPrefix(v.Reason, v.Title+": ") && strings.Contains(reason, pattern)
	if hidesPattern(e) && !said {
		note(foundOf(v, pattern))
	}
	if e.Occurrences > 1 {
		note("note", fmt.Sprintf("the first of %d occurrences in this file", e.Occurrences))
	}
	if inAnotherEncoding(e) {
		note("note", "found as "+e.Encoding)
	}
	note("note", v.Note)
	if r != nil {
		note("fix", r.Remediation)
		note("docs", r.DocsURL)
		note("owner", r.Owner)
	}
}

// note says more about the lines above it, in lines that are indented alike.
func (t *textWriter) note(margin, name, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	lead := fmt.Sprintf("%s %s %s", margin, t.paint(blue, "="), t.paint(bold, name+":"))
	indent := len(margin) + len(" = : ") + len(name)
	for _, l := range strings.Split(text, "\n") {
		for _, part := range wrap(verdict.Visible(strings.TrimRight(l, " \t\r")), t.Width-indent) {
			t.line("%s %s", lead, part)
			lead = strings.Repeat(" ", indent-1)
		}
	}
}

func (t *textWriter) error(e *verdict.Error) {
	if m, known := t.Mistakes[*e]; known {
		t.mistake(&m)
		return
	}
	place := "error:"
	if e.File != "" {
		place = verdict.Visible(t.Prefix+e.File) + ":"
	}
	t.line("%s %s %s", t.paint(bold, place), flow(e.Message), t.paint(red, "["+e.Code+"]"))
}

func (t *textWriter) summary(v *verdict.Verdict) {
	if len(v.Violations)+len(v.Errors) > 0 {
		t.line("")
	}
	if t.Policy != "" {
		t.line("policy: %s", verdict.Visible(t.Policy))
	}
	if t.Root != "" {
		t.line("root: %s", verdict.Visible(t.Root))
	}
	if scope := compared(v); scope != "" {
		t.line("scope: %s", scope)
	}
	for _, change := range policyChanges(v) {
		t.line("policy change: %s", change)
	}
	switch {
	case v.Coverage.Files > 0 && coversNothing(v):
		t.remark("no file is covered by a rule: nothing was checked")
	case v.Coverage.Files == 0 && v.Verdict == verdict.Pass:
		t.remark("there was nothing to scan")
	}
	t.unused(v)
	if note := notJudgedNote(v); note != "" {
		t.remark(note)
	}
	if v.Partial {
		t.line("note: the run was narrowed by --rule or --exclude; its verdict is not about the whole tree")
	}
	for _, n := range t.Notes {
		t.remark(n)
	}
	for i, o := range v.Coverage.NotScanned {
		const most = 20
		if i == most {
			t.line("note: and %s more not scanned", count(len(v.Coverage.NotScanned)-most, "file"))
			break
		}
		t.line("note: %s: not scanned: %s", verdict.Visible(t.Prefix+o.File), o.Reason)
	}
	for i, file := range v.Coverage.Unparsed {
		const most = 20
		if i == most {
			t.line("note: and %s more that cannot be parsed", count(len(v.Coverage.Unparsed)-most, "file"))
			break
		}
		t.line("note: %s: cannot be parsed: only its text was checked", verdict.Visible(t.Prefix+file))
	}

	outcome := t.paint(green, string(verdict.Pass)+":")
	if v.Verdict != verdict.Pass {
		outcome = t.paint(red, string(verdict.Fail)+":")
	}
	var parts []string
	if n := len(v.Violations); n > 0 {
		broken := map[string]bool{}
		for i := range v.Violations {
			broken[v.Violations[i].RuleID] = true
		}
		parts = append(parts,
			fmt.Sprintf("%s of %s%s", count(n, "violation"), count(len(broken), "rule"), inFiles(v, count)))
	} else if v.Complete {
		parts = append(parts, "no violation")
	}
	if !v.Complete {
		parts = append(parts, "could not decide ("+count(len(v.Errors), "error")+")")
	}
	tail := fmt.Sprintf("%s, %d covered, %s", count(v.Coverage.Files, "file"),
		v.Coverage.Governed, count(len(v.Rules), "rule"))
	if t.Elapsed > 0 {
		tail += fmt.Sprintf(", %.2f s", t.Elapsed.Seconds())
	}
	t.line("%s %s; %s", outcome, strings.Join(parts, "; "), tail)
}

// remark is a note on the whole run, wrapped to the terminal.
func (t *textWriter) remark(text string) {
	lead := "note: "
	for _, part := range wrap(verdict.Visible(text), t.Width-len(lead)) {
		t.line("%s%s", lead, part)
		lead = strings.Repeat(" ", len(lead))
	}
}

// unused names the rules that cover no file in a tree of which others cover some: a
// glob may be a mistake. A change or a list need not touch what a rule is about.
func (t *textWriter) unused(v *verdict.Verdict) {
	if v.Scope.Mode != "full" || coversNothing(v) {
		return
	}
	var ids []string
	for i := range v.Rules {
		if v.Rules[i].Files == 0 {
			ids = append(ids, verdict.Visible(v.Rules[i].ID))
		}
	}
	if n := len(ids); n > 0 {
		const most = 5
		if n > most {
			ids = append(ids[:most], "…")
		}
		t.remark(fmt.Sprintf("%d of %s %s no file: %s", n, count(len(v.Rules), "rule"),
			selects(n), strings.Join(ids, ", ")))
	}
}

// compared says in words what a change was judged against; "" if there was none.
func compared(v *verdict.Verdict) string {
	files := count(v.Coverage.Files, "file")
	var s string
	switch {
	case v.Scope.Mode == "staged" && v.Scope.Strategy != "" && v.Scope.BaseCommit == "":
		s = files + " staged for the first commit"
	case v.Scope.Mode == "staged" && v.Scope.Strategy != "":
		s = fmt.Sprintf("%s staged since %s (%s)", files, verdict.Visible(v.Scope.Base),
			abbreviated(v.Scope.BaseCommit))
	case v.Scope.Mode == "diff" && v.Scope.HeadCommit != "":
		var bases []string
		for _, h := range v.Scope.MergeBases {
			bases = append(bases, abbreviated(h))
		}
		noun := "merge base"
		if len(bases) > 1 {
			noun += "s"
		}
		how := ""
		if v.Scope.Strategy != "merge-base" {
			how = "; chosen as " + v.Scope.Strategy
		}
		s = fmt.Sprintf("%s changed since %s (%s %s%s)", files, verdict.Visible(v.Scope.Base), noun,
			strings.Join(bases, ", "), how)
	case v.Scope.Mode == "full" && v.Scope.HeadCommit != "":
		s = fmt.Sprintf("%s of the whole head (%s; chosen as %s)", files,
			abbreviated(v.Scope.HeadCommit), v.Scope.Strategy)
	default:
		return ""
	}
	s += fmt.Sprintf(", %d covered", v.Coverage.Governed)
	if v.Coverage.Deleted > 0 {
		s += fmt.Sprintf(", %d deleted", v.Coverage.Deleted)
	}
	return s
}

func abbreviated(hash string) string { return hash[:min(len(hash), 7)] }

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
