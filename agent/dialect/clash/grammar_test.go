package clash

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// "Comments start with ;. Whitespace and comments are ignored between tokens."
func TestRow_4_07_Lexis(t *testing.T) {
	set := read(t, "; a comment (not \"closed\n(default\tdeny \"main\") ; )\r\n(policy \"main\"; x\n(allow(exec \"g;t\" ; y\n \"a\\\"b\\\\\"\n/x;y (z)\\/ [/]$/ :has\"--f\")))\n;")
	if got, want := set.Rules[0].ID, `(allow (exec "g;t" "a\"b\\" /x;y (z)\/ [/]$/ :has "--f"))`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	t.Run("the text of a rule is a rule of the same text", func(t *testing.T) {
		id := set.Rules[0].ID
		if again := read(t, of(id)).Rules[0].ID; again != id {
			t.Errorf("%s becomes %s", id, again)
		}
	})
	refused(t, "(policy \"main\"\n (allow (exec \"x))\n)", nil, `2:15 a string that is not closed`)
	refused(t, "(policy \"main\"\n (allow (exec \"x))\n (allow (exec \"y\")))", nil,
		`2:15 a string that is not closed on its line`)
	refused(t, `(policy "main\n")`, nil, `1:14 that it cannot escape`)
	refused(t, "(policy \"main\"\n (deny (exec \"rm\" \"-rf\" /*)))", nil,
		`2:25 a regex that is not closed on its line`)
	refused(t, `(policy "main`+"\\", nil, `1:9 not closed`, `1:14 that it cannot escape`)
	refused(t, "(policy \"main\"\n (deny (exec /a\\", nil, `2:14 a regex that is not closed on its line`)
	refused(t, "(policy \"main\"\n (deny (exec /a\\\n b/)))", nil, `2:14 a regex that is not closed on its line`)
	refused(t, "(policy \"main\"))\n)", nil, `1:16 closes nothing`, `2:1 closes nothing`)
	refused(t, "(policy \"main\"\n (allow (exec)", nil, `1:1 not closed`, `2:2 not closed`)
	refused(t, strings.Repeat("(", 50), nil, `1:33 lists nested more than 32`)
	refused(t, "", nil, `1:1 no policy`)
	refused(t, "; nothing\n", nil, `1:1 no policy`)
	refused(t, "(policy \"main\")\n\xff", nil, `2:1 not UTF-8`)
	refused(t, "x \"y\" ()", nil, `1:1 the word x is not a form`, `1:1 no policy of that name`, `1:3 a string is not`,
		`1:7 an empty list`)
	refused(t, "(policy \"main\" "+strings.Repeat("x ", 300)+")", nil, many(201)...)
}

// many is the expected errors for a file with too many mistakes: the limit, and then the first of them.
func many(n int) []string {
	want := []string{"0:0 over 200 mistakes"}
	for i := range n - 1 {
		want = append(want, "1:"+strconv.Itoa(16+2*i)+" the word x")
	}
	return want
}

// A key that is not known, or that the document has no meaning for, does not load.
func TestRow_4_07_Unknown(t *testing.T) {
	for matcher, want := range map[string]string{
		`(tool)`:               `3:8 a rule about (tool ...)`,
		`(exe "x")`:            `3:8 (exe ...) is not what a rule can be about`,
		`"x"`:                  `3:8 a string is not what a rule can be about`,
		`(exec git)`:           `3:14 the word git where a pattern belongs; write a string in quotes, as in "git"`,
		`(exec "x" :hass "y")`: `3:18 the word :hass`,
		`(exec (and "a"))`:     `3:14 (and ...) is not a pattern`,
		`(exec (subpath "/"))`: `3:14 (subpath ...) is not a pattern`,
		`(exec (or))`:          `3:14 an (or) of nothing`,
		`(exec (not))`:         `3:14 is not (not PATTERN)`,
		`(exec (not "a" "b"))`: `3:14 is not (not PATTERN)`,
		`(exec (not *))`:       `3:14 (not *) matches nothing`,
		`(exec (not (or *)))`:  `3:14 (not (or *)) matches nothing`,
		`(fs reed)`:            `3:12 the word reed is not an operation`,
		`(fs (or read reed))`:  `3:21 the word reed is not an operation`,
		`(fs (or read read))`:  `3:21 the operation read twice`,
		`(fs read "/a" "/b")`:  `3:22 something after the path`,
		`(fs read (sub "/a"))`: `3:17 (sub ...) is not a path`,
		`(fs read (subpath))`:  `3:17 is not (subpath PATH)`,
		`(net "a" "b")`:        `3:17 something after the host`,
	} {
		refused(t, of("(allow "+matcher+")"), home(), want)
	}
	refused(t, `(policy "main" (allow))`, nil, `1:16 says allow of nothing`)
	refused(t, `(policy)`, nil, `1:1 a policy without a name`)
	refused(t, `(policy " ")`, nil, `1:9 is empty`)
	refused(t, `(policy "main" (include "a" "b"))`, nil, `1:16 is not (include NAME)`)
}

