// Package past judges the changes of a branch: each commit of its first-parent chain, compared with its first parent,
// as policyscan --diff-base would have; the first commit of all, as --rev.
//
//	a branch --> changes --filter--> those that could be refused --scanner.Scan--> past.History
//
// The filter (filter.go) may skip only a change that a scan certainly passes; all others are scanned, so that the
// answer is that of one scan for each change. Each distinct content is checked once for each set of rules, in the
// order of the packs. A change is judged as of the day of its commit: no clock counts.
//
// Limits: memory grows with the number of changed files in all changes, and with their violations.
package past

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/past"
)

// Options say which changes are judged, and by which rules.
type Options struct {
	// Run has the version, the environment, the reasons of --allow and, for a preview, the names of the bundles.
	Run     run.Options
	Bundles run.RuleSources // of a preview, loaded; nil: each change by the bundles of its two sides
	Since   string          // a day, or a commit; "" is a year before the tip
	Branch  string          // "" is the default branch
	Several bool            // repositories: directories have their names
	Workers int             // 0: number of processors
}

// A Judge judges the changes of repositories, one after another.
type Judge struct {
	Options
	history *past.History
	tallies []*tally // in the order of the rules
	cache   run.Cache

	done, all atomic.Int64 // contents and changes of the current repository
}

// New returns a judge of some repositories.
func New(o Options) *Judge {
	j := &Judge{Options: o, history: past.New(o.Run.Version)}
	j.history.Mode, j.history.Allowed = past.Audit, o.Run.Allow
	if o.Bundles != nil {
		j.history.Mode, j.Run.FromDisk, j.Run.Cache = past.Preview, true, &j.cache
		for _, s := range o.Bundles {
			j.history.Policy = append(j.history.Policy, past.Policy{From: s.From, SHA256: s.Bundle.SHA256})
		}
		j.Run.Load = func(name string) (run.RuleSource, error) {
			for _, s := range o.Bundles {
				if s.Name == name {
					return s, nil
				}
			}
			return run.RuleSource{}, errors.New("the bundle " + name + " is not loaded") // not reached
		}
	}
	j.Run.Workers = 1
	if j.Workers == 0 {
		j.Workers = runtime.GOMAXPROCS(0)
	}
	return j
}

// deltaBases is a fifth of the memory that a history may take: with 24 MiB, rails took 29 s of processor time, not 23.
const deltaBases = 128 << 20

// Progress returns the numbers of steps that are done, and of all that are known, in the current repository.
func (j *Judge) Progress() (done, all int) { return int(j.done.Load()), int(j.all.Load()) }

// Fail adds a repository that cannot be opened.
func (j *Judge) Fail(name string, err error) {
	row := past.Repository{Name: name, Errors: run.Errors(tree.RepoError(err))}
	j.history.Repositories = append(j.history.Repositories, row)
}

// Add judges the changes of a repository. If ctx ends, it has an error instead.
func (j *Judge) Add(ctx context.Context, name string, r *repo.Repository) {
	b := &branch{Judge: j, repo: r, row: past.Repository{Name: name}}
	if j.Several {
		b.prefix = name + ":"
	}
	r.CacheBases(deltaBases)
	b.own = b.ownRules()
	err := b.find()
	if err == nil {
		err = b.judge(ctx)
	}
	if err != nil && ctx.Err() == nil {
		err = tree.RepoError(err)
	}
	if err != nil {
		b.row.Errors = append(b.row.Errors, run.Errors(err)...)
	}
	j.history.Repositories = append(j.history.Repositories, b.row)
}

// End returns the document.
func (j *Judge) End() *past.History {
	h := j.history
	for i := range h.Repositories {
		if s := h.Repositories[i].Since; h.Since == "" || s != "" && s < h.Since {
			h.Since = s
		}
	}
	h.Rules = nil
	for _, t := range j.tallies {
		h.Rules = append(h.Rules, t.rule())
	}
	h.Decide()
	return h
}

// A branch is one branch of a repository.
type branch struct {
	*Judge
	repo   *repo.Repository
	row    past.Repository
	prefix string // of directories, if there are several repositories
	own    string // the directory of a named bundle, in the work tree; "" if it is elsewhere
	tip    *repo.Commit
	steps  []step // oldest first
}

