package naive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// yamlWriter writes YAML in block and flow style.
type yamlWriter struct {
	*writer
	anchored []anchor // of this document
}

type anchor struct {
	name string
	node *Node
}

// writeYAML writes a file with any number of documents.
func writeYAML(out *writer) *Parsed {
	w := &yamlWriter{writer: out}
	if w.percent(2) {
		w.lineEnd = "\r"
	}
	var p Parsed
	open := true // a document can begin without a marker
	count := pick(w.generator, 0, 1, 1, 1, 1, 2, 3)
	if count > 0 && w.percent(8) {
		w.put("%YAML 1.2")
		w.line()
		open = false
	}
	for i := range count {
		w.blank(0)
		if i > 0 || !open || w.percent(30) {
			w.put("---" + pick(w.generator, "", "", " "))
			w.end()
			w.blank(0)
		}
		w.anchored = nil
		if root := w.document(); root != nil {
			p.Documents = append(p.Documents, Document{Root: root, Head: root.At, Lists: true})
		}
		if w.percent(10) && w.Len() > 0 && (len(p.Documents) > 0 || i > 0 || !open) {
			w.put("...")
			w.line()
		}
		open = false
	}
	return &p
}

const lineSeparator = "\u2028"

// remark mentions what all remarks do, but not the separator of lines, which is refused in YAML.
func (w *yamlWriter) remark() string {
	if text := w.writer.remark(); !strings.Contains(text, lineSeparator) {
		return text
	}
	return ""
}

// disputedYAML writes a last document that programs read differently, and returns it as yaml.v3 reads it.
func disputedYAML(w *writer) Document {
	w.WriteString("\n---\n")
	at := w.Len()
	plain := func(text string, at int) *Node {
		return &Node{Kind: ScalarNode, At: at, Scalar: plainScalar(text)}
	}
	value := &Node{Kind: MappingNode, At: at + 3}
	switch w.IntN(5) {
	case 0:
		w.WriteString("q: {r:}\n")
		value.Entries = []Entry{{Key: "r:", At: at + 4, Value: &Node{Kind: NullNode, At: at + 6}}}
	case 1:
		w.WriteString("q: {?r: s}\n")
		value.Entries = []Entry{{Key: "r", At: at + 5, Value: plain("s", at+8)}}
	case 2:
		w.WriteString("q: [r:, s]\n")
		value = &Node{Kind: ListNode, At: at + 3, Items: []*Node{plain("r:", at+4), plain("s", at+8)}}
	case 3:
		w.WriteString("q: &r:s\n")
		value = plain(":s", at+3)
	default:
		w.WriteString("q: [!r, s]\n")
		item := &Node{Kind: ScalarNode, At: at + 4, Tagged: true, Scalar: Scalar{Texts: []string{"s"}, Open: true}}
		value = &Node{Kind: ListNode, At: at + 3, Items: []*Node{item}}
	}
	return Document{Root: &Node{Kind: MappingNode, At: at, Entries: []Entry{{Key: "q", At: at, Value: value}}}, Head: at}
}

// document writes the root of a document, or nothing.
func (w *yamlWriter) document() *Node {
	top := w.wishMap(4)
	switch n := w.IntN(30); {
	case n == 0:
		return nil
	case n == 1:
		w.put(pick(w.generator, "null", "~"))
		w.end()
		return nil
	case n == 2:
		top = w.wishValue()
	case n < 5:
		top = &wish{kind: "list", items: []*wish{top, w.wish(3), w.wishMap(3)}}
	case n < 8:
		top = w.kindList(top)
	}
	n := &Node{At: w.Len()}
	switch {
	case top.kind == "map" && len(top.entries) > 0 && w.percent(85):
		w.mapping(n, top, 0, true)
	case top.kind == "list" && w.percent(85):
		w.list(n, top, 0, true)
	default:
		for top.kind == "null" {
			top = w.wishValue()
		}
		n = w.node(top, -1, false)
		w.end()
	}
	return n
}

// blank writes comments and empty lines.
func (w *yamlWriter) blank(indent int) {
	for w.percent(12) {
		if w.percent(60) {
			w.put(strings.Repeat(" ", max(indent, 0)) + "#" + w.remark())
		}
		w.line()
	}
}

// end ends a line, perhaps with a comment.
func (w *yamlWriter) end() {
	if w.percent(15) {
		w.put(" #" + w.remark())
	}
	w.line()
}

