package output

import (
	"fmt"
	"io"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// An ending writes every output of a run whose document is decided. A PASS of which anything could not be written, or
// that a signal met on the way, becomes a FAIL: its files are then removed, and those of a document that says so
// written in their place. What a person reads comes last, so that it does not say PASS of such a run.
type ending struct {
	reports []Report
	of      *verdict.Verdict // that the reports are of; nil: they are of a fleet's summary
	stdout  io.Writer
	passes  func() bool
	fail    func(verdict.Error) // makes the document a FAIL, for this reason
	save    func() error        // writes the document to its file, if it has one
	print   func() error        // writes it to standard output, if it goes there
	show    func() error        // writes what a person reads
	failed  error               // the first output that could not be written
}

// write returns the first error of the outputs that could not be written.
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

// lose turns a PASS into a FAIL that says why, and writes that.
func (e *ending) lose() {
	lost := verdict.Error{
		Code:    code.Interrupted,
		Message: "a signal ended the run while its outputs were written; run it again",
	}
	if e.failed != nil {
		lost = verdict.Error{Code: code.Output, Message: e.failed.Error()}
	}
	e.fail(lost)
	for _, r := range e.reports { // which makes room, too
		e.note(r.clear())
	}
	e.writeFiles()
}

// writeFiles writes what goes to files: the document last, which vouches for them.
func (e *ending) writeFiles() {
	for _, r := range e.reports {
		if r.file != "" {
			e.note(r.Write(e.of, nil))
		}
	}
	e.note(e.save())
}

// writeStdout writes the one output, if any, that goes to standard output.
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
