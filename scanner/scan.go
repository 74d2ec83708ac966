package scanner

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/baseline"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/history"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A scan is the state of a run while its files are checked. The order of its workers does not affect the verdict.
type scan struct {
	run     *run.Run
	checker *check.Checker

	required   *check.RequiredFiles   // nil: no rule requires any, or the scope is not a whole tree
	base       *baseline.Baseline     // nil: nothing is compared
	allowances *baseline.Allowances   // nil: nothing is allowed
	only       string                 // the one file that is checked; "" for all
	inShard    func(path string) bool // files of this shard; nil for all
	observe    func(*check.Result)    // nil, or called by all workers with each file, covered or not
	progress   *Progress

	mu            sync.Mutex // guards the fields below
	closed        bool       // later results are dropped
	listed        bool       // every readable part of the tree was listed
	requiredWhole bool       // all of it was searched for required files
	requiredFiles int        // number of files of the snapshot; -1: the tree is on disk
	sums          []*sum
	coverage      verdict.Coverage
	errors        []verdict.Error
	commits       *history.Report // nil: not asked for, or not yet known
}

func newScan(r *run.Run) *scan {
	s := &scan{run: r, progress: &Progress{}, errors: slices.Clone(r.Errors), requiredFiles: -1}
	mode := r.Tree.Scope().Mode
	compares := mode == "diff" || mode == "staged"
	s.checker = &check.Checker{
		Bundle: r.Rules.Bundle, Plans: r.Plans, Limiter: r.Limiter,
		Allowed: slices.Compact(slices.Sorted(slices.Values(r.Allow))),
		Exclude: r.Excludes, RuleFiles: r.RuleFiles,
		MaxFileBytes: r.MaxFileBytes, Compares: compares, FilterReport: r.FilterReport,
	}
	if r.Reuse != nil && !compares {
		s.checker.Cache = &check.Cache{Reuse: r.Reuse, Depend: []string{r.Version}, Commit: r.Tree.Scope().HeadCommit}
		for _, p := range r.Rules.Policies {
			s.checker.Cache.Depend = append(s.checker.Cache.Depend, p.Directory, p.SHA256)
		}
	}
	if r.Rules.Bundle.RequiresFiles() && hasWholeTree(mode) {
		s.required = check.NewRequiredFiles(s.checker)
	}
	s.allowances = baseline.NewAllowances(r, compares)
	if compares {
		s.base = baseline.New(r.Tree, s.checker, s.allowances.List())
	}
	return s
}

// hasWholeTree reports whether a scope covers a whole tree, so that missing files can be reported.
func hasWholeTree(mode string) bool {
	return mode == "full" || mode == "tracked" || mode == "diff" || mode == "staged"
}