// mapping writes the lines of a mapping; if it is inline, the first one begins here.
func (w *yamlWriter) mapping(n *Node, want *wish, indent int, inline bool) {
	n.Kind = MappingNode
	var merged []*Node
	merge := -1
	if w.percent(35) && len(w.sources()) > 0 {
		merge = w.IntN(len(want.entries))
	}
	for i, e := range want.entries {
		if !inline || i > 0 {
			w.blank(indent)
			w.put(strings.Repeat(" ", indent))
		}
		if i == merge {
			w.put("<<:")
			merged = append(merged, w.merged()...)
			w.put(strings.Repeat(" ", indent))
		}
		entry := Entry{Key: e.key, At: w.Len()}
		switch w.IntN(12) {
		case 0: // an explicit key
			w.put("? ")
			entry.At = w.key(e.key, false)
			w.end()
			w.put(strings.Repeat(" ", indent) + ":")
		case 1:
			if w.percent(30) {
				w.put("? ")
				entry.Any, entry.At = true, w.put("[a, "+pick(w.generator, "b", "x")+"]")
				w.line()
				w.put(strings.Repeat(" ", indent) + ":")
				break
			}
			fallthrough
		default:
			entry.At = w.key(e.key, false)
			w.put(pick(w.generator, ":", ":", ":", " :"))
		}
		entry.Value = w.after(e.value, indent, false)
		n.Entries = append(n.Entries, entry)
	}
	n.merge(merged, merge)
}

// sources are the mappings that can be merged.
func (w *yamlWriter) sources() []anchor {
	return slices.DeleteFunc(slices.Clone(w.anchored), func(a anchor) bool {
		return a.node.Kind != MappingNode
	})
}

// merged writes what a merge key leads to, and the line's end.
func (w *yamlWriter) merged() []*Node {
	one := func() *Node {
		a := pick(w.generator, w.sources()...)
		w.put("*" + a.name)
		return a.node
	}
	w.put(" ")
	var all []*Node
	switch w.IntN(3) {
	case 0:
		w.put("[")
		all = append(all, one())
		w.put(" , ")
		all = append(all, one())
		w.put(" ]")
	case 1:
		w.put("[")
		all = append(all, one())
		w.put(" , {")
		n := &Node{Kind: MappingNode}
		at := w.key("a", true)
		w.put(": ")
		n.Entries = append(n.Entries, Entry{Key: "a", At: at, Value: w.node(w.wishValue(), 8, true)})
		w.put("}]")
		all = append(all, n)
	default:
		all = append(all, one())
	}
	w.end()
	return all
}

// merge adds the entries of other mappings, which are hidden where there is one already, except for the first own ones,
// which stand before the merge.
func (n *Node) merge(others []*Node, before int) {
	has := func(key string) bool {
		return slices.ContainsFunc(n.Entries[max(before, 0):], func(e Entry) bool {
			return !e.Any && !e.Hidden && e.Key == key
		})
	}
	for _, other := range others {
		n.Tagged = n.Tagged || other.Tagged // whether the tag changes the others is not known
		var more []Entry
		for _, e := range other.Entries {
			e.Hidden = e.Hidden || !e.Any && has(e.Key)
			more = append(more, e)
		}
		n.Entries = append(n.Entries, more...)
	}
}

// list writes the lines of a list.
func (w *yamlWriter) list(n *Node, want *wish, indent int, inline bool) {
	n.Kind = ListNode
	for i, item := range want.items {
		if !inline || i > 0 {
			w.blank(indent)
			w.put(strings.Repeat(" ", indent))
		}
		w.put("-")
		n.Items = append(n.Items, w.after(item, indent, true))
	}
}

// after writes a value behind the colon of a key or the dash of an item, and ends the line.
func (w *yamlWriter) after(want *wish, indent int, item bool) *Node {
	block := want.kind == "map" && len(want.entries) > 0 || want.kind == "list" && len(want.items) > 0
	if !block || w.percent(30) {
		if want.kind == "null" && w.percent(40) {
			n := &Node{Kind: NullNode, At: w.Len()}
			w.end()
			return n
		}
		w.put(pick(w.generator, " ", " ", "  "))
		if want.value.Kind == textKind && (want.kind == "value" || want.kind == "json") && w.percent(25) {
			if n := w.blockScalar(want.value.Text, indent); n != nil {
				return n
			}
		}
		n := w.node(want, indent, false)
		w.end()
		return n
	}
	if len(w.anchored) > 0 && w.percent(10) {
		w.put(" ")
		n := w.alias()
		w.end()
		return n
	}
	write := w.list
	if want.kind == "map" {
		write = w.mapping
	}
	n := &Node{}
	if item && w.percent(60) {
		w.put(" ")
		n.At = w.Len()
		write(n, want, indent+2, true)
		return n
	}
	name := ""
	properties := false
	if w.percent(25) {
		w.put(" ")
		n.At, properties = w.Len(), true
		core := map[string]string{"map": "!!map", "list": "!!seq"}[want.kind]
		name = w.properties(n, pick(w.generator, "", "", core, "!Foo"))
	}
	w.end()
	deeper := indent + 1 + w.IntN(4)
	if want.kind == "list" && !item && w.percent(40) {
		deeper = indent
	}
	w.blank(deeper)
	w.put(strings.Repeat(" ", deeper))
	if !properties {
		n.At = w.Len()
	}
	write(n, want, deeper, true)
	w.remember(name, n)
	return n
}

