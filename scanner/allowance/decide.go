package allowance

import "slices"

// Counts are the occurrences of a rule in a file, now and before.
type Counts struct {
	Now     int
	Same    int     // matches of other patterns at these places, which must not grow either
	Unknown bool    // the file could not be checked completely: Now may be too small
	Before  []Count // at each of the list's references; empty if nothing is compared
	// Merging is, during a merge, the occurrences at HEAD and in each merged commit, whatever is staged; else nil. A
	// group had at most the largest of these.
	Merging []int
}

// A Count is the occurrences of a rule in a file at a reference.
type Count struct {
	Count  int
	Same   int    // as in Counts
	Reason Reason // why it is 0, unless the file was checked and had none
}

// A Reason is why a file counts as having had no occurrences.
type Reason uint8

// The reasons. NotSelected includes a file that the scan skips.
const (
	Counted     Reason = iota
	Missing            // no such file
	NotSelected        // not selected by the rule
	Unreadable         // its content could not be read
	Unparsed           // it could not be parsed
)

// A Query is a rule, and a file in which it occurs.
type Query struct {
	Rule       string
	Base, Head bool // sides that have the rule; both for one that no side can change, unused without a comparison
	Never      bool // the rule permits no allowance
	File       string
	// Count returns the rule's occurrences in any file.
	Count func(file string) Counts
	// Moved reports whether a file could have lost occurrences, so that it must be counted to find the source of a
	// move. nil: none could.
	Moved func(file string) bool
}

// A Decision is whether a rule's occurrences in a file are allowed.
type Decision struct {
	Limit  *Limit  // the limit that allows them, the head's if both do; nil if denied
	Denial *Denial // nil if allowed
}

// A sum is the counts of a file, or of all files of a group.
type sum struct {
	now     int
	same    int
	unknown bool
	before  []int
	hadSame []int
}

func (b *List) sum(q *Query, files []string) sum {
	s := sum{before: make([]int, len(b.references)), hadSame: make([]int, len(b.references))}
	var merging []int
	for _, f := range files {
		c := q.Count(f)
		for i, n := range c.Merging {
			if i == len(merging) {
				merging = append(merging, 0)
			}
			merging[i] += n
		}
		s.now, s.same = s.now+c.Now, s.same+c.Same
		s.unknown = s.unknown || c.Unknown
		for i := range s.before {
			s.before[i] += c.Before[i].Count
			s.hadSame[i] += c.Before[i].Same
		}
	}
	if len(files) > 1 && len(merging) > 0 { // a merge can move occurrences within the group
		for i := range s.before {
			s.before[i] = min(s.before[i], slices.Max(merging))
		}
	}
	return s
}

// grew returns the references with fewer places, or with fewer matches.
func (s *sum) grew() []int {
	var at []int
	for i, n := range s.before {
		if s.now > n || s.now+s.same > n+s.hadSame[i] {
			at = append(at, i)
		}
	}
	return at
}

// Decide decides whether the occurrences of a rule in a file are allowed.
func (b *List) Decide(q Query) Decision {
	own := q.Count(q.File)
	c := &evaluation{List: b, Query: &q, own: own, files: b.groups.of(q.Rule, q.File)}
	c.sum = b.sum(&q, c.files)
	if q.Never || c.sum.unknown || c.withoutBefore() || !c.withinBase() || !c.withinHead() {
		return Decision{Denial: c.denial()}
	}
	if b.base != nil && !q.Head && b.base.number(q.Rule, q.File) >= own.Now {
		return Decision{Limit: b.base.Limit(q.Rule, q.File)}
	}
	return Decision{Limit: b.head.Limit(q.Rule, q.File)}
}

type evaluation struct {
	*List
	*Query
	own   Counts
	files []string // the file's group
	sum   sum      // of the group
}

// withoutBefore reports whether a comparison has no references, so that growth would not be seen.
func (c *evaluation) withoutBefore() bool { return c.base != nil && !c.whole && len(c.references) == 0 }

func (c *evaluation) withinBase() bool {
	if c.base == nil || !c.Query.Base {
		return true
	}
	return c.sum.now <= c.baseNumbers() && (len(c.files) == 1 || c.withinOwnLimit()) &&
		(len(c.sum.grew()) == 0 || c.base.mayGrow(c.Rule, c.File))
}

// withinHead reports whether the head's side, or the only side, allows the occurrences.
func (c *evaluation) withinHead() bool {
	switch {
	case c.base == nil:
		return c.withinOwnLimit()
	case !c.Query.Head:
		return true
	}
	return c.withinOwnLimit() &&
		(len(c.sum.grew()) == 0 || c.head.mayGrow(c.Rule, c.File) && c.base.mayGrow(c.Rule, c.File))
}

// withinOwnLimit reports whether the file is within its own number in the head.
func (c *evaluation) withinOwnLimit() bool { return c.own.Now <= c.head.number(c.Rule, c.File) }
