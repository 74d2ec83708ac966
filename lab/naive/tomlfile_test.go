package naive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// tomlWriter writes TOML.
type tomlWriter struct{ *writer }

// writeTOML writes a file: the values first, then the tables.
func writeTOML(out *writer) *Parsed {
	w := tomlWriter{out}
	root := &Node{Kind: MappingNode}
	head := -1
	w.blank()
	first := func() {
		if head < 0 {
			head = w.Len()
			root.At = head
		}
	}
	w.table(root, nil, w.wishMap(4), first)
	w.blank()
	return &Parsed{Documents: []Document{{Root: root, Head: head}}}
}

// blank writes comments and empty lines.
func (w tomlWriter) blank() {
	for w.percent(25) {
		w.put(pick(w.generator, "", " ", "\t"))
		if w.percent(60) {
			w.put("#" + w.remark())
		}
		w.line()
	}
}

// end ends a line, perhaps with a comment.
func (w tomlWriter) end() {
	if w.percent(20) {
		w.put(" #" + w.remark())
	}
	w.line()
	w.blank()
}

// table writes what is in a table: what is on its own lines, and then what has headers.
func (w tomlWriter) table(n *Node, path []string, want *wish, first func()) {
	var later []wishEntry
	seen := map[string]bool{}
	for _, e := range want.entries {
		if seen[e.key] || e.value.kind == "null" {
			continue
		}
		seen[e.key] = true
		tables := e.value.kind == "list" && len(e.value.items) > 0 &&
			!slices.ContainsFunc(e.value.items, func(item *wish) bool { return item.kind != "map" })
		if e.block && e.value.kind == "map" || tables && w.percent(70) {
			later = append(later, e)
			continue
		}
		first()
		if e.value.kind == "map" && w.percent(50) && w.dotted(n, e) {
			continue
		}
		at := w.key(e.key)
		w.equals()
		n.Entries = append(n.Entries, Entry{Key: e.key, At: at, Value: w.node(e.value)})
		w.end()
	}
	for _, e := range later {
		path := append(slices.Clone(path), e.key)
		if e.value.kind == "map" {
			first()
			at := w.header("[", path, "]")
			child := &Node{Kind: MappingNode, At: at}
			n.Entries = append(n.Entries, Entry{Key: e.key, At: at, Value: child})
			w.table(child, path, e.value, first)
			continue
		}
		list := &Node{Kind: ListNode, At: w.Len()}
		first()
		n.Entries = append(n.Entries, Entry{Key: e.key, At: w.Len(), Value: list})
		for _, item := range e.value.items {
			child := &Node{Kind: MappingNode, At: w.header("[[", path, "]]")}
			list.Items = append(list.Items, child)
			w.table(child, path, item, first)
		}
	}
}

// dotted writes a mapping as lines with dotted keys, if it can.
func (w tomlWriter) dotted(n *Node, e wishEntry) bool {
	var simple []wishEntry
	seen := map[string]bool{}
	for _, sub := range e.value.entries {
		if !seen[sub.key] && sub.value.kind != "null" {
			seen[sub.key] = true
			simple = append(simple, sub)
		}
	}
	if len(simple) == 0 {
		return false
	}
	child := &Node{Kind: MappingNode, At: w.Len()}
	n.Entries = append(n.Entries, Entry{Key: e.key, At: w.Len(), Value: child})
	for _, sub := range simple {
		w.key(e.key)
		w.put(pick(w.generator, ".", ".", " . ", ".\t"))
		at := w.key(sub.key)
		if len(child.Entries) == 0 {
			child.At = at
		}
		w.equals()
		child.Entries = append(child.Entries, Entry{Key: sub.key, At: at, Value: w.node(sub.value)})
		w.end()
	}
	return true
}

func (w tomlWriter) equals() { w.put(pick(w.generator, "=", " = ", "\t=", "= ")) }

// header writes the header of a table, and returns its place.
func (w tomlWriter) header(open string, path []string, end string) int {
	at := w.put(open)
	for i, key := range path {
		if i > 0 {
			w.put(pick(w.generator, ".", " . "))
		}
		w.key(key)
	}
	w.put(end)
	w.end()
	return at
}

