package naive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A damage makes one mistake in a bundle, and reports whether it could.
type damage struct {
	what string
	do   func(g *generator, p *pair) bool
}

// damage makes one mistake, in the bundle of a pair.
func (g *generator) damage(p *pair) {
	for {
		d := pick(g, damages()...)
		if d.do(g, p) {
			p.bad = d.what
			return
		}
	}
}

// damages are all mistakes of the page that are about the files of a bundle, and the items and paths of rules.
func damages() []damage {
	all := []damage{
		{"a 0.2 file, and boundaries.yml that is not", func(g *generator, p *pair) bool {
			newer := func(f ruleText) bool { return f.version != "" }
			if !newer(p.files[0]) || !slices.ContainsFunc(p.files[1:], newer) {
				return false
			}
			// With nothing else that a 0.1 file cannot have.
			p.files[0] = ruleText{name: "boundaries.yml", rules: []ruleYAML{plainRule("OLD", "boundary")}}
			return true
		}},
		{"no boundaries.yml", func(g *generator, p *pair) bool {
			if len(p.files) == 1 {
				return false
			}
			p.files = p.files[1:]
			return true
		}},
		{"no invariants.yml in a 0.1 bundle", func(g *generator, p *pair) bool {
			p.files = []ruleText{{name: "boundaries.yml", rules: []ruleYAML{plainRule("ONLY", "boundary")}}}
			return true
		}},
		{"no rule at all", func(g *generator, p *pair) bool {
			for i := range p.files {
				if p.files[i].kind != "deprecated" && p.files[i].name != "deprecated.yml" {
					p.files[i].rules = nil
				}
			}
			return true
		}},
		{"another file without bundle", func(g *generator, p *pair) bool {
			p.files = append(p.files, ruleText{name: "other.yml", rules: []ruleYAML{plainRule("OTHER", "boundary")}})
			return true
		}},
		{"another file without type", func(g *generator, p *pair) bool {
			return addFile(g, p, ruleText{name: "other.yml", version: "0.2"})
		}},
		{"another file of an unknown type", func(g *generator, p *pair) bool {
			kind := pick(g, "boundaries", "Boundary", `" "`, "allowance", "[boundary]")
			return addFile(g, p, ruleText{name: "other.yml", version: "0.2", kind: kind})
		}},
		{"a file with .yaml", func(g *generator, p *pair) bool {
			return addFile(g, p, ruleText{name: "other.yaml", version: "0.2", kind: "boundary"})
		}},
		{"a file in a directory", func(g *generator, p *pair) bool {
			name := "sub/" + pick(g, "other.yml", "other.yaml", "boundaries.yml")
			return addFile(g, p, ruleText{name: name, version: "0.2", kind: "boundary"})
		}},
		{"a type where the name says it", func(g *generator, p *pair) bool {
			return change(g, p, func(f *ruleText) bool { return f.kind == "" && f.version != "" }, func(f *ruleText) {
				f.head = append(f.head, "type: "+typeOf(*f))
			})
		}},
		{"an unknown version", func(g *generator, p *pair) bool {
			return change(g, p, func(f *ruleText) bool { return f.version != "" }, func(f *ruleText) {
				f.version = pick(g, "0.3", "1", "0.20", "0.2 ", "v0.2")
			})
		}},
		{"an exclude in a 0.1 file", func(g *generator, p *pair) bool {
			return change(g, p, func(f *ruleText) bool { return f.version == "" }, func(f *ruleText) {
				f.head = append(f.head, `exclude: ["a"]`)
			})
		}},
		{"no list of globs as exclude", func(g *generator, p *pair) bool {
			none := func(f *ruleText) bool { return f.version != "" && len(f.exclude) == 0 }
			return change(g, p, none, func(f *ruleText) {
				f.head = append(f.head, "exclude: "+pick(g, "[]", "a", "~", `[""]`, "[a, a]", "{a: b}"))
			})
		}},
		{"an unknown key of a file", func(g *generator, p *pair) bool {
			return change(g, p, func(f *ruleText) bool { return f.version != "" }, func(f *ruleText) {
				f.head = append(f.head, pick(g, "excludes: [a]", "version: 2", "files: [a]"))
			})
		}},
		{"an id twice", func(g *generator, p *pair) bool {
			var ids []string
			for _, f := range p.files {
				for _, r := range f.rules {
					ids = append(ids, r.id)
				}
			}
			return addRule(g, p, "", func(kind string) ruleYAML { return plainRule(pick(g, ids...), kind) })
		}},
		{"a key of the other type", func(g *generator, p *pair) bool {
			return addRule(g, p, "", func(kind string) ruleYAML {
				r := plainRule("BAD", kind)
				key := map[string]string{"invariant": "forbidden_patterns", "deprecated": "each"}[kind]
				if kind == "boundary" {
					key = pick(g, "required_absent", "required_patterns", "required_files")
				}
				r.lists = append(r.lists, listYAML{key, []string{"/q"}})
				return r
			})
		}},
		{"a key of 0.2 in a 0.1 file", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.1", func(kind string) ruleYAML {
				r := plainRule("BAD", kind)
				key := pick(g, "path_case", "forbidden_files", "required_files", "required_patterns")
				if key == "path_case" {
					r.lines = append(r.lines, "path_case: ignore")
				} else {
					r.lists = append(r.lists, listYAML{key, []string{"/q"}})
				}
				return r
			})
		}},
		{"a mapping in a 0.1 file", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.1", func(kind string) ruleYAML {
				return ruleWith("BAD", kind, pick(g, "{text: a}", "{regex: a}", `{text: "a b", spaces: any}`))
			})
		}},
		{"a rule with nothing to look for", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				return ruleYAML{id: "BAD", lists: []listYAML{{pick(g, "exclude", "files"), []string{"a"}}}}
			})
		}},
		{"items without files", func(g *generator, p *pair) bool {
			return addRule(g, p, "", func(kind string) ruleYAML {
				r := plainRule("BAD", kind)
				r.lists = r.lists[1:]
				return r
			})
		}},
		{"files without items", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				lists := []listYAML{{"files", []string{"a"}}, {"forbidden_files", []string{"b"}}}
				return ruleYAML{id: "BAD", lists: lists}
			})
		}},
		{"path_case with another value", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := plainRule("BAD", kind)
				r.lines = append(r.lines, "path_case: "+pick(g, "Ignore", "true", "fold", "~", `""`, "[ignore]"))
				return r
			})
		}},
		{"path_case without effect", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := ruleYAML{id: "BAD", lines: []string{"path_case: ignore"}}
				if kind != "boundary" {
					r.lists = []listYAML{{"required_files", []string{"/q"}}}
				}
				return r
			})
		}},
		{"a range with a letter at one end", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := plainRule("BAD", kind)
				r.lines = append(r.lines, "path_case: ignore")
				glob := quote(pick(g, "/[A-z].tf", "**/[0-a]", "/[_-b]x", "/x[!Z-a]", "/a[x0-Z]b", "/[a-é]"))
				if g.percent(50) {
					r.lists[0].items = append(r.lists[0].items, glob)
				} else {
					r.lists = append(r.lists, listYAML{"forbidden_files", []string{"/q", glob}})
				}
				return r
			})
		}},
		{"a glob that does not say where it begins", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := plainRule("BAD", kind)
				r.lists = append(r.lists, listYAML{"forbidden_files", []string{quote(pick(g, "*.tf", "q", "*", "[a-b]?"))}})
				return r
			})
		}},
		{"no list of paths", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := plainRule("BAD", kind)
				key := pick(g, "forbidden_files", "exclude")
				if kind != "boundary" {
					key = pick(g, key, "required_files")
				}
				r.lines = append(r.lines, key+": "+pick(g, "[]", "q", "~", `[""]`, "[q, q]", "{q: q}", "[~]"))
				return r
			})
		}},
		{"a key item in the wrong list", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := ruleWith("BAD", kind, "q", pick(g, `{each: a, key: b}`, `{each: "a.*", key: b, is: true}`))
				if kind != "boundary" && g.percent(50) {
					r.lists[1] = listYAML{"required_patterns", []string{"q", pick(g,
						"{key: a, is_not: b}", "{key: a, matches_not: b}", "{each: a, key: b, is_not: [c]}")}}
				}
				return r
			})
		}},
		{"unparsable that is not text, or can change nothing", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := ruleWith("BAD", kind, "q", "{key: a}")
				line := "unparsable: " + pick(g, "true", "Text", "skip", "~", "[text]", `""`)
				if g.percent(50) {
					line = "unparsable: text"
					r.lists[1].items = pick(g, []string{"q"}, []string{"{key: a}"}, []string{"{key: a}", "{key: b}"})
				}
				r.lines = append(r.lines, line)
				return r
			})
		}},
		{"an item in two lists of a rule", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				one, two := same(g)
				r := ruleWith("BAD", kind, one)
				if kind == "boundary" {
					r.lists[1].items = append(r.lists[1].items, two)
				} else {
					r.lists = append(r.lists, listYAML{"required_patterns", []string{two}})
				}
				return r
			})
		}},
		{"an item twice", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				one, two := same(g)
				return ruleWith("BAD", kind, one, "q", two)
			})
		}},
	}
	// Half of the damages are to items.
	for range len(all) {
		all = append(all, damage{"an item that is refused", func(g *generator, p *pair) bool {
			return addRule(g, p, "0.2", func(kind string) ruleYAML {
				r := ruleWith("BAD", kind, "q", pick(g, badItems()...))
				if kind != "boundary" && g.percent(50) {
					r.lists[1].key = "required_patterns"
				}
				return r
			})
		}})
	}
	return all
}

