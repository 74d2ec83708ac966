package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A Mistake is one in a file that a person wrote, such as a rule file, as the text report shows it. What it
// says may depend on the current folder, which nothing in a verdict does.
type Mistake struct {
	Place  string // FILE:LINE:COLUMN, as a person opens it; "": it is about no file
	What   string // what was found, and what to do
	Code   string // of the error; "": it has none to show
	Line   int    // 1-based; 0: it is about no line
	Source string // the line, or the part of it around the mistake; "": not known
	Caret  int    // the byte of Source that the mistake is at, 0-based; -1: not known
	Help   []string
}

// WriteMistakes writes each mistake in a line, and beneath it the source line with a caret, as [WriteText] does.
func WriteMistakes(w io.Writer, list []Mistake, o TextOptions) error {
	t := textWriter{w: bufio.NewWriter(w), TextOptions: o}
	for i := range list {
		t.mistake(&list[i])
	}
	return t.w.Flush() // a bufio.Writer keeps its first error
}

func (t *textWriter) mistake(m *Mistake) {
	place := "error:"
	if m.Place != "" {
		place = verdict.Visible(m.Place) + ":"
	}
	code := ""
	if m.Code != "" {
		code = t.paint(red, "["+m.Code+"]")
	}
	t.line("%s %s %s", t.paint(bold, place), verdict.Visible(m.What), code)
	if m.Line > 0 && m.Source != "" {
		number := fmt.Sprintf("%5d", m.Line)
		margin := strings.Repeat(" ", len(number))
		bar := t.paint(blue, "|")
		before, after := m.Source, ""
		if m.Caret >= 0 {
			before, after = m.Source[:m.Caret], m.Source[m.Caret:]
		}
		src, caret := t.snippet(cell{text: before}, "", cell{text: after}, len(number)+len(" | "))
		t.line("%s %s %s", t.paint(blue, number), bar, src)
		if m.Caret >= 0 {
			t.line("%s %s %s", margin, bar, caret)
		}
	}
	for _, help := range m.Help {
		t.note(strings.Repeat(" ", 5), "help", help)
	}
}
