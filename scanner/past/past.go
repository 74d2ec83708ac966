// Package past judges the changes of a branch: each commit of its first-parent chain, compared with its first parent,
// as policyscan --diff-base would; the first commit of all, as --rev.
//
//	a branch --since--> changes --filter--> what could be refused --scanner.Scan--> outcomes --tally--> past.History
//
// The filter skips only a change that a scan certainly passes, so the answer is the same as one scan for each change.
// Each distinct content is checked once for each plan, in the order of the packs. A change is judged as of the day of
// its commit: no clock counts.
//
// Limits: memory grows with the number of changed files in all changes, and with their violations.
package past

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/past"
)

// Options say which changes are judged, and by which rules.
type Options struct {
	Run     run.Options     // of each scan
	Bundles run.RuleSources // of a preview, loaded; nil: each change by the bundles of its two sides
	Since   string          // a day, or a commit; "" is a year before the tip
	Branch  string          // "" is the default branch
	Several bool            // repositories: directories have their names
}

// A Judge judges the changes of repositories, one after another.
type Judge struct {
	Options
	history *past.History
	tallies []*tally // in the order of the rules

	done, all atomic.Int64 // steps of the current repository
}

// New returns a judge without repositories.
func New(o Options) *Judge {
	j := &Judge{Options: o, history: past.New(o.Run.Version)}
	j.history.Mode, j.history.Allowed, j.Run.Workers = past.Audit, o.Run.Allow, 1
	if o.Bundles == nil {
		j.Run.Policies = []string{""}
		return j
	}
	j.history.Mode, j.Run.FromDisk, j.Run.Cache, j.Run.Policies = past.Preview, true, &run.Cache{}, nil
	for _, s := range o.Bundles {
		j.history.Policy = append(j.history.Policy, past.Policy{From: s.From, SHA256: s.Bundle.SHA256})
		j.Run.Policies = append(j.Run.Policies, s.Name)
	}
	j.Run.Load = o.Bundles.Named
	return j
}

// Progress returns the number of steps done and known in the current repository.
func (j *Judge) Progress() (done, all int) { return int(j.done.Load()), int(j.all.Load()) }

// deltaBases is an eighth of the memory that a history may take: with 24 MiB, rails takes 29 s of processor time
// instead of 23.
const deltaBases = 128 << 20

