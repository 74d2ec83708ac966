// Package docs is the manual. It has no code except the tests, which run the manual.
//
// The tests use these blocks of a page:
//
//	```console   a session: each line that begins with "$ " is run by sh, lines that begin
//	             with "> " go on with it, and what follows is its output. A line that is
//	             "…" alone stands for any lines; the seconds of a report may differ.
//	```yaml      a whole rule file if it begins with "rules:", loaded as boundaries or, if
//	             it has a required_absent, as invariants
//	```json      a JSON text
//	```sh        for the reader: each "go run ./cmd/policyscan" in it must be understood
//
// The sessions of a page run in one shell, in a directory with a .git and a copy of examples: each begins in the
// directory where the last one ended. A line before a block, "<!-- file: NAME -->", writes the block there;
// "<!-- file: NAME; refused -->" marks a rule file that does not load. A line "<!-- worked: KIND -->" marks a table
// whose rows are recomputed.
//
// go test ./docs -update updates the output of sessions without a "…" line, and the README's picture.
package docs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

var (
	update = flag.Bool("update", false, "write the output of sessions without a … line again")
	long   = flag.Bool("long", false, "do all of the tests that otherwise do a part")
)

// pages are the manual's pages, relative to docs.
var pages = []string{
	"../CHANGELOG.md", "../CONTRIBUTING.md", "../README.md", "../SECURITY.md", "../examples/README.md",
	"../examples/agent/README.md", "../lab/results/comparison.md", "../lab/results/fleets.md", "../lab/results/performance.md",
	"../lab/results/policies.md", "../lab/results/reliability.md", "../lab/results/sigmashake.md", "README.md", "adopting.md", "agents.md",
	"architecture.md", "ci.md", "cli.md", "cookbook.md", "decisions.md",
	"dialects.md", "editors.md",
	"fleets.md", "git-server.md", "install.md", "keys.md",
	"limits.md", "matching.md", "pre-commit.md", "reports.md", "results.md",
	"rules.md", "scopes.md", "troubleshooting.md", "tutorial.md", "verdict.md",
}

// program is the path of policyscan, built once.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "policyscan-docs")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "policyscan")
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", program, "../cmd/policyscan")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// A block is a fenced block of a page.
type block struct {
	page  string
	line  int // 1-based, of the opening fence
	lang  string
	notes map[string]string // from the line before it: "file", "refused", "worked"
	text  []string
}

func (b *block) place() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

func (b *block) body() string { return strings.Join(b.text, "\n") + "\n" }

// directive is the comment before a block or table.
var directive = regexp.MustCompile(`^<!-- (.*) -->$`)

func notesOf(line string) map[string]string {
	m := directive.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	notes := map[string]string{}
	for _, part := range strings.Split(m[1], "; ") {
		name, value, _ := strings.Cut(part, ": ")
		notes[name] = value
	}
	return notes
}

// blocksOf returns the fenced blocks of a page's text. An unclosed one is an error.
func blocksOf(page, text string) ([]block, error) {
	var blocks []block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		lang, ok := strings.CutPrefix(lines[i], "```")
		if !ok {
			continue
		}
		b := block{page: page, line: i + 1, lang: lang}
		if i > 0 {
			b.notes = notesOf(lines[i-1])
		}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			b.text = append(b.text, lines[i])
		}
		if i == len(lines) {
			return nil, fmt.Errorf("%s: the block is not closed", b.place())
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func blocks(t *testing.T, page string) []block {
	t.Helper()
	list, err := blocksOf(page, read(t, page))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A command of a session, with the output on the page.
type command struct {
	line   int // 0-based, in the block
	script string
	want   []string
}

func commandsOf(b *block) ([]command, error) {
	var list []command
	for i, line := range b.text {
		if script, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, command{line: i, script: script})
			continue
		}
		if len(list) == 0 {
			return nil, fmt.Errorf(`%s: a session begins with "$ "`, b.place())
		}
		last := &list[len(list)-1]
		if more, ok := strings.CutPrefix(line, "> "); ok && len(last.want) == 0 {
			last.script += "\n" + more
		} else if line == ">" && len(last.want) == 0 {
			last.script += "\n"
		} else {
			last.want = append(last.want, line)
		}
	}
	return list, nil
}

