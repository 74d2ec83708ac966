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
		list(name, nonEmpty(a), nonEmpty(b))
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
	text("path_case", oneIf(before.PathCase, "ignore"), oneIf(after.PathCase, "ignore"))
	text("unparsable", oneIf(before.Unparsable, "text"), oneIf(after.Unparsable, "text"))
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
	text("allowances", oneIf(before.NeverAllowed, "never"), oneIf(after.NeverAllowed, "never"))
	text("redact", strconv.FormatBool(before.Redact), strconv.FormatBool(after.Redact))
	return all
}

// oneIf returns a value if it is set, else "".
func oneIf(set bool, value string) string {
	if set {
		return value
	}
	return ""
}

// nonEmpty returns a list of a text, empty if that is.
func nonEmpty(s string) []string {
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
