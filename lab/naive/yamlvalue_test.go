package naive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

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
	case "value":
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

// scalar writes a value as what it is, or as a text that has it.
func (w *yamlWriter) scalar(v Value, indent int, flow bool) Scalar {
	forms := []string{v.Text}
	switch v.Kind {
	case booleanKind:
		forms = booleanForms(v.Text)
	case numberKind:
		forms = numberForms(v.Text)
	}
	form := pick(w.generator, forms...)
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
	if strings.ContainsAny(text, "\n\r\t") {
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

// blockScalar writes a text as the lines of a block, or returns nil if it cannot. The place is that of the indicator.
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
