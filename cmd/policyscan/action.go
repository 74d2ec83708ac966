package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// actionCmd is the step of action.yml: a scan in this process, whose flags are the action's
// inputs. It is hidden, as nobody types it. docs/github-action.md is the action's manual.
type actionCmd struct{}

// Run scans as the inputs say, and tells the runner.
func (*actionCmd) Run(std streams) error {
	if !inWorkflow() {
		return errors.New("policyscan action is what action.yml runs in a GitHub workflow; to scan a folder of that name write policyscan ./action")
	}
	a := newAction(std)
	scan, err := a.scan()
	if err != nil {
		return a.undecided(err)
	}
	v, err := scan.run(std)
	if v == nil {
		return a.undecided(err)
	}
	return err
}

func inWorkflow() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// An action is one run of the step.
type action struct {
	std     streams
	verdict string         // the file
	sarif   string         // the first report of that format; "" if there is none
	also    []reportOutput // to the runner; the step's outputs last
	broken  error          // why something of also is missing
}

// newAction finds where the runner is to be told. What of it cannot be had is said by scan:
// what can be had tells of that, too.
func newAction(std streams) *action {
	a := &action{std: std}
	for _, to := range []struct{ on, format, file string }{
		{"annotations", "github", ""},
		{"summary", "markdown", "GITHUB_STEP_SUMMARY"},
	} {
		on := actionInput(to.on)
		err := oneOf("the input "+to.on, on, []string{"true", "false"})
		if on == "false" {
			continue
		}
		r, missing := formatOf(to.format)
		if err = errors.Join(err, missing); missing == nil && to.file != "" {
			err = errors.Join(err, r.addTo(to.file))
		}
		a.broken = cmp.Or(a.broken, err)
		if missing == nil && (to.file == "" || r.added) {
			a.also = append(a.also, r)
		}
	}
	outputs := reportOutput{Format: report.Format{Name: "outputs", Write: a.writeOutputs}}
	a.broken = cmp.Or(a.broken, outputs.addTo("GITHUB_OUTPUT"))
	if outputs.added {
		a.also = append(a.also, outputs)
	}
	return a
}

// addTo makes the report one that is added to the file that a variable names.
func (r *reportOutput) addTo(variable string) error {
	file := os.Getenv(variable)
	st, err := os.Stat(file)
	switch {
	case file == "":
		return fmt.Errorf("%s is not set: where GitHub's runner reads this step's %s is not known", variable, r.Name)
	case err != nil:
		return fmt.Errorf("the file that %s names cannot be used: %w", variable, systemError(err))
	}
	r.file, r.added, r.from = file, true, st.Size()
	return nil
}

// actionInput is the value of an input. action.yml hands each on as a variable of its own, so
// that none is ever part of a script, and has the defaults.
func actionInput(name string) string {
	return os.Getenv("INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}

// owned are the flags that have an input, and so are not for args.
func owned() []string {
	return []string{"policy", "policy-ref", "diff-base", "staged", "output", "report", "help", "version"}
}

// scan is the scan that the inputs ask for.
func (a *action) scan() (*scanCmd, error) {
	err := a.broken
	if a.verdict = actionInput("verdict-file"); a.verdict == "" {
		dir, e := os.MkdirTemp(os.Getenv("RUNNER_TEMP"), "policyscan-")
		if e != nil {
			err = errors.Join(err, fmt.Errorf("there is no place for the verdict: %w", systemError(e)))
		}
		a.verdict = filepath.Join(dir, "verdict.json")
	} else if a.verdict == "-" || a.verdict == "none" {
		err = errors.Join(err, fmt.Errorf("the input verdict-file is %q; name a file", a.verdict))
	}
	args, e := a.flags()
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

// flags are the command line that the inputs stand for. All mistakes are reported at once.
func (a *action) flags() ([]string, error) {
	var mistakes []error
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }

	args := []string{"scan", "--output=" + a.verdict}
	for _, name := range []string{"policy", "policy-ref"} {
		if v := actionInput(name); v != "" {
			args = append(args, "--"+name+"="+v)
		}
	}
	scope, base := actionInput("scope"), actionInput("diff-base")
	switch scope {
	case "auto":
		args = append(args, "--diff-base="+auto)
	case "diff":
		args = append(args, "--diff-base="+base)
		if base == "" {
			wrong("the input scope is diff, which needs the input diff-base: a branch, a tag or a commit")
		}
	case "staged":
		args = append(args, "--staged")
	case "full":
	default:
		wrong("the input scope is %q; choose one of auto, full, diff, staged", scope)
	}
	if base != "" && scope != "diff" {
		wrong("the input diff-base is given, but scope is %q; it needs scope: diff", scope)
	}
	for line := range strings.Lines(actionInput("reports")) {
		line = strings.TrimSpace(line)
		format, file, _ := strings.Cut(line, "=")
		switch {
		case line == "":
			continue
		case file == "" || file == "-":
			wrong("the input reports has the line %q; each is FORMAT=FILE", line)
		case format == "sarif" && a.sarif == "":
			a.sarif = file
		}
		args = append(args, "--report="+line)
	}
	more, err := words(actionInput("args"))
	if err == nil {
		err = onlyFree(more, a.std)
	}
	if err != nil {
		wrong("the input args: %w", err)
	}
	for _, name := range owned() {
		variable := "POLICYSCAN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if os.Getenv(variable) != "" {
			wrong("%s is set, which the action has an input for; use the input", variable)
		}
	}
	for _, variable := range []string{"PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PRE_COMMIT_LOCAL_BRANCH"} {
		if os.Getenv(variable) != "" {
			wrong("%s is set, and would choose what is judged in the place of the event; take it out of the step's environment", variable)
		}
	}
	args = append(args, more...)
	if path := actionInput("path"); path != "" {
		args = append(args, "--", path)
	}
	return args, errors.Join(mistakes...)
}

// onlyFree refuses arguments that an input has, and those that would end the program, with
// status 0, before it scans. What no flag is, is left to the parser.
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
		case p.Flag != nil && slices.Contains(owned(), p.Flag.Name):
			return fmt.Errorf("--%s is not for args; use the input for it, if there is one", p.Flag.Name)
		case p.Positional != nil:
			return errors.New("it has more than flags; the folder is the input path")
		}
	}
	if slices.Contains(args, "--") {
		return errors.New("-- is not for args; the folder is the input path")
	}
	return nil
}

