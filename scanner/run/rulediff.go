package run

import (
	"slices"
	"strconv"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// Changes returns the head's changes to the base's rules, by id: first the base's rules, in their order, then the new
// ones. Without a bundle of the head, which is an error of the run, the list is empty.
func (s *RuleSet) Changes() []verdict.PolicyChange {
	if !s.IsCompared() {
		return nil
	}
	var all []verdict.PolicyChange
	known := map[string]bool{}
	add := func(id, change string, fields []verdict.FieldChange) {
		known[id] = true
		all = append(all, verdict.PolicyChange{Kind: verdict.ChangedRule, RuleID: id, Change: change, Fields: fields})
	}
	head := s.own(ruleSides{head: true})
	isRetired := func(id string) bool {
		return slices.ContainsFunc(head, func(b *rules.Bundle) bool {
			return slices.ContainsFunc(b.Deprecated, func(r rules.Rule) bool { return r.ID == id })
		})
	}
	for _, b := range s.own(ruleSides{base: true}) {
		for i := range b.Rules {
			r := &b.Rules[i]
			now := s.ofHead[r.ID]
			known[r.ID] = true
			switch {
			case len(now) == 0 && isRetired(r.ID):
				add(r.ID, verdict.Removed, []verdict.FieldChange{
					{Name: "type", Removed: []string{string(r.Type)}, Added: []string{"deprecated"}},
				})
			case len(now) == 0:
				add(r.ID, verdict.Removed, nil)
			case !slices.ContainsFunc(now, func(n *rules.Rule) bool { return r.Same(*n) }):
				add(r.ID, verdict.Altered, fieldChanges(r, now[0]))
			}
		}
	}
	for _, b := range head {
		for i := range b.Rules {
			if id := b.Rules[i].ID; !known[id] {
				add(id, verdict.Added, nil)
			}
		}
	}
	return all
}

// AddFieldChange adds a key whose values differ in two rules, or in two allowances. "" is no value.
func AddFieldChange(changes []verdict.FieldChange, name string, before, after []string) []verdict.FieldChange {
	if slices.Equal(before, after) {
		return changes
	}
	without := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return s == "" || slices.Contains(b, s) })
	}
	return append(changes, verdict.FieldChange{
		Name: name, Removed: without(before, after), Added: without(after, before),
	})
}

// fieldChanges compares the same fields as [rules.Rule.Same], in the order of a rule file.
func fieldChanges(before, after *rules.Rule) []verdict.FieldChange {
	var all []verdict.FieldChange
	list := func(name string, a, b []string) { all = AddFieldChange(all, name, a, b) }
	text := func(name, a, b string) { list(name, []string{a}, []string{b}) }
	flag := func(name string, a, b bool, value string) {
		set := map[bool]string{true: value}
		text(name, set[a], set[b])
	}
	items := func(name string, a, b []rules.Item) { // equal in meaning, whatever their names
		if !rules.SameItems(a, b) {
			without := func(a, b []rules.Item) []string {
				return rules.Names(slices.DeleteFunc(slices.Clone(a), func(i rules.Item) bool {
					return slices.ContainsFunc(b, i.Means)
				}))
			}
			all = append(all, verdict.FieldChange{Name: name, Removed: without(a, b), Added: without(b, a)})
		}
	}
	patterns := "forbidden_patterns"
	if after.Type == rules.Invariant {
		patterns = "required_absent"
	}
	text("type", string(before.Type), string(after.Type))
	text("title", before.Title, after.Title)
	list("files", before.Files, after.Files)
	flag("path_case", before.PathCase, after.PathCase, "ignore")
	flag("unparsable", before.Unparsable, after.Unparsable, "text")
	if !before.SameExcludes(after) {
		list("exclude", before.Excludes(), after.Excludes())
	}
	items("containing", before.Containing, after.Containing)
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
	flag("allowances", before.NeverAllowed, after.NeverAllowed, "never")
	text("redact", strconv.FormatBool(before.Redact), strconv.FormatBool(after.Redact))
	return all
}

// Note explains that only the base's version of a rule, by its index, forbids something at a path; "" if the head's
// does, too.
func (s *RuleSet) Note(rule int, pattern rules.PatternRef, path string) string {
	if s.From[rule] != fromBase || !s.IsCompared() {
		return ""
	}
	whose, why, other, merge := "the base's", "the head does not enforce it", "the head's", "merge"
	if s.has(fromIndex) {
		whose, why, other, merge = "HEAD's", "what is staged does not enforce it", "the staged one", "commit"
	}
	r := &s.Bundle.Rules[rule]
	for _, n := range s.ofHead[r.ID] {
		lacks := pattern.Without(r, n, path)
		if lacks == "" {
			return ""
		}
		why = other + " " + lacks
	}
	return "this is " + whose + " rule; " + why + ": " + merge + " the change to the bundle first"
}
