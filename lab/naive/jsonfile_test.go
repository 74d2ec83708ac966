package naive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// jsonWriter writes JSON with comments and trailing commas.
type jsonWriter struct {
	*writer
	terraform bool
}

// writeJSON writes a file with one document or more.
func writeJSON(out *writer, terraform bool) *Parsed {
	w := jsonWriter{out, terraform}
	w.gap()
	top := w.wishMap(4)
	switch n := w.IntN(20); {
	case n == 0:
		top = w.wishValue()
	case n == 1:
		top = &wish{kind: "list", items: []*wish{top, w.wish(3), w.wishMap(3)}}
	case n == 2:
		top = w.kindList(top)
	}
	head := w.Len()
	root := w.node(top)
	w.gap()
	p := &Parsed{Documents: []Document{{Root: root, Head: head, Lists: !terraform}}}
	for w.percent(10) {
		w.put(pick(w.generator, " ", w.lineEnd))
		head := w.Len()
		p.Documents = append(p.Documents, Document{Root: w.node(w.wishMap(3)), Head: head, Lists: !terraform})
		w.gap()
	}
	return p
}

// kindList is a list of Kubernetes with a document, and more.
func (g *generator) kindList(first *wish) *wish {
	items := &wish{kind: "list", items: []*wish{first}}
	for range g.IntN(3) {
		items.items = append(items.items, pick(g, g.wishMap(3), g.wishMap(3), &wish{kind: "null"}))
	}
	kind := pick(g, "List", "List", "xList", "yList", "x", "List x")
	list := &wish{kind: "map", entries: []wishEntry{
		{key: "kind", value: &wish{kind: "value", value: Value{textKind, kind}}},
		{key: "items", value: items},
		{key: "a", value: g.wishValue()},
	}}
	if g.percent(70) {
		version := &wish{kind: "value", value: Value{textKind, pick(g, "v1", "")}}
		list.entries = append(list.entries, wishEntry{key: "apiVersion", value: pick(g, version, version, &wish{kind: "null"})})
	}
	g.Shuffle(len(list.entries), func(i, j int) { list.entries[i], list.entries[j] = list.entries[j], list.entries[i] })
	return list
}

// gap is what may be between two tokens.
func (w jsonWriter) gap() {
	for w.percent(30) {
		switch w.IntN(4) {
		case 0:
			w.put("//" + strings.ReplaceAll(w.remark(), "\u2028", " ")) // there it would end the line
			w.line()
		case 1:
			w.put("/*" + w.remark() + " */")
		case 2:
			w.line()
		default:
			w.put(pick(w.generator, " ", "\t", "  "))
		}
	}
}

// node writes a value.
func (w jsonWriter) node(want *wish) *Node {
	n := &Node{At: w.Len()}
	switch want.kind {
	case "value", "json":
		n.Kind, n.Scalar = ScalarNode, w.read(w.scalar(want.value))
	case "null":
		n.Kind = NullNode
		w.put("null")
	case "list":
		n.Kind = ListNode
		w.put("[")
		for i, item := range want.items {
			w.gap()
			n.Items = append(n.Items, w.node(item))
			w.comma(i+1 < len(want.items))
		}
		w.gap()
		w.put("]")
	case "map":
		n.Kind = MappingNode
		w.put("{")
		for i, e := range want.entries {
			w.gap()
			at := w.text(e.key)
			w.gap()
			w.put(":")
			w.gap()
			n.Entries = append(n.Entries, Entry{Key: e.key, At: at, Value: w.node(e.value)})
			w.comma(i+1 < len(want.entries))
		}
		w.gap()
		w.put("}")
	default: // JSON has no variables and no dates
		text := pick(w.generator, "${var.x}", "2001-01-01", "x-%{if a}")
		n.Kind, n.Scalar = ScalarNode, w.read(w.scalar(Value{textKind, text}))
	}
	return n
}

var template = regexp.MustCompile(`[$%]\{`)

// read is a scalar in the format: in the JSON of Terraform a text with an expression is nothing but a text.
func (w jsonWriter) read(s Scalar) Scalar {
	s.Binary = w.terraform
	if w.terraform && s.Exact.Kind == textKind && template.MatchString(s.Exact.Text) {
		text := s.Exact.Text
		if s.Exact, s.Open = (Value{}), true; !strings.Contains(text, "%{") {
			s.Template = hole.ReplaceAllString(text, holeStart+"$0"+holeEnd)
		}
	}
	return s
}

var hole = regexp.MustCompile(`\$\{[^{}]*\}`)

// comma writes a comma, which may be at the end, too.
func (w jsonWriter) comma(more bool) {
	w.gap()
	if more || w.percent(20) {
		w.put(",")
	}
}

var isJSONNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func (w jsonWriter) scalar(v Value) Scalar {
	return w.value(v, isJSONNumber, 60, func(text string) { w.text(text) })
}

// text writes a text in quotes, and returns its place.
func (w jsonWriter) text(text string) int {
	at := w.put(`"`)
	escapeAll := w.percent(10)
	for _, r := range text {
		short := slices.Index([]rune("\"\\/\b\f\n\r\t"), r)
		switch {
		case short >= 0 && (r != '/' || w.percent(50)):
			w.put(`\` + `"\/bfnrt`[short:short+1])
		case r < ' ' || escapeAll || w.percent(5):
			for _, unit := range utf16.AppendRune(nil, r) {
				w.put(fmt.Sprintf(pick(w.generator, `\u%04x`, `\u%04X`), unit))
			}
		default:
			w.put(string(r))
		}
	}
	w.put(`"`)
	return at
}
