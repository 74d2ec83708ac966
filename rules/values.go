package rules

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// scalar reads a string: as it is written, whatever type YAML would give it. A missing entry is
// no mistake here: mapping has reported it if it is required.
func (f *file) scalar(e entry) (string, bool) {
	if e.value == nil || f.bad[e.value] {
		return "", false
	}
	key, n := e.key.Value, e.value
	at := f.place(n)
	if isNull(n) {
		f.null(e, at)
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		fix := "write one string"
		if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 {
			// An unquoted string with a colon in it.
			fix = "if it is one string, quote it: " + quoteYAML(strings.TrimRight(string(f.source(at)), " "))
		} else if n.Kind == yaml.MappingNode {
			fix = "if it is one string, quote it"
		}
		f.fail(CodeType, at, fmt.Sprintf("%s in %q, where a string belongs", kindName(n), key), fix)
		return "", false
	}
	if strings.TrimSpace(n.Value) == "" {
		what := "an empty string"
		if n.Value != "" {
			what = "a string with only white space"
		}
		f.fail(CodeValue, at, fmt.Sprintf("%s in %q", what, key), f.valueOf(e))
		return "", false
	}
	f.noteScalar(e, at)
	return n.Value, true
}

// item returns e with one item of its list for the value.
func (e entry) item(n *yaml.Node) entry { return entry{key: e.key, value: n, isItem: true} }

// valueOf says what to do about a value that is not there.
func (f *file) valueOf(e entry) string {
	switch {
	case e.isItem:
		return "write its text, or remove the item"
	case f.isRequired(e):
		return "write " + f.form(e.key.Value)
	}
	return "write one, or remove the key"
}

// null reports the absence of a value.
func (f *file) null(e entry, at place) {
	found, fix := fmt.Sprintf("%q has no value", e.key.Value), f.valueOf(e)
	if e.isItem {
		found = fmt.Sprintf("an empty item in %q", e.key.Value)
	}
	if e.value.Value != "" {
		found = fmt.Sprintf("%s in %q is not a value", e.value.Value, e.key.Value)
		if e.isItem {
			fix = "quote it if it is text: " + quoteYAML(e.value.Value)
		}
	} else if comment := bytes.TrimLeft(f.source(at), " -:"); bytes.HasPrefix(comment, []byte("#")) {
		fix = "what follows is a comment; quote it if it is text: " + quoteYAML(strings.TrimRight(string(comment), " "))
	}
	f.fail(CodeValue, at, found, fix)
}

// words reads a string of any number of lines.
func (f *file) words(e entry) string {
	text, _ := f.scalar(e)
	return text
}

// oneLine reads a string that reports show in a line.
func (f *file) oneLine(e entry) string {
	if text, ok := f.scalar(e); ok && f.isOneLine(e, text) {
		return text
	}
	return ""
}

// isOneLine reports a line break or another control character in a string.
func (f *file) isOneLine(e entry, text string) bool {
	i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 })
	if i < 0 {
		return true
	}
	fix := "write it on one line"
	if e.value.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0 {
		fix += `, after ">-" if it is long`
	}
	f.fail(CodeValue, f.place(e.value), fmt.Sprintf("%q has a line break or another control character", e.key.Value), fix)
	return false
}

// boolean reads true or false.
func (f *file) boolean(e entry) bool {
	if e.value == nil || f.bad[e.value] {
		return false
	}
	n, at := e.value, f.place(e.value)
	switch {
	case isNull(n):
		f.null(e, at)
	case n.Kind != yaml.ScalarNode:
		f.fail(CodeType, at, fmt.Sprintf("%s in %q, where true or false belongs", kindName(n), e.key.Value), "write true or false")
	case n.Tag != "!!bool":
		f.fail(CodeValue, at, fmt.Sprintf("%q is %s", e.key.Value, Quoted(n.Value)), "write true or false, unquoted")
	}
	return n.Tag == "!!bool" && strings.EqualFold(n.Value, "true")
}

// list reads the items of a list, which must not be empty.
func (f *file) list(e entry) []*yaml.Node {
	if e.value == nil || f.bad[e.value] {
		return nil
	}
	n, at := e.value, f.place(e.value)
	key := e.key.Value
	form := "write " + f.form(key)
	switch {
	case isNull(n):
		f.fail(CodeValue, f.place(e.key), fmt.Sprintf("%q has no value", key), form)
	case n.Kind == yaml.ScalarNode:
		if len(n.Value) <= shownBytes && n.Value != "" && key != "examples" {
			form = fmt.Sprintf("write %s: [%s]", key, quoteYAML(n.Value))
		}
		f.fail(CodeType, at, fmt.Sprintf("%q is a string where a list belongs", key), form)
	case n.Kind != yaml.SequenceNode:
		f.fail(CodeType, at, fmt.Sprintf("%q is a mapping where a list belongs", key), form)
	case len(n.Content) == 0:
		if !f.isRequired(e) {
			form += ", or remove the key"
		}
		f.fail(CodeValue, at, fmt.Sprintf("%q is an empty list", key), form)
	}
	if n.Kind != yaml.SequenceNode || f.full {
		return nil
	}
	return n.Content
}
