package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamplesReadme holds the table of examples/README.md, and the numbers beside it,
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
		if x.Evidence.Excerpt == "" || !strings.Contains(x.Evidence.Excerpt, x.Evidence.Pattern) || x.Reason == "" {
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
