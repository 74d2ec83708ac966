package clash

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/rogpeppe/go-internal/txtar"
)

// home are the definitions of all tests.
func home() map[string]string { return map[string]string{"PWD": "/w", "HOME": "/home/u"} }

func read(t testing.TB, text string) *callrules.Set {
	t.Helper()
	set, err := readOne("p.policy", text, home())
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return set
}

// readOne reads a policy of one level.
func readOne(name, text string, define map[string]string) (*callrules.Set, error) {
	return Read(name, []*document.Source{{Name: name, Text: []byte(text)}}, define)
}

// of is a policy of some rules, with the default deny.
func of(rules string) string { return "(default deny \"main\")\n(policy \"main\"\n" + rules + ")" }

// ask decides a call, written "Bash git push", "Read /a", "WebFetch https://a/" or the name of another tool.
func ask(t testing.TB, set *callrules.Set, said string) callrules.Outcome {
	t.Helper()
	tool, what, _ := strings.Cut(said, " ")
	key := map[string]string{"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path",
		"WebFetch": "url", "Glob": "pattern", "Grep": "path"}[tool]
	c := &call.Call{Tool: tool, Dir: "/w", Input: call.NewObject(call.Member{Name: key, Value: call.Text(what)})}
	return set.Decide(c, callrules.Options{Trace: true})
}

// Notes of many files, see TestFault_155_FirstCommand and TestUnknownTools.
const (
	first   = "rules about exec see only the first command of a line"
	unknown = "the default denies every tool that is not exec, fs or net"
)

func usual(n callrules.Note) bool {
	return strings.HasPrefix(n.Text, first) || strings.HasPrefix(n.Text, unknown)
}

// refused wants the errors of a text that does not load to be these, "LINE:COLUMN part of the text".
func refused(t *testing.T, text string, want ...string) {
	t.Helper()
	set, err := readOne("p.policy", text, home())
	var list document.Errors
	if !errors.As(err, &list) || set != nil || len(list) != len(want) {
		t.Errorf("%s\n%v\nwant %q", text, err, want)
		return
	}
	for i, e := range list {
		place, part, _ := strings.Cut(want[i], " ")
		if got := fmt.Sprintf("%d:%d", e.Line, e.Column); got != place || !strings.Contains(e.Error(), part) ||
			e.Found == "" || e.Fix == "" || e.Code == "" {
			t.Errorf("%s\n%+v\nwant %q", text, e, want[i])
		}
	}
}

// TestRows holds policies to what testdata/rows.txtar says of them. The environment of the process is not read.
func TestRows(t *testing.T) {
	t.Setenv("PWD", "/elsewhere")
	t.Setenv("SET_OUTSIDE", "/x")
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			if f.Name == "regexes" {
				compareRegexes(t, string(f.Data))
				return
			}
			text, lines, _ := strings.Cut(string(f.Data), "\n=>\n")
			wants := map[string][]string{}
			for line := range strings.Lines(lines) {
				kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				wants[kind] = append(wants[kind], rest)
			}
			if wants["error"] != nil {
				refused(t, text, wants["error"]...)
				return
			}
			set := read(t, text)
			for kind, list := range wants {
				for _, want := range list {
					switch kind {
					case "allow", "deny", "ask":
						if out := ask(t, set, want); string(out.Effect) != kind || out.Decision != kind {
							t.Errorf("%s: %s, want %s\n%s", want, out.Effect, kind, out.Reason)
						}
					case "score":
						if got := fmt.Sprintf("(%d,%d)", set.Rules[0].Score[0], set.Rules[0].Score[1]); got != want {
							t.Errorf("%s, want %s", got, want)
						}
					}
				}
			}
			if wants["note"] != nil || wants["no"] != nil {
				compareNotes(t, set, wants["note"])
			}
		})
	}
}

// compareNotes wants the notes of a set, without the usual, to be these, "LINE part of the text".
func compareNotes(t *testing.T, set *callrules.Set, want []string) {
	t.Helper()
	notes := slices.DeleteFunc(set.Notes, usual)
	if len(notes) != len(want) {
		t.Fatalf("%d notes, want %d: %v", len(notes), len(want), notes)
	}
	for i, n := range notes {
		line, part, _ := strings.Cut(want[i], " ")
		if fmt.Sprint(n.Origin.Line) != line || !strings.Contains(n.Text, part) ||
			n.Origin.File != "p.policy" {
			t.Errorf("the note %v; want %q", n, want)
		}
	}
}