// (version N) is in the grammar and not in the document: 1 changes nothing, what comes later is not known.
func TestVersion(t *testing.T) {
	decides(t, `(version 1) (policy "main" (allow (exec)))`, "allow Bash x")
	refused(t, `(version 2) (policy "main")`, nil, `1:10 version 2 of the language`)
	refused(t, `(version 0) (policy "main")`, nil, `1:10 version 0`)
	refused(t, `(version "1") (policy "main")`, nil, `1:1 is not (version NUMBER)`)
	refused(t, `(version 1) (version 1) (policy "main")`, nil, `1:13 a second version`)
}

// "include the backing repository's git directories": nothing is looked up, so an allow is narrower, and
// what would be weaker is refused.
func TestWorktree(t *testing.T) {
	text := of(`(allow (fs read (subpath :worktree (env PWD))))`)
	decides(t, text, "allow Read x", "deny Read /repo/.git/config")
	noted(t, text, `3 :worktree is read as if it were not there`)
	refused(t, of(`(deny (fs read (subpath :worktree "/a")))`), nil, `3:16 a :worktree in a rule that says deny`)
	refused(t, of(`(ask (fs read (or "/b" (subpath :worktree "/a"))))`), nil,
		`3:24 a :worktree in a rule that says ask`)
	refused(t, of(`(allow (fs read (not (subpath :worktree "/a"))))`), nil, `3:22 or within (not ...)`)
	decides(t, of(`(allow (fs read (not (not (subpath :worktree "/a")))))`), "allow Read /a")
	decides(t, of(`(allow (exec "x") :sandbox (deny (fs read (subpath :worktree "/a"))))`), "allow Bash x")
}

func TestNotes(t *testing.T) {
	noted(t, of(`(deny (fs delete "/a"))`), `3 no call of a tool is a create or a delete`)
	noted(t, of(`(deny (fs (or create write) "/a"))`))
	noted(t, of(`(allow (exec "x") :sandbox (deny (fs delete "/a")))`), `3 but not enforced`)
	noted(t, of(`(allow (exec "x" :has * "a"))`), `3 a * after :has requires nothing`)
	noted(t, "(policy \"main\" (allow (net)))\n(policy \"x\" (include \"y\")) (policy \"y\")",
		`2 the policy "x" is not used`, `2 the policy "y" is not used`)
	noted(t, `(policy "main")`, `1 no rule applies`)
	noted(t, "(default allow \"main\") (policy \"main\"\n(deny (fs write (subpath \"/a\"))))",
		`2 MultiEdit and NotebookEdit`)
	noted(t, "(default allow \"main\") (policy \"main\"\n(deny (fs read (subpath \"/a\"))))")
}

// Over this many rules a file is refused: every two of them may have to be compared.
func TestLimitOfRules(t *testing.T) {
	rule := "(allow (exec \"a\"))\n"
	refused(t, "(policy \"main\"\n"+strings.Repeat(rule, maxRules+1)+")", nil, "10002:1 over 10000 rules")
	if set := read(t, "(policy \"main\"\n"+strings.Repeat(rule, maxRules)+")"); len(set.Rules) != maxRules {
		t.Errorf("%d rules", len(set.Rules))
	}
}

// Rules are compared for notes two million times, and no more.
func TestLimitOfNotes(t *testing.T) {
	many := func(n int, rule string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, rule+"\n", i)
		}
		return b.String()
	}
	for _, c := range []struct{ thousand, last, want string }{
		{`(allow (exec "a%d" *))`, `(ask (exec "a999"))`, "1002 only because of its *"},
		{`(deny (exec "a%d"))`, `(ask (exec "a999" "x"))`, "1002 may decide before this rule denies"},
	} {
		noted(t, of(many(1000, c.thousand)+many(999, `(allow (exec "b%d"))`)+c.last), c.want)
		noted(t, of(many(1000, c.thousand)+many(1000, `(allow (exec "b%d"))`)+c.last))
	}
}

var policies = flag.String("policies", "", "a folder of policies in clash's s-expressions, and of pages with some in them")

