package scanner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// deadParts returns the dead parts of a bundle's rules, tried on their examples and on the files of a directory, if
// any.
func deadParts(t testing.TB, b *rules.Bundle, dir string) []string {
	t.Helper()
	var input *run.Run
	if dir != "" {
		opened, done, err := tree.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		input = testOptions{Allow: []string{check.AllowEmpty}}.run(one(b), opened)
	}
	life, err := Alive(context.Background(), one(b), input)
	if err != nil || len(life.Errors) > 0 || len(life.Bundles[0].Mistakes) > 0 {
		t.Fatalf("%v, %+v", err, life)
	}
	dead := []string{}
	for _, d := range life.Bundles[0].Dead {
		dead = append(dead, deadPart(d.Rule.ID, d.Part, d.Redundant))
	}
	slices.Sort(dead)
	return dead
}

func deadPart(id string, p rules.Part, twice bool) string {
	name := [...]string{
		rules.WholeRule: "rule", rules.FilesGlob: "files", rules.ExcludeGlob: "exclude",
		rules.FileExcludeGlob: "file exclude", rules.PatternItem: "pattern", rules.RequiredItem: "required",
		rules.EachPath: "each", rules.ForbiddenFilesGlob: "forbidden file", rules.RequiredFilesGlob: "required file",
	}[p.Kind]
	if p.Kind == rules.FileExcludeGlob {
		id = "FILE"
	}
	text := fmt.Sprintf("%s %s %d", id, name, p.Index)
	if p.Kind == rules.EachPath {
		text += fmt.Sprintf(".%d", p.Path)
	}
	if twice {
		text += " twice"
	}
	return text
}

