package rules

import (
	"slices"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/verdict"
)

// A PatternList is one of the lists of a rule with forbidden or required patterns and files.
type PatternList uint8

// The lists, in the order of the violations of one file.
const (
	ForbiddenPattern PatternList = iota // Patterns
	RequiredPattern                     // Required
	ForbiddenFile                       // ForbiddenFiles
	RequiredFile                        // RequiredFiles
)

// A PatternRef is a pattern or a glob of a rule: its list and its index.
type PatternRef struct {
	Of    PatternList
	Index int
}

// Item returns the pattern, if a is a pattern and not a glob.
func (a PatternRef) Item(r *Rule) Item { return a.items(r)[a.Index] }

func (a PatternRef) items(r *Rule) []Item {
	if a.Of == RequiredPattern {
		return r.Required
	}
	return r.Patterns
}

func (a PatternRef) glob(r *Rule) string {
	if a.Of == RequiredFile {
		return r.RequiredFiles[a.Index]
	}
	return r.ForbiddenFiles[a.Index]
}

// Name returns its name in evidence and fingerprints.
func (a PatternRef) Name(r *Rule) string {
	if a.Of == ForbiddenPattern || a.Of == RequiredPattern {
		return a.Item(r).Name
	}
	return a.glob(r)
}

// InWords describes it for display: a glob in quotes, or a pattern in words.
func (a PatternRef) InWords(r *Rule) string {
	if a.Of == ForbiddenPattern || a.Of == RequiredPattern {
		return a.Item(r).InWords()
	}
	return verdict.Quote(a.glob(r))
}

// Broken returns a clause on how a file, or the tree, violates it.
func (a PatternRef) Broken(r *Rule) string {
	words := a.InWords(r)
	switch a.Of {
	case ForbiddenPattern:
		if a.Item(r).Kind == Key {
			return words + ", which is forbidden"
		}
		return "the file contains " + words + ", which must not appear"
	case RequiredPattern:
		switch item := a.Item(r); {
		case item.Kind != Key:
			return "the file does not contain " + words + ", which is required"
		case item.Key.Asks == keyitem.Exists:
			return "required, but missing: " + words
		}
		return "required, but missing or different: " + words
	case ForbiddenFile:
		return "the path matches " + words + ", which is forbidden"
	}
	return "no file that is not empty matches " + words + ", and one is required"
}

func kindName(item Item) string {
	switch item.Kind {
	case Regex:
		return "expression"
	case Key:
		return "key"
	}
	return "text"
}

// Without says why another version of a rule does not have this pattern for a file; "" if it does.
func (a PatternRef) Without(r, other *Rule, path string) string {
	switch a.Of {
	case ForbiddenFile:
		if !other.Forbids(path) {
			return "does not forbid this file"
		}
		return ""
	case RequiredFile:
		if !slices.Contains(other.RequiredFiles, a.glob(r)) {
			return "does not require this file"
		}
		return ""
	}
	item := a.Item(r)
	switch {
	case !other.Selects(path):
		return "would not select this file"
	case slices.ContainsFunc(a.items(other), item.Means):
		return ""
	case a.Of == RequiredPattern:
		return "does not require this " + kindName(item)
	}
	return "does not forbid this " + kindName(item)
}
