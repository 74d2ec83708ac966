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
	one := strings.Repeat("a", 8<<10)
	for _, c := range []struct {
		name  string
		items []string
		want  string // the first mistake, or ""
	}{
		{"one of the largest", []string{"{regex: '" + one + "'}"}, ""},
		{"one that is longer", []string{"{regex: '" + one + "a'}"}, "an expression of 8193 bytes"},
		{"together", many(128, one[:8000]+"%03d"), ""},
		{"too long together", many(140, one[:8000]+"%03d"), "longer than 1048576 bytes together"},
		{"large", many(20, "%d"+strings.Repeat(`\pL`, 70)), ""},
		{"too large together", many(300, "%d"+strings.Repeat(`\pL`, 70)), "need more than 100 MiB of memory"},
		{"folded", many(10, "%d(?i)"+strings.Repeat("[B-é]", 100)), ""},
		{"folded too often together", many(11, "%d(?i)"+strings.Repeat("[B-é]", 100)), "more than 1000 ranges up to"},
	} {
		b, errs := loadBoundaries(rule02(c.items...))
		if (b == nil) != (c.want != "") || c.want != "" && !strings.Contains(errs[0].Error(), c.want) {
			t.Errorf("%s: %v", c.name, errs)
		}
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

// TestBundleSize: all rule files together are limited, and unread files are reported.
func TestBundleSize(t *testing.T) {
	large := func(id string) []byte {
		head := "bundle: \"0.2\"\ntype: boundary\nrules:\n  - {id: " + id + ", title: t, enforcement: {mode: fail}, " +
			"match: {files: ['**'], forbidden_patterns: [a]}}\n"
		return []byte(head + strings.Repeat("#"+strings.Repeat(" ", 1022)+"\n", (document.MaxFileBytes-len(head))/1024))
	}
	files := Files{BoundariesFile: []byte("bundle: \"0.2\"\nrules: []\n")}
	for _, id := range []string{"a", "b", "c"} {
		files["rules/"+id+".yml"] = large(id)
	}
	if b, err := Load(files); err != nil || len(b.Rules) != 3 {
		t.Fatal(err)
	}
	files["rules/d.yml"], files["rules/e.yml"] = large("d"), large("e")
	_, errs := loadFiles(files)
	if len(errs) != 1 || errs[0].File != "rules/e.yml" || errs[0].Code != document.CodeLimit {
		t.Errorf("%v", errs)
	}
}

// TestHostileFiles: half a MiB, and with -long 4 MiB, of input that multiplies nodes, mistakes or positions is read in
// linear time. Most of it is yaml.v3's.
func TestHostileFiles(t *testing.T) {
	size := document.MaxFileBytes / 8
	switch {
	case *long:
		size = document.MaxFileBytes
	case cputime.RaceDetector: // ten times slower, with nothing to find here
		size /= 8
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
