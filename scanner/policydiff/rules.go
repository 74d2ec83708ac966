// Package policydiff compares the rules of two bundles: which changed, in which keys, and with which [verdict.Effect].
//
// A bundle is compared by the files that it refuses; one that cannot be decided counts as refused. Only [contains]
// proves anything, from the form of two rules: the same items or more, globs that cover the others, fewer excludes.
// Everything else is found by trying: a search makes files from the examples, items and globs of both versions, and
// check.File's checker says which of them each version refuses. So a witness is never wrong, and an effect without one
// is unknown.
//
// The search tries a fixed number of files, so that equal bundles have equal results; it knows regular files only, not
// links, submodules and encodings.
package policydiff

import (
	"slices"
	"strconv"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// Rules returns the changes to the rules of the bundles before, by id: first these rules, in their order, then the new
// ones.
func Rules(before, after []*rules.Bundle) []verdict.PolicyChange {
	var all []verdict.PolicyChange
	known, ofAfter := map[string]bool{}, map[string][]*rules.Rule{}
	for _, b := range after {
		for i := range b.Rules {
			ofAfter[b.Rules[i].ID] = append(ofAfter[b.Rules[i].ID], &b.Rules[i])
		}
	}
	c := newComparison(before, after)
	add := func(id, change string, r, now *rules.Rule, fields []verdict.FieldChange) {
		known[id] = true
		effect, witness := c.effect(r, now)
		all = append(all, verdict.PolicyChange{
			Kind: verdict.ChangedRule, RuleID: id, Change: change, Fields: fields, Effect: effect, Witness: witness,
		})
	}
	isRetired := func(id string) bool {
		return slices.ContainsFunc(after, func(b *rules.Bundle) bool {
			return slices.ContainsFunc(b.Deprecated, func(r rules.Rule) bool { return r.ID == id })
		})
	}
	for _, b := range before {
		for i := range b.Rules {
			r := &b.Rules[i]
			now := ofAfter[r.ID]
			known[r.ID] = true
			switch {
			case len(now) == 0 && isRetired(r.ID):
				add(r.ID, verdict.Removed, r, nil, []verdict.FieldChange{
					{Name: "type", Removed: []string{string(r.Type)}, Added: []string{"deprecated"}},
				})
			case len(now) == 0:
				add(r.ID, verdict.Removed, r, nil, nil)
			case !slices.ContainsFunc(now, func(n *rules.Rule) bool { return r.Same(*n) }):
				add(r.ID, verdict.Altered, r, now[0], fieldChanges(r, now[0]))
			}
		}
	}
	for _, b := range after {
		for i := range b.Rules {
			if id := b.Rules[i].ID; !known[id] {
				add(id, verdict.Added, nil, &b.Rules[i], nil)
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
