package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/policyscan/policyscan/verdict"
)

// The exit statuses of every command. A signal ends a scan with 128 and its number.
const (
	exitPass      = 0 // PASS, or a command that succeeded
	exitViolation = 1 // a violation was found, whatever else went wrong
	exitUndecided = 2 // could not decide, bad usage, a failed write
)

func exitStatus(v *verdict.Verdict) int { return statusOf(len(v.Violations), v.Verdict) }

// statusOf is the exit status of a verdict with n violations.
func statusOf(violations int, word verdict.Outcome) int {
	switch {
	case violations > 0:
		return exitViolation
	case word == verdict.Pass:
		return exitPass
	}
	return exitUndecided
}

// ended is the error of a run that has written its outputs: its status, or the status of the signal that ended it.
// failed are the outputs that could not be written.
func ended(status int, caught func() int, failed error) error {
	if sig := caught(); sig != 0 {
		status = 128 + sig
	}
	if status == exitPass {
		return nil
	}
	return exitError{status: status, err: failed}
}

// helpExit is the panic value that replaces kong's own exits: --help was printed.
type helpExit struct{}

// runMain is the program: arguments in, exit status out.
func runMain(args []string, std streams) int {
	if status, is := runHook(args, std); is {
		return status
	}
	return recovering(std, func() int { return dispatch(args, std, std.out) })
}

// recovering runs the program and turns a panic into exit status 2. Nothing else recovers one for a status.
func recovering(std streams, program func() int) (status int) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case helpExit{}:
			status = exitPass
		default:
			// A PASS cannot have been written: that is the last thing a scan does.
			printErrors(std.err, fmt.Errorf("a bug in policyscan, please report it: %v", p))
			_, _ = std.err.Write(debug.Stack())
			status = exitUndecided
		}
	}()
	return program()
}

// finish maps a command's result to an exit status, and prints the error, if any.
func finish(std streams, err error) int {
	if err == nil {
		return exitPass
	}
	var o exitError
	if !errors.As(err, &o) {
		o = exitError{exitUndecided, err}
	}
	if o.err != nil {
		printErrors(std.err, o.err)
	}
	return o.status
}
