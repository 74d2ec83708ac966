package naive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A version is a commit before it is a State.
type version struct {
	files map[string]string
	rules []ruleLine
	list  []Allowance
}

// A ruleLine is a rule in YAML, but for its id.
type ruleLine struct{ id, body string }

// ruleBodies are what rules look for, in files that lines and values are moved between.
func (g *generator) ruleBodies() []string {
	return []string{
		`match: {files: ["**/*.tf"], forbidden_patterns: ["alpha", "beta"]}`,
		`match: {files: ["**/*.tf"], forbidden_patterns: ["alpha"]}`,
		`match: {files: ["**/*.tf"], exclude: ["b/**"], forbidden_patterns: ["alpha", {text: "beta x", spaces: any}]}`,
		`match: {files: ["**"], forbidden_patterns: [{regex: 'x\d'}, {text: "beta", words: true}]}`,
		`match: {files: ["a/*", "/*.tf"], forbidden_patterns: ["a"]}`,
		`match: {files: ["**/*.json"], forbidden_patterns: [{key: open, is: true}, "leak"]}`,
		`match: {files: ["**/*.json"], forbidden_patterns: [{key: open, is: true}, "leak"], unparsable: text}`,
		`match: {forbidden_files: ["**/k*", "a/**"]}`,
		`match: {files: ["**/*.tf"], forbidden_files: ["b/*"], forbidden_patterns: ["beta"]}`,
		`{allowances: never, match: {files: ["**/*.tf"], forbidden_patterns: ["beta"]}}`,
		`match: {files: ["**"], containing: [alpha, {key: open, is: false}], forbidden_patterns: [beta, leak]}`,
		`match: {files: ["**/*.tf"], forbidden_patterns: [{regex: 'alpha|beta', except: 'alpha beta'}]}`,
		`match: {files: ["**/*.json"], forbidden_patterns: [{key: open, is: true}, {text: leak, only: unparsable}], unparsable: text}`,
		`match: {files: ["**/*.json"], forbidden_patterns: [{key: open, is: true, if: {open: {is_not: true}}}]}`,
		`match: {files: ["**/*.json"], forbidden_patterns: [{key: open, above: 5, where: {open: {below: 1}}}, {key: open, is: leak}]}`,
		`match: {files: ["**/*ockerfile"], forbidden_patterns: [{key: "**.user", is: root}, {key: stages.expose}, {text: leak, only: unparsable}], unparsable: text}`,
		`match: {files: ["**/*ockerfile"], containing: [{key: final.user, is: root}], forbidden_patterns: [{key: stages.expose, above: 22}, leak]}`,
	}
}

func changedPaths() []string {
	return []string{"a/x.tf", "b/x.tf", "x.tf", "a/k.tf", "y.tf", "a/d.json", "d.json", "b/d.json", "k", `a/q\.tf`, "Dockerfile", "a/x.dockerfile"}
}

// family is what of a path decides what its lines are.
func family(path string) string {
	for _, end := range []string{".json", "ockerfile"} {
		if strings.HasSuffix(path, end) {
			return end
		}
	}
	return ""
}

// line is a line of a file that is not JSON.
func (g *generator) line() string {
	return pick(g, "alpha", "alpha", "beta x1", "beta\tx", "alpha beta", "alpha alpha", "betax", "x2", "none", "#", "")
}

// body is the content of a path.
func (g *generator) body(path string) string {
	var lines []string
	for range 1 + g.IntN(4) {
		switch family(path) {
		case ".json":
			lines = append(lines, pick(g, "true", "true", "false", `"leak"`, "7", "-1"))
		case "":
			lines = append(lines, g.line())
		default:
			lines = append(lines, pick(g, "USER root", "USER root", "USER x", "RUN leak", "EXPOSE 22 23", "#", "ENV a=leak"))
		}
	}
	return g.joined(path, lines)
}

// joined is the content of those lines, or values; now and then one that cannot be parsed.
func (g *generator) joined(path string, lines []string) string {
	content := joinedWell(path, lines)
	if strings.HasSuffix(path, ".json") && g.percent(6) {
		content = content[:len(content)-1] + pick(g, "", "{{")
	}
	if family(path) == "ockerfile" && g.percent(6) {
		content += pick(g, "FOO\n", "{{ x }}\n")
	}
	return content
}

// joinedWell is joined, except for what cannot be parsed.
func joinedWell(path string, lines []string) string {
	if strings.HasSuffix(path, ".json") {
		return jsonHead + strings.Join(lines, ", ") + "]}"
	}
	if family(path) == "ockerfile" {
		lines = slices.Concat([]string{dockerHead}, lines)
	}
	return strings.Join(lines, "\n") + "\n"
}

const (
	jsonHead   = `{"open": [`
	dockerHead = "FROM a"
)

// linesIn are the lines or values that joined joins.
func linesIn(path, content string) []string {
	if strings.HasSuffix(path, ".json") {
		content = strings.TrimRight(strings.TrimPrefix(content, jsonHead), "]}{")
		return strings.Split(content, ", ")
	}
	if family(path) == "ockerfile" {
		content = strings.TrimPrefix(content, dockerHead+"\n")
	}
	return strings.Split(strings.TrimSuffix(content, "\n"), "\n")
}

