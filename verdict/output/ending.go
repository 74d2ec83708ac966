package output

import (
	"fmt"
	"io"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

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

// writeStdout writes the output to standard output, if any.
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