// Add judges the changes of a repository. If ctx ends, the repository has an error instead.
func (j *Judge) Add(ctx context.Context, name string, open func(name string) (*repo.Repository, error)) {
	b := &branch{Judge: j, row: past.Repository{Name: name}}
	if j.Several {
		b.prefix = name + ":"
	}
	var err error
	if b.repo, err = open(name); err == nil {
		b.repo.CacheBases(deltaBases)
		b.findOwn()
		if err = b.find(); err == nil {
			err = b.judge(ctx)
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if b.repo != nil { // else a read may be under way
		b.repo.Close()
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
	prefix string   // of directories, if there are several repositories
	own    []string // the directories of the named bundles in the work tree, each with a slash
	tip    *repo.Commit
	steps  []step // oldest first
}

// A step is a change of the branch.
type step struct {
	commit   *repo.Commit
	parent   *repo.Commit // nil: the commit has none
	files    []repo.Change
	filter   *filter // nil: the rules of the sides differ
	exact    bool    // a scan has to decide
	contents []int   // in its files: numbers in the branch's list
	outcome  *outcome
}

// An outcome is what counts here of the scan of a change: much less than its verdict, since all are kept.
type outcome struct {
	unruled  bool // neither side has a bundle
	errors   []verdict.Error
	refusals []refusal // in order of evaluation
	broken   map[ruleFile]places
	rules    []verdict.Rule // of the tip, or if no filter has them
}

type refusal struct {
	numbers past.Refusal
	title   string
	shown   past.Example // a place that the change introduces, or else its first
}

type ruleFile struct{ rule, file string }

type places struct {
	all   int // with allowed ones
	bad   int // violations
	fresh int // introduced violations
}

// findOwn finds the named bundles in the work tree. Their rule files, of whatever version, are not checked.
func (b *branch) findOwn() {
	for _, s := range b.Bundles {
		if b.repo.WorkTree == "" || s.Dir == "" {
			continue
		}
		if dir, in, err := worktree.PathIn(b.repo.WorkTree, s.Dir); err == nil && in {
			b.own = append(b.own, dir+"/")
		}
	}
}

func (b *branch) isOwn(path string) bool {
	return slices.ContainsFunc(b.own, func(dir string) bool {
		name, in := strings.CutPrefix(path, dir)
		return in && rules.MayBeRead(name)
	})
}

// judge judges all changes, and the tip.
func (b *branch) judge(ctx context.Context) error {
	b.done.Store(0)
	b.all.Store(int64(len(b.steps)))
	b.parallel(len(b.steps), 1024, func() func(int) {
		return func(i int) {
			s := &b.steps[i]
			var old repo.Hash
			if s.parent != nil {
				old = s.parent.Tree
			}
			err := b.each(ctx, old, s.commit.Tree, func(c repo.Change) { s.files = append(s.files, c) })
			s.exact = err != nil // the scan reports it
		}
	})
	contents, err := b.filterAll(ctx)
	if err != nil {
		return err
	}
	b.all.Add(int64(len(contents)))
	blobs := make([]repo.Hash, len(contents))
	for i := range contents {
		blobs[i] = contents[i].blob
	}
	order := b.repo.InPackOrder(blobs)
	b.parallel(len(order), 256, func() func(int) {
		x := &match.Examiner{Bare: true}
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
		return func(i int) { scans[i].outcome = b.scan(ctx, scans[i]) }
	})
	now := &step{commit: b.tip}
	if len(b.own) > 0 {
		err = b.each(ctx, repo.Hash{}, b.tip.Tree, func(c repo.Change) { now.files = append(now.files, c) })
	}
	if now.outcome = b.scan(ctx, now); now.outcome != nil && err == nil {
		b.row.Errors = append(b.row.Errors, now.outcome.errors...)
		b.tally(now.outcome)
	}
	return err
}

// each calls visit with the changes between two trees until ctx ends.
func (b *branch) each(ctx context.Context, from, to repo.Hash, visit func(repo.Change)) error {
	return b.repo.Diff(from, to, func(c repo.Change) error {
		visit(c)
		return context.Cause(ctx)
	})
}

// parallel calls the functions of several workers with the numbers below n, in batches of neighbours.
func (b *branch) parallel(n, batch int, worker func() func(int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		do := worker()
		wait.Go(func() {
			for from := 0; from < n; {
				from = int(next.Add(int64(batch))) - batch
				for i := from; i < min(from+batch, n); i++ {
					do(i)
					b.done.Add(1)
				}
			}
		})
	}
	wait.Wait()
}

// options are of the scan of a change; without a parent, of all files of its commit.
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

// scan judges a change exactly; nil if ctx has ended.
func (b *branch) scan(ctx context.Context, s *step) *outcome {
	if ctx.Err() != nil {
		return nil
	}
	r, err := run.Open(ctx, b.options(s))
	if isUnruled(err) {
		return &outcome{unruled: true, errors: run.Errors(err)}
	}
	var v *verdict.Verdict
	if err != nil {
		v = r.Undecided(err)
	} else {
		for _, c := range s.files {
			if b.isOwn(c.Path) {
				r.RuleFiles = append(r.RuleFiles, check.RuleFile{Path: c.Path, Blob: c.Old.Hash},
					check.RuleFile{Path: c.Path, Blob: c.New.Hash})
			}
		}
		v = scanner.Scan(ctx, r, nil)
		r.Close()
	}
	o := &outcome{errors: v.Errors, broken: map[ruleFile]places{}}
	if s.filter == nil {
		o.rules = v.Rules
	}
	add := func(x *verdict.Violation, n places) {
		at := ruleFile{x.RuleID, x.File}
		had := o.broken[at]
		o.broken[at] = places{had.all + n.all, had.bad + n.bad, had.fresh + n.fresh}
	}
	known := map[string]int{} // where a rule is in the refusals
	for i := range v.Violations {
		x := &v.Violations[i]
		all, fresh := int(x.PlaceCount), int(x.NewPlaceCount)
		if s.parent == nil { // without a baseline all are new
			fresh = all
		}
		add(x, places{all, all, fresh})
		k, is := known[x.RuleID]
		if !is {
			k, known[x.RuleID] = len(o.refusals), len(o.refusals)
			o.refusals = append(o.refusals, refusal{numbers: past.Refusal{RuleID: x.RuleID}, title: x.Title})
		}
		r := &o.refusals[k]
		if !is || r.numbers.Introduced == 0 && fresh > 0 {
			r.shown = past.Example{
				File: x.File, Line: x.Evidence.Line, Excerpt: x.Evidence.Excerpt, Reason: x.Reason,
			}
			if r.shown.Excerpt == "" && x.Evidence.Kind != verdict.KindKey {
				r.shown.Line = 0 // it has no place in the content
			}
		}
		r.numbers.Places, r.numbers.Introduced = r.numbers.Places+all, r.numbers.Introduced+fresh
	}
	for i := range v.AllowedViolations {
		x := &v.AllowedViolations[i].Violation
		add(x, places{all: int(x.PlaceCount)})
	}
	return o
}

// isUnruled reports whether a run has no bundle.
func isUnruled(err error) bool {
	var missing *document.Error
	return errors.As(err, &missing) && missing.Code == document.CodeMissing
}
