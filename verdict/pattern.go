package verdict

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Literal returns the literal, or the glob, of the evidence. ok is false if its pattern is a mapping, whose name is its
// JSON.
func (e *Evidence) Literal() (text string, ok bool) {
	located := e.Kind == KindText || e.Kind == KindMissing
	// If the file contains the name, it is the literal.
	if e.Kind == KindFile || located && strings.Contains(e.Excerpt, e.Pattern) {
		return e.Pattern, true
	}
	if strings.HasPrefix(e.Pattern, `"{`) && located {
		if text, err := jsontext.AppendUnquote(nil, e.Pattern); err == nil {
			return string(text), true
		}
	}
	words, _ := MappingWords(e.Pattern)
	return e.Pattern, words == "" || e.Kind == KindText && strings.HasPrefix(words, "key ")
}

// PatternWords describes the pattern of the evidence in words, safe to print.
func (e *Evidence) PatternWords() string {
	if text, ok := e.Literal(); ok {
		return Quote(text)
	}
	words, _ := MappingWords(e.Pattern)
	return words
}

// MappingWords describes what a pattern looks for, by the name of its mapping: "acl = x", with any spaces; a match of
// ^foo, in any case; key a.b is 1 or 2, in each resource.*. ok is false if the name is not that of a mapping. A literal
// is in quotes, and keys without words here are written as "key: value".
func MappingWords(name string) (words string, ok bool) {
	if !strings.HasPrefix(name, `{"`) {
		return "", false
	}
	var head, condition string
	var clauses []string
	add := func(format string, args ...any) { clauses = append(clauses, fmt.Sprintf(format, args...)) }
	for _, m := range membersOf(jsontext.Value(name)) {
		value := m.value
		switch m.key {
		case "text":
			head = Quote(textOf(value))
		case "regex":
			head = "a match of " + regexWords(value)
		case "key":
			head = "key " + list(value, "or", Visible)
		case "each":
			add("in each %s", list(value, "or", Visible))
		case "where":
			add("where %s", valueWords(value))
		case "if":
			add("if %s", valueWords(value))
		case "quantity":
			add("as quantities")
		case "any":
			add("for at least one value")
		case "except":
			add("except within a match of %s", regexWords(value))
		case "only":
			add("only in files that cannot be parsed")
		case "spaces":
			add("with any spaces")
		case "words":
			add("as whole words")
		case "case":
			add("in any case")
		case "within_lines":
			if string(value) == "1" {
				add("in the first line")
			} else {
				add("in the first %s lines", valueWords(value))
			}
		case "format":
			add("as %s", valueWords(value))
		default:
			if verb := conditionWords(m); verb != "" {
				condition = verb
			} else {
				add("%s: %s", Visible(m.key), valueWords(value))
			}
		}
	}
	return strings.Join(append([]string{head + condition}, clauses...), ", "), head != ""
}

type member struct {
	key   string
	value jsontext.Value
}

// membersOf returns the members of a JSON object in their order; nil if it is not one.
func membersOf(object jsontext.Value) (all []member) {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil
	}
	for d.PeekKind() == '"' {
		key, _ := d.ReadToken() // a peeked string can be read
		name := key.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		all = append(all, member{name, value.Clone()})
	}
	if t, err := d.ReadToken(); err != nil || t.Kind() != '}' {
		return nil
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil
	}
	return all
}

// itemsOf returns the items of a JSON list, or else the value itself.
func itemsOf(v jsontext.Value) (all []jsontext.Value) {
	if v.Kind() != '[' {
		return []jsontext.Value{v}
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		var item jsontext.Value
		if item, err = d.ReadValue(); err == nil {
			all = append(all, item.Clone())
		}
	}
	return all
}

// textOf returns the text of a JSON string, or else the JSON.
func textOf(v jsontext.Value) string {
	if text, err := jsontext.AppendUnquote(nil, v); err == nil {
		return string(text)
	}
	return string(v)
}

// conditionWords is the condition of a key: " is 1 or 2"; "" if the member is not one that has words.
func conditionWords(m member) string {
	switch m.key {
	case "is":
		return " is " + valueWords(m.value)
	case "is_not":
		if len(itemsOf(m.value)) > 1 {
			return " is neither " + list(m.value, "nor", bare)
		}
		return " is not " + valueWords(m.value)
	case "matches":
		return " matches " + regexWords(m.value)
	case "matches_not":
		return " does not match " + regexWords(m.value)
	case "below", "above":
		return " is " + m.key + " " + valueWords(m.value)
	case "at_least":
		return " is at least " + valueWords(m.value)
	case "at_most":
		return " is at most " + valueWords(m.value)
	case "missing", "present":
		return " is " + m.key
	}
	return ""
}

// regexWords is a regex; the flag (?i) at its beginning is said in words.
func regexWords(v jsontext.Value) string {
	text, ignoreCase := strings.CutPrefix(textOf(v), "(?i)")
	if ignoreCase {
		return bare(text) + ", in any case"
	}
	return bare(text)
}

// valueWords is a value: a scalar, "a or b" for a list, "a is b and c matches d" for conditions by path.
func valueWords(v jsontext.Value) string {
	if v.Kind() != '{' {
		return list(v, "or", bare)
	}
	return strings.Join(conditionsOf(v), " and ")
}

// ConditionWords returns the conditions of the where or the if of a pattern, by the name of its mapping, in words.
func ConditionWords(name, clause string) []string {
	for _, m := range membersOf(jsontext.Value(name)) {
		if m.key == clause {
			return conditionsOf(m.value)
		}
	}
	return nil
}

func conditionsOf(v jsontext.Value) (all []string) {
	for _, m := range membersOf(v) {
		words := Visible(m.key)
		if m.value.Kind() != '{' {
			words += conditionWords(member{"is", m.value})
		}
		for _, inner := range membersOf(m.value) {
			if verb := conditionWords(inner); verb != "" {
				words += verb
			} else {
				words += " " + Visible(inner.key) + ": " + valueWords(inner.value)
			}
		}
		all = append(all, words)
	}
	return all
}

// list joins the values of a list, or shows the single value.
func list(v jsontext.Value, and string, show func(string) string) string {
	var all []string
	for _, item := range itemsOf(v) {
		switch item.Kind() {
		case '"':
			all = append(all, show(textOf(item)))
		case '{', '[':
			all = append(all, valueWords(item))
		default:
			all = append(all, string(item))
		}
	}
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " " + and + " " + all[last]
}

// bare is a text without quotes, if that cannot be read as another value or as more than the text.
func bare(text string) string {
	_, err := strconv.ParseFloat(text, 64)
	if err == nil || strings.ContainsAny(text, " ,\"'`") || Visible(text) != text {
		return Quote(text)
	}
	switch text {
	case "", "true", "false", "null", "or", "nor", "and":
		return Quote(text)
	}
	return text
}

// Quote puts a text, safe to print, in quotes: double ones, or others if it has them. It doubles no backslash.
func Quote(text string) string {
	text = Visible(text)
	for _, quote := range []string{`"`, `'`, "`"} {
		if !strings.Contains(text, quote) {
			return quote + text + quote
		}
	}
	return strconv.Quote(text)
}
