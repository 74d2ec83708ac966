package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

// Notes returns a bundle's lint notes, in the order of errors. Notes on the YAML itself, such as missing quotes, need
// a bundle that Load read.
func Notes(b *Bundle) []document.Note {
	b = cmp.Or(b.plain, b)
	notes := slices.Clone(b.notes)
	n := noter{budget: maxComparisons, known: map[globOf][]string{}}
	for _, list := range [][]Rule{b.Rules, b.Deprecated} {
		for i := range list {
			notes = append(notes, n.rule(&list[i])...)
		}
	}
	notes = append(notes, b.allowanceNotes()...)
	slices.SortStableFunc(notes, func(a, b document.Note) int {
		return cmp.Or(compareFiles(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return notes
}

// maxComparisons limits the comparisons of two patterns of a rule per bundle, to a few milliseconds: each scan prints
// the notes.
const maxComparisons = 300_000

type noter struct {
	budget int                 // remaining comparisons
	known  map[globOf][]string // the notes of each glob, since a bundle may repeat a glob in all of its rules
}

// A globOf is a glob and the version of its file.
type globOf struct {
	glob string
	in02 bool
}

func (n *noter) glob(g string, in02 bool) []string {
	at := globOf{g, in02}
	notes, known := n.known[at]
	if !known {
		notes = glob.NotesPlain(g)
		if in02 {
			notes = glob.Notes(g)
		}
		n.known[at] = notes
	}
	return notes
}

func (n *noter) rule(r *Rule) []document.Note {
	var notes []document.Note
	note := func(kind PartKind, i int, text string) {
		at := r.at.Place
		if places := r.places[kind]; i < len(places) {
			at = places[i]
		}
		notes = append(notes, document.Note{File: r.File, Line: at.Line, Column: at.Column, Rule: r.ID, Text: text})
	}
	for _, kind := range []PartKind{FilesGlob, ExcludeGlob, ForbiddenFilesGlob, RequiredFilesGlob} {
		for i, g := range r.globs(kind) {
			for _, text := range n.glob(g, r.in02) {
				note(kind, i, text)
			}
		}
	}
	for _, text := range excludeNotes(r) {
		note(ExcludeGlob, 0, text)
	}
	for i, item := range r.Patterns {
		for _, text := range itemNotes(r, item) {
			note(PatternItem, i, text)
		}
		if item.Spaces || item.IgnoreCase || item.Kind != Text {
			continue
		}
		for _, shorter := range r.Patterns {
			if n.budget--; n.budget < 0 {
				break
			}
			if len(shorter.Text) < len(item.Text) && shorter.IsPlain() && strings.Contains(item.Text, shorter.Text) {
				note(PatternItem, i, fmt.Sprintf("the pattern %s contains the pattern %s of the same rule: any "+
					"file with the longer one has the shorter one", shownText(item.Text), shownText(shorter.Text)))
				break
			}
		}
	}
	if len(r.Containing) > 0 {
		note(WholeRule, 0, "whoever can edit what \"containing\" looks for can switch the rule off for a file")
	}
	for i, item := range r.Required {
		for _, text := range slices.Concat(itemNotes(r, item), eachNotes(item)) {
			note(RequiredItem, i, text)
		}
	}
	return notes
}

// excludeNotes notes a rule that excludes all of its files. It does not check globs that ignore case.
func excludeNotes(r *Rule) []string {
	var notes []string
	for _, list := range []struct {
		key   string
		globs []string
	}{{"files", r.Files}, {forbiddenFilesKey, r.ForbiddenFiles}} {
		if len(list.globs) == 0 || r.PathCase {
			continue
		}
		switch {
		case glob.Covers(r.Exclude, list.globs):
			notes = append(notes, fmt.Sprintf(`"exclude" removes every file that %q selects, so the rule checks no `+
				`file; narrow "exclude", or remove the rule`, list.key))
		case len(r.FileExclude) > 0 && glob.Covers(r.Excludes(), list.globs):
			notes = append(notes, fmt.Sprintf(`the "exclude" of the file, with that of the rule, removes every file `+
				`that %q selects, so the rule checks no file; narrow one of them, or remove the rule`, list.key))
		}
	}
	return notes
}
