package allowance

import "slices"

// Counts are how often a rule occurs in a file, now and before.
type Counts struct {
	Now     int
	Unknown bool    // the file could not be checked completely: Now may be too small
	Before  []Count // at each of the book's references; none if nothing is compared
	// Merging is, while a merge is in progress, how often it occurs at HEAD and in each commit that is merged, without
	// regard to what is staged; else nil. Files that are counted as one had no more together than one of these has.
	Merging []int
}

// A Count is how often a rule occurred in a file at a reference.
type Count struct {
	Count  int
	Reason Reason // why it is 0, if that is not because the file had none
}

// A Reason is why a file counts as having had none.
type Reason uint8

// The reasons. A file that the rule did not select, or that the scan leaves out, is NotSelected.
const (
	Counted     Reason = iota
	Missing            // there was no file
	NotSelected        // there was one, and it was not for the rule to judge
	Unreadable         // its content could not be had
	Unparsed           // it could not be parsed
)

// A Query is a rule, and a file in which it occurs.
type Query struct {
	Rule       string
	Base, Head bool // whose the rule is; both of one that no side can change. Without a comparison neither counts
	Never      bool // the rule says that nothing is allowed
	File       string
	// Count returns how often that same rule occurs in a file, this one or another.
	Count func(file string) Counts
	// Moved reports whether a file could have lost occurrences, so that it is worth counting them to tell where those
	// of this one could be from. nil: none could.
	Moved func(file string) bool
}

// A Decision is what becomes of the occurrences of a rule in a file.
type Decision struct {
	Limit  *Limit  // that allows them, the head's if both do; nil if they are not allowed
	Denial *Denial // else
}

// A sum is the count of a file, or of all of a group.
type sum struct {
	now     int
	unknown bool
	before  []int
}

func (b *List) sum(q *Query, files []string) sum {
	s := sum{before: make([]int, len(b.references))}
	var merging []int
	for _, f := range files {
		c := q.Count(f)
		for i, n := range c.Merging {
			if i == len(merging) {
				merging = append(merging, 0)
			}
			merging[i] += n
		}
		s.now += c.Now
		s.unknown = s.unknown || c.Unknown
		for i := range s.before {
			s.before[i] += c.Before[i].Count
		}
	}
	if len(files) > 1 && len(merging) > 0 { // what a merge moves is in its old file at HEAD, and in the new one there
		for i := range s.before {
			s.before[i] = min(s.before[i], slices.Max(merging))
		}
	}
	return s
}

// grew returns the references at which there were fewer.
func (s *sum) grew() []int {
	var at []int
	for i, n := range s.before {
		if s.now > n {
			at = append(at, i)
		}
	}
	return at
}

// Decide says whether the occurrences of a rule in a file are allowed.
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

// An evaluation is a query while it is decided.
type evaluation struct {
	*List
	*Query
	own   Counts
	files []string // the file's group
	sum   sum      // of the group
}

// withoutBefore reports whether a comparison has nothing to compare with, so that no growth would be seen.
func (c *evaluation) withoutBefore() bool { return c.base != nil && !c.whole && len(c.references) == 0 }

func (c *evaluation) withinBase() bool {
	if c.base == nil || !c.Query.Base {
		return true
	}
	return c.sum.now <= c.baseNumbers() && (len(c.files) == 1 || c.withinOwnLimit()) &&
		(len(c.sum.grew()) == 0 || c.base.mayGrow(c.Rule, c.File))
}

// withinHead reports whether the head's side, or the only one that there is, allows them.
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

// withinOwnLimit reports whether the file keeps to its own number in the head.
func (c *evaluation) withinOwnLimit() bool { return c.own.Now <= c.head.number(c.Rule, c.File) }