// compareRegexes compares regexes with two strings each: one that they match, and one that they do not.
func compareRegexes(t *testing.T, table string) {
	for line := range strings.Lines(table) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		re := read(t, of("(allow (exec \"x\" /"+row[0]+"/))")).Rules[0].When.All[1].Test.Regexp
		if !re.MatchString(row[1]) || re.MatchString(row[2]) {
			t.Errorf("/%s/ is %s for Go", row[0], re)
		}
	}
}

// order returns the rules of a set with their scores.
func order(set *callrules.Set) string {
	var all []string
	for _, r := range set.Rules {
		all = append(all, fmt.Sprintf("%s (%d,%d) %s", r.Domain, r.Score[0], r.Score[1], r.ID))
	}
	return strings.Join(all, "\n")
}

// "DecisionTree (IR): default, policy_name, exec_rules, fs_rules, net_rules (sorted by specificity)"
func TestRow_4_06_Sorted(t *testing.T) {
	set := read(t, of(`
	(allow (net))
	(allow (exec "git" *))
	(deny (exec "git" "push" *))
	(allow (fs read))
	(allow (exec "npm" *)) ; equal to git's
	(allow (fs read (subpath "/a")))
	(allow (net "b"))`))
	if got, want := order(set), `exec (3,5) (deny (exec "git" "push" *))
exec (3,1) (allow (exec "git" *))
exec (3,1) (allow (exec "npm" *))
fs (1,2) (allow (fs read (subpath "/a")))
fs (0,2) (allow (fs read))
net (3,0) (allow (net "b"))
net (0,0) (allow (net))`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if set.Dialect != "clash" || set.Strategy != callrules.MostSpecific || set.Default != callrules.Deny ||
		set.Name != "p.policy" {
		t.Errorf("%+v", set)
	}
	if o := set.Rules[0].Origin; o != (callrules.Origin{File: "p.policy", Line: 6}) {
		t.Errorf("%+v", o)
	}
}

// "Walk the rule list: first match wins, record effect; if the matching rule has :sandbox, note sandbox name in
// trace; non-matching rules are recorded as skipped"
func TestRow_4_19_and_4_22_Trace(t *testing.T) {
	set := read(
		t,
		of(`(deny (exec "git" "push" *)) (allow (exec "git" *) :sandbox "main") (ask (exec)) (allow (net))`),
	)
	out := ask(t, set, "Bash git status")
	if out.Effect != callrules.Allow || out.Rule == nil || out.Rule.Sandbox != "main" || !out.Explicit() {
		t.Errorf("%+v", out)
	}
	if want := `allow by (allow (exec "git" *) :sandbox "main")`; out.Reason != want {
		t.Errorf("reason %q", out.Reason)
	}
	var steps []string
	for _, s := range out.Trace.Steps {
		steps = append(steps, fmt.Sprintf("%v %s: %s", s.Matched, s.Rule.Effect, s.Why))
	}
	want := []string{
		`false deny: argument 1 "push" does not hold`,
		`true allow: `,
		`false ask: it is not reached: (allow (exec "git" *) :sandbox "main") decides first`,
		`false allow: the call has nothing to do with net`,
	}
	if strings.Join(steps, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", steps)
	}
	if !strings.HasPrefix(out.Trace.Resolution, "allow: ") {
		t.Errorf("%q", out.Trace.Resolution)
	}
}

// A file with a rule that denies or asks about a program has one note that it sees the first command alone.
func TestFault_155_FirstCommand(t *testing.T) {
	for rule, want := range map[string]int{
		`(deny (exec "git" "push" *)) (ask (exec "make"))`: 1,
		`(ask (exec /git/))`:     1,
		`(deny (exec *))`:        0,
		`(allow (exec "git"))`:   0,
		`(deny (fs write "/a"))`: 0,
	} {
		count := 0
		for _, n := range read(t, of(rule)).Notes {
			if strings.HasPrefix(n.Text, first) {
				count++
			}
		}
		if count != want {
			t.Errorf("%s: %d notes, want %d", rule, count, want)
		}
	}
}

