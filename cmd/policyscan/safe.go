package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// obeyed reports whether what the program prints is read for workflow commands.
func obeyed() bool { return os.Getenv("GITHUB_ACTIONS") != "" }

// safe makes text of a tree or a bundle safe to print within a line.
func safe(s string) string {
	s = verdict.Visible(s)
	if obeyed() {
		s = verdict.Defuse(s)
	}
	return s
}

// quoted shows such a text in a message.
func quoted(s string) string { return `"` + safe(s) + `"` }

// complain is the voice in which the program speaks of its own trouble.
func complain(w io.Writer, err error) {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = safe(strings.ReplaceAll(lines[i], "\t", "    "))
	}
	_, _ = fmt.Fprintf(w, "policyscan: %s\n", strings.Join(lines, "\n")) // there is nowhere left to complain to
}

func print(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format, args...)
	return err
}
