package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/regex"
)

// A Part is a rule, or something in it that can be of no use: a glob, an item, or a path of an item's "each".
type Part struct {
	Kind  PartKind
	Index int // in the rule's list of that kind: of an EachPath that of the item in Required
	Path  int // of an EachPath: in the item's Each
}

// PartKind says which list of a rule a [Part] is in.
type PartKind uint8

// The kinds of part. That of the zero Part is the rule itself.
const (
	WholeRule PartKind = iota
	FilesGlob
	ExcludeGlob
	FileExcludeGlob // of FileExclude: all rules of the file have it
	PatternItem
	RequiredItem
	EachPath
	ForbiddenFilesGlob
	RequiredFilesGlob
	partKinds
)

// Glob returns the glob that a part is; "" if it is none.
func (r *Rule) Glob(p Part) string {
	if list := r.globs(p.Kind); list != nil {
		return list[p.Index]
	}
	return ""
}

// globs returns the rule's globs of a kind; nil if the parts of that kind are not globs.
func (r *Rule) globs(kind PartKind) []string {
	switch kind {
	case FilesGlob:
		return r.Files
	case ExcludeGlob:
		return r.Exclude
	case FileExcludeGlob:
		return r.FileExclude
	case ForbiddenFilesGlob:
		return r.ForbiddenFiles
	case RequiredFilesGlob:
		return r.RequiredFiles
	}
	return nil
}

// PartMistake returns an error about a part of a rule that loaded, at its place. That of the exclude of a file is
// not about the rule.
func (r *Rule) PartMistake(p Part, found, fix string) *document.Error {
	e := document.Error{File: r.File, Rule: r.ID, Found: found, Fix: fix}
	at, places, index := r.at.Place, r.places[p.Kind], p.Index
	switch p.Kind {
	case FileExcludeGlob:
		e.Rule = ""
	case EachPath:
		places, index = r.each[r.Required[p.Index].Key], p.Path
	}
	if index < len(places) {
		at = places[index]
	}
	return document.Spot{Place: at}.Error(e)
}

// SortMistakes puts errors about a bundle in the order of its files, in which all errors are, then of their places.
func SortMistakes(list document.Errors) {
	slices.SortStableFunc(list, func(a, b *document.Error) int {
		return cmp.Or(compareFiles(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// compareFiles puts first those whose names say what they hold, then the others by name.
func compareFiles(a, b string) int {
	order := func(file string) int {
		if i := slices.Index(namedFiles(), file); i >= 0 {
			return i
		}
		return len(namedFiles())
	}
	return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b))
}

// Suspect says what in a part that seems to be of no use is often a mistake, where it is seen: a clause, or "".
func (r *Rule) Suspect(p Part) string {
	item := Item{Kind: Key}
	switch p.Kind {
	case PatternItem:
		item = r.Patterns[p.Index]
	case RequiredItem:
		item = r.Required[p.Index]
	}
	if item.Kind != Text {
		return ""
	}
	text := item.Text
	const escaped = "\x00\a\b\x1b\f\v" // by one letter after a backslash in double quotes
	if i := strings.IndexAny(text, escaped); i >= 0 {
		letter := "0abefv"[strings.IndexByte(escaped, text[i])]
		return fmt.Sprintf(`it has the control character U+%04X, which is what \%c means in double quotes; `+
			"write the text in single quotes", text[i], letter)
	}
	_, err := regex.Compile(text)
	if err != nil || !strings.Contains(text, `\`) && expressionIn(text) == "" && !slashed().MatchString(text) {
		return ""
	}
	if r.in02 {
		return "if it is a regular expression, write it under regex"
	}
	return "a pattern is the text itself, not a regular expression"
}

// Shown shows an item within a message: a string in quotes, a mapping as it is named; what is very long is cut.
func Shown(item Item) string {
	if item.Kind == Regex {
		return "a match of " + shownItem(item)
	}
	return shownItem(item)
}