// next separates the outputs of two commands.
const next = "\x01next\x01\n"

// session runs commands in one shell, in dir, and returns the output of each and the last working directory.
func session(home, dir string, commands []command) (outputs [][]string, end string, err error) {
	var script strings.Builder
	for _, c := range commands {
		// Keep the exit status for a following "$ echo $?".
		fmt.Fprintf(&script, "{ %s\n}; s=$?; printf '\\001next\\001\\n'; (exit $s)\n", c.script)
	}
	script.WriteString("pwd\n")
	cmd := exec.Command("sh", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = environment(home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, "", fmt.Errorf("%w\n%s", err, out)
	}
	parts := strings.Split(string(out), next)
	if len(parts) != len(commands)+1 {
		return nil, "", fmt.Errorf("%d commands gave %d outputs:\n%s", len(commands), len(parts)-1, out)
	}
	outputs = make([][]string, len(commands))
	for i := range commands {
		if text := strings.TrimSuffix(parts[i], "\n"); text != "" {
			outputs[i] = strings.Split(text, "\n")
		}
	}
	return outputs, strings.TrimSuffix(parts[len(commands)], "\n"), nil
}

// environment is the environment of the sessions.
func environment(home string) []string {
	env := []string{
		"PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C",
		// So that a commit has the hash on the page.
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "POLICYSCAN_"), strings.HasPrefix(name, "GIT_"), slices.Contains([]string{"PATH", "HOME", "LC_ALL", "GITHUB_ACTIONS", "NO_COLOR"}, name):
		default:
			env = append(env, kv)
		}
	}
	return env
}

