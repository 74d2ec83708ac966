package naive

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/match"
)

// A pair is a bundle and a tree, and how the tree is scanned.
type pair struct {
	files      []ruleText
	before     []ruleText // the base's bundle, where the bundle is in the tree and the scan is about a change
	tree, base []File     // base is for a change
	scope      string     // full, files, stdin, diff, staged, tracked
	inTree     bool       // the bundle is in .policyscan of the tree
	allow      bool       // what can be allowed, is
	parsed     map[string]*Parsed
	bad        string // what is wrong with the bundle, by which it has to be refused; else empty
}

// submodule is a path of a commit that is a commit of another repository, whose hash is the content.
const submodule Kind = "submodule"

// A ruleText is a rule file before it is YAML.
type ruleText struct {
	name, version, kind string   // kind is the value of type
	head                []string // further lines before the rules
	exclude             []string // each an item of YAML, like all that follows
	rules               []ruleYAML
	raw                 string // the whole file, if it is not empty
}

type ruleYAML struct {
	id    string
	lines []string // of the match
	lists []listYAML
}

type listYAML struct {
	key   string
	items []string
}

func (r ruleYAML) has(key string) bool {
	return slices.ContainsFunc(r.lists, func(l listYAML) bool { return l.key == key })
}

// yaml writes a rule file. Each item has its own line, so that a mistake has a line.
func (f ruleText) yaml() string {
	if f.raw != "" {
		return f.raw
	}
	var b strings.Builder
	if f.version != "" {
		fmt.Fprintf(&b, "bundle: %s\n", quote(f.version))
	}
	if f.kind != "" {
		fmt.Fprintf(&b, "type: %s\n", f.kind)
	}
	for _, line := range f.head {
		b.WriteString(line + "\n")
	}
	if len(f.exclude) > 0 {
		b.WriteString("exclude:\n")
		for _, item := range f.exclude {
			b.WriteString("  - " + item + "\n")
		}
	}
	if len(f.rules) == 0 {
		b.WriteString("rules: []\n")
		return b.String()
	}
	b.WriteString("rules:\n")
	for _, r := range f.rules {
		fmt.Fprintf(&b, "  - id: %s\n    title: t\n    enforcement: {mode: fail}\n    match:\n", r.id)
		for _, line := range r.lines {
			b.WriteString("      " + line + "\n")
		}
		for _, l := range r.lists {
			b.WriteString("      " + l.key + ":\n")
			for _, item := range l.items {
				b.WriteString("        - " + item + "\n")
			}
		}
	}
	return b.String()
}

// quote writes a text as YAML.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}

// rules are the files of the bundle, by their path in rules/.
func (p pair) rules() map[string]string { return contents(p.files) }

func contents(files []ruleText) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.name] = f.yaml()
	}
	return all
}

// inTreeOf are the rule files as files of a tree.
func inTreeOf(files []ruleText) []File {
	var all []File
	for name, content := range contents(files) {
		all = append(all, File{".policyscan/rules/" + name, content, Regular})
	}
	return all
}

// place writes what a pair scans, and returns the arguments of its scope and what they read from standard input.
func (p pair) place(tree string) (args []string, stdin []byte, err error) {
	base, head := p.base, p.tree
	if p.before != nil {
		base, head = slices.Concat(base, inTreeOf(p.before)), slices.Concat(head, inTreeOf(p.files))
	}
	switch p.scope {
	case "full":
		return []string{tree}, nil, WriteTree(tree, p.tree)
	case "files":
		for _, f := range p.listed() {
			stdin = append(stdin, f.Path+"\x00"...)
		}
		return []string{"--files-from", "-"}, stdin, WriteTree(tree, p.tree)
	case "stdin":
		return []string{"--stdin", "--stdin-path", p.tree[0].Path}, []byte(p.tree[0].Content), nil
	case "diff":
		return []string{"--diff-base", "before"}, nil, commit(tree, base, head)
	case "staged":
		return []string{"--staged"}, nil, errors.Join(commit(tree, base, head),
			git(tree, nil, "read-tree", "HEAD"), git(tree, nil, "update-ref", "HEAD", "before"))
	case "tracked":
		// What only the base has is on the disk, and git does not know it.
		return []string{"--tracked"}, nil, errors.Join(commit(tree, nil, p.tree), git(tree, nil, "read-tree", "HEAD"),
			WriteTree(tree, p.tree), WriteTree(tree, p.base))
	}
	return nil, nil, errors.New("no such scope: " + p.scope)
}

// git runs git.
func git(dir string, stdin []byte, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}

