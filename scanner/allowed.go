package scanner

import (
	"context"
	"slices"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/failure"
	"github.com/policyscan/policyscan/verdict"
)

// A ruleFile is a rule, by its index in the bundle, and a file: what allowances are for.
type ruleFile struct {
	rule int
	path string
}

// An allower decides which violations the allowances of the judges' bundles let be. What it did not decide is not
// allowed.
type allower struct {
	run     *collector
	book    *allowance.Book
	rules   map[string]bool // for which there is an entry, by their ids
	decided map[ruleFile]allowance.Decision
	failed  error // why it is not known what was there before
}

// newAllower returns nil if no bundle has an allowance, nor had one where the change starts: one that both sides
// removed since makes its file part of the change.
func newAllower(p *collector) *allower {
	base, head := p.set.Allowances()
	if len(slices.Concat(slices.Concat(p.opt.Starts...), base, head)) == 0 {
		return nil
	}
	a := &allower{run: p, rules: map[string]bool{}, decided: map[ruleFile]allowance.Decision{}}
	for _, e := range slices.Concat(base, head) {
		a.rules[e.Rule] = true
	}
	switch {
	case p.compares():
	case p.set.Based(): // a push that drops commits: the base's numbers judge all files
		a.book = allowance.Compare(allowance.Comparison{Day: p.day(), Base: base, Head: head, Whole: true})
		return a
	default:
		a.book = allowance.Whole(head, p.day())
		return a
	}
	c := allowance.Comparison{Day: p.day(), Base: base, Head: head, MergeBases: p.opt.Starts}
	if p.past != nil {
		c.References, a.failed = p.past.references() // without any, nothing is allowed
	}
	if p.set.HasBase() && len(p.opt.Starts) == 0 { // what the change lowers would not be seen
		e := failure.Panic("", "it is not known which allowances there were where the change starts")
		a.failed = &e
	}
	if p.past != nil {
		c.Merged = func(file string) bool {
			m, err := p.past.mergedAs(verdict.RawPath(file))
			if err != nil {
				a.failed = err
			}
			return m != nil
		}
	}
	a.book = allowance.Compare(c)
	if p.past != nil {
		p.past.joined = a.joined
	}
	return a
}

// joined returns the paths of the files that a file is counted with, in order and itself included; nil if there are no
// others.
func (a *allower) joined(rule int, path string) []string {
	files := a.book.Joined(a.run.set.Bundle.Rules[rule].ID, verdict.Path(path))
	var paths []string
	for _, file := range files {
		paths = append(paths, verdict.RawPath(file))
	}
	slices.Sort(paths)
	return paths
}

// compares reports whether the run is about a change.
func (p *collector) compares() bool {
	mode := p.tree.Scope().Mode
	return mode == "diff" || mode == "staged"
}

// day is the day that counts for allowances. Without one all that end have ended.
func (p *collector) day() string {
	if p.opt.Day == "" {
		return "9999-12-31"
	}
	return p.opt.Day
}

// asOf is the day that counts, if a bundle has dates.
func (p *collector) asOf() string {
	if p.set.HasDates() {
		return p.opt.Day
	}
	return ""
}

// endingAllowances are those of the head that end soon, for rules that the run enforces.
func (p *collector) endingAllowances() []verdict.EndingAllowance {
	today, err := time.Parse(time.DateOnly, p.asOf())
	if err != nil { // no bundle has dates
		return nil
	}
	counts := map[string]bool{}
	for i := range p.set.Bundle.Rules {
		r := &p.set.Bundle.Rules[i]
		counts[r.ID] = counts[r.ID] || !r.NeverAllowed
	}
	_, head := p.set.Allowances()
	var all []verdict.EndingAllowance
	last := today.AddDate(0, 0, verdict.EndingDays).Format(time.DateOnly)
	for _, e := range allowance.NewList(head, p.day()).Ending(last) {
		if counts[e.Rule] {
			all = append(all, verdict.EndingAllowance{RuleID: e.Rule, File: e.File, Allowance: signedAs(e.Signed)})
		}
	}
	return all
}

// signedAs is what is signed, as a verdict has it.
func signedAs(s *allowance.Signed) verdict.Allowance {
	return verdict.Allowance{AtMost: s.AtMost, Owner: s.Owner, Reason: s.Reason, Until: s.Until}
}

// earlier reports whether an earlier day than today's decides.
func (p *collector) earlier() bool { return p.opt.Earlier && p.set.HasDates() }

