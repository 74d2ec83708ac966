package run

import (
	"slices"
	"strconv"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// A ruleDiff compares the enforced rules of the two states of a change, by id.
type ruleDiff struct {
	base, head []rules.Rule // in the order of the sources
	byID       map[string][]*rules.Rule
	retired    map[string]bool // the head's deprecated rules
	compared   bool            // there is a base, if only one without a bundle, and the head has a bundle that loads
	staged     bool
}

func newRuleDiff(sources []RuleSource) *ruleDiff {
	d := &ruleDiff{byID: map[string][]*rules.Rule{}, retired: map[string]bool{}}
	hasBase := false
	for i := range sources {
		s := &sources[i]
		hasBase = hasBase || s.From == fromBase || s.From == fromBootstrap
		switch s.From {
		case fromBase:
			d.base = append(d.base, s.Bundle.Rules...)
		case fromHead, fromIndex, fromBootstrap:
			d.compared, d.staged = true, d.staged || s.From == fromIndex
			d.head = append(d.head, s.Bundle.Rules...)
			for k := range s.Bundle.Rules {
				r := &s.Bundle.Rules[k]
				d.byID[r.ID] = append(d.byID[r.ID], r)
			}
			for k := range s.Bundle.Deprecated {
				d.retired[s.Bundle.Deprecated[k].ID] = true
			}
		}
	}
	d.compared = d.compared && hasBase // not in a scan of all of a commit
	return d
}

// changes returns what the head changes in the rules.
func (d *ruleDiff) changes() []verdict.PolicyChange {
	if !d.compared {
		return nil
	}
	var all []verdict.PolicyChange
	add := func(id, change string, fields []verdict.FieldChange) {
		all = append(all, verdict.PolicyChange{Kind: verdict.ChangedRule, RuleID: id, Change: change, Fields: fields})
	}
	known := map[string]bool{}
	for i := range d.base {
		r := &d.base[i]
		now := d.byID[r.ID]
		known[r.ID] = true
		switch {
		case len(now) == 0 && d.retired[r.ID]:
			add(r.ID, verdict.Removed, []verdict.FieldChange{
				{Name: "type", Removed: []string{string(r.Type)}, Added: []string{"deprecated"}},
			})
		case len(now) == 0:
			add(r.ID, verdict.Removed, nil)
		case !slices.ContainsFunc(now, func(n *rules.Rule) bool { return r.Same(*n) }):
			add(r.ID, verdict.Altered, fieldChanges(r, now[0]))
		}
	}
	for i := range d.head {
		if id := d.head[i].ID; !known[id] {
			known[id] = true
			add(id, verdict.Added, nil)
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

// items compares the items of two rules, of which those that mean the same are equal, whatever their names.
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

// fieldChanges returns the keys in which two rules differ, in the order of a rule file: all that [rules.Rule.Same]
// compares.
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

// onlyBaseNote explains that only the base's version of a rule forbids what it does; "" if the head's does, too.
func (d *ruleDiff) onlyBaseNote(r *rules.Rule, path string, pattern rules.PatternRef) string {
	if !d.compared {
		return ""
	}
	whose, why, other, merge := "the base's", "the head does not enforce it", "the head's", "merge"
	if d.staged {
		whose, why, other, merge = "HEAD's", "what is staged does not enforce it", "the staged one", "commit"
	}
	for _, n := range d.byID[r.ID] {
		lacks := pattern.Without(r, n, path)
		if lacks == "" {
			return ""
		}
		why = other + " " + lacks
	}
	return "this is " + whose + " rule; " + why + ": " + merge + " the change to the bundle first"
}
