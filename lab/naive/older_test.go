package naive

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/build"
)

var (
	older = flag.String("base", "", "a commit: what its program says of 0.1 bundles is compared")
	built = flag.String("built", "", "the program of -base, built already")
)

// TestOlder compares policyscan with its program at an older commit, one that reads only bundles of 0.1, over
// generated ones: what a scan leaves and prints, and what list, validate, test, eval or an agent's hook does, byte for
// byte.
// Many of the bundles are refused: there the words may be others, see reworded.
// The older program must refuse each generated bundle of 0.2.
func TestOlder(t *testing.T) {
	if *pairs == 0 || *older == "" {
		t.Skip("it takes minutes; see make same")
	}
	before, after := *built, *binary
	if before == "" {
		before = filepath.Join(t.TempDir(), "before")
		if err := build.Commit(*older, before); err != nil {
			t.Fatal(err)
		}
	}
	if after == "" {
		after = filepath.Join(t.TempDir(), "after")
		if err := build.Program(after); err != nil {
			t.Fatal(err)
		}
	}
	counts, different := overPairs(t, 20, func(folder string) comparison {
		c := olderComparer{before: before, after: after, folder: folder}
		return func(n int) (had []string, differs []error) {
			p := newOlderPair(n)
			had, err := c.compare(p)
			if err != nil {
				differs = append(differs, fmt.Errorf("pair %d (-seed %d -only %d):\n%v%w", n, *seed, n, p, err))
			}
			newer, err := c.refusesNewer(newPair(n))
			if err != nil {
				differs = append(differs, fmt.Errorf("the bundle of 0.2 of pair %d (-seed %d -only %d):\n%w",
					n, *seed, n, err))
			}
			return append(had, newer...), differs
		}
	})
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[what], what)
	}
	t.Logf("measured: %d pairs, %d differ", counts["pairs"], different)
}

// An olderComparer runs the two programs, in a folder of its own.
type olderComparer struct {
	before, after, folder string
}

// An asked is how a program is called.
type asked struct {
	args  []string
	stdin []byte
}

// A run is what a program did.
type run struct {
	status  int
	out     string
	said    string
	verdict string // of a scan
}

// compare asks both programs and returns what the pair had, for the counts, and how they differ.
func (c olderComparer) compare(p olderPair) (had []string, err error) {
	policy, tree, home := filepath.Join(c.folder, "policy"), filepath.Join(c.folder, "tree"), filepath.Join(c.folder,
		"home")
	second := filepath.Join(c.folder, "second")
	for _, folder := range []string{policy, tree, second} {
		if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o777)); err != nil {
			return nil, err
		}
	}
	if p.inTree {
		policy = filepath.Join(tree, ".policyscan")
	}
	scope, stdin, err := p.place(tree)
	if err != nil {
		return nil, err
	}
	for folder, files := range map[string][]ruleText{policy: p.files, second: p.second} {
		if err := WriteTree(folder, rulesIn(files)); err != nil {
			return nil, err
		}
	}
	verdict := filepath.Join(c.folder, "verdict.json")
	var policies []string
	if !p.inTree {
		policies = []string{"--policy", policy}
	}
	if p.second != nil {
		policies = []string{"--policy", policy, "--policy", second}
	}
	scan := slices.Concat([]string{"scan", "--output", verdict}, policies, p.scan, scope)
	command := slices.Concat(p.command, policies)
	var call []byte
	switch p.command[0] {
	case "eval", "hook":
		call = p.call(tree)
	case "list", "validate", "test":
		if p.inTree {
			command = append(command, "--policy", policy)
		}
	}
	ask := func(program string, args []string, stdin []byte) (run, error) {
		if err := errors.Join(os.RemoveAll(home), os.RemoveAll(verdict), os.MkdirAll(home, 0o700)); err != nil {
			return run{}, err
		}
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Stdin = tree, bytes.NewReader(stdin)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			return run{}, err
		}
		written, err := os.ReadFile(verdict)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return run{}, err
		}
		return run{cmd.ProcessState.ExitCode(), shown(out.String()), shown(said.String()), string(written)}, nil
	}
	had = append(p.odd, "pairs", "scope "+p.scope, "command "+p.command[0])
	for _, asked := range []asked{{scan, stdin}, {command, call}}[:p.asked] {
		one, err := ask(c.before, asked.args, asked.stdin)
		if err != nil {
			return nil, err
		}
		two, err := ask(c.after, asked.args, asked.stdin)
		if err != nil {
			return nil, err
		}
		had = append(had, fmt.Sprintf("%s: status %d", asked.args[0], one.status))
		if one == two {
			continue
		}
		if p.saysVersion() && one.isRefused() {
			had = append(had, "differs: a bundle that says a version, which the older program refuses")
			continue
		}
		kinds, err := reworded(one, two)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", asked.args, err)
		}
		had = append(had, kinds...)
	}
	return had, nil
}

