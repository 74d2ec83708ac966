package check

import (
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// An ItemState describes the search for an item of a rule in a file's content.
type ItemState struct {
	Undecided bool
	Encodings []string // for a literal or a regex: the encodings searched
	Format    string   // for a key: the format in which the file was parsed; "" if it was not
	Places    int      // for a key: the number of places checked; -1: the file was not parsed for it
	Note      string   // why a key was not checked; otherwise ""
	Why       []Reason // why it found nothing, and keys that it may mean
}

// Examined reports whether the content was read.
func (r *Result) Examined() bool { return r.examined }

// BOM returns the encoding of the content's byte order mark; "" without one.
func (r *Result) BOM() string { return r.shape.Mark() }

// Explain describes the search for an item of a rule that selects the file. index is the rule's in the bundle. The
// checker has [Checker.Explains].
func (r *Result) Explain(b *rules.Bundle, index int, ref rules.PatternRef) (s ItemState) {
	rule := &b.Rules[index]
	s.Places = -1
	required := ref.Of == rules.RequiredPattern
	item := ref.Item(rule)
	switch {
	case !r.examined:
		s.Undecided = true
	case required && r.File.Kind == worktree.Symlink:
		s.Note = "not asked of links"
	case !r.contains(index, b):
		s.Note = "not asked: the file has none of what the rule's containing lists"
		s.Why = r.whyNotContaining(rule)
	case item.OnlyUnparsable && !slices.Contains(r.keys.textual, index):
		s.Note = "not asked: the file can be parsed"
		for _, key := range slices.Concat(rule.Patterns, rule.Required) {
			if f, known := formatOf(key, r.File.Path); isKey(key) && known && slices.Contains(r.keys.parsed, f) {
				s.Note = "not asked: the file was parsed for " + key.InWords()
				break
			}
		}
	case item.Kind != rules.Key:
		at := r.Plan.engine.index[item]
		s.Encodings = r.Plan.engine.engine.Encodings(at, r.shape, required)
		if !slices.ContainsFunc(r.finds, func(f *match.Find) bool { return f.Pattern == at }) {
			s.Why = r.nearly[item] // nor in a variant of the file
		}
	case !r.asksKeys():
		s.Note = "not asked of links"
	default:
		f, known := formatOf(item, r.File.Path)
		switch {
		case known && slices.Contains(r.keys.parsed, f):
			ref := keyRef{item.Name, required}
			s.Format, s.Places = string(f), r.keys.places[ref]
			if _, elsewhere := r.notes[r.keys.finds[ref].find]; !elsewhere {
				s.Why = r.keys.why[ref]
			}
		case known && rule.Unparsable && slices.Contains(r.keys.textOnly, f):
			s.Note = "it cannot be parsed, and the rule says unparsable: text"
		default:
			s.Undecided = true
		}
	}
	if s.Undecided = s.Undecided || !r.Scanned && !r.OnlyKeysFailed && s.Note == ""; s.Undecided {
		s.Why = nil
	}
	return s
}

// whyNotContaining says of each item of a rule's containing that it is not found.
func (r *Result) whyNotContaining(rule *rules.Rule) (all []Reason) {
	for _, item := range rule.Containing {
		why := slices.Concat(r.nearly[item], r.keys.why[keyRef{item.Name, false}])
		if len(why) == 0 {
			why = []Reason{{Text: "not found"}}
		}
		for _, reason := range why {
			reason.Text = "containing " + item.InWords() + ": " + reason.Text
			all = append(all, reason)
		}
	}
	return all
}

// Present calls found with each required item, and each path of an "each", that occurs in a regular file read to its
// end. The checker has [Checker.Traces] or [ContentChecker.Traces].
func (r *Result) Present(b *rules.Bundle, found func(rule int, part rules.Part)) {
	if r.Plan == nil || !r.Scanned && !r.OnlyKeysFailed || r.File.Kind != worktree.Regular {
		return
	}
	var missing []int
	for _, l := range r.missing {
		missing = append(missing, l.missing...)
	}
	for _, rule := range r.Plan.Rules {
		if !r.contains(rule, b) {
			continue
		}
		for i, item := range b.Rules[rule].Required {
			part := rules.Part{Kind: rules.RequiredItem, Index: i}
			if item.Kind != rules.Key {
				if r.asks(rule, item) && !slices.Contains(missing, r.Plan.engine.index[item]) {
					found(rule, part)
				}
				continue
			}
			signs := r.keys.signs[item.Name]
			if signs.Met {
				found(rule, part)
			}
			for each, leads := range signs.Each {
				if leads {
					found(rule, rules.Part{Kind: rules.EachPath, Index: i, Path: each})
				}
			}
		}
	}
}

// Meant calls found with the keys that key patterns may mean. The checker has [Checker.Traces].
func (r *Result) Meant(b *rules.Bundle, found func(rule int, part rules.Part, key Reason)) {
	for ref, list := range r.keys.why {
		for _, rule := range r.Plan.keyed {
			kind, items := rules.PatternItem, b.Rules[rule].Patterns
			if ref.required {
				kind, items = rules.RequiredItem, b.Rules[rule].Required
			}
			i := slices.IndexFunc(items, func(item rules.Item) bool { return isKey(item) && item.Name == ref.name })
			if i < 0 {
				continue
			}
			for _, key := range list {
				found(rule, rules.Part{Kind: kind, Index: i}, key)
			}
		}
	}
}
