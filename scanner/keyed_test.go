package scanner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/match"
)

// keyBundle loads a bundle of 0.2 with a rule in invariants.yml, given from its "match" on.
func keyBundle(t testing.TB, match string) *rules.Bundle {
	t.Helper()
	const head = "bundle: \"0.2\"\nrules:"
	b, err := rules.Load(rules.Files{
		rules.BoundariesFile: []byte(head + " []\n"),
		rules.InvariantsFile: []byte(head + "\n  - {id: K, title: T, enforcement: {mode: fail}, " + match + "}\n"),
	})
	must(t, err)
	return b
}

// The keys of a file do not depend on the number of windows or reads.
func TestKeysOfLongFiles(t *testing.T) {
	b := keyBundle(t, `match: {files: ["**"],
    required_absent: [{key: "**.on", is: true}, {key: "**.on", is: yes_it_is}]}`)
	long := strings.Repeat("# ä\r\n", match.WindowSize/3) + "a:\r\n  - {on: yes}\r\nb: {on: 'true'}\n"
	want, err := check.File(t.Context(), b, "a.yaml", []byte(long))
	must(t, err)
	if len(want) != 1 || want[0].Evidence.Occurrences != 2 || want[0].Evidence.Excerpt != "  - {on: yes}" ||
		want[0].Evidence.Line != match.WindowSize/3+2 || want[0].Evidence.Column != 10 {
		t.Fatalf("%+v", want)
	}
	v := scanDir(t, writeTree(t, map[string]string{"a.yaml": long}), b, testOptions{})
	if d := cmp.Diff(want, v.Violations); d != "" {
		t.Errorf("-check +scan: %s", d)
	}
}