// meantJSON is what such a content means.
func meantJSON(content string) *Parsed {
	if !strings.HasSuffix(content, "]}") {
		return &Parsed{Code: "E_PARSE", Template: strings.HasSuffix(content, "{{")}
	}
	list := &Node{Kind: ListNode, At: len(jsonHead) - 1}
	at := len(jsonHead)
	values := linesIn(".json", content)
	if slices.Contains(values[:len(values)-1], "") { // a comma after the last value is allowed, no other
		return &Parsed{Code: "E_PARSE"}
	}
	for _, value := range values {
		s := textScalar(strings.Trim(value, `"`))
		if !strings.HasPrefix(value, `"`) {
			s = Scalar{Texts: []string{value}, Exact: coreSchema(value), Asked: value}
		}
		if value != "" {
			list.Items = append(list.Items, &Node{Kind: ScalarNode, At: at, Scalar: s})
		}
		at += len(value) + len(", ")
	}
	root := &Node{Kind: MappingNode, Entries: []Entry{{Key: "open", At: 1, Value: list}}}
	return &Parsed{Documents: []Document{{Root: root}}}
}

// meantHCL is what the lines mean that are not JSON: comments, and else nothing that can be read.
func meantHCL(content string) *Parsed {
	for _, line := range linesIn("", content) {
		if line = strings.TrimSpace(line); line != "" && line != "#" {
			return &Parsed{Code: "E_PARSE"}
		}
	}
	return &Parsed{Documents: []Document{{Root: &Node{Kind: MappingNode}, Head: -1}}}
}

// clone is a version to change.
func (v version) clone() version {
	return version{maps.Clone(v.files), slices.Clone(v.rules), slices.Clone(v.list)}
}

// first is a version to begin with: files that break its rules, most of them with an entry.
func (g *generator) first() version {
	v := version{files: map[string]string{}}
	for range 2 + g.IntN(4) {
		path := pick(g, changedPaths()...)
		v.files[path] = g.body(path)
	}
	for range 1 + g.IntN(3) {
		g.ids++
		v.rules = append(v.rules, ruleLine{fmt.Sprintf("R%d", g.ids), pick(g, g.ruleBodies()...)})
	}
	v.list = g.entries(v, 85)
	v.sort()
	return v
}

func (v version) sort() {
	slices.SortFunc(v.list, func(a, b Allowance) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// entries are some for what the rules of a version find, a percentage of them.
func (g *generator) entries(v version, percent int) []Allowance {
	var list []Allowance
	counts := v.counts()
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		for _, path := range slices.Sorted(maps.Keys(counts[rule])) {
			if n := counts[rule][path]; n > 0 && g.percent(percent) {
				list = append(list, g.entry(rule, path, n))
			}
		}
	}
	return list
}

// entry is one for so many occurrences, nearly.
func (g *generator) entry(rule, path string, n int) Allowance {
	e := Allowance{Rule: rule, File: path, AtMost: max(1, n+pick(g, 0, 0, 0, 0, 0, 1, 2, -1)), Owner: "o", Reason: "r"}
	if g.percent(8) {
		e.Until = pick(g, "2099-06-14", "2099-06-15", "2099-06-16")
	}
	e.MayGrow = g.percent(5)
	if g.percent(4) {
		e.AtMost, e.MayGrow = 0, false
	}
	return e
}

// counts are how often each rule occurs in each file.
func (v version) counts() map[string]map[string]int {
	s, known := v.state(), v.parsed(nil)
	counts := map[string]map[string]int{}
	for _, r := range s.Bundle.Enforced() {
		counts[r.ID] = map[string]int{}
		for path := range v.files {
			counts[r.ID][path] = count(r, path, s.Tree, known)
		}
	}
	return counts
}

// parsed adds what the files mean.
func (v version) parsed(known map[string]*Parsed) map[string]*Parsed {
	if known == nil {
		known = map[string]*Parsed{}
	}
	for _, f := range v.tree() {
		known[Meant("json", f.Content)] = meantJSON(f.Content)
		known[Meant("hcl", f.Content)] = meantHCL(f.Content)
		known[Meant("yaml", f.Content)] = &Parsed{Documents: []Document{{Root: &Node{Kind: MappingNode}}}} // a rule file, without their keys
	}
	return known
}

// bundleFiles are the files of a bundle with these rules and entries.
func bundleFiles(rules []ruleLine, list []Allowance) map[string]string {
	var b strings.Builder
	b.WriteString("bundle: \"0.2\"\nrules:")
	if len(rules) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "  - {id: %s, title: t, enforcement: {mode: fail}, %s}\n", r.id,
			strings.TrimSuffix(strings.TrimPrefix(strings.Replace(r.body, "}}", "} }", 1), "{"), " }"))
	}
	files := map[string]string{"boundaries.yml": b.String()}
	if len(list) > 0 {
		files["allowances.yml"] = "bundle: \"0.2\"\nallowances:\n"
	}
	for _, e := range list {
		line := fmt.Sprintf("  - {rule: %s, file: %s, at_most: %d, owner: %s, reason: %s",
			e.Rule, quote(Written(e.File)), e.AtMost, e.Owner, e.Reason)
		if len(e.From) > 0 {
			var from []string
			for _, path := range e.From {
				from = append(from, quote(Written(path)))
			}
			line += ", from: [" + strings.Join(from, ", ") + "]"
		}
		if e.Until != "" {
			line += ", until: " + e.Until
		}
		if e.MayGrow {
			line += ", may_grow: true"
		}
		files["allowances.yml"] += line + "}\n"
	}
	return files
}

