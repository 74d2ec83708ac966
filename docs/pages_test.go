package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// worked returns the rows of the tables marked "<!-- worked: KIND -->" in a page, with trimmed cells. It fails below a
// minimum of rows.
func worked(t *testing.T, page, kind string, atLeast int) [][]string {
	t.Helper()
	rows := tables(read(t, page), kind)
	if len(rows) < atLeast {
		t.Fatalf("%s: %d rows are marked %q; there were to be %d at least", page, len(rows), kind, atLeast)
	}
	return rows
}

func tables(text, kind string) [][]string {
	var rows [][]string
	lines := strings.Split(text, "\n")
	for i := range lines {
		if notesOf(lines[i])["worked"] != kind {
			continue
		}
		for _, line := range lines[min(i+3, len(lines)):] { // after the header and the rule
			if !strings.HasPrefix(line, "|") {
				break
			}
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for k := range cells {
				cells[k] = strings.TrimSpace(cells[k])
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

// first returns the first cell of each row, as text.
func first(t *testing.T, rows [][]string) []string {
	t.Helper()
	var list []string
	for _, row := range rows {
		list = append(list, unquoted(t, row[0]))
	}
	return list
}

// sameNames reports names that only one side has, and duplicates.
func sameNames(t *testing.T, manual, program []string) {
	t.Helper()
	for _, name := range manual {
		if !slices.Contains(program, name) {
			t.Errorf("the manual has %s, the program has not", name)
		}
	}
	for _, name := range program {
		if !slices.Contains(manual, name) {
			t.Errorf("the program has %s, the manual has not", name)
		}
	}
	if slices.Sort(manual); len(slices.Compact(slices.Clone(manual))) != len(manual) {
		t.Errorf("the manual has a name twice: %q", manual)
	}
}

// constants returns the values of a Go file's string constants that begin with prefix.
func constants(t *testing.T, name, prefix string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(text, prefix) {
				list = append(list, text)
			}
		}
		return true
	})
	return list
}

// TestCodes: the manual names only codes of the program. TestEveryCodeHasAFix finds the missing ones.
func TestCodes(t *testing.T) {
	program := append(constants(t, "../verdict/code/code.go", "E_"), constants(t, "../rules/document/errors.go", "E_")...)
	if len(program) < 20 {
		t.Fatalf("%d codes: %q", len(program), program)
	}
	code := regexp.MustCompile(`\bE_[A-Z_]+\b`)
	for _, page := range pages {
		for _, c := range code.FindAllString(read(t, page), -1) {
			if !slices.Contains(program, c) {
				t.Errorf("%s: %s is no code", page, c)
			}
		}
	}
}

// shape is the subset of JSON Schema that ours use.
type shape struct {
	Ref        string
	Properties map[string]shape
	Items      *shape
	Defs       map[string]shape
}

// UnmarshalJSON reads a schema; true and false have no shape.
func (s *shape) UnmarshalJSON(text []byte) error {
	if string(text) == "true" || string(text) == "false" {
		return nil
	}
	var object struct {
		Ref        string           `json:"$ref"`
		Properties map[string]shape `json:"properties"`
		Items      *shape           `json:"items"`
		Defs       map[string]shape `json:"$defs"`
	}
	err := json.Unmarshal(text, &object)
	s.Ref, s.Properties, s.Items, s.Defs = object.Ref, object.Properties, object.Items, object.Defs
	return err
}

// names returns the names of all fields below a shape; list is the suffix of a list's name.
func (s shape) names(root *shape, before, list string) []string {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		return root.Defs[name].names(root, before, list)
	}
	if s.Items != nil {
		return s.Items.names(root, before+list, list)
	}
	var all []string
	for name, field := range s.Properties {
		full := strings.TrimPrefix(before+"."+name, ".")
		all = append(all, full)
		all = append(all, field.names(root, full, list)...)
	}
	return all
}

