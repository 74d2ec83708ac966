package verdict

import (
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for s, want := range map[string]string{
		"":                         "",
		"plain = \"0.0.0.0/0\" \\": "plain = \"0.0.0.0/0\" \\",
		"grüße, 世界, 👍":             "grüße, 世界, 👍",
		"e\u0301":                  "e\u0301",
		"a\nb\tc\rd\x00":           `a\u{a}b\u{9}c\u{d}d\u{0}`,
		"\x1b]0;title\x07\x1b[2J":  `\u{1b}]0;title\u{7}\u{1b}[2J`,
		"\u009b31m\u0085":          `\u{9b}31m\u{85}`,
		"\u202eevil\u2066\u2069":   `\u{202e}evil\u{2066}\u{2069}`,
		"a\u200bb\ufeffc\u00adc":   `a\u{200b}b\u{feff}c\u{ad}c`,
		"x\U000e0041":              `x\u{e0041}`,
		"\u2028\u2029":             `\u{2028}\u{2029}`,
		"\u00a0\u3000":             `\u{a0}\u{3000}`,
		"\u3164\u115f\u2800\ufe0f": `\u{3164}\u{115f}\u{2800}\u{fe0f}`,
		"\ue000\U0010ffff\u0378":   `\u{e000}\u{10ffff}\u{378}`,
		"\xff\xfe":                 "\ufffd\ufffd",
		"\u007f":                   `\u{7f}`,
	} {
		if got := Visible(s); got != want {
			t.Errorf("Visible(%+q) = %+q, want %+q", s, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	for raw, want := range map[string]string{
		"a/b.tf":       "a/b.tf",
		"a\\b":         `a\\b`,
		"a\xff.tf":     `a\xff.tf`,
		"a\\xff.tf":    `a\\xff.tf`,
		"a\xfe\xff":    `a\xfe\xff`,
		"\ufffd":       "\ufffd",
		"a\nb\u202e":   "a\nb\u202e", // the writers' business
		"\xe4\xb8":     `\xe4\xb8`,
		"\xed\xa0\x80": `\xed\xa0\x80`,
	} {
		if got := Path(raw); got != want {
			t.Errorf("Path(%+q) = %+q, want %+q", raw, got, want)
		}
	}
}

// FuzzPath: no two paths look the same, neither in the document nor in a report.
func FuzzPath(f *testing.F) {
	f.Add("a\xff", `a\xff`)
	f.Add("a\n", `a\u{a}`)
	f.Add("\xff", "\ufffd")
	f.Add("##[", `#\u{23}[`)
	f.Add("::", `\u{3a}:`)
	f.Add("\u200b", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(Path(a)) {
			t.Fatalf("Path(%+q) is not UTF-8", a)
		}
		if got := RawPath(Path(a)); got != a {
			t.Fatalf("Path(%+q) = %+q leads back to %+q", a, Path(a), got)
		}
		for name, look := range map[string]func(string) string{
			"in the document": Path,
			"in a report":     func(s string) string { return Visible(Path(s)) },
			"in a log":        func(s string) string { return Defuse(Visible(Path(s))) },
		} {
			if a != b && look(a) == look(b) {
				t.Errorf("%s %+q and %+q are both %+q", name, a, b, look(a))
			}
		}
	})
}

func TestRawPath(t *testing.T) {
	for _, raw := range []string{"", "a/b.tf", `a\b`, `\x41`, `\\x41`, "a\xffb", `end\`, "\xff\xfe", `\xff` + "\xff",
		"世界"} {
		if got := RawPath(Path(raw)); got != raw {
			t.Errorf("RawPath(Path(%q)) = %q", raw, got)
		}
	}
	for _, written := range []string{`\x`, `\x4`, `\xzz`, `\u{41}`, `a\`} { // Path writes none of these
		if got := RawPath(written); got != written {
			t.Errorf("RawPath(%q) = %q", written, got)
		}
	}
}

func TestPatternWords(t *testing.T) {
	for _, c := range []struct{ kind, pattern, excerpt, want string }{
		{KindText, `{"`, `a {"b`, `'{"'`},
		{KindText, `{"text":"a b","words":true}`, `{"text":"a b","words":true}`, `'{"text":"a b","words":true}'`},
		{KindText, `{"text":"a b","words":true}`, `x = a b`, `"a b", as whole words`},
		{KindText, `"{\"a\": 1}"`, `{"a": 1}`, `'{"a": 1}'`},
		{KindText, `key a is b`, ``, `"key a is b"`},
		{KindText, "a'b\"c`d\n", ``, "\"a'b\\\"c`d\\\\u{a}\""},
		{KindFile, `{"text":"a"}`, ``, `'{"text":"a"}'`},
		{KindText, `{"text":"acl = x","within_lines":3,"spaces":"any","case":"ignore"}`, ``,
			`"acl = x", in the first 3 lines, with any spaces, in any case`},
		{KindRegex, `{"regex":"(?i)^a\\.b","within_lines":1}`, ``, `a match of ^a\.b, in any case, in the first line`},
		{KindRegex, `{"regex":"a b\u202e","except":"^c"}`, ``, `a match of "a b\u{202e}", except within a match of ^c`},
		{KindKey, `{"key":"a.b"}`, ``, `key a.b`},
		{KindKey, `{"key":["a","b"],"is":["0.0.0.0/0","::/0","x y",true,"true",1,"1","or"]}`, ``,
			`key a or b is 0.0.0.0/0, ::/0, "x y", true, "true", 1, "1" or "or"`},
		{KindKey, `{"key":"a","is_not":[1,2],"format":"yaml"}`, ``, `key a is neither 1 nor 2, as yaml`},
		{KindKey, `{"key":"a","is_not":1}`, ``, `key a is not 1`},
		{KindKey, `{"key":"a","if":{"b":{"present":true},"c":{"below":2}},"above":"4Gi","quantity":true}`, ``,
			`key a is above 4Gi, if b is present and c is below 2, as quantities`},
		{KindMissing, `{"key":"a","at_most":2,"later":[1]}`, ``, `key a is at most 2, later: 1`},
		{KindKey, `{"key":"a","matches_not":"^b$"}`, ``, `key a does not match ^b$`},
		{KindMissing, `{"each":["r.*","d.*"],"key":"k","where":{"kind":["Pod","Job"],"a.b":1},"is":true}`, ``,
			`key k is true, in each r.* or d.*, where kind is Pod or Job and a.b is 1`},
		{KindMissing, `{"key":"a","if":{"b":{"is_not":1},"c":{"missing":true}},"at_least":2,"any":true}`, ``,
			`key a is at least 2, if b is not 1 and c is missing, for at least one value`},
	} {
		e := Evidence{Kind: c.kind, Pattern: c.pattern, Excerpt: c.excerpt}
		if got := e.PatternWords(); got != c.want {
			t.Errorf("%s in %s:\ngot  %s\nwant %s", c.pattern, c.excerpt, got, c.want)
		}
	}
}