// A file has one note that its default denies unknown tools, unless it has rules about tools.
func TestUnknownTools(t *testing.T) {
	for text, want := range map[string]int{
		`(policy "main" (allow (exec)))`:                          1,
		"\n" + `(default deny "main") (policy "main")`:            2,
		`(default ask "main") (policy "main")`:                    0,
		`(policy "main" (include "a")) (policy "a" (ask (tool)))`: 0,
		`(policy "main") (policy "a" (allow (tool)))`:             1,
	} {
		line := 0
		for _, n := range read(t, text).Notes {
			if strings.HasPrefix(n.Text, unknown) {
				line += n.Origin.Line
			}
		}
		if line != want {
			t.Errorf("%s: a note at line %d, want %d", text, line, want)
		}
	}
}

// The most specific rule that names a program which is looked through decides; testdata/rows.txtar has more.
func TestFault_164_LookedThrough(t *testing.T) {
	text := "(default allow \"main\")\n(policy \"main\" (deny (exec \"env\" *)))"
	out := ask(t, read(t, text), "Bash env git")
	if out.Rule == nil || !strings.Contains(out.Trace.Steps[0].Why, "env is part of the command") ||
		!out.Trace.Steps[0].Matched {
		t.Errorf("%+v", out.Trace)
	}
	for rule, want := range map[string]string{
		`(allow (exec "env" "git" *))`:         "skipped as a wrapper, and the program is git",
		`(allow (exec "timeout" "30" "make"))`: "the program is make",
		`(allow (exec "nice" "env"))`:          "the program is env",
	} {
		if notes := slices.DeleteFunc(read(t, of(rule)).Notes, usual); len(notes) == 0 ||
			!strings.Contains(notes[0].Text, want) {
			t.Errorf("%s: %v", rule, notes)
		}
	}
}

// "Both forms produce the same compiled representation"
func TestRow_4_10_Sandboxes(t *testing.T) {
	compiled := func(text string) (string, string) {
		c := newCompiler(&document.Source{Name: "p", Text: []byte(text)}, home())
		c.compile()
		if len(c.errs) > 0 {
			t.Fatal(c.errs)
		}
		name := c.rules[0].sandbox
		return name, order(&callrules.Set{Rules: c.sandboxes[name]})
	}
	inline, a := compiled("(policy \"main\" (allow (exec \"x\")\n :sandbox (allow (net *)) (deny (fs write \"/a\"))))")
	named, b := compiled(`(policy "main" (allow (exec "x") :sandbox "s"))
		(policy "s" (allow (net *)) (include "t")) (policy "t" (deny (fs write "/a")))`)
	if inline != "inline of 2:2" || named != "s" || a != b || strings.Count(a, "\n") != 1 {
		t.Errorf("%q: %s\n%q: %s", inline, a, named, b)
	}
}

