package runners

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
)

const (
	actionlint      = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
	actionValidator = "0.6.0"
)

// workflows are those of this repository.
func workflows(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), ".github/workflows/*.yml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%q, %v", files, err)
	}
	return files
}

// TestActionlint: actionlint has nothing to say about the workflows, and about those of the
// manual. It knows the inputs of action.yml, too.
func TestActionlint(t *testing.T) {
	needConformance(t)
	lint := install.Go(t, actionlint)
	must(t, root(t), lint, append([]string{"-no-color"}, workflows(t)...)...)
	for _, text := range pageBlocks(t, "ci.md", "on:") {
		dir := t.TempDir()
		must(t, dir, "git", "init", "-q")
		// So that its inputs and outputs are looked at.
		text = strings.ReplaceAll(text, "policyscan/policyscan@"+placeholder, "./action")
		write(t, filepath.Join(dir, "action/action.yml"), read(t, filepath.Join(root(t), "action.yml")))
		file := filepath.Join(dir, ".github/workflows/w.yml")
		write(t, file, text)
		must(t, dir, lint, "-no-color", file)
		if !strings.Contains(text, "./action\n") {
			continue
		}
		// It finds what is wrong.
		write(t, file, strings.ReplaceAll(text, "./action\n", "./action\n        with: {polcy: x}\n"))
		if out := failing(t, dir, lint, "-no-color", file); !strings.Contains(out, "polcy") && !strings.Contains(out, "duplicate") {
			t.Errorf("actionlint accepts an unknown input:\n%s\n%s", out, text)
		}
	}
}

// TestActionValidator: action.yml and the workflows are what the schemas at
// json.schemastore.org say.
func TestActionValidator(t *testing.T) {
	needConformance(t)
	validator := filepath.Join(install.NPM(t,
		"@action-validator/core@"+actionValidator, "@action-validator/cli@"+actionValidator), ".bin/action-validator")
	for _, file := range append(workflows(t), "action.yml") {
		if filepath.Base(file) == "release.yml" {
			continue // the schema in it is older than the permission "attestations"; actionlint knows that
		}
		must(t, root(t), validator, file)
	}
	bad := filepath.Join(t.TempDir(), "action.yml")
	write(t, bad, strings.ReplaceAll(read(t, filepath.Join(root(t), "action.yml")), "using: composite", "using: compost"))
	failing(t, root(t), validator, bad)
}

// placeholder is in the manual for the commit of the action.
const placeholder = "<commit>"

// pageBlocks returns the yaml blocks of a page that begin with a text.
func pageBlocks(t *testing.T, page, begins string) []string {
	t.Helper()
	var all []string
	for _, part := range strings.Split(read(t, filepath.Join(root(t), "docs", page)), "\n```yaml\n")[1:] {
		text, _, ok := strings.Cut(part, "\n```")
		if ok && strings.HasPrefix(text, begins) {
			all = append(all, text+"\n")
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no block that begins with %q", page, begins)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
