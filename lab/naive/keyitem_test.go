package naive

import (
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// keyPath is a path of a key item, and noted.
func (g *generator) keyPath(broad bool) string {
	path := g.newKeyPath(broad)
	g.paths = append(g.paths, path)
	return path
}

// newKeyPath is a path of a key item. Required items have no ** at the end, or before a star: what they ask for is not
// on the page.
func (g *generator) newKeyPath(broad bool) string {
	if g.docker && g.percent(70) {
		instruction := pick(g, "run", "cmd", "entrypoint", "healthcheck", "copy", "add", "env", "user", "from", "label", "expose", "arg")
		key := pick(g, "command", "command", "a", "sources", "to", "from.image", "from.tag", "image", "tag", "stage", "mount", "link", "as", "*")
		root := pick(g, "**", "stages", "stages", "final", "final", "**.onbuild")
		if root == "final" && g.percent(60) {
			instruction = pick(g, "cmd", "cmd", "entrypoint", "user", "env", "healthcheck")
		}
		g.instructions = append(g.instructions, instruction)
		return root + "." + instruction + pick(g, "", "."+key, "."+key)
	}
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
	value := pick(g, "true", "true", "false", "True", "FALSE", "22", "22", "22.0", "2.2e1", "0", "1", "90",
		"-5", "1.5", "1E3",
		"x", "x", "private", `"22"`, `"true"`, `'yes'`, `"x\n"`, `""`, `"026"`, `"1.0"`, `"var.x"`, "var.x",
		`"!false"`, `"a: true"`,
		`"é\L"`, `'upper("x")'`, `"2001-01-01"`, `"0x16"`, `"null"`, `"~"`, "on-1", "List", "1e999999999",
		`"a-${var.x}"`,
		`"x\ny"`, `"${x}"`)
	g.values = append(g.values, value)
	return value
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
	key := g.paths[len(g.paths)-1]
	each := required && g.percent(60)
	if each {
		parts = append(parts, "each: "+g.keyPaths(true))
		key = g.paths[len(g.paths)-1] + "." + key
		g.paths = append(g.paths, key)
	}
	if g.percent(20) {
		parts = append(parts, "where: "+g.conditions("kind"))
	}
	if (!required || each) && g.percent(30) {
		parts = append(parts, "if: "+g.conditions("a"))
		if start := strings.LastIndex(key, "."); start > 0 && !strings.HasSuffix(key, `"`) {
			g.paths = append(g.paths, key[:start+1]+pick(g, "a", g.paths[len(g.paths)-1]))
		}
	}
	forms := []string{"", "is", "is", "is", "matches"}
	if !required {
		forms = append(forms, "is_not", "is_not", "matches_not")
	}
	forms = append(forms, map[bool][]string{false: {"below", "above"}, true: {"at_least", "at_most"}}[required]...)
	form := pick(g, forms...)
	switch {
	case form == "":
	case strings.HasPrefix(form, "at_"), form == "below", form == "above":
		if g.percent(40) {
			g.values = append(g.values, pick(g, "22", `"22"`, "500m", "1Ki", "1.5", "1E3", "2e1", "-5"))
			parts = append(parts, "quantity: true", form+": "+g.values[len(g.values)-1])
			break
		}
		fallthrough
	default:
		parts = append(parts, form+": "+g.asked(form))
	}
	if required && form != "" && g.percent(30) {
		parts = append(parts, "any: true")
	}
	if format != "" {
		parts = append(parts, "format: "+format)
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "{" + strings.Join(parts, ", ") + "}"
}

// asked is what a form asks, as YAML.
func (g *generator) asked(form string) string {
	switch form {
	case "is", "is_not":
		return g.keyValues()
	case "missing", "present":
		return "true"
	case "matches", "matches_not":
		return pick(g, "x", "'^x$'", "'^[a-z]+$'", "'2'", "'^(true|false)$'",
			`'\.'`, `'\S'`, "'^.y'", "'(?s)x.y'", `'(?s)^x\s'`, "'(?s)^x$'", `'(?is)^X(?:\r?\n|$)'`, `'(?s)\n$'`, "'(?s)y'")
	}
	limit := pick(g, "22", "22.0", "0", "1", "-5", "1e3", "1.5", "90")
	g.values = append(g.values, limit, pick(g, "21", "23", "-1", "1e4"))
	return limit
}

// conditions are one or two conditions: of a key that occurs often, or of others.
func (g *generator) conditions(often string) string {
	paths := []string{quote(g.keyPath(true))}
	if g.percent(50) {
		paths[0] = often
	}
	if other := quote(g.keyPath(true)); g.percent(20) && other != paths[0] {
		paths = append(paths, other)
	}
	for i, path := range paths {
		what := g.keyValues()
		if g.percent(75) {
			form := pick(g, "is", "is_not", "is_not", "matches", "matches_not", "below", "above", "missing", "missing", "present")
			what = "{" + form + ": " + g.asked(form) + "}"
		}
		paths[i] = path + ": " + what
	}
	return "{" + strings.Join(paths, ", ") + "}"
}

// keyGlobs select files of one format, by their names or the formats of their items; or all files, without a format.
func (g *generator) keyGlobs(format string, named bool) []string {
	switch {
	case named:
		return []string{quote("k/*." + format + ".conf")}
	case format == "":
		return pick(g, []string{`"k/**"`}, []string{`"k/*.conf"`, `"k/*.tf"`})
	case format == dockerFormat:
		return pick(g, []string{`"k/**"`}, []string{`"k/*ocker*"`, `"k/Container*"`})
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
	format, named := pick(g, "yaml", "json", "hcl", "toml", dockerFormat), g.percent(15)
	if len(g.formats) > 0 && g.percent(80) {
		format, named = strings.CutPrefix(pick(g, g.formats...), ".")
	}
	name := pick(g, "x", "y", "é")
	switch {
	case named:
		name += "." + format + ".conf"
	case format == dockerFormat:
		name = pick(g, "Dockerfile", "x.dockerfile", "Containerfile.x")
	default:
		name += pick(g, extensions(format)...)
	}
	return File{"k/" + name, g.keyContent("k/" + name), Regular}
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
	kind    string // value, null, open (a variable, or a tag), date, list, map, json (a text)
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
	if g.percent(5) {
		text := pick(g, "500m", "1Ki", "4Gi", "2e1", ".inf", "0.5", "22", "1K", "010", "")
		return &wish{kind: "value", value: Value{textKind, text}}
	}
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
	if g.percent(15) {
		return g.wishText(depth)
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

// along makes what a path leads to, nearly.
func (g *generator) along(path Path) *wish {
	if len(path) == 0 {
		if len(g.values) == 0 || g.percent(50) {
			return g.wish(1)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(pick(g, g.values...)), &doc); err != nil {
			panic(err)
		}
		value, _ := ruleValue(doc.Content[0])
		if strings.Contains(value.Text, "e999999999") { // parsers have no such numbers
			value.Kind = textKind
		}
		return &wish{kind: "value", value: value}
	}
	inner := g.along(path[1:])
	key := path[0].Text
	if path[0].Kind == anyNumber && g.percent(50) {
		return inner
	} else if path[0].Kind != literal || g.percent(5) {
		key = pick(g, keyWords()...)
	}
	w := &wish{kind: "map", entries: []wishEntry{{key: key, value: inner, block: inner.kind == "map" && g.percent(60)}}}
	for g.percent(30) {
		w.entries = append(w.entries, wishEntry{key: pick(g, keyWords()...), value: g.wishValue()})
	}
	switch n := g.IntN(20); {
	case n == 0:
		return &wish{kind: "json", value: Value{textKind, w.json()}, items: []*wish{w}}
	case n < 3:
		return &wish{kind: "list", items: []*wish{w, g.along(path)}}
	}
	return w
}

// wishMap makes a mapping. A key may be twice in it; formats that refuse that leave the second out.
func (g *generator) wishMap(depth int) *wish {
	w := &wish{kind: "map"}
	for len(g.paths) > 0 && depth == 4 && g.percent(50) {
		if path, wrong := parsePath(pick(g, g.paths...)); wrong == "" {
			w.entries = append(w.entries, g.along(path).entries...)
		}
	}
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

// wishText makes a text of JSON, or one that nearly is. Its only item is what is in it.
func (g *generator) wishText(depth int) *wish {
	inner := g.wishMap(depth - 1)
	if g.percent(30) {
		inner = &wish{kind: "list", items: []*wish{inner, g.wish(depth - 1)}}
	}
	text := pick(g, "", "", "", " ", "\n") + inner.json() + pick(g, "", "", "", "\n", ",", "x")
	return &wish{kind: "json", value: Value{textKind, text}, items: []*wish{inner}}
}

// json writes a wish as strict JSON.
func (w *wish) json() string {
	var parts []string
	switch w.kind {
	case "list":
		for _, item := range w.items {
			parts = append(parts, item.json())
		}
		return "[" + strings.Join(parts, ",") + "]"
	case "map":
		for _, e := range w.entries {
			parts = append(parts, jsonString(e.key)+": "+e.value.json())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case "null":
		return "null"
	case "value":
		if w.value.Kind != textKind {
			return w.value.Text
		}
	}
	return jsonString(w.value.Text)
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
	bare     bool // comments are left out
	inObject int  // how many objects of HCL are open: no heredoc is in them, since a comma may follow
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

// form is a spelling of a value.
func (w *writer) form(v Value) string {
	forms := []string{v.Text}
	switch v.Kind {
	case booleanKind:
		forms = booleanForms(v.Text)
	case numberKind:
		forms = numberForms(v.Text)
	}
	return pick(w.generator, forms...)
}

// value writes a value as what it is, a number so often, or as a text.
func (w *writer) value(v Value, isNumber *regexp.Regexp, percent int, text func(string)) Scalar {
	form := w.form(v)
	switch {
	case v.Kind == numberKind && isNumber.MatchString(form) && w.percent(percent):
		w.put(form)
		return Scalar{Texts: []string{form}, Exact: Value{numberKind, form}, Asked: form}
	case v.Kind == booleanKind && w.percent(50):
		w.put(v.Text)
		return Scalar{Texts: []string{v.Text}, Exact: v, Asked: v.Text}
	}
	text(form)
	return textScalar(form)
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
	if format == dockerFormat {
		content := g.dockerContent()
		return keyFile{format, content, parseDockerfile(content)}
	}
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
			if meant.Code == "E_PARSE" { // with what other items look for
				w.put(strings.ReplaceAll(g.passage(), `"`, ""))
			}
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
