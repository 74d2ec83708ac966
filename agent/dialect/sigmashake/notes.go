package sigmashake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
)

// maxTies and maxHidden are how many notes of their kind are listed; the rest is counted. The public packs,
// read as one set, have 26679 ties.
const (
	maxTies   = 20
	maxHidden = 20
)

// notes are the likely mistakes in the rules of a set: first of each rule by itself, then of two.
func notes(all []rule) []callrules.Note {
	var list []callrules.Note
	enabled := make([]*rule, 0, len(all))
	for i := range all {
		list = append(list, all[i].notes...)
		if !all[i].callRule.Disabled {
			enabled = append(enabled, &all[i])
		}
	}
	list = append(list, ties(enabled)...)
	return append(list, hidden(enabled)...)
}

// ties notes rules of one priority and target with different decisions: the names of files and the order of lines
// decide between them.
func ties(all []*rule) []callrules.Note {
	type place struct {
		priority int
		target   string
	}
	var places []place
	groups := map[place][]*rule{}
	for _, r := range all {
		at := place{r.callRule.Priority, r.target}
		if groups[at] == nil {
			places = append(places, at)
		}
		groups[at] = append(groups[at], r)
	}
	var list []callrules.Note
	var last callrules.Origin
	pairs := 0
	for _, at := range places {
		var before [3]int // rules of the place, by the rank of their effect
		for i, r := range groups[at] {
			rank := r.callRule.Effect.Rank()
			if others := i - before[rank]; others > 0 {
				pairs += others
				last = r.callRule.Origin
				for _, first := range groups[at][:i] {
					if first.callRule.Effect.Rank() != rank && len(list) < maxTies {
						list = append(list, callrules.Note{Origin: r.callRule.Origin, Text: fmt.Sprintf(
							"rule %q: priority %d and target %s are also those of %q in %s:%d, which decides "+
								"differently and comes first where both fire; give one of them another priority",
							r.callRule.ID, at.priority, at.target, first.callRule.ID, first.callRule.Origin.File,
							first.callRule.Origin.Line)})
					}
				}
			}
			before[rank]++
		}
	}
	return more(list, pairs, last, "pairs of rules of one priority and target that decide differently")
}

// more adds to the listed notes how many others there are.
func more(list []callrules.Note, all int, last callrules.Origin, what string) []callrules.Note {
	if all > len(list) {
		list = append(list,
			callrules.Note{Origin: last,
				Text: fmt.Sprintf("%s: %d more than are listed here; this is the last", what, all-len(list))})
	}
	return list
}

// hidden notes deny rules that never run because of a rule of higher priority: one that lets the call go on, has at
// least the same tools, and has the same conditions or one that always holds.
func hidden(all []*rule) []callrules.Note {
	by := map[string][]*rule{} // rules that let a call go on, by their conditions
	for _, r := range all {
		switch {
		case restrictive(r.callRule.Effect):
		case always(&r.condition):
			by[""] = append(by[""], r)
		default:
			key := canonical(&r.condition)
			by[key] = append(by[key], r)
		}
	}
	var list []callrules.Note
	var last callrules.Origin
	pairs := 0
	for _, r := range all {
		if r.callRule.Effect.Rank() < callrules.Deny.Rank() || len(by) == 0 {
			continue
		}
		for _, key := range []string{"", canonical(&r.condition)} {
			i := slices.IndexFunc(by[key], func(over *rule) bool {
				return over.callRule.Priority > r.callRule.Priority && (over.target == r.target ||
					over.target == "any" || over.target == "write" && r.target == "edit")
			})
			if i < 0 {
				continue
			}
			over := by[key][i]
			pairs++
			last = r.callRule.Origin
			if len(list) < maxHidden {
				list = append(list, callrules.Note{Origin: r.callRule.Origin, Text: fmt.Sprintf(
					"rule %q: it never fires, because %q in %s:%d has a higher priority (%d, this one %d), fires on "+
						"all that this one does, and lets the call go on; the first rule that fires decides",
					r.callRule.ID, over.callRule.ID, over.callRule.Origin.File, over.callRule.Origin.Line,
					over.callRule.Priority, r.callRule.Priority)})
			}
			break
		}
	}
	return more(list, pairs, last, "rules that never fire because of one of higher priority")
}

// always reports whether a condition holds for every call.
func always(c *callrules.Predicate) bool {
	never := func(c callrules.Predicate) bool { return !always(&c) }
	switch {
	case c.Test != nil && c.Test.Broken != "":
		return c.Test.IfBroken == callrules.Holds
	case c.Test != nil:
		return !c.Test.Not && c.Test.Text == "" &&
			(c.Test.Op == callrules.Contains || c.Test.Op == callrules.Begins || c.Test.Op == callrules.Ends)
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, func(c callrules.Predicate) bool { return always(&c) })
	}
	return !slices.ContainsFunc(c.All, never)
}

// canonical is the same text for conditions that are the same except for their order.
func canonical(c *callrules.Predicate) string {
	if c.Test != nil {
		return c.Test.Shown
	}
	parts, open := c.All, "all("
	if c.Any != nil {
		parts, open = c.Any, "any("
	}
	texts := make([]string, len(parts))
	for i := range parts {
		texts[i] = canonical(&parts[i])
	}
	slices.Sort(texts)
	return open + strings.Join(texts, "\x00") + ")"
}
