package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/rules/document"
)

// The tests of this file are named after the rows of the project's table of faults.

// loadBoundaries loads a bundle with these boundaries and valid invariants.
func loadBoundaries(boundaries string) (*Bundle, document.Errors) {
	return loadFiles(Files{BoundariesFile: []byte(boundaries), InvariantsFile: []byte(goodInvariants)})
}

func loadFiles(files Files) (*Bundle, document.Errors) {
	b, err := Load(files)
	var errs document.Errors
	if err != nil && !errors.As(err, &errs) {
		panic(fmt.Sprintf("Load returned %T", err))
	}
	return b, errs
}

// wantCode fails unless the first error has the code and the first line the text.
func wantCode(t *testing.T, errs document.Errors, code, text string) {
	t.Helper()
	if len(errs) == 0 || errs[0].Code != code || !strings.Contains(errs[0].Error(), text) {
		t.Errorf("got %v; want %s … %s", errs, code, text)
	}
}

// ruleWith returns boundaries of one rule with these lines of "match" and below.
func ruleWith(files, patterns string) string {
	return "rules:\n  - id: R-1\n    title: t\n    enforcement: {mode: fail}\n    match:\n      files: " + files +
		"\n      forbidden_patterns: " + patterns + "\n"
}

func TestFault_072_MissingFile(t *testing.T) {
	for _, name := range []string{BoundariesFile, InvariantsFile} {
		files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
		delete(files, name)
		_, errs := loadFiles(files)
		wantCode(t, errs, document.CodeMissing, name+": no such file")
	}
	if _, errs := loadFiles(Files{}); len(errs) != 2 {
		t.Errorf("both missing: %v", errs)
	}
}

func TestFault_074_NoRules(t *testing.T) {
	files := Files{BoundariesFile: []byte("rules: []"), InvariantsFile: []byte("rules: []")}
	_, errs := loadFiles(files)
	wantCode(t, errs, document.CodeNoRules, "no enforced rule")
	files[DeprecatedFile] = []byte(goodBoundaries)
	_, errs = loadFiles(files)
	wantCode(t, errs, document.CodeNoRules, "no enforced rule")
	// No error about files that could not be read.
	for _, broken := range []string{"rules: [", "", "rules: 7"} {
		if _, errs := loadFiles(Files{BoundariesFile: []byte(broken),
			InvariantsFile: []byte("rules: []")}); len(errs) != 1 || errs[0].Code == document.CodeNoRules {
			t.Errorf("%q: %v", broken, errs)
		}
		if _, errs := loadFiles(Files{BoundariesFile: []byte(broken),
			InvariantsFile: []byte(broken)}); len(errs) != 2 {
			t.Errorf("%q twice: %v", broken, errs)
		}
	}
	files[InvariantsFile] = []byte(goodInvariants)
	if b, errs := loadFiles(files); errs != nil || len(b.Rules) != 1 || len(b.Deprecated) != 1 {
		t.Errorf("one list may be empty: %v", errs)
	}
}

