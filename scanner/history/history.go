// Package history checks the files that commits bring, even if later commits change or remove them.
//
//	repo.Repository.Between --States--> each file that the commits bring, once --Checker.Check--> Report
//
// A commit brings a file if its mode or blob differs from that in every parent; a commit without parents brings all its
// files. So a merge brings only what none of its parents has, and a deletion brings nothing. A [State] is such a file:
// a path, a mode and a blob, with the first commit that brings it.
//
// States are checked for what rules forbid: texts, expressions, keys and paths. What rules require is a question about
// the final files, and not checked; nor is what a symlink leads to, what a submodule has, or what git would write in
// another encoding: the blob counts. A state that cannot be parsed is checked for texts and expressions alone.
//
// The caller chooses the commits, and which of their states are not checked otherwise. The package knows neither git's
// formats nor how a rule is decided: it reads commits by scanner/repo, and checks contents by scanner/check.
package history

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A State is a file that a commit brings.
type State struct {
	Commit repo.Hash // the first one that brings it
	Step   int       // the number of the commit, from 1
	Path   string
	Leaf   repo.Leaf
}

// States calls visit with the states of commits, by commit and then in tree order. Each path, mode and blob comes once.
func States(ctx context.Context, r *repo.Repository, commits []repo.Hash, visit func(State) error) error {
	seen := map[[sha256.Size]byte]struct{}{} // a hash each: there can be millions
	for i, commit := range commits {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err := r.Brought(commit, func(path string, leaf repo.Leaf) error {
			key := sha256.Sum256(fmt.Appendf(nil, "%o %s %s", leaf.Mode, leaf.Hash, path))
			if _, known := seen[key]; known {
				return nil
			}
			seen[key] = struct{}{}
			return visit(State{commit, i + 1, path, leaf})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A Checker checks states by the rules of a run.
type Checker struct {
	Repo    *repo.Repository
	Check   *check.Checker // of the run
	Workers int            // states checked at a time; 0: number of processors
	// Allowed returns how many occurrences of a rule, by its index, a state at a path may have. nil: none.
	Allowed func(ctx context.Context, rule int, path string) (int64, error)
}

// A Report is what states break. All lists are in the order of the states.
type Report struct {
	Covered    int // states that a rule covers
	Findings   []Finding
	Unparsed   []string           // see [State.At]; only their text was checked
	NotScanned []verdict.Omission // see [State.At]
	Errors     []verdict.Error
}

// A Finding is a violation in a state.
type Finding struct {
	State State
	Found check.Finding // in the state's file
}

// At names a state in lists of files.
func (s State) At() string { return verdict.Path(s.Path) + "@" + s.Commit.String() }

// Report checks states. If ctx ends, the rest is missing in the report. It fails if the allowances are unknown.
func (c *Checker) Report(ctx context.Context, states []State) (*Report, error) {
	of := *c.Check
	of.Compares, of.FilterReport, of.Cache = false, nil, nil
	results := make([]*Report, len(states))
	var next atomic.Int64
	var done sync.WaitGroup
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, len(states)) {
		done.Go(func() {
			x := match.Examiner{Limit: of.MaxFileBytes}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(states) {
					return
				}
				results[i] = c.check(ctx, &of, &x, states[i])
			}
		})
	}
	done.Wait()
	all := &Report{}
	for _, r := range results {
		if r == nil {
			continue
		}
		if c.Allowed != nil {
			if err := c.allow(ctx, r); err != nil {
				return all, err
			}
		}
		all.Add(r)
	}
	return all, nil
}

// Add adds what later states break.
func (report *Report) Add(r *Report) {
	report.Covered += r.Covered
	report.Findings = append(report.Findings, r.Findings...)
	report.Unparsed = append(report.Unparsed, r.Unparsed...)
	report.NotScanned = append(report.NotScanned, r.NotScanned...)
	report.Errors = append(report.Errors, r.Errors...)
}

// clean is the report of a state that breaks nothing, as most are.
var clean = &Report{Covered: 1}

// check checks a state; nil if no rule covers it.
func (c *Checker) check(ctx context.Context, of *check.Checker, x *match.Examiner, s State) (report *Report) {
	report = &Report{Covered: 1}
	omit := func(reason string) {
		report.NotScanned = append(report.NotScanned, verdict.Omission{File: s.At(), Reason: reason})
	}
	fail := func(e verdict.Error) {
		// The place is in the commit's file, and a reader would look for it in the head's.
		e.Message, e.Line, e.Column, e.UTF16Column = "in commit "+repo.Short(s.Commit)+": "+e.Message, 0, 0, 0
		report.Errors = append(report.Errors, e)
	}
	defer func() {
		if p := recover(); p != nil {
			omit("internal")
			fail(tree.PanicError(s.Path, p))
		}
	}()
	if of.Excludes(s.Path) {
		return nil
	}
	r := check.Result{File: tree.BlobFile(c.Repo, s.Path, s.Leaf), Forbidden: of.Bundle.Forbidding(s.Path, nil)}
	if s.Leaf.Mode != repo.Submodule {
		if selected := of.Bundle.Selecting(s.Path, nil); len(selected) > 0 {
			r.Plan = of.Plans.Plan(selected)
		}
	}
	switch {
	case r.Plan != nil:
		of.Check(ctx, x, &r)
	case len(r.Forbidden) == 0:
		return nil
	default:
		r.Reached, r.Scanned = true, true
	}
	r.Settle(of.Bundle)
	check.SortFindings(r.Findings)
	for _, f := range r.Findings {
		if f.Ref.Of == rules.ForbiddenPattern || f.Ref.Of == rules.ForbiddenFile {
			f.LabelNew()
			report.Findings = append(report.Findings, Finding{s, f})
		}
	}
	if r.Err != nil {
		fail(*r.Err)
	}
	unparsed := r.TextAlone()
	for _, e := range r.KeyErrors() {
		if e.Code == code.Parse {
			unparsed = true
		} else {
			fail(e)
		}
	}
	if unparsed {
		report.Unparsed = []string{s.At()}
	}
	switch {
	case !r.Reached:
		omit("not-reached") // the error is the cause of the end
	case !r.Scanned && !(r.OnlyKeysFailed && len(report.Errors) == 0):
		omit(r.Reason)
	case !unparsed && len(report.Findings)+len(report.Errors) == 0:
		return clean
	}
	return report
}

// allow removes the findings in a state of rules that have no more than allowed.
func (c *Checker) allow(ctx context.Context, report *Report) error {
	counts := map[int]int64{} // by rule
	for i := range report.Findings {
		counts[report.Findings[i].Found.Rule] += report.Findings[i].Found.PlaceCount()
	}
	for rule, n := range counts {
		allowed, err := c.Allowed(ctx, rule, report.Findings[0].State.Path)
		if err != nil {
			return err
		}
		if n <= allowed {
			report.Findings = slices.DeleteFunc(report.Findings, func(f Finding) bool { return f.Found.Rule == rule })
		}
	}
	return nil
}
