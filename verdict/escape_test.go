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
