package allowance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// Tighten lowers the entries to the occurrences of a scan of the whole tree, with the history of its files. rev is the
// scanned commit; "" for the disk.
func (l *File) Tighten(v *verdict.Verdict, past *History, rev string) (EditResult, error) {
	if rev != "" && !slices.Equal(hashesOf(v), l.hashes) {
		return EditResult{}, fmt.Errorf("the bundle on disk differs from that of %s (%s, there %s); "+
			"check out that commit, or commit the bundle first",
			rev, shortHashes(l.hashes), shortHashes(hashesOf(v)))
	}
	if !v.Complete {
		return EditResult{}, fmt.Errorf("nothing was written: the scan is incomplete, so it does not count "+
			"all there is (%s)", firstErrors(v.Errors))
	}
	if err := l.usable(v); err != nil {
		return EditResult{}, err
	}
	t := newTighter(l, v)
	t.lower()
	tooMany, err := t.followRenames(past)
	if err != nil {
		return EditResult{}, err
	}
	t.drop(v.AsOf)
	var added []Entry
	for _, e := range t.entries[len(l.Entries()):] {
		added = append(added, e.after)
	}
	deleted, err := l.edit(func(i int, _ Entry) (Entry, bool) {
		return t.entries[i].after, !t.entries[i].gone
	}, added)
	if err != nil {
		return EditResult{}, err
	}
	o := t.outcome()
	o.Deleted = deleted
	if past.note != "" {
		o.Notes = append(o.Notes, past.note)
	}
	if tooMany {
		o.Notes = append(o.Notes, "there are too many files to look for all that were renamed; an entry may be "+
			"missing (run this after each step, or write it by hand)")
	}
	if n := t.over(); n == 1 {
		o.Notes = append(o.Notes, "1 file has more than it may keep; policyscan lists them")
	} else if n > 1 {
		o.Notes = append(o.Notes, fmt.Sprintf("%d files have more than they may keep; policyscan lists them", n))
	}
	return o, nil
}

// An entry is one of the file, or a new one.
type entry struct {
	before, after Entry // before is zero for a new one
	gone          bool
	expected      bool // the scan counted its file, so that it can be lowered
}

type tightener struct {
	file    *File
	there   map[pair]int64
	entries []*entry // those of the file, in its order, then new ones
	byPair  map[pair][]*entry
	spare   map[pair]int        // by file, the number that its entries allow beyond the occurrences
	origins map[string][]string // by file, the earlier paths in its entries
	known   func(file string) bool
	others  map[pair]bool // with entries in the other bundles
}

func newTighter(l *File, v *verdict.Verdict) *tightener {
	t := &tightener{
		file: l, there: counts(v), byPair: map[pair][]*entry{}, spare: map[pair]int{}, known: scanned(v),
		origins: map[string][]string{}, others: map[pair]bool{},
	}
	for i, b := range l.policies.Bundles() {
		for k := range b.Allowances {
			if i != l.own {
				t.others[pairOf(&b.Allowances[k])] = true
			}
		}
	}
	for _, a := range l.Entries() {
		e := &entry{before: a, after: a, expected: !a.MayGrow && l.rules[a.Rule] != nil && t.known(a.File)}
		t.entries = append(t.entries, e)
		t.byPair[pairOf(&a)] = append(t.byPair[pairOf(&a)], e)
		for _, from := range a.From {
			if !slices.Contains(t.origins[a.File], from) {
				t.origins[a.File] = append(t.origins[a.File], from)
			}
		}
	}
	return t
}

// scanned returns whether a scan counted the occurrences of a file. It did not if the file was excluded, is below a
// directory that was not scanned, such as a submodule, or had only its text checked.
func scanned(v *verdict.Verdict) func(file string) bool {
	not := map[string]bool{}
	for _, o := range slices.Concat(v.Coverage.NotScanned, v.Coverage.LeftOut) {
		not[o.File] = true
	}
	for _, file := range v.Coverage.Unparsed {
		not[file] = true
	}
	return func(file string) bool {
		for i, c := range file {
			if c == '/' && not[file[:i]] {
				return false
			}
		}
		return !not[file]
	}
}

