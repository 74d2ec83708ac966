package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// Kind is what an [Item] asks for.
type Kind uint8

// The kinds of item.
const (
	Text  Kind = iota // a literal text, in all encodings
	Regex             // an RE2 expression, within one line
	Key               // a value in a parsed file
)

// An Item is one entry of forbidden_patterns, required_absent or required_patterns. Two items ask for the same if they
// are [Item.Means].
type Item struct {
	Kind Kind
	Text string        // the literal of a text, or the expression of a regex; empty for a key alone
	Key  *keyitem.Item // of a key

	// WithinLines, of a text or a regex: a match begins in one of so many lines, from the first on; 0: in any.
	WithinLines int

	// Options of a text.
	Spaces     bool // spaces: any. Runs of spaces and tabs match runs of any length.
	Words      bool // words: true. The match begins and ends as words do.
	IgnoreCase bool // case: ignore. ASCII letters match each other.

	Name string // what evidence, messages and fingerprints call it
}

// Plain returns the item that a plain string in a 0.1 file is.
func Plain(text string) Item { return Item{Text: text, Name: text} }

// PlainItems returns the item of each text.
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

// Means reports whether the items, perhaps of different bundles, ask for the same. Their names can differ where only
// one is in a 0.2 file. All that an item with a key asks for is in its name.
func (i Item) Means(o Item) bool {
	if i.Kind == Key || o.Kind == Key {
		return i.Kind == o.Kind && i.Name == o.Name
	}
	i.Name, o.Name = "", ""
	return i == o
}

// IsPlain reports whether the item is a string, or a mapping that means the same.
func (i Item) IsPlain() bool {
	return i.Kind == Text && i.WithinLines == 0 && !i.Spaces && !i.Words && !i.IgnoreCase
}

// Named returns a text or a regex with its name in a 0.2 file. A string is its own name, unless it begins as a mapping
// does: then it is the JSON string. Another item is the JSON of its mapping, on one line, its keys in one order.
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
	}{{i.WithinLines > 0, `"within_lines":` + strconv.Itoa(i.WithinLines)},
		{i.Spaces, `"spaces":"any"`}, {i.Words, `"words":true`}, {i.IgnoreCase, `"case":"ignore"`}} {
		if option.is {
			i.Name += "," + option.text
		}
	}
	i.Name += "}"
	return i
}

// jsonString returns a text as a JSON string in which nothing is escaped that JSON lets be.
func jsonString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		switch short := strings.IndexByte("\b\f\n\r\t", c); {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case short >= 0:
			b.WriteByte('\\')
			b.WriteByte("bfnrt"[short])
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
