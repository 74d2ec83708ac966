package main

import (
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// The exit statuses of every command. A signal ends a scan with 128 and its number.
const (
	exitPass      = 0 // PASS, or a command that did what it was asked to
	exitViolation = 1 // a violation was found, whatever else went wrong
	exitUndecided = 2 // could not decide, bad usage, a failed write
)

// A meaning is what an exit status of a scan says.
type meaning struct{ status, text string }

// meanings are those of all statuses, for --help and the manual page.
func meanings() []meaning {
	return []meaning{
		{"0", "PASS"},
		{"1", "a violation was found, whatever else went wrong"},
		{"2", "could not decide, bad usage, or an output that could not be written"},
		{"128+n", "ended by the signal n"},
	}
}

// statuses says them in a sentence, but for the signals, of which the shell knows.
func statuses() string {
	var parts []string
	for _, m := range meanings()[:3] {
		parts = append(parts, m.status+" "+m.text)
	}
	return "Exit status: " + strings.Join(parts, "; ") + "."
}

// exitStatus is what a scan's verdict means to the shell.
func exitStatus(v *verdict.Verdict) int {
	switch {
	case len(v.Violations) > 0:
		return exitViolation
	case v.Verdict == verdict.Pass:
		return exitPass
	}
	return exitUndecided
}
