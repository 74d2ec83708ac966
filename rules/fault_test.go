package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// The tests of this file are named by the rows of the project's table of faults.

// loadBoundaries loads a bundle whose boundaries are given and whose invariants are fine.
func loadBoundaries(boundaries string) (*Bundle, Errors) {
	return loadFiles(Files{BoundariesFile: []byte(boundaries), InvariantsFile: []byte(goodInvariants)})
}

func loadFiles(files Files) (*Bundle, Errors) {
	b, err := Load(files)
	var errs Errors
	if err != nil && !errors.As(err, &errs) {
		panic(fmt.Sprintf("Load returned %T", err))
	}
	return b, errs
}

// wantCode fails unless the first error has the code and the first line the text.
func wantCode(t *testing.T, errs Errors, code, text string) {
	t.Helper()
	if len(errs) == 0 || errs[0].Code != code || !strings.Contains(errs[0].Error(), text) {
		t.Errorf("got %v; want %s … %s", errs, code, text)
	}
}

// ruleWith returns boundaries of one rule with these lines of "match" and below.
func ruleWith(files, patterns string) string {
	return "rules:\n  - id: R-1\n    title: t\n    enforcement: {mode: fail}\n    match:\n      files: " + files + "\n      forbidden_patterns: " + patterns + "\n"
}

func TestFault_072_MissingFile(t *testing.T) {
	for _, name := range []string{BoundariesFile, InvariantsFile} {
		files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
		delete(files, name)
		_, errs := loadFiles(files)
		wantCode(t, errs, CodeMissing, name+": no such file")
	}
	if _, errs := loadFiles(Files{}); len(errs) != 2 {
		t.Errorf("both missing: %v", errs)
	}
}

func TestFault_073_NothingInTheFile(t *testing.T) {
	for content, code := range map[string]string{
		"": CodeEmpty, "\n\n": CodeEmpty, "# a\n": CodeEmpty, "null": CodeEmpty, "~\n": CodeEmpty, "---\n": CodeEmpty, "{}": CodeEmpty, "\uFEFF": CodeEmpty,
		"rules": CodeType, "7": CodeType, "- a": CodeType, "[]": CodeType, `""`: CodeType, "rules: 7": CodeType, "rules: {}": CodeType,
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
	wantCode(t, errs, CodeNoRules, "no enforced rule")
	files[DeprecatedFile] = []byte(goodBoundaries)
	_, errs = loadFiles(files)
	wantCode(t, errs, CodeNoRules, "no enforced rule")
	// Nothing is said of files that could not be read.
	for _, broken := range []string{"rules: [", "", "rules: 7"} {
		if _, errs := loadFiles(Files{BoundariesFile: []byte(broken), InvariantsFile: []byte("rules: []")}); len(errs) != 1 || errs[0].Code == CodeNoRules {
			t.Errorf("%q: %v", broken, errs)
		}
		if _, errs := loadFiles(Files{BoundariesFile: []byte(broken), InvariantsFile: []byte(broken)}); len(errs) != 2 {
			t.Errorf("%q twice: %v", broken, errs)
		}
	}
	files[InvariantsFile] = []byte(goodInvariants)
	if b, errs := loadFiles(files); errs != nil || len(b.Rules) != 1 || len(b.Deprecated) != 1 {
		t.Errorf("one list may be empty: %v", errs)
	}
}

// TestFault_075_UnknownKeys misspells every key in every way that a hand does.
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
		edits := []string{key + "s", key[1:], key[:len(key)-1], key[:1] + "q" + key[1:], strings.ToUpper(key), strings.ToUpper(key[:1]) + key[1:], " " + key}
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
			if e.Code != CodeKey || e.Line != i+1 || e.Column != column || e.Fix != fmt.Sprintf("write %q", key) {
				t.Errorf("%q for %q: %s %v", edit, key, e.Code, e)
			}
		}
	}
	if n < 120 {
		t.Errorf("%d edits only", n)
	}
}

