package dialect

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// texts are a file in each dialect.
func texts() map[string]string {
	return map[string]string{
		"native":     "rules:\n  - {id: A, title: t, effect: deny, when: {fact: tool, equals: Bash}}\n",
		"sigmashake": "rule a { DENY any IF tool EQUALS \"Bash\" MESSAGE \"m\" }\n",
		"evaluator": `{"policies": [{"policyId": "5b3c1f0e-6d0a-4f57-9a5e-2f1f6c1d7a10", "policyVersion": 1,
			"document": {
			"apiVersion": "agent-governance.io/v1", "kind": "Policy", "metadata": {"name": "n"},
			"spec": {"defaultEffect": "allow", "rules": [{"id": "a", "effect": "deny",
			"conditions": [{"field": "tool_name", "operator": "eq", "value": "Bash"}]}]}}}]}`,
		"claudecube": "version: \"1\"\ndefaults: {}\nrules:\n  - {name: a, action: deny, tool: Bash}\n",
		"clash":      "(default deny \"main\")\n(policy \"main\" (deny (exec \"rm\" *)))\n",
	}
}

// directory is a directory of files, by their paths.
func tempDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeIn(t, dir, name, text)
	}
	return dir
}

// TestTable: each dialect has its own name, strategy and files, and reads its language.
func TestTable(t *testing.T) {
	strategies := map[callrules.Strategy]bool{}
	for _, d := range Dialects() {
		text, ok := texts()[d.Name]
		if !ok {
			t.Errorf("%s: no text in it is tested", d.Name)
			continue
		}
		set, err := Read("the file", []*document.Source{{Name: "the file", Text: []byte(text)}}, d.Name, nil)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		if set.Dialect != d.Name || set.Strategy != d.Strategy || len(set.Rules) != 1 || d.Files == "" {
			t.Errorf("%s: read as %s, by %s instead of %s, %d rules", d.Name, set.Dialect, set.Strategy, d.Strategy,
				len(set.Rules))
		}
		if out := set.Decide(&call.Call{Tool: "Bash",
			Input: call.NewObject(call.Member{Name: "command", Value: call.Text("rm x")})},
			callrules.Options{}); out.Effect != callrules.Deny {
			t.Errorf("%s: the call is not denied: %v", d.Name, out.Effect)
		}
		strategies[d.Strategy] = true
	}
	if len(strategies) != len(texts()) {
		t.Errorf("%d strategies", len(strategies))
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(texts())), slices.Sorted(slices.Values(Names()))); d != "" {
		t.Error(d)
	}
}