// commit makes a repository with two commits: the branch before, and HEAD.
func commit(dir string, before, head []File) error {
	var stream bytes.Buffer
	for _, c := range []struct {
		branch, from string
		files        []File
	}{{"before", "", before}, {"main", "from refs/heads/before\ndeleteall\n", head}} {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter a <a@example.com> 0 +0000\ndata 0\n%s", c.branch, c.from)
		for _, f := range c.files {
			path := strings.ReplaceAll(f.Path, `\`, `\\`)
			switch f.Kind {
			case Regular:
				fmt.Fprintf(&stream, "M 100644 inline \"%s\"\ndata %d\n%s\n", path, len(f.Content), f.Content)
			case Link:
				fmt.Fprintf(&stream, "M 120000 inline \"%s\"\ndata %d\n%s\n", path, len(f.Content), f.Content)
			case submodule:
				fmt.Fprintf(&stream, "M 160000 %s \"%s\"\n", f.Content, path)
			}
		}
	}
	return errors.Join(
		git(dir, nil, "init", "--quiet", "--initial-branch=main"),
		git(dir, stream.Bytes(), "fast-import", "--quiet"),
	)
}

// String writes all of a pair, for readers.
func (p pair) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "scope %s, in the tree: %t, allow: %t\n", p.scope, p.inTree, p.allow)
	if p.bad != "" {
		fmt.Fprintf(&b, "the bundle has %s\n", p.bad)
	}
	for _, f := range p.files {
		fmt.Fprintf(&b, "--- rules/%s\n%s", f.name, f.yaml())
	}
	for _, f := range p.before {
		fmt.Fprintf(&b, "--- base: rules/%s\n%s", f.name, f.yaml())
	}
	for _, f := range p.base {
		fmt.Fprintf(&b, "--- base: %q %s %q\n", f.Path, f.Kind, f.Content)
	}
	for _, f := range p.tree {
		fmt.Fprintf(&b, "--- %q %s %q\n", f.Path, f.Kind, f.Content)
	}
	return b.String()
}

// without is a list without its item i.
func without[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

// with is a list with another item i.
func with[T any](list []T, i int, item T) []T {
	list = slices.Clone(list)
	list[i] = item
	return list
}

// newPair makes the pair of a tape.
func newPair(t *tape) pair { return t.generator().pair() }

func (g *generator) pair() pair {
	g.newer, g.lengthy, g.parsed = true, *pairs >= 5000, map[string]*Parsed{}
	if g.percent(10) {
		g.newer = false
	}
	p := pair{files: g.bundle(), scope: g.scope(), parsed: g.parsed}
	p.tree, p.base = g.trees(p.scope)
	p.inTree, p.allow = p.scope == "full" && g.percent(15), g.percent(10)
	if change := p.scope == "diff" || p.scope == "staged"; change && g.percent(40) {
		p.inTree, p.before = true, p.files
		p.files = g.revised(p.files)
	}
	if p.scope == "stdin" {
		p.tree = []File{g.file()}
	}
	if p.before == nil && g.percent(15) {
		g.damage(&p)
	}
	return p
}

// trees are the tree, and the tree before the change.
func (g *generator) trees(scope string) (tree, base []File) {
	have := map[string]bool{}
	add := func(f File) {
		if !have[f.Path] {
			have[f.Path] = true
			tree = append(tree, f)
		}
	}
	for range g.IntN(6) {
		add(g.file())
	}
	switch scope {
	case "full":
		if len(tree) > 0 && g.percent(20) {
			to := pick(g, tree...).Path
			dir := to[:strings.LastIndex(to, "/")+1]
			if to = strings.TrimPrefix(to, dir); !strings.ContainsAny(to, `\`) {
				add(File{dir + pick(g, "x", "main", "l") + pick(g, ".tf", ".pem", ".y"), to, Link})
			}
		}
		if g.percent(5) {
			add(File{pick(g, "pipe.tf", "a/pipe.pem", "pipe"), "", FIFO})
		}
	case "tracked":
		for range g.IntN(2) {
			if f := g.file(); !have[f.Path] {
				base = append(base, f)
			}
		}
	case "diff", "staged":
		for _, f := range tree {
			switch g.IntN(4) {
			case 0: // added
			case 1:
				if f.Content = g.content(); strings.HasPrefix(f.Path, "k/") {
					f.Content = g.keyContent(f.Path)
				}
				base = append(base, f)
			default:
				base = append(base, f)
			}
		}
		for range g.IntN(3) {
			if f := g.file(); !have[f.Path] {
				have[f.Path] = true
				base = append(base, f)
			}
		}
	}
	return tree, base
}

// scope is how a tree is scanned. Those that need git take the most time.
func (g *generator) scope() string {
	switch n := g.IntN(100); {
	case n < 5:
		return "diff"
	case n < 10:
		return "staged"
	case n < 13:
		return "tracked"
	case n < 20:
		return "files"
	case n < 27:
		return "stdin"
	}
	return "full"
}

// revised is a bundle after a change: a rule less, one more, another exclude.
func (g *generator) revised(files []ruleText) []ruleText {
	files = slices.Clone(files)
	for range g.IntN(4) {
		i := g.IntN(len(files))
		f := &files[i]
		switch n := g.IntN(4); {
		case n == 0 && len(f.rules) > 0 && i > 0:
			f.rules = without(f.rules, g.IntN(len(f.rules)))
		case n == 1 && len(f.rules) > 0:
			j := g.IntN(len(f.rules))
			r := g.rule(typeOf(*f), f.version != "")
			r.id = f.rules[j].id
			f.rules = with(f.rules, j, r)
		case n == 2 && f.version != "":
			f.exclude = g.globs()
		default:
			f.rules = append(slices.Clone(f.rules), g.rule(typeOf(*f), f.version != ""))
		}
	}
	return files
}

var engines = flag.Int("engines", 250, "how many sets of items TestEngine looks for")

// TestEngine compares the search of policyscan with this package, without bundles, files and processes between them:
// far more contents in the same time than TestSecond, and in windows of few bytes. Of each item it compares the place
// that is shown, the count, and whether it is there where it is required.
func TestEngine(t *testing.T) {
	found, absent := 0, 0
	for n := range *engines {
		g := tapeOf(n).generator()
		g.newer = true
		var items []Item
		for range 1 + g.IntN(6) {
			if text := g.item(); itemName(text, "forbidden_patterns", true) != "" {
				items = append(items, itemOf(t, text))
			}
		}
		compare := func(content string, window int) string {
			engine := newEngine(t, items)
			var wrong strings.Builder
			for i, report := range engineSays(t, engine, items, content, window) {
				if want := naivelySaid(items[i], content); report != want {
					fmt.Fprintf(&wrong, "%s: %q, naively %q\n", items[i].Name, report, want)
				}
			}
			return wrong.String()
		}
		for range 6 {
			content := g.content()
			for _, item := range items {
				if item.IsIn(content) {
					found++
				} else {
					absent++
				}
			}
			for _, window := range []int{0, 64, 97, 256, 1024} {
				if compare(content, window) == "" {
					continue
				}
				content = shortened(content, func(s string) bool { return compare(s, window) != "" })
				t.Fatalf("-seed %d, set %d: windows of %d bytes, content %.600q:\n%s",
					*seed, n, window, content, compare(content, window))
			}
		}
	}
	if found < *engines || absent < *engines {
		t.Errorf("%d items are there and %d are not: too few to say anything", found, absent)
	}
}

// newEngine makes an engine that must find the items and must not.
func newEngine(t *testing.T, items []Item) *match.Engine {
	t.Helper()
	var patterns []*match.Pattern
	for _, i := range items {
		if i.Regexp == nil {
			options := match.Options{Spaces: i.Spaces, Words: i.Words, IgnoreCase: i.IgnoreCase,
				WithinLines: i.WithinLines}
			patterns = append(patterns, match.Compile(i.Text, options))
			continue
		}
		x, err := regex.Compile(i.Regexp.String())
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, match.CompileRegex(x, i.WithinLines))
	}
	e := match.NewEngine(patterns)
	for i := range items {
		e.Require(i, false)
	}
	return e
}

// engineSays is what the engine says of each item.
func engineSays(t *testing.T, e *match.Engine, items []Item, content string, window int) []string {
	t.Helper()
	x := &match.Examiner{Window: window}
	report, err := x.Examine(context.Background(), e, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	said := make([]string, len(items))
	for _, f := range report.Finds {
		v := f.Evidence
		said[f.Pattern] += fmt.Sprintf("%d %d:%d-%d:%d %s x%d", v.Offset, v.Line, v.Column, v.EndLine, v.EndColumn,
			v.Encoding, v.Occurrences)
	}
	for _, i := range report.Missing {
		said[i] += " missing"
	}
	return said
}

// naivelySaid is what there is to say of an item.
func naivelySaid(i Item, content string) string {
	said := ""
	if finds := i.Find(content); len(finds) > 0 {
		v := at(content, evidence(i, content, finds))
		said = fmt.Sprintf("%d %d:%d-%d:%d %s x%d", v.Offset, v.Line, v.Column, v.EndLine, v.EndColumn,
			v.Encoding, len(finds))
	}
	if !i.IsIn(content) {
		said += " missing"
	}
	return said
}

// shortened cuts parts off a text as long as it stays wrong.
func shortened(text string, wrong func(string) bool) string {
	for size := max(1, len(text)/2); size > 0; size /= 2 {
		for at := 0; at+size <= len(text); {
			if s := text[:at] + text[at+size:]; wrong(s) {
				text = s
			} else {
				at += size
			}
		}
	}
	return text
}

// itemOf reads one item of a 0.2 file.
func itemOf(t *testing.T, text string) Item {
	t.Helper()
	f := ruleText{version: "0.2", rules: []ruleYAML{ruleWith("X", "boundary", text)}}
	file, mistakes := loadFile("boundaries.yml", f.yaml())
	if len(mistakes) > 0 {
		t.Fatalf("%s: %+v", text, mistakes)
	}
	return file.Rules[0].Forbidden[0]
}