// words splits text at white space, as a shell does that knows quotes of both kinds and
// nothing else.
func words(text string) ([]string, error) {
	var all []string
	var now strings.Builder
	within, quote := false, rune(0)
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			now.WriteRune(r)
		case r == '"' || r == '\'':
			within, quote = true, r
		case strings.ContainsRune(" \t\r\n", r):
			if within {
				all = append(all, now.String())
			}
			now.Reset()
			within = false
		default:
			within = true
			now.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if within {
		all = append(all, now.String())
	}
	return all, nil
}

// undecided tells the runner of a run that did not come to scan, and wrote no verdict.
func (a *action) undecided(err error) error {
	replaceOldVerdict(a.verdict)
	a.verdict = ""
	scope := verdict.Scope{Mode: "full"}
	switch actionInput("scope") {
	case "auto", "diff":
		scope.Mode = "diff"
	case "staged":
		scope.Mode = "staged"
	}
	var errs []verdict.Error
	for _, e := range parts(err) {
		errs = append(errs, errorsOf(e)...)
	}
	v := verdict.Incomplete(version(), scope, errs...)
	v.Decide()
	for _, r := range a.also {
		err = errors.Join(err, r.write(v, a.std.out))
	}
	return outcome{exitUndecided, err}
}

// parts are the errors that errors.Join joined.
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

// writeOutputs writes the step's outputs as GITHUB_OUTPUT takes them: a delimiter that
// nobody can know ends each value, so that none can bring an output of its own.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
func (a *action) writeOutputs(w io.Writer, v *verdict.Verdict) error {
	for _, o := range a.outputs(v) {
		delimiter := "policyscan_" + rand.Text()
		for strings.Contains(o.value, delimiter) {
			delimiter = "policyscan_" + rand.Text()
		}
		if err := print(w, "%s<<%s\n%s\n%s\n", o.name, delimiter, o.value, delimiter); err != nil {
			return err
		}
	}
	return nil
}

type stepOutput struct{ name, value string }

// outputs are what the workflow can decide on, in the order of action.yml. Files are named
// only when they are there, and SARIF only when it is about all that was to be judged: code
// scanning takes what is missing in it for fixed.
func (a *action) outputs(v *verdict.Verdict) []stepOutput {
	file, sarif := "", ""
	if verdict.IsVerdict(a.verdict) {
		file = a.verdict
	}
	if a.sarif != "" && v.Complete && !v.Partial {
		if st, err := os.Lstat(a.sarif); err == nil && st.Mode().IsRegular() {
			sarif = a.sarif
		}
	}
	return []stepOutput{
		{"verdict", string(v.Verdict)},
		{"complete", fmt.Sprint(v.Complete)},
		{"exit-code", fmt.Sprint(exitStatus(v))},
		{"verdict-file", file},
		{"sarif-file", sarif},
		{"violations", fmt.Sprint(len(v.Violations))},
		{"files-scanned", fmt.Sprint(v.Coverage.Scanned)},
		{"base-sha", v.Scope.BaseCommit},
		{"head-sha", v.Scope.HeadCommit},
		{"scope", v.Scope.Mode},
	}
}
