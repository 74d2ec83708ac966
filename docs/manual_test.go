package docs

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// TestIndex: the index links every page of the manual, and the tests cover every page.
func TestIndex(t *testing.T) {
	var linked []string
	for _, m := range link.FindAllStringSubmatch(read(t, "README.md"), -1) {
		linked = append(linked, m[1])
	}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		name = filepath.ToSlash(name)
		if !slices.Contains(pages, name) {
			t.Errorf("%s is not in the list of pages that are tested", name)
		}
		if name != "README.md" && !slices.Contains(linked, name) {
			t.Errorf("README.md has no link to %s", name)
		}
		return nil
	})
	if err != nil || len(linked) < 25 {
		t.Errorf("%d links, %v", len(linked), err)
	}
}

// TestComparisonBegins: the comparison begins with its table, and explains the method after all tables.
func TestComparisonBegins(t *testing.T) {
	text := read(t, "../lab/results/comparison.md")
	before, _, _ := strings.Cut(text, "<!-- measured: evasion -->")
	if n := strings.Count(before, "\n"); n > 30 {
		t.Errorf("the first table begins after %d lines", n)
	}
	last := 0
	for _, part := range []string{"evasion", "silent", "blind", "variants", "versions", "setups"} {
		at := strings.Index(text, "<!-- measured: "+part+" -->")
		if at <= last {
			t.Errorf("%s is at byte %d, what comes before it at %d", part, at, last)
		}
		last = at
	}
}

// TestEveryCodeHasAFix: troubleshooting.md has an entry for each code, with its cause and its fix.
func TestEveryCodeHasAFix(t *testing.T) {
	program := append(constants(t, "../verdict/code/code.go", "E_"), constants(t, "../rules/document/errors.go", "E_")...)
	_, text, _ := strings.Cut(read(t, "troubleshooting.md"), "\n## Every code\n")
	entry := regexp.MustCompile("(?ms)^#### `(E_[A-Z_]+)`\n(.*?)(?:\n\n|\\z)")
	var codes []string
	for _, m := range entry.FindAllStringSubmatch(text, -1) {
		codes = append(codes, m[1])
		cause, fix, ok := strings.Cut(m[2], "\n**Fix:** ")
		if !ok || len(cause) < 20 || len(fix) < 10 {
			t.Errorf("%s: the cause is %q, the fix %q", m[1], cause, fix)
		}
	}
	sameNames(t, codes, program)
}

