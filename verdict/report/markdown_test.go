package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

func markdown(t *testing.T, v *verdict.Verdict) string {
	t.Helper()
	var b strings.Builder
	if err := writeMarkdown(&b, v, Arrangement{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMarkdownFolds: few violations are unfolded, more are not.
func TestMarkdownFolds(t *testing.T) {
	for n, want := range map[int]string{markdownOpen: "\n<details open>\n", markdownOpen + 1: "\n<details>\n"} {
		v := newFixture()
		v.Rules = v.Rules[:1]
		v.Violations = slices.Repeat([]verdict.Violation{found(v.Rules[0], "f", "BAD", "BAD")}, n)
		v.Decide()
		if page := markdown(t, v); !strings.Contains(page, want) {
			t.Errorf("%d violations:\n%s", n, page)
		}
	}
}

// TestFault_134_MarkdownLimit: however much there is, the page keeps its limit, uses its room, is cut at whole
// violations, and counts what it omits.
func TestFault_134_MarkdownLimit(t *testing.T) {
	hostile := strings.Repeat("x\u202e`|<", 200)
	many := func(rules, each int) *verdict.Verdict {
		v := newFixture()
		v.Rules = nil
		for r := range rules {
			rule := verdict.Rule{ID: fmt.Sprintf("R-%d", r), Type: "boundary", Title: "No x", Remediation: "Do not.",
				Files: each}
			v.Rules = append(v.Rules, rule)
			one := found(rule, "", "the BAD word\n", "BAD")
			for i := range each {
				one.File = fmt.Sprintf("dir/file-%05d.tf", i)
				v.Violations = append(v.Violations, one)
			}
		}
		return v
	}
	for name, c := range map[string]struct {
		rules, each int
		full, long  bool // full: so much that the page has to be full
		change      func(v *verdict.Verdict)
	}{
		"one rule":   {1, 15000, true, true, nil},
		"two rules":  {2, 8000, true, false, nil},
		"many rules": {4000, 2, true, true, nil},
		"many rules held": {1, 15000, true, true, func(v *verdict.Verdict) {
			v.Rules = append(v.Rules, many(5000, 0).Rules...)
		}},
		"endless paths": {2, 10, false, false, func(v *verdict.Verdict) {
			for i := range v.Violations {
				v.Violations[i].File += strings.Repeat("/x", 9000*(i%2))
			}
		}},
		"long texts": {300, 3, true, false, func(v *verdict.Verdict) {
			for i := range v.Rules {
				r := &v.Rules[i]
				r.Title, r.Owner, r.Severity, r.Remediation, r.Message = hostile, hostile, hostile, hostile, hostile
				r.DocsURL = "https://example.com/" + strings.Repeat("&", 900)
			}
			for i := range v.Violations {
				v.Violations[i].Title, v.Violations[i].Reason = hostile, hostile
			}
		}},
		"errors": {2, 5000, true, false, func(v *verdict.Verdict) {
			for i := range 5000 {
				v.Errors = append(v.Errors, verdict.Error{Code: code.Read, File: fmt.Sprint("e", i), Message: hostile})
			}
			v.Errors[0].File = strings.Repeat("y", 1<<20)
		}},
		"no violation": {20000, 0, false, true, func(v *verdict.Verdict) {
			v.Coverage.NotScanned = slices.Repeat([]verdict.Omission{{File: strings.Repeat(hostile, 10),
				Reason: hostile}}, 5000)
			v.Coverage.LeftOut, v.Scope.Base, v.Scope.Mode = v.Coverage.NotScanned, strings.Repeat(hostile,
				2000), "diff"
			v.Policy = make([]verdict.Policy, 5000)
		}},
	} {
		if c.long && !*long {
			continue
		}
		v := many(c.rules, c.each)
		if c.change != nil {
			c.change(v)
		}
		v.Decide()
		page := markdown(t, v)
		if len(page) > 900_000 || c.full && len(page) < 800_000 {
			t.Errorf("%s: %d bytes", name, len(page))
		}
		all := func(expr string) int { return len(regexp.MustCompile(expr).FindAllString(page, -1)) }
		number := func(expr string) int {
			n := 0
			if m := regexp.MustCompile(expr).FindStringSubmatch(page); m != nil {
				n, _ = strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
			}
			return n
		}
		shown, left := all(`(?m)^ +\| +\^+$`), number(`(?m)\A.*\n\n\*\*Not shown, .* KB\*\*: ([\d,]+) of `)
		if shown+left != len(v.Violations) || c.full && left == 0 {
			t.Errorf("%s: %d shown and %d left out of %d", name, shown, left, len(v.Violations))
		}
		broken := all(`(?m)^\| .* \| [\d,]+ places? in [\d,]+ files? \|$`) +
			number(`(?s)places? in [\d,]+ files? \|\n\nand ([\d,]+) more`)
		held := all(`(?m)^\| .* \| this rule selects no file \|$`) + number(`(?s)selects no file \|\n\nand ([\d,]+) more`)
		if want := c.rules * min(c.each, 1); broken != want || held != len(v.Rules)-want {
			t.Errorf("%s: %d rules with violations and %d without are listed or counted", name, broken, held)
		}
		switch name {
		case "two rules", "errors": // they share the room
			for _, id := range []string{"R-0", "R-1"} {
				_, fold, _ := strings.Cut(page, "<summary><code>"+id+"</code>")
				fold, _, _ = strings.Cut(fold, "</details>")
				if strings.Count(fold, "^^^") < 100 || !strings.Contains(fold, " more, in `verdict.json`.") {
					t.Errorf("%s: %s has %d violations", name, id, strings.Count(fold, "^^^"))
				}
			}
		case "endless paths":
			if shown != 10 {
				t.Errorf("%s: %d shown, %d left out", name, shown, left)
			}
		}
		if listed := strings.Count(page, "* `E_READ`"); name == "errors" &&
			(listed < 50 || number(`(?m)^and ([\d,]+) more, in`) != len(v.Errors)-listed ||
				number(`(?m)^\*\*Not shown, .* places, ([\d,]+) errors`) != len(v.Errors)-listed) {
			t.Errorf("%d errors are listed", listed)
		}
	}
}

// TestMarkdownFiles: the places of a file are below its name, at most as many as there is room for.
func TestMarkdownFiles(t *testing.T) {
	v := newFixture()
	v.Rules = v.Rules[:1]
	for i := range 200 {
		x := found(v.Rules[0], "f", strings.Repeat("\n", i)+strings.Repeat("BAD ", 60), "BAD")
		x.PlaceCount, x.Evidence.Occurrences = 1, 1
		v.Violations = append(v.Violations, x)
	}
	v.Decide()
	page := markdown(t, v)
	shown, left, more := strings.Count(page, "^^^\n"), 0, 0
	_, rest, _ := strings.Cut(page, "\nand ")
	_, err := fmt.Sscanf(rest, "%d more places", &more)
	_, top, _ := strings.Cut(page, "**Not shown, to keep this page under 900 KB**: ")
	if _, terr := fmt.Sscanf(top, "%d of 200 places.", &left); err != nil || terr != nil || shown < 20 ||
		shown+left != 200 || left != more || !strings.Contains(page, "\n**`f`** 200 places\n\n**`1:1`**\n\n```\n") {
		t.Errorf("%d shown, %d and %d not: %v, %v", shown, left, more, err, terr)
	}
}

// TestMarkdownPiece: the longest error and the longest violation that are shown.
func TestMarkdownPiece(t *testing.T) {
	long := func(name int) *verdict.Verdict {
		v := newFixture()
		file := strings.Repeat("y", name)
		v.Errors = []verdict.Error{{Code: code.Read, File: file, Message: "m"}}
		v.Violations = []verdict.Violation{found(v.Rules[0], file, "BAD", "BAD")}
		v.Decide()
		return v
	}
	for what, piece := range map[string]*regexp.Regexp{
		"error":     regexp.MustCompile("(?m)^\\* `E_READ` .*$"),
		"violation": regexp.MustCompile("(?m)^\n\\*\\*`y+:1:1`(?s:.*?)\n```\n(?s:.*?)\n```"),
	} {
		rest := markdownPiece - len(piece.FindString(markdown(t, long(1))))
		if got := piece.FindString(markdown(t, long(1+rest))); len(got) != markdownPiece {
			t.Errorf("an %s of %d bytes is missing", what, markdownPiece)
		}
		if got := piece.FindString(markdown(t, long(2+rest))); got != "" {
			t.Errorf("an %s of %d bytes is there", what, len(got))
		}
	}
}

// TestMarkdownProse: what is plain stays as it was written, all else is code.
func TestMarkdownProse(t *testing.T) {
	for s, want := range map[string]string{
		"This opens a port to everyone.":                     "This opens a port to everyone.",
		"Name the range (or two), don't guess.":              "Name the range (or two), don't guess.",
		"use 10.0.0.0/8, see @org/team":                      "use `10.0.0.0/8`, see `@org/team`",
		"run terraform plan -out=x.":                         "run terraform plan `-out=x`.",
		`T: the file contains "0.0.0.0/0", which must not`:   "T: the file contains \"`0.0.0.0/0`\", which must not",
		"set a_b = f(x) now":                                 "set `a_b = f(x)` now",
		"(a.tf or b.tf)":                                     "(`a.tf` or `b.tf`)",
		"(see foo.tf)":                                       "(see `foo.tf`)",
		"e.g. port 443, i.e. HTTPS":                          "e.g. port 443, i.e. HTTPS",
		"see #1, GH-1 and defaced":                           "see `#1`, `GH-1` and `defaced`",
		"DEFACED or decade":                                  "`DEFACED` or decade",
		"a|b and `c`":                                        "`a`&#124;`b` and &#96;`c`&#96;",
		"well-known  x--y\n-z":                               "well-known `x--y -z`",
		":!: note:?: (:,: a.b:;: std:: so:":                  "`:!: note:?: (:,: a.b:;: std::` so:",
		"1234567 123456 www.x":                               "`1234567` 123456 `www.x`",
		"\u201cso\u201d \u2014 \u4e16\u754c\u3002 caf\u00e9": "\u201cso\u201d \u2014 \u4e16\u754c\u3002 caf\u00e9",
		"a\u202eb ##[x]":                                     "`a\\u{202e}b #\\u{23}[x]`",
		"":                                                   "",
	} {
		if got := prose(s, codeMarkdown); got != want {
			t.Errorf("%q is written %q, want %q", s, got, want)
		}
	}
	if got, want := lines("One:\n  a = 1\n\n2. x\n"), "One:<br>&nbsp;&nbsp;a `=` 1<br><br>2. x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := codeMarkdown("  a "), "`   a  `"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMarkdownLinks: a link is https, to a host, and looks like where it goes.
func TestMarkdownLinks(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com":                              true,
		"https://example.com:8443/a/(b)?c=d&e":             true,
		"HTTPS://example.com/~x#y":                         true,
		"https://09az.example.com/09AZ":                    true,
		"http://example.com":                               false,
		"//example.com":                                    false,
		"example.com":                                      false,
		"https:":                                           false,
		"https:///x":                                       false,
		"https://user@example.com":                         false,
		"https://github.com:x@example.com":                 false,
		"https://example.com/\u202e":                       false,
		"https://ex\u00e4mple.com":                         false,
		"https://example.com/>":                            false,
		"https://example.com/a b":                          false,
		"https://example.com/\n":                           false,
		"https://example.com/`":                            false,
		"https://example.com/|":                            false,
		"https://example.com/\\":                           false,
		"https://example.com/##[x]":                        false,
		"https://example.com/%zz":                          false,
		"javascript:alert(1)":                              false,
		"data:text/html,x":                                 false,
		"https://example.com/" + strings.Repeat("x", 980):  true,
		"https://example.com/" + strings.Repeat("x", 1000): false,
	} {
		if got := isSafeURL(address); got != want {
			t.Errorf("%q: a link is %t, want %t", address, got, want)
		}
	}
}
