package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/verdict"
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
	if mistakes = append(mistakes, refusedOf(bundles)...); len(mistakes) == 0 {
		return nil
	}
	return mistakes
}

// Alone is [Together] without the bundles of the directories that "bundles" names. These may have any rule, so that
// entries for their rules are not checked.
func Alone(bundles []*Bundle) error {
	var globs []string
	known := map[string]bool{}
	for _, b := range bundles {
		globs = append(globs, b.Bundles...)
		for i := range b.Rules {
			known[b.Rules[i].ID] = true
		}
	}
	if len(globs) == 0 {
		return Together(bundles)
	}
	named := glob.Compile(globs)
	refused := slices.DeleteFunc(refusedOf(bundles), func(e *document.Error) bool {
		for i := range e.Rule {
			if e.Rule[i] == ':' && !known[e.Rule] && named.Match(verdict.RawPath(e.Rule[:i])) {
				return true
			}
		}
		return false
	})
	if mistakes := append(distinct(bundles), refused...); len(mistakes) > 0 {
		return mistakes
	}
	return nil
}

// refusedOf returns the mistakes of [CheckAllowances]. A run may lack the bundle that has the rule.
func refusedOf(bundles []*Bundle) document.Errors {
	mistakes, _ := CheckAllowances(bundles)
	for _, e := range mistakes {
		if e.Found == noSuchRule && !strings.HasPrefix(e.Fix, "if the directory") {
			e.Fix = "if another one has it, such as your organisation's, name that, too, with --policy or " +
				"POLICYSCAN_POLICY; else " + e.Fix
		}
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
					e := newError(document.CodeTwo, "", fmt.Sprintf("two bundles have a rule with this id, "+
						"number %d and number %d of --policy", other+1, i+1),
						"give each rule its own id; a prefix for each bundle helps")
					if b.Below != "" {
						e.Found = "the bundle of " + verdict.Quote(b.Below) + " has a rule with this id, too"
					}
					e.Rule = id
					mistakes = append(mistakes, e)
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
	return newError(document.CodeNoRules, "", "no bundle of --policy has an enforced rule", "write one in one of them")
}

// CheckAllowances compares the allowances of the bundles of a run with all of their rules. An entry is an error if its
// rule has "allowances: never" or is in no bundle; one of a directory's bundle was checked alone. With several bundles,
// a missing rule is only a note, since another bundle may have dropped it, and the entry allows nothing. Deprecated
// rules are fine. Of several entries for a rule, only the first is reported. notes has an element per bundle, of which
// some may be nil.
func CheckAllowances(bundles []*Bundle) (mistakes document.Errors, notes [][]document.Note) {
	var ids []string           // of the enforced rules
	never := map[string]bool{} // by id, deprecated rules included
	for _, b := range bundles {
		if b == nil {
			continue
		}
		for i := range b.Rules {
			ids = append(ids, b.Rules[i].ID)
			never[b.Rules[i].ID] = b.Rules[i].NeverAllowed
		}
		for i := range b.Deprecated {
			never[b.Deprecated[i].ID] = false
		}
	}
	notes = make([][]document.Note, len(bundles))
	ofTree := 0
	for _, b := range bundles {
		if b == nil || b.Below == "" {
			ofTree++
		}
	}
	for k, b := range bundles {
		if b == nil || b.Below != "" { // see [Bundle.CheckBelow]
			continue
		}
		several := ofTree > 1 || b.joined
		for _, e := range b.refusedAllowances(never, ids, several) {
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

const noSuchRule = "the bundle has no rule with this id"

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

// refusedAllowances returns the errors about the rules of the entries, in file order; of several entries for a rule
// only about the first.
func (b *Bundle) refusedAllowances(never map[string]bool, ids []string, several bool) (all document.Errors) {
	count := map[string]int{}
	for i := range b.Allowances {
		count[b.Allowances[i].Rule]++
	}
	for i := range b.Allowances {
		a := &b.Allowances[i]
		isNever, known := never[a.Rule]
		n := count[a.Rule]
		if known && !isNever || n == 0 {
			continue
		}
		count[a.Rule] = 0
		e := document.Error{
			Code: document.CodeValue, File: AllowancesFile, Rule: a.Rule,
			Found: noSuchRule, Fix: "remove the entry",
		}
		if n > 1 {
			e.Fix = fmt.Sprintf("remove the %d entries for it", n)
		}
		switch {
		case isNever:
			e.Found, e.Fix = `the rule says "allowances: never"`, e.Fix+", or that line of the rule"
		case several:
			e.Found = "no bundle of --policy has a rule with this id"
		}
		moved := -1
		if i := strings.LastIndexByte(a.Rule, ':'); i >= 0 {
			moved = slices.IndexFunc(ids, func(id string) bool { return strings.HasSuffix(id, a.Rule[i:]) })
		}
		if moved >= 0 && !isNever {
			e.Fix = fmt.Sprintf(`if the directory was moved, write %q, the new path in "file" and %q in "from", or %s`,
				ids[moved], a.File, e.Fix)
		} else if !isNever && len(all) < 10 { // comparing 10,000 rules and entries would take minutes
			if near := document.Nearest(a.Rule, ids); near != "" {
				e.Fix = fmt.Sprintf("write %q, or %s", near, e.Fix)
			}
		}
		at := document.Spot{Place: document.Place{Line: a.Line, Column: a.Column}}
		if i < len(b.spots) {
			at = b.spots[i].rule
		}
		all = append(all, at.Error(e))
	}
	return all
}
