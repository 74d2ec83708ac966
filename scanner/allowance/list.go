package allowance

import (
	"cmp"
	"slices"
)

// A List is the entries of one side of a change, or of a run that compares nothing, as they count on one day.
type List struct {
	entries []Entry
	signed  map[pair]*Signed
}

// A pair is what an entry is for.
type pair struct{ rule, file string }

// Signed is what the entries for one rule and file come to: the smallest number, the earliest day, and growth only if
// each of them lets the file grow.
type Signed struct {
	AtMost        int
	Until         string // "" if none of them ends
	MayGrow       bool
	Owner, Reason string // of the first entry with that number
	Entries       int    // how many there are
	Expired       bool   // Until has passed: they allow nothing
	From          []string
	exception     bool  // one of them says may_grow, whatever the others do
	lines         []int // the entries, in those of the list
}

// NewList returns the list of some entries on a day, as 2027-03-01. Those of several bundles are one list.
func NewList(entries []Entry, day string) *List {
	l := &List{entries: entries, signed: map[pair]*Signed{}}
	for i := range entries {
		e := &entries[i]
		at := pair{e.Rule, e.File}
		s := l.signed[at]
		if s == nil {
			s = &Signed{MayGrow: true}
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

// An Ending is what is signed for a rule and a file, which ends.
type Ending struct {
	Rule, File string
	*Signed
}

// Withdrawn reports whether an entry lets the file have nothing, so that no other one counts.
func (s *Signed) Withdrawn() bool { return s.AtMost == 0 }

// Ending returns what counts and has its last day on a day or before, such as 2027-03-31: by that, then by rule and
// file.
func (l *List) Ending(by string) []Ending {
	var all []Ending
	for at, s := range l.signed {
		if s.Until != "" && !s.Expired && !s.Withdrawn() && s.Until <= by {
			all = append(all, Ending{at.rule, at.file, s})
		}
	}
	slices.SortFunc(all, func(a, b Ending) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File))
	})
	return all
}

// For returns what is signed for a rule and a file, nil if nothing is. It may have expired.
func (l *List) For(rule, file string) *Signed { return l.signed[pair{rule, file}] }

// number is how many occurrences the file may have.
func (l *List) number(rule, file string) int {
	if s := l.For(rule, file); s != nil && !s.Expired {
		return s.AtMost
	}
	return 0
}

// mayGrow reports whether the file may have its number, whatever it had before.
func (l *List) mayGrow(rule, file string) bool {
	s := l.For(rule, file)
	return s != nil && !s.Expired && s.MayGrow
}

// exception reports whether an entry says may_grow, even if it has expired or another takes that back.
func (l *List) exception(rule, file string) bool {
	s := l.For(rule, file)
	return s != nil && s.exception
}

// has reports whether an entry is there as it is.
func (l *List) has(e *Entry) bool {
	s := l.For(e.Rule, e.File)
	return s != nil && slices.ContainsFunc(s.lines, func(i int) bool { return sameEntry(e, &l.entries[i]) })
}

// sameEntry reports whether two entries say the same; where they are, and the order of "from", say nothing.
func sameEntry(a, b *Entry) bool {
	return a.Rule == b.Rule && a.File == b.File && a.AtMost == b.AtMost && a.Owner == b.Owner && a.Reason == b.Reason &&
		a.Until == b.Until && a.MayGrow == b.MayGrow && len(a.From) == len(b.From) &&
		!slices.ContainsFunc(a.From, func(f string) bool { return !slices.Contains(b.From, f) })
}