// TestDetect: the name of a file tells what it is written in, and for YAML what is in it.
func TestDetect(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.rules", "", "sigmashake"},
		{"dir/A.RULES", "", "sigmashake"},
		{"a.json", "", "evaluator"},
		{"a.policy", "", "clash"},
		{"A.POLICY", "", "clash"},
		{"a.sexpr", "", "clash"},
		{"a.clash", "", "clash"},
		{"a.yml", "rules: []\n", "native"},
		{"a.yaml", "rules: []\n", "native"},
		{"a.YML", "rules: []\n", "native"},
		{"a.yml", "version: \"1\"\ndefaults: {}\nrules: []\n", "claudecube"},
		{"a.yaml", "version: \"1\"\r\ndefaults:\r\n  unmatched: deny\r\n", "claudecube"},
		{"a.yml", "\"defaults\": {}\n", "claudecube"},
		{"a.yml", "'defaults' : {}\n", "claudecube"},
		{"a.yml", "version: \"1\"\nrules: []\n", "claudecube"},
		{"a.yml", "# the rules\n'rules': []\n'version': '1'\n", "claudecube"},
		{"a.yml", "{version: \"1\", rules: []}", "claudecube"},
		{"a.yml", "{defaults: {}}", "claudecube"},
		{"a.yml", "version: \"1\"\n", "native"},
		{"a.yml", "rules: []\n# version: 1\n", "native"},
		{"a.yml", "rules:\n  - version: 1\n", "native"},
		{"a.yml", "x-a: |\n  version: 1\nrules: []\n", "native"},
		{"a.yml", "x-version: 1\nrules: []\n", "native"},
		{"a.yml", "defaults: {}\nrules: [\n", "claudecube"},
		// Only a key of the file itself counts.
		{"a.yml", "rules: []\n# defaults: none\n", "native"},
		{"a.yml", "x-team:\n  defaults: {}\nrules: []\n", "native"},
		{"a.yml", "default: deny\nrules: []\n", "native"},
		{"a.txt", "", ""},
		{"a", "", ""},
		{"rules", "", ""},
		{".json", "", "evaluator"},
		{"a.jsonl", "", ""},
		{"a.rules.bak", "", ""},
	} {
		if got := detect(&document.Source{Name: c.name, Text: []byte(c.text)}); got != c.want {
			t.Errorf("%s with %q is read as %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// TestRefused: a file of another kind is an error that describes it, with its code.
func TestRefused(t *testing.T) {
	dir := tempDir(t, map[string]string{
		"a.txt":           texts()["native"],
		"a.rules":         texts()["sigmashake"],
		"a.yml":           texts()["native"],
		"empty/README":    "x",
		"latin.rules":     "rule a { DENY any IF tool EQUALS \"\xe9\" MESSAGE \"m\" }\n",
		"wide.yml":        "\xff\xfer\x00u\x00",
		"zero.json":       "{\"a\": \"\x00\"}",
		"linked/b.rules":  texts()["sigmashake"],
		"directory.yml/x": "x",
	})
	if err := os.MkdirAll(filepath.Join(dir, "none"), 0o777); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, dialect, code, want string }{
		{"a.txt", "", document.CodeValue, "a.txt: its name does not say which dialect it is written in; name the " +
			"dialect with --dialect:  native, sigmashake, evaluator, claudecube, clash"},
		{"none", "", document.CodeMissing, "none: the directory has no .rules file; name a file of call rules, or a"},
		{"empty", "", document.CodeMissing, "empty: the directory has no .rules file"},
		{"directory.yml", "", document.CodeMissing, "directory.yml: the directory has no .rules file"},
		{"none", "native", document.CodeMissing, "none: the directory has no .rules file"},
		{"gone.yml", "", document.CodeRead, "gone.yml: cannot be read: "},
		{"latin.rules", "", document.CodeSyntax, "latin.rules:1:35: a byte that is not UTF-8"},
		{"wide.yml", "", document.CodeSyntax, "wide.yml: the text is UTF-16"},
		{"zero.json", "", document.CodeSyntax, "zero.json:1:8: the control character U+0000"},
	}
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"link.rules": "a.rules", "linked/a.rules": "../a.rules",
			"linked/c.rules": "gone", "directory": "linked"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		cases = append(cases, []struct{ name, dialect, code, want string }{
			{"link.rules", "", document.CodeRead, "link.rules: is a symbolic link"},
			{"linked", "", document.CodeRead, "linked/a.rules: is a symbolic link"},
			{"linked", "", document.CodeRead, "linked/c.rules: is a symbolic link"}, // and all of them
			// the directory itself is named by the user
			{"directory", "", document.CodeRead, "directory/a.rules: is a symbolic link"},
		}...)
		if mkfifo, err := exec.LookPath("mkfifo"); err == nil { // a reader of it would wait forever
			if err := exec.Command(mkfifo, filepath.Join(dir, "fifo.yml")).Run(); err != nil {
				t.Fatal(err)
			}
			cases = append(cases, struct{ name, dialect, code, want string }{"fifo.yml", "", document.CodeRead,
				"fifo.yml: is a FIFO"})
		}
	}
	for _, c := range cases {
		set, err := Load(dir, c.name, c.dialect, nil)
		var list document.Errors
		if !errors.As(err, &list) || !strings.Contains(err.Error(), c.want) || list[0].Code != c.code {
			t.Errorf("%s: %v, %v, want %s %s", c.name, set, err, c.code, c.want)
		}
	}
	if _, err := Load(dir, "a.yml", "cedar", nil); err == nil ||
		err.Error() != `--dialect is "cedar"; choose one of native, sigmashake, evaluator, claudecube, clash` {
		t.Error(err)
	}
	if os.Geteuid() > 0 && runtime.GOOS != "windows" {
		if err := os.Chmod(filepath.Join(dir, "none"), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, "none", "", nil); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a directory that may not be read: %v", err)
		}
	}
}