// rulesIn are the rule files as files of a bundle's folder.
func rulesIn(files []ruleText) []File {
	var all []File
	for _, f := range files {
		all = append(all, File{"rules/" + f.name, f.yaml(), Regular})
	}
	return all
}

var (
	seconds = regexp.MustCompile(`, \d+\.\d\d s\n`)
	style   = regexp.MustCompile(`(?s)<style>.*?</style>|style-src '[^']*'`)
	spaces  = regexp.MustCompile(` {2,}`)
)

// shown is what is printed without the time that a scan took, the style of the page, and the number of spaces:
// reports now show those of a pattern as they are. In the verdict every byte counts.
func shown(text string) string {
	text = seconds.ReplaceAllString(text, ", N s\n")
	return spaces.ReplaceAllString(style.ReplaceAllString(text, ""), " ")
}

// refusesNewer runs the older program on a bundle of 0.2: it has to refuse it.
func (c olderComparer) refusesNewer(p pair) (had []string, err error) {
	if !slices.ContainsFunc(p.files, func(f ruleText) bool { return f.version != "" }) {
		return nil, nil
	}
	policy, tree := filepath.Join(c.folder, "policy"), filepath.Join(c.folder, "tree")
	if err := errors.Join(os.RemoveAll(policy), os.RemoveAll(tree), os.MkdirAll(tree, 0o777), WriteTree(policy,
		rulesIn(p.files))); err != nil {
		return nil, err
	}
	cmd := exec.Command(c.before, "scan", "--output", "none", "--policy", policy, "--stdin", "--stdin-path", "x.tf")
	cmd.Dir = tree
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return nil, err
	}
	if status := cmd.ProcessState.ExitCode(); status != 2 || bytes.Contains(out, []byte("goroutine")) {
		return nil, fmt.Errorf("%vstatus %d of the older program\n%s", p, status, out)
	}
	return []string{"bundles of 0.2, which the older program refuses"}, nil
}

// reworded compares two runs that differ: nothing may, but what is said of a bundle that is refused.
// It returns the kinds of differences.
func reworded(one, two run) (kinds []string, err error) {
	differs := func(what, before, after string) error {
		return fmt.Errorf("%s\nbefore: %s\nafter:  %s", what, before, after)
	}
	switch {
	case one.status != two.status:
		return nil, differs("the status", fmt.Sprint(one), fmt.Sprint(two))
	case one.verdict == "" || two.verdict == "":
		a, b := one.lines(), two.lines()
		if len(a) != len(b) {
			return nil, differs("what is said", one.out+one.said, two.out+two.said)
		}
		for i := range a {
			if a[i] != b[i] {
				kind, err := rewordedMessage(a[i], b[i])
				if err != nil {
					return nil, err
				}
				kinds = append(kinds, kind)
			}
		}
		return kinds, nil
	}
	var a, b map[string]any
	if err := errors.Join(json.Unmarshal([]byte(one.verdict), &a), json.Unmarshal([]byte(two.verdict),
		&b)); err != nil {
		return nil, err
	}
	before, after := a["errors"].([]any), b["errors"].([]any)
	if len(before) != len(after) {
		return nil, differs("the number of errors", one.verdict, two.verdict)
	}
	for i := range before {
		x, y := before[i].(map[string]any), after[i].(map[string]any)
		if x["message"] == y["message"] {
			continue
		}
		kind, err := rewordedMessage(x["message"].(string), y["message"].(string))
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
		x["message"], y["message"] = "", ""
	}
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		return nil, differs("the verdict", x, y)
	}
	if len(kinds) == 0 {
		return nil, differs("what is said", one.out+one.said, two.out+two.said)
	}
	return kinds, nil
}

// lines are the lines of what was said, in JSON too.
func (r run) lines() []string {
	return strings.Split(strings.ReplaceAll(r.out+"\n"+r.said, `\"`, `"`), "\n")
}

