package docs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/keys/formats"
)

// span is a code span; a cell may have several.
var span = regexp.MustCompile("`([^`]*)`")

func spans(cell string) (texts []string) {
	for _, m := range span.FindAllStringSubmatch(cell, -1) {
		texts = append(texts, m[1])
	}
	return texts
}

// keyed is a bundle of one rule with a key pattern.
func keyed(t *testing.T, pattern string, required bool) *rules.Bundle {
	t.Helper()
	key, name := "forbidden_patterns", rules.BoundariesFile
	if required {
		key, name = "required_patterns", rules.InvariantsFile
	}
	files := rules.Files{rules.BoundariesFile: []byte("bundle: \"0.2\"\nrules: []\n")}
	files[name] = []byte("bundle: \"0.2\"\nrules:\n  - id: R\n    title: t\n    enforcement: {mode: fail}\n" +
		"    match: {files: ['**'], " + key + ": [" + pattern + "]}\n")
	b, err := rules.Load(files)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	return b
}

// finds reports whether a file of a format, by its name in the manual, violates a bundle.
func finds(t *testing.T, b *rules.Bundle, format, content string) bool {
	t.Helper()
	name := "f." + strings.ReplaceAll(strings.ToLower(format), "terraform ", "tf.")
	found, err := check.File(context.Background(), b, name, []byte(content))
	if err != nil {
		t.Errorf("%s in %s: %v", content, format, err)
	}
	return len(found) > 0
}

// withKey is a file with a key k and a raw value.
func withKey(format, value string) string {
	switch format {
	case "YAML":
		return "k: " + value + "\n"
	case "JSON", "Terraform JSON":
		return `{"k": ` + value + "}\n"
	}
	return "k = " + value + "\n"
}

// TestKeyPaths: the manual's paths reach, and require, what it says.
func TestKeyPaths(t *testing.T) {
	for kind, required := range map[string]bool{"key paths": false, "key required": true} {
		for _, row := range worked(t, "keys.md", kind, 5) {
			b := keyed(t, spans(row[0])[0], required)
			for column, want := range []bool{!required, required} {
				for _, text := range spans(row[2+column]) {
					if finds(t, b, row[1], unquoted(t, text)) != want {
						t.Errorf("%s in %s: a violation: %v; in the manual: %v", row[0], text, !want, want)
					}
				}
			}
		}
	}
}

// TestRuleByRule: the patterns for each rule of another tool find what the cookbook says.
func TestRuleByRule(t *testing.T) {
	for _, row := range worked(t, "cookbook.md", "rule by rule", 30) {
		b := keyed(t, strings.Join(spans(row[1]), ", "), strings.HasPrefix(row[1], "required"))
		for column, want := range []bool{true, false} {
			for _, text := range spans(row[3+column]) {
				if finds(t, b, row[2], unquoted(t, text)) != want {
					t.Errorf("%s in %s: a violation: %v; in the manual: %v", row[0], text, !want, want)
				}
			}
		}
	}
}

// TestKeyExamples: the manual's standalone patterns are valid.
func TestKeyExamples(t *testing.T) {
	n := 0
	for _, page := range []string{"keys.md", "rules.md"} {
		for _, b := range blocks(t, page) {
			for _, line := range b.text {
				if pattern, ok := strings.CutPrefix(line, "- {key: "); ok {
					keyed(t, "{key: "+pattern, false)
					n++
				} else if pattern, ok := strings.CutPrefix(line, "- {each: "); ok {
					keyed(t, "{each: "+pattern, true)
					n++
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("%d patterns", n)
	}
}

// TestKeyValues: the tables of equal values and of the other conditions.
func TestKeyValues(t *testing.T) {
	n := 0
	for _, row := range worked(t, "keys.md", "key values", 10) {
		pattern := "{key: k, is: " + spans(row[0])[0] + "}"
		forbidden, required := keyed(t, pattern, false), keyed(t, pattern, true)
		for column, want := range []struct{ forbidden, required bool }{{true, true}, {true, false}, {false, false}} {
			for _, value := range spans(row[2+column]) {
				content := withKey(row[1], value)
				if is := finds(t, forbidden, row[1], content); is != want.forbidden {
					t.Errorf("%s forbidden in %s: %s is found: %v", row[0], row[1], value, is)
				}
				if is := !finds(t, required, row[1], content); is != want.required {
					t.Errorf("%s required in %s: %s will do: %v", row[0], row[1], value, is)
				}
				n++
			}
		}
	}
	for _, row := range worked(t, "keys.md", "key conditions", 5) {
		b := keyed(t, spans(row[0])[0], false)
		for column, want := range []bool{true, false} {
			for _, value := range spans(row[2+column]) {
				if is := finds(t, b, row[1], withKey(row[1], value)); is != want {
					t.Errorf("%s in %s: %s is found: %v", row[0], row[1], value, is)
				}
				n++
			}
		}
	}
	if n < 100 {
		t.Errorf("%d values", n)
	}
}

// TestKeyDisputed: values that parsers read differently, according to the manual, are refused, and their replacements
// are not.
func TestKeyDisputed(t *testing.T) {
	for _, row := range worked(t, "keys.md", "key disputed", 7) {
		for column, disputed := range []bool{true, false, false, false} {
			text := spans(row[column])[0]
			_, err := formats.Parse(formats.YAML, []byte(text), formats.Limits())
			if err != nil != disputed || disputed && !strings.Contains(err.Error(), "read differently by YAML parsers") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// TestKeyRefused: patterns and paths that are invalid according to the manual are refused.
func TestKeyRefused(t *testing.T) {
	text := read(t, "keys.md")
	for _, value := range []string{"yes", "010", "1_000", "1:30", "~"} {
		if _, err := keyitem.ParseValue(value, false); err == nil || !strings.Contains(text, "`"+value+"`") {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, path := range []string{"containers[0]", "aws_*", "a..b", "$.a"} {
		if _, err := keyitem.ParsePath(path); err == nil || !strings.Contains(text, "`"+path+"`") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if want := fmt.Sprintf("at most %d segments", keyitem.MaxSegments); !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// TestKeyFormats: the manual has the names of each format, its limits, and the refused YAML features.
func TestKeyFormats(t *testing.T) {
	text := read(t, "keys.md")
	var names []string
	for _, row := range tables(text, "key formats") {
		for _, name := range spans(row[1]) {
			if strings.HasPrefix(name, ".") {
				name = "*" + name
			}
			names = append(names, name)
			if f, ok := formats.Of(strings.Replace(name, "*", "a", 1)); !ok || string(f) != strings.ToLower(row[0]) {
				t.Errorf("%s is %s", name, f)
			}
		}
	}
	sameNames(t, names, formats.Names())
	limits := formats.Limits()
	for _, want := range []string{
		fmt.Sprintf("| %d MiB |", limits.Bytes>>20), fmt.Sprintf("| %d million |", limits.Nodes/1_000_000),
		fmt.Sprintf("| %d,%03d levels |", limits.Levels/1000, limits.Levels%1000),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	b := keyed(t, "{key: a}", false)
	for _, content := range []string{"{{ x }}: 1", "a: &x 1\n---\nb: *x", "b: 1 # \u2028c: d", "a: [", "b: !!binary a-b"} {
		var undecided *check.UndecidedError
		if _, err := check.File(context.Background(), b, "f.yaml", []byte(content)); !errors.As(err, &undecided) {
			t.Errorf("%q: %v", content, err)
		}
	}
}
