package rules

// Kind is what an [Item] asks for.
type Kind uint8

// The kinds of item.
const (
	Text  Kind = iota // a literal text, in all encodings
	Regex             // an RE2 expression, within one line
)

// An Item is one entry of forbidden_patterns, required_absent or required_patterns. Two items that are equal ask for
// the same and are named the same.
type Item struct {
	Kind Kind
	Text string // the literal of a text, or the expression of a regex; never empty

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
