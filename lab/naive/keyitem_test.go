package naive

import (
	"strings"
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
			`'\.'`, `'\S'`, "'^.y'"))
	}
	if format != "" {
		parts = append(parts, "format: "+format)
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "{" + strings.Join(parts, ", ") + "}"
}

// keyGlobs select files of one format, by their names or those that their items name; or all, if there is none.
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
		"{key: a, matches: '(?=a)'}",
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
