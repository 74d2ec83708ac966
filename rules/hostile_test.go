package rules

import (
	"strings"
	"testing"
	"time"
)

// TestHostileFiles: 4 MiB of whatever multiplies nodes, mistakes or positions is
// read in seconds. Most of the time is that of yaml.v3, which is linear.
func TestHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	fill := func(s string) string { return strings.Repeat(s, MaxFileBytes/len(s)-100) }
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
		start := time.Now()
		_, errs := loadBoundaries(content)
		if len(errs) == 0 && name != "free keys" {
			t.Errorf("%s: loads", name)
		}
		if len(errs) > maxErrors+1 {
			t.Errorf("%s: %d errors", name, len(errs))
		}
		took := time.Since(start)
		t.Logf("%-20s %6d errors %v", name, len(errs), took.Round(time.Millisecond))
		if took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}
