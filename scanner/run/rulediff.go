package run

import (
	"slices"
	"strconv"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// Changes returns what the head's bundles change in the base's rules, by id: first in the base's rules, in their order,
// then the rules that the head adds. Without a bundle of the head, which is an error of the run, there is nothing.
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

// A FieldDiff is the keys in which two rules, or two allowances, differ.
type FieldDiff []verdict.FieldChange

// List compares two lists.
func (d *FieldDiff) List(name string, before, after []string) {
	if !slices.Equal(before, after) {
		without := func(a, b []string) []string {
			return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
		}
		d.add(name, without(before, after), without(after, before))
	}
}

func (d *FieldDiff) add(name string, removed, added []string) {
	*d = append(*d, verdict.FieldChange{Name: name, Removed: removed, Added: added})
}

// Text compares two texts, of which an empty one is none.
func (d *FieldDiff) Text(name, before, after string) {
	list := func(s string) []string { return slices.DeleteFunc([]string{s}, func(s string) bool { return s == "" }) }
	d.List(name, list(before), list(after))
}

// Flag compares two flags, of which one that is set has a value.
func (d *FieldDiff) Flag(name string, before, after bool, value string) {
	text := map[bool]string{true: value}
	d.Text(name, text[before], text[after])
}

func (d *FieldDiff) items(name string, before, after []rules.Item) {
	if !rules.SameItems(before, after) {
		without := func(a, b []rules.Item) []string {
			return rules.Names(slices.DeleteFunc(slices.Clone(a), func(i rules.Item) bool {
				return slices.ContainsFunc(b, i.Means)
			}))
		}
		d.add(name, without(before, after), without(after, before))
	}
}

// fieldChanges compares all that [rules.Rule.Same] does, in the order of a rule file.
func fieldChanges(before, after *rules.Rule) []verdict.FieldChange {
	var d FieldDiff
	patterns := "forbidden_patterns"
	if after.Type == rules.Invariant {
		patterns = "required_absent"
	}
	d.Text("type", string(before.Type), string(after.Type))
	d.Text("title", before.Title, after.Title)
	d.List("files", before.Files, after.Files)
	d.Flag("path_case", before.PathCase, after.PathCase, "ignore")
	d.Flag("unparsable", before.Unparsable, after.Unparsable, "text")
	if !before.SameExcludes(after) {
		d.List("exclude", before.Excludes(), after.Excludes())
	}
	d.items(patterns, before.Patterns, after.Patterns)
	d.items("required_patterns", before.Required, after.Required)
	d.List("forbidden_files", before.ForbiddenFiles, after.ForbiddenFiles)
	d.List("required_files", before.RequiredFiles, after.RequiredFiles)
	d.Text("message", before.Message, after.Message)
	d.Text("remediation", before.Remediation, after.Remediation)
	d.Text("docs_url", before.DocsURL, after.DocsURL)
	d.Text("owner", before.Owner, after.Owner)
	d.Text("severity", before.Severity, after.Severity)
	d.List("tags", before.Tags, after.Tags)
	d.Flag("allowances", before.NeverAllowed, after.NeverAllowed, "never")
	d.Text("redact", strconv.FormatBool(before.Redact), strconv.FormatBool(after.Redact))
	return d
}

// Note explains that only the base's version of a rule, by its index, forbids what it does at a path; "" if the head's
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