// A file that cannot be parsed is not scanned, but its text is still checked. Links and placeholders are not checked
// for keys.
func TestKeysThatAreNotAsked(t *testing.T) {
	b := keyBundle(t, `match: {files: ["**"],
    required_absent: [{key: a, is: 1, format: json}, BAD], required_patterns: [OWNER, {key: b, format: json}]}`)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 1\n"
	for _, c := range []struct {
		name, content string
		allow         []string
		want, items   string
	}{
		{name: "whole", content: `{"b": "OWNER"}`, want: "P"},
		{name: "broken", content: `{"b": BAD`, want: "F", items: "BAD OWNER"},
		{name: "broken, and fine", content: `{"b": OWNER`, want: "I(E_PARSE)"},
		{name: "deep", content: strings.Repeat("[", 2000) + "OWNER", want: "I(E_LIMIT)"},
		{name: "pointer", content: pointer, want: "I(E_UNAVAILABLE)"},
		{name: "pointer that is allowed", content: pointer, allow: []string{check.AllowLFSPointer}, want: "P"},
		{name: "empty", content: "", want: "F", items: `OWNER {"key":"b","format":"json"}`},
		{name: "null", content: `null`, want: "F", items: `OWNER {"key":"b","format":"json"}`},
	} {
		v := scanDir(t, writeTree(t, map[string]string{"f": c.content}), b, testOptions{Allow: c.allow})
		var items []string
		for i := range v.Violations {
			items = append(items, v.Violations[i].Evidence.Pattern)
		}
		if got := strings.Join(items, " "); outcome(v) != c.want || got != c.items {
			t.Errorf("%s: %s and %q, want %s and %q: %+v", c.name, outcome(v), got, c.want, c.items, v.Errors)
		}
		found, err := check.File(t.Context(), b, "f", []byte(c.content))
		var undecided *check.UndecidedError
		if is := errors.As(err, &undecided); is != (len(v.Errors) > 0 && !strings.HasPrefix(c.name, "pointer")) &&
			!strings.HasPrefix(c.name, "pointer") {
			t.Errorf("%s: Check: %v", c.name, err)
		}
		if d := cmp.Diff(v.Violations, found); d != "" && !strings.HasPrefix(c.name, "pointer") &&
			len(found)+len(v.Violations) > 0 {
			t.Errorf("%s: -scan +check: %s", c.name, d)
		}
	}
	dir := writeTree(t, map[string]string{"f": `{"b": "OWNER"}`})
	if err := os.Symlink("f", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	wantOutcome(t, scanDir(t, dir, b, testOptions{}), "P")
}

// Rules differ in how they treat a file that cannot be parsed, and in how they read it.
func TestKeysOfSeveralRules(t *testing.T) {
	load := func(rest string) rules.Rule { return keyBundle(t, rest).Rules[0] }
	strict := load(`match: {files: ["**"], required_absent: [{key: a}]}`)
	lenient := load(`match: {files: ["**"], required_absent: [{key: a}, text], unparsable: text}`)
	asJSON := load(`match: {files: ["**"], required_absent: [{key: a, format: json}]}`)
	strict.ID, lenient.ID, asJSON.ID = "STRICT", "LENIENT", "JSON"
	for _, c := range []struct {
		rules    []rules.Rule
		name     string
		content  string
		want     string
		codes    string
		unparsed bool
	}{
		{[]rules.Rule{lenient}, "a.yaml", "b: [{{", "P", "", true},
		{[]rules.Rule{lenient}, "a.yaml", "text: [{%", "F", "", true},
		{[]rules.Rule{lenient}, "a.json", "<%= b %>", "P", "", true},
		{[]rules.Rule{lenient}, "a.yaml", "b: [", "I(E_PARSE)", "E_PARSE", false},
		{[]rules.Rule{lenient}, "a.yaml", "text: [", "F", "E_PARSE", false},
		{[]rules.Rule{lenient}, "a.yaml", "b: [ # ${{ c }}", "I(E_PARSE)", "E_PARSE", false},
		{[]rules.Rule{lenient}, "a.yaml", "b: {c:} # {{", "I(E_PARSE)", "E_PARSE", false},
		{[]rules.Rule{lenient}, "a.yaml", "a: {c:} # {{", "F", "E_PARSE", false},
		{[]rules.Rule{lenient}, "a.yaml", "b: 1", "P", "", false},
		{[]rules.Rule{lenient}, "a.txt", "b: 1", "I(E_FORMAT)", "E_FORMAT", false},
		{[]rules.Rule{lenient}, "a.yaml", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "I(E_LIMIT)",
			"E_LIMIT", false},
		{[]rules.Rule{strict, lenient}, "a.yaml", "b: [{{", "I(E_PARSE)", "E_PARSE", true},
		{[]rules.Rule{strict, asJSON}, "a.yaml", "a: 1", "F", "E_PARSE", false},
		{[]rules.Rule{strict, asJSON}, "a.txt", "a: 1", "I(E_FORMAT)", "E_FORMAT E_PARSE", false},
		{[]rules.Rule{strict, asJSON}, "a.yaml", `{"a": 1}`, "F", "", false},
	} {
		v := scanDir(t, writeTree(t, map[string]string{c.name: c.content}), newBundle(c.rules...), testOptions{})
		var codes []string
		for _, e := range v.Errors {
			codes = append(codes, e.Code)
		}
		if got := strings.Join(codes, " "); outcome(v) != c.want || got != c.codes ||
			len(v.Coverage.Unparsed) == 1 != c.unparsed {
			t.Errorf("%s, %q: %s, %q, %v", c.name, c.content, outcome(v), got, v.Coverage.Unparsed)
		}
	}
}

// A parse error has its location, if known, and the fixes of its rules.
func TestPlacesOfKeyErrors(t *testing.T) {
	for _, c := range []struct {
		items, content    string
		line, column, u16 int64
		message           string
	}{
		{"{key: a}", "a: 1\n😀: {{ x }}\n", 2, 8, 6,
			"this looks like a template; to check only its text, add unparsable: text and a text " +
				"or regex pattern to K; or exclude the file; or scan the rendered output"},
		{"{key: a}, text", "a: 1\r😀: {{ x }}\n", 2, 8, 6,
			"this looks like a template; to check only its text, add unparsable: text to K; " +
				"or exclude the file; or scan the rendered output"},
		{"{key: a}, text", "a: 1\n😀: [\n", 2, 7, 5,
			"not YAML: did not find expected node content; fix it, or exclude it from K"},
		{"{key: a}", "# 😀\na: " + strings.Repeat("[", 1001) + strings.Repeat("]", 1001), 2, 1003, 1003,
			"make it smaller, or exclude it from K"},
		{"{key: a}", "[" + strings.Repeat("a,", 10_000_001) + "]", 0, 0, 0, "make it smaller, or exclude it from K"},
	} {
		b := keyBundle(t, `match: {files: ["**"], required_absent: [`+c.items+`]}`)
		v := scanDir(t, writeTree(t, map[string]string{"a.yaml": c.content}), b, testOptions{})
		if len(v.Errors) != 1 {
			t.Fatalf("%.40q: %+v", c.content, v.Errors)
		}
		if e := v.Errors[0]; e.Line != c.line || e.Column != c.column || e.UTF16Column != c.u16 ||
			!strings.HasSuffix(e.Message, c.message) {
			t.Errorf("%.40q: %+v", c.content, e)
		}
	}
}

func utf16LE(text string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}
