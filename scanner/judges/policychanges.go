package judges

import (
	"slices"
	"strconv"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// Where a judge's bundle is from, in the words of verdict.Policy, if git's objects contain it.
const (
	fromBase      = "base"      // the state before the change
	fromHead      = "head"      // the commit after it
	fromIndex     = "index"     // what is staged
	fromBootstrap = "bootstrap" // the state after it, where the one before has no bundle
	fromCommit    = "commit"    // one that a person names
)

// sides are the enforced rules of the two states of a change, by id.
type sides struct {
	base, head []rules.Rule // in the order of the judges
	byID       map[string][]*rules.Rule
	retired    map[string]bool // the head's deprecated rules
	signed     signed
	compared   bool // there is a base, or none that has a bundle, and the head has a bundle that loads
	staged     bool
}

func newSides(judges []Judge) *sides {
	s := &sides{byID: map[string][]*rules.Rule{}, retired: map[string]bool{}}
	based := false
	for _, j := range judges {
		s.signed.add(&j)
		based = based || j.From == fromBase || j.From == fromBootstrap
		switch j.From {
		case fromBase:
			s.base = append(s.base, j.Bundle.Rules...)
		case fromHead, fromIndex, fromBootstrap:
			s.compared, s.staged = true, s.staged || j.From == fromIndex
			s.head = append(s.head, j.Bundle.Rules...)
			for i := range j.Bundle.Rules {
				r := &j.Bundle.Rules[i]
				s.byID[r.ID] = append(s.byID[r.ID], r)
			}
			for i := range j.Bundle.Deprecated {
				s.retired[j.Bundle.Deprecated[i].ID] = true
			}
		}
	}
	s.compared = s.compared && based // not in a scan of all of a commit
	return s
}

// changes is [Set.Changes].
func (s *sides) changes() []verdict.PolicyChange {
	if !s.compared {
		return nil
	}
	var all []verdict.PolicyChange
	add := func(id, change string, fields []verdict.FieldChange) {
		all = append(all, verdict.PolicyChange{Kind: verdict.ChangedRule, RuleID: id, Change: change, Fields: fields})
	}
	known := map[string]bool{}
	for i := range s.base {
		r := &s.base[i]
		now := s.byID[r.ID]
		known[r.ID] = true
		switch {
		case len(now) == 0 && s.retired[r.ID]:
			add(r.ID, verdict.Removed, []verdict.FieldChange{
				{Name: "type", Removed: []string{string(r.Type)}, Added: []string{"deprecated"}},
			})
		case len(now) == 0:
			add(r.ID, verdict.Removed, nil)
		case !slices.ContainsFunc(now, func(n *rules.Rule) bool { return r.Same(*n) }):
			add(r.ID, verdict.Altered, fieldChanges(r, now[0]))
		}
	}
	for i := range s.head {
		if id := s.head[i].ID; !known[id] {
			known[id] = true
			add(id, verdict.Added, nil)
		}
	}
	return append(all, s.signed.changes()...)
}

// fieldChanges returns the keys in which two rules differ, in the order of a rule file: all that [rules.Rule.Same]
// compares.
func fieldChanges(before, after *rules.Rule) []verdict.FieldChange {
	var all []verdict.FieldChange
	list := func(name string, a, b []string) {
		if !slices.Equal(a, b) {
			all = append(all, verdict.FieldChange{Name: name, Removed: without(a, b), Added: without(b, a)})
		}
	}
	text := func(name, a, b string) {
		list(name, given(a), given(b))
	}
	items := func(name string, a, b []rules.Item) {
		if !rules.SameItems(a, b) {
			all = append(all, verdict.FieldChange{
				Name: name, Removed: rules.Names(itemsWithout(a, b)), Added: rules.Names(itemsWithout(b, a)),
			})
		}
	}
	patterns := "forbidden_patterns"
	if after.Type == rules.Invariant {
		patterns = "required_absent"
	}
	text("type", string(before.Type), string(after.Type))
	text("title", before.Title, after.Title)
	list("files", before.Files, after.Files)
	text("path_case", pathCase(before), pathCase(after))
	text("unparsable", unparsable(before), unparsable(after))
	if !before.SameExcludes(after) {
		list("exclude", before.Excludes(), after.Excludes())
	}
	items(patterns, before.Patterns, after.Patterns)
	items("required_patterns", before.Required, after.Required)
	list("forbidden_files", before.ForbiddenFiles, after.ForbiddenFiles)
	list("required_files", before.RequiredFiles, after.RequiredFiles)
	text("message", before.Message, after.Message)
	text("remediation", before.Remediation, after.Remediation)
	text("docs_url", before.DocsURL, after.DocsURL)
	text("owner", before.Owner, after.Owner)
	text("severity", before.Severity, after.Severity)
	list("tags", before.Tags, after.Tags)
	text("allowances", allowances(before), allowances(after))
	text("redact", strconv.FormatBool(before.Redact), strconv.FormatBool(after.Redact))
	return all
}

// unparsable is the value of that key.
func unparsable(r *rules.Rule) string {
	if r.Unparsable {
		return "text"
	}
	return ""
}

// allowances is the value of that key.
func allowances(r *rules.Rule) string {
	if r.NeverAllowed {
		return "never"
	}
	return ""
}

// pathCase is the value of path_case.
func pathCase(r *rules.Rule) string {
	if r.PathCase {
		return "ignore"
	}
	return ""
}

func given(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
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

// itemsWithout returns the items of a that b does not have, by any name.
func itemsWithout(a, b []rules.Item) []rules.Item {
	return slices.DeleteFunc(slices.Clone(a), func(i rules.Item) bool { return slices.ContainsFunc(b, i.Means) })
}

// baseAlone says why a violation of a base's rule is one by that rule alone; "" if the head's bundle has it, too.
func (s *sides) baseAlone(r *rules.Rule, path string, ask rules.PatternRef) string {
	if !s.compared {
		return ""
	}
	whose, why, other, merge := "the base's", "the head does not enforce it", "the head's", "merge"
	if s.staged {
		whose, why, other, merge = "HEAD's", "what is staged does not enforce it", "the staged one", "commit"
	}
	for _, n := range s.byID[r.ID] {
		lacks := ask.Without(r, n, path)
		if lacks == "" {
			return ""
		}
		why = other + " " + lacks
	}
	return "this is " + whose + " rule; " + why + ": " + merge + " the change to the bundle first"
}
