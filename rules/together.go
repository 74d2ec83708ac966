package rules

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
)

// Join returns one bundle with the rules and allowances of several: the boundaries of all in the order of the bundles,
// then their invariants. A single bundle is returned as it is. No id may be in two of them; see [Together].
func Join(bundles ...*Bundle) *Bundle {
	if len(bundles) == 1 {
		return bundles[0]
	}
	var enforced, deprecated []Rule
	for _, t := range []Type{Boundary, Invariant} {
		for _, b := range bundles {
			for i := range b.Rules {
				if b.Rules[i].Type == t {
					enforced = append(enforced, b.Rules[i])
				}
			}
		}
	}
	for _, b := range bundles {
		deprecated = append(deprecated, b.Deprecated...)
	}
	all := New(enforced, deprecated)
	all.joined = true
	for _, b := range bundles {
		all.Allowances, all.spots = append(all.Allowances, b.Allowances...), append(all.spots, b.spots...)
	}
	return all
}

// Together fails if the loaded bundles of a run cannot be enforced together. A rule's id may be in only one of them,
// deprecated rules included; one of them must have an enforced rule; and [CheckAllowances] must pass.
//
// Errors number the bundles in the order given, from 1: their names would make the verdict depend on the current
// directory. A nil bundle is ignored.
func Together(bundles []*Bundle) error {
	mistakes := distinct(bundles)
	if none := enforced(bundles); none != nil {
		return append(mistakes, none) // without rules, no allowance can be valid
	}
	refused, _ := CheckAllowances(bundles)
	if mistakes = append(mistakes, refused...); len(mistakes) == 0 {
		return nil
	}
	return mistakes
}

func distinct(bundles []*Bundle) document.Errors {
	var mistakes document.Errors
	first := map[string]int{} // the bundle of each id
	for i, b := range bundles {
		if b == nil || len(bundles) == 1 {
			continue
		}
		for _, list := range [][]Rule{b.Rules, b.Deprecated} {
			for k := range list {
				id := list[k].ID
				other, taken := first[id]
				if !taken {
					first[id] = i
				} else if other != i {
					mistakes = append(mistakes, &document.Error{
						Code: document.CodeTwo, Rule: id,
						Found: fmt.Sprintf("two bundles have a rule with this id, number %d and number %d of --policy",
							other+1, i+1),
						Fix: "give each rule its own id; a prefix for each bundle helps",
					})
				}
			}
		}
	}
	return mistakes
}

// enforced refuses bundles without any enforced rule. [Load] already refuses those of 0.1.
func enforced(bundles []*Bundle) *document.Error {
	isBundle := func(b *Bundle) bool { return b != nil }
	hasRules := func(b *Bundle) bool { return b != nil && len(b.Rules) > 0 }
	switch {
	case !slices.ContainsFunc(bundles, isBundle), slices.ContainsFunc(bundles, hasRules):
		return nil
	case len(bundles) == 1:
		found := "the bundle has no enforced rule"
		if len(bundles[0].Allowances) > 0 {
			found = "the bundle has allowances and no enforced rule"
		}
		return noRules(found,
			"name the bundle that has the rules with another --policy, or write a rule in "+BoundariesFile+" or "+
				InvariantsFile)
	}
	return &document.Error{
		Code:  document.CodeNoRules,
		Found: "no bundle of --policy has an enforced rule", Fix: "write one in one of them",
	}
}

