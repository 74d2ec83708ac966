package rules

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/verdict"
)

// Kind is the kind of an [Item].
type Kind uint8

// The kinds of item.
const (
	Text  Kind = iota // a literal, in all encodings
	Regex             // an RE2 regex, within one line
	Key               // a value in a parsed file
)

// An Item is one entry of forbidden_patterns, required_absent or required_patterns. [Item.Means] compares two.
type Item struct {
	Kind Kind
	Text string        // the literal or the regex; empty for a key pattern
	Key  *keyitem.Item // of a key pattern

	// Except, of a regex: matches within a match of it do not count; "" for none.
	Except string

	// WithinLines, of a literal or a regex: a match begins in the first n lines; 0: in any line.
	WithinLines int

	// OnlyUnparsable, of a literal or a regex: only: unparsable. It counts in files that cannot be parsed for a key
	// pattern of the rule.
	OnlyUnparsable bool

	// Options of a literal.
	Spaces     bool // spaces: any. Runs of spaces and tabs match runs of any length.
	Words      bool // words: true. The match begins and ends at word boundaries.
	IgnoreCase bool // case: ignore. ASCII letters match each other.

	Name string // its name in evidence, messages and fingerprints
}

// Plain returns the item of a plain string in a 0.1 file.
func Plain(text string) Item { return Item{Text: text, Name: text} }

// PlainItems returns the items of plain strings.
func PlainItems(texts ...string) []Item {
	var items []Item
	for _, text := range texts {
		items = append(items, Plain(text))
	}
	return items
}

// Names returns the names of items.
func Names(items []Item) []string {
	var names []string
	for _, item := range items {
		names = append(names, item.Name)
	}
	return names
}

// InWords describes the item for display: see [verdict.MappingWords].
func (i Item) InWords() string {
	if !i.IsPlain() {
		if words, ok := verdict.MappingWords(i.Name); ok {
			return words
		}
	}
	return verdict.Quote(i.Text)
}

// Means reports whether two items, perhaps of different bundles, are equivalent. Their names can differ if only one is
// in a 0.2 file. The name of a key pattern says everything about it.
func (i Item) Means(o Item) bool {
	if i.Kind == Key || o.Kind == Key {
		return i.Kind == o.Kind && i.Name == o.Name
	}
	i.Name, o.Name = "", ""
	return i == o
}

// IsPlain reports whether the item is a string, or an equivalent mapping.
func (i Item) IsPlain() bool {
	return i.Kind == Text && i.WithinLines == 0 && !i.OnlyUnparsable && !i.Spaces && !i.Words && !i.IgnoreCase
}

// Named returns a literal or a regex with its name in a 0.2 file. A string is its own name, unless it begins like a
// mapping; then its name is the JSON string. The name of another item is the JSON of its mapping, on one line, with
// its keys in a fixed order.
func (i Item) Named() Item {
	if i.IsPlain() {
		i.Name = i.Text
		if strings.HasPrefix(i.Text, "{") {
			i.Name = jsonString(i.Text)
		}
		return i
	}
	key := "text"
	if i.Kind == Regex {
		key = "regex"
	}
	i.Name = `{"` + key + `":` + jsonString(i.Text)
	for _, option := range []struct {
		is   bool
		text string
	}{{i.Except != "", `"except":` + jsonString(i.Except)},
		{i.WithinLines > 0, `"within_lines":` + strconv.Itoa(i.WithinLines)},
		{i.Spaces, `"spaces":"any"`}, {i.Words, `"words":true`}, {i.IgnoreCase, `"case":"ignore"`},
		{i.OnlyUnparsable, `"only":"unparsable"`}} {
		if option.is {
			i.Name += "," + option.text
		}
	}
	i.Name += "}"
	return i
}

// jsonString returns a minimally escaped JSON string of a text, which is UTF-8.
func jsonString(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, text)
	return string(quoted)
}
