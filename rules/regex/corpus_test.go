package regex

import (
	"strings"
	"testing"
	"unicode"
)

func simpleFold(c rune) rune { return unicode.SimpleFold(c) }

// A real regex, with strings that it matches.
type real struct {
	source   string
	literals string // as shown by show
	texts    []string
}

func show(literals []Literal) string {
	var all []string
	for _, l := range literals {
		s := l.Text
		if l.Fold {
			s += "/i"
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

// corpus has regexes like those of linters and secret scanners.
func corpus() []real {
	return []real{
		{`image:\s*\S+:latest\b`, ":latest", []string{"image: nginx:latest", "  image:  x/y:latest # old"}},
		{`\bstd::(?:bind|function|regex)\b`, "std::bind, std::function, std::regex",
			[]string{"std::bind(f)", "x = std::regex{}"}},
		{`https?://`, "http://, https://", []string{"see http://x", "https://y"}},
		{`(?i)password\s*[:=]\s*['"]?[^'"\s]+`, "password/i, pas\u017fword/i, pa\u017fsword/i, pa\u017f\u017fword/i",
			[]string{"PassWord = 'x'", "pa\u017f\u017fword: y"}},
		{`AKIA[0-9A-Z]{16}`, "AKIA", []string{"AKIAIOSFODNN7EXAMPLE"}},
		{`-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----`, "PRIVATE KEY-----",
			[]string{"-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"}},
		{`0\.0\.0\.0/0|::/0`, "0.0.0.0/0, ::/0", []string{"cidr 0.0.0.0/0", "[::/0]"}},
		{`\b(?:foo|bar|qux)\(`, "bar(, foo(, qux(", []string{"foo(1) bar(2)"}},
		{`ghp_[A-Za-z0-9]{36}`, "ghp_", []string{"ghp_" + strings.Repeat("aB3", 12)}},
		{`[0-9a-f]{40}`, "", []string{strings.Repeat("0a", 20)}},
		{`^\s*#\s*include\s*<(?:iostream|regex)>`, "include", []string{"#include <iostream>", "  # include <regex>"}},
		{`\s+$`, "\t, \f,  ", []string{"x  ", "\t"}},
		{`(?:a(?:b.*|c.*)d)`, "ab, ac", []string{"abxd", "acd"}},
		{`(?i)k8s`, "k8s/i, k8\u017f/i, \u212a8s/i, \u212a8\u017f", []string{"K8S \u212a8\u017f"}},
		{`xox[baprs]-[0-9]{10,}`, "xox", []string{"xoxb-1234567890"}},
		{`(foo)(bar)+(baz)`, "foobar", []string{"foobarbarbaz"}},
		{`.{3}abc.{3}`, "abc", []string{"123abc123"}},
		{`(?:[^\S\t\f ]|abc)`, "abc", []string{"abc"}},
		{`[Tt]rue|[Ff]alse`, "false/i, true/i", nil},
		{`\x{FFFD}abc`, "abc", []string{"\xffabc", "\ufffdabc"}},
		{`(?i)straße`, "straße/i, straẞe/i, \u017ftraße/i, \u017ftraẞe/i", []string{"STRAßE straẞe"}},
		{`a.b`, "a", []string{"axb"}},
		{`(?:abc|[0-9]+)`, "", []string{"abc 1"}},
		{`(?:ab){3}`, "ababab", []string{"abababab"}},
		{`(?:ab){20}`, "abababababababab", []string{strings.Repeat("ab", 20)}},
		{`(?:foobar|foo)x?`, "foo", []string{"foo foobarx"}},
	}
}

func TestCorpus(t *testing.T) {
	for _, c := range corpus() {
		e, err := Compile(c.source)
		if err != nil {
			t.Errorf("%#q: %v", c.source, err)
			continue
		}
		if got := show(e.Literals()); got != c.literals {
			t.Errorf("%#q: literals %s, want %s", c.source, got, c.literals)
		}
		for _, text := range c.texts {
			if compareAll(t, e, text) == 0 {
				t.Errorf("%#q does not match %q", c.source, text)
			}
		}
	}
}
