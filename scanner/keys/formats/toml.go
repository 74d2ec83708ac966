package formats

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/policyscan/policyscan/scanner/keys"
)

// tomlMade bounds the keys and tables of a text. The decoder finds duplicates by searching the whole table: 350,000
// keys in one table, 4 MB, would take more than two minutes.
const tomlMade = 60_000

// readTOML reads a text twice: go-toml's parser gives the place of each value, and its decoder refuses invalid TOML (a
// duplicate key or table, a day that no month has).
func readTOML(m *meter) ([]keys.Document, error) {
	if err := scanTOML(m); err != nil {
		return nil, err
	}
	t := &tomlReader{meter: m, tables: map[*keys.Node]map[string]int{}}
	document, err := t.document()
	var limit *LimitError
	if errors.As(err, &limit) {
		return nil, err
	}
	var all map[string]any
	if refused := toml.Unmarshal(m.text, &all); refused != nil {
		return nil, tomlError(m, refused) // which says more
	}
	if err != nil {
		return nil, err
	}
	return []keys.Document{document}, nil
}

func (t *tomlReader) document() (keys.Document, error) {
	t.parser.Reset(t.text)
	root := &keys.Node{Kind: keys.Mapping}
	t.open(root)
	table, level, first := root, 1, -1
	for t.parser.NextExpression() {
		t.skip()
		if first < 0 {
			first = t.at
		}
		var err error
		if e := t.parser.Expression(); e.Kind == unstable.KeyValue {
			err = t.assign(table, level, e)
		} else {
			table, level, err = t.header(root, e)
		}
		if err == nil && t.made > tomlMade {
			err = t.limit(t.at, "the file has more than %d keys and tables", tomlMade)
		}
		if err != nil {
			return keys.Document{}, err
		}
	}
	if err := t.parser.Error(); err != nil {
		return keys.Document{}, tomlError(t.meter, err)
	}
	if first < 0 {
		return keys.Document{Root: root}, nil
	}
	root.At = keys.Span{Start: first, End: t.at}
	return keys.Document{Root: root, Head: t.head(first)}, nil
}

// scanTOML counts the levels of arrays, inline tables and dotted keys.
func scanTOML(m *meter) error {
	level, dots := 0, 0
	for i := 0; i < len(m.text); i++ {
		switch c := m.text[i]; c {
		case '"', '\'':
			i = skipTOMLString(m.text, i) - 1
			continue
		case '#':
			if end := bytes.IndexByte(m.text[i:], '\n'); end >= 0 {
				i += end - 1
				continue
			}
			return nil
		case '[', '{':
			level++
			dots = 0
		case ']', '}':
			level = max(level-1, 0)
			dots = 0
		case '.':
			dots++
		case ',', '=', '\n':
			dots = 0
		}
		if err := m.deeper(level+dots, i); err != nil {
			return err
		}
	}
	return nil
}

// skipTOMLString returns the offset after the string that begins at i. An unclosed string ends with its line, or with
// the text if it may have several lines.
func skipTOMLString(text []byte, i int) int {
	quote := text[i]
	triple := []byte{quote, quote, quote}
	long := bytes.HasPrefix(text[i:], triple)
	if long {
		i += 2
	}
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == '\n' && !long:
			return i
		case c == quote && !long:
			return i + 1
		case c == quote && bytes.HasPrefix(text[i:], triple):
			// Up to two quotes before the closing three are text.
			for i += 3; i < len(text) && text[i] == quote; i++ {
			}
			return i
		}
	}
	return len(text)
}