// "resolve (env NAME) references"
func TestRow_4_11_Env(t *testing.T) {
	for name, want := range map[string]string{
		"AZaz_09": "", "Z": "", "z": "", "_": "", "A@": "not (env NAME)", "A[": "not (env NAME)",
		"A`": "not (env NAME)", "A{": "not (env NAME)", "A/": "not (env NAME)", "A:": "not (env NAME)",
		"0A": "not (env NAME)", "9": "not (env NAME)", `""`: "not (env NAME)", "/A/": "not (env NAME)",
		"CWD": "", "EMPTY": "is defined as empty", "RELATIVE": "is relative", "PWD": "is relative, and so is PWD",
	} {
		value, other := map[string]string{"EMPTY": "", "RELATIVE": "b", "PWD": "w"}[name]
		if !other {
			value = "/a"
		}
		define := map[string]string{name: value}
		text := of("(allow (fs read (subpath (env " + name + "))))")
		_, err := readOne("p", text, define)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A relative path of a rule is resolved against PWD, or refused: it would never match.
func TestRow_4_27_RelativePaths(t *testing.T) {
	for _, path := range []string{`".env"`, `(subpath ".git")`, `(subpath (join "a" "b"))`} {
		_, err := readOne("p", of(`(deny (fs write `+path+`))`), nil)
		if err == nil || !strings.Contains(err.Error(), "--define PWD=") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestX16_Hosts(t *testing.T) {
	for _, host := range []string{"https://github.com", "github.com/a", "github.com:443", "*.github.com", "",
		"bücher.de", "a b", "a..b", "1.2.3.256", "[::1", "a^b", "u@a"} {
		refused(t, of(fmt.Sprintf("(deny (net %q))", host)), "3:12 ")
	}
	refused(t, of("(deny (net \"a\u0080\"))"), "3:12 is not a host")
}

// What is not text, has too many mistakes or rules, or would overflow a score.
func TestLimits(t *testing.T) {
	set := read(t, "; a comment (not \"closed\n(default\tdeny \"main\") ; )\r\n(policy \"main\"; x\n"+
		"(allow(exec \"g;t\" ; y\n \"a\\\"b\\\\\"\n/x;y (z)\\/ [/]$/ :has\"--f\")))\n;")
	const id = `(allow (exec "g;t" "a\"b\\" /x;y (z)\/ [/]$/ :has "--f"))`
	if got, again := set.Rules[0].ID, read(t, of(id)).Rules[0].ID; got != id || again != id {
		t.Errorf("%s, %s", got, again)
	}
	refused(t, "(policy \"main\")\n\xff", `2:1 not UTF-8`)
	refused(t, strings.Repeat("(", 50), `1:33 lists nested more than 32`)
	set = read(t, of(`(allow (exec "x"`+strings.Repeat(` "a"`, 300)+`)) (deny (exec "x" "a" *))`))
	if set.Rules[0].Score != [2]int{3, 1200} || set.Rules[0].Effect != callrules.Allow {
		t.Error(order(set))
	}
	rule := "(allow (exec \"a\"))\n"
	refused(t, "(policy \"main\"\n"+strings.Repeat(rule, maxRules+1)+")", "10002:1 over 10000 rules")
	_, err := readOne("p", of(strings.Repeat("x ", 300)), nil)
	if list := err.(document.Errors); len(list) != 201 || !strings.Contains(err.Error(), "over 200 mistakes") {
		t.Errorf("%d errors", len(list))
	}
	// Rules are compared for notes two million times, and no more.
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
		compareNotes(t, read(t, of(many(1000, c.thousand)+many(999, `(allow (exec "b%d"))`)+c.last)), []string{c.want})
		compareNotes(t, read(t, of(many(1000, c.thousand)+many(1000, `(allow (exec "b%d"))`)+c.last)), nil)
	}
}

// What cannot be determined might be anything, so a rule about anything is one that might decide, however it is
// written.
func TestAnythingOfWhatCannotBeDetermined(t *testing.T) {
	for _, any := range []string{`*`, `(or *)`, `(or * *)`, `(or "a" *)`} {
		set := read(t, fmt.Sprintf(`(default allow "main") (policy "main" (deny (fs write %[1]s))
			(deny (exec %[1]s)) (deny (net %[1]s)))`, any))
		for _, tool := range []string{"Write", "Bash", "WebFetch"} { // without an input
			if out := set.Decide(&call.Call{Tool: tool, Dir: "/w"},
				callrules.Options{}); out.Effect != callrules.Deny {
				t.Errorf("%s, %s: %s, %s", any, tool, out.Effect, out.Reason)
			}
		}
	}
	for _, program := range []string{`(exec)`, `(exec *)`} { // which asks for nothing
		if out := read(t, of("(ask "+program+")")).Decide(&call.Call{Tool: "Bash", Dir: "/w"},
			callrules.Options{}); out.Effect != callrules.Ask {
			t.Errorf("%s: %s, %s", program, out.Effect, out.Reason)
		}
	}
}

// BenchmarkThousandRules: a thousand rules of one domain without a match, so all are evaluated.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	for i := range 250 {
		fmt.Fprintf(&text, "(deny (exec \"git\" \"push\" \"origin\" \"area-%d\" *))\n", i)
		fmt.Fprintf(&text, "(allow (exec \"tool-%d\" (or \"build\" /^te?st$/) (not \"x\")))\n", i)
		fmt.Fprintf(&text, "(ask (exec /^(cargo|make)-%d$/ *))\n", i)
		fmt.Fprintf(&text, "(deny (exec \"git\" :has \"--force-%d\" /^-/))\n", i)
	}
	set := read(b, of(text.String()))
	c := &call.Call{Tool: "Bash", Dir: "/w", Input: call.NewObject(call.Member{Name: "command",
		Value: call.Text("git push origin feature --force-with-lease --no-verify && make test lint")})}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
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
		_, err := readOne("p", of("(deny (exec /"+re+"/))"), nil)
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
