package allowance

import (
	"cmp"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// A SideList is the entries of one side of a change, or of a run that compares nothing, as they count on one day.
type SideList struct {
	entries []Entry
	signed  map[pair]*Limit
}

// A pair is the rule and the file of an entry.
type pair struct{ rule, file string }

// A Limit is the result of the entries for one rule and file: the smallest number, the earliest day, and may_grow only
// if all have it.
type Limit struct {
	AtMost        int
	Until         string // "" without an end
	MayGrow       bool
	Owner, Reason string // of the first entry with that number
	Entries       int    // number of entries
	Expired       bool   // Until has passed: they allow nothing
	From          []string
	exception     bool  // at least one has may_grow
	lines         []int // the indices of the entries in the list
}

// NewSideList returns the list of some entries on a day, as 2027-03-01. The entries of several bundles make one list.
func NewSideList(entries []Entry, day string) *SideList {
	l := &SideList{entries: entries, signed: map[pair]*Limit{}}
	for i := range entries {
		e := &entries[i]
		at := pair{e.Rule, e.File}
		s := l.signed[at]
		if s == nil {
			s = &Limit{MayGrow: true}
			l.signed[at] = s
		}
		if s.Entries == 0 || e.AtMost < s.AtMost {
			s.AtMost, s.Owner, s.Reason = e.AtMost, e.Owner, e.Reason
		}
		if s.Until == "" || e.Until != "" && e.Until < s.Until {
			s.Until = e.Until
		}
		s.MayGrow = s.MayGrow && e.MayGrow
		s.exception = s.exception || e.MayGrow
		s.From = append(s.From, e.From...)
		s.Entries++
		s.lines = append(s.lines, i)
	}
	for _, s := range l.signed {
		s.Expired = s.Until != "" && s.Until < day
		slices.Sort(s.From)
		s.From = slices.Compact(s.From)
	}
	return l
}

// Withdrawn reports whether an entry has the number 0, so that no other one counts.
func (s *Limit) Withdrawn() bool { return s.AtMost == 0 }

// Ending returns the limits that count and have their last day on or before by, such as 2027-03-31: by day, then by
// rule and file.
func (l *SideList) Ending(by string) []verdict.EndingAllowance {
	var all []verdict.EndingAllowance
	for at, s := range l.signed {
		if s.Until != "" && !s.Expired && !s.Withdrawn() && s.Until <= by {
			all = append(all, verdict.EndingAllowance{RuleID: at.rule, File: at.file, Allowance: s.Allowance()})
		}
	}
	slices.SortFunc(all, func(a, b verdict.EndingAllowance) int {
		return cmp.Or(cmp.Compare(a.Allowance.Until, b.Allowance.Until),
			cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.File, b.File))
	})
	return all
}

// Allowance returns the limit in the verdict's form.
func (s *Limit) Allowance() verdict.Allowance {
	return verdict.Allowance{AtMost: s.AtMost, Owner: s.Owner, Reason: s.Reason, Until: s.Until}
}

// Limit returns the limit of a rule and a file, nil if there is no entry. It may have expired.
func (l *SideList) Limit(rule, file string) *Limit { return l.signed[pair{rule, file}] }

// number returns the number of occurrences that the file may have.
func (l *SideList) number(rule, file string) int {
	if s := l.Limit(rule, file); s != nil && !s.Expired {
		return s.AtMost
	}
	return 0
}

// mayGrow reports whether the file may have its number, whatever it had before.
func (l *SideList) mayGrow(rule, file string) bool {
	s := l.Limit(rule, file)
	return s != nil && !s.Expired && s.MayGrow
}

// exception reports whether an entry has may_grow, even if it has expired or another one has not.
func (l *SideList) exception(rule, file string) bool {
	s := l.Limit(rule, file)
	return s != nil && s.exception
}

func (l *SideList) has(e *Entry) bool {
	s := l.Limit(e.Rule, e.File)
	return s != nil && slices.ContainsFunc(s.lines, func(i int) bool { return sameEntry(*e, l.entries[i]) })
}

// sameEntry is [rules.Allowance.Same] for any order of "from".
func sameEntry(a, b Entry) bool {
	a.From, b.From = slices.Sorted(slices.Values(a.From)), slices.Sorted(slices.Values(b.From))
	return a.Same(b)
}
