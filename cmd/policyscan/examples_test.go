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
	broken, kinds, files, places := map[string]bool{}, map[string]bool{}, map[string]bool{}, int64(0)
	for _, x := range v.Violations {
		files[x.File], places = true, places+x.PlaceCount
		want = append(want, fmt.Sprintf("| %s | %s | `%s` | `%s` |", x.RuleID, severity[x.RuleID], x.File,
			x.Evidence.Pattern))
		broken[x.RuleID] = true
		kinds[x.RuleID[:strings.Index(x.RuleID, "-")]+"/"+strings.Split(x.File, "/")[0]] = true
		literal := !strings.HasPrefix(x.Evidence.Pattern, "{") // a literal without options
		if x.Evidence.Excerpt == "" || literal && !strings.Contains(x.Evidence.Excerpt, x.Evidence.Pattern) ||
			x.Reason == "" {
			t.Errorf("no evidence: %+v", x)
		}
	}
	got := regexp.MustCompile(`(?m)^\| [A-Z][A-Z0-9-]+ \| .*\|$`).FindAllString(readme, -1)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("examples/README.md has\n%s\n\nbut the verdict is\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	for _, number := range []string{
		fmt.Sprintf("%d places in %d files break %d rules", places, len(files), len(broken)),
		fmt.Sprintf("%d boundaries, %d invariants, %d retired rules", v.Policy[0].Boundaries, v.Policy[0].Invariants,
			v.Policy[0].Deprecated),
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

// TestAgentDemo runs examples/agent/demo.sh, in a copy of the examples at another place, and checks what it prints
// against examples/agent/demo.txt, which -update writes again.
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
		if env == nil && !*long {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(examples, "agent/demo.sh"))
		cmd.Dir = dir
		cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + scratch, "LC_ALL=C"},
			inherited(), env)
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

// TestClaudePlugin: the plugin's hooks are what would be installed, and its server is a command of this program.
func TestClaudePlugin(t *testing.T) {
	const dir = "../../examples/agent/claude-plugin/"
	p := newProgram(t)
	_, want, _ := strings.Cut(p.run("hook", "install", "claude-code", "--print").want(t, exitPass).out, "\n")
	if d := cmp.Diff(want, readFile(t, dir+"hooks/hooks.json")); d != "" {
		t.Errorf("hook install (-) and the plugin (+) differ:\n%s", d)
	}
	var manifest struct{ Name, Description, License string }
	var servers map[string]struct {
		Command             string
		Args                []string
		ExtensionToLanguage map[string]string
	}
	for name, into := range map[string]any{".claude-plugin/plugin.json": &manifest, ".lsp.json": &servers} {
		if err := json.Unmarshal([]byte(readFile(t, dir+name)), into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	server := servers["policyscan"]
	if manifest.Name != "policyscan" || manifest.Description == "" || manifest.License == "" || len(servers) != 1 ||
		server.Command != "policyscan" || server.ExtensionToLanguage[".tf"] != "terraform" {
		t.Errorf("the plugin is %+v, its servers %+v", manifest, servers)
	}
	p.run(append([]string{"help"}, server.Args...)...).want(t, exitPass)
}
