package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/rules/document"
)

// TestHostileFiles: half a MiB, and with -long 4 MiB, of whatever multiplies nodes,
// mistakes or positions is read in time that grows with its length. Most of that is
// yaml.v3's.
func TestHostileFiles(t *testing.T) {
	size := document.MaxFileBytes / 8
	switch {
	case *long:
		size = document.MaxFileBytes
	case raceDetector: // which makes it ten times slower, and has nothing to find here
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
		if took > 20*time.Second && !raceDetector {
			t.Errorf("%s took %v", name, took)
		}
	}
}
