package naive

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// item reads a pattern item of a list: a text, or a mapping.
func (l *loader) item(node *yaml.Node, list string) Item {
	if node.Kind != yaml.MappingNode || l.file.Version != "0.2" {
		text := l.text(node)
		return Item{Name: l.name(text), Text: text}
	}
	values := l.mapping(node)
	forms := 0
	for _, form := range []string{"text", "regex", "key"} {
		if values[form] != nil {
			forms++
		}
	}
	switch {
	case forms != 1:
		l.wrong(node.Line, "not exactly one of text, regex and key")
	case values["key"] != nil:
		return l.keyItem(node, values, list)
	case values["regex"] != nil:
		return l.regex(node, values)
	default:
		return l.textItem(node, values)
	}
	return Item{}
}

// name is what a plain text is called.
func (l *loader) name(text string) string {
	if l.file.Version == "0.2" && strings.HasPrefix(text, "{") {
		return jsonString(text)
	}
	return text
}

func (l *loader) regex(node *yaml.Node, values map[string]*yaml.Node) Item {
	l.known(node, "regex", "except", "within_lines", "only")
	compiled := func(key string) (*regexp.Regexp, string) {
		expr := l.text(values[key])
		re, err := compile(expr, true)
		if err != nil && expr != "" {
			l.wrong(values[key].Line, "%v", err)
		}
		return re, jsonString(key) + ":" + jsonString(expr)
	}
	var i Item
	i.Regexp, i.Name = compiled("regex")
	if values["except"] != nil {
		except, name := compiled("except")
		i.Except, i.Name = except, i.Name+","+name
	}
	lines, name := l.withinLines(values["within_lines"])
	i.WithinLines, i.Name = lines, i.Name+name
	if i.OnlyUnparsable = l.option(values["only"], "unparsable"); i.OnlyUnparsable {
		i.Name += `,"only":"unparsable"`
	}
	i.Name = "{" + i.Name + "}"
	return i
}

// withinLines reads a number of lines, and returns how it is named; 0 if it is missing.
func (l *loader) withinLines(node *yaml.Node) (lines int, name string) {
	if node == nil {
		return 0, ""
	}
	lines, err := strconv.Atoi(node.Value)
	if node.Kind != yaml.ScalarNode || node.Style != 0 || err != nil || lines < 1 || strconv.Itoa(lines) != node.Value {
		l.wrong(node.Line, "no whole number from 1 on")
	}
	return lines, `,"within_lines":` + node.Value
}

func (l *loader) textItem(node *yaml.Node, values map[string]*yaml.Node) Item {
	l.known(node, "text", "within_lines", "spaces", "words", "case", "only")
	text := l.text(values["text"])
	i := Item{
		Text:       text,
		Spaces:     l.option(values["spaces"], "any"),
		Words:      l.option(values["words"], "true"),
		IgnoreCase: l.option(values["case"], "ignore"),

		OnlyUnparsable: l.option(values["only"], "unparsable"),
	}
	lines, lineName := l.withinLines(values["within_lines"])
	i.WithinLines = lines
	if text == "" {
		return i
	}
	const blanks = " \t"
	switch {
	case i.Spaces && !strings.ContainsAny(text, blanks):
		l.wrong(values["spaces"].Line, "spaces without a space")
	case i.Spaces && strings.Trim(text, blanks) != text:
		l.wrong(values["spaces"].Line, "spaces with a space at an end")
	}
	if i.IgnoreCase && !strings.ContainsFunc(text, func(r rune) bool { return r < 128 && letterCase(byte(r)) != 0 }) {
		l.wrong(values["case"].Line, "case without a letter")
	}
	if i.Words && !isWord(uint32(text[0])) && !isWord(uint32(text[len(text)-1])) {
		l.wrong(values["words"].Line, "words without a word character at an end")
	}
	if i.Name = l.name(text); i.Spaces || i.Words || i.IgnoreCase || lines > 0 || i.OnlyUnparsable {
		i.Name = `{"text":` + jsonString(text) + lineName
		if i.Spaces {
			i.Name += `,"spaces":"any"`
		}
		if i.Words {
			i.Name += `,"words":true`
		}
		if i.IgnoreCase {
			i.Name += `,"case":"ignore"`
		}
		if i.OnlyUnparsable {
			i.Name += `,"only":"unparsable"`
		}
		i.Name += "}"
	}
	return i
}

// option reports whether an option is there; it has one value.
func (l *loader) option(node *yaml.Node, value string) bool {
	if node != nil && l.text(node) != value {
		l.wrong(node.Line, "not the value %s", value)
	}
	return node != nil
}

// jsonString writes a text in JSON, and escapes only what has to be.
func jsonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		short := slices.Index([]rune("\"\\\b\f\n\r\t"), r)
		switch {
		case short >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\bfnrt`[short])
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