var isBare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// key writes a key, and returns its place.
func (w tomlWriter) key(key string) int {
	switch {
	case isBare.MatchString(key) && w.percent(60):
		return w.put(key)
	case w.percent(50) && !strings.ContainsAny(key, "'\n"):
		return w.put("'" + key + "'")
	}
	return w.basic(key)
}

// basic writes a text in double quotes on one line.
func (w tomlWriter) basic(text string) int {
	at := w.put(`"`)
	w.escaped(text, false)
	w.put(`"`)
	return at
}

func (w tomlWriter) escaped(text string, lines bool) {
	for _, r := range text {
		short := slices.Index([]rune("\"\\\b\f\n\r\t"), r)
		switch {
		case lines && r == '\n' && w.lineEnd == "\n" && w.percent(70):
			w.line()
		case short >= 0:
			w.put(`\` + `"\bfnrt`[short:short+1])
		case r < ' ' || w.percent(5):
			w.put(fmt.Sprintf(pick(w.generator, `\u%04x`, `\U%08X`), r))
		default:
			w.put(string(r))
		}
		if lines && w.percent(5) && !strings.ContainsAny(text, " \t\n\r\u2028") { // what is white would be trimmed
			w.put("\\")
			w.line()
			w.put(pick(w.generator, "", "  ", "\t"))
		}
	}
}

// node writes a value.
func (w tomlWriter) node(want *wish) *Node {
	n := &Node{At: w.Len()}
	switch want.kind {
	case "value", "json":
		n.Kind, n.Scalar = ScalarNode, w.scalar(want.value)
	case "list":
		n.Kind = ListNode
		w.put("[")
		for i, item := range want.items {
			if item.kind == "null" {
				item = &wish{kind: "list"}
			}
			w.space()
			n.Items = append(n.Items, w.node(item))
			w.space()
			if i+1 < len(want.items) || w.percent(20) {
				w.put(",")
			}
		}
		w.space()
		w.put("]")
	case "map":
		n.Kind = MappingNode
		w.put("{")
		seen := map[string]bool{}
		for _, e := range want.entries {
			if seen[e.key] || e.value.kind == "null" {
				continue
			}
			if len(seen) > 0 {
				w.put(pick(w.generator, ",", ", ", " ,"))
			}
			seen[e.key] = true
			w.put(pick(w.generator, "", " "))
			at := w.key(e.key)
			w.equals()
			n.Entries = append(n.Entries, Entry{Key: e.key, At: at, Value: w.node(e.value)})
		}
		w.put(pick(w.generator, "", " "))
		w.put("}")
	case "open":
		n.Kind, n.Scalar = ScalarNode, w.scalar(want.value)
	default:
		form := pick(w.generator, "2001-01-01", "07:32:00", "2001-01-01T07:32:00Z", "2001-01-01 07:32:00")
		w.put(form)
		n.Kind, n.Scalar = ScalarNode, Scalar{Texts: []string{form}}
	}
	return n
}

// space is what may be between the tokens of a list.
func (w tomlWriter) space() {
	for w.percent(15) {
		w.put(pick(w.generator, " ", "\t", " "))
		if w.percent(40) {
			w.put("#" + w.remark())
			w.line()
		}
	}
}

var isTOMLNumber = regexp.MustCompile(`^([-+]?(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][-+]?[0-9](_?[0-9])*)?` +
	`|0x[0-9A-Fa-f](_?[0-9A-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*)$`)

func (w tomlWriter) scalar(v Value) Scalar { return w.value(v, isTOMLNumber, 70, w.text) }

// text writes a text in one of the four kinds of quotes.
func (w tomlWriter) text(text string) {
	oneLine := !strings.ContainsAny(text, "\n\r\x00")
	switch w.IntN(4) {
	case 0:
		if oneLine && !strings.Contains(text, "'") {
			w.put("'" + text + "'")
			return
		}
	case 1:
		if w.lineEnd == "\n" && !strings.Contains(text, "'") && !strings.ContainsAny(text, "\r\x00") {
			w.put("'''\n" + text + "'''")
			return
		}
	case 2:
		w.put(`"""`)
		if w.percent(50) || strings.HasPrefix(text, "\n") {
			w.line()
		}
		w.escaped(text, true)
		w.put(`"""`)
		return
	}
	w.basic(text)
}