// checkFiles checks the files of the tree with several workers until ctx ends, and then the required files.
func (s *scan) checkFiles(ctx context.Context) {
	defer s.recover("")
	n := s.run.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	query := tree.Query{
		LeaveOut: s.run.Skip, InShard: s.inShard, Only: s.only, Uniform: s.run.Rules.Bundle.Uniform,
	}
	if s.base != nil {
		query.Touched = s.allowances.Files()
	}
	var partly atomic.Bool // the tree was not listed completely
	var done sync.WaitGroup
	for _, files := range s.run.Tree.Files(ctx, n, query) {
		w := &worker{
			scan: s, ctx: ctx, query: &query, sum: s.newSum(), plans: map[string]*check.Plan{},
			x: match.Examiner{Limit: s.run.MaxFileBytes, Mark: s.base != nil},
		}
		done.Go(func() {
			if !w.checkAll(files) {
				partly.Store(true)
			}
		})
	}
	done.Wait()
	s.searchRequired(ctx, !partly.Load())
	if ctx.Err() != nil { // Scan reports the cause
		return
	}
	if s.only == "" {
		s.mu.Lock()
		s.listed = true
		s.mu.Unlock()
	}
	var err error
	if s.allowances != nil {
		findings, incomplete := s.findings()
		err = s.allowances.Decide(ctx, s.base, findings, incomplete)
	}
	if err == nil {
		err = s.checkCommits(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.failAll(tree.RepoError(err))
	}
}

// statesAtOnce is how many states are in memory: a push can bring millions.
const statesAtOnce = 10_000

// checkCommits checks what the commits of the change bring, and the head does not have.
func (s *scan) checkCommits(ctx context.Context) error {
	if len(s.run.Commits) == 0 {
		return nil
	}
	snapshots, err := s.run.Tree.History()
	if err != nil {
		return err
	}
	c := history.Checker{
		Repo: s.run.Repo, Check: s.checker, Workers: s.run.Workers, Allowed: s.allowances.InHistory,
	}
	all, states := &history.Report{}, make([]history.State, 0, statesAtOnce)
	checkStates := func() error {
		report, err := c.Report(ctx, states)
		all.Add(report)
		states = states[:0]
		return err
	}
	err = history.States(ctx, s.run.Repo, s.run.Commits, func(state history.State) error {
		leaf, _, err := snapshots.Now.Leaf(state.Path)
		isChecked := leaf == state.Leaf
		if err == nil && isChecked && s.run.Related != nil {
			isChecked, err = snapshots.IsChange(state.Path, leaf)
		}
		if err != nil || isChecked {
			return err
		}
		used, err := s.run.IsRuleFileAt(state.Commit, check.RuleFile{Path: state.Path, Blob: state.Leaf.Hash})
		if used {
			s.leftOut(state.At(), "rules")
		} else if states = append(states, state); len(states) == statesAtOnce {
			err = checkStates()
		}
		return err
	})
	if err == nil {
		err = checkStates()
	}
	if err == nil || ctx.Err() != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.commits = all
	}
	return err
}

