package policydiff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/verdict"
)

// A content is that of a file whose format is not known yet: the values of keys, and lines, as comments next to keys.
type content struct {
	values []setting
	lines  []string
	as     formats.Format // of a key pattern that names it; else ""
	deep   bool           // ** stands for a key
	broken bool           // it cannot be parsed, and looks like a template
}

// A setting is the value of a key, as JSON; "" is no value.
type setting struct {
	path  keyitem.Path
	value string
}

// contents returns, for each item, contents that have it, next to what each version requires otherwise.
func (s *search) contents() []content {
	of := both(s, items)
	s.values = []string{"", `"policyscan"`, "true", "false", "0", "null", "[]"}
	for _, i := range of {
		if i.Kind == rules.Key {
			for _, c := range slices.Concat(i.Key.Where, i.Key.If, []keyitem.At{{Condition: i.Key.Condition}}) {
				s.values = append(s.values, valuesFor(c.Condition)...)
			}
		}
	}
	slices.Sort(s.values)
	s.values = slices.Compact(s.values)
	all := []content{{}}
	for n, r := range []*rules.Rule{s.rules[1], s.rules[0]} {
		if n > 0 && rules.SameItems(r.Required, s.rules[1].Required) {
			break
		}
		for _, marker := range append(both(s, func(r *rules.Rule) []rules.Item { return r.Containing }), rules.Item{}) {
			for _, i := range append(of, rules.Item{}) {
				var rest content
				for _, other := range slices.Concat(r.Required, []rules.Item{marker}) {
					if !other.Means(i) && !other.Means(rules.Item{}) {
						rest = rest.with(s.having(other)[0])
					}
				}
				all = append(all, rest)
				for _, c := range s.having(i) {
					all = append(all, rest.with(c))
				}
			}
		}
	}
	if s.keyed {
		for _, c := range all[:min(len(all), 200)] {
			all = append(all, content{lines: c.lines, broken: true})
		}
	}
	return all
}

func (c content) with(o content) content {
	o.values, o.lines = slices.Concat(c.values, o.values), slices.Concat(c.lines, o.lines)
	return o
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
	for _, o := range both(s, items) {
		if n := min(o.WithinLines, 1000); n > 0 { // before its last line, and after it
			all = append(all, content{lines: append(make([]string, n-1), texts[0])},
				content{lines: append(make([]string, n), texts[0])})
		}
	}
	return all
}

func (s *search) havingKey(k *keyitem.Item) (all []content) {
	conditions := slices.Concat(k.Where, k.If)
	// add adds a content with a value. One condition, by its index, gets another value than one for which it holds.
	add := func(each, path keyitem.Path, value string, deep bool, condition int, other string) {
		c := content{as: formats.Format(k.Format), deep: deep}
		from := slices.Concat(each, path[:len(path)-1])
		if k.Each != nil {
			from = each
			c.values = append(c.values, setting{slices.Concat(each, keyitem.Path{{Name: "policyscan"}}), "0"})
		}
		for i, at := range conditions {
			if i >= len(k.Where) {
				at.Path = slices.Concat(from, at.Path)
			}
			if i != condition {
				c.values = append(c.values, setting{at.Path, valuesFor(at.Condition)[0]})
			} else {
				c.values = append(c.values, setting{at.Path, other})
			}
		}
		c.values = append(c.values, setting{slices.Concat(each, path), value})
		all = append(all, c)
	}
	each, usual := k.Each, valuesFor(k.Condition)[0]
	if each == nil {
		each = []keyitem.Path{nil}
	}
	for _, deep := range []bool{false, true} {
		for _, e := range each {
			for _, p := range k.Paths {
				add(e, p, usual, deep, -1, "")
			}
		}
	}
	for _, v := range s.values {
		add(each[0], k.Paths[0], v, false, -1, "")
		for i := range conditions {
			add(each[0], k.Paths[0], usual, false, i, v)
		}
	}
	return all
}

