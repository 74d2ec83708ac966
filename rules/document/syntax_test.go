package document

import (
	"errors"
	"strings"
	"testing"
)

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
