package naive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// hclWriter writes HCL.
type hclWriter struct{ *writer }

// writeHCL writes a file.
func writeHCL(out *writer) *Parsed {
	w := hclWriter{out}
	root := &Node{Kind: MappingNode}
	top := w.wishMap(4)
	w.blank()
	head := w.Len()
	w.body(root, top, "")
	root.At = head
	if len(root.Entries) == 0 {
		head = -1
	}
	return &Parsed{Documents: []Document{{Root: root, Head: head}}}
}

// comment is a comment that ends with its line.
func (w hclWriter) comment() {
	if w.bare {
		return
	}
	if w.percent(30) {
		w.put("/*" + w.remark() + " */")
	} else {
		w.put(pick(w.generator, "#", "//") + w.remark())
	}
}

// blank writes comments and empty lines.
func (w hclWriter) blank() {
	for w.percent(12) {
		if w.percent(60) {
			w.comment()
		}
		w.line()
	}
}

// end ends a line, perhaps with a comment.
func (w hclWriter) end() {
	if w.percent(12) {
		w.put(" ")
		w.comment()
	}
	w.line()
	w.blank()
}

// body writes the lines of a body.
func (w hclWriter) body(n *Node, want *wish, indent string) {
	seen := map[string]bool{}
	for _, e := range want.entries {
		name := e.key
		if !isName.MatchString(name) {
			name = pick(w.generator, names()...)
		}
		if !e.block && seen[name] {
			continue
		}
		w.put(indent)
		at := w.Len()
		if e.block {
			n.Entries = append(n.Entries, w.block(name, e, indent))
			continue
		}
		seen[name] = true
		w.put(name)
		w.put(pick(w.generator, "=", " = ", " /* a = 1 */ = ", "  ="))
		w.put(pick(w.generator, "", " "))
		n.Entries = append(n.Entries, Entry{Key: name, At: at, Value: w.expression(e.value)})
		w.end()
	}
}

// block writes a block, with its labels, or a dynamic one.
func (w hclWriter) block(name string, e wishEntry, indent string) Entry {
	at := w.Len()
	body := &Node{Kind: MappingNode, At: at}
	if len(e.labels) == 0 && w.percent(30) {
		w.put(pick(w.generator, `dynamic "`+name+`" {`, "dynamic "+name+" {"))
		w.end()
		sure := w.percent(60)
		each := pick(w.generator, "[]", "var.x", "var.x ? [1] : []", "{a = 1}", "toset([])", "tolist([1])", `"x"`)
		if sure {
			each = pick(w.generator, "[1]", "[var.x, 2]", "toset([var.x])", "(toset(([1])))", `"${[1]}"`)
		}
		w.put("for_each = " + each)
		w.end()
		w.put("content {")
		w.end()
		w.body(body, e.value, indent+"  ")
		w.put("}")
		w.end()
		w.put("}")
		w.end()
		return Entry{Key: name, At: at, Value: body, Unsure: !sure, Dynamic: true, Block: true}
	}
	w.put(name)
	for _, label := range e.labels {
		w.put(pick(w.generator, " ", "  ", "/* a */"))
		if slices.Contains(names(), label) && w.percent(40) {
			w.put(" " + label)
		} else {
			w.put(`"` + label + `"`)
		}
	}
	w.put(pick(w.generator, " {", "{"))
	if len(e.value.entries) == 0 && w.percent(40) {
		w.put(pick(w.generator, "", " ") + "}")
	} else {
		w.end()
		w.body(body, e.value, indent+pick(w.generator, "  ", "\t", " "))
		w.put(indent + "}")
	}
	w.end()
	node := body
	for _, label := range slices.Backward(e.labels) {
		node = &Node{Kind: MappingNode, At: at, Label: true, Entries: []Entry{{Key: label, At: at, Value: node}}}
	}
	return Entry{Key: name, At: at, Value: node, Block: true}
}

var isName = regexp.MustCompile("^[a-zé]+$")

