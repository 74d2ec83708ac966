package naive

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// keyItem reads an item with a key.
func (l *loader) keyItem(node *yaml.Node, values map[string]*yaml.Node, list string) Item {
	required := list == "required_patterns"
	known := []string{"key", "where", "is", "matches", "format", "quantity"}
	if required {
		known = append(known, "each", "at_least", "at_most", "any")
	} else {
		known = append(known, "is_not", "matches_not", "below", "above")
	}
	if !required || values["each"] != nil {
		known = append(known, "if")
	}
	l.known(node, known...)
	var k KeyItem
	var parts []string
	part := func(key, json string) { parts = append(parts, jsonString(key)+":"+json) }
	var json string
	if each := values["each"]; each != nil {
		k.Each, json = l.keyPaths(each)
		part("each", json)
	}
	k.Key, json = l.keyPaths(values["key"])
	part("key", json)
	if where := values["where"]; where != nil {
		k.Where, json = l.conditions(where)
		part("where", json)
	}
	if conditions := values["if"]; conditions != nil {
		k.If, json = l.conditions(conditions)
		part("if", json)
		if !required && slices.ContainsFunc(k.Key, onlyAnyNumber) {
			l.wrong(conditions.Line, "if of a value to which no key leads")
		}
	}
	quantity := l.option(values["quantity"], "true")
	for _, form := range []string{"is", "is_not", "matches", "matches_not", "below", "above", "at_least", "at_most"} {
		if value := values[form]; value != nil {
			if k.Form != "" {
				l.wrong(value.Line, "%s and %s", k.Form, form)
			}
			k.Question, json = l.question(form, value, quantity)
			part(form, json)
		}
	}
	if quantity {
		part("quantity", "true")
		if k.Limit.N == "" {
			l.wrong(values["quantity"].Line, "quantity without a limit")
		}
	}
	if k.Any = l.option(values["any"], "true"); k.Any {
		part("any", "true")
		if k.Form == "" {
			l.wrong(values["any"].Line, "any without a value")
		}
	}
	if format := values["format"]; format != nil {
		if k.Format = l.text(format); !slices.Contains([]string{"yaml", "json", "hcl", "toml", dockerFormat}, k.Format) {
			l.wrong(format.Line, "unknown format")
		}
		part("format", jsonString(k.Format))
	}
	return Item{Name: "{" + strings.Join(parts, ",") + "}", Key: &k}
}

// onlyAnyNumber reports whether a path leads to a document, too.
func onlyAnyNumber(path Path) bool {
	return !slices.ContainsFunc(path, func(s Segment) bool { return s.Kind != anyNumber })
}

// question reads what an item or a condition asks of values.
func (l *loader) question(form string, node *yaml.Node, quantities bool) (q Question, json string) {
	q.Form = form
	switch form {
	case "is", "is_not":
		q.Values, json = l.values(node)
	case "matches", "matches_not":
		q.Matches, json = l.expression(node)
	case "missing", "present":
		l.option(node, "true")
		json = "true"
	default:
		q.Limit, json = l.limit(node, quantities)
	}
	return q, json
}

// limit reads a number, or a quantity, with quotes or without.
func (l *loader) limit(node *yaml.Node, quantities bool) (Limit, string) {
	if quantities {
		n, ok := quantity(node.Value)
		if node.Kind != yaml.ScalarNode || node.Style&yaml.TaggedStyle != 0 || !ok {
			l.wrong(node.Line, "no quantity")
		}
		return Limit{n, true}, jsonString(node.Value)
	}
	v, wrong := ruleValue(node)
	if wrong != "" || v.Kind != numberKind {
		l.wrong(node.Line, "no number")
		return Limit{}, ""
	}
	return Limit{N: decimal(v.Text)}, v.Text
}

// expression reads the expression of matches or matches_not, and returns its JSON, too, as all that follow.
func (l *loader) expression(node *yaml.Node) (*Expression, string) {
	expr := l.text(node)
	e := &Expression{Whole: isWhole(expr)}
	var err error
	if e.Whole {
		e.Regexp, err = compileWhole(expr)
	} else {
		e.Regexp, err = compile(expr, false)
	}
	if err != nil && expr != "" {
		l.wrong(node.Line, "%v", err)
	}
	return e, jsonString(expr)
}

// isWhole reports whether an expression begins with flags of which s is one.
func isWhole(expr string) bool {
	return regexp.MustCompile(`^\(\?[a-zA-Z]*s[a-zA-Z]*(-[a-zA-Z]*)?\)`).MatchString(expr)
}

// oneOrMore reads one thing, or a list of some.
func oneOrMore[T any](l *loader, node *yaml.Node, one func(*yaml.Node) (T, string)) ([]T, string) {
	if node.Kind != yaml.SequenceNode {
		thing, json := one(node)
		return []T{thing}, json
	}
	var things []T
	var parts []string
	for _, item := range l.list(node) {
		thing, json := one(item)
		things, parts = append(things, thing), append(parts, json)
	}
	return things, "[" + strings.Join(parts, ",") + "]"
}