// TestAlive: the condition of each kind of part.
func TestAlive(t *testing.T) {
	for _, row := range []struct {
		name, match, examples string
		input                 map[string]string
		want                  string
	}{
		{"nothing", `files: ["/*.tf"], exclude: ["/a.tf"], forbidden_patterns: [bad]`, "", map[string]string{"x": "bad"},
			"R exclude 0; R files 0; R pattern 0; R rule 0"},
		{"an example", `files: ["/*.tf"], forbidden_patterns: [bad, {regex: 'b.d'}, worse]`,
			`{path: a.tf, content: bad, violates: true}`, nil, "R pattern 2"},
		{"what an example says does not count", `files: ["/*.tf"], forbidden_patterns: [bad, worse]`,
			`{path: a.tf, content: bad, violates: false}, {path: a.tf, content: good, violates: true}`, nil, "R pattern 1"},
		{"an example that the rule does not select", `files: ["/*.tf"], forbidden_patterns: [bad]`,
			`{path: a.go, content: bad, violates: false}`, nil, "R files 0; R pattern 0; R rule 0"},
		{"a file", `files: ["/*.tf"], forbidden_patterns: [bad]`, "", map[string]string{"a.tf": "bad"}, ""},
		{"a file in UTF-16", `files: ["/*.tf"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "\xff\xfeb\x00a\x00d\x00"}, ""},
		{"a glob with a comma", `files: ["/*.tf,*.hcl"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad", "a.hcl": "bad"}, "R files 0; R pattern 0; R rule 0"},
		{"all that a glob selects is excluded", `files: ["/*.tf", "/a.*"], exclude: ["/a.*"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad", "b.tf": "bad"}, "R files 1"},
		{"a glob in braces is one", `files: ["/*.{tf,hcl}"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad"}, ""},
		{"letter case", `files: ["/*.tf"], path_case: ignore, forbidden_patterns: [bad]`, "",
			map[string]string{"A.TF": "bad"}, ""},
		{"an exclude of what no glob selects", `files: ["/*.tf"], exclude: ["/*.go"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad", "a.go": "bad"}, "R exclude 0"},
		{"an exclude by the character", `files: ["**/*.tf"], exclude: ["/t", "/*", "e/**"], forbidden_patterns: [bad]`, "",
			map[string]string{"x/a.tf": "bad", "a.tf": "bad"}, "R exclude 0; R exclude 2"},
		{"two excludes", `files: ["**/*.tf"], exclude: ["x/**", "**/a.tf"], forbidden_patterns: [bad]`, "",
			map[string]string{"x/a.tf": "bad", "b.tf": "bad"}, "R exclude 0 twice; R exclude 1 twice"},
		{"each by itself", `files: ["**/*.tf"], exclude: ["x/**", "**/a.tf"], forbidden_patterns: [bad]`,
			`{path: x/b.tf, content: bad, violates: false}`,
			map[string]string{"x/a.tf": "bad", "b.tf": "bad", "a.tf": ""}, ""},
		{"an exclude with forbidden files", `forbidden_files: ["**/*.pem", "**/k"], exclude: ["x/**"]`, "",
			map[string]string{"x/a.pem": "", "b.pem": ""}, "R forbidden file 1"},
		{"a key", `files: ["/*.yml"], forbidden_patterns: [{key: a.b, is: 1}, {key: a.c}, {key: a.d, matches: x}]`,
			`{path: a.yml, content: "a: {b: 1, c: 2, d: y}", violates: true}`, nil, "R pattern 2"},
		{"a key of a kind", `files: ["/*.yml"], forbidden_patterns: [{key: a, where: {kind: [A, B]}}]`,
			`{path: a.yml, content: "{kind: C, a: 1}", violates: false}`, nil, "R pattern 0; R rule 0"},
		{"a format", `files: ["/*"], forbidden_patterns: [{key: a, format: toml}]`,
			`{path: a, content: "a = 1", violates: true}`, nil, ""},
		{"unparsable", `files: ["/*.yml"], unparsable: text, forbidden_patterns: [{key: a}, bad]`,
			`{path: a.yml, content: "{{ a: bad", violates: true}`, nil, "R pattern 0"},
		{"required and missing", `files: ["/*.tf"], required_patterns: [owner, {regex: "own.r"}]`,
			`{path: a.tf, content: x, violates: true}`, nil, "R required 0; R required 1"},
		{"required and there", `files: ["/*.tf"], required_patterns: [owner, {text: "a b", spaces: any}]`,
			`{path: a.tf, content: owner, violates: true}`, nil, "R required 1"},
		{"never missing", `files: ["/*.tf"], required_patterns: [owner]`, "",
			map[string]string{"a.tf": "owner"}, "R rule 0"},
		{"a required key", `files: ["/*.yml"], required_patterns: [{key: a, is: 1}, {key: b, where: {kind: X}}]`,
			`{path: a.yml, content: "{a: 1}", violates: true}`, map[string]string{"b.yml": "kind: X"}, "R required 1"},
		{"each", `files: ["/*.yml"], required_patterns: [{each: [a.*, b.*], key: on, is: true}, {each: c, key: on}]`,
			`{path: a.yml, content: "a: {x: {on: true}, y: {on: false}}", violates: true}, {path: a.yml, content: "c: {}", violates: true}`,
			nil, "R each 0.1; R required 1"},
		{"required files", `required_files: ["/LICENSE", "**/OWNERS", "x/*"], exclude: ["x/**", "y/**"]`, "",
			map[string]string{"LICENSE": "x", "x/OWNERS": "x"}, "R exclude 1; R required file 1; R required file 2"},
		{"an example for required files", `required_files: ["/LICENSE"]`,
			`{path: LICENSE, content: x, violates: false}`, nil, ""},
	} {
		typ := "boundary"
		if strings.Contains(row.match, "required_") {
			typ = "invariant"
		}
		text := "bundle: \"0.2\"\ntype: " + typ + "\nrules:\n  - id: R\n    title: R\n    enforcement: {mode: fail}\n" +
			"    match: {" + row.match + "}\n"
		if row.examples != "" {
			text += "    examples: [" + row.examples + "]\n"
		}
		b, err := rules.Load(rules.Files{
			"rules/boundaries.yml": []byte("bundle: \"0.2\"\nrules: []\n"), "rules/x.yml": []byte(text),
		})
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		dir := ""
		if row.input != nil {
			dir = writeTree(t, row.input)
		}
		if got := strings.Join(deadParts(t, b, dir), "; "); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

// TestAliveUnread: a placeholder does not show that a required pattern exists, nor has a submodule a path that a glob
// of files selects.
func TestAliveUnread(t *testing.T) {
	r := testRule("R", "size")
	r.Required, r.ForbiddenFiles = rules.PlainItems("oid"), []string{"**/sub", "."}
	b := newBundle(r)
	dir := writeTree(t, map[string]string{"a": "version https://git-lfs.github.com/spec/v1\noid sha256:" +
		strings.Repeat("0", 64) + "\nsize 12\n"})
	life, err := Alive(context.Background(), one(b), testOptions{Allow: []string{check.AllowLFSPointer}}.run(one(b), tree.Dir(openRoot(t, dir))))
	if err != nil || len(life.Errors) > 0 {
		t.Fatalf("%v, %+v", err, life)
	}
	var dead []string
	for _, d := range life.Bundles[0].Dead {
		dead = append(dead, deadPart(d.Rule.ID, d.Part, d.Redundant))
	}
	if want := "R required 0; R forbidden file 0; R forbidden file 1"; strings.Join(dead, "; ") != want {
		t.Errorf("got %q, want %q", dead, want)
	}
	p := newUsageObserver(b.Rules)
	p.path("x/sub", worktree.Submodule)
	p.path(".", worktree.Symlink)
	if part := (rules.Part{Kind: rules.ForbiddenFilesGlob}); len(p.usages[0]) != 1 || p.usages[0][part] != alive {
		t.Errorf("%v", p.usages)
	}
}

// A second implementation of [Alive], for globs, patterns and contents with known results.

// aliveGlobs maps globs to the paths that they match.
var aliveGlobs = map[string]func(path string) bool{
	"**/*.yml": func(path string) bool { return strings.HasSuffix(path, ".yml") },
	"*.yml":    func(path string) bool { return strings.HasSuffix(path, ".yml") && !strings.Contains(path, "/") },
	"a/**":     func(path string) bool { return strings.HasPrefix(path, "a/") },
	"c/x.yml":  func(path string) bool { return path == "c/x.yml" },
	"**/{x,y}.*": func(path string) bool {
		return strings.HasPrefix("./"+path, "./x.") || strings.Contains(path, "/x.") || strings.Contains("/"+path, "/y.")
	},
	"b/*":         func(path string) bool { return strings.HasPrefix(path, "b/") && strings.Count(path, "/") == 1 },
	"**/*.txt":    func(path string) bool { return strings.HasSuffix(path, ".txt") },
	"**/nowhere*": func(string) bool { return false },
}

// anchored returns a glob in 0.2 syntax: one without a slash is anchored at the root.
func anchored(glob string) string {
	if strings.Contains(glob, "/") {
		return glob
	}
	return "/" + glob
}

var alivePaths = []string{"x.yml", "y.yml", "a/x.yml", "a/z.yml", "b/x.yml", "a/b/y.txt", "C/X.YML"}

// aliveContent is a content: a document in YAML.
type aliveContent struct {
	kind, note string
	boxes      []string // the value of lock in each; "" without one
	hasBoxes   bool
}

func (c aliveContent) String() string {
	text := "top: {}\n"
	if c.kind != "" {
		text += "kind: " + c.kind + "\n"
	}
	if c.note != "" {
		text += "note: " + c.note + "\n"
	}
	if c.hasBoxes {
		text += "boxes: ["
		for _, lock := range c.boxes {
			if text += "{"; lock != "" {
				text += "lock: " + lock
			}
			text += "},"
		}
		text += "]\n"
	}
	return text
}

func (c aliveContent) has(word string) bool { return strings.Contains(c.note, word) }

// aliveForbidden are forbidden patterns, and the contents with a match.
var aliveForbidden = map[string]func(aliveContent) bool{
	`alpha`:                             func(c aliveContent) bool { return c.has("alpha") },
	`{text: "alpha beta", spaces: any}`: func(c aliveContent) bool { return c.has("alpha beta") },
	`{regex: 'g.mma'}`:                  func(c aliveContent) bool { return c.has("gamma") },
	`{key: boxes.lock, is: false, format: yaml}`:  func(c aliveContent) bool { return slices.Contains(c.boxes, "false") },
	`{key: note, where: {kind: A}, format: yaml}`: func(c aliveContent) bool { return c.note != "" && c.kind == "A" },
	`{key: crates, format: yaml}`:                 func(aliveContent) bool { return false },
}

// An aliveRequirement tells for a content whether it lacks the required pattern, whether anything has it, and whether
// each path of an each reaches a node.
type aliveRequirement func(aliveContent) (lacks, met bool, each []bool)

var aliveRequired = map[string]aliveRequirement{
	`beta`: func(c aliveContent) (bool, bool, []bool) { return !c.has("beta"), c.has("beta"), nil },
	`{regex: 'g[a-z]*'}`: func(c aliveContent) (bool, bool, []bool) {
		return !c.has("gamma"), c.has("gamma"), nil
	},
	`{key: kind, format: yaml}`: func(c aliveContent) (bool, bool, []bool) { return c.kind == "", c.kind != "", nil },
	`{key: boxes.lock, where: {kind: [A, B]}, is: true, format: yaml}`: func(c aliveContent) (bool, bool, []bool) {
		good := len(c.boxes) > 0 && !slices.ContainsFunc(c.boxes, func(lock string) bool { return lock != "true" })
		return c.kind != "" && !good, c.kind != "" && good, nil
	},
	`{each: boxes, key: lock, is: true, format: yaml}`: func(c aliveContent) (bool, bool, []bool) {
		bad := slices.ContainsFunc(c.boxes, func(lock string) bool { return lock != "true" })
		return bad, slices.Contains(c.boxes, "true"), []bool{len(c.boxes) > 0}
	},
	`{each: [crates, boxes], key: lock, where: {kind: A}, format: yaml}`: func(c aliveContent) (bool, bool, []bool) {
		if c.kind != "A" {
			return false, false, []bool{false, false}
		}
		has := slices.ContainsFunc(c.boxes, func(lock string) bool { return lock != "" })
		return slices.Contains(c.boxes, ""), has, []bool{false, len(c.boxes) > 0}
	},
}

// An aliveFile is a file of the tree, or an example.
type aliveFile struct {
	path    string
	content aliveContent
}

// An aliveRule is a rule.
type aliveRule struct {
	id                                                       string
	folds                                                    bool
	files, exclude, forbidden, required, denied, mustBeThere []string // the last two are globs
	examples                                                 []aliveFile
}

func (r *aliveRule) yaml() string {
	list := func(key string, items []string, quote bool) string {
		if len(items) == 0 {
			return ""
		}
		text := ", " + key + ": ["
		for _, item := range items {
			if quote {
				item = `"` + anchored(item) + `"`
			}
			text += item + ", "
		}
		return text + "]"
	}
	match := list("files", r.files, true) + list("exclude", r.exclude, true) + list("required_patterns", r.required, false) +
		list("forbidden_files", r.denied, true) + list("required_files", r.mustBeThere, true)
	if key := "forbidden_patterns"; r.id[0] == 'I' {
		match += list("required_absent", r.forbidden, false)
	} else {
		match += list(key, r.forbidden, false)
	}
	if r.folds {
		match += ", path_case: ignore"
	}
	text := "  - id: " + r.id + "\n    title: T\n    enforcement: {mode: fail}\n    match: {" + match[2:] + "}\n"
	for i, x := range r.examples {
		if i == 0 {
			text += "    examples:\n"
		}
		text += fmt.Sprintf("      - {path: %s, content: %q, violates: true}\n", x.path, x.content.String())
	}
	return text
}

// An aliveBundle is the boundaries and the invariants, each with the exclude of their file.
type aliveBundle struct {
	rules    [2][]*aliveRule
	excludes [2][]string
}

func (b *aliveBundle) load(t *rapid.T) *rules.Bundle {
	loaded, err := rules.Load(rules.Files{
		rules.BoundariesFile: []byte(b.file(0)), rules.InvariantsFile: []byte(b.file(1)),
	})
	if err != nil {
		t.Fatalf("%v\n%s%s", err, b.file(0), b.file(1))
	}
	return loaded
}

// file is a rule file: the boundaries, or the invariants.
func (b *aliveBundle) file(i int) string {
	text := "bundle: \"0.2\"\n"
	if len(b.excludes[i]) > 0 {
		text += "exclude: ["
		for _, g := range b.excludes[i] {
			text += `"` + anchored(g) + `", `
		}
		text += "]\n"
	}
	text += "rules:"
	if len(b.rules[i]) == 0 {
		text += " []"
	}
	text += "\n"
	for _, r := range b.rules[i] {
		text += r.yaml()
	}
	return text
}

// dead is the second implementation: it checks each example and each file for each part.
func (b *aliveBundle) dead(input []aliveFile) []string {
	dead := []string{}
	note := func(id string, kind rules.PartKind, i, path int, signs ...bool) {
		alive, twice := signs[0], len(signs) > 1 && signs[1]
		if !alive {
			dead = append(dead, deadPart(id, rules.Part{Kind: kind, Index: i, Path: path}, twice))
		}
	}
	for f, list := range b.rules {
		fileAlive, fileTwice := make([]bool, len(b.excludes[f])), make([]bool, len(b.excludes[f]))
		for _, r := range list {
			tried := append(slices.Clone(r.examples), input...)
			some := func(ask func(aliveFile) bool) bool { return slices.ContainsFunc(tried, ask) }
			matches := func(g, path string, folds bool) bool {
				if folds {
					path = strings.ToLower(path)
				}
				return aliveGlobs[g](path)
			}
			excludes := append(slices.Clone(r.exclude), b.excludes[f]...)
			removers := func(path string) int {
				n := 0
				for _, g := range excludes {
					if matches(g, path, false) {
						n++
					}
				}
				return n
			}
			selects := func(path string) bool {
				return slices.ContainsFunc(r.files, func(g string) bool { return matches(g, path, r.folds) }) && removers(path) == 0
			}
			if len(r.forbidden)+len(r.required)+len(r.denied) > 0 {
				note(r.id, rules.WholeRule, 0, 0, some(func(x aliveFile) bool {
					bad := removers(x.path) == 0 &&
						slices.ContainsFunc(r.denied, func(g string) bool { return matches(g, x.path, r.folds) })
					for _, item := range r.forbidden {
						bad = bad || selects(x.path) && aliveForbidden[item](x.content)
					}
					for _, item := range r.required {
						lacks, _, _ := aliveRequired[item](x.content)
						bad = bad || selects(x.path) && lacks
					}
					return bad
				}))
			}
			globs := func(kind rules.PartKind, list []string, folds bool) {
				for i, g := range list {
					note(r.id, kind, i, 0, some(func(x aliveFile) bool { return matches(g, x.path, folds) && removers(x.path) == 0 }))
				}
			}
			globs(rules.FilesGlob, r.files, r.folds)
			globs(rules.ForbiddenFilesGlob, r.denied, r.folds)
			globs(rules.RequiredFilesGlob, r.mustBeThere, false)
			for i, g := range excludes {
				removes := func(others bool) bool {
					return some(func(x aliveFile) bool {
						chosen := slices.ContainsFunc(slices.Concat(r.files, r.denied), func(g string) bool {
							return matches(g, x.path, r.folds)
						}) || slices.ContainsFunc(r.mustBeThere, func(g string) bool { return matches(g, x.path, false) })
						return chosen && matches(g, x.path, false) && (others || removers(x.path) == 1)
					})
				}
				if i < len(r.exclude) {
					note(r.id, rules.ExcludeGlob, i, 0, removes(false), removes(true))
					continue
				}
				k := i - len(r.exclude)
				fileAlive[k], fileTwice[k] = fileAlive[k] || removes(false), fileTwice[k] || removes(true)
			}
			for i, item := range r.forbidden {
				note(r.id, rules.PatternItem, i, 0, some(func(x aliveFile) bool { return selects(x.path) && aliveForbidden[item](x.content) }))
			}
			for i, item := range r.required {
				note(r.id, rules.RequiredItem, i, 0, some(func(x aliveFile) bool {
					_, met, _ := aliveRequired[item](x.content)
					return selects(x.path) && met
				}))
				_, _, paths := aliveRequired[item](aliveContent{})
				for k := range paths {
					note(r.id, rules.EachPath, i, k, some(func(x aliveFile) bool {
						_, _, each := aliveRequired[item](x.content)
						return selects(x.path) && each[k]
					}))
				}
			}
		}
		if len(list) > 0 {
			for k := range b.excludes[f] {
				note("", rules.FileExcludeGlob, k, 0, fileAlive[k], fileTwice[k])
			}
		}
	}
	slices.Sort(dead)
	return dead
}

func drawAlive(t *rapid.T) (*aliveBundle, []aliveFile) {
	n := 0
	choose := func(below int) int { n++; return rapid.IntRange(0, below-1).Draw(t, fmt.Sprint("choice ", n)) }
	some := func(all []string, most int) (list []string) {
		for range choose(most + 1) {
			if one := all[choose(len(all))]; !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
		return list
	}
	globs, forbidden := slices.Sorted(maps.Keys(aliveGlobs)), slices.Sorted(maps.Keys(aliveForbidden))
	required := slices.Sorted(maps.Keys(aliveRequired))
	content := func() (c aliveContent) {
		c.kind, c.note = []string{"", "A", "B"}[choose(3)], strings.Join(some([]string{"alpha", "beta", "gamma"}, 3), " ")
		c.hasBoxes = choose(2) == 0
		for range choose(3) {
			if c.hasBoxes {
				c.boxes = append(c.boxes, []string{"", "true", "false"}[choose(3)])
			}
		}
		return c
	}
	b := &aliveBundle{}
	for i := range b.rules {
		b.excludes[i] = some(globs, 2)
		for k := range 2 - i + choose(2) {
			r := &aliveRule{id: fmt.Sprintf("%c-%d", "BI"[i], k), exclude: some(globs, 2), denied: some(globs, 1)}
			r.forbidden = some(forbidden, 3)
			if i == 1 {
				r.required, r.mustBeThere = some(required, 3), some(globs, 1)
			}
			if len(r.forbidden)+len(r.required) > 0 {
				r.files = append(some(globs, 2), "**/*.yml")
				r.files = slices.Compact(slices.Sorted(slices.Values(r.files)))
			}
			if len(r.files)+len(r.denied)+len(r.mustBeThere) == 0 {
				r.denied = []string{"b/*"}
			}
			r.folds = len(r.files)+len(r.denied) > 0 && choose(3) == 0
			for range choose(4) {
				r.examples = append(r.examples, aliveFile{alivePaths[choose(len(alivePaths))], content()})
			}
			b.rules[i] = append(b.rules[i], r)
		}
	}
	var input []aliveFile
	for _, path := range some(alivePaths, 5) {
		input = append(input, aliveFile{path, content()})
	}
	return b, input
}

// TestAliveNaive: the dead parts are those of a second implementation, also without each of the examples and files in
// turn.
func TestAliveNaive(t *testing.T) {
	dead, alive := 0, 0 // parts that die with an example or a file, and examples and files without any
	rapid.Check(t, func(rt *rapid.T) {
		b, input := drawAlive(rt)
		compare := func() int {
			files := map[string]string{}
			for _, f := range input {
				files[f.path] = f.content.String()
			}
			want, got := b.dead(input), deadParts(t, b.load(rt), writeTree(t, files))
			if !slices.Equal(want, got) {
				rt.Fatalf("tree %q\n%s%s\n got %q\nwant %q", files, b.file(0), b.file(1), got, want)
			}
			return len(got)
		}
		all := compare()
		count := func(without int) {
			if dead += without - all; without == all {
				alive++
			}
		}
		for i := range input {
			whole := input
			input = slices.Delete(slices.Clone(input), i, i+1)
			count(compare())
			input = whole
		}
		for _, r := range slices.Concat(b.rules[0], b.rules[1]) {
			whole := r.examples
			for i := range whole {
				r.examples = slices.Delete(slices.Clone(whole), i, i+1)
				count(compare())
			}
			r.examples = whole
		}
	})
	if dead < 20 || alive < 20 {
		t.Errorf("%d parts die with an example or a file, and %d of these change nothing: the test tests little", dead, alive)
	}
}
