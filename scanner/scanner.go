// Package scanner checks a tree of files against a bundle of rules and returns the
// verdict.
//
//	rules.Bundle --+
//	               +-- Scan --> verdict.Verdict
//	tree.Tree -----+
//
// A [tree.Tree] is the files that a run is about. A [judges.Judge] is a bundle that is enforced; a change has two,
// that of its base and its own, which [judges.Change] finds.
// [Scan] has workers that range over the files of the tree; a worker asks the bundles which
// rules select the path, and reads every file that a rule selects to its last byte. The verdict is the
// same, byte for byte, however many workers there are. [Check] is the same for one
// path and content, without any tree. [Alive] says which parts of the rules find nothing in their
// examples and a tree.
//
// Where .gitattributes makes git write another encoding on checkout, that form is checked as well as the blob.
//
// A file is parsed, once in each format that is asked for, if a rule that selects it has an item with a key; the values
// are found by scanner/keys. A link is not.
//
// What a match is: docs/matching.md. What could not be decided is an error of the
// verdict, never a log line; a panic in here is one too.
//
// Limits: memory does not grow with the size or the number of files, but with the number
// of violations, of folders, and of files that could not be scanned. Files that are parsed are in memory, together
// no more at a time than one of the largest that can be.
package scanner

import (
	"context"
	"errors"
	"time"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Scan checks every file of the run's tree against every rule of its rule set. When ctx ends, so does the scan: what
// was found until then is in the verdict, and the cause is its error. p, if it is not nil, can be read meanwhile.
func Scan(ctx context.Context, r *run.Run, p *Progress) *verdict.Verdict {
	s := newScan(r)
	if p != nil {
		s.progress = p
	}
	s.runUntil(ctx)
	return s.verdict()
}

// runUntil runs the scan as long as ctx lasts, and notes why that ended.
func (s *scan) runUntil(ctx context.Context) {
	if err := s.runOrGiveUp(ctx); err != nil {
		s.fail(*err)
	}
}

// grace is how long a scan that was asked to end waits for reads that are under way.
const grace = time.Second

// runOrGiveUp runs the scan until it is done or, a little longer than ctx lasts, gives up: it may hang in a read that
// never returns. The error is why ctx ended.
func (s *scan) runOrGiveUp(ctx context.Context) *verdict.Error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.all(ctx)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(grace):
		}
	}
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	var i *run.InterruptedError
	if errors.As(cause, &i) {
		return &verdict.Error{Code: i.Code, Message: i.Message}
	}
	return &verdict.Error{Code: code.Interrupted, Message: "the scan was stopped: " + cause.Error()}
}
