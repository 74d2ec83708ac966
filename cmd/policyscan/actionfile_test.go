package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/policyscan/policyscan/scanner/action"
)

// metadata is as much of action.yml as the tests need.
type metadata struct {
	Inputs, Outputs []parameter
	steps           []map[string]any
	text            string
}

// A parameter is an input or an output.
type parameter struct {
	name                        string
	Description, Default, Value string
}

// parameters are those of a mapping, in its order.
func parameters(t testing.TB, node yaml.Node) []parameter {
	t.Helper()
	var all []parameter
	for i := 0; i < len(node.Content); i += 2 {
		p := parameter{name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func actionFile(t testing.TB) metadata {
	t.Helper()
	m := metadata{text: readFile(t, "../../action.yml")}
	var doc struct {
		Inputs, Outputs yaml.Node
		Runs            struct {
			Using string
			Steps []map[string]any
		}
	}
	if err := yaml.Unmarshal([]byte(m.text), &doc); err != nil {
		t.Fatal(err)
	}
	m.Inputs, m.Outputs = parameters(t, doc.Inputs), parameters(t, doc.Outputs)
	m.steps = doc.Runs.Steps
	if doc.Runs.Using != "composite" || len(m.Inputs) < 10 || len(m.steps) < 2 {
		t.Fatalf("action.yml is of another kind: %+v", m)
	}
	return m
}

// TestFault_135_ActionFile: action.yml passes each input, only as a variable, and each output.
func TestFault_135_ActionFile(t *testing.T) {
	m := actionFile(t)
	var outputs, inputs []string
	for _, o := range m.Outputs {
		outputs = append(outputs, o.name)
		if want := "${{ steps.scan.outputs." + o.name + " }}"; o.Value != want || o.Description == "" {
			t.Errorf("the output %s is %q, want %q", o.name, o.Value, want)
		}
	}
	file := filepath.Join(t.TempDir(), "outputs")
	writeFile(t, file, "")
	env := map[string]string{"INPUT_ANNOTATIONS": "false", "INPUT_SUMMARY": "false", "GITHUB_OUTPUT": file}
	step := action.NewStep(action.Step{Getenv: func(name string) string { return env[name] }, Status: exitStatus})
	if err := step.Failed(errors.New("broken"), io.Discard); err == nil || err.Error() != "broken" {
		t.Fatal(err)
	}
	var written []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+)<<policyscan_`).FindAllStringSubmatch(readFile(t, file), -1) {
		written = append(written, m[1])
	}
	if !slices.Equal(outputs, written) {
		t.Errorf("action.yml has the outputs %q, the program writes %q", outputs, written)
	}
	for _, in := range m.Inputs {
		inputs = append(inputs, in.name)
	}
	var handed []string
	for _, s := range m.steps {
		if uses, ok := s["uses"].(string); ok {
			if !regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`).MatchString(uses) ||
				!regexp.MustCompile(regexp.QuoteMeta(uses)+` # v\d+\.\d+\.\d+\n`).MatchString(m.text) {
				t.Errorf("%s is not pinned, with its version next to it", uses)
			}
			with, _ := s["with"].(map[string]any)
			for _, value := range with {
				if m := regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+)`).FindStringSubmatch(fmt.Sprint(value)); m != nil {
					handed = append(handed, m[1])
				}
			}
			continue
		}
		if run := fmt.Sprint(s["run"]); strings.Contains(run, "${{") ||
			strings.Count(strings.TrimSpace(run), "\n") > 0 {
			t.Errorf("a script takes an expression, or is more than a line: %s", run)
		}
		env, _ := s["env"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(env)) {
			value := fmt.Sprint(env[name])
			from, ok := strings.CutPrefix(value, "${{ inputs.")
			if !ok {
				continue
			}
			from = strings.TrimSuffix(from, " }}")
			handed = append(handed, from)
			if want := "INPUT_" + strings.ToUpper(strings.ReplaceAll(from, "-", "_")); name != want {
				t.Errorf("the input %s is handed on as %s, not %s", from, name, want)
			}
		}
	}
	slices.Sort(inputs)
	slices.Sort(handed)
	if handed = slices.Compact(handed); !slices.Equal(inputs, handed) {
		t.Errorf("action.yml has the inputs %q, and passes on %q", inputs, handed)
	}
	// Each is read: by the program, or by the script that installs it.
	source := readFile(t, "../../scanner/action/runner.go") + readFile(t, "../../scanner/action/step.go") +
		readFile(t, "../../.github/action/install.sh")
	for _, name := range inputs {
		if name == "policy-token" { // only the checkout has it
			continue
		}
		if !strings.Contains(source, `"`+name+`"`) && !strings.Contains(source, "INPUT_"+strings.ToUpper(name)) {
			t.Errorf("nothing reads the input %s", name)
		}
	}
	// The Go version that builds is the one in go.mod.
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "../../go.mod"))
	if version == nil || !strings.Contains(m.text, "go-version: '"+version[1]+".x'") {
		t.Errorf("action.yml does not set up Go %v", version)
	}
}

// TestActionPolicyRef: rules of another repository are only taken from the full hash of a commit; what else is given is
// refused before anything is checked out, and is not printed.
func TestActionPolicyRef(t *testing.T) {
	needs(t, "bash")
	for ref, good := range map[string]bool{
		zeros: true, "": false, "main": false, "v1.2.3": false, zeros[:12]: false, zeros + "0": false,
		strings.Repeat("A", 40): false, zeros + "\n::error::x": false, "refs/heads/" + zeros[:29]: false,
	} {
		temp := t.TempDir()
		file := filepath.Join(temp, "outputs")
		writeFile(t, file, "")
		cmd := exec.Command("bash", "../../.github/action/install.sh")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + file, "INPUT_INSTALL=none",
			"INPUT_VERSION=", "INPUT_POLICY_REPOSITORY=o/policy", "INPUT_POLICY_REF=" + ref}
		out, err := cmd.CombinedOutput()
		refused := strings.HasPrefix(string(out), "::error title=policyscan::with policy-repository the input policy-ref must be")
		if err == nil || refused == good || strings.Contains(string(out), "error::x") || readFile(t, file) != "" {
			t.Errorf("policy-ref %q: %v\n%s", ref, err, out)
		}
	}
}

// TestOwnRules: this repository follows the rules that its own CI holds it to.
func TestOwnRules(t *testing.T) {
	needs(t, "git")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("git", "-C", root, "rev-parse", "--git-dir").Run(); err != nil {
		t.Skip("SKIPPED: this is no clone")
	}
	p := program{t: t, dir: root}
	p.run("test", ".github/policyscan").want(t, exitPass)
	p.run("scan", "--policy", ".github/policyscan", "--tracked", "--require-governed", "--output", "none").want(t,
		exitPass)
}
