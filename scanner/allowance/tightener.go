package allowance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// Tighten writes the entries as a scan of the whole tree, and what files were before, say they can be: it lowers them
// to what is there. rev is the commit that was scanned; "": what is on disk.
func (l *File) Tighten(v *verdict.Verdict, past *History, rev string) (EditResult, error) {
	if rev != "" && !slices.Equal(hashesOf(v), l.hashes) {
		return EditResult{}, fmt.Errorf("the bundle on disk is not that of the commit %s (%s, there %s), so its "+
			"entries are not about what is there; check that commit out, or commit the bundle first",
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
	before, after Entry // before is zero of a new one
	gone          bool
	expected      bool // the scan says how many there are, so that it can be lowered
}

// tightener is the entries while they are tightened.
type tightener struct {
	file    *File
	there   map[pair]int64
	entries []*entry // those of the file, in its order, then new ones
	byPair  map[pair][]*entry
	spare   map[pair]int        // what the entries of a file could have more than what is there
	origins map[string][]string // by file, the paths that its entries say it had before
	known   func(file string) bool
	others  map[pair]bool // what the other bundles have entries for
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

// scanned returns whether a scan says how many occurrences a file has: not of one that was excluded, that is beneath a
// folder which was not scanned, such as a submodule, or of which only the text was checked.
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

// lower lowers each entry to what is there, and says what that leaves.
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

// live returns the entries for a rule and a file that are left.
func (t *tightener) live(p pair) []*entry {
	return slices.DeleteFunc(slices.Clone(t.byPair[p]), func(e *entry) bool { return e.gone })
}

// number is how many occurrences the entries let a file have; 0 if it has none.
func (t *tightener) number(p pair) int {
	live := t.live(p)
	if len(live) == 0 {
		return 0
	}
	byNumber := func(a, b *entry) int { return cmp.Compare(a.after.AtMost, b.after.AtMost) }
	return slices.MinFunc(live, byNumber).after.AtMost
}

// movable reports whether occurrences may be counted with those of other files: there is no entry that is an exception,
// or of another bundle.
func (t *tightener) movable(p pair) bool {
	r := t.file.rules[p.rule]
	return r != nil && !r.NeverAllowed && t.known(p.file) && !t.others[p] &&
		!slices.ContainsFunc(t.byPair[p], func(e *entry) bool { return e.before.MayGrow || e.withdraws() })
}

// need is how many occurrences of a file no entry lets it have.
func (t *tightener) need(p pair) int { return max(0, int(min(t.there[p], maxNumber))-t.number(p)) }

// drop removes entries that say no more than another one for the same rule and file, and those that withdraw others,
// which are gone, once their last day has passed: no branch that still has the others is expected then.
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

// withdraws reports whether an entry says that its file may have nothing.
func (e *entry) withdraws() bool { return !e.gone && e.after.AtMost == 0 }

// implies reports whether an entry makes another one needless.
func (o *entry) implies(e *entry) bool {
	a, b := &o.after, &e.after
	if o.withdraws() {
		return !e.withdraws() || a.Until == "" || b.Until != "" && a.Until >= b.Until // the one that is kept longest
	}
	return !a.MayGrow && !b.MayGrow && a.AtMost <= b.AtMost &&
		(b.Until == "" || a.Until != "" && a.Until <= b.Until) &&
		!slices.ContainsFunc(b.From, func(f string) bool { return !slices.Contains(a.From, f) })
}

// over is how many files have more than their entries let them have.
func (t *tightener) over() int {
	over := map[string]bool{}
	for p := range t.there {
		if p.file != "" && !t.others[p] && t.need(p) > 0 {
			over[p.file] = true
		}
	}
	return len(over)
}

// outcome says what was done. Of several entries for a rule and a file the numbers are those that count.
func (t *tightener) outcome() (o EditResult) {
	const never = "" // no day has passed: that an entry ends is no change
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
