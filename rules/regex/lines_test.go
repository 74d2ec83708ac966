package regex

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBeyondLine: regexes for more than a line in files, and in values, where a leading (?s) matches whole texts.
// Sources marked gitleaks or semgrep are from their rules.
func TestBeyondLine(t *testing.T) {
	const (
		sees  = ", but an expression sees one line at a time; "
		ends  = "remove it, or write a text for what is on several lines: ^ and $ are the ends of a line"
		plain = "remove it: ^ and $ are the ends of a line"
		dot   = "remove it: . is any character of the line"
		whole = ", or begin the expression with (?s), which matches the whole text at once"
		class = `a class of any character, line ends included, such as [\s\S]` + sees +
			"write . for any character of the line"
		mark = "a byte order mark after ^, but the mark of a file belongs to no line, and ^ is after it; " +
			`remove \x{FEFF}; to find the mark itself write {text: "\uFEFF", within_lines: 1}`
		start  = `\A` + sees + "write ^, which is the start of a line"
		end    = `\z` + sees + "write $, which is the end of a line"
		ofFile = ", and within_lines: 1 for that of the file"
	)
	lineEnd := func(escape string) []string {
		return []string{"the line end " + escape + sees + ends, "the line end " + escape + sees + plain + whole}
	}
	flag := func(group string) []string {
		found := "the flag s in (" + group + ")" + sees + dot
		return []string{found, found + whole}
	}
	_, never := Compile("a$b")
	_, empty := Compile("a*")
	any, fine := []string{class, class + whole}, []string{"", ""}
	for source, want := range map[string][]string{
		// Line ends, in every spelling and place.
		`a\nb`: lineEnd(`\n`), `a\r?\nb`: lineEnd(`\r`), `[\r\n]a`: lineEnd(`\r`), `(.|\n)a`: lineEnd(`\n`),
		`a\n?`: lineEnd(`\n`), `[a\n]b`: lineEnd(`\n`), `a\x0Ab`: lineEnd(`\x0A`), `a\x{00d}`: lineEnd(`\x{00d}`),
		`a\12`: lineEnd(`\12`), `a\0123`: lineEnd(`\012`), `a\15`: lineEnd(`\15`), `[]\n]a`: lineEnd(`\n`),
		`[[:alpha:]\n]a`: lineEnd(`\n`), `[\t-\r]a`: lineEnd(`\r`), `a\Q\n\E\n`: lineEnd(`\n`),
		`[^a]\n`: lineEnd(`\n`), `[^]\n]\n`: lineEnd(`\n`), `a[^[:alpha:]\n]|\r`: lineEnd(`\r`), `[:]a\n`: lineEnd(`\n`),
		// Not line ends, or excluded.
		`a\\n`: fine, `\Qa\n`: fine, `[^\n]a`: fine, `[^\r\n]+a`: fine, `[^\S\n]a`: fine, `a\121`: fine, `a\x{a0}`: fine,
		`[\\nr]a`: fine, `\s+a`: fine, `[\s"]a`: fine, `\Wa`: fine, `[^"]a`: fine, `\Da`: fine, `[[:space:]]a`: fine,
		`\pCa`: fine, `[\x00-\x1f]a`: fine, `[^]\n]a`: fine,
		// Any character, in every spelling.
		`[\s\S]a`: any, `[\w\W]+a`: any, `a[\d\D]*?b`: any, `[\S\s"]a`: any, `(?:.|\s)a`: any, `(\s|\S)+a`: any,
		`[\x00-\x{10FFFF}]a`: any, `[[:space:]\S]a`: any, `a(?:b(?:[^a]|a)c){2}`: any,
		`a[^]*b`: {
			"[^], any character in JavaScript, is a class without its closing bracket; " +
				"write . for any character of the line",
			"[^], any character in JavaScript, is a class without its closing bracket; " +
				"write . for any character of the line",
		},
		// Flags.
		`a(?s).`: flag("?s"), `(?s:a.)`: flag("?s"), `(?i)(?s)a`: flag("?s"), `a(?i-m)(?is:b)`: flag("?is"),
		`(?i-s)a.`: fine, `(?-s:a)`: fine, `(?m)^a$`: fine, `(?P<s>a)`: fine, `(?<s>a)`: fine, `[(?s)]a`: fine, `\(?s`: fine,
		// The ends of a text.
		`\Aa`: {start + ofFile, start + whole}, `a\z`: {end, end + whole}, `(?m)a(?:$|\z)`: {end, end + whole},
		`a\\z\\A`: fine,
		// A BOM at the start of a line.
		`^\x{FEFF}`: {mark, ""}, `^(?:\x{feff})+a`: {mark, ""}, "^\ufeffa": {mark, ""},
		`(?m)^\x{FEFF}|^[\x{FEFF}]a`: {mark, ""},
		`^\x{FEFF}?a`:                fine, `^[\x{FEFF}#]a`: fine, `\x{FEFF}`: fine, `a\x{FEFF}$`: fine, `^(?:|\x{FEFF})a`: fine,
		// In front, for values.
		`(?s)a.b`: {flag("?s")[0], ""}, `(?is)^a\nb$`: {flag("?is")[0], ""}, `(?s-i)[\s\S]a[\r\n]`: {flag("?s-i")[0], ""},
		`(?s)\Aa`: {flag("?s")[0], `\A; write ^, which is the start of the text`},
		`(?s)a\z`: {flag("?s")[0], `\z; write $, which is the end of the text`},
		`(?sm)^a`: {
			flag("?sm")[0], "the flag m in (?sm), but with (?s) in front ^ and $ are the ends of the whole text; " +
				`remove it, and write (?:^|\n) and (?:\n|$) for the ends of a line`,
		},
		`(?s)a$b`:  {flag("?s")[0], never.Error()},
		`(?s)a$\n`: {flag("?s")[0], never.Error()},
		`(?s)a*`:   {flag("?s")[0], empty.Error()},

		// gitleaks: private-key of several versions, pypi-upload-token, generic-api-key's end as it was.
		`(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[\s\S-]{64,}?KEY(?: BLOCK)?-----`: any,
		`(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY( BLOCK)?-----[\s\S-]*KEY( BLOCK)?----`:           any,
		`pypi-AgEIcHlwaS5vcmc[\w-]{50,1000}`:                                                          fine,
		`([0-9a-f]{32})(?:['|\"|\n|\r|\s|\x60|;]|$)`:                                                  lineEnd(`\n`),
		`([a-z0-9]{32})(?:[\x60'"\s;]|\\[nr]|$)`:                                                      fine,
		`(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`:                                             fine,
		// semgrep's generic rules.
		`-----BEGIN (?i)([dr]sa|ec|openssh|encrypted)? private key-----`: fine,
		`(?s)<script.*?>`: {flag("?s")[0], ""},
		`\A\s*$`:          {start + ofFile, start + whole},
	} {
		for i, compile := range []func(string) (*Expr, error){Compile, CompileValue} {
			got := ""
			if _, err := compile(source); err != nil {
				got = err.Error()
			}
			if got != want[i] {
				t.Errorf("%#q, of a value: %v:\n  got  %s\n  want %s", source, i == 1, got, want[i])
			}
		}
	}
}

