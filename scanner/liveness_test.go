package scanner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// deadParts returns the dead and the unused parts of a bundle's rules, tried on their examples and on the files of a
// directory, if any. Unused ones are in parentheses.
func deadParts(t testing.TB, b *rules.Bundle, dir string) []string {
	t.Helper()
	var input *run.Run
	if dir != "" {
		opened, done, err := tree.OpenDir(dir, nil)
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
	for _, d := range life.Bundles[0].Unused {
		dead = append(dead, "("+deadPart(d.Rule.ID, d.Part, d.Redundant)+")")
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
		{"nothing", `files: ["/*.tf"], exclude: ["/a.tf"], forbidden_patterns: [bad]`, "",
			map[string]string{"x": "bad"},
			"(R exclude 0); (R files 0); R pattern 0; R rule 0"},
		{"an example", `files: ["/*.tf"], forbidden_patterns: [bad, {regex: 'b.d'}, worse]`,
			`{path: a.tf, content: bad, violates: true}`, nil, "R pattern 2"},
		{"what an example says does not count", `files: ["/*.tf"], forbidden_patterns: [bad, worse]`,
			`{path: a.tf, content: bad, violates: false}, {path: a.tf, content: good, violates: true}`, nil,
			"R pattern 1"},
		{"an example that the rule does not select", `files: ["/*.tf"], forbidden_patterns: [bad]`,
			`{path: a.go, content: bad, violates: false}`, nil, "(R files 0); R pattern 0; R rule 0"},
		{"a file", `files: ["/*.tf"], forbidden_patterns: [bad]`, "", map[string]string{"a.tf": "bad"}, ""},
		{"a file in UTF-16", `files: ["/*.tf"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "\xff\xfeb\x00a\x00d\x00"}, ""},
		{"a glob with a comma", `files: ["/*.tf,*.hcl"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad", "a.hcl": "bad"}, "(R files 0); R pattern 0; R rule 0"},
		{"all that a glob selects is excluded",
			`files: ["/*.tf", "/a.*"], exclude: ["/a.*"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad", "b.tf": "bad"}, "(R files 1)"},
		{"a glob in braces is one", `files: ["/*.{tf,hcl}"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad"}, ""},
		{"case", `files: ["/*.tf"], path_case: ignore, forbidden_patterns: [bad]`, "",
			map[string]string{"A.TF": "bad"}, ""},
		{"an exclude of what no glob selects", `files: ["/*.tf"], exclude: ["/*.go"], forbidden_patterns: [bad]`, "",
			map[string]string{"a.tf": "bad", "a.go": "bad"}, "(R exclude 0)"},
		{"an exclude by the character", `files: ["**/*.tf"], exclude: ["/t", "/*", "e/**"], forbidden_patterns: [bad]`,
			"",
			map[string]string{"x/a.tf": "bad", "a.tf": "bad"}, "(R exclude 0); (R exclude 2)"},
		{"two excludes", `files: ["**/*.tf"], exclude: ["x/**", "**/a.tf"], forbidden_patterns: [bad]`, "",
			map[string]string{"x/a.tf": "bad", "b.tf": "bad"}, "(R exclude 0 twice); (R exclude 1 twice)"},
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
			`{path: a.yml, content: "a: {x: {on: true}, y: {on: false}}", violates: true}, ` +
				`{path: a.yml, content: "c: {}", violates: true}`,
			nil, "R each 0.1; R required 1"},
		{"required files", `required_files: ["/LICENSE", "**/OWNERS", "x/*"], exclude: ["x/**", "y/**"]`, "",
			map[string]string{"LICENSE": "x", "x/OWNERS": "x"}, "(R exclude 1); R required file 1; R required file 2"},
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

// TestAliveFileExclude: the exclude of a rule file is one part of all its rules.
func TestAliveFileExclude(t *testing.T) {
	const text = `bundle: "0.2"
exclude: ["/a.tf", "/b.tf", "/c.tf"]
rules:
  - {id: R, title: T, enforcement: {mode: fail}, match: {files: ["/a.tf", "/x.tf"], forbidden_patterns: [bad]}}
  - {id: S, title: T, enforcement: {mode: fail}, match: {files: ["/b.tf", "/x.tf"], forbidden_patterns: [bad]}}
`
	b, err := rules.Load(rules.Files{rules.BoundariesFile: []byte(text)})
	must(t, err)
	dir := writeTree(t, map[string]string{"a.tf": "", "b.tf": "", "c.tf": "", "x.tf": "bad"})
	if got := strings.Join(deadParts(t, b, dir), "; "); got != "(FILE file exclude 2); (R files 0); (S files 0)" {
		t.Error(got)
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
	life, err := Alive(context.Background(), one(b), testOptions{Allow: []string{check.AllowLFSPointer}}.run(one(b),
		tree.Dir(openRoot(t, dir))))
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
