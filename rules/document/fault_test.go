package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/policyscan/policyscan/internal/cputime"
)

// The tests of this file are named after the rows of the project's table of faults.

const good = "rules:\n  - {id: GOOD, title: t}\n"

func inList(list string) string { return "rules:\n  - id: R-1\n    list: " + list + "\n" }

// wantCode fails unless the first error has the code and its text.
func wantCode(t *testing.T, errs Errors, code, text string) {
	t.Helper()
	if len(errs) == 0 || errs[0].Code != code || !strings.Contains(errs[0].Error(), text) {
		t.Errorf("got %v; want %s … %s", errs, code, text)
	}
}

func TestFault_077_SecondDocument(t *testing.T) {
	for _, after := range []string{"---\n", "---\nrules: []\n", "--- null\n", "---\n---\n", "...\nmore\n",
		"... more\n", "...\n---\n", "...\n[\n", "...\n# c\nx: y\n"} {
		errs := refused(good + after)
		wantCode(t, errs, CodeSyntax, "f.yml:")
		if len(errs) != 1 || errs[0].Line < 3 {
			t.Errorf("%q: %v", after, errs)
		}
	}
	for after, place := range map[string]string{"...\n\n# c\nx: y\n": ":6:1: ", "...\n\nx: y\n\n": ":5:1: ",
		"... # c\n... x\n": ":4:1: "} {
		errs := refused(good + after)
		wantCode(t, errs, CodeSyntax, place+"text after the end of the document")
	}
	for _, fine := range []string{"---\n" + good, good + "...\n", good +
		"...\n# the end\n"} {
		if errs := refused(fine); errs != nil {
			t.Errorf("%q: %v", fine, errs)
		}
	}
}

