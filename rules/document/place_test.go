package document

import (
	"errors"
	"strings"
	"testing"
)

// TestPlace: what leads to a bundle is a part of the place, and none of the text, which is the same everywhere.
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

// TestQuoted: a text is shown whole up to 160 bytes, and cut between two characters.
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

// refused returns what is wrong with a text before its walk.
func refused(text string) Errors {
	var errs Errors
	errors.As((&Source{Name: "f.yml", Text: []byte(text)}).YAML(Form{}).Errors(), &errs)
	return errs
}

// TestLineOfSyntaxErrors: the line is where the text stops being YAML, wherever yaml.v3 puts it.
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
	// Where no line ends a text that is YAML, not far from it, or the file is large, yaml.v3 says about where.
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
