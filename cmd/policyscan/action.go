package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/ci"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
)

// actionCmd is the step of action.yml: a scan in this process, whose flags are the action's
// inputs. It is hidden because nobody types it. docs/github-action.md is the action's manual.
type actionCmd struct{}

// Run scans with the inputs and passes the results to the runner.
func (*actionCmd) Run(std streams) error {
	if !inWorkflow() {
		return errors.New("policyscan action is what action.yml runs in a GitHub workflow; " +
			"to scan a folder of that name write policyscan ./action")
	}
	a := newAction(std)
	scan, err := a.scan()
	if err != nil {
		return a.failed(err)
	}
	v, err := scan.run(std)
	if v == nil {
		return a.failed(err)
	}
	return err
}

// An action is one run of the step.
type action struct {
	std     streams
	step    ci.Action
	verdict string          // the file
	sarif   string          // the first report of that format; "" if there is none
	also    []output.Report // to the runner; the step's outputs last
	broken  error           // why something of also is missing
}

// newAction finds the files that the runner reads. A missing one is an error that scan
// reports through the others.
func newAction(std streams) *action {
	free := func(args []string) error { return onlyFree(args, std) }
	a := &action{std: std, step: ci.Action{Input: actionInput, Env: getenv, Refuse: free}}
	for _, to := range []struct {
		on     string
		format report.Format
		file   string
	}{
		{"annotations", report.Named("github"), ""},
		{"summary", report.Named("markdown"), "GITHUB_STEP_SUMMARY"},
	} {
		on := actionInput(to.on)
		err := oneOf("the input "+to.on, on, []string{"true", "false"})
		if on == "false" {
			continue
		}
		r := output.Report{Format: to.format}
		var missing error
		if to.file != "" {
			r, missing = addedTo(to.file, to.format)
		}
		a.broken = cmp.Or(a.broken, errors.Join(err, missing))
		if missing == nil {
			a.also = append(a.also, r)
		}
	}
	outputs, missing := addedTo("GITHUB_OUTPUT", report.Format{Name: "outputs", Write: a.writeOutputs})
	a.broken = cmp.Or(a.broken, missing)
	if missing == nil {
		a.also = append(a.also, outputs)
	}
	return a
}

// addedTo returns a report that is appended to the file that a variable names.
func addedTo(variable string, f report.Format) (output.Report, error) {
	file := getenv(variable)
	if file == "" {
		return output.Report{}, fmt.Errorf("%s is not set, so it is unknown where GitHub's runner reads this step's %s",
			variable, f.Name)
	}
	r, err := output.Added(f, file)
	if err != nil {
		return r, fmt.Errorf("the file that %s names cannot be used: %w", variable, disk.Cause(err))
	}
	return r, nil
}

// actionInput returns the value of an input. action.yml has the defaults, and passes each input
// in its own variable, so that none is ever part of a script.
func actionInput(name string) string {
	return getenv("INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}

// scan returns the scan that the inputs ask for.
func (a *action) scan() (*scanCmd, error) {
	err := a.broken
	if a.verdict = actionInput("verdict-file"); a.verdict == "" {
		dir, e := os.MkdirTemp(getenv("RUNNER_TEMP"), "policyscan-")
		if e != nil {
			err = errors.Join(err, fmt.Errorf("there is no place for the verdict: %w", disk.Cause(e)))
		}
		a.verdict = filepath.Join(dir, "verdict.json")
	} else if a.verdict == "-" || a.verdict == "none" {
		err = errors.Join(err, fmt.Errorf("the input verdict-file is %q; name a file", a.verdict))
	}
	a.step.Output = a.verdict
	args, sarif, e := a.step.Args()
	a.sarif = sarif
	if err = errors.Join(err, e); err != nil {
		return nil, err
	}
	var c commands
	parser, err := newParser(&c, a.std)
	if err != nil {
		return nil, err
	}
	ctx, err := parser.Parse(args)
	if err == nil {
		err = checkFlags(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("the input args, or a POLICYSCAN_ variable: %w; see policyscan scan --help", err)
	}
	c.Scan.also = a.also
	return &c.Scan, nil
}

// onlyFree refuses flags for which there is an input, and those that would end the program
// with status 0 before it scans. The parser refuses unknown flags.
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
		case p.Flag != nil && slices.Contains(ci.ActionFlags(), p.Flag.Name):
			return fmt.Errorf("--%s is not for args; use the input for it, if there is one", p.Flag.Name)
		case p.Positional != nil:
			return errors.New("it may contain only flags; the folder is the input path")
		}
	}
	if slices.Contains(args, "--") {
		return errors.New("-- is not for args; the folder is the input path")
	}
	return nil
}

// failed tells the runner about a run that failed before the scan and wrote no verdict.
func (a *action) failed(err error) error {
	replaceOldVerdict(a.verdict)
	a.verdict = ""
	var errs []verdict.Error
	for _, e := range parts(err) {
		errs = append(errs, failure.Errors(e)...)
	}
	v := verdict.Incomplete(version(), a.step.Scope(), errs...)
	v.Decide()
	for _, r := range a.also {
		err = errors.Join(err, r.Write(v, a.std.out))
	}
	return outcome{exitUndecided, err}
}

// parts returns the errors that errors.Join joined.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// writeOutputs writes the step's outputs.
func (a *action) writeOutputs(w io.Writer, v *verdict.Verdict) error {
	return ci.WriteStepOutputs(w, a.outputs(v))
}

// outputs are the step's outputs, in the order of action.yml. Files are named only if they
// exist, and SARIF only if it covers everything that was to be judged: code scanning takes
// what is missing from it as fixed.
func (a *action) outputs(v *verdict.Verdict) []ci.StepOutput {
	file, sarif := "", ""
	if output.IsVerdict(a.verdict) {
		file = a.verdict
	}
	if a.sarif != "" && v.Complete && !v.Partial {
		if st, err := os.Lstat(a.sarif); err == nil && st.Mode().IsRegular() {
			sarif = a.sarif
		}
	}
	return []ci.StepOutput{
		{Name: "verdict", Value: string(v.Verdict)},
		{Name: "complete", Value: fmt.Sprint(v.Complete)},
		{Name: "exit-code", Value: fmt.Sprint(exitStatus(v))},
		{Name: "verdict-file", Value: file},
		{Name: "sarif-file", Value: sarif},
		{Name: "violations", Value: fmt.Sprint(len(v.Violations))},
		{Name: "files-scanned", Value: fmt.Sprint(v.Coverage.Scanned)},
		{Name: "base-sha", Value: v.Scope.BaseCommit},
		{Name: "head-sha", Value: v.Scope.HeadCommit},
		{Name: "scope", Value: v.Scope.Mode},
	}
}
