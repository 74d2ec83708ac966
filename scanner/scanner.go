// Package scanner checks the files of a run against its rules and returns the verdict.
//
//	run.Run --Scan--> verdict.Verdict
//
// [Scan] has workers that range over the files of the run's tree. Each file that a rule selects is read to its last
// byte and checked ([check.Result]); what it breaks is compared with what was there before, if the run is about a
// change; and what all workers found is put together once, at the end. The verdict is the same, byte for byte, however
// many workers there are.
//
// [Shard] is the same for a part of the files, and [Merge] puts the parts together. [Explain] and [Alive] watch the
// results of a scan from outside. [Tighten] scans, and lowers the allowances to what is there.
//
// What a match is: docs/matching.md. What could not be decided is an error of the verdict, never a log line; a panic in
// here is one, too.
//
// Limits: memory does not grow with the size or the number of files, but with the number of violations, of directories,
// and of files that could not be scanned. Files that are parsed are in memory, together no more at a time than one of
// the largest that can be.
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
