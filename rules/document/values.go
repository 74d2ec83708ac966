package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Text reads a string of any number of lines, as it is written, whatever its YAML type. It must not be only white
// space. It returns false if the value is invalid or missing. A missing value is no mistake here: Mapping reports a
// missing required key.
func (d *YAML) Text(e Entry) (string, bool) {
	if e.Value == nil || d.bad[e.Value] {
		return "", false
	}
	key, n := e.Key.Value, e.Value
	at := d.Place(n)
	if isNull(n) {
		d.null(e, at)
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		fix := "write one string"
		if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 {
			// An unquoted string with a colon in it.
			fix = "if it is one string, quote it: " + QuoteYAML(strings.TrimRight(string(d.source(at)), " "))
		} else if n.Kind == yaml.MappingNode {
			fix = "if it is one string, quote it"
		}
		d.fail(CodeType, at, fmt.Sprintf("%s in %q, where a string belongs", kindName(n), key), fix)
		return "", false
	}
	if strings.TrimSpace(n.Value) == "" {
		what := "an empty string"
		if n.Value != "" {
			what = "a string with only white space"
		}
		d.fail(CodeValue, at, fmt.Sprintf("%s in %q", what, key), d.valueOf(e))
		return "", false
	}
	d.noteText(e, at)
	return n.Value, true
}

// Scalar reads a string that may be empty or white space, and whether it is quoted or a block; the caller decides on
// the type of others. False if the value is invalid or missing.
func (d *YAML) Scalar(e Entry) (text string, quoted, ok bool) {
	n := e.Value
	switch {
	case n == nil || d.bad[n]:
		return "", false, false
	case n.Kind != yaml.ScalarNode:
		d.Text(e) // reports the error
		return "", false, false
	}
	if n.Style == 0 {
		d.noteCut(n, d.Place(n))
	}
	return n.Value, n.Style != 0, true
}

func (d *YAML) valueOf(e Entry) string {
	switch {
	case e.isItem:
		return "write its text, or remove the item"
	case e.Required:
		return "write " + d.KeyForm(e.Key.Value)
	}
	return "write one, or remove the key"
}

func (d *YAML) null(e Entry, at Place) {
	found, fix := fmt.Sprintf("%q has no value", e.Key.Value), d.valueOf(e)
	if e.isItem {
		found = fmt.Sprintf("an empty item in %q", e.Key.Value)
	}
	if e.Value.Value != "" {
		found = fmt.Sprintf("%s in %q is not a value", e.Value.Value, e.Key.Value)
		if e.isItem {
			fix = "quote it if it is text: " + QuoteYAML(e.Value.Value)
		}
	} else if comment := bytes.TrimLeft(d.source(at), " -:"); bytes.HasPrefix(comment, []byte("#")) {
		fix = "what follows is a comment; quote it if it is text: " +
			QuoteYAML(strings.TrimRight(string(comment), " "))
	}
	d.fail(CodeValue, at, found, fix)
}

// Line reads a one-line string that is not only white space; "" if it is invalid or missing.
func (d *YAML) Line(e Entry) string {
	if text, ok := d.Text(e); ok && d.isOneLine(e, text) {
		return text
	}
	return ""
}

func (d *YAML) isOneLine(e Entry, text string) bool {
	i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 })
	if i < 0 {
		return true
	}
	fix := "write it on one line"
	if e.Value.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0 {
		fix += `, after ">-" if it is long`
	}
	d.Fail(CodeValue, e.Value, fmt.Sprintf("%q has a line break or another control character", e.Key.Value), fix)
	return false
}

// True reads true or false; false if it is invalid or missing.
func (d *YAML) True(e Entry) bool {
	if e.Value == nil || d.bad[e.Value] {
		return false
	}
	n, at := e.Value, d.Place(e.Value)
	switch {
	case isNull(n):
		d.null(e, at)
	case n.Kind != yaml.ScalarNode:
		d.fail(CodeType, at, fmt.Sprintf("%s in %q, where true or false belongs", kindName(n), e.Key.Value),
			"write true or false")
	case n.Tag != "!!bool":
		d.fail(CodeValue, at, fmt.Sprintf("%q is %s", e.Key.Value, Quoted(n.Value)), "write true or false, unquoted")
	}
	return n.Tag == "!!bool" && strings.EqualFold(n.Value, "true")
}

