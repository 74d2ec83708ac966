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

// inRule is a damage by a rule that is added to a file of this version, or of any.
func inRule(what, version string, rule func(g *generator, kind string) ruleYAML) damage {
	is := func(f *ruleText) bool { return version == "" || (version == "0.2") == (f.version == "0.2") }
	return damage{what, func(g *generator, p *pair) bool {
		return change(g, p, is, func(f *ruleText) { f.rules = append(slices.Clone(f.rules), rule(g, typeOf(*f))) })
	}}
}

// inItems is a damage by the items of a rule of 0.2, and by a line of it.
func inItems(what string, items func(g *generator, kind string) (line string, all []string)) damage {
	return inRule(what, "0.2", func(g *generator, kind string) ruleYAML {
		line, all := items(g, kind)
		r := ruleWith("BAD", kind, all...)
		if line != "" {
			r.lines = []string{line}
		}
		return r
	})
}

// inList is a damage by a list next to those of a plain rule.
func inList(what, version string, list func(g *generator, kind string) listYAML) damage {
	return inRule(what, version, func(g *generator, kind string) ruleYAML {
		r := plainRule("BAD", kind)
		r.lists = append(r.lists, list(g, kind))
		return r
	})
}

// inHead is a damage by a line before the rules of a file for which ok is true.
func inHead(what string, ok func(f *ruleText) bool, line func(g *generator, f ruleText) string) damage {
	return damage{what, func(g *generator, p *pair) bool {
		return change(g, p, ok, func(f *ruleText) { f.head = append(f.head, line(g, *f)) })
	}}
}

// byFile is a damage by another file of a 0.2 bundle.
func byFile(what string, file func(g *generator) ruleText) damage {
	return damage{what, func(g *generator, p *pair) bool {
		if older(&p.files[0]) {
			return false
		}
		f := file(g)
		f.rules = []ruleYAML{plainRule("OTHER", "boundary")}
		p.files = append(p.files, f)
		return true
	}}
}

func newer(f *ruleText) bool { return f.version != "" }
func older(f *ruleText) bool { return f.version == "" }