func parseShape(t *testing.T, schema []byte) *shape {
	t.Helper()
	var s shape
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// TestFields: the manual lists exactly the fields of verdict.json in the schema.
func TestFields(t *testing.T) {
	s := parseShape(t, verdict.Schema())
	var fields []string
	for _, name := range s.names(s, "", "[]") {
		rest, allowed := strings.CutPrefix(name, "allowed_violations[].")
		switch {
		case name == "tool" || name == "scope" || name == "coverage":
		case allowed && !strings.HasPrefix(rest, "allowance"): // one row refers to the fields of violations
		default:
			fields = append(fields, name)
		}
	}
	sameNames(t, first(t, worked(t, "verdict.md", "fields", 50)), fields)
}

// TestKeys: the manual lists exactly the keys of a rule.
func TestKeys(t *testing.T) {
	s := parseShape(t, rules.Schema())
	sameNames(t, first(t, worked(t, "rules.md", "keys", 18)), s.Defs["rule"].names(s, "", ""))
}

// helpOf returns what a command's --help prints.
func helpOf(t *testing.T, command ...string) string {
	t.Helper()
	cmd := exec.Command(program, append(command, "--help")...)
	cmd.Env = environment(t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var (
	flagInHelp    = regexp.MustCompile(`(?m)^ +(?:-(\w), +)?--([a-z0-9-]+)`)
	commandInHelp = regexp.MustCompile(`(?m)^  ([a-z-]+(?: [a-z-]+)*)  +`)
	flagInPage    = regexp.MustCompile("(?:`-(\\w)`, )?`--([a-z0-9-]+)")
)

// leaves returns the commands in the help of a command, and their subcommands, as they are typed, without mere groups.
func leaves(t *testing.T, command ...string) []string {
	t.Helper()
	_, list, ok := strings.Cut(helpOf(t, command...), "Commands:\n")
	if !ok {
		return []string{strings.Join(command, " ")}
	}
	var all []string
	for _, m := range commandInHelp.FindAllStringSubmatch(list, -1) {
		all = append(all, leaves(t, strings.Fields(m[1])...)...)
	}
	return all
}

// TestFlags: the manual lists exactly the commands and flags of the program.
func TestFlags(t *testing.T) {
	commands := leaves(t)
	sections := map[string]string{}
	var documented []string
	for _, section := range strings.Split(read(t, "cli.md"), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		if name, ok := strings.CutPrefix(heading, "`policyscan "); ok {
			// A section may be about all agents.
			for _, agent := range []string{"claude-code", "codex", "gemini", "copilot", "cursor"} {
				one := strings.Replace(strings.TrimSuffix(name, "`"), "AGENT", agent, 1)
				if sections[one] == "" {
					documented = append(documented, one)
					sections[one] = text
				}
			}
		}
	}
	sameNames(t, documented, commands)
	if len(commands) < 5 {
		t.Fatalf("the commands are %q", commands)
	}
	all, help := 0, ""
	for _, command := range commands {
		var program, manual []string
		text := helpOf(t, strings.Fields(command)...)
		help += text
		for _, m := range flagInHelp.FindAllStringSubmatch(text, -1) {
			if m[2] != "help" && m[2] != "version" {
				program = append(program, m[1]+"--"+m[2])
			}
		}
		for _, row := range tables(sections[command], "flags") {
			m := flagInPage.FindStringSubmatch(row[0])
			if m == nil {
				t.Fatalf("%s: %s is no flag", command, row[0])
			}
			manual = append(manual, m[1]+"--"+m[2])
		}
		all += len(program)
		t.Run(command, func(t *testing.T) { sameNames(t, manual, program) })
	}
	if all < 12 {
		t.Errorf("%d flags were compared", all)
	}
	for _, page := range []string{"cli.md", "rules.md", "matching.md", "verdict.md", "scopes.md", "tutorial.md", "troubleshooting.md", "editors.md", "README.md", "../README.md"} {
		for _, m := range regexp.MustCompile("`--([a-z0-9-]+)").FindAllStringSubmatch(read(t, page), -1) {
			// A page misspells one; others are of docker and git.
			known := strings.Contains(help, "--"+m[1]) || slices.Contains([]string{"polcy", "user", "filter"}, m[1])
			if !known {
				t.Errorf("%s: --%s is no flag", page, m[1])
			}
		}
	}
}

// TestFault_136_Hooks: the manual lists every hook of .pre-commit-hooks.yaml with its stages; a commit cannot bypass
// any of them, and none leaves files behind.
func TestFault_136_Hooks(t *testing.T) {
	var hooks []struct {
		ID, Entry, Language, Files string
		Stages, Types, Args        []string
		PassFilenames              *bool  `yaml:"pass_filenames"`
		AlwaysRun                  bool   `yaml:"always_run"`
		RequireSerial              bool   `yaml:"require_serial"`
		Minimum                    string `yaml:"minimum_pre_commit_version"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../.pre-commit-hooks.yaml")), &hooks); err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, row := range worked(t, "pre-commit.md", "hooks", 5) {
		rows[unquoted(t, row[0])] = row[1]
	}
	if len(rows) != len(hooks) {
		t.Errorf("%d hooks, and %d in the manual", len(hooks), len(rows))
	}
	for _, h := range hooks {
		if want := "`" + strings.Join(h.Stages, "`, `") + "`"; rows[h.ID] != want {
			t.Errorf("%s: the stages are %s; in the manual %s", h.ID, want, rows[h.ID])
		}
		if h.PassFilenames == nil || *h.PassFilenames || !h.RequireSerial || h.Types != nil || h.Minimum != "3.2.0" {
			t.Errorf("%s: %+v", h.ID, h)
		}
		words := strings.Fields(h.Entry)
		scan := words[1] == "scan"
		if h.AlwaysRun != scan || scan != strings.HasSuffix(h.Entry, " --output none") || scan == (h.Files != "") {
			t.Errorf("%s: %+v", h.ID, h)
		}
		// No files to check, and no CI that names a change.
		cmd := exec.Command(program, words[1:]...)
		cmd.Dir = t.TempDir()
		cmd.Env = environment(cmd.Dir)
		out, _ := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); words[0] != "policyscan" || status != 2 || strings.Contains(string(out), "see policyscan "+words[1]) {
			t.Errorf("%s: %s: exit status %d\n%s", h.ID, h.Entry, status, out)
		}
		if entries, err := os.ReadDir(cmd.Dir); err != nil || len(entries) > 0 {
			t.Errorf("%s left %v, %v", h.ID, entries, err)
		}
	}
}

// TestEnvironment: each flag except --help and --version has a variable.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		variable string
		known    bool
	}{
		{"POLICYSCAN_MAX_FILE_BYTES", true},
		{"POLICYSCAN_JSON", true},
		{"POLICYSCAN_HELP", false},
		{"POLICYSCAN_VERSION", false},
		{"POLICYSCAN_PATH", false},
	} {
		cmd := exec.Command(program, "schema", "policy")
		cmd.Env = append(environment(t.TempDir()), c.variable+"=1")
		if err := cmd.Run(); (err == nil) != c.known {
			t.Errorf("%s: %v", c.variable, err)
		}
	}
}

// TestBundles: the manual's rule files load, or do not if it says so.
func TestBundles(t *testing.T) {
	loaded, refused := 0, 0
	for _, page := range pages {
		for _, b := range blocks(t, page) {
			is02 := b.text[0] == `bundle: "0.2"`
			if _, calls := b.notes["dialect"]; calls || b.lang != "yaml" || b.text[0] != "rules:" && !is02 {
				continue
			}
			const other = "rules:\n  - {id: THE-OTHER, title: t, enforcement: {mode: fail}, match: {files: [a/b], %s: [x]}}\n"
			files := rules.Files{
				rules.BoundariesFile: []byte(fmt.Sprintf(other, "forbidden_patterns")),
				rules.InvariantsFile: []byte(b.body()),
			}
			if !strings.Contains(b.body(), "required_absent:") {
				files = rules.Files{
					rules.BoundariesFile: []byte(b.body()),
					rules.InvariantsFile: []byte(fmt.Sprintf(other, "required_absent")),
				}
			}
			if is02 {
				files = rules.Files{rules.BoundariesFile: []byte(b.body())}
				name := ""
				switch {
				case strings.HasPrefix(b.text[1], "type: "):
					name = "rules/other.yml"
				case b.text[1] == "allowances:":
					name = rules.AllowancesFile
				}
				if name != "" {
					files = rules.Files{
						rules.BoundariesFile: []byte("bundle: \"0.2\"\n" + fmt.Sprintf(other, "forbidden_patterns")),
						name:                 []byte(b.body()),
					}
				}
			}
			_, err := rules.Load(files)
			if _, bad := b.notes["refused"]; bad {
				refused++
				if err == nil {
					t.Errorf("%s: it loads", b.place())
				}
				continue
			}
			loaded++
			if err != nil {
				t.Errorf("%s: %v", b.place(), err)
			}
		}
	}
	if loaded < 5 || refused < 2 {
		t.Errorf("%d rule files loaded, %d were refused", loaded, refused)
	}
}

// TestBlocks: all blocks of the manual are of known kinds.
func TestBlocks(t *testing.T) {
	understood := 0
	for _, page := range pages {
		for _, b := range blocks(t, page) {
			switch b.lang {
			case "json":
				if !json.Valid([]byte(b.body())) {
					t.Errorf("%s: not JSON", b.place())
				}
			case "sh":
				for _, line := range b.text {
					args, ok := strings.CutPrefix(line, "go run ./cmd/policyscan ")
					if !ok {
						continue
					}
					args, _, _ = strings.Cut(args, " #")
					cmd := exec.Command(program, strings.Fields(args)...)
					cmd.Dir = storyDir(t)
					cmd.Env = environment(cmd.Dir)
					out, _ := cmd.CombinedOutput()
					if status := cmd.ProcessState.ExitCode(); status != 0 && status != 1 {
						t.Errorf("%s: %s: exit status %d\n%s", b.place(), line, status, out)
					}
					understood++
				}
			case "console", "yaml", "":
			default:
				t.Errorf("%s: a block of kind %q is not tested", b.place(), b.lang)
			}
		}
	}
	if understood < 1 {
		t.Error("no go run was met")
	}
}

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// anchorsOf returns the anchors that GitHub gives the headings of a page.
func anchorsOf(text string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				b.WriteRune(r)
			}
		}
		list = append(list, b.String())
	}
	return list
}

// deadLinks returns the broken relative links of a page, and the number of all.
func deadLinks(page, text string) (dead []string, all int) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, "://") {
			continue
		}
		all++
		to, name := text, page
		if target != "" {
			name = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
			b, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				dead = append(dead, m[1])
				continue
			}
			to = string(b)
		}
		if anchor != "" && !slices.Contains(anchorsOf(to), anchor) {
			dead = append(dead, m[1])
		}
	}
	return dead, all
}

// TestLinks: each link leads to a page and a section. A link of the changelog may be to a page that has moved since.
func TestLinks(t *testing.T) {
	all, moved := 0, newPlaces(t)
	for _, page := range pages {
		dead, n := deadLinks(page, read(t, page))
		all += n
		for _, d := range dead {
			if page == "../CHANGELOG.md" && moved[d] != "" {
				continue
			}
			t.Errorf("%s: the link %s is broken", page, d)
		}
	}
	if all < 20 {
		t.Errorf("%d links were followed", all)
	}
	if dead, _ := deadLinks("cli.md", "# A\n[x](#a) [x](#b) [x](none.md) [x](cli.md#exit-status) [x](cli.md#none)"); len(dead) != 3 {
		t.Errorf("the test of links finds %q", dead)
	}
}

// TestNamedTests: the tests that the pages name exist.
func TestNamedTests(t *testing.T) {
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = true
			if row := regexp.MustCompile(`^TestFault_\d+`).FindString(m[1]); row != "" {
				there[row] = true // a page may name all tests of a row
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range pages {
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(read(t, page), -1) {
			if named++; !there[m[1]] {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
	if named < 100 {
		t.Errorf("the pages name %d tests", named)
	}
	// The rooms in architecture.md exist.
	for _, room := range regexp.MustCompile(`(?m)^((?:cmd|rules|scanner|verdict|examples)[a-z/]*/) `).FindAllStringSubmatch(read(t, "architecture.md"), -1) {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(room[1]))); err != nil {
			t.Error(err)
		}
	}
}

// TestFormats: the manual's table matches the program's.
func TestFormats(t *testing.T) {
	var program []string
	for _, f := range report.Formats() {
		program = append(program, fmt.Sprintf("`%s`: %s", f.Name, f.About))
	}
	var manual []string
	for _, row := range tables(read(t, "reports.md"), "formats") {
		manual = append(manual, row[0]+": "+row[1])
	}
	if !slices.Equal(manual, program) {
		t.Errorf("the manual has\n%s\nthe program has\n%s", strings.Join(manual, "\n"), strings.Join(program, "\n"))
	}
}
