package regex

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLimits: regexes at the limits, and over them. Above the limit of regexp/syntax, MaxBytes bounds the cost of
// finding out.
func TestLimits(t *testing.T) {
	const large, folded = " instructions, over 20000; ", "101 ranges up to characters beyond ASCII under (?i), over 100; "
	for source, want := range map[string]string{
		long('a', 8192):                                   "",
		long('a', 8193):                                   "an expression of 8193 bytes, over 8192; ",
		strings.Repeat(`x{1000}`, 21):                     "an expression that becomes 21000" + large,
		strings.Repeat(`(?:a{1000}){1}`, 500):             "an expression that becomes 500000" + large,
		strings.Repeat(`\pL`, 80):                         "character classes with 105440 numbers, over 100000; ",
		`(?i)` + strings.Repeat("[B-é]", 101):             folded,
		`a(?s)(?mi:` + strings.Repeat("[B-é]", 101) + `)`: folded,
		`(?i)` + strings.Repeat(`[\000-\777]`, 101):       folded,
		`(?i)` + strings.Repeat("[B-é]", 100):             "",
		strings.Repeat("[B-é]", 200):                      "",
		`(?m)` + strings.Repeat("[B-é]i", 200):            "",
		`(?i)` + strings.Repeat(`[a-z0-9_-]-\d`, 200):     "",
		long('(', 1001) + long(')', 1001):                 "an expression that is nested more than 1000 deep; ",
	} {
		if _, err := Compile(source); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q:\n  got  %v\n  want %s", source, err, want)
		}
	}
}

func long(c rune, n int) string { return strings.Repeat(string(c), n) }

// TestSteps: a program is never larger than counted before.
func TestSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := expression(t, rapid.IntRange(0, 5).Draw(t, "depth"))
		tree, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			return // repetitions of repetitions
		}
		counted, _ := steps(tree)
		code, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(code.Inst) - 2; n > counted { // fail and match always exist
			t.Fatalf("%#q: %d instructions, %d counted", source, n, counted)
		}
	})
}

// TestNeverHolds: a regex is refused for its assertions if and only if it matches none of all lines up to a sufficient
// length.
func TestNeverHolds(t *testing.T) {
	const parts = 4
	lines := []string{""}
	for from := 0; len(lines[from]) < 2*parts+2; from++ { // two for a repetition, and the neighbours
		lines = append(lines, lines[from]+"a", lines[from]+"-")
	}
	atom := rapid.SampledFrom([]string{
		"a", "-", ".", `\w`, `[-a]`, "(?:)", "^", "$", `\b`, `\B`, "(?m:^)", "(?m:$)",
	})
	counts := map[bool]int{}
	check := func(t interface{ Fatalf(string, ...any) }, source string) {
		re := regexp.MustCompile(source)
		matches := slices.ContainsFunc(lines, re.MatchString)
		_, err := Compile(source)
		refused := err != nil && strings.Contains(err.Error(), "cannot hold")
		if err == nil && !matches || refused && matches {
			t.Fatalf("%#q matches a line: %v; %v", source, matches, err)
		} else if err == nil || refused {
			counts[refused]++
		}
	}
	for _, source := range []string{`^\b[-a]+\B$`, `a\b(?:-|a)*a`, `^[-a]+\B-\Ba`, `\b-\b-`} {
		check(t, source)
	}
	if len(counts) < 2 {
		t.Errorf("refused or not: %v", counts)
	}
	rapid.Check(t, func(t *rapid.T) {
		var source strings.Builder
		for range rapid.IntRange(1, parts).Draw(t, "parts") {
			part := atom.Draw(t, "atom")
			if rapid.Bool().Draw(t, "two") {
				part = "(?:" + part + "|" + atom.Draw(t, "other") + ")"
			}
			source.WriteString("(?:" + part + ")" + rapid.SampledFrom([]string{"", "", "*", "+", "?"}).Draw(t, "times"))
		}
		check(t, source.String())
	})
}
