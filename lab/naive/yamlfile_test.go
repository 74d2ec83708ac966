package naive

import (
	"fmt"
	"slices"
	"strings"
)

// yamlWriter writes YAML in block and flow style.
type yamlWriter struct {
	*writer
	anchored []anchor // of this document
	// separated says that versions of YAML do not agree where the lines end.
	separated bool
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
			p.Documents = append(p.Documents, Document{Root: root, Head: root.At})
		}
		if w.percent(10) && w.Len() > 0 && (len(p.Documents) > 0 || i > 0 || !open) {
			w.put("...")
			w.line()
		}
		open = false
	}
	if w.separated {
		return &Parsed{Code: "E_PARSE"}
	}
	return &p
}

const lineSeparator = "\u2028"

// remark mentions what all remarks do, and nearly never the separator of lines: YAML 1.1 ends a line there, and YAML
// 1.2 does not.
func (w *yamlWriter) remark() string {
	text := w.writer.remark()
	if !strings.Contains(text, lineSeparator) {
		return text
	}
	if w.percent(97) {
		return ""
	}
	w.separated = true
	return text
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

// merge adds the entries of other mappings, which are hidden where there is one already, but for the first own ones,
// which stand before the merge.
func (n *Node) merge(others []*Node, before int) {
	has := func(key string) bool {
		return slices.ContainsFunc(n.Entries[max(before, 0):], func(e Entry) bool {
			return !e.Any && !e.Hidden && e.Key == key
		})
	}
	for _, other := range others {
		n.Tagged = n.Tagged || other.Tagged // what the tag makes of the others is not known
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
		if want.kind == "value" && want.value.Kind == textKind && w.percent(25) {
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
