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
	"github.com/policyscan/policyscan/rules/glob"
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

func TestFault_073_NothingInTheFile(t *testing.T) {
	for content, code := range map[string]string{
		"": document.CodeEmpty, "\n\n": document.CodeEmpty, "# a\n": document.CodeEmpty, "null": document.CodeEmpty,
		"~\n": document.CodeEmpty, "---\n": document.CodeEmpty, "{}": document.CodeEmpty, "\uFEFF": document.CodeEmpty,
		"rules": document.CodeType, "7": document.CodeType, "- a": document.CodeType, "[]": document.CodeType,
		`""`: document.CodeType, "rules: 7": document.CodeType, "rules: {}": document.CodeType,
	} {
		for _, name := range []string{BoundariesFile, InvariantsFile, DeprecatedFile} {
			files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
			files[name] = []byte(content)
			_, errs := loadFiles(files)
			wantCode(t, errs, code, name)
		}
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

func TestFault_078_EmptyItems(t *testing.T) {
	for _, item := range []string{"", "~", "null", "Null", `""`, "''", `" "`, `"\t"`, `"\n"`, `"\u00a0"`, `"\r\n"`} {
		list := "\n        - a\n        - " + item + "\n        - b"
		_, errs := loadBoundaries(ruleWith(`["**"]`, list))
		if len(errs) != 1 || errs[0].Code != document.CodeValue || errs[0].Line != 9 {
			t.Errorf("pattern %q: %v", item, errs)
		}
		_, errs = loadBoundaries(ruleWith(list, "[x]"))
		if len(errs) != 1 || errs[0].Code != document.CodeValue || errs[0].Line != 8 {
			t.Errorf("glob %q: %v", item, errs)
		}
	}
	for _, list := range []string{"[]", "", "~"} {
		_, errs := loadBoundaries(ruleWith(list, "[x]"))
		wantCode(t, errs, document.CodeValue, `"files"`)
		_, errs = loadBoundaries(ruleWith(`["**"]`, list))
		wantCode(t, errs, document.CodeValue, `"forbidden_patterns"`)
	}
}

func TestFault_079_WrongKinds(t *testing.T) {
	for _, list := range []string{"a", `"a"`, "7", "{a: b}", "[[a]]", "[{a: b}]", "[a, [b]]"} {
		_, errs := loadBoundaries(ruleWith(list, "[x]"))
		wantCode(t, errs, document.CodeType, "files")
		_, errs = loadBoundaries(ruleWith(`["**"]`, list))
		wantCode(t, errs, document.CodeType, "forbidden_patterns")
	}
	_, errs := loadBoundaries(ruleWith(`"**/*.tf"`, "[x]"))
	wantCode(t, errs, document.CodeType, `write files: ['**/*.tf']`)
	_, errs = loadBoundaries(ruleWith(`"a\x7F"`, "[x]"))
	wantCode(t, errs, document.CodeType, `write files: ["a\x7f"]`)
	// A long string is not repeated.
	for length, again := range map[int]bool{80: true, 81: false} {
		text := strings.Repeat("a", length)
		if _, errs := loadBoundaries(ruleWith(text, "[x]")); len(errs) != 1 ||
			strings.Contains(errs[0].Fix, text) != again {
			t.Errorf("a text of %d bytes: %v", length, errs)
		}
	}
}

// TestOneLine: a title is one line of visible characters.
func TestOneLine(t *testing.T) {
	for title, want := range map[string]int{`"a b"`: 0, `"\ta"`: 1, `"a\n"`: 1, `"a\x7Fb"`: 1, `"a\Lb"`: 1} {
		if _, errs := loadBoundaries(strings.Replace(goodBoundaries, "title: t", "title: "+title,
			1)); len(errs) != want {
			t.Errorf("%s: %v", title, errs)
		}
	}
}

func TestFault_080_Mode(t *testing.T) {
	for _, mode := range []string{"FAIL", "Fail", "warn", `"fail "`, "true", "off", "~", "", "[fail]", "{fail: true}",
		`""`} {
		_, errs := loadBoundaries(strings.Replace(goodBoundaries, "mode: fail", "mode: "+mode, 1))
		if len(errs) != 1 || !slices.Contains([]string{document.CodeValue, document.CodeType}, errs[0].Code) ||
			!strings.Contains(errs[0].Error(), "fail") && errs[0].Code == document.CodeValue {
			t.Errorf("mode %q: %v", mode, errs)
		}
	}
	for _, enforcement := range []string{"{}", "", "~", "fail", "[fail]", "{level: fail}"} {
		_, errs := loadBoundaries(strings.Replace(goodBoundaries, "{mode: fail}", enforcement, 1))
		if len(errs) == 0 {
			t.Errorf("enforcement %q loads", enforcement)
		}
	}
}

func TestFault_081_MissingQuotes(t *testing.T) {
	for pattern, fix := range map[string]string{
		"*:*":               `'*:*'`,
		"*":                 `'*'`,
		"*admin":            `'*admin'`,
		"a: b":              `'a: b'`,
		`"Action": "*"`:     `'"Action": "*"'`,
		"!x":                "quote it",
		"!":                 "quote it",
		"! x":               "quote it",
		"&x":                "quote it",
		"&x y":              "quote it",
		"@x":                `'@x'`,
		"%x":                `'%x'`,
		"`x`":               "'`x`'",
		"#x":                `'#x'`,
		"{a,b}.c":           `'{a,b}.c'`,
		"[a].c":             `'[a].c'`,
		"[].c":              `'[].c'`,
		`"a" b`:             `'"a" b'`,
		"it: is 'so'":       `"it: is 'so'"`,
		"é: 日本":             "é",
		"privileged:  true": `'privileged:  true'`,

		"*" + strings.Repeat("x", 159): "quote it: '*" + strings.Repeat("x", 159) + "'",
		"*" + strings.Repeat("x", 160): "…",
	} {
		_, errs := loadBoundaries(ruleWith(`["**"]`, "\n        - fine\n        - "+pattern))
		if len(errs) != 1 || errs[0].Line != 9 || errs[0].Column != 11 && pattern != "#x" ||
			!strings.Contains(errs[0].Fix, "quote it") || !strings.Contains(errs[0].Error(), fix) {
			t.Errorf("%s: %v", pattern, errs)
		}
	}
	// No message suggests quotes that are not missing.
	for _, value := range []string{"{a: b}", "[a, b]", `"a b"`, "'a' # c"} {
		_, errs := loadBoundaries("rules: []\n x-a: " + value + "\n")
		wantCode(t, errs, document.CodeSyntax, ":2: not YAML: ")
	}
	// The string that YAML reads as an alias is found in any line.
	for content, place := range map[string]string{"rules: [\n  a,\n  *x\n]\n": ":3:3: ", "rules: [\n  *x": ":2:3: ",
		"x-a: &b c\nrules: [*x]\n": ":2:9: "} {
		_, errs := loadBoundaries(content)
		wantCode(t, errs, document.CodeSyntax, place+`"*x": an unquoted string`)
	}
	// A pattern that loses its end to a comment loads, with a note.
	b, errs := loadBoundaries(ruleWith(`["**"]`, "\n        - password #1"))
	if errs != nil || b.Rules[0].Patterns[0] != Plain("password") {
		t.Fatal(errs)
	}
	if notes := Notes(b); len(notes) != 1 || notes[0].Line != 8 || notes[0].Column != 11 ||
		!strings.Contains(notes[0].Text, `"#1"`) {
		t.Errorf("notes: %v", notes)
	}
}

func TestFault_082_PlainScalars(t *testing.T) {
	for _, text := range []string{
		"no", "No", "NO", "yes", "on", "off", "y", "n", "true", "False", "TRUE",
		"0777", "0o14", "0x1F", "0b1", "1", "-1", "+1", "1_000", "190:20:30", "12:30",
		"1.0", "1.10", "1e3", "-1.5E-3", ".5", ".inf", "-.INF", ".nan",
		"2024-01-01", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10",
	} {
		b, errs := loadBoundaries(ruleWith("["+text+"]", "["+text+"]"))
		if errs != nil {
			t.Errorf("%s: %v", text, errs)
			continue
		}
		if r := b.Rules[0]; r.Files[0] != text || r.Patterns[0] != Plain(text) {
			t.Errorf("%s was taken as %q and %q", text, r.Files[0], r.Patterns[0].Text)
		}
		quote := 0
		for _, n := range Notes(b) {
			if strings.Contains(n.Text, "quote it: '"+text+"'") {
				quote++
			}
		}
		if quote != 2 {
			t.Errorf("%s: %d notes of 2: %v", text, quote, Notes(b))
		}
	}
	for _, text := range []string{"nope", "yesterday", "0.0.0.0/0", "1.2.3", "v1", "10.0.0.0/8", "a1", `"no"`,
		"'0777'"} {
		b, errs := loadBoundaries(ruleWith("['**']", "["+text+"]"))
		if errs != nil || len(Notes(b)) != 0 {
			t.Errorf("%s: %v, notes %v", text, errs, Notes(b))
		}
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
		{"100 MB", strings.Repeat("# a comment\n", 100<<20/12), document.CodeLimit},
		{"one byte too many", strings.Repeat("#", document.MaxFileBytes+1), document.CodeLimit},
		{"20,000 rules", many(20_000), document.CodeLimit},
		{"10,001 rules", many(document.MaxRules), document.CodeLimit}, // and one invariant
		{"10,000 lists", "rules: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), document.CodeLimit},
		{"11,000 lists", "rules: " + strings.Repeat("[", 11_000), document.CodeLimit},
		{"9,000 items", "rules:\n" + strings.Repeat("- ", 9_000), document.CodeLimit},
		{"5,000 mappings", "rules: " + strings.Repeat("{a: ", 5_000) + strings.Repeat("}", 5_000), document.CodeLimit},
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
		"100,000 expansions": func(more int) string {
			var globs []string
			for i := range 390 {
				globs = append(globs, fmt.Sprintf(`"a%d%s"`, i, strings.Repeat("{a,b}", 8)))
			}
			for i := range 100_000 - 390*256 - 1 + more { // the invariants have one
				globs = append(globs, fmt.Sprintf(`"b%d"`, i))
			}
			return ruleWith("["+strings.Join(globs, ", ")+"]", "[x]")
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

func TestFault_091_Patterns(t *testing.T) {
	for _, pattern := range []string{strings.Repeat("x", document.MaxPatternBytes), "a\x00b", "\x00", "x\u0085",
		"a\nb", "a\r\nb", "\uFEFF", "\U0001F512", "\\", `'"`, " a ", strings.Repeat("é", document.MaxPatternBytes/2)} {
		b, errs := loadBoundaries(ruleWith(`["**"]`, "["+yamlDouble(pattern)+"]"))
		if errs != nil || b.Rules[0].Patterns[0] != Plain(pattern) {
			t.Errorf("%.40q: %.300v", pattern, errs)
		}
	}
	_, errs := loadBoundaries(ruleWith(`["**"]`, `["`+strings.Repeat("é", document.MaxPatternBytes/2)+`x"]`))
	wantCode(t, errs, document.CodeLimit, "65537 bytes")
}

// yamlDouble writes a string in double quotes, with every character escaped.
func yamlDouble(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\U%08X`, r)
	}
	return `"` + b.String() + `"`
}

func TestFault_092_InvalidGlobs(t *testing.T) {
	for _, g := range []string{"[a", "{a", `a\`, "a}", "[]", "[!]", "a/[", "{a,[}"} {
		_, errs := loadBoundaries(ruleWith("["+yamlDouble(g)+"]", "[x]"))
		wantCode(t, errs, document.CodeGlob, "rules/boundaries.yml:6:15: rule \"R-1\": ")
	}
}

func TestFault_093_NeverMatches(t *testing.T) {
	for g, fix := range map[string]string{
		"!a": `write "a" under "exclude"`, "/a": `write "a"`, "./a": "remove it", "../a": "root of the tree",
		"a/": `write "a/**"`, "a//b": `a single "/"`,
		"a ": `write "a"`, "@(a)": "{a,b}", "!(a)": `"exclude"`, "+(a)": "{a,b}", "[[:digit:]]": "[0-9]",
		"[a/b]": "{a,b/c}", "[9-0]": `write "0-9"`,
		"**.tf": `write "**/*.tf"`, strings.Repeat("{a,b}", 9): "several globs", strings.Repeat("a",
			1025): "several globs", "{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b}": "several globs",
	} {
		for _, content := range []string{
			ruleWith("["+yamlDouble(g)+"]", "[x]"),
			ruleWith(`["**"]`, "[x]\n      exclude: ["+yamlDouble(g)+"]"),
		} {
			_, errs := loadBoundaries(content)
			wantCode(t, errs, document.CodeGlob, fix)
			if len(errs) != 1 {
				t.Errorf("%q: %v", g, errs)
			}
		}
	}
}

// TestFault_094_CatastrophicBraces: package glob tests the time for one glob; this tests a bundle full of the worst
// accepted ones.
func TestFault_094_CatastrophicBraces(t *testing.T) {
	took := cputime.Of(func() {
		for range 20 {
			_, errs := loadBoundaries(ruleWith(`["`+strings.Repeat("{a,aa}", 26)+`"]`, "[x]"))
			wantCode(t, errs, document.CodeGlob, "26 brace groups")
		}
	})
	if took > 200*time.Millisecond && !cputime.RaceDetector {
		t.Errorf("took %v twenty times", took)
	}
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

func TestFault_097_WindowsSeparators(t *testing.T) {
	for g, fix := range map[string]string{`modules\main.tf`: `write "modules/main.tf"`, `**\*.tf`: `write "**/*.tf"`,
		`a\**\*.tf`: `write "a/**/*.tf"`, `.\a`: `"/" between folders`, `C:\a\b`: `write "C:/a/b"`} {
		_, errs := loadBoundaries(ruleWith("['"+g+"']", "[x]"))
		wantCode(t, errs, document.CodeGlob, fix)
		if glob.Check(g) == nil {
			t.Errorf("glob.Check accepts %q", g)
		}
	}
	// A glob that could be intended has a note.
	b, errs := loadBoundaries(ruleWith(`['modules/\*.tf']`, "[x]"))
	if errs != nil || len(Notes(b)) != 1 {
		t.Errorf("%v", errs)
	}
}