// same are two ways to write one item.
func same(g *generator) (one, two string) {
	ways := pick(g,
		[]string{"x", "'x'", "{text: x}", `{text: "x"}`},
		[]string{`{text: "a b", spaces: any, words: true}`, `{words: true, text: 'a b', spaces: "any"}`},
		[]string{`{regex: 'x+'}`, `{regex: "x+"}`, "{regex: x+}"},
		[]string{`"{a"`, `{text: "{a"}`, `'"{a"'`}, // the last has the name of the others
		[]string{`{key: a.b, is: true}`, `{is: True, key: "a.b"}`, `{key: 'a.b', is: TRUE}`},
		[]string{`{key: a, where: {b: c}}`, `{where: {"b": "c"}, key: a}`},
	)
	return pick(g, ways...), pick(g, ways...)
}

// badItems are items that a 0.2 file cannot have.
func badItems() []string {
	var all []string
	for _, text := range []string{
		`"ab", spaces: any`, `"a\nb", spaces: any`, `" a b", spaces: any`, `"a b\t", spaces: any`,
		`"a b", spaces: one`, `"a b", spaces: true`, `"a b", spaces: ~`,
		`"1=", case: ignore`, `"é` + "\u212a" + `", case: ignore`, `"a", case: sensitive`, `"a", case: true`,
		`"=a=", words: true`, `"é", words: true`, `"\u212a.", words: true`, `"a", words: false`, `"a", words: any`,
		`a, regex: b`, `a, foo: b`, `a, format: yaml`, `a, is: b`, `a, each: b`, `a, key: b`,
		`""`, `" "`, `~`, `[a]`, `{}`,
	} {
		all = append(all, "{text: "+text+"}")
	}
	for _, expr := range []string{
		"(?=a)", "(?!a)b", "(?<=a)b", "(?<!a)b", `(a)\1`, `(?P=x)`, "a*", `\b`, "^$",
		"^", "a?|b", "(a|)", "a{0,3}", "(?:)", "(?i)", `\b\B`, "(?:a*)+", "(?:a?){2}",
		`\n`, `\r\n`, `a\nb`, `(a|b)\r`, `[\n\r]a`, `a(?:\n)+`, `a\x0ab`, `(?:\n|\r)a`, `a\n{2,3}`, `[\n]`, `(?s:\n).`,
		`(?s)a`, `(?is)a`, `a(?s:.)b`, `(?s-i)a.`, `a(?s)`, `[\s\S]a`, `[\W\w]a`, `a[\d\D]+b`, `[[:space:]\S]a`, `(?:.|\s)a`,
		`(.|\n)a`, `a\n?b`, `a\r*`, `[a\n]b`, `[^\S]a|\n`, `a\x0D?`, `a\x{00a}?`, `a\12?`, `a\015?`, `[\t-\r]a`, `[]\n]a`,
		`\Aa`, `a\z`, `(?:^|\A)a`, `\Qb\E\Aa`, `^\x{FEFF}`, `^\x{feff}+a`, `(?m)^(\x{FEFF})`, `(?:^\x{FEFF}|^[\x{FEFF}])a`,
		"a$b", "a^b", `a\b_`, `(?m)a$\s*^b`, `^\B_`, "(?:^a){2}", "${a}", `a\b\Bé`, `[^\x00-\x{10FFFF}]`, `[\x{D800}-\x{DFFF}]`,
		"a(", "[z-a]", "a**", "a{2000}", `\pX`, "[", `\`, "a)", "(?<n", "*a",
	} {
		all = append(all, "{regex: '"+expr+"'}")
	}
	for _, expr := range []string{`a\tb`, `a\n`, `a\u0085`, `\u007fa`, `\x1ba`, ``, ` `} {
		all = append(all, `{regex: "`+expr+`"}`)
	}
	for _, n := range []string{"0", "-1", "1.0", "1e1", "01", "+1", "0x1", `"1"`, "~", "[1]", "{}", "true", "a", "1_0"} {
		all = append(all, "{text: a, within_lines: "+n+"}", "{regex: a, within_lines: "+n+"}")
	}
	all = append(all, badKeyItems()...)
	return append(all, "{}", "{within_lines: 1}", "{spaces: any}", "{words: true}", "{texts: a}", "{regex: a, case: ignore}",
		"{regex: a, words: true}", "{regex: 'a b', spaces: any}",
		"{regex: a, is: b}", "~", "[a]", "[]", `""`, `" "`, `"\t\n"`, "{x-note: a}", "{text: a, text: b}")
}

// plainRule is a rule with nothing special.
func plainRule(id, kind string) ruleYAML { return ruleWith(id, kind, "plain") }

// ruleWith is a rule with these forbidden items.
func ruleWith(id, kind string, items ...string) ruleYAML {
	key := "forbidden_patterns"
	if kind == "invariant" {
		key = "required_absent"
	}
	return ruleYAML{id: id, lists: []listYAML{{"files", []string{`"**"`}}, {key, items}}}
}

// typeOf is the type of a rule file.
func typeOf(f ruleText) string {
	switch f.name {
	case "boundaries.yml":
		return "boundary"
	case "invariants.yml":
		return "invariant"
	case "deprecated.yml":
		return "deprecated"
	}
	return f.kind
}

// addRule adds a rule to a file of this version, or of any.
func addRule(g *generator, p *pair, version string, rule func(kind string) ruleYAML) bool {
	is := func(f *ruleText) bool { return version == "" || (version == "0.2") == (f.version == "0.2") }
	return change(g, p, is, func(f *ruleText) {
		f.rules = append(slices.Clone(f.rules), rule(typeOf(*f)))
	})
}

// addFile adds a file to a 0.2 bundle, with a rule if it has a type.
func addFile(g *generator, p *pair, f ruleText) bool {
	if p.files[0].version == "" {
		return false
	}
	f.rules = []ruleYAML{plainRule("OTHER", "boundary")}
	p.files = append(p.files, f)
	return true
}

// change changes a file for which ok is true.
func change(g *generator, p *pair, ok func(f *ruleText) bool, do func(f *ruleText)) bool {
	for _, i := range g.Perm(len(p.files)) {
		if f := p.files[i]; ok(&f) && !strings.Contains(f.name, "/") {
			do(&f)
			p.files = with(p.files, i, f)
			return true
		}
	}
	return false
}

// path is one of the version's files, or one that may come.
func (g *generator) path(v version) string {
	if len(v.files) > 0 && g.percent(80) {
		return pick(g, slices.Sorted(maps.Keys(v.files))...)
	}
	return pick(g, changedPaths()...)
}

// mutate makes some changes to a version.
func (g *generator) mutate(v version) version {
	v = v.clone()
	for range 1 + g.IntN(3) {
		switch g.IntN(10) {
		case 0, 1, 2:
			g.edit(v)
		case 3, 4, 5, 6:
			v = g.move(v)
		case 7:
			v = g.changeRules(v)
		default:
			v = g.changeList(v)
		}
	}
	if g.percent(30) { // tighten
		counts := v.counts()
		for i, e := range v.list {
			if n := counts[e.Rule][e.File]; n > 0 && n < e.AtMost && !e.MayGrow {
				v.list[i].AtMost = n
			}
		}
	}
	return v
}

// edit changes the lines of a file.
func (g *generator) edit(v version) {
	path := g.path(v)
	content, there := v.files[path]
	if !there {
		v.files[path] = g.body(path)
		return
	}
	lines := linesIn(path, content)
	json := strings.HasSuffix(path, ".json")
	switch i := g.IntN(len(lines)); {
	case g.percent(30):
		lines = append(without(lines, i), linesIn(path, g.body(path))[0])
	case g.percent(40):
		lines = without(lines, i)
	case g.percent(20):
		lines = append(lines, lines[i])
	case g.percent(30) && !json:
		for j := range lines {
			lines[j] = "  " + strings.TrimSpace(lines[j])
		}
	default:
		g.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	v.files[path] = g.joined(path, lines)
}

// move renames, copies, splits or swaps files, with entries that say so, or without.
func (g *generator) move(v version) version {
	from, to := g.path(v), pick(g, changedPaths()...)
	content, there := v.files[from]
	if !there || from == to || strings.HasSuffix(from, ".json") != strings.HasSuffix(to, ".json") {
		return v
	}
	before := v.counts()
	froms := map[string][]string{to: {from}}
	switch g.IntN(6) {
	case 0, 1, 2:
		v.files[to] = content
		delete(v.files, from)
	case 3:
		v.files[to] = content // a copy
	case 4:
		lines := linesIn(from, content)
		cut := g.IntN(len(lines) + 1)
		v.files[from], v.files[to] = g.joined(from, lines[:cut]), g.joined(to, lines[cut:])
	default:
		v.files[from], v.files[to] = v.files[to], content
		if v.files[from] == "" {
			delete(v.files, from)
		}
		froms[from] = []string{to}
	}
	if g.percent(25) {
		g.edit(v)
	}
	if g.percent(20) {
		return v
	}
	counts := v.counts()
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		for _, path := range []string{to, from} {
			n := counts[rule][path]
			at := slices.IndexFunc(v.list, func(e Allowance) bool { return e.Rule == rule && e.File == path })
			switch {
			case n == 0 && at >= 0 && g.percent(80):
				v.list = without(v.list, at)
			case n > 0 && before[rule][from] > 0 && froms[path] != nil && g.percent(90):
				e := g.entry(rule, path, n)
				e.From = froms[path]
				if at >= 0 {
					v.list[at] = e
				} else {
					v.list = append(v.list, e)
				}
			}
		}
	}
	return v
}

// changeRules changes, adds or removes a rule.
func (g *generator) changeRules(v version) version {
	i := g.IntN(len(v.rules))
	switch {
	case g.percent(50):
		v.rules = with(v.rules, i, ruleLine{v.rules[i].id, pick(g, ruleBodies()...)})
	case g.percent(60) || len(v.rules) == 1:
		g.ids++
		v.rules = append(v.rules, ruleLine{fmt.Sprintf("R%d", g.ids), pick(g, ruleBodies()...)})
		added := v.rules[len(v.rules)-1:]
		v.list = append(v.list, g.entries(version{files: v.files, rules: added}, 70)...)
	default:
		v.rules = without(v.rules, i)
	}
	return v
}

// changeList changes, adds or removes an entry.
func (g *generator) changeList(v version) version {
	if len(v.list) == 0 || g.percent(25) {
		rule, path := pick(g, v.rules...).id, g.path(v)
		e := g.entry(rule, path, max(1, v.counts()[rule][path]))
		if g.percent(50) {
			e.From = []string{g.path(v)}
		}
		v.list = append(v.list, e)
		return v
	}
	if g.percent(6) {
		v.list = nil
		return v
	}
	i := g.IntN(len(v.list))
	e := v.list[i]
	switch g.IntN(9) {
	case 0, 1:
		e.AtMost = max(1, e.AtMost-1)
	case 2:
		e.AtMost++
	case 3:
		v.list = without(v.list, i)
		return v
	case 4:
		e.MayGrow = !e.MayGrow
	case 5:
		e.Until = pick(g, "2099-06-14", "2099-06-15", "2099-06-16", "")
	case 6:
		e.From = nil
		for range 1 + g.IntN(3) {
			if path := pick(g, g.path(v), ".policyscan/rules/boundaries.yml"); !slices.Contains(e.From, path) {
				e.From = append(e.From, path)
			}
		}
	case 7:
		e.Owner = pick(g, "o", "p")
	default: // another entry for the same
		e.AtMost = max(1, e.AtMost+pick(g, -1, 0, 1))
		v.list = append(v.list, e)
		return v
	}
	v.list = with(v.list, i, e)
	return v
}