// Count reads a whole number in decimal digits and without quotes, from least to most; 0 if it is invalid or missing.
func (d *YAML) Count(e Entry, least, most int) int {
	n := e.Value
	if n == nil || d.bad[n] {
		return 0
	}
	key, at := e.Key.Value, d.Place(n)
	form := "write a whole number in digits, such as " + key + ": 3"
	number, err := strconv.Atoi(n.Value)
	decimal := err == nil && strconv.Itoa(number) == n.Value // not 010, +1 or 1_000
	switch {
	case isNull(n):
		d.null(e, at)
	case n.Kind != yaml.ScalarNode:
		d.fail(CodeType, at, fmt.Sprintf("%s in %q, where a number belongs", kindName(n), key), form)
	case n.Style != 0 && decimal:
		d.fail(CodeType, at, fmt.Sprintf("%q is the text %s", key, Quoted(n.Value)),
			"write it without quotes: "+key+": "+n.Value)
	case errors.Is(err, strconv.ErrRange) && n.Style == 0 && n.Value[0] != '-', decimal && number > most:
		d.fail(CodeLimit, at, fmt.Sprintf("%q is more than %d", key, most), "write a smaller number")
	case !decimal:
		d.fail(CodeValue, at, fmt.Sprintf("%q is %s", key, Quoted(n.Value)), form)
	case number < least:
		d.fail(CodeValue, at, fmt.Sprintf("%q is %s", key, n.Value), fmt.Sprintf("write %d or more", least))
	default:
		return number
	}
	return 0
}

// List reads the items of a list, at least one; none if it is invalid or missing.
func (d *YAML) List(e Entry) []Entry {
	if e.Value == nil || d.bad[e.Value] {
		return nil
	}
	n, key := e.Value, e.Key.Value
	if n.Kind == yaml.SequenceNode && len(n.Content) > 0 && !d.batch.full {
		return e.items()
	}
	at, form := d.Place(n), "write "+d.KeyForm(key)
	switch {
	case isNull(n):
		d.fail(CodeValue, d.Place(e.Key), fmt.Sprintf("%q has no value", key), form)
	case n.Kind == yaml.ScalarNode:
		if len(n.Value) <= shownBytes && n.Value != "" && !slices.Contains(d.form.Mappings, key) {
			form = fmt.Sprintf("write %s: [%s]", key, QuoteYAML(n.Value))
		}
		d.fail(CodeType, at, fmt.Sprintf("%q is a string where a list belongs", key), form)
	case n.Kind != yaml.SequenceNode:
		d.fail(CodeType, at, fmt.Sprintf("%q is a mapping where a list belongs", key), form)
	case len(n.Content) == 0:
		if !e.Required {
			form += ", or remove the key"
		}
		d.fail(CodeValue, at, fmt.Sprintf("%q is an empty list", key), form)
	}
	return nil
}

// StrictText reads a string that is one in YAML, too, not a number or a boolean; it may be only white space. False if
// it is invalid or missing.
func (d *YAML) StrictText(e Entry) (string, bool) {
	n := e.Value
	switch {
	case n == nil || d.bad[n]:
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.Text(e) // reports the error
	case n.Tag != "!!str":
		d.Fail(CodeType, n, fmt.Sprintf("%q is the YAML value %s", e.Key.Value, Quoted(n.Value)),
			"quote it to make it text")
	default:
		return n.Value, true
	}
	return "", false
}

// Word reads one of the given words; "" if it is another value or missing.
func (d *YAML) Word(e Entry, words ...string) string {
	text, ok := d.Text(e)
	if !ok {
		return ""
	}
	if slices.Contains(words, text) {
		return text
	}
	d.Fail(CodeValue, e.Value, fmt.Sprintf("the %s %s", e.Key.Value, Quoted(text)), "write "+orList(words))
	return ""
}

// Only reads a key with a single possible value: a word, or true without quotes. False if it is another value or
// missing.
func (d *YAML) Only(e Entry, value string) bool {
	n := e.Value
	if n == nil || d.bad[n] {
		return false
	}
	key, tag := e.Key.Value, "!!str"
	if value == "true" {
		tag = "!!bool"
	}
	code, found := CodeValue, ""
	switch {
	case n.Kind != yaml.ScalarNode:
		code, found = CodeType, kindName(n)
	case n.Tag == tag && (n.Value == value || tag == "!!bool" && strings.EqualFold(n.Value, value)):
		return true
	case n.Value == value:
		found = "the text " + Quoted(n.Value)
	case isNull(n) && n.Value == "":
		found = "empty"
	case n.Style == 0:
		found, _ = Cut(n.Value)
	default:
		found = Quoted(n.Value)
	}
	d.Fail(code, n, fmt.Sprintf("%q is %s", key, found),
		fmt.Sprintf("write %s: %s, or remove the key: it has no other value", key, value))
	return false
}

func orList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
