package dialect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// The smallest file of each dialect.
const (
	nativeText    = "rules:\n  - {id: A, title: t, effect: deny, when: {fact: tool, equals: Bash}}\n"
	sigmaText     = "rule r { DENY any IF tool EQUALS \"Bash\" MESSAGE \"m\" }\n"
	evaluatorText = `{"policies": []}`
	cubeText      = "version: \"1\"\ndefaults: {}\nrules: []\n"
	clashText     = `(policy "main" (deny (exec)))`
)

// emptyFiles writes files, their names and texts one after the other.
func emptyFiles(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The name of a file tells the dialect, as the table of docs/dialects.md has it; --dialect says otherwise.
func TestWhichDialect(t *testing.T) {
	for _, c := range []struct{ name, text, dialect, want string }{
		{"a.rules", sigmaText, "", "sigmashake priority-first"},
		{"A.RULES", sigmaText, "", "sigmashake priority-first"},
		{"a.json", evaluatorText, "", "evaluator deny-overrides"},
		{"a.sexpr", clashText, "", "clash most-specific"},
		{"a.clash", clashText, "", "clash most-specific"},
		{"a.yml", cubeText, "", "claudecube category-first"},
		{"a.yaml", "\"defaults\" : {}\nversion: \"1\"\nrules: []\n", "", "claudecube category-first"},
		{"a.yml", nativeText, "", "native all-violations"},
		{"a.yaml", nativeText + "# defaults: none\n", "", "native all-violations"},
		{"a.txt", clashText, "clash", "clash most-specific"},
		{"a.yml", sigmaText, "sigmashake", "sigmashake priority-first"},
		{"a.txt", clashText, "", "its name does not say which dialect it is written in"},
		{"a.yml", cubeText, "native", "unknown key"},
		{"a.yml", nativeText, "nobody", "--dialect is \"nobody\""},
	} {
		s, err := Load(emptyFiles(t, c.name, c.text), c.name, c.dialect, nil)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = s.Dialect + " " + string(s.Strategy)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s, %q: %s, want %s", c.name, c.dialect, got, c.want)
		}
	}
	for _, d := range Dialects() {
		if d.Name == "" || d.Files == "" || d.Strategy == "" {
			t.Errorf("%+v", d)
		}
	}
}

// What is not text is a mistake in every dialect, and no reader stumbles over it.
func TestNoText(t *testing.T) {
	for _, d := range Dialects() {
		for _, text := range []string{"\xff", "\x00", "", "\xff\xfea\x00", "a: 1\x00"} {
			s, err := Read("f", []*document.Source{{Name: "f", Text: []byte(text)}}, d.Name, nil)
			var list document.Errors
			if !errors.As(err, &list) || s != nil {
				t.Errorf("%s of %q: %v, %v", d.Name, text, s, err)
			}
		}
	}
}

// "A directory of .rules files is one set, not several." "Nothing is silently ignored."
func TestFoldersWithin(t *testing.T) {
	dir := emptyFiles(t, "r/b.rules", "rule b { LOG any IF tool EQUALS \"Bash\" MESSAGE \"m\" }", "r/a.rules",
		sigmaText, "r/README.md", "no rules")
	s, err := Load(dir, "r", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if out := s.Decide(&call.Call{Tool: "Bash"}, callrules.Options{}); len(s.Rules) != 2 || out.Decision != "block" ||
		out.Rule.Origin.File != "r/a.rules" {
		t.Errorf("%d rules, %s by %+v", len(s.Rules), out.Decision, out.Rule)
	}
	for _, c := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"without a rule file", []string{"r/a.yml", nativeText}, []string{"the folder has no .rules file"}},
		{"a mistake in each of two", []string{"r/a.rules", "x", "r/b.rules", "y"},
			[]string{"r/a.rules:1", "r/b.rules:1"}},
		{"two that are no text", []string{"r/a.rules", "\xff", "r/b.rules", "y", "r/c.rules", "\xff"},
			[]string{"r/a.rules:1", "r/b.rules:1", "r/c.rules:1"}},
		{"rules in a folder of it", []string{"r/a.rules", sigmaText, "r/more/deep/c.rules", sigmaText},
			[]string{"r/more/deep/c.rules: is in a folder within r"}},
		{"rules in folders of it alone", []string{"r/one/c.rules", sigmaText, "r/two/c.rules", sigmaText},
			[]string{"r/one/c.rules: ", "r/two/c.rules: "}},
		{"a name in capital letters", []string{"r/a.rules", "rule x { LOG any IF tool EQUALS \"X\" MESSAGE \"m\" }",
			"r/B.RULES", "y"}, []string{"r/B.RULES:1"}},
	} {
		_, err := Load(emptyFiles(t, c.files...), "r", "", nil)
		var list document.Errors
		if !errors.As(err, &list) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.name, err, want)
			}
		}
	}
	if _, err := Load(emptyFiles(t, "r/a.rules", sigmaText, "r/b.rules", sigmaText), "r", "clash", nil); err == nil ||
		!strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder of another dialect: %v", err)
	}
}

// TestSigmashake: what is written for sigmashake is known by the flag, the name or a directory, even if it cannot be
// read.
func TestSigmashake(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, dialect string
		want          bool
	}{
		{"a.rules", "", true}, {"A.RULES", "", true}, {"a.yml", "", false}, {dir, "", true}, {dir, "native", true},
		{"a.yml", "sigmashake", true}, {"a.rules", "native", false},
	} {
		if got := (Files{Names: []string{"b.json", c.name}, Dialect: c.dialect}).Sigmashake(); got != c.want {
			t.Errorf("%s in %q: %v", c.name, c.dialect, got)
		}
	}
}
