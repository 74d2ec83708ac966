package document

import (
	"fmt"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Begin reads the id of the rule n, which is unique in the document, and names it in the errors up to the next Begin.
func (d *YAML) Begin(n *yaml.Node) { d.BeginAbout(n, "id") }

// BeginAbout is Begin for something that is about a rule, whose id is at this key.
func (d *YAML) BeginAbout(n *yaml.Node, key string) {
	d.rule = ""
	if n.Kind != yaml.MappingNode {
		return
	}
	// It is known here, so that the messages before it in the file can name it as well.
	if id := d.peek(n, key); idMistake(id) == "" {
		d.rule = id
	}
}

// BeginNamed is Begin for rules that have a name, which may be of several words and there twice, by this key.
func (d *YAML) BeginNamed(n *yaml.Node, key string) {
	d.rule = ""
	if n.Kind == yaml.MappingNode {
		d.rule = d.peek(n, key)
	}
}

// End ends the rule that [YAML.Begin] began, the first of these; the others follow it in the file. The errors of its
// lines that were found before the walk get its name then, too.
func (d *YAML) End(list []Entry) {
	begin, end := list[0].Value.Line, len(d.lines)+1
	if len(list) > 1 {
		end = list[1].Value.Line
	}
	for _, e := range d.errs[:d.early] {
		if d.rule != "" && begin <= e.Line && e.Line < end {
			e.Rule = d.rule
		}
	}
	d.rule = ""
}

// peek returns the text of a key before its mapping is read; "" if it is not one, or missing.
func (d *YAML) peek(n *yaml.Node, key string) string {
	e, _ := d.Find(n, key)
	if v := e.Value; v != nil && v.Kind == yaml.ScalarNode && !isNull(v) && !d.bad[v] {
		return v.Value
	}
	return ""
}

// idMistake says what is wrong with an id. An id is one word: it is shown in lists, typed
// after --rule and compared by people.
func idMistake(id string) string {
	if len(id) > maxIDBytes {
		return fmt.Sprintf("longer than %d bytes", maxIDBytes)
	}
	for _, r := range id {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return fmt.Sprintf("not one word: it has the character U+%04X", r)
		}
	}
	return ""
}

// RuleID reads the id of a rule, which need not be in the batch: one word; "" if it is not one, or missing.
func (d *YAML) RuleID(e Entry) string {
	id, ok := d.Text(e)
	if !ok {
		return ""
	}
	if what := idMistake(id); what != "" {
		d.Fail(CodeValue, e.Value, "the id is "+what, `write one word, such as "TF-NET-001"`)
		return ""
	}
	return id
}

// ID reads the id of a rule of the batch: one word, and unique; "" if it is not one, or missing.
func (d *YAML) ID(e Entry) string {
	id := d.RuleID(e)
	if id == "" {
		return ""
	}
	if first, twice := d.batch.ids[id]; twice {
		d.Fail(CodeDuplicate, e.Value, fmt.Sprintf("duplicate id, first at %s:%d", first.file, first.line),
			"give each rule its own id, deprecated rules included")
		return ""
	}
	if d.batch.ids == nil {
		d.batch.ids = map[string]firstID{}
	}
	d.batch.ids[id] = firstID{d.name, e.Value.Line}
	return id
}

type firstID struct {
	file string
	line int
}
