package naive

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// A generator makes pairs in which almost everything nearly matches.
type generator struct {
	*rand.Rand
	newer bool // bundles are 0.2
	// The texts of the bundle, and the paths, instructions and values of its items with keys, from which files are made.
	texts, paths, instructions, values []string
	ids                                int
	parsed                             map[string]*Parsed // of the files for items with keys
	lengthy                            bool               // some contents are longer than what the program reads at once
	docker                             bool               // the rule is about Dockerfiles
	formats                            []string           // of the rules with keys, which files for them have mostly: a name, or one behind "."
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// percent is true so often.
func (g *generator) percent(n int) bool { return g.IntN(100) < n }

// token is a small piece of a text.
func (g *generator) token() string {
	return pick(g,
		"a", "a", "b", "A", "B", "k", "\u212a", "\u017f", "_", "1", " ", " ", "  ", "\t", "=",
		`"`, "é", "😀", ".", "\n", "\r\n", "\r", "{", "-",
	)
}

// text is a text for an item, not blank.
func (g *generator) text() string {
	for {
		var b strings.Builder
		for range 1 + g.IntN(5) {
			b.WriteString(g.token())
		}
		if text := b.String(); strings.TrimSpace(text) != "" {
			return text
		}
	}
}

// item is an item in YAML, and what it is about.
func (g *generator) item() string {
	switch {
	case !g.newer || g.percent(30):
		text := g.text()
		g.texts = append(g.texts, text)
		return quote(text)
	case g.percent(45):
		return g.regex()
	}
	return g.textItem()
}

// textItem is a text with the options that it can have.
func (g *generator) textItem() string {
	text := g.text()
	if g.percent(50) {
		text = strings.Trim(text, " \t")
	}
	g.texts = append(g.texts, text)
	parts := []string{"text: " + quote(text)}
	if strings.ContainsAny(text, " \t") && strings.Trim(text, " \t") == text && g.percent(70) {
		parts = append(parts, "spaces: "+pick(g, "any", `"any"`))
	}
	if (isWord(uint32(text[0])) || isWord(uint32(text[len(text)-1]))) && g.percent(50) {
		parts = append(parts, "words: true")
	}
	if strings.ContainsAny(text, "abABk") && g.percent(40) {
		parts = append(parts, "case: ignore")
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "{" + strings.Join(parts, ", ") + g.withinLines() + "}"
}

// regex is an item with an expression that a bundle can have, mostly.
func (g *generator) regex() string {
	expression := func() string {
		expr := g.expression(3)
		for range 20 {
			if _, err := compile(expr, true); err == nil && strings.TrimSpace(expr) != "" {
				break
			}
			expr = g.expression(3)
		}
		return "'" + strings.ReplaceAll(expr, "'", "''") + "'"
	}
	item := "{regex: " + expression()
	if g.percent(30) {
		item += ", except: " + expression()
	}
	return item + g.withinLines() + "}"
}

// withinLines is the option, sometimes.
func (g *generator) withinLines() string {
	if g.percent(65) {
		return ""
	}
	return ", within_lines: " + pick(g, "1", "1", "2", "2", "3", "5")
}

// expression is an expression of the grammar, nested so deep.
func (g *generator) expression(depth int) string {
	if depth == 0 || g.percent(25) {
		return pick(g,
			"a", "b", "ab", "A", "k", "1", "=", `"`, "é", "😀", ".", ".", `\.`, `\s`, `\S`, `\w`, `\W`, `\d`,
			"[ab]", "[^a]", "[a-c ]",
			`[^\n]`, `\b`, `\B`, "^", "$", `\A`, `\z`, " ", `\t`,
			`\x00`, `\x{fffd}`, `\n`, `\r`, `\pL`, "(?i:k)", "(?i:aB)",
			`\x{feff}`, "[\u017fs]", `(?m:^a)`, `(?m:b$)`, "(?s:.)",
		)
	}
	sub := func() string { return g.expression(depth - 1) }
	switch g.IntN(8) {
	case 0:
		return "(?:" + sub() + ")" + pick(g, "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?")
	case 1:
		return "(?:" + sub() + "|" + sub() + ")"
	case 2:
		return "(" + sub() + "|" + sub() + "|)"
	default:
		return sub() + sub()
	}
}

// bundle is the files of a bundle.
func (g *generator) bundle() []ruleText {
	boundary, invariant := ruleText{name: "boundaries.yml"}, ruleText{name: "invariants.yml"}
	files := []ruleText{g.rules(boundary, "boundary"), g.rules(invariant, "invariant")}
	if g.newer && g.percent(30) {
		files = files[:1]
	}
	if g.percent(20) {
		files = append(files, g.rules(ruleText{name: "deprecated.yml"}, "deprecated"))
	}
	for g.newer && g.percent(40) {
		name := pick(g, "a.yml", "a-b.yml", "Z.yml", "zz.yml", "c d.yml", "boundaries2.yml")
		if slices.ContainsFunc(files, func(f ruleText) bool { return f.name == name }) {
			continue
		}
		kind := pick(g, "boundary", "invariant", "invariant", "deprecated")
		files = append(files, g.rules(ruleText{name: name, kind: kind, version: "0.2"}, kind))
	}
	if len(files[0].rules) == 0 {
		files[0].rules = append(files[0].rules, g.rule("boundary", files[0].version != ""))
	}
	return files
}

// rules adds the version, an exclude and rules to a file.
func (g *generator) rules(f ruleText, kind string) ruleText {
	if g.newer && f.version == "" && (f.name == "boundaries.yml" || g.percent(80)) {
		f.version = "0.2"
	}
	if f.version != "" && g.percent(25) {
		f.exclude = g.globs()
	}
	for range g.IntN(3) {
		f.rules = append(f.rules, g.rule(kind, f.version != ""))
	}
	return f
}

const onlyUnparsable = ", only: unparsable"

func (g *generator) rule(kind string, newer bool) ruleYAML {
	older := g.newer && !newer
	if older {
		g.newer = false
		defer func() { g.newer = true }()
	}
	g.ids++
	r := ruleYAML{id: fmt.Sprintf("R%d", g.ids)}
	seen := map[string]bool{}
	keys := newer && g.percent(60)
	format := pick(g, "yaml", "json", "hcl", "toml", "", "")
	if g.percent(20) {
		format = dockerFormat
	}
	g.docker = keys && format == dockerFormat
	named := keys && format != "" && g.percent(30) // by the items, not by the files' names
	if keys && format != "" {
		g.formats = append(g.formats, map[bool]string{true: "."}[named]+format)
	}
	withKey, without := false, false
	fallback := keys && g.percent(30)
	items := func(key string) {
		l := listYAML{key: key}
		for range 1 + g.IntN(3) {
			item := g.item()
			isKey := keys && g.percent(75)
			if isKey {
				item = g.keyItem(key, map[bool]string{true: format}[named])
			}
			if !isKey && fallback && strings.HasPrefix(item, "{") {
				item = strings.TrimSuffix(item, "}") + onlyUnparsable + "}"
			}
			name := itemName(item, key, newer)
			if isKey && name == "" || name != "" && seen[name] {
				continue
			}
			seen[name] = true
			l.items = append(l.items, item)
			withKey, without = withKey || isKey, without || !isKey
		}
		if len(l.items) > 0 {
			r.lists = append(r.lists, l)
		}
	}
	if kind != "invariant" && g.percent(80) {
		items("forbidden_patterns")
	}
	if kind != "boundary" && g.percent(60) {
		items("required_absent")
	}
	if kind != "boundary" && newer && g.percent(60) {
		items("required_patterns")
	}
	pathOnly := false
	if newer && kind != "boundary" && g.percent(25) {
		r.lists = append(r.lists, listYAML{"required_files", g.globs()})
		pathOnly = true
	}
	if newer && g.percent(30) {
		r.lists = append(r.lists, listYAML{"forbidden_files", g.globs()})
		pathOnly = true
	}
	hasItems := r.has("forbidden_patterns") || r.has("required_absent") || r.has("required_patterns")
	if !hasItems && !pathOnly {
		if kind == "invariant" {
			items("required_absent")
		} else {
			items("forbidden_patterns")
		}
		hasItems = true
	}
	if hasItems {
		if keys {
			r.lists = append(r.lists, listYAML{"files", g.keyGlobs(format, named)})
			if withKey && without && (fallback || g.percent(40)) {
				r.lines = append(r.lines, "unparsable: text")
			}
		} else {
			r.lists = append(r.lists, listYAML{"files", g.globs()})
		}
	}
	if newer && hasItems && g.percent(15) {
		item := g.item()
		if keys && g.percent(50) {
			item = g.keyItem("containing", map[bool]string{true: format}[named])
		}
		if itemName(item, "required_absent", true) != "" {
			r.lists = append(r.lists, listYAML{"containing", []string{item}})
		}
	}
	if !slices.Contains(r.lines, "unparsable: text") {
		for _, l := range r.lists {
			for i, item := range l.items {
				l.items[i] = strings.Replace(item, onlyUnparsable, "", 1)
			}
		}
	}
	if g.percent(20) {
		r.lists = append(r.lists, listYAML{"exclude", g.globs()})
	}
	if newer && g.percent(30) && (r.has("files") || r.has("forbidden_files")) {
		r.lines = append(r.lines, "path_case: ignore")
	}
	g.Shuffle(len(r.lists), func(i, j int) { r.lists[i], r.lists[j] = r.lists[j], r.lists[i] })
	return r
}

// itemName is how the item of a list is called, or empty if it is refused.
func itemName(item, list string, newer bool) string {
	r := ruleWith("X", "invariant", item)
	name := "invariants.yml"
	if list == "forbidden_patterns" {
		name = "boundaries.yml"
	}
	r.lists[1].key = list
	f := ruleText{version: "0.2", rules: []ruleYAML{r}}
	if !newer {
		f.version = ""
	}
	onlyWrong := func(m Mistake) bool { return m.What == withoutUnparsable }
	if file, wrong := loadFile(name, f.yaml()); len(slices.DeleteFunc(wrong, onlyWrong)) == 0 {
		r := file.Rules[0]
		return slices.Concat(r.Forbidden, r.Absent, r.Required)[0].Name
	}
	return ""
}

// globs is a list of different globs.
func (g *generator) globs() []string {
	var all []string
	for range 1 + g.IntN(2) {
		glob := pick(g,
			"**", "**", "**/*.tf", "**/*.tf", "*.tf", "a/**", "A/**", "**/x*", "**/*.{tf,pem}",
			"[a-c]/**", "?/*", "**/[w-z]*",
			"**/*.pem", "{a,A}/**/*.tf", "a/x.tf", "**/x.TF", "**/b/*", "a/b/**", "**/é*", "*/main",
		)
		if glob == "*.tf" && g.newer {
			glob = "/*.tf"
		}
		glob = quote(glob)
		if !slices.Contains(all, glob) {
			all = append(all, glob)
		}
	}
	return all
}

// file is a path of the tree with a content.
func (g *generator) file() File {
	if g.newer && g.percent(75) {
		return g.fileWithKeys()
	}
	dir, name := pick(g, "", "", "a/", "a/b/", "A/"), pick(g, "x", "X", "main", "é", "w z", `q\`)
	return File{dir + name + pick(g, ".tf", ".tf", ".TF", ".pem", ".y", ""), g.content(), Regular}
}

// content is a file that nearly has what the bundle is about.
func (g *generator) content() string {
	if g.percent(8) {
		return ""
	}
	var b strings.Builder
	switch {
	case g.percent(3):
		b.WriteString("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n")
	case g.lengthy && g.IntN(300) == 0:
		b.WriteString(g.long())
	case g.percent(50):
		b.WriteString(pick(g, "", "", "", "\xef\xbb\xbf"))
		b.WriteString(g.passage())
	case g.percent(60):
		e := pick(g, Encodings()...)
		if g.percent(60) {
			b.WriteString(e.mark())
		}
		b.WriteString(strings.Repeat("\x00", pick(g, 0, 0, 0, 1, 2, 3)))
		b.WriteString(e.Encode(g.passage()))
	default:
		if g.percent(40) {
			b.WriteString(pick(g, Encodings()...).mark())
		}
		for range 1 + g.IntN(4) {
			b.WriteString(pick(g, "", "", "\x00", "\x00\x00", "\n", "\xff", "\xd8", "a", "\x00\xdc"))
			b.WriteString(pick(g, Encodings()...).Encode(g.passage()))
		}
	}
	content := b.String()
	if len(content) > 0 && g.percent(10) { // cut it anywhere
		content = content[:g.IntN(len(content))]
	}
	return content
}

// long is a content with something near an end of what the program may read at once, and the same characters before.
func (g *generator) long() string {
	e := pick(g, Encodings()...)
	var b strings.Builder
	if g.percent(50) {
		b.WriteString(e.mark())
	}
	b.WriteString(e.Encode(g.passage()))
	size := pick(g, 4096, 8192, 32768, 65536, 65536, 131072, 262144, 262144, 524288) - g.IntN(60)
	filler := e.Encode(pick(g, "x", "x\n", "x\r\n", " ", "a", "ab", "\t ", "\r"))
	for b.Len() < size {
		b.WriteString(filler)
	}
	b.WriteString(e.Encode(g.passage()))
	return b.String()
}

// passage is some text.
func (g *generator) passage() string {
	var b strings.Builder
	for range g.IntN(6) {
		switch {
		case len(g.texts) > 0 && g.percent(60):
			b.WriteString(g.nearly(pick(g, g.texts...)))
		case g.percent(3):
			b.WriteString(strings.Repeat(pick(g, "a", "ab", "a ", "=\"", "k"), 90+g.IntN(40)))
		default:
			b.WriteString(g.token())
		}
		b.WriteString(pick(g, "", "", "", " ", "\n", "\r\n", "\r", "a", "_", "\ufeff"))
	}
	if text := b.String(); !g.percent(10) {
		return text
	}
	// Invalid bytes: in UTF-16 and UTF-32 they become U+FFFD.
	return b.String() + pick(g, "\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f") + g.token()
}

// nearly is a text with a few changes, or none.
func (g *generator) nearly(text string) string {
	if g.percent(30) {
		return text
	}
	var b strings.Builder
	if g.percent(25) {
		b.WriteString(pick(g, "a", "_", "1", " ", "-", text[:1]))
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch char := text[at : at+size]; {
		case (r == ' ' || r == '\t') && g.percent(60):
			b.WriteString(pick(g, "", "", " ", "\t", " \t", "  ", "\n", "\u00a0"))
		case r == 'k' && g.percent(10):
			b.WriteString("\u212a")
		case letterCase(byte(r)) != 0 && r < 128 && g.percent(25):
			b.WriteString(pick(g, strings.ToUpper(char), strings.ToLower(char)))
		case r == '\n' && g.percent(40):
			b.WriteString("\r\n")
		case g.percent(4):
			b.WriteString(g.token())
		default:
			b.WriteString(char)
		}
		at += size
	}
	if g.percent(25) {
		b.WriteString(pick(g, "a", "_", "1", " ", "-", text))
	}
	return b.String()
}