func TestFault_076_Duplicates(t *testing.T) {
	_, errs := loadBoundaries(strings.Replace(goodBoundaries, "title: t", "title: t, title: u", 1))
	wantCode(t, errs, CodeDuplicate, "boundaries.yml:2:28: rule \"GOOD-1\": the key \"title\" is there twice")
	for _, other := range []string{InvariantsFile, DeprecatedFile} {
		files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
		files[other] = bytes.ReplaceAll([]byte(goodInvariants), []byte("GOOD-2"), []byte("GOOD-1"))
		_, errs := loadFiles(files)
		wantCode(t, errs, CodeDuplicate, other+":2:10: rule \"GOOD-1\": the id is there twice, first at rules/boundaries.yml:2")
	}
	_, errs = loadBoundaries(goodBoundaries + strings.TrimPrefix(goodBoundaries, "rules:\n"))
	wantCode(t, errs, CodeDuplicate, "rules/boundaries.yml:3:10")
}

func TestFault_077_SecondDocument(t *testing.T) {
	for _, after := range []string{"---\n", "---\nrules: []\n", "--- null\n", "---\n---\n", "...\nmore\n", "... more\n", "...\n---\n", "...\n[\n", "...\n# c\nx: y\n"} {
		_, errs := loadBoundaries(goodBoundaries + after)
		wantCode(t, errs, CodeSyntax, "rules/boundaries.yml:")
		if len(errs) != 1 || errs[0].Line < 3 {
			t.Errorf("%q: %v", after, errs)
		}
	}
	for _, fine := range []string{"---\n" + goodBoundaries, goodBoundaries + "...\n", goodBoundaries + "...\n# the end\n"} {
		if _, errs := loadBoundaries(fine); errs != nil {
			t.Errorf("%q: %v", fine, errs)
		}
	}
}

func TestFault_078_EmptyItems(t *testing.T) {
	for _, item := range []string{"", "~", "null", "Null", `""`, "''", `" "`, `"\t"`, `"\n"`, `"\u00a0"`, `"\r\n"`} {
		list := "\n        - a\n        - " + item + "\n        - b"
		_, errs := loadBoundaries(ruleWith(`["**"]`, list))
		if len(errs) != 1 || errs[0].Code != CodeValue || errs[0].Line != 9 {
			t.Errorf("pattern %q: %v", item, errs)
		}
		_, errs = loadBoundaries(ruleWith(list, "[x]"))
		if len(errs) != 1 || errs[0].Code != CodeValue || errs[0].Line != 8 {
			t.Errorf("glob %q: %v", item, errs)
		}
	}
	for _, list := range []string{"[]", "", "~"} {
		_, errs := loadBoundaries(ruleWith(list, "[x]"))
		wantCode(t, errs, CodeValue, `"files"`)
		_, errs = loadBoundaries(ruleWith(`["**"]`, list))
		wantCode(t, errs, CodeValue, `"forbidden_patterns"`)
	}
}

func TestFault_079_WrongKinds(t *testing.T) {
	for _, list := range []string{"a", `"a"`, "7", "{a: b}", "[[a]]", "[{a: b}]", "[a, [b]]"} {
		_, errs := loadBoundaries(ruleWith(list, "[x]"))
		wantCode(t, errs, CodeType, "files")
		_, errs = loadBoundaries(ruleWith(`["**"]`, list))
		wantCode(t, errs, CodeType, "forbidden_patterns")
	}
	_, errs := loadBoundaries(ruleWith(`"**/*.tf"`, "[x]"))
	wantCode(t, errs, CodeType, `write files: ['**/*.tf']`)
}

