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

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Options narrow or limit a scan. The zero value does neither.
type Options struct {
	Version         string              // of the program, for the verdict
	Errors          []verdict.Error     // what was wrong before the scan, though it can go on
	Allow           []string            // the Allow constants, and what AllowLink means: "symlink=GLOB"
	AllowLink       func(string) bool   // links for which check.AllowSymlink holds; nil: none. Called by all workers
	Partial         bool                // the bundle was narrowed by the caller
	Day             string              // that counts for allowances, such as 2027-03-01: today in UTC, or another
	Earlier         bool                // Day is before today: the run is partial if a bundle has dates
	Starts          [][]rules.Allowance // of the bundles where a change starts from; see judges.Chosen
	Exclude         func(string) bool   // paths that no rule selects: the run is partial. Called by all workers
	LeaveOut        map[string]string   // paths that are no part of a tree on disk, and the reason
	InUse           []check.RuleFile    // of the judges' bundles: no part of a tree of git's objects
	RequireGoverned bool                // no covered file is an error
	FoundBundle     bool                // the bundle was found in the tree, all of which is scanned
	MaxFileBytes    int64               // a longer covered file is an error; 0: no limit
	Owns            func(string) bool   // paths of the files that this shard looks at; nil: all. Called by all workers
	Rules           []string            // to which the caller narrowed the bundle, for a shard file
	Excluded        []string            // the globs that Exclude is of, likewise
	Workers         int                 // files examined at a time; 0: as many as processors
	Progress        *Progress           // nil: no one watches
	Rewritten       *checkout.Rewritten // nil: no one asks
	Reuse           *check.Reuse        // nil: every file is read
	Prepared        *Prepared           // what other scans with these judges compiled; nil: nothing is kept
}

// Scan checks every file of the tree against every rule of the judges' bundles; see
// [judges.Judge]. When ctx ends, so does the scan: what was found until then is in the
// verdict, and the cause is its error.
func Scan(ctx context.Context, by []judges.Judge, t tree.Tree, o Options) *verdict.Verdict {
	s := newScan(by, t, o)
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
		s.run(ctx)
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
	var i *failure.Interruption
	if errors.As(cause, &i) {
		return &verdict.Error{Code: i.Code, Message: i.Message}
	}
	return &verdict.Error{Code: code.Interrupted, Message: "the scan was stopped: " + cause.Error()}
}
