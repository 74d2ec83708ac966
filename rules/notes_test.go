package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/document"
)

// TestPatternNotes: patterns with and without notes.
func TestPatternNotes(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		// Regexes and wildcards.
		{`password = ".*"`, `because of ".*"`},
		{`secret.+`, `because of ".+"`},
		{`port \d+`, `because of "\\d+"`},
		{`key\s*=`, `because of "\\s*"`},
		{`\w`, `because of "\\w"`},
		{`10\.0\.0\.0/8`, `because of "0\\.0"`},
		{`(allow|deny)`, `because of "(allow|deny)"`},
		{`AKIA[0-9A-Z]{16}`, `because of "[0-9A-Z]"`},
		{`[^a-z]`, `because of "[^a-z]"`},
		{`^FROM alpine$`, `because of "^FROM alpine$"`},
		{`**/secrets.yml`, `because of "**/s"`},
		{`0.0.0.0/0`, ""},
		{`"Action": "*"`, ""},
		{`s3:*`, ""},
		{`*.example.com`, ""}, // used in certificates and hosts
		{`^1.2.3`, ""},        // used in versions
		{`C:\data\share`, ""},
		{`$HOME`, ""},
		{`arr[0]`, ""},
		{`(a or b)`, ""},
		{`/** a comment`, ""},
		{`a || b`, ""},
		{`1 + 2`, ""},
		{`f(x)`, ""},
		{strings.Repeat("x", 2000) + ".*", ""},

		// Lookalike and invisible characters.
		{"0.0.0.0\u00a0/0", "a no-break space (U+00A0) as character 8, which an ordinary space does not match; " +
			"write a space"},
		{"a\u202fb", "a narrow no-break space (U+202F)"},
		{"a\u2003b", "a space of another width (U+2003)"},
		{"a\u200bb", "a zero-width space (U+200B) as character 2, which is invisible"},
		{"\ufeffkey", "a byte order mark (U+FEFF) as character 1"},
		{"a\u00adb", "a soft hyphen (U+00AD)"},
		{"a\u202eb", "a bidirectional control character (U+202E)"},
		{"p\u0430ssword", `a Cyrillic 'а' (U+0430) as character 2, which looks like 'a' and does not match it; ` +
			`write 'a'`},
		{"\u03bfwner", `a Greek 'ο' (U+03BF)`},
		{"--no\u2013check", `a dash '–' (U+2013) as character 5, which looks like '-'`},
		{"\u201cAction\u201d", "a typographic quote '“' (U+201C)"},
		{"a\u2215b", "the character '∕' (U+2215)"},
		{"\uff41bc", "a fullwidth 'ａ' (U+FF41)"},
		{"a\u200db", "a zero-width joiner (U+200D)"},
		{"\u200b", ""}, // the forbidden character itself
		{"\u2013", ""},
		{"пароль", ""}, // a whole word of another script
		{"пароль: password", ""},
		{"λόγος", ""},
		{"Straße café", ""},
		{"\U0001f468\u200d\U0001f469 x", ""},
		{"日本 x", ""},

		// Spaces.
		{"key ", `has a space or tab at an end, and matches only where the file has it too; ` +
			`if that is not meant, write "key"`},
		{" key", `write "key"`},
		{"\tkey", `write "key"`},
		{"two words", ""},
		{"key\n", ""}, // noted at its position in the YAML, if at all
	} {
		rule := &Rule{Patterns: PlainItems(c.pattern)}
		got := strings.Join(itemNotes(rule, Plain(c.pattern)), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
			t.Errorf("%q: %q; want %q", c.pattern, got, c.want)
		}
	}
	// No note if the rule shows that the blank is intended.
	for _, rule := range []*Rule{
		{Patterns: PlainItems("@main ", "@main\n")},
		{Patterns: PlainItems("curl -k "), Examples: []Example{{Content: "curl -keep"}}},
	} {
		if got := itemNotes(rule, Plain(rule.Patterns[0].Text)); len(got) != 0 {
			t.Errorf("%q: %q", Names(rule.Patterns), got)
		}
	}
	if got := itemNotes(&Rule{Patterns: PlainItems("a ", "a"), Examples: []Example{{Content: "a", Violates: true}}},
		Plain("a ")); len(got) != 1 {
		t.Errorf("a blank that no example explains: %q", got)
	}
}

