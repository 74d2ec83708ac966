package clash

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/policyscan/policyscan/rules/document"
)

// The classes as Unicode's technical standard 18 has them, and Rust's regexes after it.
func TestClasses(t *testing.T) {
	word := func(r rune) bool {
		return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Nl,
			unicode.Other_Alphabetic,
			unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
	}
	classes := []struct {
		name string
		re   *regexp.Regexp
		is   func(rune) bool
	}{
		{"words", regexp.MustCompile("[" + words + "]"), word},
		{"spaces", regexp.MustCompile("[" + spaces + "]"),
			func(r rune) bool { return unicode.Is(unicode.White_Space, r) }},
		{"digits", regexp.MustCompile("[" + digits + "]"), func(r rune) bool { return unicode.Is(unicode.Nd, r) }},
	}
	for r := rune(0); r <= 0x20000; r++ { // beyond are letters, marks and nothing else
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		s := string(r)
		for _, c := range classes {
			if c.re.MatchString(s) != c.is(r) {
				t.Errorf("%s: %U is %v", c.name, r, c.is(r))
			}
		}
	}
}

// What translate does not change stays as it is: no byte is lost.
func FuzzTranslate(f *testing.F) {
	for _, re := range []string{`a[b\]c]{2}`, `\p{L}[^\d]`, `[[:alpha:]-]`, `\\`, `a\`, `[`, `x{`, `[]]`} {
		f.Add(re)
	}
	f.Fuzz(func(t *testing.T, re string) {
		goes, at, problem := translate(re)
		if problem != "" {
			if at < 0 || at >= len(re) {
				t.Errorf("%q: a problem at %d", re, at)
			}
			return
		}
		if !strings.ContainsAny(re, `\`) && goes != re {
			t.Errorf("%q becomes %q", re, goes)
		}
	})
}

// Step 7: "convert AST patterns to IR with pre-compiled regexes", which are Rust's. What RE2 does not read,
// or reads as something else, does not load.
func TestRow_4_07_RegexesThatDiffer(t *testing.T) {
	for _, re := range []string{
		`(?=a)`, `(?<!a)`, `(a)\1`, `(?x)a b`, `(?u)a`, `(`, `*`, `a{2}{3}`, // not RE2
		`\bgit\b`, `\B`, `\<git\>`, `\Qa.b\E`, `\C`, `\12`, `\0`, `\Z`, `\G`, `\u0041`, `\e`,
		`[a-z&&[^x]]`, `[[a-z]x]`, `[a--b]`, `[a~~b]`, `[--a]`, `[\W]`, `[^\S]`, `[\b]`, `[:alpha`, `[[:alpha]`,
		`a{`, `a{,3}`, `{3`, `{`, `a{x}`, `a{1,2,3}`, `\x{41`, `\p{`, `\p`, `a\x`, `a{1001}`,
	} {
		_, err := Read(&document.Source{Name: "p", Text: []byte(of("(deny (exec /" + re + "/))"))}, nil)
		if err == nil || !strings.Contains(err.Error(), "regex /"+re+"/") || !strings.HasPrefix(err.Error(), "p:3:") {
			t.Errorf("/%s/: %v", re, err)
		}
	}
	for re, want := range map[string]string{
		`ab\bc`: `3:16 a \b, which`, `a\Z`: `3:15 a \Z in the regex`, `a\0`: `3:15 a \0 in the regex`,
		`a\9`: `3:15 a \9 in the regex`, `a\x{41`: `3:15 a { that is not closed`, `[a\W]`: `3:16 a \W in [...]`,
		`[a&&b]`: `3:16 a && in [...]`, `a{`: `3:15 a { that is not a repetition`,
	} {
		refused(t, of("(deny (exec /"+re+"/))"), want)
	}
}
