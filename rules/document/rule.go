package document

import (
	"fmt"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Begin reads the id of the rule n, which is unique in the document, and names it in errors until the next Begin.
func (d *YAML) Begin(n *yaml.Node) { d.BeginAbout(n, "id") }

// BeginAbout is Begin for an entry about a rule, with the rule's id at this key.
func (d *YAML) BeginAbout(n *yaml.Node, key string) {
	d.rule = ""
	if n.Kind != yaml.MappingNode {
		return
	}
	// Set early, so that messages about lines before it can name it as well.
	if id := d.peek(n, key); IDMistake(id) == "" {
		d.rule = id
	}
}

// BeginNamed is Begin for rules with a name at this key. Names may have several words and need not be unique.
func (d *YAML) BeginNamed(n *yaml.Node, key string) {
	d.rule = ""
	if n.Kind == yaml.MappingNode {
		d.rule = d.peek(n, key)
	}
}

// End ends the rule list[0] that [YAML.Begin] began; the others follow it in the file. It names the rule in the errors
// that were found in its lines before the walk.
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

// peek returns the string at a key before its mapping is read; "" if it is missing or no string.
func (d *YAML) peek(n *yaml.Node, key string) string {
	e, _ := d.Find(n, key)
	if v := e.Value; v != nil && v.Kind == yaml.ScalarNode && !isNull(v) && !d.bad[v] {
		return v.Value
	}
	return ""
}

// IDMistake returns the mistake in an id; "" without one. An id is one word: users see it in lists, type it after
// --rule and compare it.
func IDMistake(id string) string {
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

// RuleID reads the id of a rule in any batch: one word; "" if it is invalid or missing.
func (d *YAML) RuleID(e Entry) string {
	id, ok := d.Text(e)
	if !ok {
		return ""
	}
	if what := IDMistake(id); what != "" {
		d.Fail(CodeValue, e.Value, "the id is "+what, `write one word, such as "TF-NET-001"`)
		return ""
	}
	return id
}

// ID reads the id of a rule of the batch: one word, and unique; "" if it is invalid or missing.
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