// expression writes a value.
func (w hclWriter) expression(want *wish) *Node {
	n := &Node{At: w.Len()}
	if want.kind == "list" || want.kind == "map" {
		open, end := w.around()
		w.put(open)
		if want.kind == "list" {
			w.tuple(n, want)
		} else {
			w.object(n, want)
		}
		w.put(end)
		return n
	}
	switch want.kind {
	case "json":
		w.encoded(n, want)
	case "null":
		n.Kind = NullNode
		w.put(pick(w.generator, "null", "null", "(null)"))
	case "open", "date":
		n.Kind = ScalarNode
		open, end := w.around()
		text := pick(w.generator, "var.x", "local.a.b", `upper("x")`, `a["x"]`, `[for v in [true]: v]`,
			`{for k in [1]: k => true}`,
			"true ? 22 : 22", "1 + 21", "x", "22 == 22", "yes", "on", "!var.a", "-x", `f("a = true")`,
			"a.*.b", "a[0]", "data.a.b[*].c")
		n.Scalar = Scalar{Texts: []string{text}, Open: true, Binary: true}
		if open == "" && w.percent(25) {
			text = pick(w.generator, "a-${var.x}", "${var.x}-", "${a}${b}", "true${x}", `\u0061${x}`, `${x}${"a"}`)
			read := strings.NewReplacer(`\u0061`, "a", `${"a"}`, "a").Replace(text)
			n.Scalar.Texts = []string{text, read}
			text = `"` + text + `"`
		}
		w.put(open + text + end)
	case "value":
		n.Kind, n.Scalar = ScalarNode, w.scalar(want.value)
	}
	return n
}

// encoded writes JSON as a text, as a template, or by jsonencode.
func (w hclWriter) encoded(n *Node, want *wish) {
	n.Kind = ScalarNode
	text := want.value.Text
	hole := strings.Index(text, `"x`)
	switch m := w.IntN(3); {
	case m == 0:
		w.put("jsonencode(" + pick(w.generator, "", " "))
		w.bare = true
		n.Encoded = w.expression(want.items[0])
		w.bare = false
		w.put(")")
		n.Scalar = Scalar{Texts: []string{w.String()[n.At:]}, Open: true, Binary: true}
	case m == 1 && hole >= 0:
		w.put(`"`)
		w.inner(text[:hole+1])
		w.put("${var.x}")
		w.inner(text[hole+1:])
		w.put(`"`)
		read := text[:hole+1] + "${var.x}" + text[hole+1:]
		n.Scalar = Scalar{Texts: []string{w.String()[n.At+1 : w.Len()-1], read}, Open: true, Binary: true}
		n.Scalar.Template = strings.Replace(read, "${var.x}", holeStart+"${var.x}"+holeEnd, 1)
	default:
		n.Scalar = w.text(text)
	}
}

// around is what can be around an expression and means nothing.
func (w hclWriter) around() (open, end string) {
	switch w.IntN(14) {
	case 0:
		return "(", ")"
	case 1:
		return "((", "))"
	case 2:
		return `"${`, `}"`
	case 3:
		return "( ", " )"
	case 4:
		return `("${ `, ` }")`
	}
	return "", ""
}

// gap is what may be between the items of a list or an object.
func (w hclWriter) gap() {
	for w.percent(12) {
		if w.percent(30) && !w.bare {
			w.put(" /*" + w.remark() + " */ ")
			continue
		}
		w.put(pick(w.generator, " ", "\t"))
	}
}

// lines is a line end or nothing; both may be in a list.
func (w hclWriter) lines() {
	w.gap()
	for w.percent(20) {
		if w.percent(40) {
			w.comment()
		}
		w.line()
	}
}

func (w hclWriter) tuple(n *Node, want *wish) {
	n.Kind = ListNode
	w.put("[")
	for i, item := range want.items {
		w.lines()
		n.Items = append(n.Items, w.expression(item))
		w.gap()
		if i+1 < len(want.items) || w.percent(20) {
			w.lines()
			w.put(",")
		}
	}
	w.lines()
	w.put("]")
}

func (w hclWriter) object(n *Node, want *wish) {
	n.Kind = MappingNode
	w.inObject++
	w.put("{")
	w.lines()
	for i, e := range want.entries {
		entry := Entry{Key: e.key, At: w.Len()}
		switch {
		case w.percent(5):
			w.put("(var.k)")
			entry.Any, entry.Unsure = true, true
		case w.percent(5):
			w.put(`"${var.k}x"`)
			entry.Any, entry.Unsure = true, true
		case slices.Contains(names(), e.key) && w.percent(60):
			w.put(e.key)
		case w.percent(10):
			w.put("(")
			w.quoted(e.key)
			w.put(")")
		default:
			w.quoted(e.key)
		}
		w.put(pick(w.generator, " = ", "=", ": ", " : "))
		entry.Value = w.expression(e.value)
		n.Entries = append(n.Entries, entry)
		w.gap()
		if i+1 < len(want.entries) && w.percent(50) {
			w.put(pick(w.generator, ",", ", "))
			w.lines()
		} else if i+1 < len(want.entries) || w.percent(30) {
			w.end()
			w.lines()
		}
	}
	w.put("}")
	w.inObject--
}

var isHCLNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// scalar writes a value as what it is, as an expression with that value, or as a text.
func (w hclWriter) scalar(v Value) Scalar {
	switch v.Kind {
	case booleanKind:
		if w.percent(60) {
			return w.boolean(v.Text)
		}
		forms := booleanForms(v.Text)
		forms = append(forms, map[string]string{"true": "1", "false": "0"}[v.Text])
		return w.text(pick(w.generator, forms...))
	case numberKind:
		form := pick(w.generator, numberForms(v.Text)...)
		positive := strings.TrimPrefix(form, "-")
		if isHCLNumber.MatchString(positive) && w.percent(75) {
			return w.number(form, positive)
		}
		return w.text(form)
	}
	return w.text(v.Text)
}

func (w hclWriter) boolean(value string) Scalar {
	other := map[string]string{"true": "false", "false": "true"}[value]
	digit := map[string]string{"true": "1", "false": "0"}[other]
	text := value
	switch w.IntN(8) {
	case 0:
		text = "!" + other
	case 1:
		text = `!"` + other + `"`
	case 2:
		text = "!!" + value
	case 3:
		text = "!(" + other + ")"
	case 4:
		text = `!"` + digit + `"`
	case 5:
		text = `!"${` + other + `}"`
	}
	open, end := w.around()
	w.put(open + text + end)
	return Scalar{Texts: []string{text, value}, Exact: Value{booleanKind, value}, Asked: value, Binary: true}
}

// number writes a number without quotes; a negative one has a minus before what it negates.
func (w hclWriter) number(form, positive string) Scalar {
	text := positive
	if form != positive {
		text = "-" + pick(w.generator, positive, positive, "("+positive+")", `"`+positive+`"`)
	} else if w.percent(10) {
		text = pick(w.generator, "-(-"+positive+")", `-"-`+positive+`"`)
	}
	open, end := w.around()
	w.put(open + text + end)
	return Scalar{Texts: []string{text, form}, Exact: Value{numberKind, form}, Asked: form, Binary: true}
}

// text writes a text.
func (w hclWriter) text(text string) Scalar {
	s := textScalar(text)
	s.Binary = true
	body, whole := strings.CutSuffix(text, "\n")
	switch n := w.IntN(10); {
	case n == 0:
		open, end := w.around()
		inTemplate := strings.Contains(open, "$")
		if inTemplate && strings.ContainsAny(text, "\n") {
			open, end = "", ""
		}
		w.put(open)
		w.quoted(text)
		w.put(end)
	case n == 1 && len(text) > 1 && text[0] < 128 && isWordText.MatchString(text):
		// A template of literals.
		first, rest := text[:1], text[1:]
		whole := pick(w.generator, first+`${"`+rest+`"}`, `${"`+first+`"}`+rest, first+`${("`+rest+`")}`,
			first+`${"${"`+rest+`"}"}`)
		w.put(`"` + whole + `"`)
		s.Texts = append(s.Texts, whole)
	case n < 5 && whole && body != "" && w.lineEnd == "\n" && w.inObject == 0:
		marker := pick(w.generator, "E", "EOT", "é_1")
		indent := ""
		w.put("<<")
		if w.percent(50) {
			w.put("-")
			indent = pick(w.generator, "", "  ", "\t")
		}
		w.put(marker + "\n")
		body = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(body)
		for line := range strings.SplitSeq(body, "\n") {
			w.put(indent + line + "\n")
		}
		w.put(pick(w.generator, "", " ", "\t") + marker)
		// Nothing but a line end can be behind it.
		w.put("\n")
	default:
		w.quoted(text)
	}
	return s
}

var isWordText = regexp.MustCompile(`^[a-zA-Z0-9]+$`)

// quoted writes a text in quotes.
func (w hclWriter) quoted(text string) {
	w.put(`"`)
	w.inner(text)
	w.put(`"`)
}

// inner writes what is between the quotes of a text.
func (w hclWriter) inner(text string) {
	runes := []rune(text)
	for i, r := range runes {
		short := slices.Index([]rune("\"\\\n\r\t"), r)
		switch {
		case (r == '$' || r == '%') && i+1 < len(runes) && runes[i+1] == '{':
			w.put(string(r) + string(r))
		case short >= 0:
			w.put(`\` + `"\nrt`[short:short+1])
		case w.percent(4) && r < 0x10000 && r != '{': // $${ is one escape
			w.put(fmt.Sprintf(pick(w.generator, `\u%04x`, `\U%08X`), r))
		default:
			w.put(string(r))
		}
	}
}
