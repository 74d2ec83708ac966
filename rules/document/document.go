// Package document reads files of rules strictly: nothing is silently ignored, and all mistakes of a file are reported
// at once, each with its line, its column and the fix.
//
// A [Source] is the text of a file. [Source.YAML] returns it as a [YAML], whose methods read one value each, for a
// bundle's rule files and the YAML dialects of call rules. Readers of other formats make their errors with
// [Source.Error], so that all errors look alike. An [Error] has one of the codes below. A [Note] is about something
// valid that is often a mistake.
//
// A reader reads the value of each key and continues after an error: a refused value counts as missing, and is not
// reported again.
//
//	m := doc.Mapping(doc.Root, "the file", form, document.Level{Required: []string{"rules"}})
//	for _, item := range doc.List(m.At("rules")) {
//		rule := doc.Mapping(item.Value, "the rule", form, level)
//		id, title := doc.ID(rule.At("id")), doc.Line(rule.At("title"))
//	}
//	err := doc.Errors()
//
// # What is refused
//
// The text must be UTF-8, with LF or CRLF and an optional BOM, and one YAML document. Anchors, aliases, merge keys,
// tags, directives, keys that are not strings and keys that occur twice are refused everywhere. A string is read as it
// is written, whatever type YAML would give it: an unquoted 0777 is "0777", which is noted.
//
// # Limits
//
// A file has at most [MaxFileBytes], lists and mappings are at most 100 deep, and an id has at most 200 bytes. Reading
// stops after 10,000 mistakes, with an error that says so.
package document

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// Limits of files of rules. Exceeding one is an error.
const (
	MaxFileBytes    = 4 << 20  // of a file
	MaxRules        = 10_000   // of all files that are read together
	MaxPatternBytes = 64 << 10 // of one pattern
	maxIDBytes      = 200      // of an id, which is in every violation
	maxDepth        = 100      // of nested lists and mappings
	MaxErrors       = 10_000   // reported mistakes of a batch; also the limit of its YAML notes
)

// A YAML is a file of rules in YAML. Its methods read the given values and report mistakes; a reader can go on, since
// [YAML.Errors] has all mistakes of the file. A refused value counts as missing, and is not reported again.
type YAML struct {
	Root *yaml.Node // nil if unreadable; see Errors

	batch  *Batch
	form   Form
	name   string
	text   []byte // without a BOM
	lines  []int  // the byte offset of each line of text
	ascii  bool   // all characters are ASCII
	cursor cursor // at the last position that was looked up
	errs   []*Error
	early  int                 // number of errs from before the walk
	bad    map[*yaml.Node]bool // refused values
	rule   string              // the current rule's id, once it is known to be valid
}

// A Form describes one kind of file, for the messages of a [YAML].
type Form struct {
	File     string            // an example of a whole file
	Keys     map[string]string // how "write ..." shows a key; "key: …" if not set
	Mappings []string          // keys of lists whose items are mappings
	Levels   []Level           // other levels where an unknown key could belong
	Closed   bool              // keys that begin with "x-" are unknown, too

	// Patterns are keys of strings that are searched for. In their values, and those of Verbatim, each byte counts: a
	// note reports where YAML joins the lines of an unquoted string, or ends it before a comment.
	Patterns, Verbatim []string
}

// An Entry is a key of a mapping with its value, or an item of the list that is the value.
type Entry struct {
	Key, Value *yaml.Node // both nil if the key is missing
	Required   bool       // the key is required
	isItem     bool
}

// Entries are the known keys of a mapping, in file order.
type Entries []Entry

// At returns the entry of a key; the zero Entry if it is missing.
func (all Entries) At(key string) Entry {
	for _, e := range all {
		if e.Key.Value == key {
			return e
		}
	}
	return Entry{}
}

// A Place is a position in a file: 1-based, the column in bytes; 0 is unknown.
type Place struct{ Line, Column int }

