package document

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// What an editor of a file needs: where in its text each value is, in bytes from the end of a byte order mark.

// Start returns where a value begins.
func (d *YAML) Start(n *yaml.Node) int {
	at := d.place(n)
	return d.lines[at.Line-1] + at.Column - 1
}

// Span returns where a value begins and ends: a list or a mapping in brackets with them, another with its last value, a
// block scalar without the end of its last line. false if that cannot be seen: of a block scalar that says how far it
// is indented, and of an item or a value that is empty.
func (d *YAML) Span(n *yaml.Node) (start, end int, ok bool) {
	start = d.Start(n)
	switch {
	case n.Kind == yaml.ScalarNode:
		end, ok = d.scalarEnd(n, start)
		return start, end, ok
	case n.Kind == yaml.AliasNode:
		return start, start, false
	}
	end = start
	if n.Style&yaml.FlowStyle != 0 {
		end++
	}
	if len(n.Content) > 0 {
		if _, end, ok = d.Span(n.Content[len(n.Content)-1]); !ok {
			return start, end, false
		}
	}
	if n.Style&yaml.FlowStyle == 0 {
		return start, end, true
	}
	end = d.Skip(end, ",")
	return start, end + 1, end < len(d.text) && (d.text[end] == ']' || d.text[end] == '}')
}

// Skip returns the first place from one on that is neither space, nor in a comment, nor one of some characters.
func (d *YAML) Skip(from int, also string) int {
	for from < len(d.text) {
		switch c := d.text[from]; {
		case c == '#':
			from = d.lineEnd(from)
		case strings.IndexByte(" \t\r\n"+also, c) >= 0:
			from++
		default:
			return from
		}
	}
	return from
}

// lineEnd returns where the line break of a line is, or the end of the text.
func (d *YAML) lineEnd(from int) int {
	if n := bytes.IndexByte(d.text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(d.text)
}

// scalarEnd returns where a string that begins at a place ends.
func (d *YAML) scalarEnd(n *yaml.Node, start int) (end int, ok bool) {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := start + 1; i < len(d.text); i++ {
			switch d.text[i] {
			case '\\':
				i++
			case '"':
				return i + 1, true
			}
		}
		return start, false
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := start + 1; i < len(d.text); i++ {
			switch {
			case d.text[i] != '\'':
			case i+1 < len(d.text) && d.text[i+1] == '\'':
				i++
			default:
				return i + 1, true
			}
		}
		return start, false
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.blockEnd(start)
	}
	return d.plainEnd(n.Value, start)
}

// blockEnd returns where a block scalar ends whose indicator is at a place: with the last line that is indented at
// least like the first.
func (d *YAML) blockEnd(start int) (end int, ok bool) {
	end = d.lineEnd(start)
	header, _, _ := bytes.Cut(d.text[start:end], []byte("#"))
	if bytes.ContainsAny(header, "123456789") {
		return end, false
	}
	indent := -1
	for at := end + 1; at < len(d.text); {
		next := d.lineEnd(at)
		line := bytes.TrimRight(d.text[at:next], "\r")
		own := len(line) - len(bytes.TrimLeft(line, " "))
		if own < len(line) {
			if indent < 0 {
				indent = own
			}
			if own < indent || indent == 0 {
				break
			}
			end = at + len(line)
		}
		at = next + 1
	}
	return end, indent > 0
}

// plainEnd returns where an unquoted string ends: YAML has joined its lines, so only what is not space is compared.
func (d *YAML) plainEnd(value string, start int) (end int, ok bool) {
	const space = " \t\r\n"
	end = start
	for value != "" {
		rest := strings.TrimLeft(value, space)
		if len(rest) < len(value) {
			value = rest
			for end < len(d.text) && strings.IndexByte(space, d.text[end]) >= 0 {
				end++
			}
			continue
		}
		if end == len(d.text) || d.text[end] != value[0] {
			return start, false
		}
		value = value[1:]
		end++
	}
	return end, end > start
}
