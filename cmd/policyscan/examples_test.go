package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/protocol"
)

// TestExamplesReadme holds the table of examples/README.md, and the numbers next to it,
// against the real verdict.
func TestExamplesReadme(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p := program{t: t, dir: t.TempDir()}
	bundle := filepath.Join(root, "examples/policy")
	p.run("--policy", bundle, filepath.Join(root, "examples/infra-target")).want(t, exitViolation)
	v := p.verdict()
	text, err := os.ReadFile(filepath.Join(root, "examples/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)

	severity := map[string]string{}
	for _, r := range v.Rules {
		severity[r.ID] = r.Severity
	}
	var want []string
	broken, kinds := map[string]bool{}, map[string]bool{}
	for _, x := range v.Violations {
		want = append(want, fmt.Sprintf("| %s | %s | `%s` | `%s` |", x.RuleID, severity[x.RuleID], x.File, x.Evidence.Pattern))
		broken[x.RuleID] = true
		kinds[x.RuleID[:strings.Index(x.RuleID, "-")]+"/"+strings.Split(x.File, "/")[0]] = true
		literal := !strings.HasPrefix(x.Evidence.Pattern, "{") // a literal without options
		if x.Evidence.Excerpt == "" || literal && !strings.Contains(x.Evidence.Excerpt, x.Evidence.Pattern) || x.Reason == "" {
			t.Errorf("no evidence: %+v", x)
		}
	}
	got := regexp.MustCompile(`(?m)^\| [A-Z][A-Z0-9-]+ \| .*\|$`).FindAllString(readme, -1)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("examples/README.md has\n%s\n\nbut the verdict is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, number := range []string{
		fmt.Sprintf("%d violations of %d rules", len(v.Violations), len(broken)),
		fmt.Sprintf("%d boundaries, %d invariants, %d retired rules", v.Policy[0].Boundaries, v.Policy[0].Invariants, v.Policy[0].Deprecated),
	} {
		if !strings.Contains(readme, number) {
			t.Errorf("examples/README.md does not say %q", number)
		}
	}
	// The addendum's completion test.
	if !kinds["TF/terraform"] || !kinds["K8S/k8s"] {
		t.Errorf("no Terraform or no Kubernetes rule is broken: %v", kinds)
	}
	if v.Policy[0].Boundaries < 12 || v.Policy[0].Invariants < 8 || v.Policy[0].Deprecated < 1 {
		t.Errorf("the example bundle is small: %+v", v.Policy)
	}
}

// TestExamplesReadmeCommands: the commands that the page shows are real ones.
func TestExamplesReadmeCommands(t *testing.T) {
	text, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^go run \./cmd/policyscan ([^#\n]*)`).FindAllStringSubmatch(string(text), -1)
	if len(commands) < 3 {
		t.Fatalf("%d commands", len(commands))
	}
	p := program{t: t, dir: t.TempDir()}
	if err := os.CopyFS(filepath.Join(p.dir, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	for i, c := range commands {
		want := exitPass
		if i == 0 {
			want = exitViolation
		}
		if e := p.run(strings.Fields(c[1])...); e.status != want {
			t.Errorf("%s: status %d, want %d\n%s", c[0], e.status, want, e.err)
		}
	}
}

// TestAgentDemo runs examples/agent/demo.sh, in a copy of the examples at another place, and checks what it prints against
// examples/agent/demo.txt, which -update writes again.
func TestAgentDemo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: demo.sh is for a POSIX shell")
	}
	for _, tool := range []string{"sh", "sed", "awk", "fold", "paste", "mktemp"} {
		needs(t, tool)
	}
	here, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	examples, scratch := filepath.Join(dir, "another place"), filepath.Join(dir, "scratch")
	if err := os.CopyFS(examples, os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(scratch, 0o777); err != nil {
		t.Fatal(err)
	}
	// The program comes from the PATH, and then from POLICYSCAN.
	file, err := exec.LookPath("policyscan")
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "policyscan")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(here, "agent/demo.txt")
	for _, env := range [][]string{nil, {"POLICYSCAN=" + link}} {
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(examples, "agent/demo.sh"))
		cmd.Dir = dir
		cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + scratch, "LC_ALL=C"}, inherited(), env)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil || said.Len() > 0 {
			t.Fatalf("%v\n%s%s", err, out.String(), said.String())
		}
		if *update {
			if err := os.WriteFile(golden, out.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), out.String()); d != "" {
			t.Errorf("%v: examples/agent/demo.txt (-) and what demo.sh prints (+) differ:\n%s", env, d)
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind: %v", left, err)
	}
	if d := cmp.Diff(filesOf(t, here), filesOf(t, examples)); d != "" && !*update {
		t.Errorf("it changes the examples:\n%s", d)
	}
}

// filesOf returns the files under a directory with their contents.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestClaudeCubeDefaults: ClaudeCube's own rules decide the scenarios next to them as expected and for the expected
// reason. They include every call that docs/dialects.md lists as allowed.
func TestClaudeCubeDefaults(t *testing.T) {
	const calls, scenarios = "../../examples/agent/dialects/claudecube-defaults.yaml", "../../examples/agent/dialects/claudecube-defaults.jsonl"
	p := program{t: t}
	e := p.run("test", "--calls", calls, "--scenarios", scenarios)
	text, err := os.ReadFile(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if e.status != exitPass || !strings.Contains(e.out, fmt.Sprintf("%d scenarios, 0 wrong", len(lines))) {
		t.Errorf("status %d\n%s%s", e.status, e.out, e.err)
	}
	let := map[string]string{}
	for _, line := range lines {
		var s struct {
			Input       map[string]string
			Decision    string `json:"expected_decision"`
			Description string
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		word, _, _ := strings.Cut(s.Description, ":")
		if want := map[string]string{"stopped": "deny", "not denied": "escalate", "allowed": "allow", "no rule is about it": "escalate"}[word]; want != s.Decision {
			t.Errorf("%s: %q is no description of %q", line, s.Description, s.Decision)
		}
		for _, value := range s.Input {
			let[value] = s.Decision
		}
	}
	page, err := os.ReadFile("../../docs/dialects.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "The rules that the document ships with let through")
	list, _, _ = strings.Cut(list, "They are in")
	named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1)
	for _, m := range named {
		begin, end, _ := strings.Cut(m[1], "…")
		found := false
		for value, decision := range let {
			found = found || decision != "deny" && strings.Contains(value, begin) && strings.HasSuffix(value, end)
		}
		if !found {
			t.Errorf("docs/dialects.md: no scenario lets %q through", m[1])
		}
	}
	if len(named) < 6 || len(lines) < 20 {
		t.Errorf("only %d calls in docs/dialects.md, %d scenarios", len(named), len(lines))
	}
}

// TestAgentDemoIsWhole: each agent has calls, demo.sh plays each of them, and each dialect has its file.
func TestAgentDemoIsWhole(t *testing.T) {
	text, err := os.ReadFile("../../examples/agent/demo.sh")
	if err != nil {
		t.Fatal(err)
	}
	played := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^play (\S+) (\S+) `).FindAllStringSubmatch(string(text), -1) {
		played[m[1]+"/"+m[2]+".json"]++
	}
	for _, a := range protocol.Agents() {
		calls, err := filepath.Glob("../../examples/agent/calls/" + a.Name + "/*")
		if err != nil || len(calls) < 2 {
			t.Errorf("%s has %d calls: %v", a.Name, len(calls), err)
		}
		for _, file := range calls {
			call, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Read(call); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			name := a.Name + "/" + filepath.Base(file)
			if played[name] != 1 {
				t.Errorf("demo.sh plays %s %d times", name, played[name])
			}
			delete(played, name)
		}
	}
	if len(played) > 0 {
		t.Errorf("demo.sh plays %v, which are no files", played)
	}
	files := append([]string{"calls.yml"}, strings.Fields(regexp.MustCompile(`dialects/[^;\n]*`).FindString(string(text)))...)
	var dialects []string
	for _, file := range files {
		set, err := dialect.Load("../../examples/agent", file, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		dialects = append(dialects, set.Dialect)
	}
	if d := cmp.Diff(dialect.Names(), dialects); d != "" {
		t.Errorf("the dialects (-) and those of the demonstration (+) differ:\n%s", d)
	}
}