func TestFault_080_Mode(t *testing.T) {
	for _, mode := range []string{"FAIL", "Fail", "warn", `"fail "`, "true", "off", "~", "", "[fail]", "{fail: true}", `""`} {
		_, errs := loadBoundaries(strings.Replace(goodBoundaries, "mode: fail", "mode: "+mode, 1))
		if len(errs) != 1 || !slices.Contains([]string{CodeValue, CodeType}, errs[0].Code) || !strings.Contains(errs[0].Error(), "fail") && errs[0].Code == CodeValue {
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
		`"a" b`:             `'"a" b'`,
		"it: is 'so'":       `"it: is 'so'"`,
		"é: 日本":             "é",
		"privileged:  true": `'privileged:  true'`,
	} {
		_, errs := loadBoundaries(ruleWith(`["**"]`, "\n        - fine\n        - "+pattern))
		if len(errs) != 1 || errs[0].Line != 9 || errs[0].Column != 11 && pattern != "#x" || !strings.Contains(errs[0].Fix, "quote it") || !strings.Contains(errs[0].Error(), fix) {
			t.Errorf("%s: %v", pattern, errs)
		}
	}
	// A pattern that loses its end to a comment loads, with a note.
	b, errs := loadBoundaries(ruleWith(`["**"]`, "\n        - password #1"))
	if errs != nil || b.Rules[0].Patterns[0] != "password" {
		t.Fatal(errs)
	}
	if notes := Notes(b); len(notes) != 1 || notes[0].Line != 8 || notes[0].Column != 11 || !strings.Contains(notes[0].Text, `"#1"`) {
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
		if r := b.Rules[0]; r.Files[0] != text || r.Patterns[0] != text {
			t.Errorf("%s was taken as %q and %q", text, r.Files[0], r.Patterns[0])
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
	for _, text := range []string{"nope", "yesterday", "0.0.0.0/0", "1.2.3", "v1", "10.0.0.0/8", "a1", `"no"`, "'0777'"} {
		b, errs := loadBoundaries(ruleWith("['**']", "["+text+"]"))
		if errs != nil || len(Notes(b)) != 0 {
			t.Errorf("%s: %v, notes %v", text, errs, Notes(b))
		}
	}
}

func TestFault_083_References(t *testing.T) {
	billion := "x-0: &a0 [x]\n"
	for i := range 9 {
		billion += fmt.Sprintf("x-%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	for _, content := range []string{
		"rules: &a []", "&a rules: []", "rules: [&a {}, *a]", "x-a: &a b\nrules: []", "x-a: &a [*a]\nrules: []",
		"rules: []\n<<: {x-a: b}", "rules: []\nx-a: {<<: {a: b}}", "rules: []\nx-a: [{<<: [{a: b}]}]",
		"!!map {rules: []}", "rules: !!seq []", "!!str rules: []", "rules: []\nx-a: !!binary YQ==", "rules: []\nx-a: !foo b", "rules: []\nx-a: ! b", "rules: !<tag:yaml.org,2002:seq> []",
		"%TAG ! tag:example.com,2000:\n---\nrules: []", "%YAML 1.2\n---\nrules: []",
		ruleWith(`["**"]`, "[!!binary YWJj]"), ruleWith(`["**"]`, "[!!str abc]"),
		billion + "rules: *a9\n",
	} {
		start := time.Now()
		_, errs := loadBoundaries(content)
		if len(errs) == 0 || errs[0].Code != CodeSyntax {
			t.Errorf("%.60q: %v", content, errs)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.60q took %v", content, took)
		}
	}
}

func TestFault_084_Encodings(t *testing.T) {
	utf16le := func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
		return b.String()
	}
	utf16be := func(s string) string {
		b := []byte(utf16le(s))
		for i := 0; i+1 < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
		return string(b)
	}
	utf32 := func(s string, big bool) string {
		var b strings.Builder
		for _, r := range s {
			if big {
				b.Write([]byte{0, byte(r >> 16), byte(r >> 8), byte(r)})
			} else {
				b.Write([]byte{byte(r), byte(r >> 8), byte(r >> 16), 0})
			}
		}
		return b.String()
	}
	for name, content := range map[string]string{
		"UTF-16": utf16le(goodBoundaries), "UTF-16 ": "\xFF\xFE" + utf16le(goodBoundaries), " UTF-16": utf16be(goodBoundaries), "UTF-16  ": "\xFE\xFF" + utf16be(goodBoundaries),
		"UTF-32": utf32(goodBoundaries, true), "UTF-32 ": utf32("\uFEFF"+goodBoundaries, true), " UTF-32": utf32(goodBoundaries, false), "UTF-32  ": utf32("\uFEFF"+goodBoundaries, false),
		"U+0000": goodBoundaries + "x-a: \"\x00\"\n", "U+001B": goodBoundaries + "# \x1b[31m\n", "U+007F": goodBoundaries + "# \x7f\n", "U+0080": goodBoundaries + "# \u0080\n", "U+FFFF": goodBoundaries + "# \uffff\n",
		"carriage return": "rules: []\rx-a: b\n", "carriage return ": strings.ReplaceAll(goodBoundaries, "\n", "\r"), "carriage return  ": goodBoundaries + "\r",
		"line separator U+0085": goodBoundaries + "# \u0085x\n", "line separator U+2028": goodBoundaries + "# \u2028x\n", "line separator U+2029": goodBoundaries + "# \u2029x\n",
		"U+FEFF": goodBoundaries + "\uFEFFx-a: b\n", "U+FEFF ": "\uFEFF\uFEFF" + goodBoundaries,
		"0xFF": goodBoundaries + "# \xff\n", "0xC0": goodBoundaries + "# \xc0\x80\n", "0xED": goodBoundaries + "# \xed\xa0\x80\n", "0xE9": "rules: []\nx-a: caf\xe9\n",
	} {
		_, errs := loadBoundaries(content)
		if len(errs) != 1 {
			t.Errorf("%s: %v", name, errs)
			continue
		}
		wantCode(t, errs, CodeSyntax, strings.TrimSpace(name))
	}
	plain, errs := loadBoundaries(goodBoundaries)
	if errs != nil {
		t.Fatal(errs)
	}
	for name, content := range map[string]string{"byte order mark": "\uFEFF" + goodBoundaries, "CRLF": strings.ReplaceAll(goodBoundaries, "\n", "\r\n")} {
		b, errs := loadBoundaries(content)
		if errs != nil || b.Rules[0].ID != "GOOD-1" {
			t.Errorf("%s: %v", name, errs)
		} else if same := b.SHA256 == plain.SHA256; same != (name == "CRLF") {
			t.Errorf("%s: the same identity: %v", name, same)
		}
	}
	// Columns of a file with a mark and CRLF are those that an editor shows.
	_, errs = loadBoundaries("\uFEFFrulez: [é, 日]\r\n x: y\r\n")
	wantCode(t, errs, CodeSyntax, ":2")
	_, errs = loadBoundaries("\uFEFFrules: [é, 日, {}]\r\n")
	wantCode(t, errs, CodeType, ":1:9")
	if e := errs[len(errs)-1]; e.Column != 18 {
		t.Errorf("column %d, in bytes: %v", e.Column, e)
	}
}

func TestFault_085_Limits(t *testing.T) {
	rule := func(i int) string {
		return fmt.Sprintf("- {id: R%d, title: t, enforcement: {mode: fail}, match: {files: [\"**/*.tf\"], forbidden_patterns: [x]}}\n", i)
	}
	many := func(n int) string {
		var b strings.Builder
		b.WriteString("rules:\n")
		for i := range n {
			b.WriteString(rule(i))
		}
		return b.String()
	}
	fill := func(s string) string { return strings.Repeat(s, MaxFileBytes/len(s)) }
	for _, c := range []struct{ name, content, code string }{
		{"100 MB", strings.Repeat("# a comment\n", 100<<20/12), CodeLimit},
		{"one byte too many", strings.Repeat("#", MaxFileBytes+1), CodeLimit},
		{"20,000 rules", many(20_000), CodeLimit},
		{"10,001 rules", many(MaxRules), CodeLimit}, // and one invariant
		{"10,000 lists", "rules: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), CodeLimit},
		{"11,000 lists", "rules: " + strings.Repeat("[", 11_000), CodeLimit},
		{"9,000 items", "rules:\n" + strings.Repeat("- ", 9_000), CodeLimit},
		{"5,000 mappings", "rules: " + strings.Repeat("{a: ", 5_000) + strings.Repeat("}", 5_000), CodeLimit},
		{"3,000 keys", strings.Repeat("? ", 3_000), CodeLimit},
		{"free depth", "rules: []\nx-a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), CodeLimit},
		{"4 MiB of brackets", fill("["), CodeLimit},
		{"4 MiB of dashes", fill("- "), CodeLimit},
		{"a pattern", ruleWith(`["**"]`, `["`+strings.Repeat("x", MaxPatternBytes+1)+`"]`), CodeLimit},
		{"braces", "rules:\n" + func() string {
			var b strings.Builder
			for i := range 500 {
				fmt.Fprintf(&b, "- {id: R%d, title: t, enforcement: {mode: fail}, match: {files: [\"a%d%s\"], forbidden_patterns: [x]}}\n", i, i, strings.Repeat("{a,b}", 8))
			}
			return b.String()
		}(), CodeLimit},
	} {
		files := Files{BoundariesFile: []byte(c.content), InvariantsFile: []byte(goodInvariants)}
		took := time.Duration(0)
		for range 4 { // the machine may be busy
			start := time.Now()
			_, errs := loadFiles(files)
			took = time.Since(start)
			if !slices.ContainsFunc(errs, func(e *Error) bool { return e.Code == c.code }) {
				t.Errorf("%s: %.300v", c.name, errs)
			}
			if took < time.Second || raceEnabled {
				break
			}
		}
		if took > time.Second && !raceEnabled {
			t.Errorf("%s took %v", c.name, took)
		}
	}
	b, errs := loadBoundaries(many(MaxRules - 1))
	if errs != nil || len(b.Rules) != MaxRules {
		t.Errorf("10,000 rules: %.300v", errs)
	}
}

func TestFault_090_DeprecatedBroken(t *testing.T) {
	files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
	for _, content := range []string{"", "rules: [", "rules: [{}]", "rules: []\n---\n", "rules: [{id: A, title: t, enforcement: {mode: off}, match: {files: ['**'], required_absent: [x]}}]"} {
		files[DeprecatedFile] = []byte(content)
		if b, errs := loadFiles(files); b != nil || len(errs) == 0 || errs[0].File != DeprecatedFile {
			t.Errorf("%q: %v", content, errs)
		}
	}
	files[DeprecatedFile] = []byte("rules:\n  - {id: OLD, title: t, enforcement: {mode: fail}, match: {files: ['**'], required_absent: [x], forbidden_patterns: [y]}}\n")
	b, errs := loadFiles(files)
	if errs != nil || len(b.Deprecated) != 1 || !slices.Equal(b.Deprecated[0].Patterns, []string{"y", "x"}) || b.Deprecated[0].Type != Boundary {
		t.Fatalf("%v", errs)
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
	for _, pattern := range []string{strings.Repeat("x", MaxPatternBytes), "a\x00b", "\x00", "x\u0085", "a\nb", "a\r\nb", "\uFEFF", "\U0001F512", "\\", `'"`, " a ", strings.Repeat("é", MaxPatternBytes/2)} {
		b, errs := loadBoundaries(ruleWith(`["**"]`, "["+yamlDouble(pattern)+"]"))
		if errs != nil || b.Rules[0].Patterns[0] != pattern {
			t.Errorf("%.40q: %.300v", pattern, errs)
		}
	}
	_, errs := loadBoundaries(ruleWith(`["**"]`, `["`+strings.Repeat("é", MaxPatternBytes/2)+`x"]`))
	wantCode(t, errs, CodeLimit, "65537 bytes")
}

// yamlDouble writes a text in double quotes, every character escaped.
func yamlDouble(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\U%08X`, r)
	}
	return `"` + b.String() + `"`
}