// properties writes an anchor, a tag or both, and returns the name of the anchor.
func (w *yamlWriter) properties(n *Node, tag string) string {
	name := ""
	if tag == "" || w.percent(25) {
		name = fmt.Sprintf("n%d", w.Len())
		w.put("&" + name)
	}
	if tag != "" {
		if name != "" {
			w.put(" ")
		}
		w.put(tag)
	}
	n.Tagged = strings.HasPrefix(tag, "!") && !strings.HasPrefix(tag, "!!")
	return name
}

func (w *yamlWriter) remember(name string, n *Node) {
	if name != "" {
		w.anchored = append(w.anchored, anchor{name, n})
	}
}

// alias writes an alias.
func (w *yamlWriter) alias() *Node {
	a := pick(w.generator, w.anchored...)
	w.put("*" + a.name)
	return a.node
}

// key writes a key, and returns its place.
func (w *yamlWriter) key(key string, flow bool) int {
	at := w.Len()
	if w.percent(6) {
		w.put(pick(w.generator, "!!str ", fmt.Sprintf("&k%d ", at)))
	}
	switch n := w.IntN(10); {
	case n < 6 && isPlain(key, flow):
		w.put(key)
	case n < 8:
		w.single(key)
	default:
		w.double(key, 0, true)
	}
	return at
}

// node writes a value in flow style: on this line, or on some that are deeper than the indent.
func (w *yamlWriter) node(want *wish, indent int, flow bool) *Node {
	if len(w.anchored) > 0 && w.percent(8) {
		n := w.alias()
		if flow {
			w.put(" ")
		}
		return n
	}
	n := &Node{At: w.Len()}
	name := ""
	if want.kind != "null" && w.percent(10) {
		name = w.properties(n, "")
		w.put(" ")
	}
	switch want.kind {
	case "value", "json":
		n.Kind, n.Scalar = ScalarNode, w.scalar(want.value, indent, flow)
	case "open":
		tag := pick(w.generator, "!Ref", "!Sub", "!GetAtt", "!vault", "!<tag:example.com,2000:x>")
		w.put(tag + " ")
		n.Kind, n.Tagged = ScalarNode, true
		w.style(want.value.Text, indent, flow)
		n.Scalar = Scalar{Texts: []string{want.value.Text}, Open: true}
	case "date":
		w.put("2001-01-01")
		n.Kind, n.Scalar = ScalarNode, plainScalar("2001-01-01")
	case "null":
		n.Kind = NullNode
		w.put(pick(w.generator, "null", "Null", "NULL", "~", "!!null null"))
	case "list":
		if w.percent(8) {
			n.Tagged = true
			w.put("!Foo ")
		}
		n.Kind = ListNode
		w.put("[")
		for i, item := range want.items {
			w.gap(indent)
			n.Items = append(n.Items, w.node(item, indent, true))
			w.comma(i+1 < len(want.items), indent)
		}
		w.put("]")
	case "map":
		n.Kind = MappingNode
		w.put("{")
		for i, e := range want.entries {
			w.gap(indent)
			at := w.key(e.key, true)
			entry := Entry{Key: e.key, At: at}
			if e.value.kind == "null" && w.percent(50) {
				w.put(":")
				// Without the space yaml.v3 takes the colon for a part of the key.
				entry.Value = &Node{Kind: NullNode, At: w.Len()}
				w.put(" ")
			} else {
				w.put(": ")
				w.gap(indent)
				entry.Value = w.node(e.value, indent, true)
			}
			n.Entries = append(n.Entries, entry)
			w.comma(i+1 < len(want.entries), indent)
		}
		w.put("}")
	}
	w.remember(name, n)
	return n
}

func (w *yamlWriter) comma(more bool, indent int) {
	w.gap(indent)
	if more || w.percent(15) {
		w.put(", ")
	}
}

// gap is what may be between two tokens in flow style.
func (w *yamlWriter) gap(indent int) {
	for w.percent(10) {
		if w.percent(40) {
			w.put(" #" + w.remark())
		}
		w.line()
		w.put(strings.Repeat(" ", indent+2+w.IntN(3)))
	}
}

