package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/edit"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"pgregory.net/rapid"
)

// scan returns the violations of a full scan in one file.
func scan(t rapid.TB, b *rules.Bundle, root, file string) []verdict.Violation {
	t.Helper()
	dir, err := worktree.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	v := scanner.Scan(context.Background(), &run.Run{
		Rules: run.NewRuleSet([]run.RuleSource{{From: "disk", Bundle: b}}), Plans: check.NewPlanCache(b),
		Limiter: check.NewParseLimiter(), Tree: tree.Dir(dir),
	}, nil)
	if !v.Complete {
		t.Fatalf("the scan is not complete: %+v", v.Errors)
	}
	var found []verdict.Violation
	for _, v := range v.Violations {
		if v.File == file {
			found = append(found, v)
		}
	}
	return found
}

// bundleOfForms has an item of each form, of each kind of rule.
func bundleOfForms(t testing.TB) *rules.Bundle {
	t.Helper()
	b, err := rules.Load(rules.Files{
		"rules/boundaries.yml": []byte(`bundle: "0.2"
rules:
  - id: TEXT
    title: Texts
    enforcement: {mode: fail}
    match:
      files: ["**/*.TF"]
      path_case: ignore
      forbidden_patterns:
        - "0.0.0.0/0"
        - {text: 'acl = "public"', spaces: any}
        - {text: "a::b", words: true}
        - {text: "TlsV1", case: ignore}
        - {text: "run a b", spaces: any, words: true, case: ignore}
        - "a\nb"
  - id: REGEX
    title: Expressions
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf", "/*.txt"]
      forbidden_patterns: [{regex: 'i:\s*\S+:latest\b'}, {regex: '^x+$'}, {regex: '(?i)KEY'}]
  - id: PATH
    title: Paths
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.PEM", "net/b.tf"], path_case: ignore}
`),
		"rules/invariants.yml": []byte(`bundle: "0.2"
rules:
  - id: HAS
    title: Required
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      required_patterns:
        ["a", {text: "by  me", spaces: any, case: ignore}, {text: "ok", words: true}, {regex: 'team-[0-9]+'}]
  - id: LACKS
    title: Forbidden
    enforcement: {mode: fail}
    match: {files: ["**"], required_absent: [{regex: 'todo!+'}, {text: "a::b", words: true, case: ignore}]}
  - id: TREE
    title: A licence
    enforcement: {mode: fail}
    match: {required_files: ["/LICENSE*"]}
`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestParityOfEdits: the gate lists for an edit, of whatever tool and in whatever encoding, what full scans list for
// that file with each content that the edit may leave; what is new is what the file did not have so often before.
// Where the content cannot be determined the call is an error.
func TestParityOfEdits(t *testing.T) {
	fewer(t, "50")
	b := bundleOfForms(t)
	pieces := []string{"0.0.0.0/0", `acl="public"`, "acl", "\t =  ", `"public"`, "a::b", "_", "TLSv1", "Run\ta", "  b",
		"b", "i:", " n:latest", "r", "x", "\n", "\r\n", "\r", "kEy", "\u212a", "a", "By\t me", "byme", "ok", "bok",
		"team-7", "team-", "todo!!", "é", "\x00", " ", "\ufeff"}
	words := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 10).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "nothing is missing") {
			s += "\na by me ok team-1\n"
		}
		return s
	})
	encodings := []encoding.Encoding{
		encoding.Nop, unicode.UTF8BOM, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		unicode.UTF16(unicode.BigEndian, unicode.UseBOM), unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n, undetermined, judged := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		write(t, filepath.Join(root, "z.txt"), "z")
		name := rapid.SampledFrom([]string{"a.tf", "net/b.TF", "c.txt", "K.Pem", "deep/A.tf"}).Draw(t, "name")
		text := words.Draw(t, "before")
		content, err := rapid.SampledFrom(encodings).Draw(t, "encoding").NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		exists := rapid.IntRange(0, 9).Draw(t, "exists") > 0
		if exists {
			write(t, filepath.Join(root, name), content)
		}
		replacement := func() []call.Member {
			runes := []rune(text)
			from := rapid.IntRange(0, len(runes)).Draw(t, "from")
			old := string(runes[from:rapid.IntRange(from, len(runes)).Draw(t, "to")])
			return []call.Member{{Name: "old_string", Value: call.Text(old)},
				{Name: "new_string", Value: call.Text(words.Draw(t, "new"))}}
		}
		file := call.Member{Name: "file_path", Value: call.Text(name)}
		c := &call.Call{Tool: rapid.SampledFrom([]string{"Write", "Edit", "MultiEdit"}).Draw(t, "tool"), Dir: root}
		switch c.Tool {
		case "Write":
			c.Input = call.NewObject(file, call.Member{Name: "content", Value: call.Text(words.Draw(t, "written"))})
		case "Edit":
			c.Input = call.NewObject(append(replacement(), file)...)
		case "MultiEdit":
			edits := []*call.Value{call.NewObject(replacement()...), call.NewObject(replacement()...)}
			c.Input = call.NewObject(file, call.Member{Name: "edits", Value: call.NewList(edits)})
		}

		before, scanned := map[key]int64{}, map[key]verdict.Violation{}
		for _, v := range scan(t, b, root, filepath.ToSlash(name)) {
			before[keyOf(&v)] = v.Evidence.Occurrences
		}
		edits, err := edit.Of(c)
		var contents [][]byte
		if err == nil {
			contents, err = edits[0].After([]byte(content), exists)
		}
		r, failed := (&Gate{Bundle: b, Root: root}).Judge(context.Background(), c, callrules.Options{})
		if err != nil && len(b.Selecting(name, nil)) > 0 {
			if undetermined++; failed == nil {
				t.Fatalf("%v, and the call was judged: %+v", err, r.Outcome())
			}
			return
		}
		if failed != nil {
			t.Fatal(failed)
		}
		judged++
		for _, content := range contents {
			write(t, filepath.Join(root, name), string(content))
			for _, v := range scan(t, b, root, filepath.ToSlash(name)) {
				if worst, ok := scanned[keyOf(&v)]; !ok || v.Evidence.Occurrences > worst.Evidence.Occurrences {
					scanned[keyOf(&v)] = v
				}
			}
		}
		listed := map[key]verdict.Violation{}
		for _, v := range append(r.New, r.Old...) {
			listed[keyOf(&v)] = v
		}
		if d := cmp.Diff(scanned, listed); d != "" {
			t.Fatalf("the scans afterwards (-) and the gate (+) differ:\n%s", d)
		}
		for i, v := range append(r.New, r.Old...) {
			if isNew := i < len(r.New); isNew != (v.Evidence.Occurrences > before[keyOf(&v)]) {
				t.Fatalf("%+v is called new: %v, and was there %d times", v, isNew, before[keyOf(&v)])
			}
		}
		if denied := r.Outcome().Effect == callrules.Deny; denied != (len(r.New) > 0) {
			t.Fatalf("denied: %v, of %d new violations", denied, len(r.New))
		}
	})
	if judged == 0 || *long && undetermined == 0 {
		t.Errorf("%d edits were judged, and %d undetermined: nothing was tried", judged, undetermined)
	}
}