// words are what is meant to be said otherwise: messages about what only bundles of 0.2 can have.
var words = []struct{ kind, before, after string }{
	{"a key of match of 0.2",
		`unknown key "(path_case|forbidden_files|required_files|required_patterns|unparsable)" in "match"; `,
		`"$1" needs version 0.2; `},
	{"a key of a file of 0.2", `unknown key "(type|exclude)" in the file; `, `"$1" needs version 0.2; `},
	{"an item of 0.2", `a mapping in "(forbidden_patterns|required_absent)", where a string belongs; `,
		`a mapping in "$1", which needs version 0.2; `},
	{"a version in a rule", `unknown key "(bundle)" in a rule; `, `"$1" in a rule, where it changes nothing; `},
	{"allowances", `(rules/allowances\.yml.*?): this file is not read: `,
		`$1: allowances are not yet read by this version of policyscan; `},
}

// rewordedMessage returns the kind of a difference of words that is meant. The place has to be the same, and so has
// what comes before the words.
func rewordedMessage(before, after string) (kind string, err error) {
	for _, w := range words {
		rx := regexp.MustCompile(w.before)
		at := rx.FindStringIndex(before)
		if at == nil {
			continue
		}
		if begin := rx.ReplaceAllString(before[:at[1]], w.after); strings.HasPrefix(after, begin) {
			return "other words: " + w.kind, nil
		}
	}
	return "", fmt.Errorf("a message\nbefore: %s\nafter:  %s", before, after)
}

// saysVersion reports whether a rule file has a key like bundle: then the newer program reads it as 0.2.
func (p olderPair) saysVersion() bool {
	return slices.ContainsFunc(slices.Concat(p.files, p.before, p.second), func(f ruleText) bool {
		return versionLike.MatchString(f.yaml())
	})
}

var versionLike = regexp.MustCompile(`(?im)^\W{0,3}bund`)

// isRefused reports whether a program refused the bundle, or one of them: an incomplete FAIL, or a call that is
// denied.
func (r run) isRefused() bool {
	return r.status == 2 || r.status == 1 && strings.Contains(r.verdict, `"complete": false`) ||
		strings.Contains(r.out, "so it is denied") || strings.Contains(r.out, `"decision":"deny"`)
}

// An olderPair is a bundle of 0.1 with a tree, and what two programs are asked about them.
type olderPair struct {
	pair
	odd     []string // what is unusual in the bundle or the tree, for the counts
	second  []ruleText
	scan    []string // flags of the scan
	command []string // what is asked besides the scan, if two things are asked
	asked   int
	edits   []File // what an agent would write
}

// newOlderPair makes the pair of a number.
func newOlderPair(n int) olderPair {
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, uint64(n))), lengthy: true}
	p := olderPair{pair: pair{files: g.bundle(), scope: g.scope()}}
	if g.percent(30) {
		p.scope = pick(g, "diff", "staged", "tracked")
	}
	p.tree, p.base = g.trees(p.scope)
	g.oddTree(&p)
	change := p.scope == "diff" || p.scope == "staged"
	p.inTree = p.scope != "stdin" && g.percent(20)
	if change && g.percent(50) {
		p.inTree, p.before = true, p.files
		p.files = g.revised(p.files)
	}
	if p.scope == "stdin" {
		p.tree = []File{g.file()}
	}
	if change && p.inTree && p.before == nil {
		p.before = p.files
	}
	p.files, p.before = slices.Clone(p.files), slices.Clone(p.before)
	if p.before == nil || g.percent(50) {
		g.describe(p.files)
	}
	if p.before == nil && g.percent(10) {
		g.ids = 1000
		p.second = g.bundle()
	}
	if g.percent(40) {
		g.oddBundle(&p)
	}
	p.scan, p.asked = g.flags(), pick(g, 1, 2)
	p.command = pick(g, []string{"list", "--json"}, []string{"list"}, []string{"validate"}, []string{"test"},
		[]string{"eval"}, []string{"hook", "claude-code"}, []string{"hook", "cursor"})
	for range 1 + g.IntN(3) {
		p.edits = append(p.edits, g.file())
	}
	return p
}

