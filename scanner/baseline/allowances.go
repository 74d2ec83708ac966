package baseline

import (
	"context"
	"slices"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// A ruleFile is a rule, by its index in the bundle, and a file.
type ruleFile struct {
	rule int
	path string
}

// Allowances decides which findings are allowed. All others are violations.
type Allowances struct {
	set     *run.RuleSet
	list    *allowance.List
	starts  []*allowance.SideList // of the merge bases, in the order of the baseline
	ofBase  *allowance.SideList
	ofHead  *allowance.SideList
	base    *Baseline                    // nil: nothing is compared
	rules   map[string]bool              // with an entry, by id
	found   map[ruleFile]allowance.Count // of rules with an entry
	decided map[ruleFile]allowance.Decision
	failed  error // why the baseline is unknown
}

// NewAllowances returns nil if no bundle has an allowance, in the run or where the change starts: a file whose
// allowance both sides have removed since is part of the change. changes reports whether the run is a change.
func NewAllowances(r *run.Run, changes bool) *Allowances {
	base, head := r.Rules.Allowances()
	starts := r.BaselineAllowances
	if len(slices.Concat(slices.Concat(starts...), base, head)) == 0 {
		return nil
	}
	a := &Allowances{
		set: r.Rules, rules: map[string]bool{}, decided: map[ruleFile]allowance.Decision{},
		ofBase: allowance.NewSideList(base, r.Day), ofHead: allowance.NewSideList(head, r.Day),
	}
	for _, entries := range starts {
		a.starts = append(a.starts, allowance.NewSideList(entries, r.Day))
	}
	for _, e := range slices.Concat(base, head) {
		a.rules[e.Rule] = true
	}
	switch {
	case changes:
		a.list = allowance.Compare(allowance.Comparison{Day: r.Day, Base: base, Head: head, MergeBases: starts})
		if r.Rules.HasBase() && len(starts) == 0 { // lowered allowances would not be seen
			e := tree.PanicError("", "it is not known which allowances there were where the change starts")
			a.failed = &e
		}
	case r.Rules.HasTwoSides(): // a push that drops commits: the base's limits hold for all files
		a.list = allowance.Compare(allowance.Comparison{Day: r.Day, Base: base, Head: head, Whole: true})
	default:
		a.list = allowance.Whole(head, r.Day)
	}
	return a
}

// List returns the allowances, or nil.
func (a *Allowances) List() *allowance.List {
	if a == nil {
		return nil
	}
	return a.list
}

// Files returns the paths that are part of a change because of their allowances, in order.
func (a *Allowances) Files() []string {
	if a == nil {
		return nil
	}
	var all []string
	for _, file := range a.list.AffectedFiles() {
		all = append(all, verdict.RawPath(file))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Decide decides about all findings of a run. base is nil if nothing is compared. incomplete reports whether a file
// was not checked completely. It returns the error of the context, or why the baseline is unknown.
func (a *Allowances) Decide(
	ctx context.Context, base *Baseline, findings []check.Finding, incomplete func(path string) bool,
) error {
	if a == nil {
		return nil
	}
	if a.base = base; base != nil && a.failed == nil {
		a.compare()
	}
	if a.failed != nil {
		return a.failed
	}
	counts := map[ruleFile]allowance.Count{}
	for i := range findings {
		f := &findings[i]
		if f.Ref.Of != rules.RequiredFile && a.rules[a.set.Bundle.Rules[f.Rule].ID] {
			n := counts[ruleFile{f.Rule, f.Path}]
			n.Count, n.Same = n.Count+int(f.PlaceCount()), n.Same+int(f.Occurrences()-f.PlaceCount())
			counts[ruleFile{f.Rule, f.Path}] = n
		}
	}
	decided := map[ruleFile]allowance.Decision{}
	for at, n := range counts {
		ofBase, ofHead := a.set.Sides(at.rule)
		r := &a.set.Bundle.Rules[at.rule]
		q := allowance.Query{
			Rule: r.ID, Base: ofBase, Head: ofHead, Never: r.NeverAllowed, File: verdict.Path(at.path),
			Count: func(file string) allowance.Counts {
				path := verdict.RawPath(file)
				switch {
				case path == at.path:
				case base == nil: // all files are checked
					return allowance.Counts{Now: counts[ruleFile{at.rule, path}].Count, Unknown: incomplete(path)}
				default:
					return a.countNow(ctx, at.rule, path)
				}
				return a.count(ctx, at.rule, at.path, n, incomplete(at.path))
			},
		}
		if base != nil {
			q.Moved = func(file string) bool { return base.differs(verdict.RawPath(file)) }
		}
		if decided[at] = a.list.Decide(q); a.failed != nil {
			return a.failed
		}
	}
	if ctx.Err() == nil {
		a.denyTogether(decided)
		a.decided, a.found = decided, counts
	}
	return nil
}

// InHistory returns how many occurrences of a rule, by its index, an intermediate state of a file may have: as many as
// the file has, allowed, where the change starts or ends, the larger number. It is called after Decide.
func (a *Allowances) InHistory(ctx context.Context, rule int, path string) (int64, error) {
	if a == nil || a.set.Bundle.Rules[rule].NeverAllowed {
		return 0, nil
	}
	most := 0
	add := func(list *allowance.SideList, count func() allowance.Count) {
		limit := list.Limit(a.set.Bundle.Rules[rule].ID, verdict.Path(path))
		if limit == nil || limit.Expired {
			return
		}
		if n := count(); n.Reason == allowance.Counted && n.Count <= limit.AtMost {
			most = max(most, n.Count)
		}
	}
	at := ruleFile{rule, path}
	if d, known := a.decided[at]; !known || d.Denial == nil {
		add(a.ofHead, func() allowance.Count {
			if known || a.base == nil {
				return a.found[at]
			}
			return a.base.countsAt(ctx, a.base.history.Now, path).of(rule) // the change need not touch the file
		})
	}
	if a.base != nil {
		for i, s := range a.base.before {
			count := func() allowance.Count { return a.base.countsIn(ctx, []*tree.Snapshot{s}, rule, path)[0] }
			if s.IsBase {
				add(a.ofBase, count)
			}
			if i < len(a.starts) {
				add(a.starts[i], count)
			}
		}
	}
	return int64(most), ctx.Err()
}

func (a *Allowances) compare() {
	var references []allowance.Reference
	if references, a.failed = a.base.references(); a.failed != nil {
		return
	}
	a.list = a.list.Against(references, func(file string) bool {
		s, err := a.base.mergedUnchanged(verdict.RawPath(file))
		if err != nil {
			a.failed = err
		}
		return s != nil
	})
}

// denyTogether denies findings in a file that one version of a rule allows and another denies: base and head can have
// different rules with one id, and a place is either allowed or a violation.
func (a *Allowances) denyTogether(decided map[ruleFile]allowance.Decision) {
	type idFile struct{ id, path string }
	denied := map[idFile]bool{}
	for at, d := range decided {
		if d.Denial != nil {
			denied[idFile{a.set.Bundle.Rules[at.rule].ID, at.path}] = true
		}
	}
	for at, d := range decided {
		if d.Denial == nil && denied[idFile{a.set.Bundle.Rules[at.rule].ID, at.path}] {
			decided[at] = allowance.Decision{Denial: &allowance.Denial{Kind: allowance.OtherVersion}}
		}
	}
}

func (a *Allowances) count(
	ctx context.Context, rule int, path string, now allowance.Count, unknown bool,
) allowance.Counts {
	c := allowance.Counts{Now: now.Count, Same: now.Same, Unknown: unknown}
	if a.base == nil {
		return c
	}
	var err error
	if c.Before, err = a.base.countsBefore(ctx, rule, path); err == nil && a.base.group(rule, path) != nil {
		c.Merging, err = a.base.mergeCounts(ctx, rule, path)
	}
	if err != nil {
		a.failed = err
	}
	return c
}

// countNow returns the occurrences of a rule in a file that need not be part of the change.
func (a *Allowances) countNow(ctx context.Context, rule int, path string) allowance.Counts {
	now, err := a.base.countNow(ctx, rule, path)
	if err != nil {
		a.failed = err
	}
	unknown := now.Reason == allowance.Unreadable || now.Reason == allowance.Unparsed
	return a.count(ctx, rule, path, now, unknown)
}

// Of returns the allowance of a finding, or explains its absence: "" without a special reason.
func (a *Allowances) Of(f *check.Finding) (by *verdict.Allowance, denied string) {
	if a == nil {
		return nil, ""
	}
	d, known := a.decided[ruleFile{f.Rule, f.Path}]
	switch {
	case !known, d.Denial == nil && d.Limit == nil:
		return nil, ""
	case d.Denial != nil:
		return nil, d.Denial.Explain(rules.Allowance.String)
	}
	limit := d.Limit.Allowance()
	return &limit, ""
}

// Ending returns the head's allowances that end soon after a day, for rules that the set enforces. A day that cannot
// be parsed has none.
func Ending(set *run.RuleSet, day string) []verdict.EndingAllowance {
	today, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil
	}
	allowed := map[string]bool{}
	for i := range set.Bundle.Rules {
		r := &set.Bundle.Rules[i]
		allowed[r.ID] = allowed[r.ID] || !r.NeverAllowed
	}
	_, head := set.Allowances()
	last := today.AddDate(0, 0, verdict.EndingDays).Format(time.DateOnly)
	return slices.DeleteFunc(allowance.NewSideList(head, day).Ending(last), func(e verdict.EndingAllowance) bool {
		return !allowed[e.RuleID]
	})
}