// TestPublicPolicies reads what others wrote: the files *.policy and *.sexpr of a directory, and the code of its *.md
// that has a policy in it. Each loads, or says where and why it does not; the log has which.
func TestPublicPolicies(t *testing.T) {
	if *policies == "" {
		t.Skip("no folder is named: -policies DIR")
	}
	code := regexp.MustCompile("(?s)```\\w*\n(.*?)```")
	loaded := 0
	try := func(name, text string) {
		set, err := Read(&document.Source{Name: name, Text: []byte(text)},
			map[string]string{"PWD": "/w", "HOME": "/home/u", "TRANSCRIPT_DIR": "/t"})
		var list document.Errors
		switch {
		case err == nil:
			loaded++
			for _, said := range []string{"Bash git push origin", "Read x", "Write /etc/x", "WebFetch https://a.b/",
				"Task x"} {
				if out := ask(t, set, said); out.Effect == "" || out.Effect != callrules.Deny &&
					out.Effect != callrules.Ask && out.Effect != callrules.Allow {
					t.Errorf("%s: %s: %q", name, said, out.Effect)
				}
			}
		case !errors.As(err, &list) || list[0].Line == 0:
			t.Errorf("%s: an error without a place: %v", name, err)
		default:
			t.Logf("%v\n%s", err, text)
		}
	}
	err := filepath.WalkDir(*policies, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		switch filepath.Ext(name) {
		case ".policy", ".sexpr":
			try(name, string(text))
		case ".md":
			for _, block := range code.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(block[1], "(policy \"") && strings.ContainsAny(block[1][:1], "(;") {
					try(name, block[1])
				}
			}
		}
		return nil
	})
	if err != nil || loaded == 0 {
		t.Errorf("%d policies loaded: %v", loaded, err)
	}
	t.Logf("%d policies loaded", loaded)
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
		refused(t, of("(deny (exec /"+re+"/))"), nil, want)
	}
}

func TestRegexesThatAreTheSame(t *testing.T) {
	for _, test := range []struct{ re, yes, no string }{
		{`^-+f`, "--f", "f"},
		{`a/b`, "a/b", "ab"},
		{`^\/a`, "/a", "a"},
		{`^\d+$`, "12", "1a"},
		{`^\d+$`, "١٢", "x"}, // Unicode's digits, as in Rust
		{`^\D$`, "x", "١"},
		{`^\w+$`, "naïve", "a-b"},
		{`^[\w.-]+$`, "é.x-1", "a b"},
		{`^[^\w]$`, "-", "é"},
		{`^\W$`, "-", "é"},
		{`^a\sb$`, "a\u00a0b", "a_b"},
		{`^\S$`, "x", "\u2003"},
		{`^[\s]$`, "\v", "x"},
		{`^[]a]$`, "]", "b"},
		{`^[^]a]$`, "b", "]"},
		{`^[\]a-]$`, "-", "b"},
		{`[]{]`, "{", "a"},
		{`^[]{]$`, "{", "a"},
		{`^[^]{]$`, "a", "{"},
		{`^[]]\W$`, "]-", "]a"}, // a \W may not be in [...], so this is behind it
		{`^[a]\W$`, "a-", "aa"},
		{`^[ab]\W$`, "b-", "bb"},
		{`^[^]]\W$`, "a-", "]-"},
		{`^[^ab]\W$`, "c-", "a-"},
		{`^[[:alpha:]_]$`, "_", "1"},
		{`^[[:^alpha:]]$`, "1", "a"},
		{`^a{2}$`, "aa", "a"},
		{`^a{2,}$`, "aaa", "a"},
		{`^\p{Greek}\x{41}\x42$`, "αAB", "aAB"},
		{`^\pL$`, "é", "1"},
		{`^\{\}$`, "{}", "{"},
		{`(?i)^git$`, "GIT", "got"},
		{`^(?:a|b)$`, "b", "c"},
		{`^(?P<n>a)(?<m>b)$`, "ab", "a"},
		{`^a;b$`, "a;b", "a"}, // no comment
		{`^"$`, `"`, "a"},
		{`.`, "anything, anywhere", "\n"}, // unanchored
	} {
		set := read(t, of("(allow (exec \"x\" /"+test.re+"/))"))
		re := set.Rules[0].When.All[1].Test.Regexp
		if !re.MatchString(test.yes) || re.MatchString(test.no) {
			t.Errorf("/%s/, for Go /%s/: %q %v, %q %v", test.re, re, test.yes, re.MatchString(test.yes), test.no,
				re.MatchString(test.no))
		}
	}
}

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

// What translate leaves alone is what Go makes of it: no byte is lost.
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

// A regex of hosts is put into a group, which it must not close.
func TestHostRegexIsWhole(t *testing.T) {
	for _, re := range []string{`a)(b`, `a)|(b`, `)(`} {
		refused(t, of(`(deny (net /`+re+`/))`), nil, "3:12 does not compile")
	}
}
