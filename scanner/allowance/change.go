package allowance

import (
	"cmp"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// A Change is what a change does to what is signed for a rule and a file.
type Change struct {
	Rule, File    string
	Before, After *Limit // nil: nothing
}

// What a change can do to an allowance.
const (
	Added     = "added"
	Removed   = "removed"
	Raised    = "raised"
	Lowered   = "lowered"
	Moved     = "moved" // its "from" is another one, and not empty
	Extended  = "extended"
	Shortened = "shortened"
	Altered   = "changed" // anything else
)

// PolicyChanges returns what the head's entries say otherwise than the base's, by rule, then file.
func PolicyChanges(base, head []Entry) []verdict.PolicyChange {
	const never = "" // no day has passed: that an entry ends is no change
	var all []verdict.PolicyChange
	for _, c := range Changes(NewSideList(base, never), NewSideList(head, never)) {
		p := verdict.PolicyChange{Kind: verdict.ChangedAllowance, RuleID: c.Rule, File: c.File, Change: c.What()}
		if c.Before != nil {
			p.Before = c.Before.AtMost
		}
		if c.After != nil {
			p.After = c.After.AtMost
		}
		for _, f := range c.Fields() {
			p.Fields = append(p.Fields, verdict.FieldChange{Name: f.Name, Removed: f.Removed, Added: f.Added})
		}
		all = append(all, p)
	}
	return all
}

// A Field is a key of an entry whose value differs.
type Field struct {
	Name           string
	Removed, Added []string
}

// Changes returns what differs between two lists, by rule, then file.
func Changes(before, after *SideList) []Change {
	var all []Change
	for p, s := range before.signed {
		if now := after.signed[p]; now == nil || !s.same(now) {
			all = append(all, Change{p.rule, p.file, s, now})
		}
	}
	for p, s := range after.signed {
		if before.signed[p] == nil {
			all = append(all, Change{p.rule, p.file, nil, s})
		}
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File))
	})
	return all
}

func (s *Limit) same(other *Limit) bool {
	return s.AtMost == other.AtMost && s.Until == other.Until && s.MayGrow == other.MayGrow && s.Owner == other.Owner &&
		s.Reason == other.Reason && slices.Equal(s.From, other.From)
}

// What says in a word what the change does: of several things the one that lets most be, so that an exception, or a
// later end, is not called by a number that is lower. The rest is in [Change.Fields], and in the numbers.
func (c *Change) What() string {
	before, after := c.Before, c.After
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
		return Altered
	case endsBefore(before.Until, after.Until):
		return Extended
	case len(after.From) > 0 && !slices.Equal(after.From, before.From):
		return Moved
	case after.AtMost < before.AtMost:
		return Lowered
	case endsBefore(after.Until, before.Until):
		return Shortened
	}
	return Altered
}

// Fields returns the keys whose values differ, besides the number: of an entry that is added those that it has, but for
// owner and reason, and none of one that is removed.
func (c *Change) Fields() []Field {
	names := []string{"from", "until", "may_grow"}
	switch {
	case c.After == nil:
		return nil
	case c.Before == nil:
		return new(Limit).fields(c.After, names)
	}
	return c.Before.fields(c.After, append(names, "owner", "reason"))
}

// fields returns those of some keys whose values differ.
func (s *Limit) fields(now *Limit, names []string) []Field {
	var all []Field
	for _, name := range names {
		before, after := s.field(name), now.field(name)
		if !slices.Equal(before, after) {
			all = append(all, Field{name, without(before, after), without(after, before)})
		}
	}
	return all
}

// field is the value of a key as a list, empty if the entry does not have it.
func (s *Limit) field(name string) []string {
	text := ""
	switch name {
	case "from":
		return s.From
	case "until":
		text = s.Until
	case "may_grow":
		if s.MayGrow {
			text = "true"
		}
	case "owner":
		text = s.Owner
	case "reason":
		text = s.Reason
	}
	if text == "" {
		return nil
	}
	return []string{text}
}

// without returns the items of a that b does not have.
func without(a, b []string) []string {
	var rest []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			rest = append(rest, s)
		}
	}
	return rest
}

// endsBefore reports whether the first of two last days is earlier; "" is none.
func endsBefore(a, b string) bool { return a != "" && (b == "" || a < b) }

// AffectedFiles returns the files that are part of a change because of their allowances: an entry was lowered, removed
// or ends earlier than at one of the merge bases, or is part of a move. They are in order.
func (b *List) AffectedFiles() []string {
	touched := map[string]bool{}
	for _, before := range b.mergeBases {
		for p, s := range before.signed {
			now := b.head.signed[p]
			if s.Withdrawn() {
				continue // which allowed nothing
			}
			if now == nil || now.AtMost < s.AtMost || endsBefore(now.Until, s.Until) {
				touched[p.file] = true
			}
		}
	}
	for p := range b.groups {
		touched[p.file] = true
	}
	files := make([]string, 0, len(touched))
	for f := range touched {
		files = append(files, f)
	}
	slices.Sort(files)
	return files
}
