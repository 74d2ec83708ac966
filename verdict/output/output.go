// Package output manages the files of a run: the verdict and the reports.
//
//	Run.Begin --> a FAIL in progress at the verdict's path; old reports are removed
//	Run.End   --> the reports, then the verdict, then the report for display
//
// So no reader mistakes the output of an earlier or crashed run for a PASS of this one ([ReplaceOld] is for a run that
// cannot even begin). A file is replaced whole or not at all. Files that git tracks, or behind a tracked link, are not
// written: a change could have added them.
package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A Run is the outputs of one run.
type Run struct {
	Version string        // of the program
	Scope   verdict.Scope // the scope known before the tree is opened
	Output  string        // the verdict's file, "-" for standard output, or "none"
	Reports []Report
	Tracks  Tracks
	Stdout  io.Writer
	Begun   Document // the content of Output until a run with a shard file ends; nil: a verdict

	// Show writes the report for display, last.
	Show func(v *verdict.Verdict) error

	path string // of the verdict's file; "" without one
}

// File returns the path of the verdict's file, "" without one.
func (r *Run) File() string { return r.path }

// Begin refuses unsafe output paths, and writes a FAIL to the verdict's path.
func (r *Run) Begin() (err error) {
	if r.Output != "-" && r.Output != "none" {
		r.path = resolved(r.Output)
	}
	if err = errors.Join(checkDistinct(r.Reports), r.apartFromVerdict()); err != nil {
		ReplaceOld(r.Version, r.path)
		return err
	}
	if r.path != "" {
		err = errors.Join(r.Tracks.ThroughLink("output", r.Output), r.Tracks.untracked(r.path))
	}
	if err == nil {
		err = clearAll(r.Reports, r.Tracks)
	}
	if err != nil {
		ReplaceOld(r.Version, r.path)
		return clearOld(r.Reports, r.Tracks, err)
	}
	switch {
	case r.path == "":
	case r.Begun != nil:
		err = createAs(r.path, r.Begun)
	default:
		err = create(r.path, r.Version, r.Scope)
	}
	return err
}

// EndPart writes the document of a run that ends without a verdict. It has no reports.
func (r *Run) EndPart(d Document) error {
	if r.path != "" {
		return unwritten(write(r.path, d))
	}
	return unwritten(writeDocument(r.Stdout, d))
}

// apartFromVerdict refuses a report with the verdict's path.
func (r *Run) apartFromVerdict() error {
	for _, p := range r.Reports {
		switch {
		case p.file == "" && r.Output == "-":
			return fmt.Errorf("--output - and --report %s both go to standard output; name a file for one of them",
				p.Format.Name)
		case p.file != "" && r.path != "" && sameFile(p.file, r.path):
			return fmt.Errorf("--report %s and --output are the same file, %s; name another file for one of them",
				p.Format.Name, p.file)
		}
	}
	return nil
}

// NameTree has the html report name what was scanned; see [report.Format.Naming].
func (r *Run) NameTree(name string) {
	for i := range r.Reports {
		r.Reports[i].Format = r.Reports[i].Format.Naming(name)
	}
}

// End writes every output, and returns the first error; see [ending].
func (r *Run) End(v *verdict.Verdict, caught func() int) error {
	e := ending{
		reports: r.Reports, of: v, stdout: r.Stdout,
		passes: func() bool { return v.Verdict == verdict.Pass },
		fail: func(lost verdict.Error) {
			v.Errors = []verdict.Error{lost}
			v.Decide()
		},
		save: func() error {
			if r.path == "" {
				return nil
			}
			return write(r.path, v)
		},
		print: func() error {
			if r.Output != "-" {
				return nil
			}
			b := bufio.NewWriterSize(r.Stdout, 64<<10)
			if err := v.Write(b); err != nil {
				return err
			}
			return b.Flush()
		},
		show: func() error { return r.Show(v) },
	}
	return e.write(caught)
}

// Printed reports whether standard output has something other than the default report.
func (r *Run) Printed() bool {
	return r.Output == "-" || slices.ContainsFunc(r.Reports, Report.Prints)
}

// ReplaceOld replaces an old verdict by a FAIL if a run cannot begin because of its arguments or environment, so that
// no old PASS remains. It only replaces files that are a verdict, and creates none.
func ReplaceOld(version string, paths ...string) {
	for _, path := range paths {
		if !IsVerdict(path) {
			continue
		}
		v := verdict.Incomplete(version, verdict.Scope{Mode: "full"}, notScanned())
		v.Decide()
		_ = createAs(path, v) // the usage error is reported, and decides
	}
}

// notScanned is the error of a run with invalid flags, in the files of an earlier one.
func notScanned() verdict.Error {
	return verdict.Error{
		Code: code.Usage, Message: "the last run did not scan: its flags or environment could not be used",
	}
}

// An ending writes every output of a run whose document is decided. If an output of a PASS cannot be written, or a
// signal arrives, the document becomes a FAIL, and the files are removed and written again. The report for display
// comes last, so that it never shows PASS for such a run.
type ending struct {
	reports []Report
	of      *verdict.Verdict // nil for the reports of a fleet's summary
	stdout  io.Writer
	passes  func() bool
	fail    func(verdict.Error) // makes the document a FAIL with this error
	save    func() error        // writes the document to its file, if it has one
	print   func() error        // writes it to standard output, if it goes there
	show    func() error        // writes the report for display
	failed  error               // the first output that could not be written
}

// write returns the first output error.
func (e *ending) write(caught func() int) error {
	e.writeFiles()
	printed := !e.passes() || e.failed == nil
	if printed {
		e.writeStdout()
	}
	if e.passes() && (e.failed != nil || caught() != 0) {
		e.lose()
		if !printed {
			e.writeStdout()
		}
	}
	e.note(e.show())
	if e.passes() && (e.failed != nil || caught() != 0) { // only now
		e.lose()
	}
	return e.failed
}

// lose turns a PASS into a FAIL with the error, and writes it.
func (e *ending) lose() {
	lost := verdict.Error{
		Code:    code.Interrupted,
		Message: "a signal ended the run while its outputs were written; run it again",
	}
	if e.failed != nil {
		lost = verdict.Error{Code: code.Output, Message: e.failed.Error()}
	}
	e.fail(lost)
	for _, r := range e.reports { // it makes room, too
		e.note(r.clear())
	}
	e.writeFiles()
}

// writeFiles writes the outputs in files: the document last, since it confirms the others.
func (e *ending) writeFiles() {
	for _, r := range e.reports {
		if r.file != "" {
			e.note(r.Write(e.of, nil))
		}
	}
	e.note(e.save())
}

func (e *ending) writeStdout() {
	e.note(e.print())
	for _, r := range e.reports {
		if r.file == "" {
			e.note(r.Write(e.of, e.stdout))
		}
	}
}

func (e *ending) note(err error) {
	if e.failed == nil {
		e.failed = unwritten(err)
	}
}

func unwritten(err error) error {
	if err != nil {
		err = fmt.Errorf("an output could not be written: %w", err)
	}
	return err
}
