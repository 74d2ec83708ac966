package action

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
)

// NewStep returns a step with the reports that the runner reads. If one of them has no file, the step has the others,
// and [Step.Args] returns the error, so that they report it.
func NewStep(s Step) *Step {
	for _, to := range []struct {
		on     string
		format report.Format
		file   string
	}{
		{"annotations", report.Named("github"), ""},
		{"summary", report.Named("markdown"), "GITHUB_STEP_SUMMARY"},
	} {
		var wrong error
		switch on := s.input(to.on); on {
		case "true":
		case "false":
			continue
		default:
			wrong = fmt.Errorf("the input %s is %q; choose one of true, false", to.on, on)
		}
		s.tell(to.format, to.file, wrong)
	}
	s.tell(report.Format{Name: "outputs", Write: s.writeOutputs}, "GITHUB_OUTPUT", nil)
	return &s
}

// tell adds a report that is appended to the file that a variable names; "" is standard output.
func (s *Step) tell(f report.Format, variable string, wrong error) {
	r := output.Report{Format: f}
	var missing error
	if variable != "" {
		r, missing = s.addedTo(variable, f)
	}
	s.broken = cmp.Or(s.broken, errors.Join(wrong, missing))
	if missing == nil {
		s.also = append(s.also, r)
	}
}

// addedTo returns a report that is appended to the file that a variable names.
func (s *Step) addedTo(variable string, f report.Format) (output.Report, error) {
	file := s.Getenv(variable)
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

// Failed tells the runner about a run that failed before the scan and wrote no verdict. It returns the error, with
// those of telling.
func (s *Step) Failed(err error, stdout io.Writer) error {
	output.ReplaceOld(s.Version, s.verdict)
	s.verdict = ""
	var errs []verdict.Error
	for _, e := range parts(err) {
		errs = append(errs, run.Errors(e)...)
	}
	v := verdict.Incomplete(s.Version, s.scope(), errs...)
	v.Decide()
	for _, r := range s.also {
		err = errors.Join(err, r.Write(v, stdout))
	}
	return err
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

// A stepOutput is a value that a step of a workflow leaves to those after it.
type stepOutput struct{ name, value string }

// outputs returns the step's outputs, in the order of action.yml. Files are named only if they
// exist, and SARIF only if it covers everything that was to be judged: code scanning takes
// what is missing from it as fixed.
func (s *Step) outputs(v *verdict.Verdict) []stepOutput {
	file, sarif := "", ""
	if output.IsVerdict(s.verdict) {
		file = s.verdict
	}
	if s.sarif != "" && v.Complete && !v.Partial {
		if st, err := os.Lstat(s.sarif); err == nil && st.Mode().IsRegular() {
			sarif = s.sarif
		}
	}
	return []stepOutput{
		{"verdict", string(v.Verdict)},
		{"complete", fmt.Sprint(v.Complete)},
		{"exit-code", fmt.Sprint(s.Status(v))},
		{"verdict-file", file},
		{"sarif-file", sarif},
		{"violations", fmt.Sprint(len(v.Violations))},
		{"files-scanned", fmt.Sprint(v.Coverage.Scanned)},
		{"base-sha", v.Scope.BaseCommit},
		{"head-sha", v.Scope.HeadCommit},
		{"scope", v.Scope.Mode},
	}
}

// writeOutputs writes the step's outputs as GITHUB_OUTPUT takes them: a delimiter that
// nobody can know ends each value, so that none can bring its own output.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
func (s *Step) writeOutputs(w io.Writer, v *verdict.Verdict) error {
	for _, o := range s.outputs(v) {
		delimiter := "policyscan_" + rand.Text()
		for strings.Contains(o.value, delimiter) {
			delimiter = "policyscan_" + rand.Text()
		}
		if _, err := fmt.Fprintf(w, "%s<<%s\n%s\n%s\n", o.name, delimiter, o.value, delimiter); err != nil {
			return err
		}
	}
	return nil
}