// same reports whether an output matches the page.
func same(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "…" {
		for skip := 0; skip <= len(got); skip++ {
			if same(want[1:], got[skip:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && timeless(want[0]) == timeless(got[0]) && same(want[1:], got[1:])
}

// elapsed is the time in the last line of a report.
var elapsed = regexp.MustCompile(`, \d+\.\d\d s$`)

func timeless(line string) string { return elapsed.ReplaceAllString(line, ", N s") }

// story runs the sessions of a page and returns the differences. With rewrite, it also returns the page with the
// actual outputs.
func story(dir, page, text string) (differ []string, ran int, rewritten string, err error) {
	list, err := blocksOf(page, text)
	if err != nil {
		return nil, 0, "", err
	}
	lines := strings.Split(text, "\n")
	shift, at := 0, dir
	for i := range list {
		b := &list[i]
		if name := b.notes["file"]; name != "" {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				return nil, 0, "", err
			}
			if err := os.WriteFile(name, []byte(b.body()), 0o666); err != nil {
				return nil, 0, "", err
			}
		}
		if b.lang != "console" {
			continue
		}
		commands, err := commandsOf(b)
		if err != nil {
			return nil, 0, "", err
		}
		outputs, end, err := session(dir, at, commands)
		if err != nil {
			return nil, 0, "", fmt.Errorf("%s: %w", b.place(), err)
		}
		at = end
		for k, c := range commands {
			ran++
			if same(c.want, outputs[k]) {
				continue
			}
			differ = append(differ, fmt.Sprintf("%s: $ %s\n--- the page\n%s\n--- the program\n%s", b.place(), c.script, strings.Join(c.want, "\n"), strings.Join(outputs[k], "\n")))
			if slices.Contains(c.want, "…") {
				continue
			}
			from := b.line + c.line + 1 + strings.Count(c.script, "\n") + shift
			lines = slices.Replace(lines, from, from+len(c.want), outputs[k]...)
			shift += len(outputs[k]) - len(c.want)
		}
	}
	return differ, ran, strings.Join(lines, "\n"), nil
}

// storyDir returns a new directory for a story.
func storyDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../examples")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func needSh(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the sessions are of a Unix shell")
	}
	for _, tool := range []string{"sh", "sha256sum", "sed", "awk", "fold", "paste", "mktemp", "mkfifo", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
}

// TestSessions: the outputs in the manual are the program's.
func TestSessions(t *testing.T) {
	needSh(t)
	// With fewer, the test no longer finds the blocks.
	atLeast := map[string]int{
		"../README.md": 8, "../examples/agent/README.md": 1, "cli.md": 8, "matching.md": 6, "pre-commit.md": 8, "rules.md": 6,
		"adopting.md": 80, "cookbook.md": 7, "editors.md": 4, "troubleshooting.md": 8, "tutorial.md": 20, "verdict.md": 3,
	}
	for _, page := range pages {
		text := read(t, page)
		if atLeast[page] == 0 && !strings.Contains(text, "\n```console\n") {
			continue
		}
		if page == "../examples/agent/README.md" && !*long && !*update {
			continue // TestAgentDemo in cmd/policyscan runs the same demo.sh
		}
		t.Run(page, func(t *testing.T) {
			differ, ran, rewritten, err := story(storyDir(t), page, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differ {
				t.Error(d)
			}
			if ran < atLeast[page] {
				t.Errorf("%d commands were run; there were to be %d at least", ran, atLeast[page])
			}
			if *update && len(differ) > 0 {
				if err := os.WriteFile(page, []byte(rewritten), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestSessionsFindMistakes: the harness detects mistakes.
func TestSessionsFindMistakes(t *testing.T) {
	needSh(t)
	page := func(session string) string { return "# x\n\n```console\n" + session + "```\n" }
	for _, c := range []struct {
		name, text string
		differ     int
	}{
		{"right", page("$ echo a; echo b\na\nb\n$ false\n$ echo $?\n1\n"), 0},
		{"time", page("$ echo 'x, 0.01 s'\nx, 9.99 s\n"), 0},
		{"any lines", page("$ printf '1\\n2\\n3\\n'\n1\n…\n3\n"), 0},
		{"a line more", page("$ printf '1\\n2\\n3\\n'\n1\n…\n2\n"), 1},
		{"a line less", page("$ echo a\na\nb\n"), 1},
		{"no output", page("$ echo a\n"), 1},
		{"other output", page("$ echo a\nb\n$ echo b\nb\n"), 1},
		{"goes on in the directory", page("$ mkdir a && cd a\n") + page("$ basename \"$PWD\"\na\n"), 0},
		{"other status", page("$ policyscan schema none >/dev/null 2>&1\n$ echo $?\n0\n"), 1},
		{"no such program", page("$ policyscam\n"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			differ, ran, rewritten, err := story(storyDir(t), "page.md", c.text)
			if err != nil || ran == 0 || len(differ) != c.differ {
				t.Fatalf("%d differ (want %d), %d run, %v:\n%s", len(differ), c.differ, ran, err, strings.Join(differ, "\n"))
			}
			if strings.Contains(c.text, "…") {
				return
			}
			differ, _, _, err = story(storyDir(t), "page.md", rewritten)
			if err != nil || len(differ) != 0 {
				t.Fatalf("written again, it still differs: %v\n%s", err, strings.Join(differ, "\n"))
			}
		})
	}
	for _, bad := range []string{"```console\n$ echo\n", page("echo\n"), page("$ exit 3\n")} {
		if _, _, _, err := story(storyDir(t), "page.md", bad); err == nil {
			t.Errorf("taken: %q", bad)
		}
	}
}

// TestActionTables: the manual's tables of inputs and outputs match action.yml, in its order.
func TestActionTables(t *testing.T) {
	var doc struct{ Inputs, Outputs yaml.Node }
	if err := yaml.Unmarshal([]byte(read(t, "../action.yml")), &doc); err != nil {
		t.Fatal(err)
	}
	for kind, node := range map[string]yaml.Node{"inputs": doc.Inputs, "outputs": doc.Outputs} {
		var want [][]string
		for i := 0; i+1 < len(node.Content); i += 2 {
			var p struct{ Description, Default string }
			if err := node.Content[i+1].Decode(&p); err != nil {
				t.Fatal(err)
			}
			row := []string{"`" + node.Content[i].Value + "`", p.Description}
			if kind == "inputs" && p.Default != "" {
				row = append(row, "`"+p.Default+"`")
			} else if kind == "inputs" {
				row = append(row, "")
			}
			want = append(want, row)
		}
		got := worked(t, "ci.md", kind, 10)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: the manual has\n%q\naction.yml has\n%q", kind, got, want)
		}
	}
}
