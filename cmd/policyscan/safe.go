package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/verdict"
)

// safe makes text of a tree or a bundle safe to print in a line.
func safe(s string) string {
	s = verdict.Visible(s)
	if runnerReadsOutput() {
		s = verdict.Defuse(s)
	}
	return s
}

// quoted returns safe text in quotes, for a message.
func quoted(s string) string { return `"` + safe(s) + `"` }

// printErrors prints the program's own errors: a line for each mistake in a bundle and for each of several errors, one
// line for anything else, whatever names are in it.
func printErrors(w io.Writer, err error) {
	for _, text := range messages(err) {
		_, _ = fmt.Fprintf(w, "policyscan: %s\n", text) // there is no other place to report an error
	}
}

// printErrorsOf prints the errors of a verdict, whose files are shown with a prefix.
func printErrorsOf(std streams, list []verdict.Error, prefix string) {
	for _, e := range list {
		if e.File != "" {
			e.File = prefix + e.File
		}
		printErrors(std.err, fmt.Errorf("%w [%s]", &e, e.Code))
	}
}

// messages returns the lines that report an error, safe to print.
func messages(err error) []string {
	var mistakes document.Errors
	if errors.As(err, &mistakes) {
		var lines []string
		head, _, _ := strings.Cut(err.Error(), mistakes.Error())
		for _, m := range mistakes {
			text := head + m.Error()
			if head == "" && m.File != "" { // nothing else names its bundle
				text = m.Place() + ": " + m.What()
			}
			lines = append(lines, safe(text))
		}
		return lines
	}
	// An error of errors.Join has a line for each of its errors.
	if several, ok := err.(interface{ Unwrap() []error }); ok && strings.Contains(err.Error(), "\n") {
		var lines []string
		for _, one := range several.Unwrap() {
			lines = append(lines, messages(one)...)
		}
		return lines
	}
	return []string{safe(err.Error())}
}

func print(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format, args...)
	return err
}

// printJSON prints v as [verdict.JSON].
func printJSON(std streams, v any) error {
	text, err := verdict.JSON(v)
	if err == nil {
		_, err = std.out.Write(text)
	}
	return err
}

// printTable prints rows of cells in columns.
func printTable(std streams, rows [][]string) error {
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // Flush has the error
	}
	return w.Flush()
}