// decide decides about all violations that were found. The error is that of the context, or says that what was there
// before is not known.
func (a *allower) decide(ctx context.Context) error {
	if a == nil {
		return nil
	}
	if a.failed != nil {
		return a.failed
	}
	broken, incomplete := a.run.found()
	counts := map[ruleFile]int{}
	for i := range broken {
		if br := &broken[i]; br.Ref.Of != rules.RequiredFile && a.rules[a.run.set.Bundle.Rules[br.Rule].ID] {
			counts[ruleFile{br.Rule, br.Path}] += int(br.Occurrences())
		}
	}
	decided := map[ruleFile]allowance.Decision{}
	for at, n := range counts {
		base, head := a.run.set.Sides(at.rule)
		r := &a.run.set.Bundle.Rules[at.rule]
		q := allowance.Question{
			Rule: r.ID, Base: base, Head: head, Never: r.NeverAllowed, File: verdict.Path(at.path),
			Count: func(file string) allowance.Count {
				path := verdict.RawPath(file)
				switch {
				case path == at.path:
				case a.run.past == nil: // all files are judged
					return allowance.Count{Now: counts[ruleFile{at.rule, path}], Unknown: incomplete(path)}
				default:
					return a.countNow(ctx, at.rule, path)
				}
				return a.count(ctx, at.rule, at.path, n, incomplete(at.path))
			},
		}
		if a.run.past != nil {
			q.Moved = func(file string) bool { return a.run.past.differs(verdict.RawPath(file)) }
		}
		if decided[at] = a.book.Decide(q); a.failed != nil {
			return a.failed
		}
	}
	if ctx.Err() == nil {
		a.refuseTogether(decided)
		a.decided = decided
	}
	return nil
}

// refuseTogether refuses what one version of a rule allows in a file and another one refuses: base and head can have
// rules that differ under one id, and a place is either allowed or a violation.
func (a *allower) refuseTogether(decided map[ruleFile]allowance.Decision) {
	type idFile struct{ id, path string }
	refused := map[idFile]bool{}
	for at, d := range decided {
		if d.Refusal != nil {
			refused[idFile{a.run.set.Bundle.Rules[at.rule].ID, at.path}] = true
		}
	}
	for at, d := range decided {
		if d.Refusal == nil && refused[idFile{a.run.set.Bundle.Rules[at.rule].ID, at.path}] {
			decided[at] = allowance.Decision{Refusal: &allowance.Refusal{Why: allowance.OtherVersion}}
		}
	}
}

// count returns how often a rule occurs in a file, now and before.
func (a *allower) count(ctx context.Context, rule int, path string, now int, unknown bool) allowance.Count {
	c := allowance.Count{Now: now, Unknown: unknown}
	if a.run.past == nil {
		return c
	}
	var err error
	if c.Before, err = a.run.past.had(ctx, rule, path); err != nil {
		a.failed = err
		return c
	}
	if a.joined(rule, path) != nil {
		if c.Merging, err = a.run.past.merging(ctx, rule, path); err != nil {
			a.failed = err
		}
	}
	return c
}

// countNow is count of a file that need not be part of the change.
func (a *allower) countNow(ctx context.Context, rule int, path string) allowance.Count {
	now, err := a.run.past.has(ctx, rule, path)
	if err != nil {
		a.failed = err
	}
	unknown := now.None == allowance.Unreadable || now.None == allowance.Unparsed
	return a.count(ctx, rule, path, now.Count, unknown)
}

// signed returns the allowance of a violation, or says why there is none.
func (a *allower) signed(br *check.Finding) (by *allowance.Signed, refused string) {
	if a == nil {
		return nil, ""
	}
	d, known := a.decided[ruleFile{br.Rule, br.Path}]
	switch {
	case !known:
		return nil, ""
	case d.Refusal != nil:
		return nil, d.Refusal.Sentence(line)
	}
	return d.Signed, ""
}

// line writes an entry as a line of allowances.yml.
func line(e rules.Allowance) string { return e.String() }

// touched are the paths that are part of the change because of their allowances.
func (a *allower) touched() []string {
	if a == nil || !a.run.compares() {
		return nil
	}
	var all []string
	for _, file := range a.book.Touched() {
		all = append(all, verdict.RawPath(file))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// differs reports whether a file is another one now than at each reference.
func (h *past) differs(path string) bool {
	now, _, err := h.states.Now.Leaf(path)
	if err != nil {
		return true
	}
	for _, m := range h.before {
		if leaf, there, err := m.Leaf(path); err == nil && there && leaf == now {
			return false
		}
	}
	return true
}
