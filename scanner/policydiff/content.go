package policydiff

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/keys/formats"
)

// A content is a file before its format is known: the values of keys, and lines, which are comments next to keys.
type content struct {
	values []setting
	lines  []string
	deep   bool // ** stands for a key
	broken bool // it cannot be parsed, and looks like a template
}

// A setting is the value of a key, as JSON; "" is no value.
type setting struct {
	path  keyitem.Path
	value string
}

// contents returns, for each item, contents that have it, next to what each version requires otherwise and one of the
// items that it wants a file to contain.
func (s *search) contents() []content {
	s.values = []string{"", `"policyscan"`, "true", "false", "0", "null", "[]"}
	for _, i := range s.items[:min(len(s.items), 100)] {
		if i.Kind == rules.Key {
			for _, c := range slices.Concat(i.Key.Where, i.Key.If, []keyitem.At{{Condition: i.Key.Condition}}) {
				s.values = append(s.values, valuesFor(c.Condition)...)
			}
		}
	}
	slices.Sort(s.values)
	s.values = slices.Compact(s.values)
	all, none, first := []content{{}}, rules.Item{}, map[rules.Item]content{}
	for _, i := range s.items {
		first[meaning(i)] = s.having(i)[0]
	}
	for _, r := range []*rules.Rule{s.rules[1], s.rules[0]} {
		for _, marker := range append(both(s, func(r *rules.Rule) []rules.Item { return r.Containing }), none) {
			for _, i := range append([]rules.Item{none}, s.items...) {
				if len(all) > 2*maxTriesOfRule {
					break
				}
				var rest content
				for _, other := range append(slices.Clip(r.Required), marker) {
					if !other.Means(i) {
						rest.add(first[meaning(other)])
					}
				}
				all = append(all, rest)
				if i == none {
					continue
				}
				for _, c := range s.having(i) {
					one := content{deep: c.deep}
					one.add(rest)
					one.add(c)
					all = append(all, one)
				}
			}
		}
	}
	for _, c := range all[:min(len(all), 200)] {
		if s.keyed {
			all = append(all, content{lines: c.lines, broken: true})
		}
	}
	return all
}

func (c *content) add(o content) {
	c.values, c.lines = append(c.values, o.values...), append(c.lines, o.lines...)
}

// having returns contents that probably have an item, and some that nearly do.
func (s *search) having(i rules.Item) (all []content) {
	if i.Kind == rules.Key {
		return s.havingKey(i.Key)
	}
	texts := []string{i.Text, strings.ToUpper(i.Text), strings.ToLower(i.Text), "a" + i.Text + "a",
		strings.ReplaceAll(i.Text, " ", "  "), strings.ReplaceAll(i.Text, " ", "")}
	if i.Kind == rules.Regex {
		texts = append(regex.Samples(i.Text), regex.Samples(i.Except)...)
	}
	for _, text := range texts {
		all = append(all, content{lines: []string{text}})
	}
	for _, n := range s.within { // after its last line
		all = append(all, content{lines: append(make([]string, min(n, 1000)), texts[0])})
	}
	return all
}

func (s *search) havingKey(k *keyitem.Item) (all []content) {
	conditions, each, usual := slices.Concat(k.Where, k.If), k.Each, valuesFor(k.Condition)[0]
	if each == nil {
		each = []keyitem.Path{nil}
	}
	// add adds a content with a value. One condition, by its index, gets another value than one for which it holds.
	add := func(each, path keyitem.Path, value string, deep bool, condition int, other string) {
		c, from := content{deep: deep}, slices.Concat(each, path[:len(path)-1])
		if k.Each != nil {
			from = each
			c.values = []setting{{slices.Concat(each, keyitem.Path{{Name: "policyscan"}}), "0"}}
		}
		for i, at := range conditions {
			if i >= len(k.Where) {
				at.Path = slices.Concat(from, at.Path)
			}
			c.values = append(c.values, setting{at.Path, other})
			if i != condition {
				c.values[len(c.values)-1].value = valuesFor(at.Condition)[0]
			}
		}
		c.values = append(c.values, setting{slices.Concat(each, path), value})
		all = append(all, c)
	}
	for _, e := range each {
		for _, p := range k.Paths {
			add(e, p, usual, false, -1, "")
			add(e, p, usual, true, -1, "")
		}
	}
	for _, v := range s.values {
		add(each[0], k.Paths[0], v, false, -1, "")
		for i := range conditions {
			add(each[0], k.Paths[0], usual, false, i, v)
			add(each[0], k.Paths[0], "", false, i, v)
		}
	}
	return all
}

// valuesFor returns values about which a condition decides, as JSON: first one for which it probably holds.
func valuesFor(c keyitem.Condition) (all []string) {
	for _, v := range c.Values {
		if all = append(all, v.Text); v.Kind == keyitem.TextValue {
			all[len(all)-1] = quoted(v.Text)
		}
	}
	if c.Match != nil {
		for _, text := range regex.Samples(c.Match.String()) {
			all = append(all, quoted(text))
		}
	}
	all = all[:min(len(all), 12)]
	n, _ := strconv.ParseFloat(c.Limit.String(), 64)
	for _, plus := range map[keyitem.Asks][]float64{keyitem.Below: {-1, 0}, keyitem.Above: {1, 0},
		keyitem.AtLeast: {0, -1}, keyitem.AtMost: {0, 1}}[c.Asks] {
		text := strconv.FormatFloat(n+plus, 'f', -1, 64)
		if c.Quantity {
			text = quoted(text)
		}
		all = append(all, text)
	}
	switch c.Asks {
	case keyitem.IsNot, keyitem.MatchesNot, keyitem.Exists, keyitem.Present:
		return append([]string{`"policyscan"`}, all...)
	case keyitem.Missing:
		return []string{""}
	}
	return all
}

func quoted(text string) string {
	json, _ := json.Marshal(text) // a string has no error
	return string(json)
}

// render returns the content in a format. keyed: lines are comments.
func (c content) render(format formats.Format, keyed bool) string {
	switch lines := strings.Join(c.lines, "\n"); {
	case c.broken:
		return "{{ a }}\n]:{\n" + lines
	case !keyed || format == formats.Dockerfile:
		return lines
	}
	top, text, comment := map[string]any{}, "", "\n# "
	for _, v := range c.values {
		if v.value != "" {
			set(top, v.path, c.deep, json.RawMessage(v.value))
		}
	}
	flow := func(value any) string {
		text, _ := json.Marshal(value) // no error: the values are JSON
		return string(text)
	}
	switch {
	case len(top) == 0:
	case format == formats.HCL || format == formats.TOML:
		for _, k := range slices.Sorted(maps.Keys(top)) {
			text += k + " = " + strings.ReplaceAll(flow(top[k]), `":`, `" = `) + "\n"
		}
	default:
		text = flow(top)
	}
	if format == formats.JSON || format == formats.TerraformJSON {
		comment = "\n// "
	}
	return strings.TrimLeft(strings.Join(append([]string{text}, c.lines...), comment), "\n")
}

// set sets the value at a path of mappings. deep: ** stands for a key.
func set(in map[string]any, path keyitem.Path, deep bool, value any) {
	for i, p := range path {
		name := p.Name
		switch {
		case p.Kind == keyitem.Deep && !deep && i+1 < len(path):
			continue
		case p.Kind != keyitem.Name:
			name = "a"
		}
		below, ok := in[name].(map[string]any)
		switch {
		case i+1 == len(path):
			in[name] = value
		case !ok:
			below = map[string]any{}
			in[name] = below
		}
		in = below
	}
}
