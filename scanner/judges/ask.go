package judges

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules"
)

// Part is one of the lists of what a rule asks.
type Part uint8

// The parts of a rule, in the order of the violations of one file.
const (
	ForbiddenItem Part = iota // of Patterns
	RequiredItem              // of Required
	ForbiddenFile             // of ForbiddenFiles
	RequiredFile              // of RequiredFiles
)

// An Ask is one thing that a rule asks: an item or a glob, by its place in its list.
type Ask struct {
	Of    Part
	Index int
}

// Item is the item, of an Ask for one.
func (a Ask) Item(r *rules.Rule) rules.Item {
	if a.Of == RequiredItem {
		return r.Required[a.Index]
	}
	return r.Patterns[a.Index]
}

func (a Ask) glob(r *rules.Rule) string {
	if a.Of == RequiredFile {
		return r.RequiredFiles[a.Index]
	}
	return r.ForbiddenFiles[a.Index]
}

// Name is what evidence and fingerprints call it.
func (a Ask) Name(r *rules.Rule) string {
	if a.Of == ForbiddenItem || a.Of == RequiredItem {
		return a.Item(r).Name
	}
	return a.glob(r)
}

// Broken says in a clause how a file, or the tree, breaks it.
func (a Ask) Broken(r *rules.Rule) string {
	switch a.Of {
	case ForbiddenItem:
		if item := a.Item(r); item.Kind == rules.Key {
			return "the file has " + shown(item) + ", which must not be there"
		}
		return "the file contains " + shown(a.Item(r)) + ", which must not appear"
	case RequiredItem:
		if item := a.Item(r); item.Kind == rules.Key {
			return "the file does not have " + shown(item) + ", which is required"
		}
		return "the file does not contain " + shown(a.Item(r)) + ", which is required"
	case ForbiddenFile:
		return fmt.Sprintf("the path matches %q, and no file may be there", a.glob(r))
	}
	return fmt.Sprintf("no file that is not empty matches %q, and one is required", a.glob(r))
}

// shown is an item in a sentence: a string in quotes, a mapping as it is named.
func shown(item rules.Item) string {
	switch {
	case item.Kind == rules.Regex:
		return "a match of " + item.Name
	case item.IsPlain() && item.Name == item.Text:
		return fmt.Sprintf("%q", item.Name)
	}
	return item.Name
}

func word(item rules.Item) string {
	switch item.Kind {
	case rules.Regex:
		return "expression"
	case rules.Key:
		return "key"
	}
	return "text"
}

// without says why another version of a rule does not ask that of a file; "" if it does.
func (a Ask) without(r, other *rules.Rule, path string) string {
	switch a.Of {
	case ForbiddenItem:
		switch {
		case !other.Selects(path):
			return "would not select this file"
		case !slices.ContainsFunc(other.Patterns, a.Item(r).Means):
			return "does not forbid this " + word(a.Item(r))
		}
	case RequiredItem:
		switch {
		case !other.Selects(path):
			return "would not select this file"
		case !slices.ContainsFunc(other.Required, a.Item(r).Means):
			return "does not require this " + word(a.Item(r))
		}
	case ForbiddenFile:
		if !other.Forbids(path) {
			return "does not forbid this file"
		}
	case RequiredFile:
		if !slices.Contains(other.RequiredFiles, a.glob(r)) {
			return "does not require this file"
		}
	}
	return ""
}
