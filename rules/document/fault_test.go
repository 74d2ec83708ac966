package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

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

// TestFault_083_Bomb: aliases that multiply are refused before they are followed.
func TestFault_083_Bomb(t *testing.T) {
	bomb := "x-0: &a0 [x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("x-%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	if errs := refused(bomb + "rules: *a9\n"); len(errs) == 0 || errs[0].Code != CodeSyntax {
		t.Errorf("%v", errs)
	}
}

// TestLineOfSyntaxErrors: if no prefix near the reported line is valid YAML, or the file is large, the line is yaml.v3's;
// otherwise it is where the text stops being valid.
func TestLineOfSyntaxErrors(t *testing.T) {
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