// TestGlossary: one line per word, in order, with the words of the verdict and the rules that a user meets.
func TestGlossary(t *testing.T) {
	_, glossary, _ := strings.Cut(read(t, "README.md"), "\n## Glossary\n")
	glossary, _, _ = strings.Cut(glossary, "\n## ")
	if n := strings.Count(glossary, "\n"); n > 25 {
		t.Errorf("the glossary has %d lines", n)
	}
	var words []string
	for line := range strings.Lines(glossary) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 2 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| word") {
			continue
		}
		words = append(words, strings.TrimPrefix(cells[0], "| "))
	}
	if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("not in order, or a word twice: %q", words)
	}
	// The words of the contract, and the members of the verdict that are also words.
	for _, word := range []string{
		"bundle", "boundary", "invariant", "deprecated", "pattern", "scope", "covered", "violation", "evidence", "verdict",
		"partial", "complete", "bootstrap", "fingerprint", "severity", "redact", "root", "glob",
	} {
		if !slices.Contains(words, word) {
			t.Errorf("the glossary has no %s", word)
		}
	}
	var schema struct {
		Defs struct {
			Scope struct {
				Properties struct{ Mode struct{ Enum []string } }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(verdict.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	modes := schema.Defs.Scope.Properties.Mode.Enum
	for _, mode := range modes {
		if !strings.Contains(glossary, "`"+mode+"`") {
			t.Errorf("the glossary does not name the scope %s", mode)
		}
	}
	if len(modes) < 6 {
		t.Errorf("the scopes are %q", modes)
	}
}

// fileOf returns a block of a page that is a file.
func fileOf(t *testing.T, page, name string) string {
	t.Helper()
	for _, b := range blocks(t, page) {
		if b.notes["file"] == name {
			return b.body()
		}
	}
	t.Fatalf("%s has no file %s", page, name)
	return ""
}

// scanned runs the program over the examples, and returns the report and the locations of the violations as
// "path:line:column", in order.
func scanned(t *testing.T) (dir, text string, places []string) {
	t.Helper()
	dir = storyDir(t)
	cmd := exec.Command(program, "--policy", "examples/policy", "--output", "v.json", "examples/infra-target")
	cmd.Dir = dir
	cmd.Env = environment(dir)
	out, _ := cmd.Output()
	if status := cmd.ProcessState.ExitCode(); status != 1 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	v, err := verdict.Decode([]byte(read(t, filepath.Join(dir, "v.json"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range v.Violations {
		for _, p := range x.Evidence.Places {
			places = append(places, fmt.Sprintf("examples/infra-target/%s:%d:%d", x.File, p.Line, p.Column))
		}
		if len(x.Evidence.Places) == 0 {
			places = append(places, "examples/infra-target/"+x.File+":1:1")
		}
	}
	slices.Sort(places) // the report has the graver rules first
	if len(places) < 10 {
		t.Fatalf("the violations are %q", places)
	}
	return dir, string(out), places
}

// TestEditorsVSCode: the task's regex finds exactly the violations of a report, and is the one of the problem matcher
// for GitHub. The settings name the schema that init writes, and the rule files.
func TestEditorsVSCode(t *testing.T) {
	type matcher struct {
		Pattern struct {
			Regexp                            string
			File, Line, Column, Message, Code int
		}
	}
	var tasks struct {
		Tasks []struct{ ProblemMatcher []matcher }
	}
	if err := json.Unmarshal([]byte(fileOf(t, "editors.md", "tasks.json")), &tasks); err != nil {
		t.Fatal(err)
	}
	p := tasks.Tasks[0].ProblemMatcher[0].Pattern
	_, text, want := scanned(t)
	var got []string
	for line := range strings.Lines(text) {
		m := regexp.MustCompile(p.Regexp).FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		got = append(got, m[p.File]+":"+m[p.Line]+":"+m[p.Column])
		if m[p.Message] == "" || !regexp.MustCompile(`^[A-Z0-9-]+$`).MatchString(m[p.Code]) {
			t.Errorf("%q has the message %q and the code %q", line, m[p.Message], m[p.Code])
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("it finds %q; the verdict has %q", got, want)
	}
	var github struct {
		ProblemMatcher []struct{ Pattern []struct{ Regexp string } }
	}
	if err := json.Unmarshal([]byte(read(t, "../.github/policyscan-matcher.json")), &github); err != nil {
		t.Fatal(err)
	}
	if its := github.ProblemMatcher[0].Pattern[0].Regexp; its != p.Regexp {
		t.Errorf("GitHub's expression is %s", its)
	}

	var settings struct {
		Schemas map[string][]string `json:"yaml.schemas"`
	}
	if err := json.Unmarshal([]byte(fileOf(t, "editors.md", "settings.json")), &settings); err != nil {
		t.Fatal(err)
	}
	globs := settings.Schemas[".policyscan/"+rules.SchemaFile]
	for _, name := range []string{rules.BoundariesFile, rules.InvariantsFile, rules.DeprecatedFile} {
		if len(globs) != 1 {
			t.Fatalf("the settings are %v", settings.Schemas)
		}
		if ok, err := path.Match(globs[0], ".policyscan/"+name); !ok || err != nil {
			t.Errorf("%s does not match %s: %v", globs[0], name, err)
		}
	}
}

// TestEditorsVim: with the compiler file, Vim's quickfix list has each violation of a report at its location, and the
// undecided files.
func TestEditorsVim(t *testing.T) {
	vim, err := exec.LookPath("vim")
	if err != nil {
		t.Skip("SKIPPED: vim is not installed")
	}
	dir, text, want := scanned(t)
	for name, content := range map[string]string{
		"rt/compiler/policyscan.vim": fileOf(t, "editors.md", "compiler/policyscan.vim"),
		"out.txt":                    text + "error: no bundle [E_POLICY_MISSING]\n",
		"run.vim": "set rtp^=rt\ncompiler policyscan\ncgetfile out.txt\n" +
			"call writefile(map(filter(getqflist(), 'v:val.valid || v:val.bufnr == 0'), " +
			"'(v:val.bufnr ? bufname(v:val.bufnr) .. \":\" .. v:val.lnum .. \":\" .. v:val.col : \"\") .. (v:val.text =~ \"]$\" ? \"\" : \" no text\")'), 'list.txt')\nqall!\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(vim, "-N", "-u", "NONE", "-i", "NONE", "-es", "-S", "run.vim")
	cmd.Dir = dir
	cmd.Env = environment(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(strings.TrimSuffix(read(t, filepath.Join(dir, "list.txt")), "\n"), "\n")
	slices.Sort(got)
	if want = append([]string{""}, want...); !slices.Equal(got, want) {
		t.Errorf("the quickfix list has\n%s\nthe verdict\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// worstWords are words that no text for a reader may have, with their replacements. A word is a regex over whole
// words, ignoring case; a space in it matches any white space. A list cannot catch "is no X", which looks like "there
// is no X".
var worstWords = []struct{ word, instead string }{
	{"mend|mends|mended|mending", "fix"},
	{"by the bundle of the base", "with the base's rules"},
	{"what there is not", "what does not exist"},
	{"whichever", "each, any"},
	{"(takes?|took|taking) (away|out)|taken out|(leaves?|leaving) out", "remove, skip, exclude"},
	{"taken away", "removed"},
	{"held against|holds? [a-z ]{1,30} against", "checked against"},
	{"is none that|are none that|that there is none of", "unknown"},
	{"cannot be told", "cannot determine"},
	{"anew", "again"},
	{"of (its|their) own", "its own, separate"},
	{"beside", "next to, also"},
	{"stands?|lies?", "is, are"},
	{"blanks", "spaces"},
	{"knowingly", "explicitly"},
	{"told", "reported, said"},
	{"in one another", "nested"},
	{"slips?", "mistake"},
	{"(un)?governed|governs?|governing", "covered by a rule"},
}

// goodUses are phrases in which such a word is right.
var goodUses = []string{
	"stands? for",           // `**/` stands for any number of directories
	"agents? (is|are) told", // "told": an agent is told something; findings are reported
	"require-governed",
	`coverage\.governed|governed": \d+`, // the key of the verdict
}

var compiledWords = map[string]*regexp.Regexp{}

func wordsOf(expression string) *regexp.Regexp {
	if compiledWords[expression] == nil {
		expr := `(?i)\b(` + strings.ReplaceAll(expression, " ", `\s+`) + `)\b`
		compiledWords[expression] = regexp.MustCompile(expr)
	}
	return compiledWords[expression]
}

// anyWorst matches all of [worstWords].
var anyWorst = sync.OnceValue(func() *regexp.Regexp {
	var all []string
	for _, w := range worstWords {
		all = append(all, w.word)
	}
	return wordsOf(strings.Join(all, "|"))
})

// worstIn returns the worst words of a text, with their places. line is the 1-based line of file where the text
// begins.
func worstIn(file string, line int, text string) (found []string) {
	if !anyWorst().MatchString(text) {
		return nil
	}
	text = wordsOf(strings.Join(goodUses, "|")).ReplaceAllStringFunc(text, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n")) // removes the words and keeps the lines
	})
	for _, w := range worstWords {
		for _, at := range wordsOf(w.word).FindAllStringIndex(text, -1) {
			word := text[at[0]:at[1]]
			at := line + strings.Count(text[:at[0]], "\n")
			found = append(found, fmt.Sprintf("%s:%d: %q: write %s", file, at, word, w.instead))
		}
	}
	return found
}

// descriptions returns the descriptions in a JSON schema.
func descriptions(t *testing.T, name string) (texts []string) {
	t.Helper()
	var schema any
	if err := json.Unmarshal([]byte(read(t, name)), &schema); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, value := range v {
				if text, ok := value.(string); ok && (key == "description" || key == "title") {
					texts = append(texts, text)
				}
				walk(value)
			}
		}
	}
	walk(schema)
	return texts
}

// TestPlainWords: no page, example, schema or text of the program has one of the worst words.
func TestPlainWords(t *testing.T) {
	var found []string
	for _, name := range append([]string{"../action.yml"}, pages...) {
		found = append(found, worstIn(name, 1, read(t, name))...)
	}
	literals, schemas := 0, 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "lab", ".git"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go"):
		case path.Ext(name) == ".go":
			files := token.NewFileSet()
			syntax, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(syntax, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
					literals++
					found = append(found, worstIn(name, files.Position(lit.Pos()).Line, lit.Value)...)
				}
				return true
			})
		case path.Ext(name) == ".html":
			found = append(found, worstIn(name, 1, read(t, name))...)
		case path.Base(name) == "schema.json":
			for _, text := range descriptions(t, name) {
				schemas++
				found = append(found, worstIn(name, 1, text)...)
			}
		case strings.HasPrefix(name, "../examples/") || strings.HasPrefix(name, "../rules/starter/"):
			if slices.Contains([]string{".yml", ".yaml", ".sh", ".txt"}, path.Ext(name)) {
				found = append(found, worstIn(name, 1, read(t, name))...)
			}
		}
		return nil
	})
	if err != nil || literals < 1000 || schemas < 100 {
		t.Errorf("%d texts in Go files, %d in schemas, %v", literals, schemas, err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestPlainWordsFindsThem: the search finds such words, at their lines.
func TestPlainWordsFindsThem(t *testing.T) {
	const text = "an amendment\nMend it: held\nagainst rules that stand\nfor a SLIP"
	want := []string{
		`x.md:2: "Mend": write fix`, `x.md:2: "held\nagainst": write checked against`, `x.md:4: "SLIP": write mistake`,
	}
	if got := worstIn("x.md", 1, text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
