package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

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

func (t *textWriter) gap(n int) {
	if n > 0 {
		t.line("")
	}
}

// labelled writes a label and one line of text, wrapped below itself; nothing without a text.
func (t *textWriter) labelled(label, text string) {
	if text != "" {
		t.under(label, len(label), verdict.Visible(text))
	}
}

// say writes a text in indented lines, after a name if it is not "".
func (t *textWriter) say(indent, name, text string) {
	if name == "" {
		t.under(indent, len(indent), sayable(text)...)
	} else {
		t.under(indent+t.paint(bold, name+":")+" ", len(indent+name+": "), sayable(text)...)
	}
}

// sayable returns the lines of a text; nil if it is blank.
func sayable(text string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = verdict.Visible(strings.TrimRight(l, " \t\r"))
	}
	return lines
}

// under writes lines after a lead of a width in columns, wrapped to the terminal.
func (t *textWriter) under(lead string, width int, lines ...string) {
	for _, l := range lines {
		for _, part := range wrap(l, t.Width-width) {
			t.line("%s%s", lead, part)
			lead = strings.Repeat(" ", width)
		}
	}
}

func (t *textWriter) error(e *verdict.Error) {
	m, known := t.Mistakes[*e]
	if !known {
		m = Mistake{What: flow(e.Message), Code: e.Code}
		if e.File != "" {
			m.Place = t.Prefix + e.File
		}
	}
	t.mistake(&m)
}

// A Mistake is an error in a file that a user wrote, such as a rule file, as the text report shows it. Unlike a
// verdict, it may depend on the current directory.
type Mistake struct {
	Place  string // FILE:LINE:COLUMN, as an editor opens it; "" without a file
	What   string // what is wrong, and what to do
	Code   string // of the error; "" without one
	Line   int    // 1-based; 0 without one
	Source string // the line, or its part around the mistake; "" if unknown
	Caret  int    // index of the mistake in Source, in bytes; -1 if unknown
	Help   []string
}

// WriteMistakes writes each mistake on a line, with a caret under its source line, as [WriteText] does.
func WriteMistakes(w io.Writer, list []Mistake, o TextOptions) error {
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o}
	for i := range list {
		t.mistake(&list[i])
	}
	return t.w.Flush() // a bufio.Writer keeps its first error
}

func (t *textWriter) mistake(m *Mistake) {
	place, code := "error:", ""
	if m.Place != "" {
		place = verdict.Visible(m.Place) + ":"
	}
	if m.Code != "" {
		code = t.paint(red, "["+m.Code+"]")
	}
	t.line("%s %s %s", t.paint(bold, place), verdict.Visible(m.What), code)
	if m.Line > 0 && m.Source != "" {
		number, bar := fmt.Sprintf("%5d", m.Line), t.paint(blue, "|")
		before, after := m.Source, ""
		if m.Caret >= 0 {
			before, after = m.Source[:m.Caret], m.Source[m.Caret:]
		}
		src, caret := t.snippet(cell{text: before}, "", cell{text: after}, t.Width-len(number+" | "))
		t.line("%s %s %s", t.paint(blue, number), bar, src)
		if m.Caret >= 0 {
			t.line("%s %s %s", strings.Repeat(" ", len(number)), bar, caret)
		}
	}
	const margin = "     "
	for _, help := range m.Help {
		t.under(margin+" "+t.paint(blue, "=")+" "+t.paint(bold, "help:")+" ", len(margin+" = help: "), sayable(help)...)
	}
}

// A cell is a part of the drawn line; cut: text is missing at its outer end.
type cell struct {
	text string
	cut  bool
}

func (c cell) lead() string {
	if c.cut {
		return ellipsis + c.text
	}
	return c.text
}

func (c cell) String() string {
	if c.cut {
		return c.text + ellipsis
	}
	return c.text
}

// sourceLine returns the first line of a match in three parts: before the match, the match, and after it.
func sourceLine(e *verdict.Evidence) (left cell, match string, right cell) {
	start, end := matchInExcerpt(e)
	first, rest := e.Excerpt[:start], e.Excerpt[end:]
	match, _, below := cutLine(e.Excerpt[start:end])
	if below {
		rest = ""
	}
	rest, _, below = cutLine(rest)
	return cell{first, utf16Len(first) < e.UTF16Column-1}, match,
		cell{rest, !below && utf8.RuneCountInString(e.Excerpt) >= excerptLimit}
}

// trimmedLine is [sourceLine] without the spaces at both ends.
func trimmedLine(e *verdict.Evidence) (left cell, match string, right cell) {
	left, match, right = sourceLine(e)
	if !left.cut {
		left.text = strings.TrimLeft(left.text, " \t")
		if visible := strings.TrimLeft(match, " \t"); left.text == "" && visible != "" {
			match = visible
		}
	}
	if !right.cut {
		right.text = strings.TrimRight(right.text, " \t")
	}
	return left, match, right
}

// snippet returns a line of source drawn in room columns, and at least one caret under the match.
func (t *textWriter) snippet(left cell, match string, right cell, room int) (src, carets string) {
	left.text, right.text = drawn(left.text), drawn(right.text)
	mid := cell{text: drawn(match)}
	if t.Commands { // before counting the carets
		left.text, mid.text, right.text = inert(left.text), inert(mid.text), inert(right.text)
	}
	if t.Width > 0 {
		fit(&left, &mid, &right, room)
	}
	n := max(columns(mid.String()), 1) // a match that begins with a line end has none
	src = left.lead() + t.paint(red, mid.String()) + right.String()
	return src, strings.Repeat(" ", columns(left.lead())) + t.paint(red, strings.Repeat("^", n))
}

// fit shortens the parts of a line to room columns: first around the match, evenly if both sides are long.
func fit(left, mid, right *cell, room int) {
	room = max(room, 20)
	before, after := min(columns(left.lead()), 1), min(columns(right.String()), 1)
	if columns(mid.String()) > room-before-after {
		*mid, *right = cell{prefix(mid.text, room-before-1, runeColumns), true}, cell{}
	}
	free := room - columns(mid.String())
	l, r := columns(left.lead()), columns(right.String())
	forLeft := min(l, max(free/2, free-r))
	if l > forLeft {
		left.text, left.cut = tail(left.text, forLeft-1), true
	}
	if forRight := free - forLeft; r > forRight {
		right.text, right.cut = prefix(right.text, forRight-1, runeColumns), true
	}
}