// valuesFor returns values about which a condition decides, as JSON: first one for which it probably holds.
func valuesFor(c keyitem.Condition) (all []string) {
	const most = 12
	for _, v := range c.Values {
		if all = append(all, v.Text); v.Kind == keyitem.TextValue {
			all[len(all)-1] = quoted(v.Text)
		}
	}
	if c.Match != nil {
		texts := regex.Samples(c.Match.String())
		slices.SortStableFunc(texts, func(a, b string) int { // those that match first
			return strings.Compare(strconv.FormatBool(c.Match.Match([]byte(b))), strconv.FormatBool(c.Match.Match([]byte(a))))
		})
		for _, text := range texts {
			all = append(all, quoted(text))
		}
	}
	all = all[:min(len(all), most)]
	switch n, err := strconv.ParseFloat(c.Limit.String(), 64); c.Asks {
	case keyitem.Below, keyitem.Above, keyitem.AtLeast, keyitem.AtMost:
		nearest := map[keyitem.Asks]float64{keyitem.Below: -1, keyitem.Above: 1}[c.Asks]
		for _, plus := range []float64{nearest, 0, -1, 1} {
			text := strconv.FormatFloat(n+plus, 'f', -1, 64)
			if err != nil || plus == 0 {
				text = c.Limit.String()
			}
			if c.Quantity {
				text = quoted(text)
			}
			all = append(all, text)
		}
	case keyitem.IsNot, keyitem.MatchesNot, keyitem.Exists, keyitem.Present:
		return append([]string{`"policyscan"`}, all...)
	case keyitem.Missing:
		return []string{"", `"policyscan"`}
	}
	return all
}

func quoted(text string) string {
	json, err := verdict.JSON(text)
	if err != nil {
		return `""` // it is not UTF-8
	}
	return strings.TrimSuffix(string(json), "\n")
}

// render returns the content in a format. keyed: lines are comments.
func (c content) render(format formats.Format, keyed bool) string {
	if c.as != "" {
		format = c.as
	}
	switch lines := strings.Join(c.lines, "\n"); {
	case c.broken:
		return "{{ a }}\n]:{\n" + lines
	case !keyed || format == "":
		return lines
	}
	top, text, comment := &node{}, "", "# "
	for _, v := range c.values {
		if v.value != "" {
			top.set(v.path, c.deep, v.value)
		}
	}
	switch {
	case len(top.names) == 0:
	case format == formats.HCL || format == formats.TOML:
		for _, k := range top.names {
			text += k + " = " + top.below[k].inline(" = ") + "\n"
		}
	case format == formats.Dockerfile:
		text = top.dockerfile()
	default:
		text = top.inline(": ") + "\n"
	}
	if format == formats.JSON || format == formats.TerraformJSON {
		comment = "// "
	}
	for _, line := range c.lines {
		text += strings.TrimRight(comment+line, " ") + "\n"
	}
	return text
}

// A node is a mapping, or a value as JSON.
type node struct {
	value string
	names []string
	below map[string]*node
}

// set sets the value at a path. deep: ** stands for a key.
func (n *node) set(path keyitem.Path, deep bool, value string) {
	for i, p := range path {
		name := "a"
		switch {
		case p.Kind == keyitem.Name:
			name = p.Name
		case p.Kind == keyitem.Deep && !deep && i+1 < len(path):
			continue
		}
		if n.below == nil {
			n.below = map[string]*node{}
		}
		if n.below[name] == nil {
			n.below[name] = &node{}
			n.names = append(n.names, name)
		}
		n = n.below[name]
	}
	n.value = value
}

// inline returns the node as YAML, JSON, HCL and TOML have it on a line, with a text between key and value.
func (n *node) inline(is string) string {
	if n.names == nil {
		return n.value
	}
	var all []string
	for _, k := range n.names {
		all = append(all, quoted(k)+is+n.below[k].inline(is))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// dockerfile returns an instruction for each key of a stage, without flags. An instruction's own keys are its texts.
func (n *node) dockerfile() string {
	from, text := "FROM a", ""
	for _, stage := range n.names {
		for _, name := range n.below[stage].names {
			of := n.below[stage].below[name]
			line := strings.ToUpper(name) + " " + strings.Trim(of.value, `"`)
			for _, k := range of.names {
				v := strings.Trim(of.below[k].value, `"`)
				switch {
				case name == "from" && k != "image":
					line = "FROM a" + map[string]string{"tag": ":", "digest": "@", "as": " AS "}[k] + v
				case name == "env" || name == "arg" || name == "label":
					line += k + "=" + v + " "
				default:
					line += v + " "
				}
			}
			if name == "from" {
				from = line
			} else {
				text += line + "\n"
			}
		}
	}
	return from + "\n" + text
}