// damages are all mistakes of the page that are about the files of a bundle, and the items and paths of rules.
func damages() []damage {
	return []damage{
		{"a 0.2 file, and boundaries.yml that is not", func(g *generator, p *pair) bool {
			if older(&p.files[0]) || !slices.ContainsFunc(p.files[1:], func(f ruleText) bool { return newer(&f) }) {
				return false
			}
			// With nothing else that a 0.1 file cannot have.
			p.files[0] = ruleText{name: "boundaries.yml", rules: []ruleYAML{plainRule("OLD", "boundary")}}
			return true
		}},
		{"no boundaries.yml", func(g *generator, p *pair) bool {
			all := p.files
			if len(all) > 1 {
				p.files = all[1:]
			}
			return len(all) > 1
		}},
		{"no invariants.yml in a 0.1 bundle", func(g *generator, p *pair) bool {
			p.files = []ruleText{{name: "boundaries.yml", rules: []ruleYAML{plainRule("ONLY", "boundary")}}}
			return true
		}},
		{"no rule at all", func(g *generator, p *pair) bool {
			for i := range p.files {
				if typeOf(p.files[i]) != "deprecated" {
					p.files[i].rules = nil
				}
			}
			return true
		}},
		{"another file without bundle", func(g *generator, p *pair) bool {
			p.files = append(p.files, ruleText{name: "other.yml", rules: []ruleYAML{plainRule("OTHER", "boundary")}})
			return true
		}},
		byFile("another file without type", func(*generator) ruleText { return ruleText{name: "other.yml", version: "0.2"} }),
		byFile("another file of an unknown type", func(g *generator) ruleText {
			kind := pick(g, "boundaries", "Boundary", `" "`, "allowance", "[boundary]")
			return ruleText{name: "other.yml", version: "0.2", kind: kind}
		}),
		byFile("a file with another ending, or in a directory", func(g *generator) ruleText {
			name := pick(g, "other.yaml", "sub/other.yml", "sub/other.yaml", "sub/boundaries.yml")
			return ruleText{name: name, version: "0.2", kind: "boundary"}
		}),
		inHead("a type where the name says it", func(f *ruleText) bool { return newer(f) && f.kind == "" },
			func(_ *generator, f ruleText) string { return "type: " + typeOf(f) }),
		{"an unknown version", func(g *generator, p *pair) bool {
			return change(g, p, newer, func(f *ruleText) { f.version = pick(g, "0.3", "1", "0.20", "0.2 ", "v0.2") })
		}},
		inHead("an exclude in a 0.1 file", older, func(*generator, ruleText) string { return `exclude: ["a"]` }),
		inHead("no list of globs as exclude", func(f *ruleText) bool { return newer(f) && len(f.exclude) == 0 },
			func(g *generator, _ ruleText) string {
				return "exclude: " + pick(g, "[]", "a", "~", `[""]`, "[a, a]", "{a: b}")
			}),
		inHead("an unknown key of a file", newer, func(g *generator, _ ruleText) string {
			return pick(g, "excludes: [a]", "version: 2", "files: [a]")
		}),
		{"an id twice", func(g *generator, p *pair) bool {
			var ids []string
			for _, f := range p.files {
				for _, r := range f.rules {
					ids = append(ids, r.id)
				}
			}
			twice := func(g *generator, kind string) ruleYAML { return plainRule(pick(g, ids...), kind) }
			return inRule("", "", twice).do(g, p)
		}},
		inList("a key of the other type", "", func(g *generator, kind string) listYAML {
			key := map[string]string{"invariant": "forbidden_patterns", "deprecated": "each"}[kind]
			if kind == "boundary" {
				key = pick(g, "required_absent", "required_patterns", "required_files")
			}
			return listYAML{key, []string{"/q"}}
		}),
		inList("a key of 0.2 in a 0.1 file", "0.1", func(g *generator, _ string) listYAML {
			return listYAML{pick(g, "forbidden_files", "required_files", "required_patterns"), []string{"/q"}}
		}),
		inRule("path_case in a 0.1 file", "0.1", func(_ *generator, kind string) ruleYAML {
			r := plainRule("BAD", kind)
			r.lines = []string{"path_case: ignore"}
			return r
		}),
		inRule("a mapping in a 0.1 file", "0.1", func(g *generator, kind string) ruleYAML {
			return ruleWith("BAD", kind, pick(g, "{text: a}", "{regex: a}", `{text: "a b", spaces: any}`))
		}),
		inRule("a rule with nothing to look for", "0.2", func(g *generator, _ string) ruleYAML {
			return ruleYAML{id: "BAD", lists: []listYAML{{pick(g, "exclude", "files"), []string{"a"}}}}
		}),
		inRule("items without files", "", func(_ *generator, kind string) ruleYAML {
			r := plainRule("BAD", kind)
			r.lists = r.lists[1:]
			return r
		}),
		inRule("files without items", "0.2", func(*generator, string) ruleYAML {
			return ruleYAML{id: "BAD", lists: []listYAML{{"files", []string{"a"}}, {"forbidden_files", []string{"b"}}}}
		}),
		inItems("path_case with another value", func(g *generator, _ string) (string, []string) {
			return "path_case: " + pick(g, "Ignore", "true", "fold", "~", `""`, "[ignore]"), []string{"plain"}
		}),
		inRule("path_case without effect", "0.2", func(_ *generator, kind string) ruleYAML {
			r := ruleYAML{id: "BAD", lines: []string{"path_case: ignore"}}
			if kind != "boundary" {
				r.lists = []listYAML{{"required_files", []string{"/q"}}}
			}
			return r
		}),
		inRule("a range with a letter at one end", "0.2", func(g *generator, kind string) ruleYAML {
			r := plainRule("BAD", kind)
			r.lines = []string{"path_case: ignore"}
			glob := quote(pick(g, "/[A-z].tf", "**/[0-a]", "/[_-b]x", "/x[!Z-a]", "/a[x0-Z]b", "/[a-é]"))
			if g.percent(50) {
				r.lists[0].items = append(r.lists[0].items, glob)
			} else {
				r.lists = append(r.lists, listYAML{"forbidden_files", []string{"/q", glob}})
			}
			return r
		}),
		inList("a glob that does not say where it begins", "0.2", func(g *generator, _ string) listYAML {
			return listYAML{"forbidden_files", []string{quote(pick(g, "*.tf", "q", "*", "[a-b]?"))}}
		}),
		inItems("no list of paths", func(g *generator, kind string) (string, []string) {
			key := pick(g, "forbidden_files", "exclude")
			if kind != "boundary" {
				key = pick(g, key, "required_files")
			}
			return key + ": " + pick(g, "[]", "q", "~", `[""]`, "[q, q]", "{q: q}", "[~]"), []string{"plain"}
		}),
		inItems("each in a list that forbids", func(g *generator, _ string) (string, []string) {
			return "", []string{"q", pick(g, `{each: a, key: b}`, `{each: "a.*", key: b, is: true}`)}
		}),
		inRule("a negative condition in a list that requires", "0.2", func(g *generator, kind string) ruleYAML {
			r := plainRule("BAD", kind)
			item := pick(g, "{key: a, is_not: b}", "{key: a, matches_not: b}", "{each: a, key: b, is_not: [c]}")
			r.lists[1] = listYAML{"required_patterns", []string{"q", item}} // which boundaries cannot have, either
			return r
		}),
		inItems("unparsable that is not text", func(g *generator, _ string) (string, []string) {
			return "unparsable: " + pick(g, "true", "Text", "skip", "~", "[text]", `""`), []string{"q", "{key: a}"}
		}),
		inItems("unparsable that can change nothing", func(g *generator, _ string) (string, []string) {
			return "unparsable: text", pick(g, []string{"q"}, []string{"{key: a}"}, []string{"{key: a}", "{key: b}"})
		}),
		inRule("an item in two lists of a rule", "0.2", func(g *generator, kind string) ruleYAML {
			one, two := same(g)
			r := ruleWith("BAD", kind, one)
			if kind == "boundary" {
				r.lists[1].items = append(r.lists[1].items, two)
			} else {
				r.lists = append(r.lists, listYAML{"required_patterns", []string{two}})
			}
			return r
		}),
		inItems("an item twice", func(g *generator, _ string) (string, []string) {
			one, two := same(g)
			return "", []string{one, "q", two}
		}),
	}
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
	all = slices.Concat(all, badKeyItems(), badFormItems())
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
	if !there || from == to || family(from) != family(to) {
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
		v.rules = with(v.rules, i, ruleLine{v.rules[i].id, pick(g, g.ruleBodies()...)})
	case g.percent(60) || len(v.rules) == 1:
		g.ids++
		v.rules = append(v.rules, ruleLine{fmt.Sprintf("R%d", g.ids), pick(g, g.ruleBodies()...)})
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
