// Package document reads files of rules strictly: nothing in them is silently ignored, and all mistakes of a file are
// reported at once, each with its line and column and with what to do about it.
//
// A [Source] is the text of a file. [Source.YAML] makes a [YAML] of it, whose methods read one value each: a bundle's
// rule files and the YAML dialects of call rules are read with them. Readers of files that are not YAML make their
// errors with [Source.Error], so that all look the same: an [Error] has one of the codes below, and [Errors] are all
// of them. A [Note] is about something that loads but is often a mistake.
//
// A reader asks for the value of each key, and goes on whatever it gets: what was refused reads as if it were missing,
// and is not reported again.
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
// The text is UTF-8, perhaps after a byte order mark, with LF or CRLF, and is one YAML document. Anchors, aliases,
// merge keys, tags, directives, keys that are not strings and keys that occur twice are refused everywhere. A string
// is read as it is written, whatever type YAML would give it: an unquoted 0777 is "0777", which is noted.
//
// # Limits
//
// A file has at most [MaxFileBytes], lists and mappings are at most 100 deep, and an id has at most 200 bytes. After
// 10,000 mistakes the search for more ends, with an error that says so.
package document

import (
	"cmp"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Limits of files of rules. What is over a limit is an error, never skipped.
const (
	MaxFileBytes    = 4 << 20  // of one file
	MaxRules        = 10_000   // of all files that are read together
	MaxPatternBytes = 64 << 10 // of one pattern
	maxIDBytes      = 200      // of an id: it is in every violation
	maxDepth        = 100      // of nested lists and mappings
	MaxErrors       = 10_000   // mistakes that are reported for one batch; as many notes on its YAML
)

// A YAML is a file of rules that is YAML. Its methods read the values that they are given, and report what they
// refuse, so that a reader can go on and [YAML.Errors] has all mistakes of the file. What was refused once is not
// reported again: it reads as if it were missing.
type YAML struct {
	Root *yaml.Node // nil if there is nothing to walk; Errors says why

	batch  *Batch
	form   Form
	name   string
	text   []byte // as read, without a byte order mark
	lines  []int  // where each line of text begins: 0-based bytes
	ascii  bool   // each character is a byte
	cursor cursor // of the place that was asked for last
	errs   []*Error
	early  int                 // how many of errs were found before the walk
	bad    map[*yaml.Node]bool // what was refused already and is not read
	rule   string              // the id of the rule being read, once it is known to be valid
}

// A Form is how a kind of file is written, as far as the words of a [YAML] depend on it.
type Form struct {
	File     string            // how the whole is written, for a file that is empty
	Keys     map[string]string // how a key is written, as "write ..." says it; "key: …" for one that is not there
	Mappings []string          // keys of lists whose items are mappings
	Levels   []Level           // where an unknown key could belong instead
	Closed   bool              // keys that begin with "x-" are unknown, too

	// Patterns are keys of strings that are searched for. They and those of Verbatim must be exactly what is meant:
	// where YAML joins the lines of an unquoted string, or ends it before a comment, that is noted.
	Patterns, Verbatim []string
}

// An Entry is a key of a mapping and its value, or an item of the list that is that value.
type Entry struct {
	Key, Value *yaml.Node // both nil if the key is not there
	Required   bool       // the key must be there
	isItem     bool
}

// Entries are what a mapping has of the keys that are known: one for each that is there, in the order of the file.
type Entries []Entry

// At returns the entry of a key; the zero Entry if the key is not there.
func (all Entries) At(key string) Entry {
	for _, e := range all {
		if e.Key.Value == key {
			return e
		}
	}
	return Entry{}
}

// A Place is a position in a file: both 1-based, the column in bytes; 0 is unknown.
type Place struct{ Line, Column int }

// A Spot is a place in a file and the text there, as [Error.Source] returns it. The zero Spot is unknown.
type Spot struct {
	Place
	source string
	caret  int
}

// Error returns e with the place and the text of the spot.
func (s Spot) Error(e Error) *Error {
	e.Line, e.Column, e.source, e.caret = s.Line, s.Column, s.source, s.caret
	return &e
}

// A Batch is several files that are read one after the other, such as those of a bundle: an id is in one of them
// only, and the limits on mistakes and notes are for all of them. The zero Batch is empty.
type Batch struct {
	Errors Errors // of the files that were added, and others
	Notes  []Note
	full   bool // MaxErrors was reached
	ids    map[string]firstID
}

// YAML reads the text as one YAML document.
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

// Add adds the errors of a file of the batch, once it is read.
func (b *Batch) Add(d *YAML) {
	sortErrors(d.errs)
	b.Errors = append(b.Errors, d.errs...)
}

// Errors returns an [Errors] of all that was refused, by line and column; nil if nothing was.
func (d *YAML) Errors() error {
	if len(d.errs) == 0 {
		return nil
	}
	sortErrors(d.errs)
	return Errors(d.errs)
}

// Mistakes returns how many mistakes were found in the file so far.
func (d *YAML) Mistakes() int { return len(d.errs) }

// Full reports whether there are so many mistakes that no more are looked for.
func (d *YAML) Full() bool { return d.batch.full }

// Notes returns what loads and other readers of YAML, or people, would take for something else.
func (d *YAML) Notes() []Note { return d.batch.Notes }

// Fail refuses a value, at the place where it begins.
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
	e := &Error{Code: code, File: d.name, Line: at.Line, Column: at.Column, Rule: d.rule, Found: found, Fix: fix}
	e.source, e.caret = around(d.line(at.Line), at.Column)
	d.errs = append(d.errs, e)
}