// A Spot is a position and the text around it, as [Error.Source] returns it. The zero Spot is unknown.
type Spot struct {
	Place
	source string
	caret  int
}

// Error returns e with the position and the text of the spot.
func (s Spot) Error(e Error) *Error {
	e.Line, e.Column, e.source, e.caret = s.Line, s.Column, s.source, s.caret
	return &e
}

// A Batch is several files that are read one after the other, such as a bundle's. Ids are unique in it, and the limits
// on mistakes and notes are for all of its files. The zero Batch is empty.
type Batch struct {
	Errors Errors // of the files added so far, and others
	Notes  []Note
	full   bool // MaxErrors was reached
	ids    map[string]firstID
}

// YAML parses the text as one YAML document.
func (s *Source) YAML(form Form) *YAML { return new(Batch).YAML(s, form) }

// YAML reads a text as one YAML document, the next file of the batch.
func (b *Batch) YAML(s *Source, form Form) *YAML {
	d := &YAML{batch: b, form: form, name: s.Name, bad: map[*yaml.Node]bool{}}
	root := d.document(s.Text)
	switch {
	case root == nil:
	case isNull(root) || root.Kind == yaml.MappingNode && len(root.Content) == 0:
		d.fail(CodeEmpty, Place{}, "the file is empty", "write "+form.File)
	case d.checkTree(root, 0):
		d.Root = root
	}
	d.early = len(d.errs)
	return d
}

// Reform replaces the form of the file, for one whose form depends on what is in it.
func (d *YAML) Reform(form Form) { d.form = form }

// Add adds the errors of a file, once it is read.
func (b *Batch) Add(d *YAML) {
	sortErrors(d.errs)
	b.Errors = append(b.Errors, d.errs...)
}

// Errors returns the mistakes as an [Errors], by line and column, or nil.
func (d *YAML) Errors() error {
	if len(d.errs) == 0 {
		return nil
	}
	sortErrors(d.errs)
	return Errors(d.errs)
}

// Mistakes returns the number of mistakes in the file so far.
func (d *YAML) Mistakes() int { return len(d.errs) }

// Full reports whether MaxErrors was reached.
func (d *YAML) Full() bool { return d.batch.full }

// Notes returns notes on valid values that other YAML readers, or users, would read differently.
func (d *YAML) Notes() []Note { return d.batch.Notes }

// Fail refuses a value, at its position.
func (d *YAML) Fail(code string, n *yaml.Node, found, fix string) {
	d.fail(code, d.Place(n), found, fix)
}

func (d *YAML) fail(code string, at Place, found, fix string) {
	if d.batch.full {
		return
	}
	if len(d.batch.Errors)+len(d.errs) == MaxErrors {
		d.batch.full = true
		d.errs = append(d.errs, &Error{
			Code: CodeLimit, File: d.name, Line: at.Line, caret: -1,
			Found: fmt.Sprintf("more than %d mistakes", MaxErrors), Fix: "fix the others first",
		})
		return
	}
	e := Error{Code: code, File: d.name, Rule: d.rule, Found: found, Fix: fix}
	d.errs = append(d.errs, d.spot(at).Error(e))
}

// Spot returns the position of a value, with the text there.
func (d *YAML) Spot(n *yaml.Node) Spot { return d.spot(d.Place(n)) }

func (d *YAML) spot(at Place) Spot {
	source, caret := around(d.line(at.Line), at.Column)
	return Spot{at, source, caret}
}

