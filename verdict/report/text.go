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
	Most     int           // violations of a rule, and of what is allowed, that are shown; 0: all
	Commands bool          // the reader obeys workflow commands (GitHub Actions): defuse them

	Mistakes map[verdict.Error]Mistake // of errors that the report can say more of than the verdict does
}

// WriteText writes the report for a person: what a change does to the policy, the violations by rule, each with its
// place first, so that terminals and editors link it, then what is allowed and what could not be decided, then the
// bundle, the root and a summary, and in the last line the outcome and the counts.
func WriteText(w io.Writer, v *verdict.Verdict, o TextOptions) error {
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o, carets: len(v.Violations) <= fewViolations}
	t.policyChanges(v)
	groups, _ := ruleGroups(v, ruleIndexes(v))
	for _, g := range groups {
		t.group(g)
	}
	t.allowed(v)
	t.endings(v)
	for i := range v.Errors {
		t.error(&v.Errors[i])
	}
	if len(v.Errors) > 0 {
		t.line("")
	}
	t.summary(v)
	t.outcome(v, groups)
	return t.w.Flush() // a bufio.Writer keeps its first error
}

type textWriter struct {
	w *bufio.Writer
	TextOptions
	carets bool // under each match
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

// say says more about the lines above it, with a name if it is not "", in lines that are indented alike.
func (t *textWriter) say(indent, name, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	lead := indent
	if name != "" {
		lead += name + ": "
	}
	under := strings.Repeat(" ", len(lead))
	if name != "" {
		lead = indent + t.paint(bold, name+":") + " "
	}
	for _, l := range strings.Split(text, "\n") {
		for _, part := range wrap(verdict.Visible(strings.TrimRight(l, " \t\r")), t.Width-len(under)) {
			t.line("%s%s", lead, part)
			lead = under
		}
	}
}

// labelled writes a line that begins with a label, wrapped to the terminal.
func (t *textWriter) labelled(label, text string) {
	for _, part := range wrap(verdict.Visible(text), t.Width-len(label)) {
		t.line("%s%s", label, part)
		label = strings.Repeat(" ", len(label))
	}
}

// remark is a note on the whole run.
func (t *textWriter) remark(text string) { t.labelled("note: ", text) }

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