// Spot returns where a value begins, with the text there.
func (d *YAML) Spot(n *yaml.Node) Spot {
	s := Spot{Place: d.Place(n)}
	s.source, s.caret = around(d.line(s.Line), s.Column)
	return s
}

// Mapping reads the keys of a mapping. What is unknown, missing or not a mapping is reported; those that begin with
// "x-" are free, unless the form is closed. It returns nil if n is something else. what is n's name in messages, with
// its article, and form is how it is written. A level without a name has this one.
func (d *YAML) Mapping(n *yaml.Node, what, form string, l Level) Entries {
	if d.bad[n] {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.Misplaced(n, what, form)
		return nil
	}
	l.Name = cmp.Or(l.Name, what)
	entries := make(Entries, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content) && !d.batch.full; i += 2 {
		key := n.Content[i]
		known, required := l.has(key.Value)
		switch {
		case d.bad[key] || d.isOwn(key.Value):
		case known:
			entries = append(entries, Entry{Key: key, Value: n.Content[i+1], Required: required})
		default:
			found, fix := d.unknownKey(key.Value, l)
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

// Find returns the entry of a key, before its mapping is read or besides; false if it is not there, or n is not a
// mapping.
func (d *YAML) Find(n *yaml.Node, key string) (Entry, bool) {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value == key && !d.bad[k] {
			return Entry{Key: k, Value: n.Content[i+1]}, true
		}
	}
	return Entry{}, false
}

// Fields reads a mapping whose keys are for the writer to choose, in the order of the file; false if n is
// something else. what and form are those of Mapping.
func (d *YAML) Fields(n *yaml.Node, what, form string) ([]Entry, bool) {
	switch {
	case d.bad[n]:
		return nil, false
	case n.Kind != yaml.MappingNode:
		d.Misplaced(n, what, form)
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

// Items reads the items of a list, which may be empty; false if it is something else. what and form are
// those of Mapping.
func (d *YAML) Items(e Entry, what, form string) ([]Entry, bool) {
	switch {
	case d.bad[e.Value]:
		return nil, false
	case e.Value.Kind != yaml.SequenceNode:
		d.Misplaced(e.Value, what, form)
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

// Empty reports whether a value is none: nothing, "~" or an unquoted null, and not refused yet.
func (d *YAML) Empty(n *yaml.Node) bool { return !d.bad[n] && isNull(n) }

// IsList reports whether a value is a list.
func IsList(n *yaml.Node) bool { return n.Kind == yaml.SequenceNode }

// IsMapping reports whether a value is a mapping.
func IsMapping(n *yaml.Node) bool { return n.Kind == yaml.MappingNode }

// IsFlow reports whether a list or a mapping is in brackets.
func IsFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }
