package scanner

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A collector gathers what the workers find, count and cannot decide. All is put in order at the end, so that the
// order of the workers' work does not show.
type collector struct {
	set     *judges.Set
	tree    tree.Tree
	opt     Options
	checker *check.Checker

	required *requiredFiles // nil: none is looked for
	witness  *witness       // nil: the whole tree is scanned
	pulse    *pulse         // nil: no one asks
	past     *past          // nil: nothing is compared
	allower  *allower       // nil: nothing is allowed

	mu       sync.Mutex // of what follows
	over     bool       // the verdict was written; what comes now comes too late
	listed   bool       // the whole tree was listed to its end, as far as it can be
	tallies  []*tally
	coverage verdict.Coverage
	errors   []verdict.Error
}

func newCollector(by []judges.Judge, t tree.Tree, o Options) *collector {
	set, plans := o.Prepared.of(by)
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	p := &collector{set: set, tree: t, opt: o, errors: slices.Clone(o.Errors)}
	if t == nil { // nothing is scanned
		return p
	}
	p.checker = &check.Checker{
		Bundle: set.Bundle, Plans: plans, Limiter: o.Prepared.budget(),
		Allowed:      slices.Compact(slices.Sorted(slices.Values(o.Allow))),
		MaxFileBytes: o.MaxFileBytes, Compares: p.compares(), Rewritten: o.Rewritten,
	}
	if o.Reuse != nil && !p.compares() {
		p.checker.Cache = p.cache(o.Reuse)
	}
	p.required = newRequiredFiles(p)
	p.past = newPast(p)
	p.allower = newAllower(p)
	return p
}

// cache returns the cache of the results of earlier scans.
func (p *collector) cache(of *check.Reuse) *check.Cache {
	c := &check.Cache{Reuse: of, Depend: []string{p.opt.Version}, Commit: p.tree.Scope().HeadCommit}
	for i := range p.set.Policies {
		c.Depend = append(c.Depend, p.set.Policies[i].SHA256)
	}
	return c
}

// tally returns the tally of a new worker.
func (p *collector) tally() *tally {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &tally{over: p.over, witness: p.witness, pulse: p.pulse, plans: map[*check.Plan]int{}}
	p.tallies = append(p.tallies, t)
	p.opt.Progress.watch(t)
	return t
}

// fail notes what could not be decided, unless it is explicitly allowed.
func (p *collector) fail(e verdict.Error) {
	if e.Code == code.Empty && p.checker.Allows(check.AllowEmpty) { // of a change
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, e)
}

// complete notes that all of the tree was listed.
func (p *collector) complete() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed = true
}

// isRuleFile reports whether a file of git's is a rule file that judges: that content, not only
// that path, where a change could put anything.
func (p *collector) isRuleFile(f *tree.File) bool {
	return f.IsRegular() && !f.Blob.IsZero() &&
		slices.Contains(p.opt.InUse, judges.RuleFile{Path: f.Path, Blob: f.Blob})
}

func (p *collector) leftOut(path, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := verdict.Omission{File: verdict.Path(path), Reason: reason}
	if !slices.Contains(p.coverage.LeftOut, o) {
		p.coverage.LeftOut = append(p.coverage.LeftOut, o)
	}
}

// failAll notes the errors that an error of the run is, as far as they are not allowed.
func (p *collector) failAll(err error) {
	for _, e := range failure.Errors(err) {
		p.fail(e)
	}
}

// deletes notes a file that the change deletes.
func (p *collector) deletes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coverage.Deleted++
}

// found returns the violations of all files that were listed, and whether a file was not checked completely. All
// workers have ended.
func (p *collector) found() (broken []check.Finding, incomplete func(path string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := map[string]bool{}
	add := func(errors []verdict.Error) {
		for i := range errors {
			open[errors[i].File] = true
		}
	}
	add(p.errors)
	for _, t := range p.tallies {
		t.mu.Lock()
		broken = append(broken, t.broken...)
		add(t.errors)
		for _, o := range t.coverage.NotScanned {
			open[o.File] = true
		}
		t.mu.Unlock()
	}
	return broken, func(path string) bool { return open[verdict.Path(path)] }
}

// joinNotes makes one note of two, either of which may be "".
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
