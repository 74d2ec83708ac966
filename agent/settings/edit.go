package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

// list returns the array at a path of names: nil if it does not exist, a positioned error if a value on the path has
// another type. found is the number of names that exist.
func list(src *document.Source, root *node, path []string) (array *node, found int, err error) {
	var at *node
	for i := range path {
		if at = root.at(path[:i+1]); at == nil {
			return nil, i, nil
		}
		kind, want := byte('{'), "an object"
		if i == len(path)-1 {
			kind, want = '[', "a list"
		}
		if at.kind != kind {
			found := fmt.Sprintf("%q is %s, not %s", strings.Join(path[:i+1], "."), at.called(), want)
			return nil, i, src.Error(document.CodeType, at.start, found, "fix it; nothing was written")
		}
	}
	return at, len(path), nil
}

// insert returns the text with value as the last element of the array at a path, which is created if missing. Every
// byte of the text stays; the new part has the style of its neighbors.
//
// [remove] distinguishes created arrays from existing empty ones: a created one has a space or a line end after the
// opening bracket.
func insert(src *document.Source, root *node, path []string, value any) ([]byte, error) {
	array, found, err := list(src, root, path)
	if err != nil {
		return nil, err
	}
	into := array
	if into == nil {
		into = root.at(path[:found])
	}
	at, lead, style := place(src.Text, root, into)
	text, err := style.show(path[found:], value)
	if err != nil {
		return nil, err
	}
	return splice(src.Text, at, at, lead+text), nil
}

// replace returns the text with one value replaced, on its own lines if it has some.
func replace(src *document.Source, root, old *node, value any) ([]byte, error) {
	how := styleOf(src.Text, root)
	how.prefix = lineIndent(src.Text, old.start)
	how.oneLine = bytes.IndexByte(src.Text[old.start:old.end], '\n') < 0
	text, err := how.show(nil, value)
	if err != nil {
		return nil, err
	}
	return splice(src.Text, old.start, old.end, text), nil
}

// splice returns text with the bytes from start to end replaced.
func splice(text []byte, start, end int, by string) []byte {
	out := make([]byte, 0, len(text)-(end-start)+len(by))
	out = append(out, text[:start]...)
	out = append(out, by...)
	return append(out, text[end:]...)
}

// place returns the offset for a next item of a list, the text before it, and its style.
func place(text []byte, root, into *node) (at int, lead string, how style) {
	how = styleOf(text, root)
	if len(into.items) == 0 {
		how.prefix = lineIndent(text, into.start)
		return into.start + 1, "", how
	}
	last := into.items[len(into.items)-1]
	indent, ok := lineBlank(text, last.start)
	if !ok {
		how.oneLine = true
		return last.value.end, ", ", how
	}
	how.prefix = indent
	return last.value.end, "," + how.newline + how.prefix, how
}

// styleOf is the indentation style of a text.
func styleOf(text []byte, root *node) style {
	how := style{unit: "  ", newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		how.newline = "\r\n"
	}
	if len(root.items) > 0 {
		if blank, ok := lineBlank(text, root.items[0].start); ok && blank != "" {
			how.unit = blank
		}
	}
	return how
}

// lineBlank is what comes before an offset in its line, if that is blank and the line not the first.
func lineBlank(text []byte, offset int) (string, bool) {
	begin := bytes.LastIndexByte(text[:offset], '\n')
	if begin < 0 {
		return "", false
	}
	blank := string(text[begin+1 : offset])
	return blank, strings.Trim(blank, " \t") == ""
}

// lineIndent is the blank at the beginning of the line that an offset is in.
func lineIndent(text []byte, offset int) string {
	line := string(text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// A style is how a value is shown.
type style struct {
	oneLine bool
	prefix  string // of each line but the first
	unit    string // of a step of indentation
	newline string
}

// show shows a value, an element of the array that the names lead to: as the element without names,
// or else as the member of the first name.
func (s style) show(names []string, value any) (string, error) {
	text, err := encode(value)
	if err != nil {
		return "", err
	}
	lead := ""
	for i := len(names) - 1; i >= 0; i-- {
		if i == len(names)-1 {
			text = "[ " + text + " ]"
		} else {
			text = "{ " + lead + text + " }"
		}
		name, err := encode(names[i])
		if err != nil {
			return "", err
		}
		lead = name + ": "
	}
	if !s.oneLine {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text), s.prefix, s.unit); err != nil {
			return "", err
		}
		text = strings.ReplaceAll(b.String(), "\n", s.newline)
	}
	return lead + text, nil
}

// encode is a value as JSON in one line, with < > & as they are: people read it.
func encode(value any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// remove returns the text without an element of the array at a path, and without the empty parents that [insert] added.
func remove(text []byte, root *node, path []string, index int) []byte {
	for i := len(path); ; i-- {
		of := root.at(path[:i])
		it := of.items[index]
		switch {
		case index < len(of.items)-1:
			return splice(text, it.start, of.items[index+1].start, "")
		case index > 0:
			return splice(text, of.items[index-1].value.end, it.value.end, "")
		case it.start == of.start+1 || i == 0:
			return splice(text, of.start+1, it.value.end, "")
		}
		index = slices.IndexFunc(root.at(path[:i-1]).items, func(m item) bool { return m.value == of })
	}
}