// flags are flags of a scan that have to do with bundles, or with how it is reported.
func (g *generator) flags() []string {
	var flags []string
	all := g.percent(50)
	for _, reason := range []string{"empty", "lfs-pointer", "special-file", "symlink", "submodule", "encoding",
		"encrypted", "partial"} {
		if all || g.percent(20) {
			flags = append(flags, "--allow", reason)
		}
	}
	for _, some := range []struct {
		percent int
		flags   []string
	}{
		{15, []string{"--quiet"}},
		{5, []string{"--rule", fmt.Sprintf("R%d", 1+g.IntN(4))}},
		{5, []string{"--exclude", pick(g, "**/*.tf", "a/**", "**", "{text: a}")}},
		{5, []string{"--require-governed"}},
		{3, []string{"--max-file-bytes", pick(g, "1", "20", "4096")}},
		{40, []string{"--report", pick(g, "json", "sarif", "junit", "github", "markdown", "gitlab", "rdjson",
			"html")}},
	} {
		if g.percent(some.percent) {
			flags = append(flags, some.flags...)
		}
	}
	return flags
}

// describe gives rules what people read of them.
func (g *generator) describe(files []ruleText) {
	for i := range files {
		f := &files[i]
		f.raw = f.yaml()
		for strings.Contains(f.raw, "    title: t\n") {
			lines := []string{"    title: " + pick(g, "T", `"t {text: a}"`, `"\u202e<b>&amp;"`, "'{key: x}'",
				"No a's", `"::error::%0A"`)}
			for _, line := range []string{
				"    message: " + pick(g, `"a\nb"`, "|\n      two\n      lines", ">-\n      {regex: a}\n      b",
					"'text: a'"),
				"    remediation: " + pick(g, "Write b.", `"\x1b[31m"`, "|\n      a = {\n      }"),
				"    docs_url: https://example.com/a?b={c}",
				"    owner: " + pick(g, "team", `"@org/team"`, `"{}"`),
				"    severity: " + pick(g, "low", "medium", "high", "critical"),
				"    tags: " + pick(g, "[a, b]", `["{a"]`, "\n      - x"),
				"    redact: true",
				"    x-bundle: " + pick(g, `"0.2"`, "{bundle: 0.2, list: [1, ~]}"),
				"    examples:\n      - {path: " + pick(g, "x.tf", "a/x.tf",
					"q") + ", content: " + quote(g.passageUTF8()) + ", violates: " +
					pick(g, "true", "false") + "}",
			} {
				if g.percent(15) {
					lines = append(lines, line)
				}
			}
			f.raw = strings.Replace(f.raw, "    title: t\n", strings.Join(lines, "\n")+"\n", 1)
		}
	}
}

func (g *generator) passageUTF8() string { return strings.ToValidUTF8(g.passage(), "?") + "a" }

// oddTree adds what git and the disk make of files.
func (g *generator) oddTree(p *olderPair) {
	inGit := p.scope == "diff" || p.scope == "staged" || p.scope == "tracked"
	add := func(what string, f File) {
		if !slices.ContainsFunc(p.tree, func(other File) bool { return other.Path == f.Path }) {
			p.tree, p.odd = append(p.tree, f), append(p.odd, what)
		}
	}
	if g.percent(10) {
		line := pick(g, "*", "*.tf", "a/**", "x*", "**/main*", "[a-z]*.pem") + " " + pick(g,
			"working-tree-encoding=UTF-16", "working-tree-encoding=UTF-16LE-BOM", "working-tree-encoding=latin1",
			"working-tree-encoding=nothing", "filter=lfs diff=lfs merge=lfs -text", "filter=git-crypt",
			"text eol=crlf", "-diff", "binary")
		add("attributes", File{pick(g, "", "a/") + ".gitattributes", line + "\n", Regular})
	}
	if g.percent(5) {
		add("encrypted", File{"secret.tf", "\x00GITCRYPT\x00" + g.passage(), Regular})
	}
	if g.percent(10) && p.scope != "files" {
		to := pick(g, "x.tf", "a/x.tf", "..", "../..", "/etc/passwd", "nothing", "a", ".", "l.tf", "{text: a}")
		add("link", File{pick(g, "l.tf", "a/l.tf", "l", "l.pem"), to, Link})
	}
	if g.percent(8) && inGit && p.scope != "tracked" {
		add("submodule", File{pick(g, "sub", "a/sub", "vendor.tf"), "1234567890123456789012345678901234567890",
			submodule})
	}
	// A name is a file or a folder, never both.
	var paths []string
	for _, f := range p.tree {
		paths = append(paths, f.Path)
	}
	isFolder := func(f File) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, f.Path+"/") })
	}
	p.tree = slices.DeleteFunc(p.tree, isFolder)
	p.base = slices.DeleteFunc(p.base, func(f File) bool {
		return isFolder(f) || slices.ContainsFunc(p.tree, func(other File) bool {
			return other.Kind != Regular && (other.Path == f.Path || strings.HasPrefix(f.Path, other.Path+"/"))
		})
	})
}