// TestExcludeNote: only an exclude that removes all of the selected files has a note.
func TestExcludeNote(t *testing.T) {
	for _, c := range []struct {
		files, exclude string
		want           bool
	}{
		{`["**/*.tf"]`, `["**"]`, true},
		{`["**/*.tf"]`, `["**/*.tf"]`, true},
		{`["modules/**/*.tf", "modules/x"]`, `["vendor/**", "modules/**"]`, true},
		{`["**/*.{tf,yml}"]`, `["**/*.tf", "**/*.yml"]`, true},
		{`["**/*.tf"]`, `["modules/**"]`, false},
		{`["**/*.tf", "modules"]`, `["**/*.tf", "modules/**"]`, false},
	} {
		b, errs := loadBoundaries(ruleWith(c.files, "[x]\n      exclude: "+c.exclude))
		if errs != nil {
			t.Fatal(errs)
		}
		noted := 0
		for _, n := range Notes(b) {
			if strings.Contains(n.Text, `"exclude" removes every file`) {
				noted++
				if n.Line != 8 || n.Column != 17 {
					t.Errorf("%s: at %d:%d", c.exclude, n.Line, n.Column)
				}
			}
		}
		if noted != map[bool]int{true: 1}[c.want] {
			t.Errorf("%s without %s: %d notes", c.files, c.exclude, noted)
		}
	}
}

