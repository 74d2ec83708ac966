package regex

import (
	"fmt"
	"strings"
	"testing"
)

// words returns different words, none of which is in another.
func words(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%c%c1", 'a'+i/26, 'a'+i%26)
	}
	return all
}

// TestLiterals: what is taken at the limits.
func TestLiterals(t *testing.T) {
	alphabet := "abcdefghijklmnopqrstuvwxyz0123456789"
	for _, c := range []struct {
		source, want string
		slow         bool
	}{
		{"ab", "ab", true},
		{"abc", "abc", false},
		{"é", "é", true},
		{"éa", "éa", false},
		{`\w+`, "", true},
		{"[abcd]x", "x", true},
		{"[abcd]xy", "axy, bxy, cxy, dxy", false},
		{"[abcde]xyz", "xyz", false},
		{`[a\n]bc`, "abc", false},
		{"a|bcd", "a, bcd", true},
		{`\w|bcd`, "", true},
		{`abc|\ndef`, "abc", false},
		{`(?:abc|\n+)+`, "abc", false},
		{`(?:abc)*d`, "d", true},
		{`(?:abc)+d`, "abcd", false},
		{`(?:abc)?d+`, "d", true},
		{`(?:abc){0,1}de`, "de", true},
		{`(?:abc){0,2}de`, "de", true},
		{`(?:abc){0}def`, "def", false},
		{`1(?:abc){1,3}2`, "1abc", false},
		{`1(?:abc){9}2`, "abcabcabcabcabcabcabcabc", false},
		{`xyz(ab+cd)`, "xyzab", false},
		{`(ab+cd)xyz`, "bcdxyz", false},
		{`(ab+c)d*(xyz)`, "xyz", false},
		{`(?:abc){2,}`, "abcabc", false},
		{`a{200}`, "aaaaaaaa", false},
		{`(?:ab?){3}`, "aaa, aaba, abaa, ababa", false},
		{`(?:ab?){8}`, "aaaa, aaaba, aabaa, aababa, abaaa, abaaba, ababaa, abababa", false},
		{`x\x{FFFD}yz`, "yz", true},
		{`x[\x{FFF0}-\x{FFFF}]yz`, "yz", true},
		{`x[\x{D700}-\x{E000}]yz`, "yz", true},
		{`x[\x{D7FF}-\x{E000}]yz`, "x\ud7ffyz, x\ue000yz", false},
		{`(?i)bcd`, "bcd/i", false},
		{`(?i)1_2`, "1_2", false},
		{`(?i:b)CD`, "bcd/i", false},
		{`[bB]CD`, "bcd/i", false},
		{`[kK]CD`, "kcd/i", false},
		{`(?i)é1`, "É1, é1", false},
		{`(?i:b)c|BC|xbc`, "bc/i", true},
		{`(?i:b)c|[\x{212A}b]c`, "bc/i, \u212ac", true},
		{`1|(?i:b)1`, "1", true},
		{`(?i)k`, "k/i, \u212a", true},
		{strings.Repeat(alphabet, 3), "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01", false},
		{strings.Repeat("é", 33) + "a", strings.Repeat("é", 32), false},
		{"a" + strings.Repeat("é", 33), "a" + strings.Repeat("é", 31), false},
		{`\w+@(?:example\.com|example\.org)`, "@example.com, @example.org", false},
		{`(?:` + strings.Join(words(3), "|") + `)[0-9]+: unknown`, ": unknown", false},
		{strings.Join(words(500), "|"), strings.Join(words(500), ", "), false},
		{`\b(?:` + strings.Join(words(500), "|") + `)\(`, strings.Join(words(500), "(, ") + "(", false},
		{strings.Join(words(501), "|"), "", true},
		{`(?:` + strings.Join(words(501), "|") + `)abc`, "abc", false},
	} {
		e, err := Compile(c.source)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := show(e.Literals()); got != c.want || e.Slow() != c.slow {
			t.Errorf("%#.60q:\n  got  %s, slow: %v\n  want %s, slow: %v", c.source, got, e.Slow(), c.want, c.slow)
		}
		if c.want == "" && e.Literals() != nil {
			t.Errorf("%#.60q: no literals are %#v, not nil", c.source, e.Literals())
		}
	}
}
