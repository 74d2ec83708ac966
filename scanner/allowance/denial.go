package allowance

import "slices"

// A DenialKind is why occurrences are denied.
type DenialKind uint8

// The kinds.
const (
	NoEntry      DenialKind = iota // there is no allowance
	Never                          // the rule permits no allowance
	Incomplete                     // the file, or one of its group, could not be checked completely
	Expired                        // the allowance has ended
	AboveLimit                     // the number is too small; of a change, the base's
	TooLow                         // the head's number is too small, and the base's is not
	Dropped                        // the head has no entry; the base allows them for the file, or its group
	OwnAllowance                   // the change itself adds the allowance, raises it, or changes its end
	Increased                      // there were fewer before
	BaseMoved                      // as many at the merge base, and the base has fewer by now
	InBase                         // fewer at a merge base, and the base has as many by now
	Renamed                        // the file is new, and others of the list have lost as many
	Unseen                         // the file could not be read or parsed before, so it counts as having had none
	EarlyGrow                      // may_grow counts from the next change on
	OtherVersion                   // the other side's rule of the same id denies them
)

// A Denial is why occurrences of a rule in a file are not allowed.
type Denial struct {
	Kind    DenialKind
	Now     int      // occurrences, of the Group together if there is one
	Number  int      // that is allowed, if it is the reason; for OwnAllowance the base's
	Before  int      // the fewest at a reference
	At      string   // the name of that reference; "" if nothing is compared
	Until   string   // for Expired: the last day that counted
	Group   []string // the files that are counted together, including the file; nil if it is alone
	Entries int      // for the rule and the file in the list that denies
	Grew    bool     // there were fewer before; the number may be too small as well
	Sources []string // files that have lost as many as are new here: perhaps they were moved
	Propose *Entry   // the entry to write if they were; nil if no file has lost as many
}

// denial explains why occurrences are not allowed: growth first, then the base's numbers, then the head's.
func (c *evaluation) denial() *Denial {
	r := &Denial{Now: c.sum.now}
	if len(c.files) > 1 {
		r.Group = c.files
	}
	for i, n := range c.sum.before {
		if i == 0 || n < r.Before {
			r.Before, r.At = n, c.references[i].Name
		}
	}
	grew := c.sum.grew()
	r.Grew = len(grew) > 0 && !c.exempt()
	switch {
	case c.Never:
		if c.head.Limit(c.Rule, c.File) != nil || c.base != nil && c.base.Limit(c.Rule, c.File) != nil {
			r.Kind = Never
		}
	case c.sum.unknown || c.withoutBefore():
		r.Kind = Incomplete
	case r.Grew && c.behind(grew):
		r.Kind = BaseMoved
	case r.Grew:
		r.Kind = c.whyMore(r, grew)
	case c.base != nil && c.Query.Base && c.sum.now > c.baseNumbers() && !c.ofHead():
		c.overBase(r)
	default:
		c.overHead(r)
	}
	if c.base != nil && c.Query.Base {
		r.entries(c.base.Limit(c.Rule, c.File))
	}
	if c.base == nil || c.Query.Head {
		r.entries(c.head.Limit(c.Rule, c.File))
	}
	return r
}

func (r *Denial) entries(s *Limit) {
	if s != nil {
		r.Entries = max(r.Entries, s.Entries)
	}
}

// baseNumbers returns the number of occurrences that the base allows for the file or its group.
func (c *evaluation) baseNumbers() int { return c.numbers(c.baseNumber) }

func (c *evaluation) numbers(of func(rule, file string) int) (n int) {
	for _, f := range c.files {
		n += of(c.Rule, f)
	}
	return n
}

// exempt reports whether the file may grow, so that only its number counts.
func (c *evaluation) exempt() bool {
	return c.base != nil && c.base.mayGrow(c.Rule, c.File) && (!c.Query.Head || c.head.mayGrow(c.Rule, c.File))
}

// ofHead reports whether the base's side uses the head's number, for a file that is merged.
func (c *evaluation) ofHead() bool {
	return len(c.files) == 1 && c.merged != nil && c.merged(c.File) && c.head.Limit(c.Rule, c.File) != nil &&
		c.head.number(c.Rule, c.File) >= c.base.number(c.Rule, c.File)
}

// overBase explains a denial by the base's numbers, without growth.
func (c *evaluation) overBase(r *Denial) {
	r.Number = c.baseNumbers()
	known := false
	for _, f := range c.files {
		if s := c.base.Limit(c.Rule, f); s != nil {
			known = true
			if s.Expired {
				r.Kind, r.Until = Expired, s.Until
				return
			}
		}
	}
	switch {
	case c.lowered():
		r.Kind = BaseMoved
	case len(c.files) == 1 && c.own.Now <= c.head.number(c.Rule, c.File):
		r.Kind = OwnAllowance
	case known || r.Group != nil:
		r.Kind = AboveLimit
	}
}

// overHead explains a denial by the head's number, or the only one, without growth.
func (c *evaluation) overHead(r *Denial) {
	r.Now, r.Group, r.Number = c.own.Now, nil, c.head.number(c.Rule, c.File)
	s := c.head.Limit(c.Rule, c.File)
	switch {
	case s != nil && s.Expired:
		r.Kind, r.Until = Expired, s.Until
	case c.base == nil && s != nil:
		r.Kind = AboveLimit
	case c.base != nil && s != nil:
		r.Kind = TooLow
	case c.base != nil && (len(c.files) > 1 || c.base.number(c.Rule, c.File) > 0):
		r.Kind = Dropped
	}
}

// whyMore explains a denial by growth.
func (c *evaluation) whyMore(r *Denial, grew []int) DenialKind {
	absent := func(of ...Reason) bool {
		return !slices.ContainsFunc(grew, func(i int) bool { return !slices.Contains(of, c.own.Before[i].Reason) })
	}
	known := c.head.Limit(c.Rule, c.File) != nil || c.base.Limit(c.Rule, c.File) != nil
	if r.Now > r.Before {
		r.Sources, r.Propose = c.propose()
	}
	switch {
	case c.head.mayGrow(c.Rule, c.File) && c.own.Now <= c.head.number(c.Rule, c.File):
		return EarlyGrow
	case known && c.baseHas(grew):
		r.Sources, r.Propose = nil, nil
		return InBase
	case absent(Unreadable, Unparsed) && (known || r.Propose != nil):
		return Unseen
	case r.Propose != nil && absent(Missing, NotSelected):
		return Renamed
	case !known && r.Propose == nil && len(c.files) == 1:
		return NoEntry
	case r.Propose == nil && len(c.files) == 1 && c.Query.Base && c.base.Limit(c.Rule, c.File) == nil:
		return OwnAllowance
	}
	return Increased
}

// behind reports whether only the base has fewer, and no merge base.
func (c *evaluation) behind(grew []int) bool {
	return !slices.ContainsFunc(grew, func(i int) bool { return c.references[i].MergeBase })
}

// baseHas reports whether only merge bases have fewer, and the base as many: meanwhile it made the same change as the
// head, perhaps in a squashed commit.
func (c *evaluation) baseHas(grew []int) bool {
	return slices.ContainsFunc(c.references, func(r Reference) bool { return r.Base }) &&
		!slices.ContainsFunc(grew, func(i int) bool { return c.references[i].Base })
}

// lowered reports whether some merge base's numbers are large enough, so that the base has lowered them since.
func (c *evaluation) lowered() bool {
	return slices.ContainsFunc(c.mergeBases, func(l *SideList) bool {
		return c.sum.now <= c.numbers(l.number)
	})
}