func TestFault_083_References(t *testing.T) {
	billion := "x-0: &a0 [x]\n"
	for i := range 9 {
		billion += fmt.Sprintf("x-%d: &a%d [%s]\n", i+1, i+1,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	for _, content := range []string{
		"rules: &a []", "&a rules: []", "rules: [&a {}, *a]", "x-a: &a b\nrules: []", "x-a: &a [*a]\nrules: []",
		"rules: []\n<<: {x-a: b}", "rules: []\nx-a: {<<: {a: b}}", "rules: []\nx-a: [{<<: [{a: b}]}]",
		"!!map {rules: []}", "rules: !!seq []", "!!str rules: []", "rules: []\nx-a: !!binary YQ==",
		"rules: []\nx-a: !foo b", "rules: []\nx-a: ! b", "rules: !<tag:yaml.org,2002:seq> []",
		"%TAG ! tag:example.com,2000:\n---\nrules: []", "%YAML 1.2\n---\nrules: []",
		inList("[!!binary YWJj]"), inList("[!!str abc]"),
		billion + "rules: *a9\n",
	} {
		took := cputime.Of(func() {
			errs := refused(content)
			if len(errs) == 0 || errs[0].Code != CodeSyntax {
				t.Errorf("%.60q: %v", content, errs)
			}
		})
		if took > time.Second {
			t.Errorf("%.60q took %v", content, took)
		}
	}
	for content, found := range map[string]string{
		"! rules: []\n": `:1:1: the tag "!"`, "! {rules: []}\n": `:1:1: the tag "!"`,
		"%YAML 1.2": ":1:1: a YAML directive", "# c\n\n%YAML 1.2\n---\nrules: []\n": ":3:1: a YAML directive",
	} {
		errs := refused(content)
		wantCode(t, errs, CodeSyntax, found)
		if len(errs) != 1 {
			t.Errorf("%q is one mistake: %v", content, errs)
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
		"UTF-16": utf16le(good), "UTF-16 ": "\xFF\xFE" +
			utf16le(good), " UTF-16": utf16be(good), "UTF-16  ": "\xFE\xFF" +
			utf16be(good),
		"UTF-32": utf32(good, true), "UTF-32 ": utf32("\uFEFF"+good,
			true), " UTF-32": utf32(good, false), "UTF-32  ": utf32("\uFEFF"+good, false),
		"UTF-16   ": "7\x00", "UTF-32   ": "7\x00\x00\x00", " UTF-32 ": "\x00\x00\x007",
		"U+0000": good + "x-a: \"\x00\"\n", "U+001B": good +
			"# \x1b[31m\n", "U+007F": good + "# \x7f\n", "U+0080": good + "# \u0080\n",
		"U+FFFF":          good + "# \uffff\n",
		"carriage return": "rules: []\rx-a: b\n", "carriage return ": strings.ReplaceAll(good, "\n",
			"\r"), "carriage return  ": good + "\r",
		"line separator U+0085": good + "# \u0085x\n", "line separator U+2028": good +
			"# \u2028x\n", "line separator U+2029": good + "# \u2029x\n",
		"U+FEFF": good + "\uFEFFx-a: b\n", "U+FEFF ": "\uFEFF\uFEFF" + good,
		"0xFF": good + "# \xff\n", "0xC0": good + "# \xc0\x80\n", "0xED": good +
			"# \xed\xa0\x80\n", "0xE9": "rules: []\nx-a: caf\xe9\n",
	} {
		errs := refused(content)
		if len(errs) != 1 {
			t.Errorf("%s: %v", name, errs)
			continue
		}
		wantCode(t, errs, CodeSyntax, strings.TrimSpace(name))
	}
	for bad, want := range map[string]string{
		"\x1b":   `the control character U+001B; remove it; within a string write "\x1B" in double quotes`,
		"\uffff": `write "\uFFFF" in double quotes`,
		"\u0085": `write "\N" in double quotes`, "\u2028": `write "\L" in double quotes`,
		"\xff": "the byte 0xFF is not UTF-8",
	} {
		errs := refused(good + "# " + bad + "\n")
		wantCode(t, errs, CodeSyntax, "f.yml:3:3: ")
		wantCode(t, errs, CodeSyntax, want)
	}
}

// TestPlace: the bundle's prefix is part of the place, but not of the text, which is the same everywhere.
func TestPlace(t *testing.T) {
	e := &Error{File: "rules/boundaries.yml", Line: 4, Column: 25, Rule: "A", Found: "found", Fix: "fix"}
	text := e.Error()
	in := Errors{e}.In(".policyscan/").In("HEAD:")[0]
	if in.Error() != text || text != `rules/boundaries.yml:4:25: rule "A": found; fix` ||
		e.Place() != "rules/boundaries.yml:4:25" {
		t.Errorf("%q, %q, %q", in.Error(), text, e.Place())
	}
	if got := in.Place() + " " + in.What(); got != `HEAD:.policyscan/rules/boundaries.yml:4:25 rule "A": found; fix` {
		t.Error(got)
	}
	if none := (&Error{Bundle: "HEAD:", Found: "no bundle"}); none.Place() != "" || none.Error() != "no bundle" {
		t.Errorf("%q %q", none.Place(), none.Error())
	}
}

// TestQuoted: a string is shown whole up to 160 bytes, and cut between two characters.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"a\n": `"a\n"`, strings.Repeat("a", 160): `"` + strings.Repeat("a", 160) + `"`, strings.Repeat("a", 161): `"` +
			strings.Repeat("a", 160) + `"…`, strings.Repeat("日", 60): `"` + strings.Repeat("日", 53) + `"…`,
	} {
		if got := Quoted(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// refused returns the mistakes in a text before its walk.
func refused(text string) Errors {
	var errs Errors
	errors.As((&Source{Name: "f.yml", Text: []byte(text)}).YAML(Form{}).Errors(), &errs)
	return errs
}

// TestLineOfSyntaxErrors: the line is where the text stops being valid YAML, wherever yaml.v3 reports it.
func TestLineOfSyntaxErrors(t *testing.T) {
	for content, line := range map[string]int{
		"rules:\n  - id: a\n   title: b\n":                               3,
		"rules:\n  - id: a\n    x: [\n      a,\n      b]\n   title: b\n": 6,
		"rules:\n  - id: \"a\n    title: b\n":                            2,
		"rules:\n  - id: {a\n    title: b\n":                             2,
		"rules:\n  - id: a\n    x: |\n     foo\n    bar\n    title: c\n": 5,
		"\n\n\nrules: ]\n": 4,
		"rules:\n  - id: a\n\n# c\n\n    title: b\n  }\n":              7,
		"rules:\r\n  - id: a\r\n   title: b\r\n":                       3,
		strings.Repeat("# c\n", 50) + "rules:\n  - \"\\d\"\n":          52,
		"rules: [" + strings.Repeat("\n  a,", 100) + "\n  b]\n  - c\n": 103,
	} {
		errs := refused(content)
		if len(errs) != 1 || errs[0].Code != CodeSyntax || errs[0].Line != line {
			t.Errorf("%.80q: %v; want line %d", content, errs, line)
		}
	}
	// If no prefix near the reported line is valid YAML, or the file is large, the line is yaml.v3's.
	comments := strings.Repeat("# a comment\n", maxProbeBytes/12-2)
	large := func(more int) string {
		return "#" + strings.Repeat("c", maxProbeBytes+more-len(comments)-len("#\nrules: ]\n")) + "\n" + comments +
			"rules: ]\n"
	}
	for content, line := range map[string]int{
		"rules: [\n  a,\n  b,\n  }\n":                                 4,
		"x-a: b\nrules: [\n" + strings.Repeat("  a,\n", 19) + "  }\n": 22,
		large(1): strings.Count(large(1), "\n"),
	} {
		errs := refused(content)
		if len(errs) != 1 || errs[0].Line < line-1 || errs[0].Line > line {
			t.Errorf("%.80q: %v; want line %d or that before it", content, errs, line)
		}
	}
	for content, line := range map[string]int{"x-a: b\nrules: [\n" + strings.Repeat("  a,\n", 18) + "  }\n": 2,
		large(0): strings.Count(large(0), "\n")} {
		if errs := refused(content); len(errs) != 1 || errs[0].Line != line {
			t.Errorf("%.80q: %v; want line %d", content, errs, line)
		}
	}
}
