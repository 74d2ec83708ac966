package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/scanner/action"
)

// actionCmd is the step of action.yml: a scan in this process, with the action's inputs as flags. It is hidden because
// users do not type it. docs/ci.md is its manual.
type actionCmd struct{}

// Run scans with the inputs and passes the results to the runner.
func (*actionCmd) Run(std streams) error {
	if !inWorkflow() {
		return errors.New("action is for action.yml in a GitHub workflow; " +
			"to scan a directory of that name: policyscan ./action")
	}
	step := actionStep(std)
	scan, err := scanOf(step, std)
	if err != nil {
		return stepFailed(step, err, std)
	}
	v, err := scan.run(std)
	if v == nil {
		return stepFailed(step, err, std)
	}
	return err
}

func actionStep(std streams) *action.Step {
	free := func(args []string) error { return onlyFree(args, std) }
	return action.NewStep(action.Step{Getenv: getenv, Refuse: free, Status: exitStatus, Version: version()})
}

// stepFailed tells the runner about a run that failed before the scan.
func stepFailed(step *action.Step, err error, std streams) error {
	return exitError{exitUndecided, step.Failed(err, std.out)}
}

func scanOf(step *action.Step, std streams) (*scanCmd, error) {
	args, err := step.Args()
	if err != nil {
		return nil, err
	}
	var c commands
	parser, err := newParser(&c, std)
	if err != nil {
		return nil, err
	}
	if _, err = parse(parser, args); err != nil {
		return nil, fmt.Errorf("the input args, or a POLICYSCAN_ variable: %w; see policyscan scan --help", err)
	}
	c.Scan.also = step.Also()
	return &c.Scan, nil
}

// onlyFree refuses flags that an input sets, and flags that end the program with status 0 before it scans. The parser
// refuses unknown flags.
func onlyFree(args []string, std streams) error {
	var c commands
	parser, err := newParser(&c, std)
	if err != nil {
		return err
	}
	ctx, err := kong.Trace(parser, append([]string{"scan"}, args...))
	if err != nil {
		return err
	}
	for _, p := range ctx.Path {
		switch {
		case p.Flag != nil && slices.Contains(action.ActionFlags(), p.Flag.Name):
			return fmt.Errorf("--%s is not for args; use the input for it, if there is one", p.Flag.Name)
		case p.Positional != nil:
			return errors.New("it may contain only flags; the directory is the input path")
		}
	}
	if slices.Contains(args, "--") {
		return errors.New("-- is not for args; the directory is the input path")
	}
	return nil
}