// bundle02 has rules for required files and for forbidden paths.
func bundle02(t testing.TB) *rules.Bundle {
	t.Helper()
	b, err := rules.Load(rules.Files{
		"rules/boundaries.yml": []byte(`bundle: "0.2"
rules:
  - id: KEY
    title: No private keys
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.PEM", "net/b.tf"], path_case: ignore}
  - id: OPEN
    title: Nothing is open to all
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}
`),
		"rules/invariants.yml": []byte(`bundle: "0.2"
rules:
  - id: OWNED
    title: Everything has an owner
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], required_patterns: ["a", "AKIA"]}
  - id: DOC
    title: A licence
    enforcement: {mode: fail}
    match: {required_files: ["/LICENSE*"]}
`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReasonOfPresence: the reason tells the agent what to do, and what is not checked here.
func TestReasonOfPresence(t *testing.T) {
	root := tempDir(t, map[string]string{"old.tf": "AKIA", "LICENSE": "x"})
	g := &Gate{Bundle: bundle02(t), Root: root}
	for _, c := range []struct{ tool, key, file, content, want string }{
		{"Write", "content", "net/b.tf", "AKIA 0.0.0.0/0", `the edit would break the policy:
- KEY: net/b.tf is forbidden: its path matches "net/b.tf": No private keys.
- OPEN: net/b.tf:1:6 must not contain "0.0.0.0/0": Nothing is open to all.
- OWNED: net/b.tf must contain "a": Everything has an owner.`},
		{"Write", "content", "old.tf", "0.0.0.0/0 AKIA", `the edit would break the policy:
- OPEN: old.tf:1:1 must not contain "0.0.0.0/0": Nothing is open to all.
already there before this edit: OWNED in old.tf (missing: "a")`},
	} {
		r, err := g.Judge(
			context.Background(),
			asked(t, root, c.tool, "file_path", filepath.Join(root, c.file), c.key, c.content),
			callrules.Options{},
		)
		if err != nil || r.Reason() != c.want {
			t.Errorf("%v\ngot  %s\nwant %s", err, r.Reason(), c.want)
		}
	}
	if r := judge(t, g, asked(t, root, "Write", "file_path", "new.txt", "content", "AKIA")); len(r.New) > 0 {
		t.Errorf("no rule applies: %+v", r.New)
	}
	r := judge(t, g, asked(t, root, "Delete", "path", filepath.Join(root, "LICENSE")))
	const want = `DOC requires a file that matches "LICENSE*", as LICENSE does; ` +
		"whether the tree still has one is not judged here: a scan does"
	if r.Outcome().Effect == callrules.Deny || r.Note() != want {
		t.Errorf("%+v\ngot  %s\nwant %s", r.Outcome(), r.Note(), want)
	}
}

// TestKeys: an edit is judged by keys, and denied if rules could judge the file before it and not afterwards.
func TestKeys(t *testing.T) {
	b, err := rules.Load(rules.Files{
		"rules/boundaries.yml": []byte(`bundle: "0.2"
rules:
  - id: ON
    title: Off
    enforcement: {mode: fail}
    match: {files: ["**"], forbidden_patterns: [{key: "**.on", is: true}]}
`),
		"rules/invariants.yml": []byte(`bundle: "0.2"
rules:
  - id: HAS
    title: Has
    enforcement: {mode: fail}
    match: {files: ["**"], required_patterns: [{each: "c", key: a, is: 1}]}
`),
	})
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	root := tempDir(t, map[string]string{
		"a.yaml": "on: y", "c.yaml": "c: [{a: 2}]", "broken.yaml": "a: [", "deep.json": deep, "plain.txt": "x",
	})
	g := &Gate{Bundle: b, Root: root}
	for _, c := range []struct{ name, file, content, wantNew, wantOld, undecided, note string }{
		{"a value comes", "new.yaml", "on: yes", "ON new.yaml", "", "", ""},
		{"it was there", "a.yaml", "on: Yes # still", "", "ON a.yaml", "", ""},
		{"one more", "a.yaml", "on: y\nb: {on: y}", "ON a.yaml", "", "", ""},
		{"another value is as wrong as the one before", "c.yaml", "c: [{a: 3}]", "", "HAS c.yaml", "", ""},
		{"a second node lacks it", "c.yaml", "c: [{a: 2}, {}]", "HAS c.yaml", "", "", ""},
		{"it could be parsed", "a.yaml", "on: [", "", "", "E_PARSE", ""},
		{"it never could", "broken.yaml", "on: [", "", "", "", "as before the edit"},
		{"now it can", "broken.yaml", "on: true", "ON broken.yaml", "", "", ""},
		{"a new template", "new.yaml", "{{ x }}", "", "", "", "a scan will say so"},
		{"a new file with two readings, one of which breaks a rule", "new.yaml", "on: y\na: {b:}", "ON new.yaml", "",
			"", "a scan will say so"},
		{"a file with one reading gets a second", "a.yaml", "a: {b:}", "", "", "E_PARSE", ""},
		{"a new file that is too deep", "new.json", deep, "", "", "E_LIMIT", ""},
		{"it was too deep", "deep.json", deep, "", "", "", "as before the edit"},
		{"a new file without a format", "new.txt", "x", "", "", "E_FORMAT", ""},
		{"it had none before", "plain.txt", "y", "", "", "", "as before the edit"},
	} {
		r := judge(t, g, asked(t, root, "Write", "file_path", c.file, "content", c.content))
		var codes []string
		for _, e := range r.Undecided {
			codes = append(codes, e.Code)
		}
		if ids(r.New) != c.wantNew || ids(r.Old) != c.wantOld || strings.Join(codes, " ") != c.undecided {
			t.Errorf("%s: new %q, old %q, undecided %q", c.name, ids(r.New), ids(r.Old), codes)
		}
		if denied := r.Outcome().Effect == callrules.Deny; denied != (c.wantNew+c.undecided != "") {
			t.Errorf("%s: denied: %v", c.name, denied)
		}
		if notes := strings.Join(r.notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("%s: %q", c.name, notes)
		}
		if c.undecided != "" && !strings.Contains(r.Reason(), "rules cannot judge:\n- "+c.file) {
			t.Errorf("%s: %s", c.name, r.Reason())
		}
	}
}