// tree is the files of the version and of its bundle.
func (v version) tree() []File {
	var tree []File
	for _, path := range slices.Sorted(maps.Keys(v.files)) {
		tree = append(tree, File{path, v.files[path], Regular})
	}
	files := bundleFiles(v.rules, v.list)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		tree = append(tree, File{".policyscan/rules/" + name, files[name], Regular})
	}
	return tree
}

// state reads the version as the second program does.
func (v version) state() State {
	s := State{Tree: v.tree(), List: v.list}
	files := bundleFiles(v.rules, nil)
	var mistakes []Mistake
	if s.Bundle, mistakes = Load(files); len(mistakes) > 0 && len(v.rules) > 0 {
		panic(fmt.Sprintf("%+v\n%s", mistakes, files))
	}
	return s
}

// valid leaves out the entries with which the bundle would be refused.
func (v version) valid(outside ...ruleLine) version {
	v.list = slices.DeleteFunc(slices.Clone(v.list), func(e Allowance) bool {
		return !slices.ContainsFunc(append(slices.Clone(v.rules), outside...), func(r ruleLine) bool {
			return r.id == e.Rule && !strings.Contains(r.body, "never")
		}) || slices.Contains(e.From, e.File)
	})
	for i := range v.list {
		if e := &v.list[i]; e.AtMost == 0 { // it withdraws others, and has neither
			e.From, e.MayGrow = nil, false
		}
	}
	v.sort()
	return v
}

// merged is a merge of two versions, file by file: the second where it differs from what both had.
func merged(first, a, b version) version {
	m := a.clone()
	for _, path := range slices.Sorted(maps.Keys(first.files)) {
		if _, there := b.files[path]; !there {
			delete(m.files, path)
		}
	}
	for path, content := range b.files {
		if old, there := first.files[path]; !there || old != content {
			m.files[path] = content
		}
	}
	for _, r := range b.rules {
		if !slices.ContainsFunc(m.rules, func(old ruleLine) bool { return old.id == r.id }) {
			m.rules = append(m.rules, r)
		}
	}
	for _, e := range b.list {
		if !slices.ContainsFunc(m.list, func(old Allowance) bool { return fmt.Sprint(old) == fmt.Sprint(e) }) {
			m.list = append(m.list, e)
		}
	}
	return m
}

// A story is a change and its history.
type story struct {
	base, head version
	bases      []version // the merge bases; the base itself is one if the change is up to date
	upToDate   bool
	outside    []ruleLine // a bundle from outside; none if it has no rules
	list       []Allowance
}

// newStory makes the story of a tape.
func newStory(t *tape) story {
	g := t.generator()
	g.newer = true
	var s story
	first := g.first()
	if g.percent(15) {
		g.ids++
		r := ruleLine{"O1", pick(g, g.ruleBodies()...)}
		s.outside = []ruleLine{r}
		for _, e := range g.entries(version{files: first.files, rules: s.outside}, 100) {
			if g.percent(40) {
				s.list = append(s.list, e)
			} else {
				first.list = append(first.list, e)
			}
		}
		s.list = version{rules: s.outside, list: s.list}.valid().list
	}
	first = first.valid(s.outside...)
	switch n := g.IntN(100); {
	case n < 50:
		s.base, s.head, s.upToDate = first, g.mutate(first), true
		s.bases = []version{first}
	case n < 80:
		s.base, s.head, s.bases = g.mutate(first), g.mutate(first), []version{first}
	default:
		a, b := g.mutate(first).valid(s.outside...), g.mutate(first).valid(s.outside...)
		s.bases = []version{a, b}
		s.base, s.head = merged(first, a, b), merged(first, a, b)
		if g.percent(70) {
			s.base = g.mutate(s.base)
		}
		s.head = g.mutate(s.head)
	}
	s.base, s.head = s.base.valid(s.outside...), s.head.valid(s.outside...)
	return s
}

// change is the story as the second program judges it.
func (s story) change() Change {
	c := Change{Base: s.base.state(), Head: s.head.state(), Day: "2099-06-15", OutsideList: s.list}
	c.Parsed = s.base.parsed(s.head.parsed(nil))
	for _, b := range s.bases {
		c.MergeBases = append(c.MergeBases, b.state())
		b.parsed(c.Parsed)
	}
	if len(s.outside) > 0 {
		c.Outside, _ = Load(map[string]string{"boundaries.yml": bundleFiles(s.outside, nil)["boundaries.yml"]})
	}
	return c
}
