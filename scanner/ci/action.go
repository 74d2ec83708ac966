package ci

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// ActionFlags are the flags of a scan that have an input of the GitHub Action, and so are not for its input args.
func ActionFlags() []string {
	return []string{"policy", "policy-ref", "diff-base", "staged", "output", "report", "help", "version"}
}

// An Action is the inputs of a step of the GitHub Action.
type Action struct {
	Input  func(name string) string         // the value of an input
	Env    func(name string) string         // of a variable
	Output string                           // the file of the verdict
	Refuse func(words []string) (err error) // of the input args, what is not for it
}

// Args are the command line that the inputs stand for, and the file of the first report that is SARIF, if there is
// one. All mistakes are reported at once.
func (a *Action) Args() (args []string, sarif string, err error) {
	var mistakes []error
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }

	args = []string{"scan", "--output=" + a.Output}
	for _, name := range []string{"policy", "policy-ref"} {
		if v := a.Input(name); v != "" {
			args = append(args, "--"+name+"="+v)
		}
	}
	scope, base := a.Input("scope"), a.Input("diff-base")
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
		wrong("the input diff-base needs scope: diff, but scope is %q", scope)
	}
	for line := range strings.Lines(a.Input("reports")) {
		line = strings.TrimSpace(line)
		format, file, _ := strings.Cut(line, "=")
		switch {
		case line == "":
			continue
		case file == "" || file == "-":
			wrong("the input reports has the line %q; write each as FORMAT=FILE", line)
		case format == "sarif" && sarif == "":
			sarif = file
		}
		args = append(args, "--report="+line)
	}
	more, err := words(a.Input("args"))
	if err == nil {
		err = a.Refuse(more)
	}
	if err != nil {
		wrong("the input args: %w", err)
	}
	for _, name := range ActionFlags() {
		variable := "POLICYSCAN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if a.Env(variable) != "" {
			wrong("%s is set; use the input of the action instead", variable)
		}
	}
	for _, variable := range []string{"PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PRE_COMMIT_LOCAL_BRANCH"} {
		if a.Env(variable) != "" {
			wrong("%s is set, and would override the event in choosing what is checked; "+
				"remove it from the step's environment", variable)
		}
	}
	args = append(args, more...)
	if path := a.Input("path"); path != "" {
		args = append(args, "--", path)
	}
	return args, sarif, errors.Join(mistakes...)
}

// Scope is what is known of the scope of a step that did not come to scan.
func (a *Action) Scope() verdict.Scope {
	switch scope := a.Input("scope"); scope {
	case "auto", "diff":
		return verdict.Scope{Mode: "diff"}
	case "staged":
		return verdict.Scope{Mode: scope}
	}
	return verdict.Scope{Mode: "full"}
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

// A StepOutput is a value that a step of a workflow leaves to those after it.
type StepOutput struct{ Name, Value string }

// WriteStepOutputs writes a step's outputs as GITHUB_OUTPUT takes them: a delimiter that
// nobody can know ends each value, so that none can bring its own output.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
func WriteStepOutputs(w io.Writer, outputs []StepOutput) error {
	for _, o := range outputs {
		delimiter := "policyscan_" + rand.Text()
		for strings.Contains(o.Value, delimiter) {
			delimiter = "policyscan_" + rand.Text()
		}
		if _, err := fmt.Fprintf(w, "%s<<%s\n%s\n%s\n", o.Name, delimiter, o.Value, delimiter); err != nil {
			return err
		}
	}
	return nil
}
