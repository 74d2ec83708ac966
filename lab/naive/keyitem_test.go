package naive

import (
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"
)

// keyPath is a path of a key item. Required items have no ** at the end, or before a star: what they ask for is not
// on the page.
func (g *generator) keyPath(broad bool) string {
	var parts []string
	if g.percent(35) {
		parts = append(parts, "**")
	}
	for range pick(g, 1, 1, 1, 2, 2, 3, 4) {
		segment := pick(g, append(keyWords(), "*", "*", "**", "kind", "items")...)
		if last := len(parts) - 1; (!broad || segment == "**") && last >= 0 && parts[last] == "**" && strings.HasPrefix(segment, "*") {
			segment = "a"
		}
		if strings.Contains(segment, ".") || !strings.Contains(segment, "*") && g.percent(10) {
			segment = `"` + segment + `"`
		}
		parts = append(parts, segment)
	}
	if parts[len(parts)-1] == "**" {
		parts = append(parts, pick(g, "a", "b"))
		if broad && g.percent(50) {
			parts[len(parts)-1] = "*"
		}
	}
	return strings.Join(parts, ".")
}

// keyPaths are one or two paths, as YAML.
func (g *generator) keyPaths(broad bool) string {
	one := func() string {
		path := g.keyPath(broad)
		if !strings.ContainsAny(path, `"*`) && g.percent(30) {
			return path
		}
		return quote(path)
	}
	if g.percent(75) {
		return one()
	}
	first, second := one(), one()
	if first == second {
		return first
	}
	return "[" + first + ", " + second + "]"
}

// keyValue is a value of a rule, as YAML.
func (g *generator) keyValue() string {
	return pick(g, "true", "true", "false", "True", "FALSE", "22", "22", "22.0", "2.2e1", "0", "1", "90",
		"-5", "1.5", "1E3",
		"x", "x", "private", `"22"`, `"true"`, `'yes'`, `"x\n"`, `""`, `"026"`, `"1.0"`, `"var.x"`, "var.x",
		`"!false"`, `"a: true"`,
		`"é\L"`, `'upper("x")'`, `"2001-01-01"`, `"0x16"`, `"null"`, `"~"`, "on-1", "List", "1e999999999",
		`"a-${var.x}"`,
		`"x\ny"`, `"${x}"`)
}