// Mapping reads the keys of a mapping. It reports unknown and missing keys, and returns nil if n is not a mapping.
// Keys that begin with "x-" are ignored, unless the form is closed. what is n's name in messages, with its article;
// form shows how to write it. They are also the defaults of a level without a name.
func (d *YAML) Mapping(n *yaml.Node, what, form string, l Level) Entries {
	if !d.is(yaml.MappingNode, n, what, form) {
		return nil
	}
	l.Name = cmp.Or(l.Name, what)
	entries := make(Entries, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content) && !d.batch.full; i += 2 {
		key := n.Content[i]
		required := slices.Contains(l.Required, key.Value)
		switch {
		case d.bad[key] || d.isOwn(key.Value):
		case required, slices.Contains(l.Optional, key.Value):
			entries = append(entries, Entry{Key: key, Value: n.Content[i+1], Required: required})
		default:
			found, fix := d.unknownKey(key.Value, l)
			if l.Unknown != nil {
				l.Unknown(key, found, fix)
				continue
			}
			d.Fail(CodeKey, key, found, fix)
		}
	}
	for _, key := range l.Required {
		if entries.At(key).Key == nil && !d.batch.full && !d.Has(n, l, key) {
			d.Fail(CodeValue, n, fmt.Sprintf("%s has no %q", what, key), "write "+d.KeyForm(key))
		}
	}
	return entries
}

// is reports whether a value is of a kind, and refuses it otherwise.
func (d *YAML) is(kind yaml.Kind, n *yaml.Node, what, form string) bool {
	if !d.bad[n] && n.Kind != kind {
		d.Misplaced(n, what, form)
	}
	return !d.bad[n] && n.Kind == kind
}

// Find returns the entry of a key without reading its mapping; false if it is missing, or n is not a mapping.
func (d *YAML) Find(n *yaml.Node, key string) (Entry, bool) {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value == key && !d.bad[k] {
			return Entry{Key: k, Value: n.Content[i+1]}, true
		}
	}
	return Entry{}, false
}

// FirstKey returns the first key of the file for which is holds, and its line; "" without one. depth is the number of
// mappings around the key's own. What is below an author's own key does not count.
func (d *YAML) FirstKey(is func(key string, depth int) bool) (key string, line int) {
	var walk func(n *yaml.Node, depth int)
	walk = func(n *yaml.Node, depth int) {
		for i := 0; i < len(n.Content) && key == ""; i++ {
			child := n.Content[i]
			if n.Kind != yaml.MappingNode {
				walk(child, depth)
				continue
			}
			if i++; d.isOwn(child.Value) {
				continue
			}
			if is(child.Value, depth) {
				key, line = child.Value, child.Line
				return
			}
			walk(n.Content[i], depth+1)
		}
	}
	if d.Root != nil {
		walk(d.Root, 0)
	}
	return key, line
}

// Fields reads a mapping with arbitrary keys, in file order; false if n is not a mapping. what and form are as in
// Mapping.
func (d *YAML) Fields(n *yaml.Node, what, form string) ([]Entry, bool) {
	if !d.is(yaml.MappingNode, n, what, form) {
		return nil, false
	}
	var all []Entry
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i]; !d.bad[key] {
			all = append(all, Entry{Key: key, Value: n.Content[i+1]})
		}
	}
	return all, true
}

// Items reads the items of a list, which may be empty; false if it is not a list. what and form are as in Mapping.
func (d *YAML) Items(e Entry, what, form string) ([]Entry, bool) {
	if !d.is(yaml.SequenceNode, e.Value, what, form) {
		return nil, false
	}
	return e.items(), true
}

func (e Entry) items() []Entry {
	all := make([]Entry, len(e.Value.Content))
	for i, n := range e.Value.Content {
		all[i] = Entry{Key: e.Key, Value: n, isItem: true}
	}
	return all
}

// Empty reports whether a value is empty, "~" or an unquoted null, and not refused yet.
func (d *YAML) Empty(n *yaml.Node) bool { return !d.bad[n] && isNull(n) }

// IsList reports whether a value is a list.
func IsList(n *yaml.Node) bool { return n.Kind == yaml.SequenceNode }

// IsMapping reports whether a value is a mapping.
func IsMapping(n *yaml.Node) bool { return n.Kind == yaml.MappingNode }

// IsFlow reports whether a list or a mapping is in brackets.
func IsFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }
