package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

// Notes returns what in a bundle is often a mistake, in the order of errors. What is only in the YAML, such as
// missing quotes, is known if Load read the bundle.
func Notes(b *Bundle) []document.Note {
	notes := slices.Clone(b.notes)
	budget := maxComparisons
	for _, list := range [][]Rule{b.Rules, b.Deprecated} {
		for i := range list {
			notes = append(notes, ruleNotes(&list[i], &budget)...)
		}
	}
	order := []string{BoundariesFile, InvariantsFile, DeprecatedFile}
	slices.SortStableFunc(notes, func(a, b document.Note) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.File), slices.Index(order, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return notes
}

// maxComparisons is how often two patterns of a rule are compared for one bundle; notes are
// help, and must not take a minute for a bundle of 100,000 patterns.
const maxComparisons = 2_000_000

func ruleNotes(r *Rule, budget *int) []document.Note {
	var notes []document.Note
	at := &r.places
	note := func(places []document.Place, i int, text string) {
		n := document.Note{File: r.File, Rule: r.ID, Text: text}
		if i < len(places) {
			n.Line, n.Column = places[i].Line, places[i].Column
		}
		notes = append(notes, n)
	}
	for i, g := range r.Files {
		for _, text := range glob.Notes(g) {
			note(at.files, i, text)
		}
	}
	for i, g := range r.Exclude {
		for _, text := range glob.Notes(g) {
			note(at.exclude, i, text)
		}
	}
	if glob.Covers(r.Exclude, r.Files) {
		note(at.exclude, 0, `"exclude" removes every file that "files" selects, so the rule checks no file; `+
			`narrow "exclude", or remove the rule`)
	}
	for i, item := range r.Patterns {
		p := item.Text
		for _, text := range patternNotes(r, p) {
			note(at.patterns, i, text)
		}
		if !norm.NFC.IsNormalString(p) {
			note(at.patterns, i, fmt.Sprintf("the pattern %s is not in Unicode normal form C, in which most text "+
				"is written; that form is %s", document.Quoted(p), document.Quoted(norm.NFC.String(p))))
		}
		for _, shorter := range r.Patterns {
			if *budget--; *budget < 0 {
				break
			}
			if len(shorter.Text) < len(p) && strings.Contains(p, shorter.Text) {
				note(at.patterns, i, fmt.Sprintf("the pattern %s contains the pattern %s of the same rule: any "+
					"file with the longer one has the shorter one", document.Quoted(p), document.Quoted(shorter.Text)))
				break
			}
		}
	}
	return notes
}
