// Package scanner checks the files of a run against its rules and returns the verdict.
//
//	run.Run --Scan--> verdict.Verdict
//
// The workers of [Scan] range over the files of the run's tree. Each file that a rule selects is read to its last byte
// and checked ([check.Result]). In a change, its findings are compared with the baseline. The results of all workers
// are merged once, at the end; the verdict's bytes do not depend on the number of workers.
//
// [Shard] scans a part of the files, and [Merge] adds up the parts. [Explain] and [Alive] observe the results of a
// scan. [Tighten] scans, and lowers the allowances to the number of findings.
//
// docs/matching.md defines a match. Anything undecided, a panic included, is an error of the verdict, never a log
// line.
//
// Limits: memory does not grow with the size or the number of files, but with the number of violations, of
// directories, and of files that could not be scanned. Parsed files are in memory; all at one time are bounded by the
// largest size of one.
package scanner

import (
	"context"
	"errors"
	"time"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Scan checks every file of the run's tree against every rule of its rule set. When ctx ends, the scan ends, too: the
// verdict has the findings so far, and the cause as an error. p may be nil; it can be read during the scan.
func Scan(ctx context.Context, r *run.Run, p *Progress) *verdict.Verdict {
	s := newScan(r)
	if p != nil {
		s.progress = p
	}
	s.runUntil(ctx)
	return s.verdict()
}

func (s *scan) runUntil(ctx context.Context) {
	if err := s.runOrGiveUp(ctx); err != nil {
		s.fail(*err)
	}
}

// grace is how long a scan waits for reads under way after its context has ended.
const grace = time.Second

// runOrGiveUp runs the scan until it is done, or until grace after ctx has ended: a read may hang forever. It returns
// the reason why ctx ended.
func (s *scan) runOrGiveUp(ctx context.Context) *verdict.Error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.checkFiles(ctx)
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