// A step is a change of the branch.
type step struct {
	commit   *repo.Commit
	parent   *repo.Commit // nil: the commit has none
	files    []repo.Change
	rules    *filter // the filter whose rules are both sides'; nil: the sides differ
	exact    bool    // the filter cannot pass it
	contents []int   // that its files have, in the branch's list
	outcome  *outcome
}

// An outcome is the result of a scan of a change, as far as it counts here.
type outcome struct {
	unruled    bool // neither side has a bundle
	errors     []verdict.Error
	rules      []verdict.Rule
	violations []verdict.Violation // without their places
	broken     map[ruleFile]places
}

// places are numbers of places.
type places struct{ places, fresh, allowed int }

func (p places) all() int { return p.places + p.allowed }

type ruleFile struct{ rule, file string }

// ownRules returns the directory of the named bundle in the work tree, whose rule files are not part of a change.
func (b *branch) ownRules() string {
	for _, s := range b.Bundles {
		if b.repo.WorkTree == "" || s.Dir == "" {
			continue
		}
		if dir, in, err := worktree.PathIn(b.repo.WorkTree, s.Dir); err == nil && in {
			return dir + "/"
		}
	}
	return ""
}

// isOwnRule reports whether a path is that of a rule file of the named bundle.
func (b *branch) isOwnRule(path string) bool {
	n := len(b.own)
	return n > 0 && len(path) > n && path[:n] == b.own && rules.MayBeRead(path[n:])
}

// judge judges all changes, and the tip.
func (b *branch) judge(ctx context.Context) error {
	b.done.Store(0)
	b.all.Store(int64(len(b.steps)))
	if err := b.list(ctx); err != nil {
		return err
	}
	contents, err := b.filterAll(ctx)
	if err != nil {
		return err
	}
	b.all.Add(int64(len(contents)))
	blobs := make([]repo.Hash, len(contents))
	for i := range contents {
		blobs[i] = contents[i].leaf.Hash
	}
	order := b.repo.InPackOrder(blobs)
	b.parallel(len(order), 256, func() func(int) {
		x := newExaminer()
		return func(i int) { contents[order[i]].check(ctx, x, b.repo) }
	})
	var scans []*step
	for i := range b.steps {
		s := &b.steps[i]
		for _, c := range s.contents {
			s.exact = s.exact || !contents[c].clean
		}
		if s.exact && s.outcome == nil {
			scans = append(scans, s)
		}
	}
	b.all.Add(int64(len(scans)))
	b.parallel(len(scans), 8, func() func(int) {
		return func(i int) { scans[i].outcome = b.scan(ctx, b.options(scans[i]), scans[i].files) }
	})
	tip := b.options(&step{commit: b.tip})
	var files []repo.Change
	if b.own != "" {
		err = b.repo.Diff(repo.Hash{}, b.tip.Tree, func(c repo.Change) error {
			files = append(files, c)
			return nil
		})
	}
	today := b.scan(ctx, tip, files)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if b.row.Errors = append(b.row.Errors, today.errors...); err == nil {
		b.tally(today)
	}
	return err
}

// parallel calls the functions of several workers with the numbers below n, in batches of neighbours.
func (b *branch) parallel(n, batch int, worker func() func(int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range b.Workers {
		do := worker()
		wait.Go(func() {
			for {
				from := int(next.Add(int64(batch))) - batch
				if from >= n {
					return
				}
				for i := from; i < min(from+batch, n); i++ {
					do(i)
					b.done.Add(1)
				}
			}
		})
	}
	wait.Wait()
}

// list compares the trees of each change.
func (b *branch) list(ctx context.Context) error {
	errs := make([]error, len(b.steps))
	b.parallel(len(b.steps), 1024, func() func(int) {
		return func(i int) {
			s := &b.steps[i]
			var old repo.Hash
			if s.parent != nil {
				old = s.parent.Tree
			}
			errs[i] = b.repo.Diff(old, s.commit.Tree, func(c repo.Change) error {
				s.files = append(s.files, c)
				return context.Cause(ctx)
			})
		}
	})
	for i, err := range errs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil { // the scan reports it
			b.steps[i].exact = true
		}
	}
	return nil
}

// options are those of a scan of a change; without a parent, of all files of its commit.
func (b *branch) options(s *step) run.Options {
	o := b.Run
	o.OpenedRepository, o.Now = b.repo, s.commit.Date
	if o.Now.IsZero() {
		o.Now = time.Unix(0, 0)
	}
	if s.parent == nil {
		o.Rev = s.commit.Hash.String()
	} else {
		o.Base, o.Head = s.parent.Hash.String(), s.commit.Hash.String()
	}
	return o
}