// TestFault_075_UnknownKeys misspells every key in typical ways.
func TestFault_075_UnknownKeys(t *testing.T) {
	const full = `rules:
  - id: R-1
    title: t
    enforcement:
      mode: fail
    match:
      files: ["**"]
      exclude: ["a"]
      forbidden_patterns: ["x"]
    message: m
    remediation: r
    docs_url: https://example.com/
    owner: o
    severity: high
    tags: [a]
    redact: true
    examples:
      - path: a
        content: c
        violates: true
`
	if _, errs := loadBoundaries(full); errs != nil {
		t.Fatal(errs)
	}
	n := 0
	for i, line := range strings.Split(full, "\n") {
		key, _, ok := strings.Cut(strings.TrimLeft(line, " -"), ":")
		if !ok {
			continue
		}
		edits := []string{key + "s", key[1:], key[:len(key)-1], key[:1] + "q" + key[1:], strings.ToUpper(key),
			strings.ToUpper(key[:1]) + key[1:], " " + key}
		if len(key) > 2 {
			edits = append(edits, key[:1]+key[2:3]+key[1:2]+key[3:], key[:1]+"_"+key[1:])
		}
		for _, edit := range edits {
			if edit == key {
				continue
			}
			n++
			lines := strings.Split(full, "\n")
			lines[i] = strings.Replace(line, key+":", fmt.Sprintf("%q:", edit), 1)
			_, errs := loadBoundaries(strings.Join(lines, "\n"))
			if len(errs) != 1 {
				t.Errorf("%q for %q: %v; want one error", edit, key, errs)
				continue
			}
			column := strings.Index(lines[i], `"`) + 1
			e := errs[0]
			if e.Code != document.CodeKey || e.Line != i+1 || e.Column != column ||
				e.Fix != fmt.Sprintf("write %q", key) {
				t.Errorf("%q for %q: %s %v", edit, key, e.Code, e)
			}
		}
	}
	if n < 120 {
		t.Errorf("%d edits only", n)
	}
	// A very long key is not a misspelling.
	for length, want := range map[int]int{64: 1, 65: 2} { // the key is unknown; the title is missing
		_, errs := loadBoundaries(strings.Replace(full, "title", "title"+strings.Repeat("-", length-len("title")), 1))
		if len(errs) != want || (errs[want-1].Fix == `write "title"`) != (length == 64) {
			t.Errorf("a key of %d bytes: %v", length, errs)
		}
	}
}

func TestFault_076_Duplicates(t *testing.T) {
	_, errs := loadBoundaries(strings.Replace(goodBoundaries, "title: t", "title: t, title: u", 1))
	wantCode(t, errs, document.CodeDuplicate,
		"boundaries.yml:2:28: rule \"GOOD-1\": duplicate key \"title\", first on line 2")
	for _, other := range []string{InvariantsFile, DeprecatedFile} {
		files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
		files[other] = bytes.ReplaceAll([]byte(goodInvariants), []byte("GOOD-2"), []byte("GOOD-1"))
		_, errs := loadFiles(files)
		wantCode(t, errs, document.CodeDuplicate,
			other+":2:10: rule \"GOOD-1\": duplicate id, first at rules/boundaries.yml:2")
	}
	_, errs = loadBoundaries(goodBoundaries + strings.TrimPrefix(goodBoundaries, "rules:\n"))
	wantCode(t, errs, document.CodeDuplicate, "rules/boundaries.yml:3:10")
	// The mistakes of a rule without an id do not name the previous rule.
	_, errs = loadBoundaries(goodBoundaries + "  - {title: t, title: u}\n")
	if len(errs) == 0 || slices.ContainsFunc(errs, func(e *document.Error) bool { return e.Rule != "" }) {
		t.Errorf("a rule without an id: %v", errs)
	}
}

// TestFault_084_SameRules: a BOM and CRLF do not change the rules, and CRLF does not change the hash.
func TestFault_084_SameRules(t *testing.T) {
	if b, errs := loadBoundaries(ruleWith(`["**"]`, "[a\u00a0b]")); errs != nil ||
		b.Rules[0].Patterns[0] != Plain("a\u00a0b") {
		t.Errorf("a blank that does not break a line: %v", errs)
	}
	plain, errs := loadBoundaries(goodBoundaries)
	if errs != nil {
		t.Fatal(errs)
	}
	for name, content := range map[string]string{"byte order mark": "\uFEFF" + goodBoundaries,
		"CRLF": strings.ReplaceAll(goodBoundaries, "\n", "\r\n")} {
		b, errs := loadBoundaries(content)
		if errs != nil || b.Rules[0].ID != "GOOD-1" {
			t.Errorf("%s: %v", name, errs)
		} else if same := b.SHA256 == plain.SHA256; same != (name == "CRLF") {
			t.Errorf("%s: the same identity: %v", name, same)
		}
	}
	// With a BOM and CRLF, columns are as in an editor.
	_, errs = loadBoundaries("\uFEFFrulez: [é, 日]\r\n x: y\r\n")
	wantCode(t, errs, document.CodeSyntax, ":2")
	_, errs = loadBoundaries("\uFEFFrules: [é, 日, {}]\r\n")
	wantCode(t, errs, document.CodeType, ":1:9")
	if e := errs[len(errs)-1]; e.Column != 18 {
		t.Errorf("column %d, in bytes: %v", e.Column, e)
	}
}