func tomlError(m *meter, err error) error {
	var decode *toml.DecodeError
	var syntax *unstable.ParserError
	switch {
	case errors.As(err, &decode):
		return m.bad(m.offset(decode.Position()), "not TOML: %s", strings.TrimPrefix(decode.Error(), "toml: "))
	case errors.As(err, &syntax):
		return m.bad(cap(m.text)-cap(syntax.Highlight), "not TOML: %s", syntax.Message)
	}
	return m.bad(0, "not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
}

type tomlReader struct {
	*meter
	parser unstable.Parser
	tables map[*keys.Node]map[string]int // of each table, which entry has a name
	made   int                           // keys and tables
	at     int                           // the text is read up to here
}

func (t *tomlReader) open(table *keys.Node) { t.tables[table] = map[string]int{} }

// skip moves on to the first byte that is neither space, comma nor in a comment.
func (t *tomlReader) skip() {
	for ; t.at < len(t.text); t.at++ {
		switch t.text[t.at] {
		case ' ', '\t', '\r', '\n', ',':
		case '#':
			if end := bytes.IndexByte(t.text[t.at:], '\n'); end >= 0 {
				t.at += end
				continue
			}
			t.at = len(t.text)
			return
		default:
			return
		}
	}
}

// span is the place of a node with bytes from go-toml.
func span(n *unstable.Node) keys.Span {
	return keys.Span{Start: int(n.Raw.Offset), End: int(n.Raw.Offset + n.Raw.Length)}
}

// entry returns the named entry of a table, and makes it if needed.
func (t *tomlReader) entry(table *keys.Node, name string, at keys.Span) (entry *keys.Entry, made bool) {
	names := t.tables[table]
	i, there := names[name]
	if !there {
		t.made++
		i = len(table.Entries)
		names[name] = i
		table.Entries = append(table.Entries, keys.Entry{Name: name, Named: true, At: at})
	}
	return &table.Entries[i], !there
}

// within returns the named table in another table: the last one of an array.
func (t *tomlReader) within(table *keys.Node, name string, at, value keys.Span) (*keys.Node, error) {
	entry, made := t.entry(table, name, at)
	if made {
		entry.Value = &keys.Node{Kind: keys.Mapping, At: value}
		t.open(entry.Value)
		return entry.Value, t.add(1)
	}
	inner := entry.Value
	if inner.Kind == keys.List && len(inner.Items) > 0 {
		inner = inner.Items[len(inner.Items)-1]
	}
	if inner.Kind != keys.Mapping {
		return nil, t.bad(at.Start, "not TOML: the key %q has a value that is not a table", name)
	}
	return inner, nil
}

func (t *tomlReader) header(root *keys.Node, e *unstable.Node) (table *keys.Node, level int, err error) {
	t.skip()
	start := t.at
	parts := keyParts(e)
	t.at = span(parts[len(parts)-1]).End
	t.skip()
	t.at++ // the bracket
	if e.Kind == unstable.ArrayTable {
		t.at++
	}
	at := keys.Span{Start: start, End: t.at}
	if err := t.deeper(len(parts)+1, start); err != nil {
		return nil, 0, err
	}
	table = root
	for _, part := range parts[:len(parts)-1] {
		if table, err = t.within(table, string(part.Data), at, at); err != nil {
			return nil, 0, err
		}
	}
	name := string(parts[len(parts)-1].Data)
	if e.Kind == unstable.Table {
		inner, err := t.within(table, name, at, at)
		if err != nil {
			return nil, 0, err
		}
		entry := &table.Entries[t.tables[table][name]]
		entry.At, inner.At = at, at // although [a.b] may have implied it before [a] introduces it
		return inner, len(parts) + 1, nil
	}
	entry, made := t.entry(table, name, at)
	if made {
		entry.Value = &keys.Node{Kind: keys.List, At: at}
	} else if entry.Value.Kind != keys.List {
		return nil, 0, t.bad(start, "not TOML: %q is not an array of tables", name)
	}
	table = &keys.Node{Kind: keys.Mapping, At: at}
	t.open(table)
	t.made++
	entry.Value.Items = append(entry.Value.Items, table)
	return table, len(parts) + 2, t.add(1)
}

func keyParts(e *unstable.Node) []*unstable.Node {
	var parts []*unstable.Node
	for it := e.Key(); it.Next(); {
		parts = append(parts, it.Node())
	}
	return parts
}

// assign puts the value of "a.b = 1" into a table.
func (t *tomlReader) assign(table *keys.Node, level int, e *unstable.Node) (err error) {
	parts := keyParts(e)
	end := int(e.Raw.Offset + e.Raw.Length)
	for i, part := range parts[:len(parts)-1] {
		value := keys.Span{Start: span(parts[i+1]).Start, End: end}
		if table, err = t.within(table, string(part.Data), span(part), value); err != nil {
			return err
		}
	}
	last := parts[len(parts)-1]
	entry, made := t.entry(table, string(last.Data), span(last))
	if !made {
		return t.bad(span(last).Start, "not TOML: the key %q is there twice", last.Data)
	}
	t.at = span(last).End
	t.skip()
	t.at++ // the equals sign
	entry.Value, err = t.value(e.Value(), level+len(parts))
	return err
}

func (t *tomlReader) value(n *unstable.Node, level int) (*keys.Node, error) {
	t.skip()
	start := t.at
	scalar := n.Kind != unstable.Array && n.Kind != unstable.InlineTable
	if scalar {
		level-- // not a node itself
	}
	if err := t.node(level, start); err != nil {
		return nil, err
	}
	if scalar {
		t.at = span(n).End
		return &keys.Node{Kind: keys.ScalarNode, At: span(n), Scalar: t.scalar(n)}, nil
	}
	node := &keys.Node{Kind: keys.List}
	t.made++
	if n.Kind == unstable.InlineTable {
		node.Kind = keys.Mapping
		t.open(node)
	}
	t.at++ // the opening bracket
	for it := n.Children(); it.Next(); {
		if n.Kind == unstable.InlineTable {
			if err := t.assign(node, level, it.Node()); err != nil {
				return nil, err
			}
			continue
		}
		item, err := t.value(it.Node(), level+1)
		if err != nil {
			return nil, err
		}
		node.Items = append(node.Items, item)
	}
	t.skip()
	t.at++ // the closing bracket
	node.At = keys.Span{Start: start, End: t.at}
	return node, nil
}

func (t *tomlReader) scalar(n *unstable.Node) keys.Scalar {
	text := string(n.Data)
	switch n.Kind {
	case unstable.String:
		return known(exactText(text), text)
	case unstable.Bool:
		return known(exactBool(text), text)
	case unstable.Integer, unstable.Float:
		if strings.HasSuffix(text, "inf") || strings.HasSuffix(text, "nan") {
			return keys.Scalar{Texts: []string{text}} // whose spelling differs from format to format
		}
		return known(exactNumber(text), text)
	}
	return keys.Scalar{Texts: []string{text}} // a date
}