// TestWhole: a regex with a leading (?s) matches texts as Go's regexp does.
func TestWhole(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		atoms := []string{"a", "b", ".", `\n`, `\r?\n`, `\s`, `[^a]`, "^", "$", `\b`, `\B`, "é", `[\s\S]`, `\W`, "(?-s:.)"}
		var source strings.Builder
		source.WriteString(rapid.SampledFrom([]string{"(?s)", "(?is)", "(?s-i)"}).Draw(t, "flags"))
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			one, other := rapid.SampledFrom(atoms).Draw(t, "atom"), rapid.SampledFrom(atoms).Draw(t, "other")
			times := rapid.SampledFrom([]string{"", "", "*", "+", "?"}).Draw(t, "times")
			source.WriteString("(?:" + one + "|" + other + ")" + times)
		}
		e, err := CompileValue(source.String())
		if err != nil {
			return
		}
		pieces := rapid.SampledFrom([]string{"a", "b", "A", "\n", "\r", " ", "é", "\xff"})
		text := strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")
		want := regexp.MustCompile(source.String()).MatchString(text)
		if got := e.Match([]byte(text)); got != want || !e.Whole() {
			t.Fatalf("%#q in %q: %v, want %v", source.String(), text, got, want)
		}
		if want {
			found++
		}
	})
	if found < 10 {
		t.Errorf("%d matches: too few to say anything", found)
	}
}