// CheckAllowances compares the allowances of the bundles of a run with all of their rules. An entry is an error if its
// rule has "allowances: never" or is in no bundle. With several bundles, a missing rule is only a note, since another
// bundle may have dropped it, and the entry allows nothing. Deprecated rules are fine. Of several entries for a rule,
// only the first is reported. notes has an element per bundle, of which some may be nil.
func CheckAllowances(bundles []*Bundle) (mistakes document.Errors, notes [][]document.Note) {
	c := allowanceCheck{never: map[string]bool{}, budget: 20_000}
	for _, b := range bundles {
		if b == nil {
			continue
		}
		for i := range b.Rules {
			c.ids = append(c.ids, b.Rules[i].ID)
			c.never[b.Rules[i].ID] = b.Rules[i].NeverAllowed
		}
		for i := range b.Deprecated {
			c.never[b.Deprecated[i].ID] = false
		}
	}
	notes = make([][]document.Note, len(bundles))
	for k, b := range bundles {
		if b == nil {
			continue
		}
		several := len(bundles) > 1 || b.joined
		for _, e := range c.refused(b, several) {
			if several {
				notes[k] = append(notes[k], document.Note{
					File: e.File, Line: e.Line, Column: e.Column, Rule: e.Rule,
					Text: e.Found + ", so nothing is allowed; " + e.Fix,
				})
			} else {
				mistakes = append(mistakes, e)
			}
		}
	}
	return mistakes, notes
}

// AllowanceNote returns a note on entry i of Allowances.
func (b *Bundle) AllowanceNote(i int, text string) document.Note {
	a := &b.Allowances[i]
	n := document.Note{File: AllowancesFile, Line: a.Line, Column: a.Column, Rule: a.Rule, Text: text}
	if i < len(b.spots) {
		n.Line, n.Column = b.spots[i].file.Line, b.spots[i].file.Column
	}
	return n
}

// allowanceNotes returns the lint notes about the entries alone.
func (b *Bundle) allowanceNotes() []document.Note {
	var notes []document.Note
	for i, a := range b.Allowances {
		if !a.MayGrow || len(a.From) == 0 {
			continue
		}
		n := b.AllowanceNote(i, `"from" does nothing next to "may_grow": an exception does not move with its file; `+
			`remove "from"`)
		if i < len(b.spots) {
			n.Line, n.Column = b.spots[i].from.Line, b.spots[i].from.Column
		}
		notes = append(notes, n)
	}
	return notes
}

type allowanceCheck struct {
	never  map[string]bool // per rule, deprecated ones included
	ids    []string        // of the enforced rules
	budget int             // remaining comparisons of ids: 10,000 rules and entries would take minutes
}

// refused returns the errors about the rules of a bundle's entries, in file order.
func (c *allowanceCheck) refused(b *Bundle, several bool) document.Errors {
	var order []int // the first entry of each rule
	count := map[string]int{}
	for i := range b.Allowances {
		id := b.Allowances[i].Rule
		if never, known := c.never[id]; known && !never {
			continue
		}
		if count[id]++; count[id] == 1 {
			order = append(order, i)
		}
	}
	var all document.Errors
	for _, i := range order {
		if len(all) == document.MaxErrors {
			return append(all, &document.Error{
				Code: document.CodeLimit, File: AllowancesFile, Line: b.Allowances[i].Line,
				Found: fmt.Sprintf("more than %d mistakes", document.MaxErrors), Fix: "fix the others first",
			})
		}
		id, entries := b.Allowances[i].Rule, "the entry"
		e := document.Error{Code: document.CodeValue, File: AllowancesFile, Rule: id}
		if count[id] > 1 {
			entries = fmt.Sprintf("the %d entries for it", count[id])
		}
		switch {
		case c.never[id]:
			e.Found, e.Fix = `the rule says "allowances: never"`, "remove "+entries+", or that line of the rule"
		case several:
			e.Found, e.Fix = "no bundle of --policy has a rule with this id", c.write(id)+"remove "+entries
		default:
			e.Found, e.Fix = "the bundle has no rule with this id", c.write(id)+"remove "+entries
		}
		at := document.Spot{Place: document.Place{Line: b.Allowances[i].Line, Column: b.Allowances[i].Column}}
		if i < len(b.spots) {
			at = b.spots[i].rule
		}
		all = append(all, at.Error(e))
	}
	return all
}

func (c *allowanceCheck) write(id string) string {
	if c.budget -= len(c.ids); c.budget >= 0 {
		if near := document.Nearest(id, c.ids); near != "" {
			return fmt.Sprintf("write %q, or ", near)
		}
	}
	return ""
}
