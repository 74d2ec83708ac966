package rules

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// A Document is a YAML file of rules that is not a bundle's, read as strictly as one: no anchors, aliases,
// tags, merge keys or second documents, no key twice, and texts as they are written. Its methods report
// what they refuse, so that a reader can go on and [Document.Errors] has all mistakes of the file.
type Document struct {
	Root *yaml.Node // nil if there is nothing to walk; Errors says why
	file *file
}

// A Form is how a dialect writes its files, as far as the words of a [Document] depend on it.
type Form struct {
	File   string            // how the whole is written
	Keys   map[string]string // how a key is written, as "write ..." says it; "key: …" for one that is not there
	Closed bool              // keys that begin with "x-" are unknown, too
}

// An Entry is a key of a mapping and its value, or an item of the list that is that value.
type Entry struct{ e entry }

// Node returns the value, or nil if the key is not there.
func (e Entry) Node() *yaml.Node { return e.e.value }

// Key returns the key.
func (e Entry) Key() *yaml.Node { return e.e.key }

// YAML reads the text as one YAML document.
func (s *Source) YAML(form Form) *Document {
	d := &Document{file: &file{
		loader: &loader{ids: map[string]string{}, globs: map[string]*Error{}}, dialect: &form,
		name: s.Name, marks: map[int][]int{}, bad: map[*yaml.Node]bool{},
	}}
	root := d.file.document(s.Text)
	switch {
	case root == nil:
	case isNull(root) || root.Kind == yaml.MappingNode && len(root.Content) == 0:
		d.file.fail(CodeEmpty, place{}, "the file is empty", "write "+form.File)
	case d.file.checkTree(root, 0):
		d.Root = root
	}
	return d
}

// Errors returns an [Errors] of all that was refused, by line and column; nil if nothing was.
func (d *Document) Errors() error {
	if len(d.file.errs) == 0 {
		return nil
	}
	sortErrors(d.file.errs)
	return Errors(d.file.errs)
}

// Notes returns what loads and other readers of YAML, or people, would take for something else.
func (d *Document) Notes() []Note { return d.file.notes }

// Fail refuses a value, at the place where it begins.
func (d *Document) Fail(code string, n *yaml.Node, found, fix string) {
	d.file.fail(code, d.file.place(n), found, fix)
}

// Mapping reads the keys of a mapping; those that begin with "x-" are free, unless the form is
// closed. It returns nil if n is something else. what is n's name in messages, with its article, and form is how it is written.
func (d *Document) Mapping(n *yaml.Node, what, form string, required, optional []string) map[string]Entry {
	entries, ok := d.file.mapping(n, what, level{what, required, optional}, form)
	if !ok {
		return nil
	}
	all := map[string]Entry{}
	for key, e := range entries {
		all[key] = Entry{e}
	}
	return all
}

// Fields reads a mapping whose keys are for the writer to choose, in the order of the file; false if n is
// something else. what and form are those of Mapping.
func (d *Document) Fields(n *yaml.Node, what, form string) ([]Entry, bool) {
	switch {
	case d.file.bad[n]:
		return nil, false
	case n.Kind != yaml.MappingNode:
		d.file.misplaced(n, what, form)
		return nil, false
	}
	var all []Entry
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i]; !d.file.bad[key] {
			all = append(all, Entry{entry{key: key, value: n.Content[i+1]}})
		}
	}
	return all, true
}

// Begin reads the id of the rule n, which is unique in the document, and names it in the errors
// up to the next Begin.
func (d *Document) Begin(n *yaml.Node) {
	d.file.rule = ""
	if n.Kind == yaml.MappingNode {
		d.file.rule = d.file.peekID(n)
	}
}

// BeginNamed is Begin for rules that have a name, which may be of several words and there twice, by this key.
func (d *Document) BeginNamed(n *yaml.Node, key string) {
	d.file.rule = ""
	if n.Kind == yaml.MappingNode {
		d.file.rule = d.file.peek(n, key)
	}
}

// ID reads an id: one word, unique in the document; "" if it is not one, or missing.
func (d *Document) ID(e Entry) string { return d.file.id(e.e) }

// Text reads a text of any number of lines, not only white space; false if it is not one, or missing.
func (d *Document) Text(e Entry) (string, bool) { return d.file.scalar(e.e) }

// StrictText reads a text that is one to YAML too, neither a number nor a truth value; it may be only white space.
// False if it is not one, or missing.
func (d *Document) StrictText(e Entry) (string, bool) {
	n := e.e.value
	switch {
	case n == nil || d.file.bad[n]:
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.file.scalar(e.e) // says what it is
	case n.Tag != "!!str":
		d.Fail(CodeType, n, fmt.Sprintf("%q is the YAML value %s", e.e.key.Value, Quoted(n.Value)), "quote it to make it text")
	default:
		return n.Value, true
	}
	return "", false
}

// Line reads a text of one line, not only white space; "" if it is not one, or missing.
func (d *Document) Line(e Entry) string { return d.file.oneLine(e.e) }

// Word reads one of some words; "" if it is none of them, or missing.
func (d *Document) Word(e Entry, words ...string) string {
	text, ok := d.file.scalar(e.e)
	if !ok {
		return ""
	}
	for _, w := range words {
		if w == text {
			return w
		}
	}
	d.Fail(CodeValue, e.e.value, fmt.Sprintf("the %s %s", e.e.key.Value, Quoted(text)), "write "+orList(words))
	return ""
}

// True reads true or false; false if it is neither, or missing.
func (d *Document) True(e Entry) bool { return d.file.boolean(e.e) }

// List reads the items of a list, at least one; none if it is not a list, or missing.
func (d *Document) List(e Entry) []Entry {
	var all []Entry
	for _, n := range d.file.list(e.e) {
		all = append(all, Entry{e.e.item(n)})
	}
	return all
}

// Items reads the items of a list, which may be empty; false if n is something else. what and form are
// those of Mapping.
func (d *Document) Items(n *yaml.Node, what, form string) ([]*yaml.Node, bool) {
	switch {
	case d.file.bad[n]:
		return nil, false
	case n.Kind != yaml.SequenceNode:
		d.file.misplaced(n, what, form)
		return nil, false
	}
	return n.Content, true
}

// orList is "a, b or c".
func orList(words []string) string {
	text := ""
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			text += " or "
		default:
			text += ", "
		}
		text += w
	}
	return text
}