// oddBundle changes what a bundle says, to what is unusual or refused.
func (g *generator) oddBundle(p *olderPair) {
	for range 1 + g.IntN(2) {
		if g.percent(15) {
			g.oddFile(p)
			continue
		}
		files := p.files
		if p.before != nil && g.percent(20) {
			files = p.before
		}
		f := &files[g.IntN(len(files))]
		what, text := g.oddText(f.yaml())
		f.raw = text
		p.odd = append(p.odd, what)
	}
}

// oddFile adds, renames or deletes a rule file.
func (g *generator) oddFile(p *olderPair) {
	add := func(name, raw string) { p.files = append(p.files, ruleText{name: name, raw: raw}) }
	whole := ruleText{rules: []ruleYAML{plainRule("OTHER", "boundary")}}.yaml()
	what := pick(g, "another rule file", "a rule file that says a version", "a file with .yaml", "allowances",
		"a rule file in a folder", "a file that is no rule file", "an empty rule file", "a file less",
		"a file with another name")
	p.odd = append(p.odd, what)
	switch what {
	case "another rule file":
		add(pick(g, "other.yml", "a.yml", "zz.yml", "0.yml", "Boundaries.yml", "deprecated2.yml"), whole)
	case "a rule file that says a version":
		add("other.yml", `bundle: "0.2"`+"\n"+pick(g, "", "type: boundary\n")+whole)
	case "a file with .yaml":
		add(pick(g, "other.yaml", "boundaries.yaml", "x.YML"), whole)
	case "allowances":
		add(pick(g, "allowances.yml", "Allowances.yml", "allowances.yaml"), pick(g, "", "allowances: []\n", whole))
	case "a rule file in a folder":
		add("sub/"+pick(g, "boundaries.yml", "other.yml", "x.yaml"), whole)
	case "a file that is no rule file":
		add(pick(g, "README.md", "other.yml.bak", "boundaries.yml~", ".hidden", "policy.schema.json", "sub/x.json"),
			whole)
	case "an empty rule file":
		add(pick(g, "other.yml", ".yml", "x.yml"), pick(g, "", "# nothing\n", "---\n"))
	case "a file less":
		if i := g.IntN(len(p.files)); len(p.files) > 1 {
			p.files = without(p.files, i)
		}
	case "a file with another name":
		f := &p.files[g.IntN(len(p.files))]
		f.name = pick(g, strings.ToUpper(f.name), strings.Replace(f.name, ".yml", ".yaml", 1), "my-"+f.name)
	}
}

