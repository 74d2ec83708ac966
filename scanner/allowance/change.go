package allowance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/policyscan/policyscan/scanner/policydiff"
	"github.com/policyscan/policyscan/verdict"
)

// The changes of an allowance by a change or a command; a change can also do anything else, [verdict.Altered].
const (
	Added     = verdict.Added
	Removed   = verdict.Removed
	Raised    = "raised"
	Lowered   = "lowered"
	Moved     = "moved" // its "from" is new, and not empty
	Extended  = "extended"
	Shortened = "shortened"
	Merged    = "merged" // of several entries, at least one was removed as redundant; only by --tighten
)

// PolicyChanges returns the head's changes to the base's entries, by rule, then file.
func PolicyChanges(base, head []Entry) []verdict.PolicyChange {
	const never = "" // no day has passed: an entry's end is not a change
	before, after := NewSideList(base, never).signed, NewSideList(head, never).signed
	either := maps.Clone(before)
	maps.Copy(either, after)
	var all []verdict.PolicyChange
	for _, p := range slices.SortedFunc(maps.Keys(either), pair.compare) {
		was, now := before[p], after[p]
		c := verdict.PolicyChange{
			Kind: verdict.ChangedAllowance, RuleID: p.rule, File: p.file, Change: changeOf(was, now),
			Fields: fieldChanges(was, now), Effect: effectOf(was, now),
		}
		if was != nil {
			c.Before = was.AtMost
		}
		if now != nil {
			c.After = now.AtMost
		}
		if was == nil || now == nil || c.Before != c.After || c.Fields != nil {
			all = append(all, c)
		}
	}
	return all
}

// effectOf compares two limits, nil for none. A new "from" lets a file have what another one had.
func effectOf(before, after *Limit) verdict.Effect {
	was, now := cmp.Or(before, &Limit{}), cmp.Or(after, &Limit{})
	isMore := func(a, b *Limit) bool {
		return b.AtMost > a.AtMost || b.MayGrow && !a.MayGrow ||
			a.AtMost > 0 && b.AtMost > 0 && endsBefore(a.Until, b.Until)
	}
	switch more, less := isMore(was, now), isMore(now, was); {
	case more && less:
		return verdict.Both
	case more:
		return verdict.Weaker
	case after != nil && !slices.Equal(was.From, now.From):
		return verdict.Unknown
	case less:
		return verdict.Stronger
	}
	return verdict.Same
}

// changeOf names the change of a limit, nil for none: of several, the one that allows most, so that an exception, or a
// later end, is not called by a lower number.
func changeOf(before, after *Limit) string {
	switch {
	case after == nil:
		return Removed
	case before == nil && len(after.From) > 0:
		return Moved
	case before == nil:
		return Added
	case after.AtMost > before.AtMost:
		return Raised
	case after.MayGrow && !before.MayGrow:
		return verdict.Altered
	case endsBefore(before.Until, after.Until):
		return Extended
	case len(after.From) > 0 && !slices.Equal(after.From, before.From):
		return Moved
	case after.AtMost < before.AtMost:
		return Lowered
	case endsBefore(after.Until, before.Until):
		return Shortened
	}
	return verdict.Altered
}

// fieldChanges returns the keys whose values differ, without the number: for an added entry all except owner and
// reason, for a removed one none.
func fieldChanges(before, after *Limit) []verdict.FieldChange {
	if after == nil {
		return nil
	}
	was := cmp.Or(before, &Limit{})
	mayGrow := map[bool]string{true: "true"}
	all := policydiff.AddFieldChange(nil, "from", was.From, after.From)
	text := func(name, a, b string) { all = policydiff.AddFieldChange(all, name, []string{a}, []string{b}) }
	text("until", was.Until, after.Until)
	text("may_grow", mayGrow[was.MayGrow], mayGrow[after.MayGrow])
	if before != nil {
		text("owner", was.Owner, after.Owner)
		text("reason", was.Reason, after.Reason)
	}
	return all
}

// endsBefore reports whether the first of two last days is earlier; "" is never.
func endsBefore(a, b string) bool { return a != "" && (b == "" || a < b) }

// AffectedFiles returns the files that are part of a change because of their allowances: an entry was lowered, removed
// or ends earlier than at one of the merge bases, or is part of a move. They are in order.
func (b *List) AffectedFiles() []string {
	affected := map[string]bool{}
	for _, before := range b.mergeBases {
		for p, s := range before.signed {
			now := b.head.signed[p]
			if !s.Withdrawn() && (now == nil || now.AtMost < s.AtMost || endsBefore(now.Until, s.Until)) {
				affected[p.file] = true
			}
		}
	}
	for p := range b.groups {
		affected[p.file] = true
	}
	return slices.Sorted(maps.Keys(affected))
}