// TestNotes02: what has notes in 0.2, and what has none.
func TestNotes02(t *testing.T) {
	const head = "bundle: \"0.2\"\n"
	rule := func(match string) string {
		return "rules:\n  - {id: A, title: t, enforcement: {mode: fail}, match: {" + match + "}}\n"
	}
	item := func(items string) string {
		return head + rule(`files: ["**"], forbidden_patterns: [`+items+`]`)
	}
	for _, c := range []struct {
		boundaries string
		want       []string
	}{
		{item(`{regex: 'image:\s+\S+'}`), nil},
		{item(`{key: image, is: "nginx:*"}`), []string{`the value "nginx:*" looks like a regular expression or a wildcard`}},
		{item(`{key: image, is_not: "^nginx.*$"}`), []string{`write it as matches if one is meant`}},
		{item(`{key: a, is: ["*", "arn:aws:s3:::x/*", "0.0.0.0/0", "a.b"]}`), nil},
		{item(`{key: image, matches_not: "registry.example.com"}`), []string{`write "^registry.example.com"`}},
		{item(`{key: image, matches_not: '^registry\.example\.com/'}, {key: b, matches: x}`), nil},
		{item(`{key: spec/hostNetwork, is: true}`), []string{`write spec.hostNetwork, or put it in quotes`}},
		{item(`{key: '"app/x"'}, {key: 'metadata.labels."app.kubernetes.io/name"'}`), nil},
		{item(`{key: aws_db_instance.*.publicly_accessible, is: true}`),
			[]string{`write "resource.aws_db_instance.*.publicly_accessible"`}},
		{item(`{regex: 'a.*b'}, {regex: '\d+'}`), []string{`the expression "a.*b" is slow`, `the expression "\\d+" is slow`}},
		{item(`{regex: '/it''s a\/b\d/gi'}`), []string{`a slash and "gi", which are characters to find; if another ` +
			`language's notation is meant, write "(?i)it's a/b\\d"`}},
		{item(`{regex: '/abc/m'}`), []string{`write "abc"`}},
		{item(`{regex: '/usr/bin/'}, {regex: '/etc/ssh'}, {regex: 'usr/bin/g'}, '/abc/i'`), nil},
		{item(`{text: 'a.*b'}, {text: 'a(b|c)', words: true}`), nil},
		{item(`{key: resource.a.*.b, where: {resource.a.*.c: 1}, is: 1}`),
			[]string{`any node that its * stands for will do, not only the one in which the key is found; ` +
				`if that is meant, write "resource.a.**.c"`}},
		{item(`{key: resource.a.*.b, where: {resource.a.**.c: 1, kind: x, resource.b.*.c: 1}, is: 1}`), nil},
		{item(`ab, b`), []string{`contains the pattern "b"`}},
		{item(`{text: a b, spaces: any}, {text: b, words: true}, {text: bc, case: ignore}`), nil},
		{item(`{text: ab, words: true}, b`), []string{`the pattern {"text":"ab","words":true} contains the pattern "b"`}},
		{item(`{text: aB, case: ignore}, b, {regex: abcb}`), nil},
		{item(`{regex: "p\u0430ssword"}`), []string{"a Cyrillic"}},
		{head + rule(`forbidden_files: ["/*.pem"]`), nil},
		{head + rule(`forbidden_files: ["**/*.pem"], exclude: ["**"]`), []string{`every file that "forbidden_files" selects`}},
		{head + `exclude: ["a/**"]` + "\n" + rule(`files: ["a/*.tf"], forbidden_patterns: [a]`),
			[]string{`the "exclude" of the file, with that of the rule, removes every file that "files" selects`}},
		{head + rule(`files: ["**/*.tf"], exclude: ["**/*.tf"], path_case: ignore, forbidden_patterns: [a]`), nil},
		{head + rule(`forbidden_files: ["**/*.pem"]`), nil},
	} {
		b, errs := loadBoundaries(c.boundaries)
		if errs != nil {
			t.Fatal(errs)
		}
		notes := Notes(b)
		same := len(notes) == len(c.want)
		for i := range notes {
			same = same && strings.Contains(notes[i].Text, c.want[i]) && notes[i].Line > 0
		}
		if !same {
			t.Errorf("%s: %v; want %q", c.boundaries, notes, c.want)
		}
	}
	// A class that matches a slash has a note in a required file as well.
	b, err := Load(Files{
		BoundariesFile: []byte(head + "rules: []\n"), InvariantsFile: []byte(head + rule(`required_files: [/LICENSE, "[!a]/b"]`)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if notes := Notes(b); len(notes) != 1 || !strings.Contains(notes[0].Text, `the class "[!a]" matches "/" as well`) {
		t.Error(notes)
	}
}

// TestFault_146_UnreadFiles: any file in the rules directory that looks like a rule file is reported, at any depth.
func TestFault_146_UnreadFiles(t *testing.T) {
	good := func(more ...string) Files {
		f := Files{BoundariesFile: []byte(ruleWith(`["**"]`, `[x]`)), InvariantsFile: []byte(goodInvariants)}
		for _, name := range more {
			f[name] = nil
		}
		return f
	}
	dir := t.TempDir()
	onDisk := func(f Files) error {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for name, text := range f {
			full := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := LoadDir(dir)
		return err
	}
	for _, names := range [][]string{
		{"rules/terraform.yml"}, {"rules/team/boundaries.yml"}, {"rules/a/b/c/d.yaml"}, {"rules/X.YML"},
		{"rules/x.Yaml", "rules/y.yml"},
		{"rules/deprecated.yaml"}, {"rules/.yml"}, {"rules/deprecated.yml/x.yml"},
	} {
		_, inMemory := Load(good(names...))
		for where, err := range map[string]error{"in memory": inMemory, "on disk": onDisk(good(names...))} {
			var list document.Errors
			if !errors.As(err, &list) {
				t.Errorf("%q %s: %v", names, where, err)
				continue
			}
			for _, name := range names {
				if !slices.ContainsFunc(list,
					func(e *document.Error) bool { return e.Code == document.CodeUnread && e.File == name }) {
					t.Errorf("%q %s: no error for %s: %v", names, where, name, err)
				}
			}
		}
	}
	for _, names := range [][]string{{"rules/README.md"}, {"rules/notes/x.txt", "rules/yml"}, {"calls.yml"},
		{"other/rules/x.yml"}} {
		if _, err := Load(good(names...)); err != nil {
			t.Errorf("%q: %v", names, err)
		}
		if err := onDisk(good(names...)); err != nil {
			t.Errorf("%q on disk: %v", names, err)
		}
	}

	// A likely misspelt name of a missing file is reported once.
	f := good("rules/Invariants.yaml")
	delete(f, InvariantsFile)
	if _, err := Load(f); err == nil || strings.Count(err.Error(), "\n") != 0 ||
		!strings.Contains(err.Error(), `name it "invariants.yml"`) {
		t.Errorf("a misnamed file: %v", err)
	}

	// A symlink could point to more rules. It is not followed.
	if err := onDisk(good()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"team", "x.yml", "README.md"} {
		link := filepath.Join(dir, "rules", name)
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadDir(dir); err == nil || !strings.Contains(err.Error(), "rules/"+name+": is a symbolic link") {
			t.Errorf("a link %s: %v", name, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVanishing: a rule file that is listed and then removed before it is read is not treated as an optional missing
// file.
func TestVanishing(t *testing.T) {
	files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants),
		DeprecatedFile: []byte("rules: []\n")}
	if _, err := Load(files); err != nil {
		t.Fatal(err)
	}
	_, err := loadWithout(files, DeprecatedFile, fs.ErrNotExist)
	if err == nil || err.Error() != "rules/deprecated.yml: appeared after the bundle was read; run it again" {
		t.Error(err)
	}
}

// TestOtherFiles: in a 0.2 bundle the other *.yml files in the directory are read, and files that only look like rule
// files are errors.
func TestOtherFiles(t *testing.T) {
	const (
		boundaries = "bundle: \"0.2\"\nrules: []\n"
		rule       = "bundle: \"0.2\"\ntype: boundary\nrules:\n  - {id: X, title: t, enforcement: {mode: fail}, " +
			"match: {forbidden_files: [a/b]}}\n"
	)
	files := Files{BoundariesFile: []byte(boundaries), "rules/x.yml": []byte(rule)}
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), string(text))
	}
	b, err := LoadDir(dir)
	if err != nil || len(b.Rules) != 1 || b.Rules[0].File != "rules/x.yml" || len(b.Files) != 2 || !b.Is02 {
		t.Fatalf("%+v, %v", b, err)
	}
	inMemory, err := Load(files)
	if err != nil || inMemory.SHA256 != b.SHA256 {
		t.Errorf("%v: other on disk", err)
	}
	// A file that is listed and then removed before it is read is not optional.
	for _, gone := range []string{"rules/x.yml", BoundariesFile} {
		if _, err := loadWithout(files, gone, fs.ErrNotExist); err == nil || !strings.Contains(err.Error(), gone+": ") {
			t.Errorf("%s is gone: %v", gone, err)
		}
	}
	files[InvariantsFile] = []byte("rules: []\n")
	if _, err := loadWithout(files, InvariantsFile, fs.ErrNotExist); err == nil ||
		err.Error() != "rules/invariants.yml: appeared after the bundle was read; run it again" {
		t.Error(err)
	}
	// A symlink is neither followed nor read, wherever it points.
	for _, name := range []string{"y.yml", "team", "invariants.yml", "deprecated.yml"} {
		link := filepath.Join(dir, "rules", name)
		if err := os.Symlink("x.yml", link); err != nil {
			t.Skip(err)
		}
		if _, err := LoadDir(dir); err == nil || !strings.Contains(err.Error(), "rules/"+name+": is a symbolic link") {
			t.Errorf("a link %s: %v", name, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	// A directory of that name is searched.
	write(t, filepath.Join(dir, "rules", "y.yml", "z.yml"), rule)
	if _, err := LoadDir(dir); err == nil || !strings.HasPrefix(err.Error(), "rules/y.yml/z.yml: this file is not read") {
		t.Error(err)
	}
}

// TestIdentity02 computes the hash of a bundle with other files by hand, in byte order of the paths.
func TestIdentity02(t *testing.T) {
	b, files := load02(t)
	h := sha256.New()
	for _, name := range []string{"A", "a", "b", "boundaries", "c", "deprecated", "invariants"} {
		path := "rules/" + name + ".yml"
		fmt.Fprintf(h, "%s\n%s\n", path, files[path])
		if b.Files[path] != sha256.Sum256(files[path]) {
			t.Errorf("%s: another sum", path)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != b.SHA256 || len(b.Files) != 7 {
		t.Errorf("%s, want %s", b.SHA256, got)
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
