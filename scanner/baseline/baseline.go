// Package baseline compares the findings of a change with the snapshots before it, and decides which are allowed.
//
//	check.Result of a file --Baseline.Label--> new or existing, for each finding and place
//	all findings --Allowances.Decide--> allowed, or why not
//
// A [Baseline] is the snapshots that a change is compared with. It checks files there by the rules of the run, and
// counts findings in files that the change does not touch. An unreadable file in a snapshot has no findings and is not
// an error.
//
// A finding existed before if its line did. A line is identified by its text without spaces and tabs, and by the
// offsets of the matches in it. Each line of the baseline counts once.
//
// It knows neither how files are listed nor how a run was chosen, and opens no files itself.
package baseline

import (
	"context"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// A Baseline checks files as they were before a change. Several goroutines may use it.
type Baseline struct {
	checker *check.Checker
	list    *allowance.List // groups files; nil: each by itself
	open    func() error    // lists the snapshots, once

	history *tree.History // once it is open
	before  []*tree.Snapshot

	mu    sync.Mutex // guards cache
	cache map[fileAt]*counts

	searching sync.Mutex // guards searcher
	searcher  match.Examiner
}

// A fileAt is a path in a snapshot.
type fileAt struct {
	snapshot *tree.Snapshot
	path     string
}

// New returns the baseline of a tree that is a change. list groups files; it may be nil.
func New(t tree.Tree, c *check.Checker, list *allowance.List) *Baseline {
	before := *c
	before.FilterReport = nil // it is for the files of the run
	b := &Baseline{
		checker: &before, list: list, cache: map[fileAt]*counts{}, searcher: match.Examiner{Limit: c.MaxFileBytes},
	}
	b.open = sync.OnceValue(func() (err error) {
		if b.history, err = t.History(); err != nil {
			return err
		}
		b.before, err = b.history.Before()
		return err
	})
	return b
}

// references returns the snapshots in the order of [Baseline.countsBefore].
func (b *Baseline) references() ([]allowance.Reference, error) {
	if err := b.open(); err != nil {
		return nil, err
	}
	var all []allowance.Reference
	for _, s := range b.before {
		all = append(all, allowance.Reference{Name: s.Name, Base: s.IsBase, MergeBase: s.IsMergeBase})
	}
	return all, nil
}

// group returns the group of a path for a rule, by its index: in order, the path itself included; nil if it is alone.
func (b *Baseline) group(rule int, path string) []string {
	if b.list == nil {
		return nil
	}
	var paths []string
	for _, file := range b.list.Joined(b.checker.Bundle.Rules[rule].ID, verdict.Path(path)) {
		paths = append(paths, verdict.RawPath(file))
	}
	slices.Sort(paths)
	return paths
}

// countsBefore returns how often a file broke a rule, by its index, in each snapshot. A staged file that a merge
// brings unchanged had its count in the merged commit.
func (b *Baseline) countsBefore(ctx context.Context, rule int, path string) ([]allowance.Count, error) {
	if err := b.open(); err != nil {
		return nil, err
	}
	m, err := b.mergedUnchanged(path)
	if m != nil {
		return b.countsIn(ctx, []*tree.Snapshot{m}, rule, path), err
	}
	return b.countsIn(ctx, b.before, rule, path), err
}

// countsIn returns how often a file broke a rule in some snapshots. If the file, or one of its group, is now checked
// as text only, only text findings count: unknown keys permit nothing.
func (b *Baseline) countsIn(
	ctx context.Context, snapshots []*tree.Snapshot, rule int, path string,
) []allowance.Count {
	text := b.isTextOnly(ctx, rule, path)
	var all []allowance.Count
	for _, s := range snapshots {
		c := b.countsAt(ctx, s, path)
		n := c.of(rule)
		if text && n.Reason == allowance.Counted {
			n.Count, n.Same = int(c.byRule[rule].text), 0
		}
		all = append(all, n)
	}
	return all
}

// isTextOnly reports whether a file, or one of its group, cannot be parsed now, and a rule with keys checks its text.
func (b *Baseline) isTextOnly(ctx context.Context, rule int, path string) bool {
	if !b.checker.Bundle.Rules[rule].Unparsable {
		return false
	}
	files := append([]string{path}, b.group(rule, path)...)
	return slices.ContainsFunc(files, func(file string) bool {
		return b.countsAt(ctx, b.history.Now, file).textOnly
	})
}

// countNow returns how often a file breaks a rule in the checked snapshot, whether the change touches it or not.
func (b *Baseline) countNow(ctx context.Context, rule int, path string) (allowance.Count, error) {
	if err := b.open(); err != nil {
		return allowance.Count{}, err
	}
	return b.countsAt(ctx, b.history.Now, path).of(rule), nil
}

// countsAt returns the counts of a file in a snapshot, which is checked once.
func (b *Baseline) countsAt(ctx context.Context, s *tree.Snapshot, path string) *counts {
	b.mu.Lock()
	c := b.cache[fileAt{s, path}]
	b.mu.Unlock()
	if c == nil {
		b.searching.Lock()
		defer b.searching.Unlock()
		c = b.check(ctx, &b.searcher, s, path)
		b.keep(s, path, c)
	}
	return c
}

// keep caches the counts of a file, without the findings.
func (b *Baseline) keep(s *tree.Snapshot, path string, c *counts) {
	cached := *c
	cached.findings = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cache[fileAt{s, path}] = &cached
}

// check checks a file in a snapshot by all rules that apply to it.
func (b *Baseline) check(ctx context.Context, x *match.Examiner, s *tree.Snapshot, path string) *counts {
	leaf, found, err := s.Leaf(path)
	switch {
	case err != nil:
		return &counts{absent: allowance.Unreadable}
	case !found || !leaf.Mode.IsLeaf():
		return &counts{absent: allowance.Missing}
	}
	f := s.File(path, leaf)
	if b.checker.Excludes(path) || b.checker.IsRuleFile(&f) || tree.IsGitPath(path) {
		return &counts{absent: allowance.NotSelected}
	}
	r := &check.Result{File: f, Forbidden: b.checker.Bundle.Forbidding(path, nil)}
	if f.Kind != worktree.Submodule { // its content is not in this repository
		if selected := b.checker.Bundle.Selecting(path, nil); len(selected) > 0 {
			r.Plan = b.checker.Plans.Plan(selected)
			bare := x.Bare
			x.Bare = true
			b.checker.Check(ctx, x, r)
			x.Bare = bare
		}
	}
	r.Settle(b.checker.Bundle)
	return countsOf(r)
}

// differs reports whether a file is now different from each snapshot.
func (b *Baseline) differs(path string) bool {
	now, _, err := b.history.Now.Leaf(path)
	if err != nil {
		return true
	}
	for _, s := range b.before {
		if leaf, found, err := s.Leaf(path); err == nil && found && leaf == now {
			return false
		}
	}
	return true
}

// mergedUnchanged returns the merged commit in which a file is exactly as staged: the author of the merge did not
// write it. nil without one.
func (b *Baseline) mergedUnchanged(path string) (*tree.Snapshot, error) {
	merged, err := b.history.Merging()
	if err != nil || len(merged) == 0 {
		return nil, err
	}
	now, found, err := b.history.Now.Leaf(path)
	if err != nil || !found || !now.Mode.IsLeaf() {
		return nil, err
	}
	for _, s := range merged {
		leaf, found, err := s.Leaf(path)
		if err != nil {
			return nil, err
		}
		if found && leaf == now {
			return s, nil
		}
	}
	return nil, nil
}

// mergeCounts returns how often a file broke a rule at HEAD and in each merged commit, whatever is staged; nil if
// there is no merge.
func (b *Baseline) mergeCounts(ctx context.Context, rule int, path string) ([]int, error) {
	merged, err := b.history.Merging()
	if err != nil || len(merged) == 0 {
		return nil, err
	}
	var all []int
	for _, n := range b.countsIn(ctx, slices.Concat(b.before, merged), rule, path) {
		all = append(all, n.Count)
	}
	return all, nil
}

// counts are how often each rule is broken in a file.
type counts struct {
	absent     allowance.Reason // why the whole file has none
	unreadable bool             // its content cannot be read
	selected   []int            // the rules that check its content
	undecided  []int            // the selected rules whose keys could not be checked: the file cannot be parsed
	textOnly   bool             // it cannot be parsed, and a rule with keys checks its text
	forbidden  []rules.GlobOf
	byRule     map[int]ruleCount // nil if none is broken
	findings   []check.Finding   // not in the cache
}

type ruleCount struct {
	places int64
	same   int64 // matches at the places of others
	text   int64 // occurrences of items without a key
}

func countsOf(r *check.Result) *counts {
	c := &counts{
		forbidden: r.Forbidden, findings: r.Findings, undecided: r.UndecidedRules(), textOnly: r.TextAlone(),
	}
	if r.Plan != nil {
		c.selected, c.unreadable = r.Plan.Rules, !r.Scanned && !r.OnlyKeysFailed
	}
	if len(r.Findings) > 0 {
		c.byRule = map[int]ruleCount{}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		n := c.byRule[f.Rule]
		n.places += f.PlaceCount()
		n.same += f.Occurrences() - f.PlaceCount()
		if f.Key == nil {
			n.text += f.Occurrences()
		}
		c.byRule[f.Rule] = n
	}
	return c
}

func (c *counts) of(rule int) allowance.Count {
	switch {
	case c.absent != allowance.Counted:
		return allowance.Count{Reason: c.absent}
	case slices.Contains(c.undecided, rule):
		return allowance.Count{Reason: allowance.Unparsed}
	case slices.Contains(c.selected, rule):
		if c.unreadable {
			return allowance.Count{Reason: allowance.Unreadable}
		}
	case !slices.ContainsFunc(c.forbidden, func(g rules.GlobOf) bool { return g.Rule == rule }):
		return allowance.Count{Reason: allowance.NotSelected}
	}
	return allowance.Count{Count: int(c.byRule[rule].places), Same: int(c.byRule[rule].same)}
}