func (l *loader) keyPaths(node *yaml.Node) ([]Path, string) {
	var seen []string
	return oneOrMore(l, node, func(node *yaml.Node) (Path, string) {
		text := l.text(node)
		path, wrong := parsePath(text)
		if wrong != "" && text != "" {
			l.wrong(node.Line, "the path %s: %s", text, wrong)
		}
		if slices.Contains(seen, text) {
			l.wrong(node.Line, "the path %s twice", text)
		}
		seen = append(seen, text)
		return path, jsonString(text)
	})
}

// conditions reads where or if.
func (l *loader) conditions(node *yaml.Node) ([]Condition, string) {
	l.mapping(node)
	if len(node.Content) == 0 {
		l.wrong(node.Line, "no path")
	}
	var all []Condition
	var parts []string
	for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
		path, wrong := parsePath(node.Content[i].Value)
		if wrong != "" {
			l.wrong(node.Content[i].Line, "the path %s: %s", node.Content[i].Value, wrong)
		}
		q, json := l.condition(node.Content[i+1])
		all = append(all, Condition{path, q})
		parts = append(parts, jsonString(node.Content[i].Value)+":"+json)
	}
	return all, "{" + strings.Join(parts, ",") + "}"
}

// condition reads a condition: what it asks, or values.
func (l *loader) condition(node *yaml.Node) (Question, string) {
	if node.Kind != yaml.MappingNode {
		return l.question("is", node, false)
	}
	forms := []string{"is", "is_not", "matches", "matches_not", "below", "above", "missing", "present"}
	values := l.mapping(node)
	if l.known(node, forms...); len(values) != 1 || !slices.Contains(forms, node.Content[0].Value) {
		l.wrong(node.Line, "not exactly one condition")
		return Question{}, ""
	}
	form := node.Content[0].Value
	q, json := l.question(form, node.Content[1], false)
	return q, "{" + jsonString(form) + ":" + json + "}"
}

func (l *loader) values(node *yaml.Node) ([]Value, string) {
	var seen []Value
	return oneOrMore(l, node, func(node *yaml.Node) (Value, string) {
		v, wrong := ruleValue(node)
		if wrong != "" {
			l.wrong(node.Line, "the value %s: %s", node.Value, wrong)
		} else if slices.Contains(seen, v) {
			l.wrong(node.Line, "the value %s twice", node.Value)
		}
		seen = append(seen, v)
		if v.Kind == textKind {
			return v, jsonString(v.Text)
		}
		return v, v.Text
	})
}

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	date       = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t]|$)`)
	special    = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|~|null|Null|NULL|=|<<)$`)
)

// ruleValue reads a scalar of a rule: with quotes it is a text.
func ruleValue(node *yaml.Node) (v Value, wrong string) {
	const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	text := node.Value
	switch word, isBoolean := boolean(text); {
	case node.Kind != yaml.ScalarNode:
		return v, "not a scalar"
	case node.Style&yaml.TaggedStyle != 0:
		return v, "a tag"
	case node.Style&quotes != 0:
		return Value{textKind, text}, ""
	case isBoolean && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
		return Value{booleanKind, strconv.FormatBool(word)}, ""
	case jsonNumber.MatchString(text):
		return Value{numberKind, text}, ""
	case isBoolean, text == "", len(numbers(text)) > 0, date.MatchString(text), special.MatchString(text):
		return v, "not the same for everyone"
	}
	return Value{textKind, text}, ""
}

// parsePath reads a path, or returns what is wrong with it.
func parsePath(text string) (path Path, wrong string) {
	for rest := text; ; {
		var s Segment
		if strings.HasPrefix(rest, `"`) {
			end := 1
			var b strings.Builder
			for ; end < len(rest) && rest[end] != '"'; end++ {
				if rest[end] == '\\' {
					if end++; end == len(rest) || rest[end] != '"' && rest[end] != '\\' {
						return nil, "a backslash before something else than a quote or a backslash"
					}
				}
				b.WriteByte(rest[end])
			}
			if end >= len(rest) {
				return nil, "a quote without an end"
			}
			s, rest = Segment{literal, b.String()}, rest[end+1:]
			if rest != "" && rest[0] != '.' {
				return nil, "something behind a quote"
			}
		} else {
			end := strings.IndexByte(rest, '.')
			if end < 0 {
				end = len(rest)
			}
			word := rest[:end]
			rest = rest[end:]
			switch s = (Segment{literal, word}); {
			case word == "*":
				s = Segment{Kind: anyOne}
			case word == "**":
				s = Segment{Kind: anyNumber}
			case word == "":
				return nil, "an empty segment"
			case strings.Contains(word, "*"):
				return nil, "a star beside something"
			case strings.ContainsAny(word, " \"'\\,[](){}<>"):
				return nil, "a character that needs quotes"
			case word[0] == '/', word[0] == '$':
				return nil, "an expression of another language"
			}
		}
		if path = append(path, s); rest == "" {
			return path, ""
		}
		rest = rest[1:]
	}
}
