package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/rules/document"
)

// rule02 is a 0.2 file of one rule with these items.
func rule02(items ...string) string {
	return "bundle: \"0.2\"\nrules:\n  - {id: A, title: t, enforcement: {mode: fail}, match: {files: ['**'], " +
		"forbidden_patterns: [" + strings.Join(items, ", ") + "]}}\n"
}

// TestRegexLimits: regexes are limited one by one and together, and each distinct one counts once.
func TestRegexLimits(t *testing.T) {
	many := func(n int, format string) []string {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf("{regex: '"+format+"'}", i))
		}
		return items
	}
	// A class of many characters is compiled quickly.
	filled := "%d[" + strings.Repeat("y", 8000) + "]"
	matches := strings.Split(strings.ReplaceAll(strings.Join(many(70, "b"+filled), "\n"), "{regex:", "{key: a, matches:"), "\n")
	for _, c := range []struct {
		name  string
		items []string
		want  string // the first mistake, or ""
	}{
		{"together", many(128, filled), ""},
		{"too long together", append(many(70, filled), matches...), "longer than 1048576 bytes together"},
		{"folded", many(10, "%d(?i)"+strings.Repeat("[B-é]", 100)), ""},
		{"folded too often together", many(11, "%d(?i)"+strings.Repeat("[B-é]", 100)), "more than 1000 ranges up to"},
	} {
		b, errs := loadBoundaries(rule02(c.items...))
		if (b == nil) != (c.want != "") || c.want != "" && !strings.Contains(errs[0].Error(), c.want) {
			t.Errorf("%s: %v", c.name, errs)
		}
	}
	l := newLoader(nil)
	l.regexBytes = maxRegexBytes
	if m := l.compile(regexSource{"abc", false}).mistake; m == nil || !strings.Contains(m.Found, "more than 100 MiB of memory") {
		t.Errorf("too large together: %v", m)
	}
}

// TestRegexCountedOnce: a regex in many rules is compiled and counted once.
func TestRegexCountedOnce(t *testing.T) {
	var file strings.Builder
	file.WriteString("bundle: \"0.2\"\nrules:\n")
	for i := range 300 {
		fmt.Fprintf(&file, "  - {id: A%d, title: t, enforcement: {mode: fail}, match: {files: ['**'], "+
			"forbidden_patterns: [{regex: '%s'}]}}\n", i, strings.Repeat(`\pL`, 70))
	}
	if b, errs := loadBoundaries(file.String()); errs != nil || b.Count(Boundary) != 300 {
		t.Errorf("%v", errs)
	}
}

// TestBundleSize: all rule files together are limited, and unread files are reported. A control character saves the time
// of reading them as YAML.
func TestBundleSize(t *testing.T) {
	large := []byte("bundle: \"0.2\"\x01\n" + strings.Repeat("#", document.MaxFileBytes-30))
	files := Files{BoundariesFile: []byte("bundle: \"0.2\"\nrules: []\n")}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		files["rules/"+id+".yml"] = large
	}
	_, errs := loadFiles(files)
	if len(errs) != 5 || errs[4].File != "rules/e.yml" || errs[4].Code != document.CodeLimit || errs[3].Code != document.CodeSyntax {
		t.Errorf("%v", errs)
	}
}

// TestHostileFiles: 64 KiB, and with -long 4 MiB, of input that multiplies nodes, mistakes or positions is read in
// linear time. Most of it is yaml.v3's.
func TestHostileFiles(t *testing.T) {
	size := document.MaxFileBytes / 64
	if *long {
		size = document.MaxFileBytes
	}
	fill := func(s string) string { return strings.Repeat(s, size/len(s)-100) }
	for name, content := range map[string]string{
		"one line":          "rules: [" + fill("a,") + "]",
		"one line, é":       "rules: [" + fill("é,") + "]",
		"patterns, é":       ruleWith(`["**"]`, "["+fill("é0,")+"]"),
		"tags":              "rules: [" + fill("!a a, ") + "]",
		"keys":              fill("a: b\n"),
		"free keys":         fill("x-a: b\n") + "rules: []",
		"unknown keys":      "rules: [{" + fill("enforcmen: b, ") + "}]",
		"empty rules":       "rules:\n" + fill("- {}\n"),
		"empty items":       ruleWith(`["**"]`, "["+fill("~,")+"]"),
		"globs":             ruleWith("["+fill("/a,")+"]", "[x]"),
		"comments":          "rules:\n" + fill("# x\n") + "- a\n",
		"a long plain text": "rules: [a]\nx-a: " + fill("a "),
		"an open quote":     "rules: \"" + fill("a\n "),
		"an open bracket":   "rules: [" + fill("a,\n"),
		"invalid bytes":     fill("\xff"),
		"carriage returns":  fill("\r"),
	} {
		var errs document.Errors
		took := cputime.Of(func() { _, errs = loadBoundaries(content) })
		if len(errs) == 0 && name != "free keys" {
			t.Errorf("%s: loads", name)
		}
		if len(errs) > 10_000+1 {
			t.Errorf("%s: %d errors", name, len(errs))
		}
		t.Logf("%-20s %6d errors %v", name, len(errs), took.Round(time.Millisecond))
		if took > 20*time.Second && !cputime.RaceDetector {
			t.Errorf("%s took %v", name, took)
		}
	}
}
