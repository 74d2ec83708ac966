package editor

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
)

// A schema is the JSON Schema of rule files, for one of them.
type schema struct {
	root    map[string]any
	scalars map[string]string // the keys with a scalar at the top of the file, on which the rest depends
}

// A part is a schema for a value. maybe: only under a condition that was not evaluated.
type part struct {
	schema map[string]any
	maybe  bool
}

// schemaAt returns the schema of a rule file, and its parts for the value at a path in it. Items of lists have the path
// of the list.
func schemaAt(file string, o *outline, keys string) (*schema, []part) {
	s := &schema{scalars: map[string]string{}}
	if err := json.Unmarshal(rules.Schema(), &s.root); err != nil {
		panic(err)
	}
	of := "other"
	if name := path.Base(file); rules.IsRuleFile(name) {
		of = strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
	}
	for _, n := range o.nodes {
		if !n.isKey && n.parent >= 0 && o.nodes[n.parent].parent < 0 {
			s.scalars[o.nodes[n.parent].text] = n.text
		}
	}
	parts := s.expand(nil, map[string]any{"$ref": of}, false, true)
	for key := range strings.FieldsSeq(keys) {
		parts = s.below(parts, key)
	}
	return s, parts
}

// below returns the parts for the value of a key; none if it is refused.
func (s *schema) below(parts []part, key string) (below []part) {
	for _, p := range parts {
		properties, _ := p.schema["properties"].(map[string]any)
		value, known := properties[key]
		switch {
		case known && value == false && !p.maybe:
			return nil
		case !known:
			value = p.schema["additionalProperties"]
		}
		below = s.expand(below, value, p.maybe, false)
	}
	return below
}

// expand adds a schema with all schemas in it, and the schemas of its items. top: it is for the whole file.
func (s *schema) expand(into []part, value any, maybe, top bool) []part {
	m, is := value.(map[string]any)
	if !is {
		return into
	}
	into = append(into, part{m, maybe})
	if ref, is := m["$ref"].(string); is {
		into = s.expand(into, s.root["$defs"].(map[string]any)[path.Base(ref)], maybe, top)
	}
	all, _ := m["allOf"].([]any)
	for _, one := range all {
		into = s.expand(into, one, maybe, top)
	}
	if condition, is := m["if"].(map[string]any); is {
		holds, known := s.holds(condition, top)
		if holds || !known {
			into = s.expand(into, m["then"], maybe || !known, top)
		}
		if !holds || !known {
			into = s.expand(into, m["else"], maybe || !known, top)
		}
	}
	return s.expand(into, m["items"], maybe, false)
}

// holds evaluates a condition on the scalars at the top of the file; known is false for any other.
func (s *schema) holds(condition map[string]any, top bool) (holds, known bool) {
	required, is := condition["required"].([]any)
	properties, _ := condition["properties"].(map[string]any)
	holds = true
	for _, key := range required {
		value, has := s.scalars[key.(string)]
		wanted, _ := properties[key.(string)].(map[string]any)
		holds = holds && has && (wanted["const"] == nil || wanted["const"] == value)
	}
	return holds, is && top
}

// description returns the text about a value, or "".
func description(parts []part) string {
	for _, p := range parts {
		if text, is := p.schema["description"].(string); is {
			return text
		}
	}
	return ""
}

// keys returns the keys of a mapping, each with its text.
func (s *schema) keys(parts []part) map[string]string {
	texts := map[string]string{}
	for _, p := range parts {
		properties, _ := p.schema["properties"].(map[string]any)
		for name := range properties {
			if below := s.below(parts, name); len(below) > 0 {
				texts[name] = description(below)
			}
		}
	}
	return texts
}

// values returns the values that a closed value can have, as YAML.
func values(parts []part) (all []string) {
	for _, p := range parts {
		list, _ := p.schema["enum"].([]any)
		if one, is := p.schema["const"]; is {
			list = append(list, one)
		}
		if p.schema["type"] == "boolean" {
			list = append(list, true, false)
		}
		for _, value := range list {
			text := string(encode(value))
			if word := strings.Trim(text, `"`); !strings.ContainsAny(word, "0123456789") { // a version is in quotes
				text = word
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}