// scan judges a change exactly. files are those that it changes.
func (b *branch) scan(ctx context.Context, o run.Options, files []repo.Change) *outcome {
	if ctx.Err() != nil {
		return nil
	}
	r, err := run.Open(ctx, o)
	if isUnruled(err) && o.Base != "" {
		return &outcome{unruled: true}
	}
	var v *verdict.Verdict
	if err != nil {
		v = r.Undecided(err)
	} else {
		for _, c := range files {
			if b.isOwnRule(c.Path) {
				r.RuleFiles = append(r.RuleFiles, check.RuleFile{Path: c.Path, Blob: c.Old.Hash},
					check.RuleFile{Path: c.Path, Blob: c.New.Hash})
			}
		}
		v = scanner.Scan(ctx, r, nil)
		r.Close()
	}
	out := &outcome{errors: v.Errors, rules: v.Rules, violations: v.Violations, broken: map[ruleFile]places{}}
	for i := range v.Violations {
		x := &v.Violations[i]
		if x.Evidence.Places = nil; o.Base == "" { // without a baseline all are new
			x.NewPlaceCount = x.PlaceCount
		}
		n := out.broken[ruleFile{x.RuleID, x.File}]
		n.places, n.fresh = n.places+int(x.PlaceCount), n.fresh+int(x.NewPlaceCount)
		out.broken[ruleFile{x.RuleID, x.File}] = n
	}
	for i := range v.AllowedViolations {
		x := &v.AllowedViolations[i]
		n := out.broken[ruleFile{x.RuleID, x.File}]
		n.allowed += int(x.PlaceCount)
		out.broken[ruleFile{x.RuleID, x.File}] = n
	}
	return out
}

// isUnruled reports whether a run has no bundle.
func isUnruled(err error) bool {
	var missing *document.Error
	return errors.As(err, &missing) && missing.Code == document.CodeMissing
}

// find finds the tip, and the changes since the given day or commit.
func (b *branch) find() error {
	b.row.Branch = b.Branch
	if b.Branch == "" {
		b.row.Branch = "HEAD"
		if _, err := b.repo.Ref("refs/remotes/origin/HEAD"); err == nil && b.repo.WorkTree != "" {
			b.row.Branch = "origin/HEAD" // the branch that is checked out may be any
		}
	}
	tip, err := b.repo.Commit(b.row.Branch)
	if err != nil {
		return err
	}
	chain, err := b.chain(tip)
	if len(chain) == 0 {
		return err
	}
	b.tip = chain[0]
	b.row.Tip, b.row.TipDate = b.tip.Hash.String(), dateOf(b.tip)
	n, cutErr := b.since(chain)
	if cutErr != nil {
		return cutErr
	}
	if n == len(chain) { // its oldest change needs what this clone does not have
		last := chain[n-1]
		switch {
		case err != nil:
			b.row.Errors = run.Errors(tree.RepoError(err))
		case last.Ends:
			const shallow = "this clone is shallow, so changes could be looked at only since %s; run git fetch --unshallow"
			b.row.Errors = []verdict.Error{{Code: code.Shallow, Message: sprintf(shallow, dateOf(last))}}
		}
		if err != nil || last.Ends {
			n--
		}
	}
	for i := n - 1; i >= 0; i-- {
		s := step{commit: chain[i]}
		if i+1 < len(chain) {
			s.parent = chain[i+1]
		}
		b.steps = append(b.steps, s)
	}
	if n > 0 {
		b.row.First = chain[n-1].Hash.String()
	} else if len(b.row.Errors) == 0 && !b.allowsEmpty() {
		return &verdict.Error{Code: code.Empty, Message: sprintf("the branch has no change since %s; "+
			"name an earlier day or commit with --since, or allow it with --allow empty", b.row.Since)}
	}
	return nil
}

// chain returns the first-parent chain from a commit on, newest first, and the error that ends it too early.
func (b *branch) chain(h repo.Hash) (all []*repo.Commit, err error) {
	for {
		c, err := b.repo.Describe(h)
		if err != nil {
			return all, err
		}
		if all = append(all, c); len(c.Parents) == 0 || c.Ends {
			return all, nil
		}
		h = c.Parents[0]
	}
}