// oddText makes one unusual or wrong thing of a rule file's text, and says what.
func (g *generator) oddText(text string) (what, odd string) {
	lines := strings.SplitAfter(text, "\n")
	// replace puts something into the place of a line that begins so, if there is one.
	replace := func(begin, by string) string {
		for _, i := range g.Perm(len(lines)) {
			if strings.HasPrefix(lines[i], begin) {
				lines[i] = by + "\n"
				break
			}
		}
		return strings.Join(lines, "")
	}
	// before puts a line before one that begins so, if there is one.
	before := func(begin, line string) string {
		for _, i := range g.Perm(len(lines)) {
			if strings.HasPrefix(lines[i], begin) {
				lines = slices.Insert(lines, i, line+"\n")
				break
			}
		}
		return strings.Join(lines, "")
	}
	switch n := g.IntN(100); {
	case n < 20:
		return "item", replace("        - ", "        - "+pick(g, oddItems...))
	case n < 28:
		return "glob", replace(`        - "`, "        - "+pick(g, oddGlobs...))
	case n < 38:
		return "key of match", before("      files:", "      "+pick(g,
			"path_case: ignore", "path_case: sensitive", `forbidden_files: ["**"]`, `required_files: ["a"]`,
			`required_patterns: ["a"]`,
			"required_patterns: [{text: a}]", "unparsable: text", "pathcase: ignore", "x-note: {text: a}",
			"exclude: []",
			"exclude: [a, a]", "exclude: ~", "exclude: a", "exclude: [a/**]", "<<: *x", "<<: {exclude: [a]}",
			`"files": [b]`,
			"forbidden_pattern: [a]", "required_absent: [a]", "forbidden_patterns: [a]", "forbidden_patterns: []",
			"forbidden_patterns: {text: a}", "each: a", "key: a", "Forbidden_files: [a]", "exclude: !!seq [a]",
			"exclude: &x [a]"))
	case n < 45:
		return "key of a rule", before("    match:", "    "+pick(g,
			`bundle: "0.2"`, "type: boundary", "allowances: never", "exclude: [a]", "mode: fail", "spaces: any",
			"match: {}",
			"x-match: {regex: a}", "severity: none", "tags: []", "tags: [a, a]", "redact: false", "redact: yes",
			"owner: ''",
			"docs_url: x", "message: ''", "examples: []", "examples: [{path: a, content: b, violates: true, x: 1}]",
			"enforcement: {mode: warn}", "title: ~"))
	case n < 53:
		// A key that is nearly "bundle" is read as a misspelt version.
		line := pick(g, `bundle: "0.1"`, "bundle: 0.1", `bundle: "0.2"`, `bundle: "0.2"`, "bundle: 0.2",
			`bundle: "0.3"`,
			"bundle: ~", "bundle: ['0.2']", `"bundle": "0.2"`, "bundle: !!str 0.2", `bundle: &x "0.2"`,
			"? bundle\n: '0.2'")
		if g.percent(30) {
			return "version", text + line + "\n"
		}
		return "version", line + "\n" + text
	case n < 63:
		return "first line", pick(g, `Bundle: "0.2"`, `bundel: "0.2"`, "type: boundary", "exclude: [a]",
			"allowances: []",
			`x-bundle: "0.2"`, "x-top: {bundle: '0.2'}", "---", "%YAML 1.2\n---", "# bundle: \"0.2\"", "...",
			"rules: []", "version: 2",
			"\t", "files: [a]", `bundles: "0.2"`, `" bundle": "0.2"`, "x-a: &x {exclude: [a]}", "<<: {rules: []}",
			"--- # bundle:",
			"# yaml-language-server: $schema=../policy.schema.json") + "\n" + text
	case n < 68:
		return "mark", pick(g, "\ufeff", "\ufeff\ufeff", "\xff\xfe", "\x00", "\u2028", "\n\n", " ", "\u00a0") + text
	case n < 74:
		return "CRLF", strings.ReplaceAll(text, "\n", "\r\n")
	case n < 76:
		return "line ends", strings.Replace(text, "\n", pick(g, "\r", "\r\r\n", "\u0085", "\u2028", "\v",
			"\x00\n"), 1+g.IntN(3))
	case n < 79:
		return "end", text + pick(g, "---\nrules: []\n", "...\n", "...\nrules: []\n", "# bundle: '0.2'\n",
			"x-end: 1\n", "  \n", "\x00", "---\n", "\xff")
	case n < 81:
		return "nothing", pick(g, "", "# nothing\n", "rules:\n", "rules: ~\n", "rules: []\n", "rules: {}\n", "[]\n",
			"a\n", "rules: [a]\n", "rules: [~]\n", "{}\n")
	case n < 84:
		e := pick(g, Encodings()...)
		return "encoding", pick(g, "", e.mark()) + e.Encode(text)
	case n < 88:
		i := g.IntN(len(lines))
		return "a line less", strings.Join(slices.Delete(lines, i, i+1), "")
	case n < 91:
		i := g.IntN(len(lines))
		return "a line twice", strings.Join(slices.Insert(lines, i, lines[i]), "")
	case n < 94:
		return "cut", text[:g.IntN(len(text)+1)]
	default:
		bytes := []byte(text)
		bytes[g.IntN(len(bytes))] = pick[byte](g, ' ', '\t', '{', '}', '[', '"', '\'', ':', '-', '&', '*', '!', '|',
			'>', '%', '@', '#', 'x', 0x80, 0, '\n')
		return "a byte", string(bytes)
	}
}

