package report

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A keyName is what the name of an item with a key says.
type keyName struct {
	Each       oneOrMore       `json:"each"`
	Key        oneOrMore       `json:"key"`
	Where      json.RawMessage `json:"where"`
	Is         oneOrMore       `json:"is"`
	IsNot      oneOrMore       `json:"is_not"`
	Matches    *string         `json:"matches"`
	MatchesNot *string         `json:"matches_not"`
}

// oneOrMore is a value or a list of them, each as it is written. A text is without its quotes in texts.
type oneOrMore []json.RawMessage

// UnmarshalJSON reads a value or a list.
func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]json.RawMessage)(o))
	}
	*o = oneOrMore{bytes.Clone(data)}
	return nil
}

// texts returns the values that are texts.
func (o oneOrMore) texts() []string {
	var all []string
	for _, raw := range o {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			all = append(all, text)
		}
	}
	return all
}

// or lists the values, as they are written.
func (o oneOrMore) or() string {
	var all []string
	for _, raw := range o {
		all = append(all, string(raw))
	}
	return strings.Join(all, " or ")
}

// words says what the item stands for: the first path, and what is behind it in a sentence.
func (k *keyName) words() (path, after string) {
	paths := k.Key.texts()
	for _, p := range paths[1:] {
		after += ` or "` + p + `"`
	}
	switch {
	case len(k.Is) > 0:
		after += " with the value " + k.Is.or()
	case len(k.IsNot) > 0:
		after += " with a value other than " + k.IsNot.or()
	case k.Matches != nil:
		after += " with a value that matches " + *k.Matches
	case k.MatchesNot != nil:
		after += " with a value that does not match " + *k.MatchesNot
	}
	if len(k.Each) > 0 {
		after += ", in each " + k.Each.or()
	}
	if len(k.Where) > 0 {
		after += ", where " + k.where()
	}
	return paths[0], after
}

// where lists the conditions of "where", in their order.
func (k *keyName) where() string {
	decoder := json.NewDecoder(bytes.NewReader(k.Where))
	var all []string
	if _, err := decoder.Token(); err != nil { // the brace
		return ""
	}
	for decoder.More() {
		path, err := decoder.Token()
		text, isText := path.(string)
		var values oneOrMore
		if err != nil || !isText || decoder.Decode(&values) != nil {
			break
		}
		all = append(all, `"`+text+`" is `+values.or())
	}
	return strings.Join(all, " and ")
}

// pathInExcerpt returns where a path of the item is that a rule shows which redacts.
func (k *keyName) pathInExcerpt(excerpt string) (start, end int) {
	for _, path := range k.Key.texts() {
		if start, end = textInExcerpt(excerpt, path); end > start {
			break
		}
	}
	return start, end
}