// searchRequired searches the whole commit or index of the tree for required files, in any scope. Other trees are
// searched while they are listed.
func (s *scan) searchRequired(ctx context.Context, whole bool) {
	if s.required == nil {
		return
	}
	history, err := s.run.Tree.History()
	if history != nil {
		whole = true
		if err := s.required.AddSnapshot(ctx, history.Now); err != nil {
			whole = false
			s.failAll(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requiredWhole = whole && err == nil && ctx.Err() == nil; s.requiredWhole && history != nil {
		s.requiredFiles = s.required.Files()
	}
}

type worker struct {
	scan      *scan
	ctx       context.Context
	query     *tree.Query
	x         match.Examiner
	sum       *sum
	plans     map[string]*check.Plan // by the rules' indices
	selected  []int
	forbidden []rules.GlobOf
	excluding []int
	link      linkTarget   // of a file that is a symbolic link
	result    check.Result // of the file being checked; reused for every file, since most produce no result
}

func (w *worker) checkAll(files iter.Seq2[tree.File, error]) (whole bool) {
	defer func() {
		if r := recover(); r != nil {
			w.scan.fail(tree.PanicError("", r))
			whole = false
		}
	}()
	whole = true
	for f, err := range files {
		if err == nil {
			w.check(f)
			continue
		}
		whole = false
		w.scan.failAll(err)
		if f.Named {
			w.addToDigest(&f)
		}
	}
	return whole
}

func (w *worker) check(file tree.File) {
	defer w.scan.recover(file.Path)
	w.result = check.Result{File: file}
	r := &w.result
	f := &r.File
	switch {
	case f.State == tree.LeftOut:
		if w.scan.inShard == nil || f.Reason != tree.Output { // a shard skips only its own output
			w.scan.leftOut(f.Path, f.Reason)
		}
		if f.Named {
			w.addToDigest(f)
		}
		return
	case f.State == tree.Deleted:
		w.scan.countDeleted()
		return
	case w.scan.checker.IsRuleFile(f):
		w.scan.leftOut(f.Path, "rules")
		return
	}
	w.addToDigest(f)
	if f.State == tree.Elsewhere || !w.query.LeadsTo(f.Path) {
		return
	}
	covered := w.cover(r)
	if covered && w.scan.run.Covered != nil {
		w.scan.run.Covered(f.Path)
	}
	if covered && w.sum.begin(r) {
		w.read(r)
		if r.Settle(w.scan.run.Rules.Bundle); w.scan.base != nil && len(r.Findings) > 0 {
			w.scan.base.Label(w.ctx, &w.x, r)
		}
		w.sum.add(r)
	}
	if w.scan.observe != nil {
		w.scan.observe(r)
	}
}

// cover sets the rules that apply to a file, and reports whether there are any. It counts a file that no rule covers.
func (w *worker) cover(r *check.Result) bool {
	f, s := &r.File, w.scan
	checkedOut := f.State == tree.CheckedOut // a submodule is a file only for rules that forbid it
	if s.checker.Excludes(f.Path) {
		if !checkedOut {
			w.sum.countUncovered()
		}
		return false
	}
	w.selected = w.selected[:0]
	if f.Path == "." { // the root is not a file
		w.forbidden = w.forbidden[:0]
	} else {
		w.forbidden = s.run.Rules.Bundle.Forbidding(f.Path, w.forbidden[:0])
	}
	if !checkedOut {
		if f.Kind == worktree.Submodule { // only its path is known
			w.selected = s.run.Rules.Bundle.SelectingBelow(f.Path, w.selected)
		} else {
			if w.excluding = s.run.Rules.Excluding(f.Path, w.excluding[:0]); len(w.excluding) > 0 {
				w.sum.countExcluded(w.excluding)
			}
			if e := s.required.Add(f); e != nil {
				s.fail(*e)
			}
			if f.Kind == worktree.Symlink {
				return w.coverLink(r)
			}
			w.selected = s.run.Rules.Bundle.Selecting(f.Path, w.selected)
		}
	}
	if len(w.selected) > 0 {
		r.Plan = w.plan(w.selected)
	}
	return w.isCovered(r, !checkedOut)
}

// isCovered reports whether a file's plan has rules. It counts a file that no rule covers.
func (w *worker) isCovered(r *check.Result, counts bool) bool {
	r.Forbidden = slices.Clone(w.forbidden)
	covered := r.Plan != nil || len(r.Forbidden) > 0
	if !covered && counts {
		w.sum.countUncovered()
	}
	return covered
}

// read checks the content of a file, unless only its path is forbidden.
func (w *worker) read(r *check.Result) {
	switch {
	case r.Plan == nil:
		r.Reached, r.Scanned = true, true
	case r.File.Kind == worktree.Symlink:
		w.readLink(r)
	default:
		w.scan.checker.Check(w.ctx, &w.x, r)
	}
}

func (w *worker) plan(selected []int) *check.Plan {
	var short [64]byte
	key := check.PlanKey(short[:0], selected)
	plan := w.plans[string(key)]
	if plan == nil {
		plan = w.scan.checker.Plans.Plan(selected)
		w.plans[string(key)] = plan
	}
	return plan
}

// recover turns a panic into an error. file is "" if the panic concerns no single file.
func (s *scan) recover(file string) {
	if r := recover(); r != nil {
		s.fail(tree.PanicError(file, r))
	}
}

// fail records an error, unless it is explicitly allowed.
func (s *scan) fail(e verdict.Error) {
	if e.Code == code.Empty && s.checker.Allows(check.AllowEmpty) { // of a change
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors = append(s.errors, e)
}

// failAll records the errors of err that are not allowed.
func (s *scan) failAll(err error) {
	for _, e := range run.Errors(err) {
		s.fail(e)
	}
}

func (s *scan) leftOut(path, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := verdict.Omission{File: verdict.Path(path), Reason: reason}
	if !slices.Contains(s.coverage.LeftOut, o) {
		s.coverage.LeftOut = append(s.coverage.LeftOut, o)
	}
}

func (s *scan) countDeleted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coverage.Deleted++
}

// findings returns the findings of all listed files, and whether a file was not checked completely. All workers must
// have ended.
func (s *scan) findings() (all []check.Finding, incomplete func(path string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[string]bool{}
	add := func(errors []verdict.Error) {
		for i := range errors {
			open[errors[i].File] = true
		}
	}
	add(s.errors)
	for _, t := range s.sums {
		t.mu.Lock()
		all = append(all, t.findings...)
		add(t.errors)
		for _, o := range t.coverage.NotScanned {
			open[o.File] = true
		}
		t.mu.Unlock()
	}
	return all, func(path string) bool { return open[verdict.Path(path)] }
}