// oddItems are items of lists of patterns.
var oddItems = []string{
	`"{text: a}"`, `"{a"`, `'{"text":"a"}'`, `"{\"regex\":\"a\"}"`, `"{}"`, `'{regex: "a"}'`,
	`"{text: a}" # {text: a}`,
	"1", "1.0", "0x10", ".inf", "true", "yes", "~", "", "null", "2026-01-01", "0.2", "-", "=", "<<", "a: b", "? a",
	"{text: a}", "{regex: a}", "{key: a}", "{}", "[a]", "[]", "{text: a, words: true}", "{text: 1}", "{x-note: a}",
	"{spaces: any}",
	"&x a", "*x", "!!str a", "!x a", "!!binary YQ==", "!!str", "&x", `"a"`, `"a"`, `"k"`, `"A"`, "a # b", "'a'",
	"|\n          a\n          b",
	">-\n          a\n          b", "|+\n          a\n\n", `"\u0000"`, `"\ufeff"`, `"e\u0301"`, `"a\u00a0"`,
	`"\x80"`, `" "`, `""`, `"\ta"`, `"\e"`,
	`"a\n"`, `"\n"`, `"\r"`, `"a\r\nb"`, `"\ud800"`, `"\U0001f600"`, `"\u212a"`, `"a.*b"`, `"\\d+"`, `"(a|b)"`,
	`"^a$"`, `"[a-z]"`,
	`"${x}"`, `"{{ a }}"`, `"{% a %}"`, "a, b", "a]", "@a",
	"`a", "%a", "\u2028a", "a\u0085b", "'{'", `"{ "`, `"{\t"`, "a{", "{", "}",
}

// oddGlobs are globs, most of which are refused.
var oddGlobs = []string{
	`"!a"`, `"/a"`, `"./a"`, `"../a"`, `"a/"`, `"a//b"`, `"**.tf"`, `"[[:alpha:]]"`, `"[z-a]"`, `"[a/b]"`,
	`"@(a|b)"`, `"a\\b"`, `"\\*"`,
	`"{a,b}{c,d}/**"`, `"{,a}*"`, `"{a}"`, `"*"`, `"*.*"`, `"**/*"`, `"**/**"`, `"x/**"`, `"x*/**"`, `"**/[A-z]*"`,
	`"?"`, `"[^a]*"`, `"[!a]*"`,
	`"{*.tf,a/**}"`, `"{text: a}"`, "{text: a}", "1", "true", "~", `""`, `" a"`, `"é*"`, `"e\u0301*"`, "*x", "&x a",
	"!!str a", `"**/q\\\\.tf"`,
}

// call is what an agent's hook or eval gets.
func (p olderPair) call(tree string) []byte {
	var all []byte
	for i, f := range p.edits {
		input := map[string]any{"file_path": filepath.Join(tree, f.Path), "content": f.Content}
		tool := "Write"
		if i == 0 && len(p.tree) > 0 && p.tree[0].Kind == Regular && p.tree[0].Content != "" {
			old := p.tree[0].Content
			input = map[string]any{"file_path": filepath.Join(tree, p.tree[0].Path),
				"old_string": old[:1+len(old)/2], "new_string": f.Content}
			tool = "Edit"
		}
		call := map[string]any{
			"session_id": "s", "transcript_path": "/nowhere", "cwd": tree, "hook_event_name": "PreToolUse",
			"tool_name": tool, "tool_input": input,
		}
		if slices.Contains(p.command, "cursor") {
			call = map[string]any{
				"conversation_id": "c", "generation_id": "g", "workspace_roots": []string{tree},
				"hook_event_name": "preToolUse",
				"tool_name":       "Write", "tool_use_id": "t", "cwd": "",
				"tool_input": map[string]any{"file_path": filepath.Join(tree, f.Path), "content": f.Content},
			}
		}
		line, err := json.Marshal(call)
		if err != nil {
			panic(err)
		}
		all = append(append(all, line...), '\n')
		if p.command[0] == "hook" {
			break
		}
	}
	return all
}

// String writes all of it, for a person.
func (p olderPair) String() string {
	var b strings.Builder
	b.WriteString(p.pair.String())
	for _, f := range p.second {
		fmt.Fprintf(&b, "--- second: rules/%s\n%s", f.name, f.yaml())
	}
	fmt.Fprintf(&b, "--- scan %q, and %q\n--- odd: %q\n", p.scan, p.command, p.odd)
	for _, f := range p.edits {
		fmt.Fprintf(&b, "--- edit: %q %q\n", f.Path, f.Content)
	}
	return b.String()
}
