package main

import "github.com/policyscan/policyscan/verdict"

// The exit statuses of every command. A signal ends a scan with 128 and its number.
const (
	exitPass      = 0 // PASS, or a command that did what it was asked to
	exitViolation = 1 // a violation was found, whatever else went wrong
	exitUndecided = 2 // could not decide, bad usage, a failed write
)

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
