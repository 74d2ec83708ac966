package rules

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Show writes each error as a line, and beneath it the line of the rule file with a
// mark under the column, as it was when it was read. escape makes a
// text safe for where w leads to; everything that stems from the bundle passes through it.
func Show(w io.Writer, errs Errors, escape func(string) string) error {
	for _, e := range errs {
		if _, err := fmt.Fprintf(w, "%s\n%s", escape(e.Error()), e.Snippet(escape)); err != nil {
			return err
		}
	}
	return nil
}

// Snippet returns the line of the rule file, its number before it, and beneath it a mark under the
// column if there is one, each with a line feed; nothing if the error is not about a line. Of a long
// line it shows the part around the column.
func (e *Error) Snippet(escape func(string) string) string {
	switch {
	case e.Line == 0 || e.source == "":
		return ""
	case e.caret < 0:
		return fmt.Sprintf("%5d | %s\n", e.Line, escape(strings.ReplaceAll(e.source, "\t", "    ")))
	}
	before := escape(strings.ReplaceAll(e.source[:e.caret], "\t", "    "))
	after := escape(strings.ReplaceAll(e.source[e.caret:], "\t", "    "))
	number := fmt.Sprintf("%5d | ", e.Line)
	blank := strings.Repeat(" ", len(number)-2) + "| "
	return number + before + after + "\n" + blank + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^\n"
}