func TestFault_085_Limits(t *testing.T) {
	rule := func(i int) string {
		return fmt.Sprintf("- {id: R%d, title: t, enforcement: {mode: fail}, match: {files: [\"**/*.tf\"], "+
			"forbidden_patterns: [x]}}\n", i)
	}
	many := func(n int) string {
		var b strings.Builder
		b.WriteString("rules:\n")
		for i := range n {
			b.WriteString(rule(i))
		}
		return b.String()
	}
	fill := func(s string) string { return strings.Repeat(s, document.MaxFileBytes/len(s)) }
	for _, c := range []struct{ name, content, code string }{
		{"one byte too many", strings.Repeat("#", document.MaxFileBytes+1), document.CodeLimit},
		{"10,001 rules", many(document.MaxRules), document.CodeLimit}, // and one invariant
		{"11,000 lists", "rules: " + strings.Repeat("[", 11_000), document.CodeLimit},
		{"3,000 keys", strings.Repeat("? ", 3_000), document.CodeLimit},
		{"free depth", "rules: []\nx-a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), document.CodeLimit},
		{"4 MiB of brackets", fill("["), document.CodeLimit},
		{"4 MiB of dashes", fill("- "), document.CodeLimit},
		{"a pattern", ruleWith(`["**"]`, `["`+strings.Repeat("x", document.MaxPatternBytes+1)+`"]`),
			document.CodeLimit},
		{"braces", "rules:\n" + func() string {
			var b strings.Builder
			for i := range 500 {
				fmt.Fprintf(&b, "- {id: R%d, title: t, enforcement: {mode: fail}, match: {files: [\"a%d%s\"], "+
					"forbidden_patterns: [x]}}\n", i, i, strings.Repeat("{a,b}", 8))
			}
			return b.String()
		}(), document.CodeLimit},
	} {
		files := Files{BoundariesFile: []byte(c.content), InvariantsFile: []byte(goodInvariants)}
		took := cputime.Of(func() {
			_, errs := loadFiles(files)
			if !slices.ContainsFunc(errs, func(e *document.Error) bool { return e.Code == c.code }) {
				t.Errorf("%s: %.300v", c.name, errs)
			}
		})
		if took > 2*time.Second && !cputime.RaceDetector {
			t.Errorf("%s took %v", c.name, took)
		}
	}
	b, errs := loadBoundaries(many(document.MaxRules - 1))
	if errs != nil || len(b.Rules) != document.MaxRules {
		t.Errorf("10,000 rules: %.300v", errs)
	}
}

// TestLimitsAreTheLast: a bundle at a limit loads, and one over it does not.
func TestLimitsAreTheLast(t *testing.T) {
	for limit, content := range map[string]func(more int) string{
		"an id of 200 bytes": func(more int) string {
			return strings.Replace(goodBoundaries, "GOOD-1", strings.Repeat("x", 200+more), 1)
		},
		"a file of 4 MiB": func(more int) string {
			return goodBoundaries + strings.Repeat("#\n", (document.MaxFileBytes-len(goodBoundaries))/2) +
				strings.Repeat(" ", (document.MaxFileBytes-len(goodBoundaries))%2+more)
		},
		"100 lists": func(more int) string {
			return goodBoundaries + "x-a: " + strings.Repeat("[", 100+more) + strings.Repeat("]", 100+more)
		},
	} {
		if _, errs := loadBoundaries(content(0)); errs != nil {
			t.Errorf("%s: %.300v", limit, errs)
		}
		if _, errs := loadBoundaries(content(1)); len(errs) != 1 {
			t.Errorf("one more than %s: %.300v", limit, errs)
		}
	}
}

// TestTooManyMistakes: loading stops after 10,000 mistakes in all files together.
func TestTooManyMistakes(t *testing.T) {
	wrong := func(good string, n int) []byte {
		return []byte(strings.Replace(good, "title: t", "title: t, tags: ["+strings.Repeat("' ', ", n)+"a]", 1))
	}
	for _, c := range []struct{ boundaries, invariants, want int }{{10_000, 0, 10_000}, {10_001, 0, 10_001},
		{12_000, 12_000, 10_001}, {6_000, 6_000, 10_001}} {
		_, errs := loadFiles(Files{BoundariesFile: wrong(goodBoundaries, c.boundaries),
			InvariantsFile: wrong(goodInvariants, c.invariants)})
		said := slices.ContainsFunc(errs, func(e *document.Error) bool {
			return e.Code == document.CodeLimit && e.Found == "more than 10000 mistakes"
		})
		if len(errs) != c.want || said != (c.want > 10_000) {
			t.Errorf("%d and %d mistakes: %d errors, and it is said that there are more: %v", c.boundaries,
				c.invariants, len(errs), said)
		}
	}
}

func TestFault_090_DeprecatedBroken(t *testing.T) {
	files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
	for _, content := range []string{"", "rules: [", "rules: [{}]", "rules: []\n---\n",
		"rules: [{id: A, title: t, enforcement: {mode: off}, match: {files: ['**'], required_absent: [x]}}]"} {
		files[DeprecatedFile] = []byte(content)
		if b, errs := loadFiles(files); b != nil || len(errs) == 0 || errs[0].File != DeprecatedFile {
			t.Errorf("%q: %v", content, errs)
		}
	}
	files[DeprecatedFile] = []byte("rules:\n  - {id: OLD, title: t, enforcement: {mode: fail}, match: {files: " +
		"['**'], required_absent: [x], forbidden_patterns: [y]}}\n")
	b, errs := loadFiles(files)
	if errs != nil || len(b.Deprecated) != 1 || !slices.Equal(b.Deprecated[0].Patterns, PlainItems("y", "x")) ||
		b.Deprecated[0].Type != Boundary {
		t.Fatalf("%v", errs)
	}
	files[DeprecatedFile] = []byte("rules:\n  - {id: OLD, title: t, enforcement: {mode: fail}, match: {files: " +
		"['**'], required_absent: []}}\n")
	if _, errs := loadFiles(files); len(errs) != 1 || errs[0].Fix != `write required_absent: ["0.0.0.0/0"]` {
		t.Errorf("a deprecated rule has patterns: %v", errs)
	}
	for content, want := range map[string]Type{goodBoundaries: Boundary, goodInvariants: Invariant} {
		files[DeprecatedFile] = []byte(strings.Replace(content, "GOOD-", "OLD-", 1))
		if b, errs := loadFiles(files); errs != nil || b.Deprecated[0].Type != want {
			t.Errorf("a deprecated %s: %v", want, errs)
		}
	}
	if got := b.Selecting("x", nil); len(got) != 0 {
		t.Errorf("a deprecated rule selects: %v", got)
	}
}

// yamlDouble writes a string in double quotes, with every character escaped.
func yamlDouble(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\U%08X`, r)
	}
	return `"` + b.String() + `"`
}

// TestFault_095_Globs: rules select by the semantics that package glob tests in full.
func TestFault_095_Globs(t *testing.T) {
	b, errs := loadBoundaries(ruleWith(`["**/*.tf", "k8s/**"]`,
		"[x]\n      exclude: [\"**/testdata/**\", \"k8s/[!a]*\"]"))
	if errs != nil {
		t.Fatal(errs)
	}
	for path, want := range map[string]bool{"a.tf": true, ".a/.b.tf": true, "a.TF": false, "a/testdata/b.tf": false,
		"testdata.tf": true, "k8s/a": true, "k8s/b": false, "k8s": false, "k8s/z/a": true, "\xff.tf": true} {
		if b.Rules[0].Selects(path) != want || (len(b.Selecting(path, nil)) == 1) != want {
			t.Errorf("%q: want %v", path, want)
		}
	}
}
