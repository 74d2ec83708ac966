package action

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
)

// NewStep returns a step with the reports for the runner. If one of them has no file, [Step.Args] returns the error,
// and the other reports show it.
func NewStep(s Step) *Step {
	for _, to := range []struct {
		on       string // the input; "": always
		format   report.Format
		variable string // with the file's name; "": standard output
	}{
		{"annotations", report.Named("github"), ""},
		{"summary", report.Named("markdown"), "GITHUB_STEP_SUMMARY"},
		{"", report.Format{Name: "outputs", Write: s.writeOutputs}, "GITHUB_OUTPUT"},
	} {
		on := "true"
		if to.on != "" {
			on = s.input(to.on)
		}
		if on == "false" {
			continue
		}
		var wrong error
		if on != "true" {
			wrong = fmt.Errorf("the input %s is %q; choose one of true, false", to.on, on)
		}
		r, missing := s.reportTo(to.variable, to.format)
		if missing == nil {
			s.also = append(s.also, r)
		}
		s.broken = cmp.Or(s.broken, errors.Join(wrong, missing))
	}
	return &s
}

// reportTo returns a report that is appended to the file in a variable; "" is standard output.
func (s *Step) reportTo(variable string, f report.Format) (output.Report, error) {
	if variable == "" {
		return output.Report{Format: f}, nil
	}
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

// Failed reports a run that failed before the scan and wrote no verdict. It returns the error, joined with any of the
// reports.
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

// writeOutputs writes the step's outputs in the syntax of GITHUB_OUTPUT: a random delimiter (130 bits) ends each
// value, so that none can bring its own output.
//
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
//
// Files are named only if they exist, and SARIF only if it covers the whole scan: code scanning treats missing results
// as fixed.
func (s *Step) writeOutputs(w io.Writer, v *verdict.Verdict) error {
	file, sarif := "", ""
	if output.IsVerdict(s.verdict) {
		file = s.verdict
	}
	if s.sarif != "" && v.Complete && !v.Partial {
		if st, err := os.Lstat(s.sarif); err == nil && st.Mode().IsRegular() {
			sarif = s.sarif
		}
	}
	for _, o := range []struct{ name, value string }{ // in the order of action.yml
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
	} {
		delimiter := "policyscan_" + rand.Text()
		if _, err := fmt.Fprintf(w, "%s<<%s\n%s\n%s\n", o.name, delimiter, o.value, delimiter); err != nil {
			return err
		}
	}
	return nil
}
