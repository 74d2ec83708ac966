// Package fleet scans many repositories in one run: each at a commit, from git's objects, as policyscan --rev does.
//
//	a list, or a directory --Parse, Find--> entries --Run.Scan--> a verdict for each --> summary.Fleet
//
// Each worker of [Run.Scan] opens a repository, scans it and passes its verdict to [Run.Keep]. Named bundles are
// loaded once. A repository that cannot be read or was not reached is undecided: every entry has a row.
//
// Limits: memory grows with the rows of the summary, not with the repositories.
package fleet

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/shard"
	"github.com/policyscan/policyscan/verdict/summary"
)

// A Run is a fleet that is to be scanned.
type Run struct {
	Entries  []Entry         // in the order of their names
	Policies run.RuleSources // the loaded bundles of all
	Own      bool            // each is checked with its own bundle, too
	Options  run.Options     // of each; Pins are those of Policies
	Workers  int             // repositories at a time; 0: number of processors
	Shard    shard.Split     // the scanned part of the entries; zero for all

	// Keep keeps the verdict of an entry, and returns the hash of its document. Several goroutines call it.
	Keep func(e Entry, v *verdict.Verdict) (sha256 string, err error)

	Reuse *check.Reuse // nil: every file is read

	cache                   run.Cache
	done, failed, undecided atomic.Int64
}

// Progress returns the number of repositories done, and how many of these failed or are undecided.
func (r *Run) Progress() (done, failed, undecided int) {
	return int(r.done.Load()), int(r.failed.Load()), int(r.undecided.Load())
}

// Owned returns the entries of the run's shard.
func (r *Run) Owned() []Entry {
	if r.Shard.Count == 0 {
		return r.Entries
	}
	return slices.DeleteFunc(slices.Clone(r.Entries), func(e Entry) bool { return !r.Shard.Owns(e.Name) })
}

// Start returns the summary before the scan, with the fields known by then.
func (r *Run) Start() *summary.Fleet {
	f := summary.New(r.Options.Version)
	f.OwnPolicy = r.Own
	for i := range r.Policies {
		p := run.NewRuleSet(r.Policies[i : i+1]).Policies[0]
		f.Policy = append(f.Policy, summary.Policy{
			From: p.From, SHA256: p.SHA256,
			Boundaries: p.Boundaries, Invariants: p.Invariants, Deprecated: p.Deprecated,
		})
	}
	f.Allowed = r.Options.Allow
	f.List = summary.List{SHA256: Hash(r.Entries), Repositories: len(r.Entries)}
	return f
}

// Scan scans all repositories into the summary, without deciding it. When ctx ends, the rest is undecided.
func (r *Run) Scan(ctx context.Context, f *summary.Fleet) {
	n := r.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	entries := r.Owned()
	var mu sync.Mutex // guards f
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, len(entries)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(entries) {
					return
				}
				inside := 1
				if i+n >= len(entries) { // the last ones have the processors of ended ones
					inside = 0
				}
				row, asOf, enforced := r.one(ctx, entries[i], inside)
				mu.Lock()
				f.Add(row, enforced)
				f.AsOf = max(f.AsOf, asOf)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		f.Errors = append(f.Errors, run.Errors(context.Cause(ctx))...)
	}
}

// one scans an entry, unless ctx has ended, and returns its row.
func (r *Run) one(ctx context.Context, e Entry, workers int) (row summary.Repository, asOf string, _ []verdict.Rule) {
	var v *verdict.Verdict
	sum := ""
	if ctx.Err() != nil {
		v = run.Verdict(r.Options.Version, (&run.Options{Rev: "HEAD"}).Scope(), context.Cause(ctx))
	} else {
		v = r.Verdict(ctx, e, workers)
		var err error
		if sum, err = r.Keep(e, v); err != nil {
			sum = ""
			v.Errors = append(v.Errors, verdict.Error{Code: code.Output, Message: err.Error()})
			v.Decide()
		}
	}
	row = summary.Row(v)
	row.Name, row.Path, row.Revision, row.SHA256 = e.Name, verdict.Path(e.Path), e.Revision, sum
	r.done.Add(1)
	switch {
	case row.Undecided():
		r.undecided.Add(1)
	case row.Verdict != verdict.Pass:
		r.failed.Add(1)
	}
	return row, v.AsOf, v.Rules
}

// Verdict scans one repository and returns the verdict of policyscan --rev with the same bundles and flags.
func (r *Run) Verdict(ctx context.Context, e Entry, workers int) (v *verdict.Verdict) {
	o := r.Options
	o.Rev, o.Path, o.Load, o.Workers, o.Cache = e.Revision, e.Dir, r.Policies.Named, workers, &r.cache
	for i := range r.Policies {
		o.Policies = append(o.Policies, r.Policies[i].Name)
	}
	if r.Own {
		o.Policies = append(o.Policies, "")
		if o.Pins != nil {
			o.Pins = append(o.Pins[:len(o.Pins):len(o.Pins)], "")
		}
	}
	defer func() {
		if p := recover(); p != nil {
			e := tree.PanicError("", p)
			v = run.Verdict(o.Version, o.Scope(), &e)
		}
	}()
	var err error
	if o.OpenedRepository, err = repo.At(e.Dir); err != nil {
		return run.Verdict(o.Version, o.Scope(), tree.RepoError(err))
	}
	one, err := run.Open(ctx, o)
	if err != nil {
		v = one.Undecided(err)
	} else {
		one.Reuse = r.Reuse
		v = scanner.Scan(ctx, one, nil)
		one.Close()
	}
	if ctx.Err() == nil { // else a read may be under way
		o.OpenedRepository.Close()
	}
	return v
}
