package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/verdict"
)

// A Part is a rule, or a part of it that can be dead: a glob, an item, or a path of an item's "each".
type Part struct {
	Kind  PartKind
	Index int // in the rule's list of that kind; of an EachPath, the item's index in Required
	Path  int // of an EachPath: index in the item's Each
}

// PartKind says which list of a rule a [Part] is in.
type PartKind uint8

// The kinds of part. The zero Part is the rule itself.
const (
	WholeRule PartKind = iota
	FilesGlob
	ExcludeGlob
	FileExcludeGlob // of FileExclude, which all rules of the file share
	PatternItem
	RequiredItem
	EachPath
	ForbiddenFilesGlob
	RequiredFilesGlob
	partKinds
)

// Glob returns the glob of a part; "" if the part is not a glob.
func (r *Rule) Glob(p Part) string {
	if list := r.globs(p.Kind); list != nil {
		return list[p.Index]
	}
	return ""
}

// globs returns the rule's globs of a kind; nil if that kind is not a glob.
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

// PartMistake returns an error at the position of a part of a loaded rule. An error about a file's exclude names no
// rule.
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

// SortMistakes sorts errors by file, in the order of all errors, then by position.
func SortMistakes(list document.Errors) {
	slices.SortStableFunc(list, func(a, b *document.Error) int {
		return cmp.Or(compareFiles(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// compareFiles sorts the fixed names first, then the others by name.
func compareFiles(a, b string) int {
	order := func(file string) int {
		if i := slices.Index(namedFiles(), file); i >= 0 {
			return i
		}
		return len(namedFiles())
	}
	return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b))
}

// Suspect returns a clause with the likely mistake in a dead part, or "".
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
	const escaped = "\x00\a\b\x1b\f\v" // written as one letter after a backslash in double quotes
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

// Shown returns an item in words for a message; a very long one is cut.
func Shown(item Item) string {
	if item.IsPlain() {
		return shownText(item.Text)
	}
	cut, end := document.Cut(item.InWords())
	return cut + end
}

// shownText returns a literal or a regex for a message, in quotes.
func shownText(text string) string {
	cut, end := document.Cut(text)
	return verdict.Quote(cut) + end
}