// scalar writes a value as what it is, or as a text.
func (w *yamlWriter) scalar(v Value, indent int, flow bool) Scalar {
	form := w.form(v)
	exact := coreSchema(form)
	plain := isPlain(form, flow) && exact.Kind != noKind
	switch n := w.IntN(100); {
	case n < 8 && (v.Kind != textKind || len(form) < 3):
		w.put(pick(w.generator, "!!str ", "!<tag:yaml.org,2002:str> "))
		w.style(form, indent, flow)
		return textScalar(form)
	case n < 16 && v.Kind != textKind && exact.Kind == v.Kind:
		tag := "!!bool "
		if v.Kind == numberKind {
			if tag = "!!float "; isInteger.MatchString(form) {
				tag = pick(w.generator, "!!int ", "!!float ")
			}
			if tag == "!!float " && !isFloat.MatchString(form) {
				tag = "!!int "
			}
		}
		w.put(tag)
		w.style(form, indent, flow)
		return plainScalar(form) // with such a tag, too, the versions of YAML read what they read without quotes
	case n < 65 && plain:
		w.put(form)
		return plainScalar(form)
	case n%2 == 0:
		w.single(form)
	default:
		w.double(form, indent, false)
	}
	return textScalar(form)
}

// plainScalar is a scalar without quotes and tag.
func plainScalar(text string) Scalar {
	return Scalar{Texts: []string{text}, Exact: coreSchema(text), Asked: text, Plain: true}
}

var (
	plainForm = regexp.MustCompile(`^[A-Za-z0-9é.+~-]([A-Za-z0-9é._+: -]*[A-Za-z0-9é._+-])?$`)
	notPlain  = regexp.MustCompile(`: |^-( |$)`)
)

// isPlain reports whether a text can be written without quotes.
func isPlain(text string, flow bool) bool {
	return plainForm.MatchString(text) && !notPlain.MatchString(text) && !(flow && strings.Contains(text, ":"))
}

// style writes a text behind a tag, in any style.
func (w *yamlWriter) style(text string, indent int, flow bool) {
	switch n := w.IntN(3); {
	case n == 0 && isPlain(text, flow):
		w.put(text)
	case n == 1:
		w.single(text)
	default:
		w.double(text, indent, false)
	}
}

// single writes a text in single quotes, if it can.
func (w *yamlWriter) single(text string) {
	if strings.ContainsAny(text, "\n\r\t"+lineSeparator) {
		w.double(text, 0, true)
		return
	}
	w.put("'" + strings.ReplaceAll(text, "'", "''") + "'")
}

// double writes a text in double quotes, a key on one line.
func (w *yamlWriter) double(text string, indent int, key bool) {
	w.put(`"`)
	escapeAll := w.percent(10)
	for _, r := range text {
		short := slices.Index([]rune("\"\\/\b\n\r\t\u2028"), r)
		switch {
		case short >= 0 && (r != '/' || w.percent(50)):
			w.put(`\` + `"\/bnrtL`[short:short+1])
		case r < ' ' || escapeAll || w.percent(5):
			form := pick(w.generator, `\u%04X`, `\U%08x`)
			if r < 256 && w.percent(50) {
				form = `\x%02x`
			}
			w.put(fmt.Sprintf(form, r))
		default:
			w.put(string(r))
			// A line that goes on: spaces at its start do not count.
			if !key && !strings.ContainsAny(text, " \u2028") && w.percent(3) {
				w.put(`\`)
				w.line()
				w.put(strings.Repeat(" ", indent+1+w.IntN(3)))
			}
		}
	}
	w.put(`"`)
}

// blockScalar writes a text as the lines of a block, or returns nil if it cannot. The place is the indicator's.
func (w *yamlWriter) blockScalar(text string, indent int) *Node {
	body, ends := strings.CutSuffix(text, "\n")
	if body == "" || strings.HasPrefix(body, " ") || strings.ContainsAny(body, "\r\t"+lineSeparator) {
		return nil
	}
	n := &Node{Kind: ScalarNode, At: w.Len(), Scalar: textScalar(text)}
	folded := w.percent(40)
	deeper := indent + 1 + w.IntN(4)
	deeper = max(deeper, 1)
	header := "|"
	if folded {
		header = ">"
	}
	if w.percent(20) && indent >= 0 {
		header += fmt.Sprint(deeper - indent)
	}
	if !ends {
		header += "-"
	}
	w.put(header)
	w.end()
	separator := w.lineEnd
	if folded {
		separator += w.lineEnd
	}
	for i, line := range strings.Split(body, "\n") {
		if i > 0 {
			w.put(separator)
		}
		w.put(strings.Repeat(" ", deeper) + line)
	}
	w.line()
	return n
}
