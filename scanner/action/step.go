// Package action is a run of the GitHub Action: a [Step] turns the action's inputs into a command line, and reports
// the results to the runner, also if the run could not begin.
package action

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
)

// ActionFlags returns the flags of a scan that have an input of the GitHub Action, and so are not allowed in its input
// args.
func ActionFlags() []string {
	return []string{
		"policy", "policy-sha256", "policy-ref", "rev", "diff-base", "staged", "require-merged", "each-commit",
		"output", "report", "shard", "defer", "help", "version",
	}
}

// A Step is a run of the GitHub Action: its inputs and its results for the runner. [NewStep] makes one.
type Step struct {
	Getenv  func(name string) string
	Refuse  func(words []string) error   // returns an error for words that the input args must not have
	Status  func(v *verdict.Verdict) int // the exit status of a run with this verdict
	Version string                       // of the program

	verdict string          // the file; "" without one
	sarif   string          // the file of the first SARIF report; "" without one
	also    []output.Report // for the runner; the step's outputs last
	broken  error           // why a report of also is missing
}

// input returns the value of an input. action.yml has the defaults, and passes each input in its own variable, so that
// none is ever part of a script.
func (s *Step) input(name string) string {
	return s.Getenv("INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}

// Also returns the reports for the runner.
func (s *Step) Also() []output.Report { return s.also }

// Args returns the command line for the inputs. All mistakes are reported at once.
func (s *Step) Args() ([]string, error) {
	err := s.broken
	if s.verdict = s.input("verdict-file"); s.verdict == "" {
		dir, e := os.MkdirTemp(s.Getenv("RUNNER_TEMP"), "policyscan-")
		if e != nil {
			err = errors.Join(err, fmt.Errorf("there is no place for the verdict: %w", disk.Cause(e)))
		}
		s.verdict = filepath.Join(dir, "verdict.json")
	} else if s.verdict == "-" || s.verdict == "none" {
		err = errors.Join(err, fmt.Errorf("the input verdict-file is %q; name a file", s.verdict))
	}
	args, e := s.args()
	return args, errors.Join(err, e)
}

func (s *Step) args() (args []string, err error) {
	var mistakes []error
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }

	args = []string{"scan", "--output=" + s.verdict}
	given := []string{"policy", "policy-sha256", "policy-ref"}
	if s.input("policy-repository") != "" { // action.yml has checked it out at policy-ref
		args = append(args, "--policy="+filepath.Join(s.Getenv("RUNNER_TEMP"), s.Getenv("RULES"), "rules"))
		given = given[:2]
	}
	for _, name := range given {
		if v := s.input(name); v != "" {
			args = append(args, "--"+name+"="+v)
		}
	}
	scope, base := s.input("scope"), s.input("diff-base")
	switch scope {
	case "auto":
		args = append(args, "--diff-base=auto")
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
		wrong("the input diff-base needs scope: diff, but scope is %q", scope)
	}
	switch rev := s.input("rev"); {
	case rev == "":
	case scope != "full":
		wrong("the input rev needs scope: full, but scope is %q", scope)
	default:
		args = append(args, "--rev="+rev)
	}
	for _, name := range []string{"require-merged", "each-commit"} {
		switch value := s.input(name); {
		case value == "true" && (scope == "auto" || scope == "diff"):
			args = append(args, "--"+name)
		case value == "true":
			wrong("the input %s needs scope: auto or diff, but scope is %q", name, scope)
		case value != "false":
			wrong("the input %s is %q; choose one of true, false", name, value)
		}
	}
	for line := range strings.Lines(s.input("reports")) {
		line = strings.TrimSpace(line)
		format, file, _ := strings.Cut(line, "=")
		switch {
		case line == "":
			continue
		case file == "" || file == "-":
			wrong("the input reports has the line %q; write each as FORMAT=FILE", line)
		case format == "sarif" && s.sarif == "":
			s.sarif = file
		}
		args = append(args, "--report="+line)
	}
	more, err := words(s.input("args"))
	if err == nil {
		err = s.Refuse(more)
	}
	if err != nil {
		wrong("the input args: %w", err)
	}
	for _, name := range ActionFlags() {
		variable := "POLICYSCAN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if s.Getenv(variable) != "" {
			wrong("%s is set; use the input of the action instead", variable)
		}
	}
	for _, name := range []string{"", "_FROM_REF", "_TO_REF", "_LOCAL_BRANCH"} {
		if variable := "PRE_COMMIT" + name; s.Getenv(variable) != "" {
			wrong("%s is set, and would override the event in choosing what is checked; "+
				"remove it from the step's environment", variable)
		}
	}
	args = append(args, more...)
	if path := s.input("path"); path != "" {
		args = append(args, "--", path)
	}
	return args, errors.Join(mistakes...)
}

// scope returns the known scope of a step that failed before the scan.
func (s *Step) scope() verdict.Scope {
	switch scope := s.input("scope"); scope {
	case "auto", "diff":
		return verdict.Scope{Mode: "diff"}
	case "staged":
		return verdict.Scope{Mode: scope}
	}
	return verdict.Scope{Mode: "full"}
}

// words splits text at white space, like a shell with both kinds of quotes and no other syntax.
func words(text string) (all []string, err error) {
	var word []rune
	within, quote := false, rune(0)
	for _, r := range text + "\n" {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			within, quote = true, r
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if within {
				all = append(all, string(word))
			}
			within, word = false, nil
		default:
			within, word = true, append(word, r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	return all, nil
}
