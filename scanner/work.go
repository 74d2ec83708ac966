package scanner

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// A worker checks the files of one of the sequences of a tree, one after another.
type worker struct {
	run      *collector
	ctx      context.Context
	x        match.Examiner
	tally    *tally
	plans    map[string]*check.Plan // by the rules' indices
	selected []int
	forbid   []rules.GlobOf
	taken    []int
}

// run judges the whole tree, with several workers.
func (p *collector) run(ctx context.Context) {
	defer func() {
		if r := recover(); r != nil {
			p.fail(failure.Panic("", r))
		}
	}()
	n := p.opt.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var whole atomic.Bool // all that the tree has was listed
	whole.Store(true)
	var done sync.WaitGroup
	for _, files := range p.tree.Files(ctx, n, p.query()) {
		x := match.Examiner{Limit: p.opt.MaxFileBytes, Mark: p.past != nil}
		w := &worker{run: p, ctx: ctx, x: x, tally: p.tally(), plans: map[string]*check.Plan{}}
		done.Go(func() {
			if !w.work(files) {
				whole.Store(false)
			}
		})
	}
	done.Wait()
	p.required.all(ctx, p.tree, p, whole.Load())
	if ctx.Err() != nil { // Scan names the cause
		return
	}
	if p.witness == nil {
		p.complete()
	}
	if err := p.allower.decide(ctx); err != nil && ctx.Err() == nil {
		p.failAll(failure.OfRepo(err))
	}
}

// query says which files of the tree the run looks at.
func (p *collector) query() tree.Query {
	q := tree.Query{
		LeaveOut: p.opt.LeaveOut, InShard: p.opt.Owns,
		Touched: p.allower.touched(), Uniform: p.set.Bundle.Uniform,
	}
	if p.witness != nil {
		q.Only = p.witness.path
	}
	return q
}

// work checks the files of a sequence, and reports whether it had no error.
func (w *worker) work(files iter.Seq2[tree.File, error]) (whole bool) {
	defer func() {
		if r := recover(); r != nil {
			w.run.fail(failure.Panic("", r))
			whole = false
		}
	}()
	whole = true
	for f, err := range files {
		if err != nil {
			whole = false
			w.run.failAll(err)
			if w.run.opt.Owns != nil && f.Named {
				w.tally.add(&f)
			}
			continue
		}
		w.entry(f)
	}
	return whole
}

// entry does with an entry of the tree what its state asks for.
func (w *worker) entry(f tree.File) {
	switch f.State {
	case tree.LeftOut:
		if !(w.run.opt.Owns != nil && f.Reason == tree.Output) { // a shard's own file is none of the whole run's
			w.run.leftOut(f.Path, f.Reason)
		}
		if w.run.opt.Owns != nil && f.Named {
			w.tally.add(&f)
		}
		return
	case tree.Deleted:
		w.run.deletes()
		return
	}
	if w.run.isRuleFile(&f) {
		w.run.leftOut(f.Path, "rules")
		return
	}
	if w.run.opt.Owns != nil {
		w.tally.add(&f)
	}
	switch f.State {
	case tree.Elsewhere:
	case tree.CheckedOut:
		w.checkSubmodulePath(f)
	default:
		w.visit(f)
	}
}

// visit checks a file, if a rule covers it.
func (w *worker) visit(f tree.File) {
	defer func() {
		if r := recover(); r != nil {
			w.run.fail(failure.Panic(f.Path, r))
		}
	}()
	if !w.run.witness.see(f) {
		return
	}
	if w.run.opt.Exclude != nil && w.run.opt.Exclude(f.Path) {
		w.tally.list()
		return
	}
	w.run.pulse.path(f.Path, f.Kind)
	if f.Kind != worktree.Submodule { // under which no exclude counts
		if w.taken = w.run.set.Taken(f.Path, w.taken[:0]); len(w.taken) > 0 {
			w.tally.take(w.taken)
		}
	}
	w.run.required.see(&f, w.run.fail)
	w.forbid = w.forbid[:0]
	if f.Path != "." { // which is no file
		w.forbid = w.run.set.Bundle.Forbidding(f.Path, w.forbid)
	}
	if f.Kind == worktree.Symlink {
		w.visitLink(f)
		return
	}
	w.selected = w.run.selecting(&f, w.selected[:0])
	switch {
	case len(w.selected) > 0:
		w.check(f, w.selected)
	case len(w.forbid) > 0:
		w.checkPathOnly(f)
	default:
		w.tally.list()
	}
}

// check checks a file that rules select.
func (w *worker) check(f tree.File, selected []int) {
	r := check.Result{File: f, Plan: w.plan(selected), Forbidden: slices.Clone(w.forbid)}
	if w.tally.begin(r) {
		w.run.checker.Check(w.ctx, &w.x, &r)
		w.end(&r)
	}
}

// plan returns the plan of the rules at the given indices.
func (w *worker) plan(selected []int) *check.Plan {
	var short [64]byte
	key := check.PlanKey(short[:0], selected)
	plan := w.plans[string(key)]
	if plan == nil {
		plan = w.run.checker.Plans.Plan(selected)
		w.plans[string(key)] = plan
	}
	return plan
}

// checkSubmodulePath checks the path of a submodule that is checked out. It is a file only where a rule says that none
// may be there.
func (w *worker) checkSubmodulePath(f tree.File) {
	if !w.run.witness.see(f) {
		return
	}
	if w.run.opt.Exclude != nil && w.run.opt.Exclude(f.Path) {
		return
	}
	w.run.pulse.path(f.Path, worktree.Submodule)
	if w.forbid = w.run.set.Bundle.Forbidding(f.Path, w.forbid[:0]); len(w.forbid) > 0 {
		w.checkPathOnly(f)
	}
}

// checkPathOnly checks a file by its path alone: it is not read.
func (w *worker) checkPathOnly(f tree.File) {
	r := check.Result{File: f, Forbidden: slices.Clone(w.forbid)}
	if w.tally.begin(r) {
		r.Reached, r.Scanned = true, true
		w.end(&r)
	}
}

// end says which rules a file breaks, and what of that is new, and adds it to what was found.
func (w *worker) end(r *check.Result) {
	if r.Settle(w.run.set.Bundle); w.run.past != nil && len(r.Findings) > 0 {
		w.run.past.label(w.ctx, &w.x, r)
	}
	w.tally.end(r)
}

// selecting returns the rules that select a file. Of a submodule only the
// place is known: a rule that could select a path under it covers it.
func (p *collector) selecting(f *tree.File, into []int) []int {
	if f.Kind == worktree.Submodule {
		return p.set.Bundle.SelectingBeneath(f.Path, into)
	}
	return p.set.Bundle.Selecting(f.Path, into)
}