// lower lowers each entry to the occurrences, and records the spare ones.
func (t *tightener) lower() {
	for p, all := range t.byPair {
		n := t.there[p]
		if left := int64(leastOf(all).before.AtMost) - n; left > 0 &&
			!slices.ContainsFunc(all, func(e *entry) bool { return !e.expected }) {
			t.spare[p] = int(left)
		}
		for _, e := range all {
			if e.expected && int64(e.after.AtMost) > n {
				e.after.AtMost, e.gone = int(n), n == 0
			}
		}
	}
}

func leastOf(all []*entry) *entry {
	return slices.MinFunc(all, func(a, b *entry) int { return cmp.Compare(a.before.AtMost, b.before.AtMost) })
}

// live returns the remaining entries for a rule and a file.
func (t *tightener) live(p pair) []*entry {
	return slices.DeleteFunc(slices.Clone(t.byPair[p]), func(e *entry) bool { return e.gone })
}

// number returns the number that the entries allow for a file; 0 without entries.
func (t *tightener) number(p pair) int {
	n := 0
	for i, e := range t.live(p) {
		if i == 0 || e.after.AtMost < n {
			n = e.after.AtMost
		}
	}
	return n
}

// movable reports whether a file can join others: it has no entry that is an exception, or of another bundle.
func (t *tightener) movable(p pair) bool {
	r := t.file.rules[p.rule]
	return r != nil && !r.NeverAllowed && t.known(p.file) && !t.others[p] &&
		!slices.ContainsFunc(t.byPair[p], func(e *entry) bool { return e.before.MayGrow || e.withdraws() })
}

// need returns the number of occurrences of a file that no entry allows.
func (t *tightener) need(p pair) int { return max(0, int(min(t.there[p], maxNumber))-t.number(p)) }

// drop removes entries that another one for the same rule and file makes redundant, and entries that withdraw removed
// ones, once their last day has passed: by then no branch should have the others.
func (t *tightener) drop(day string) {
	for _, all := range t.byPair {
		for i, e := range slices.Backward(all) { // so that of equal ones the first stays
			for k, o := range all {
				if i != k && !e.gone && !o.gone && (e.expected || o.withdraws()) && o.implies(e) {
					e.gone = true
				}
			}
			if e.withdraws() && e.after.Until != "" && e.after.Until < day {
				e.gone = true
			}
		}
	}
}

// withdraws reports whether an entry has the number 0.
func (e *entry) withdraws() bool { return !e.gone && e.after.AtMost == 0 }

// implies reports whether an entry makes another one redundant.
func (o *entry) implies(e *entry) bool {
	a, b := &o.after, &e.after
	if o.withdraws() {
		return !e.withdraws() || a.Until == "" || b.Until != "" && a.Until >= b.Until // the latest end stays
	}
	return !a.MayGrow && !b.MayGrow && a.AtMost <= b.AtMost &&
		(b.Until == "" || a.Until != "" && a.Until <= b.Until) &&
		!slices.ContainsFunc(b.From, func(f string) bool { return !slices.Contains(a.From, f) })
}

// over returns the number of files with more occurrences than their entries allow.
func (t *tightener) over() int {
	over := map[string]bool{}
	for p := range t.there {
		if p.file != "" && !t.others[p] && t.need(p) > 0 {
			over[p.file] = true
		}
	}
	return len(over)
}

// outcome lists the edits. For several entries of a rule and a file it has their effective numbers.
func (t *tightener) outcome() (o EditResult) {
	const never = "" // no day has passed: an entry's end is not a change
	var left []Entry
	for _, e := range t.entries {
		if !e.gone {
			left = append(left, e.after)
		}
	}
	before, after := NewSideList(t.file.Entries(), never), NewSideList(left, never)
	for p := range t.byPair {
		was, now := cmp.Or(before.signed[p], &Limit{}), cmp.Or(after.signed[p], &Limit{})
		c := Edit{Rule: p.rule, File: p.file, Before: was.AtMost, After: now.AtMost}
		changed := false
		for _, i := range now.lines {
			changed = changed || !before.has(&left[i])
			for _, f := range left[i].From {
				if !slices.Contains(was.From, f) && !slices.Contains(c.From, f) {
					c.From = append(c.From, f)
				}
			}
		}
		switch {
		case len(c.From) > 0:
			c.Word = Moved
		case now.Entries == 0:
			c.Word = Removed
		case changed || c.After < c.Before:
			c.Word = Lowered
		case now.Entries < was.Entries:
			c.Word = Merged
		default:
			continue
		}
		o.Changes = append(o.Changes, c)
	}
	o.sort()
	return o
}