func (g *generator) keyValues() string {
	if g.percent(60) {
		return g.keyValue()
	}
	var all []string
	for range 1 + g.IntN(3) {
		all = append(all, g.keyValue())
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// keyItem is an item with a key for a list of a rule.
func (g *generator) keyItem(list, format string) string {
	required := list == "required_patterns"
	parts := []string{"key: " + g.keyPaths(!required)}
	if required && g.percent(60) {
		parts = append(parts, "each: "+g.keyPaths(true))
	}
	if g.percent(20) {
		where := g.keyPath(true)
		if g.percent(50) {
			where = "kind"
		}
		parts = append(parts, "where: {"+quote(where)+": "+g.keyValues()+"}")
	}
	conditions := []string{"", "is", "is", "is", "matches"}
	if !required {
		conditions = append(conditions, "is_not", "is_not", "matches_not")
	}
	switch condition := pick(g, conditions...); condition {
	case "":
	case "is", "is_not":
		parts = append(parts, condition+": "+g.keyValues())
	default:
		parts = append(parts, condition+": "+pick(g, "x", "'^x$'", "'^[a-z]+$'", "'2'", "'^(true|false)$'",
			`'\.'`, `'\S'`, "'^.y'", "'(?s)x.y'", `'(?s)^x\s'`, "'(?s)^x$'", `'(?is)^X(?:\r?\n|$)'`, `'(?s)\n$'`, "'(?s)y'"))
	}
	if format != "" {
		parts = append(parts, "format: "+format)
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "{" + strings.Join(parts, ", ") + "}"
}

// keyGlobs select files of one format, by their names or the formats of their items; or all files, without a format.
func (g *generator) keyGlobs(format string, named bool) []string {
	switch {
	case named:
		return []string{quote("k/*." + format + ".conf")}
	case format == "":
		return pick(g, []string{`"k/**"`}, []string{`"k/*.conf"`, `"k/*.tf"`})
	}
	var all []string
	for _, end := range extensions(format) {
		all = append(all, quote("k/*"+end))
	}
	if format == "hcl" || format == "json" || g.percent(50) {
		return all
	}
	return all[:1]
}

// fileWithKeys is a file that items with keys are about.
func (g *generator) fileWithKeys() File {
	format := pick(g, "yaml", "json", "hcl", "toml")
	end := pick(g, extensions(format)...)
	if g.percent(15) {
		end = "." + format + ".conf"
	}
	path := "k/" + pick(g, "x", "y", "é") + end
	return File{path, g.keyContent(path), Regular}
}

// keyContent is a content for a path, and noted.
func (g *generator) keyContent(path string) string {
	format := formatOf(strings.TrimSuffix(path, ".conf"))
	f := g.keyFile(format)
	g.parsed[Meant(format, f.content)] = f.meant
	return f.content
}

// badKeyItems are items with keys that no list of a 0.2 file can have.
func badKeyItems() []string {
	var all []string
	for _, path := range []string{
		"a..b", ".a", "a.", "a b", "a.b c", `a"b`, `"a"b`, `a."b`, `"a`, "a'b", "'a'", `a\b`, `"a\n"`, "a,b",
		"containers[0]", "a]",
		"a(b)", "a)", "a{b", "}", "<a", "a>", "/a", "a./b", "$.a", "a.$b", "aws_*", "*a", "a*b", "***", "a.**b", "",
	} {
		quoted := quote(path)
		all = append(all, "{key: "+quoted+"}", "{key: [a, "+quoted+"], is: true}")
		if path != "" {
			all = append(all, "{key: a, where: {"+quoted+": b}}")
		}
	}
	for _, value := range []string{
		"yes", "No", "ON", "off", "y", "N", "010", "0o7", "0x16", "0b1", "1_000", "+1", ".5", "5.", "1:30",
		"~", "null", "Null", "",
		"2001-01-01", "2001-01-01T00:00:00Z", ".inf", "-.INF", ".nan", "0X16", "00", "-07",
		"[]", "[a, yes]", "[[a]]", "{a: b}", "[a, ~]", "[{a: b}]", "!!str a", "=", "<<",
	} {
		all = append(all, "{key: a, is: "+value+"}")
		if !strings.ContainsAny(value, "[{") {
			all = append(all, "{key: a, where: {b: "+value+"}}", "{key: a, where: {c: d, b: ["+value+", c]}}")
		}
	}
	return append(all,
		"{key: []}", "{key: ~}", "{key: {a: b}}", "{key: [[a]]}", "{each: a}", "{where: {a: b}}", "{is: a}",
		"{format: yaml}",
		"{key: a, where: {}}", "{key: a, where: []}", "{key: a, where: b}", "{key: a, where: ~}",
		"{key: a, where: {b: c, b: d}}",
		"{key: a, is: b, matches: c}", "{key: a, is: b, is_not: c}", "{key: a, matches: b, matches_not: c}",
		"{key: a, is: b, is: c}",
		"{key: a, matches: 'a*'}", `{key: a, matches: '\n'}`, `{key: a, matches: "a\tb"}`,
		"{key: a, matches: '(?=a)'}", "{key: a, within_lines: 1}", "{key: a, matches: b, within_lines: 1}",
		`{key: a, matches: '[\s\S]a'}`, `{key: a, matches: 'a\n?'}`, `{key: a, matches_not: 'a(?s).'}`,
		`{key: a, matches: '(?s:a.)'}`, `{key: a, matches: '(?i)(?s)a.'}`, `{key: a, matches: '\Aa'}`,
		`{key: a, matches: '(?s)a\z'}`, `{key: a, matches: '(?sm)^a'}`, `{key: a, matches: '(?s)a(?m:$)'}`,
		"{key: a, matches: '(?s)a*'}", "{key: a, matches: '(?s)a$b'}", "{key: a, matches: '(?s)'}",
		"{key: a, matches: '^$'}", "{key: a, matches: [a]}", "{key: a, matches: ''}", "{key: a, matches: '['}",
		"{key: a, format: xml}", "{key: a, format: YAML}", "{key: a, format: ~}", "{key: a, format: [yaml]}",
		"{key: a, format: yml}",
		"{key: a, spaces: any}", "{key: a, words: true}", "{key: a, case: ignore}", "{key: a, text: b}",
		"{key: a, regex: b}",
		"{key: a, has: b}", "{key: a, value: b}", "{text: a, where: {b: c}}", "{regex: a, matches: b}",
		"{regex: a, format: json}",
		"{key: a, key: b}", "{regex: a, each: b}",
	)
}

// A wish is what a file shall mean. How it is spelt is left to the writer of its format, which says where it is in the
// text, and as what it may be read.
type wish struct {
	kind    string // value, null, open (a variable, or a tag), date, list, map
	value   Value
	items   []*wish
	entries []wishEntry
}

// A wishEntry is a key and its value. With labels, or as a block, only HCL knows it; elsewhere it is a mapping.
type wishEntry struct {
	key    string
	value  *wish
	block  bool
	labels []string
}

// The words of generated files and of the items about them are few, so that they meet.
func keyWords() []string { return []string{"a", "b", "a", "b", "c", "on", "x.y", "1.0", "é"} }

// names are the keys that HCL can have as names.
func names() []string { return []string{"a", "b", "a", "b", "c", "on", "é"} }

func (g *generator) wishValue() *wish {
	switch n := g.IntN(100); {
	case n < 35:
		text := pick(g, "x", "x", "private", "true", "22", "yes", "x\n", "x\ny", "", "a: true", "a = true", "# x",
			"026", "é\u2028", "1.0", `"x"`, `\x`, "x y", "{[(", "2001-01-01", "${x}", "%{x", "x # a: true",
			"'", "<<E", "~", "null")
		return &wish{kind: "value", value: Value{textKind, text}}
	case n < 55:
		return &wish{kind: "value", value: Value{booleanKind, pick(g, "true", "false")}}
	case n < 80:
		return &wish{kind: "value", value: Value{numberKind, pick(g, "22", "22", "0", "1", "90", "-5", "1.5", "1000")}}
	case n < 88:
		return &wish{kind: "null"}
	case n < 96:
		return &wish{kind: "open", value: Value{textKind, pick(g, "x", "true", "22")}}
	}
	return &wish{kind: "date"}
}

// wish makes a value, nested so deep.
func (g *generator) wish(depth int) *wish {
	if depth <= 0 || g.percent(35) {
		return g.wishValue()
	}
	if g.percent(30) {
		w := &wish{kind: "list"}
		for range g.IntN(4) {
			w.items = append(w.items, g.wish(depth-1))
		}
		return w
	}
	return g.wishMap(depth)
}

// wishMap makes a mapping. A key may be twice in it; formats that refuse that leave the second out.
func (g *generator) wishMap(depth int) *wish {
	w := &wish{kind: "map"}
	for range g.IntN(5) {
		e := wishEntry{key: pick(g, keyWords()...), value: g.wish(depth - 1)}
		if e.value.kind == "map" && g.percent(60) {
			e.block = true
			for range pick(g, 0, 0, 1, 2) {
				e.labels = append(e.labels, pick(g, keyWords()...))
			}
		}
		w.entries = append(w.entries, e)
	}
	if g.percent(15) {
		kind := &wish{kind: "value", value: Value{textKind, pick(g, "x", "y")}}
		w.entries = append(w.entries, wishEntry{key: "kind", value: kind})
	}
	return w
}

// numberForms are spellings of a number; which of them a format has, its writer knows.
func numberForms(number string) []string {
	i, ok := new(big.Int).SetString(number, 10)
	forms := []string{number, number, number + "e0", number + "E+0", number + "0e-1"}
	if !ok {
		return append(forms[:4], number+"0", "+"+number, number+"0e+0", "1_"+number)
	}
	forms = append(forms, number+".0", number+".00", number+".0e0")
	if i.Sign() < 0 {
		return forms
	}
	if number == "22" {
		forms = append(forms, "2_2", "2.2e1", "2.2E+1", "0.22e2", ".22e2", "220.0e-1", "+2_2", "0_22", "02_6",
			"22__", "2_2.0")
	}
	if number == "1000" {
		forms = append(forms, "1e3", "1E3", "1_000", "1e+03", "10e2", "1_0e2", "1e0_3", "16:40", "16:40.0")
	}
	if number == "90" {
		forms = append(forms, "1:30", "+1:30", "1:30.")
	}
	return append(forms, "+"+number, number+".", "0"+number, "00"+number, "0"+i.Text(8), "00"+i.Text(8),
		"0o"+i.Text(8), "0O"+i.Text(8), "0x"+i.Text(16), "0X"+i.Text(16), "0x0"+strings.ToUpper(i.Text(16)),
		"0b"+i.Text(2), "0B"+i.Text(2), "0b_"+i.Text(2), "0x_"+i.Text(16), "+0x"+i.Text(16), "+0o"+i.Text(8))
}

// booleanForms are all spellings of a boolean.
func booleanForms(value string) []string {
	words := []string{"false", "no", "off", "n"}
	if value == "true" {
		words = []string{"true", "yes", "on", "y"}
	}
	var forms []string
	for _, word := range words {
		forms = append(forms, word, strings.ToUpper(word), strings.ToUpper(word[:1])+word[1:])
	}
	return forms
}

// A writer writes a file, and remembers where it is.
type writer struct {
	*generator
	strings.Builder
	lineEnd  string
	inObject int // how many objects of HCL are open: no heredoc is in them, since a comma may follow
}

// put writes a text at this place, and returns the place.
func (w *writer) put(text string) int {
	at := w.Len()
	w.WriteString(text)
	return at
}

// line ends a line.
func (w *writer) line() { w.WriteString(w.lineEnd) }

// remark is a comment's text: it mentions what must not be found there.
func (w *writer) remark() string {
	return pick(w.generator, " a: true", " a = true", "", ` "a": "x",`, " a = \"x\" {[(", " é\u2028a: x",
		"a.b = 22", " b: x # a: x", " <<EOT", " \"", " '")
}

// A keyFile is a generated content and what it means.
type keyFile struct {
	format, content string
	meant           *Parsed
}

// extensions are names of files of a format.
func extensions(format string) []string {
	return map[string][]string{
		"yaml": {".yaml", ".yml", ".YML"}, "json": {".json", ".jsonc", ".tf.json", ".tofu.json"},
		"hcl": {".tf", ".tofu", ".tfvars", ".hcl"}, "toml": {".toml"},
	}[format]
}

// keyFile makes a file of a format.
func (g *generator) keyFile(format string) keyFile {
	w := &writer{generator: g, lineEnd: "\n"}
	if g.percent(15) {
		w.lineEnd = "\r\n"
	}
	var meant *Parsed
	switch format {
	case "yaml":
		meant = writeYAML(w)
	case "json", terraformJSON:
		meant = writeJSON(w, format == terraformJSON)
	case "hcl":
		meant = writeHCL(w)
	case "toml":
		meant = writeTOML(w)
	}
	if meant.Code == "" && g.percent(12) {
		if format == "yaml" && g.percent(30) {
			meant.Code, meant.Disputed = "E_PARSE", true
			meant.Documents = append(meant.Documents, disputedYAML(w))
		} else {
			meant = &Parsed{Code: damageText(w, format)}
			meant.Template = meant.Code == "E_PARSE" && hasTemplate(w.String())
		}
	}
	return encode(g, format, w.String(), meant)
}

// encode puts a text into an encoding, and notes where its bytes are then.
func encode(g *generator, format, text string, meant *Parsed) keyFile {
	if !utf8.ValidString(text) || g.percent(75) {
		return keyFile{format, text, meant}
	}
	e := pick(g, Encodings()...)
	var b strings.Builder
	b.WriteString(e.mark())
	meant.Starts = make([]int, len(text)+1)
	for i, r := range text {
		for j := range utf8.RuneLen(r) {
			meant.Starts[i+j] = b.Len()
		}
		b.WriteString(e.Encode(string(r)))
	}
	meant.Starts[len(text)] = b.Len()
	return keyFile{format, b.String(), meant}
}

// hasTemplate reports whether a text has the mark of a template.
func hasTemplate(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, "${{", ""), "{{") || strings.Contains(text, "{%") ||
		strings.Contains(text, "<%")
}

// damageText damages what was written, and returns the code of the error.
func damageText(w *writer, format string) string {
	deep := strings.Repeat("[", 1500) + strings.Repeat("]", 1500)
	type broken struct{ text, code string }
	var ends []broken
	switch format {
	case "yaml":
		ends = []broken{
			{"\n---\nq: [1, 2\n", "E_PARSE"}, {"\n---\nq: {{ x }}\n", "E_PARSE"}, {"\n---\n# \xff\n", "E_PARSE"},
			{"\n---\nq: *nobody\n", "E_PARSE"}, {"\n---\nq: \"a\n", "E_PARSE"}, {"\n---\nq:\n\tr: 1\n", "E_PARSE"},
			{"\n---\nq: r: s\n", "E_PARSE"}, {"\n---\n- a\nb: c\n", "E_PARSE"}, {"\n---\nq: \x01\n", "E_PARSE"},
			{"\n---\nq: " + deep + "\n", "E_LIMIT"}, {"\n---\nq: &q [*q]\n", "E_LIMIT"},
		}
	case "json", terraformJSON:
		ends = []broken{
			{"}", "E_PARSE"}, {" {{ q }}", "E_PARSE"}, {"\xff", "E_PARSE"}, {"\"", "E_PARSE"}, {"/*", "E_PARSE"},
			{" [1 2]", "E_PARSE"}, {",", "E_PARSE"}, {" " + deep, "E_LIMIT"},
		}
	case "hcl":
		ends = []broken{
			{"\nq = 1\nq = 1\n", "E_PARSE"}, {"\nq {\n", "E_PARSE"}, {"\nq = [1,\n", "E_PARSE"}, {"\n}\n", "E_PARSE"},
			{"\nq = \"a\n", "E_PARSE"}, {"\nq = {{ a }}\n", "E_PARSE"}, {"\nq = \"${a\"\n", "E_PARSE"}, {"\nq = \n", "E_PARSE"}, {"\nq: 1\n",
				"E_PARSE"},
			{"\nq = " + deep + "\n", "E_LIMIT"}, {"\nq = " + strings.Repeat("!", 1500) + "true\n", "E_LIMIT"},
		}
	case "toml":
		ends = []broken{
			{"\n[q]\n[q]\n", "E_PARSE"}, {"\n[q]\na = 1\na = 2\n", "E_PARSE"}, {"\n[q]\na = \n", "E_PARSE"},
			{"\n[q]\na = 01\n", "E_PARSE"}, {"\n[q]\na = yes\n", "E_PARSE"}, {"\n[q]\na = \"b\n", "E_PARSE"},
			{"\n[q]\na = [1\n", "E_PARSE"}, {"\n[q]\n# \xff\n", "E_PARSE"}, {"\n[q]\na = " + deep + "\n", "E_LIMIT"},
		}
	}
	end := pick(w.generator, ends...)
	w.WriteString(end.text)
	return end.code
}

// A pageFile builds documents for the sentences of the page: a mapping is a list of keys and values.
type pageFile struct{ at int }

type (
	fields []any // key, value, key, value
	tagged struct{ of any }
	open   string // a variable, or another expression
	plain  string // YAML without quotes
	quoted string // HCL in quotes
	labels struct {
		names []string
		body  fields
	}
	hidden struct{ of any } // by a key that is nearer
)

func (p *pageFile) next() int {
	p.at++
	return p.at
}

func (p *pageFile) node(of any) *Node {
	n := &Node{Kind: ScalarNode, At: p.next()}
	switch v := of.(type) {
	case nil:
		n.Kind = NullNode
	case bool:
		text := map[bool]string{true: "true", false: "false"}[v]
		n.Scalar = Scalar{Texts: []string{text}, Exact: Value{booleanKind, text}, Asked: text}
	case string:
		n.Scalar = textScalar(v)
	case quoted:
		n.Scalar = textScalar(string(v))
		n.Scalar.Binary = true
	case plain:
		n.Scalar = plainScalar(string(v))
	case open:
		n.Scalar = Scalar{Texts: []string{string(v)}, Open: true}
	case []any:
		n.Kind = ListNode
		for _, item := range v {
			n.Items = append(n.Items, p.node(item))
		}
	case fields:
		n.Kind = MappingNode
		for i := 0; i < len(v); i += 2 {
			value := v[i+1]
			below, isHidden := value.(hidden)
			if isHidden {
				value = below.of
			}
			key, isText := v[i].(string)
			e := Entry{Key: key, Any: !isText, At: p.next(), Hidden: isHidden}
			e.Value = p.node(value)
			n.Entries = append(n.Entries, e)
		}
	case labels:
		if len(v.names) == 0 {
			return p.node(v.body)
		}
		n.Kind, n.Label = MappingNode, true
		value := p.node(labels{v.names[1:], v.body})
		n.Entries = []Entry{{Key: v.names[0], At: n.At, Value: value}}
	case tagged:
		n = p.node(v.of)
		n.Tagged, n.Scalar.Open, n.Scalar.Exact = true, true, Value{}
	}
	return n
}

// TestKeys has the sentences of the page about keys and presence: how many places an item finds, or finds lacking.
func TestKeys(t *testing.T) {
	type files = []any // of documents
	pod := func(image any) fields { return fields{"spec", fields{"containers", []any{fields{"image", image}}}} }
	db := func(label string, body ...any) labels { return labels{[]string{"aws_db_instance", label}, body} }
	for _, test := range []struct {
		sentence string
		item     string // the first letter says whether it is forbidden or required
		file     files
		want     int
	}{
		{"lists are transparent", "F{key: spec.containers.image, is: x}", files{pod("x")}, 1},
		{"a path that ends at a list means each of its items", "F{key: a, is: x}", files{fields{"a",
			[]any{"x", "y", []any{"x"}}}}, 2},
		{"** is any number, none included", "F{key: '**.a', is: x}", files{fields{"a", "x", "b", fields{"c",
			fields{"a", "x"}}}}, 2},
		{"* is any one", "F{key: '*.a', is: x}", files{fields{"a", "x", "b", fields{"a", "x"}}}, 1},
		{"a segment in quotes is literal", `F{key: '"a.b"."*"', is: x}`, files{fields{"a.b", fields{"*", "x",
			"c", "x"}}}, 1},
		{"labels are segments", "F{key: resource.aws_db_instance.*.public, is: true}", files{fields{
			"resource", db("a", "public", true), "resource", db("b", "public", quoted("1")), "data", db("c",
				"public", true),
		}}, 2},
		{"any of several paths", "F{key: [a, b], is: x}", files{fields{"a", "x", "b", "x", "c", "x"}}, 2},
		{"the same text once unquoted", `F{key: a, is: "22"}`, files{fields{"a", plain("22"), "a", "22"}}, 2},
		{"the same boolean", "F{key: a, is: true}", files{fields{
			"a", true, "a", plain("yes"), "a", "On", "a", "Y", "a", "yEs", "a", quoted("1"), "a", "1", "a", "false",
		}}, 5},
		{"the same number", "F{key: a, is: 22}", files{fields{
			"a", plain("0x16"), "a", "0o26", "a", "026", "a", "0b10110", "a", "2_2", "a", "+22", "a", "22.0",
			"a", "0X16", "a", "23",
		}}, 8},
		{"026 is both", "F{key: a, is: 26}", files{fields{"a", plain("026")}}, 1},
		{"nothing is rounded", "F{key: a, is: 9007199254740993}", files{fields{"a", plain("9007199254740992")}}, 0},
		{"texts are compared exactly", "F{key: a, is: x}", files{fields{"a", "X", "a", " x", "a", "x\n"}}, 0},
		{"a key twice is checked twice", "F{key: a, is: x}", files{fields{"a", "x", "a", "x"}}, 2},
		{"is_not refuses a variable", "F{key: a, is_not: x}", files{fields{"a", open("var.x"), "a", "x", "a",
			"y", "a", nil}}, 3},
		{"is_not refuses what is not certain", "F{key: a, is_not: [true, 22]}", files{fields{
			"a", true, "a", plain("true"), "a", "true", "a", plain("yes"), "a", plain("22"), "a",
			plain("0022"), "a", plain("0x16"),
		}}, 3},
		{"matches_not, all lines", "F{key: a, matches_not: '^x'}", files{fields{"a", "x\nx\n", "a", "x\ny",
			"a", []any{}}}, 2},
		{"matches, one line", "F{key: a, matches: '^y$'}", files{fields{"a", "x\r\ny\n", "a", "xy", "a",
			"x"}}, 1},
		{"(?s) is about the whole text", "F{key: a, matches: '(?s)x.y'}", files{fields{"a", "x\ny\n", "a", "x\r\ny", "a",
			"xy"}}, 1},
		{"(?s), the ends of the text", "F{key: a, matches: '(?s)^x$'}", files{fields{"a", "x\ny", "a", "y\nx", "a",
			"x\n", "a", "x"}}, 1},
		{"(?s), the whole text is allowed", `F{key: a, matches_not: '(?s)^x\n(y|z\n)$'}`, files{fields{"a", "x\ny",
			"a", "x\nz\n", "a", "x", "a", "x\nz"}}, 2},
		{"matches asks what is not certain, too", "F{key: a, matches: 'y$'}", files{fields{"a", open("var.y"), "a",
			tagged{"y"}, "a", tagged{"x"}}}, 2},
		{"matches_not refuses what is not certain", "F{key: a, matches_not: y}", files{fields{"a", open("var.y"),
			"a", tagged{"y"}, "a", "y"}}, 2},
		{"an expression equals its own text", `F{key: a, is: var.x}`, files{fields{"a", open("var.x")}}, 1},
		{"without a condition any value", "F{key: a}", files{fields{"a", nil, "b", fields{"a", "x"}}}, 1},
		{"nothing for null", `F{key: a, is: "null"}`, files{fields{"a", nil}}, 0},
		{"a key with variables is matched by stars", "F{key: [a, '*'], is: x}", files{fields{nil, "x"}}, 1},
		{"a list with a tag is one value, and looked into", "F{key: a, is_not: x}", files{fields{"a",
			tagged{[]any{"x", "y"}}}}, 2},
		{"a tagged value counts by its text", "F{key: a, is: x}", files{fields{"a", tagged{"x"}}}, 1},
		{"what a merge hides is checked", "F{key: a, is: x}", files{fields{"a", "y", "a", hidden{"x"}}}, 1},
		{"where", "F{key: a, where: {kind: [x, w]}}", files{fields{"kind", "x", "a", "v"}, fields{"kind", "z",
			"a", "v"}, fields{"a", "v"}}, 1},
		{"a tag at where", "F{key: a, where: {kind: x}}", files{fields{"kind", tagged{"z"}, "a", "v"}}, 1},
		{"a variable above the end of where", "F{key: a, where: {b.c: x}}", files{fields{"b", open("var.b"),
			"a", "v"}}, 1},
		{"a List is asked, and its items", "F{key: '**.a'}", files{fields{"kind", "List", "items",
			[]any{fields{"a", "x"}}, "a", "x"}}, 2},
		{"an item without a kind has that of its list", "F{key: '**.a', where: {kind: x}}", files{fields{"kind",
			"xList", "items", []any{fields{"a", "x"}, fields{"kind", "y", "a", "x"}}}}, 1},
		{"any kind with items is a list", "F{key: a}", files{fields{"kind", "x", "items", []any{fields{"a", "x"}}}}, 1},
		{"without a kind it is no list", "F{key: a}", files{fields{"items", []any{fields{"a", "x"}}}}, 0},
		{"a list at the top", "F{key: a}", files{[]any{fields{"a", "x"}, fields{"a", "x"}}}, 2},

		{"a required value", "R{key: a, is: x}", files{fields{"a", "x"}}, 0},
		{"exact", "R{key: a, is: true}", files{fields{"a", plain("yes")}}, 1},
		{"0777 is 777", "R{key: a, is: 777}", files{fields{"a", plain("0777")}}, 0},
		{"a quoted is matches only a text", `R{key: a, is: "22"}`, files{fields{"a", plain("22")}}, 1},
		{"whole or not", "R{key: a, is: 22}", files{fields{"a", plain("22.0")}}, 0},
		{"each document", "R{key: a, is: x}", files{fields{"a", "x"}, fields{"b", "x"}}, 1},
		{"a file without documents", "R{key: a}", files{}, 1},
		{"documents that are null are left out", "R{key: a}", files{nil, fields{"a", "x"}}, 0},
		{"each item", "R{key: spec.containers.image}", files{fields{"spec", fields{"containers",
			[]any{fields{"image", "x"}, fields{}}}}}, 1},
		{"an empty list on the way", "R{key: spec.containers.image}", files{fields{"spec",
			fields{"containers", []any{}}}}, 1},
		{"every node at each", "R{each: 'resource.aws_db_instance.*', key: encrypted, is: true}", files{fields{
			"resource", db("a", "encrypted", true), "resource", db("b"), "resource", db("c", "encrypted",
				quoted("true")),
			"resource", labels{[]string{"aws_x", "a"}, fields{}},
		}}, 2},
		{"no node at each", "R{each: a, key: b}", files{fields{"c", "x"}, fields{}}, 0},
		{"a node that is not a mapping", "R{each: a, key: b}", files{fields{"a", []any{"x", fields{"b", "x"},
			nil}}}, 2},
		{"other labels are not on the way", "R{key: resource.aws_db_instance.*.encrypted}", files{fields{
			"resource", db("a", "encrypted", true), "resource", labels{[]string{"aws_x", "a"}, fields{}},
		}}, 0},
		{"each child of a star", "R{key: '*.a'}", files{fields{"b", fields{"a", "x"}, "c", fields{}, "d", "x"}}, 2},
		{"below ** every place that has the next", "R{key: '**.a.b'}", files{fields{"a", fields{"b", "x"},
			"c", fields{"a", fields{}}}}, 1},
		{"and at least one", "R{key: '**.a.b'}", files{fields{"c", "x"}}, 1},
		{"each block before **", "R{key: 'resource.**.a'}", files{fields{"resource", db("x", "a", "v"),
			"resource", db("y")}}, 1},
		{"a tagged place reaches nothing", "R{key: '**.a'}", files{fields{"b", tagged{fields{"a", "x"}}, "a",
			"x"}}, 1},
		{"at least one of several paths", "R{key: [a, b], is: x}", files{fields{"b", "x"}}, 0},
		{"and every value", "R{key: [a, b], is: x}", files{fields{"a", "x", "b", "y"}}, 1},
		{"none of several paths", "R{key: [a, b], is: x}", files{fields{"c", "x"}}, 1},
		{"any but null", "R{key: a}", files{fields{"a", nil}}, 1},
		{"a list is not looked into", "R{key: a}", files{fields{"a", []any{}}}, 0},
		{"an empty list equals nothing", "R{key: a, is: x}", files{fields{"a", []any{}}}, 1},
		{"every item", "R{key: a, is: x}", files{fields{"a", []any{"x", "y"}}}, 1},
		{"required matches with (?s)", `R{key: a, matches: '(?s)^x\ny$'}`, files{fields{"a", "x\ny"}}, 0},
		{"required matches with (?s), the last line end", `R{key: a, matches: '(?s)^x\ny$'}`,
			files{fields{"a", "x\ny\n"}}, 1},
		{"required matches, all lines", "R{key: a, matches: '^x'}", files{fields{"a", "x\ny"}}, 1},
		{"the effective value", "R{key: a, is: w}", files{fields{"a", "w", "a", hidden{"x"}}}, 0},
		{"the items of a List take its place", "R{key: a}", files{fields{"apiVersion", "v1", "kind",
			"List", "items", []any{fields{"a", "x"}}}}, 0},
		{"and of a kind that ends in List", "R{key: a}", files{fields{"apiVersion", "v1", "kind", "xList", "items",
			[]any{fields{"a", "x"}, fields{}}}}, 1},
		{"without an apiVersion it is no List", "R{key: a}", files{fields{"kind", "xList", "items",
			[]any{fields{"a", "x"}, fields{}}}}, 1},
		{"which is asked as well where the item says which", "R{key: a, where: {kind: xList}}", files{fields{"kind",
			"xList", "items", []any{"x"}}}, 1},
		{"another kind is asked as well", "R{key: a}", files{fields{"kind", "x", "items", []any{fields{"a",
			"x"}}}}, 1},
		{"an empty List", "R{key: a}", files{fields{"kind", "List", "items", []any{}}}, 1},
		{"required where", "R{key: a, where: {kind: x}}", files{fields{"kind", "x"}, fields{"kind", "y"}}, 1},
	} {
		list := map[byte]string{'F': "forbidden_patterns", 'R': "required_patterns"}[test.item[0]]
		r := ruleWith("X", "invariant", test.item[1:])
		name := "invariants.yml"
		if list == "forbidden_patterns" {
			name = "boundaries.yml"
		}
		r.lists[1].key = list
		file, mistakes := loadFile(name, ruleText{version: "0.2", rules: []ruleYAML{r}}.yaml())
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", test.item, mistakes)
			continue
		}
		var documents []Document
		var p pageFile
		for _, d := range test.file {
			root := p.node(d)
			documents = append(documents, Document{Root: root, Head: root.At, Lists: true})
		}
		var places []spot
		if list == "forbidden_patterns" {
			places = file.Rules[0].Forbidden[0].Key.forbiddenIn(documents)
		} else {
			places = file.Rules[0].Required[0].Key.requiredIn(documents)
		}
		if len(places) != test.want {
			t.Errorf("%s: %s finds %v, want %d", test.sentence, test.item, places, test.want)
		}
	}
}

// TestKeyNames is about how items with keys are called.
func TestKeyNames(t *testing.T) {
	for _, test := range []struct{ item, want string }{
		{"{key: a.b}", `{"key":"a.b"}`},
		{"{is: True, key: 'a'}", `{"key":"a","is":true}`},
		{"{format: yaml, is: [x, \"22\", 2.2E1, FALSE], key: [a, '**.b']}",
			`{"key":["a","**.b"],"is":["x","22",2.2E1,false],"format":"yaml"}`},
		{"{where: {kind: [b, a], c: 1.50}, matches: '\\.', key: '\"é<\"'}",
			`{"key":"\"é<\"","where":{"kind":["b","a"],"c":1.50},"matches":"\\."}`},
	} {
		if got := itemName(test.item, "forbidden_patterns", true); got != test.want {
			t.Errorf("%s: %s, want %s", test.item, got, test.want)
		}
	}
	const each = `{"each":["a","b"],"key":"c","is":true}`
	if got := itemName("{is: true, key: c, each: [a, b]}", "required_patterns", true); got != each {
		t.Errorf("%s, want %s", got, each)
	}
}
