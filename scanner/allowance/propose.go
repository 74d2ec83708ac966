package allowance

import (
	"cmp"
	"path"
	"slices"
)

// A moveSource is a file of the base's list that has lost occurrences.
type moveSource struct {
	file string
	lost int
}

// propose returns files of the base's list that have lost as many occurrences as are new in this one, and the entry
// for their move. Files that lost about as many come first, among equal ones a file of the same name.
func (c *evaluation) propose() (lost []string, e *Entry) {
	head := c.head.Limit(c.Rule, c.File)
	if c.Moved == nil || c.base.exception(c.Rule, c.File) || head != nil && (head.exception || head.Expired) {
		return nil, nil
	}
	missing := 0 // occurrences that must be from elsewhere
	for _, n := range c.sum.before {
		missing = max(missing, c.sum.now-n)
	}
	sources := c.sources()
	slices.SortFunc(sources, func(a, b moveSource) int {
		off := func(s moveSource) int { return max(s.lost-missing, missing-s.lost) }
		otherName := func(s moveSource) int {
			if path.Base(s.file) == path.Base(c.File) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(off(a), off(b)), cmp.Compare(otherName(a), otherName(b)), cmp.Compare(a.file, b.file))
	})
	for _, s := range sources {
		if missing <= 0 {
			break
		}
		lost, missing = append(lost, s.file), missing-s.lost
	}
	if missing > 0 {
		return nil, nil
	}
	return lost, c.entry(lost)
}

// sources returns the files of the base's list outside this file's group that have lost occurrences since every
// reference.
func (c *evaluation) sources() []moveSource {
	var all []moveSource
	for p, s := range c.base.signed {
		if p.rule != c.Rule || s.Expired || slices.Contains(c.files, p.file) || s.exception ||
			c.head.exception(p.rule, p.file) || !c.Moved(p.file) {
			continue
		}
		count := c.Count(p.file)
		least := slices.MinFunc(count.Before, func(a, b Count) int { return cmp.Compare(a.Count, b.Count) })
		if lost := least.Count - count.Now; lost > 0 && !count.Unknown {
			all = append(all, moveSource{p.file, lost})
		}
	}
	return all
}

// entry returns the entry to write for the file, with these sources added to the known ones. The owner is the one in
// the file's entry, or else of the first source.
func (c *evaluation) entry(from []string) *Entry {
	signed := c.head.Limit(c.Rule, c.File)
	if signed == nil {
		signed = c.base.Limit(c.Rule, from[0])
	} else {
		from = slices.Concat(from, signed.From)
	}
	for _, f := range from {
		if s := c.base.Limit(c.Rule, f); s != nil {
			from = slices.Concat(from, s.From) // earlier paths are kept
		}
	}
	slices.Sort(from)
	from = slices.DeleteFunc(slices.Compact(from), func(f string) bool { return f == c.File })
	return &Entry{
		Rule: c.Rule, File: c.File, AtMost: c.own.Now, Owner: signed.Owner, Reason: signed.Reason, Until: signed.Until,
		From: from,
	}
}