// TestLevels: the levels of a clash policy are one set, in which a relative PWD is the directory; their mistakes are
// reported at once.
func TestLevels(t *testing.T) {
	dir := tempDir(t, map[string]string{
		"user.policy":      `(default allow "main") (policy "main" (deny (fs write (subpath (env PWD)))))`,
		"a/project.policy": `(policy "main" (allow (exec "make")))`,
		"bad.policy":       "(polcy)", "a.rules": texts()["sigmashake"],
	})
	files := func(names ...string) Files {
		return Files{Names: names, Levels: true, Define: map[string]string{"PWD": "."}}
	}
	sets, err := files("./user.policy", "a/project.policy").Load(dir)
	if err != nil || len(sets) != 1 || sets[0].Name != "user.policy + a/project.policy" || len(sets[0].Rules) != 2 ||
		sets[0].Default != callrules.Deny {
		t.Fatalf("%+v, %v", sets, err)
	}
	for names, want := range map[string]string{
		"user.policy bad.policy gone.policy": "gone.policy: cannot be read",
		"bad.policy bad.policy":              "bad.policy:1:1",
		"user.policy a.rules":                "a.rules: --levels is for files of clash alone",
		"user.policy":                        "--levels needs two or more",
	} {
		if _, err := files(strings.Fields(names)...).Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", names, err, want)
		}
	}
}

// TestAllMistakes: all mistakes of a file, and of all files of a directory, are reported at once.
func TestAllMistakes(t *testing.T) {
	const bad = "rule a {\n  DENY nothing\n  IF command CONTAINS \"x\"\n  MESSAGE \"m\"\n}\n"
	dir := tempDir(t, map[string]string{
		"set/a.rules": bad, "set/b.rules": texts()["sigmashake"], "set/c.rules": bad +
			strings.Replace(bad, "rule a", "rule b", 1),
		"a.yml": "rules:\n  - {id: A, title: t, effect: denied, when: {fact: tool, equals: Bash}}\n" +
			"  - {id: B, title: t, effect: deny, when: {fact: tools, equals: Bash}}\n",
	})
	for name, want := range map[string][]string{
		"set":   {"set/a.rules:2", "set/c.rules:2", "set/c.rules:7"},
		"a.yml": {"a.yml:2", "a.yml:3"},
	} {
		_, err := Load(dir, name, "", nil)
		var list document.Errors
		if !errors.As(err, &list) {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, e := range list {
			got = append(got, strings.Join(strings.SplitN(e.Error(), ":", 3)[:2], ":"))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s\n%v", name, d, err)
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

// TestDirectory: the .rules files of a directory are one set, in the order of their names. "Nothing is silently
// ignored."
func TestDirectory(t *testing.T) {
	rule := func(id string) string { return "rule " + id + " { DENY any IF tool EQUALS \"Bash\" MESSAGE \"m\" }\n" }
	for _, c := range []struct {
		files map[string]string
		want  string // rules, or parts of errors
	}{
		{map[string]string{"b.rules": rule("second"), "a.rules": rule("first"), "c.yml": "not: a rule"},
			"first second"},
		{map[string]string{"a.yml": "x"}, "no .rules file"},
		{map[string]string{"a.rules": "\xff", "b.rules": rule("b"), "c.rules": "x"}, "r/a.rules:1:1: r/c.rules:1:1:"},
		{map[string]string{"a.rules": rule("a"), "more/deep/c.rules": rule("c")}, "r/more/deep/c.rules: within r;"},
		{map[string]string{"one/c.rules": "", "two/c.rules": ""}, "r/one/c.rules: r/two/c.rules:"},
		{map[string]string{"a.rules": rule("a"), "B.RULES": "y"}, "r/B.RULES:1:1:"},
	} {
		files := map[string]string{}
		for name, text := range c.files {
			files["r/"+name] = text
		}
		got := ""
		set, err := Load(tempDir(t, files), "r", "", nil)
		if err != nil {
			got = err.Error()
		} else {
			for _, r := range set.Rules {
				got += r.ID + " "
			}
		}
		for part := range strings.FieldsSeq(c.want) {
			if !strings.Contains(got, part) {
				t.Errorf("%q: %s, want %s", c.files, got, c.want)
			}
		}
	}
	dir := tempDir(t, map[string]string{"r/a.rules": rule("a"), "r/b.rules": rule("b")})
	if _, err := Load(dir, "r", "clash", nil); err == nil || !strings.HasPrefix(err.Error(), "r: is a ") {
		t.Errorf("a directory of another dialect: %v", err)
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
