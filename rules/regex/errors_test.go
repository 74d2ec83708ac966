package regex

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRefused: Found and Fix of each error.
func TestRefused(t *testing.T) {
	const (
		ahead = "the negative look-ahead (?!; " +
			"RE2 has none: write what may follow, such as (?:[^x]|$) where x must not"
		behind = "the negative look-behind (?<!; " +
			"RE2 has none: write what may come before, such as (?:^|[^x]) where x must not"
		name  = "; write (?: instead, or a name of letters, digits and _ between < and >"
		open  = `; write the ], or \[ for the character`
		lone  = " with nothing before it to repeat; write what it repeats, or "
		empty = `an expression whose shortest match is empty (assertions such as ^, $ and \b match no character)` +
			"; write at least one character that each match has, such as a+ for a*"
		across = `an expression that only a line end matches; write what a line has: ^ and $ are its ends`
		none   = "an expression that no text matches; write at least one character that can match"
		never  = `an expression that matches no line: an assertion (^, $, \b or \B) cannot hold where it is` +
			`; write ^ only where a match begins, $ only where it ends, \^ or \$ for the character, ` +
			`and \b only between a word character and another`
		added = "a line end at the end of the expression, as a YAML block scalar (|) adds it" +
			"; write the expression on one line in single quotes, or begin the block scalar with |-"
		raw    = "a raw line end in the expression; write the expression on one line: it is matched within one line"
		again  = "; RE2 has none: write again what the group may match, each form with | between them"
		part   = ", write it as a part of the expression, which the match then includes"
		deep   = "; RE2 has none: write the group again, as deep as it must go"
		rows   = "; write one, or put (?:) around what the first repeats"
		sizes  = "; write at most 1000, repetitions within it multiplied, and the smaller number first"
		folded = "101 ranges up to characters beyond ASCII under (?i), over 100; " +
			"write fewer, or those without letters before the (?i)"
		large  = " instructions, over 20000; write smaller numbers in braces, or several items"
		absent = ", which RE2 does not have; write "
		flagX  = "; RE2 has none: write the expression without spaces and comments"
		atomic = "the atomic group (?>; write (?: for (?>: RE2 never backtracks, so it is fast without"
		within = ` at a place within [ ] where only a character can be` +
			`; write it at another place, \- for a hyphen, or \x08 for a backspace`
		groups = `; write (?: for a group, (?i), (?m), (?s) or (?U) for a flag, or \( for the character`
	)
	for source, want := range map[string]string{
		"":                               "an empty expression; write at least one character",
		`a*`:                             empty,
		`\b`:                             empty,
		`^$`:                             empty,
		`(?:a|)`:                         empty,
		`a{0}`:                           empty,
		`a{0,3}`:                         empty,
		`(?:a*)+`:                        empty,
		`(?:\b|a)+\B`:                    empty,
		`\Q\E`:                           "an empty expression; write at least one character",
		`[^\S\t\f ]`:                     across,
		`a[^\x00-\x{9}\x{b}-\x{10FFFF}]`: across,
		`[^\x00-\x{10FFFF}]`:             none,
		`a[^\x00-\x{10FFFF}]`:            none,
		`\x{D800}`:                       none, // half of a UTF-16 pair
		"a\tb":                           `a raw tab in the expression; write \t`,
		"a\n":                            added,
		"a\r\n":                          added,
		"a\n\n":                          added,
		"\n":                             raw,
		"a\nb":                           raw,
		"a\nb\n":                         raw,
		"a\x00":                          `the raw control character U+0000 in the expression; write \x{0}`,
		"[\x1b]":                         `the raw control character U+001B in the expression; write \x{1B}`,
		"a\u0085":                        `the raw control character U+0085 in the expression; write \x{85}`,
		"\xff":                           `an expression that is not UTF-8; write \x{FFFD} for any byte that is not UTF-8`,
		`foo(?=bar)`:                     "the look-ahead (?=; RE2 has none: if something must follow" + part,
		`foo(?!bar)`:                     ahead,
		`(?<=foo)bar`:                    "the look-behind (?<=; RE2 has none: if something must come before" + part,
		`(?<=a>b)c`:                      "the look-behind (?<=; RE2 has none: if something must come before" + part,
		`(?<!foo)bar`:                    behind,
		`(?:a*)(?!b)`:                    ahead,
		`(a)\1`:                          `the back-reference \1` + again,
		`\8`:                             `the back-reference \8` + again,
		`(?<x>a)\k<x>`:                   `the back-reference \k` + again,
		`(a)\g{1}`:                       `the back-reference \g` + again,
		`(?P<x>a)(?P=x)`:                 "the back-reference (?P=" + again,
		`(?P>x)`:                         "the recursion (?P>" + deep,
		`(?R)`:                           "the recursion (?R" + deep,
		`(?1)`:                           "the recursion (?1" + deep,
		`(?>a)`:                          atomic,
		`(?#c)a`:                         "the comment (?#; write it as a comment of the file",
		`(?|a|b)`:                        "the branch reset (?|; write (?: for (?|",
		`(?(1)a|b)`:                      "the condition (?(; RE2 has none: write both forms with | between them",
		`(?x)a b`:                        "the flag x in (?x" + flagX,
		`(?ix)a`:                         "the flag x in (?ix" + flagX,
		`(?`:                             "the unknown group (?" + groups,
		`(?z)a`:                          "the unknown group (?z" + groups,
		`(?P`:                            "the unknown group (?P" + groups,
		`(?P<a-b>x)`:                     "the name of the group (?P<a-b>" + name,
		`a++`: "two repetitions in a row, or a possessive one: ++; " +
			"write one: RE2 never backtracks, so it is fast without",
		`a**`:                  "two repetitions in a row: **" + rows,
		`a{2}{3}`:              "two repetitions in a row: {2}{3}" + rows,
		`(`:                    `a group without its closing parenthesis; write the ), or \( for the character`,
		`a)`:                   `a closing parenthesis without its group; write the (, or \) for the character`,
		`[a`:                   "a class without its closing bracket: [a" + open,
		`[a-z` + long('é', 30): "a class without its closing bracket: [a-z" + long('é', 18) + "…" + open,
		`[z-a]`: "the range z-a in a class" +
			`; write the smaller character first, or \- for a hyphen`,
		`[[:foo:]]`: "the unknown class [:foo:]; write one of POSIX's, such as [[:alpha:]]",
		`\p{Foo}`: `the unknown class \p{Foo}` +
			`; write a Unicode category or script, such as \p{L} or \p{Greek}`,
		`[a-\d]`:        `\d` + within,
		`[\b]`:          `\b` + within,
		`*`:             "*" + lone + `\* for the character`,
		`a|+b`:          "+" + lone + `\+ for the character`,
		`a{1001}`:       "the repetition {1001}" + sizes,
		`(?:a{500}){3}`: "the repetition {3}" + sizes,
		`\`:             `a backslash at the end; write \\ for the character`,
		`a\Z`:           `the escape \Z` + absent + `$`,
		`\h`:            `the escape \h` + absent + `[ \t]`,
		`\u0041`:        `the escape \u` + absent + `\x{ and } around the hexadecimal number`,
		`\xg`: `the escape \xg` + absent +
			`two hexadecimal digits, or \x{ and } around up to 10FFFF`,
		`\y`:                          `the escape \y` + absent + `the character alone, or \\ for a backslash`,
		long('a', 8193):               "an expression of 8193 bytes, over 8192; write several items",
		`(?:abcd{10}){100}`:           "", // 1300 instructions
		strings.Repeat(`x{1000}`, 21): "an expression that becomes 21000" + large,
		// Above the limit of regexp/syntax. MaxBytes bounds the cost of finding out.
		strings.Repeat(`(?:a{1000}){1}`, 500): "an expression that becomes 500000" + large,
		strings.Repeat(`\pL`, 80): `character classes with ` + "105440" + ` numbers, over 100000; ` +
			`write fewer classes such as \pL, or several items`,
		`(?i)` + strings.Repeat(`[B-\x{1E942}]`, 101):     folded,
		`a(?s)(?mi:` + strings.Repeat("[B-é]", 101) + `)`: folded,
		`(?i)` + strings.Repeat(`[\000-\777]`, 101):       folded,
		`(?i)` + strings.Repeat(`[B-\x{1E942}]`, 100):     "",
		strings.Repeat("[B-é]", 200):                      "",
		`(?m)` + strings.Repeat("[B-é]i", 200):            "",
		`(?i)` + strings.Repeat(`[a-z0-9_-]-\d`, 200):     "",
		long('(', 1001) + long(')', 1001):                 "an expression that is nested more than 1000 deep; write fewer groups",
		`a$b`:                                             never,
		`(?m)a$b`:                                         never,
		`(?m)a$[^x]b`:                                     never, // across a line end, though without its assertion within a line
		`${x}`:                                            never,
		`a\b_`:                                            never,
		`(?:a$b)+|c^d`:                                    never,
		`(?:^a){2}`:                                       never,
		`[\x{D800}-\x{DFFF}]|a$b`:                         never, // surrogates are not characters
		`[[:word:]\x{D800}]\b[\x{DFFF}a]`:                 never,
		`(?i:s)\b(?i:s)`:                                  "", // a long s is not a word character
		`(?:^a)+`:                                         "",
		`(?:a$)*b`:                                        "",
		`a$b|c`:                                           "",
		`a\bé`:                                            "",
		`^a`:                                              "",
		`a\b`:                                             "",
		"a\u2028b":                                        "", // not a control character
		`\x{FFFD}`:                                        "",
		`a{,3}`:                                           "", // literal characters
		`\<a`:                                             "",
		`(?:^|a)*b`:                                       "",
	} {
		_, err := Compile(source)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if len(source) > 60 {
			source = source[:60] + "…"
		}
		if got != want {
			t.Errorf("%q:\n  got  %s\n  want %s", source, got, want)
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
