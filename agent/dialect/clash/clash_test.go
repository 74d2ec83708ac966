package clash

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// home are the definitions of all tests.
func home() map[string]string { return map[string]string{"PWD": "/w", "HOME": "/home/u"} }

func read(t testing.TB, text string) *callrules.Set {
	t.Helper()
	set, err := Read(&document.Source{Name: "p.policy", Text: []byte(text)}, home())
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return set
}

// of is a policy of some rules, with the default deny.
func of(rules string) string { return "(default deny \"main\")\n(policy \"main\"\n" + rules + ")" }

// refused reads a text that does not load, and wants its errors to be these, "LINE:COLUMN part of the text".
func refused(t *testing.T, text string, define map[string]string, want ...string) {
	t.Helper()
	set, err := Read(&document.Source{Name: "p.policy", Text: []byte(text)}, define)
	var list document.Errors
	if !errors.As(err, &list) || set != nil {
		t.Errorf("%s\nit loads; want %q", text, want)
		return
	}
	if len(list) != len(want) {
		t.Errorf("%s\n%v\nwant %q", text, err, want)
		return
	}
	for i, e := range list {
		place, part, _ := strings.Cut(want[i], " ")
		if got := fmt.Sprintf("%d:%d", e.Line, e.Column); got != place || !strings.Contains(e.Error(), part) {
			t.Errorf("%s\n%v\nwant %q", text, e, want[i])
		}
		if e.Found == "" || e.Fix == "" || e.Code == "" {
			t.Errorf("%v has no code, no finding or no fix", e)
		}
	}
}

// ask decides a call, written "Bash git push", "Read /a", "WebFetch https://a/" or the name of another tool.
func ask(t testing.TB, set *callrules.Set, said string) callrules.Outcome {
	t.Helper()
	tool, what, _ := strings.Cut(said, " ")
	key := map[string]string{"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path",
		"WebFetch": "url", "Glob": "pattern", "Grep": "path"}[tool]
	c := &call.Call{Tool: tool, Dir: "/w", Input: call.NewObject(call.Member{Name: key, Value: call.Text(what)})}
	return set.Decide(c, callrules.Options{Trace: true})
}

// decides holds a policy to a table of calls and effects, "allow Bash git push".
func decides(t *testing.T, text string, table ...string) {
	t.Helper()
	set := read(t, text)
	for _, line := range table {
		want, said, _ := strings.Cut(line, " ")
		if out := ask(t, set, said); string(out.Effect) != want || out.Decision != want {
			t.Errorf("%s\n%s: %s, want %s\n%s", text, said, out.Effect, want, out.Reason)
		}
	}
}

// first is the note of every file that has a rule of a program that denies or asks, see TestFault_155_FirstCommand.
const first = "rules about exec see only the first command of a line"

// noted wants the notes of a policy, but for first, to be these, "LINE part of the text".
func noted(t *testing.T, text string, want ...string) {
	t.Helper()
	set := read(t, text)
	set.Notes = slices.DeleteFunc(set.Notes, func(n callrules.Note) bool { return strings.HasPrefix(n.Text, first) })
	if len(set.Notes) != len(want) {
		t.Errorf("%s\n%d notes, want %d: %v", text, len(set.Notes), len(want), set.Notes)
		return
	}
	for i, n := range set.Notes {
		line, part, _ := strings.Cut(want[i], " ")
		if fmt.Sprint(n.Origin.Line) != line || !strings.Contains(n.Text, part) || n.Origin.File != "p.policy" {
			t.Errorf("%s\n%v, want %q", text, n, want[i])
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

// The map of the capabilities is tested in package call; here that rules see it.
func TestRow_4_01_to_4_04_Capabilities(t *testing.T) {
	decides(t, of(`(allow (exec "cargo" "build")) (allow (fs read (subpath "/w/src"))) (allow (fs write "/w/out")) (allow (net "a.b"))`),
		"allow Bash FOO=1 cargo build", "deny Bash FOO=1 cargo test",
		"allow Read src/x", "deny Write src/x", "allow Write out", "allow Edit out", "deny Read out",
		"allow Glob src/*", "allow Grep src", "deny Grep doc",
		"allow WebFetch https://a.b/c", "deny WebFetch https://c/a.b", "deny WebSearch x",
		"deny Task x", "deny MultiEdit x")
	decides(t, `(default ask "main") (policy "main" (deny (exec)) (deny (fs)) (deny (net)))`, "ask Task x",
		"ask mcp__x__y", "deny WebSearch x")
}

// "This evaluation runs once per Claude Code tool call. It does not run for child processes"
func TestRow_4_05_TopLevelCommand(t *testing.T) {
	decides(t, of(`(deny (exec "git" "push" *)) (allow (exec *))`),
		"deny Bash git push", "allow Bash make deploy", "allow Bash sh -c 'git push'", "allow Bash true; git push", "allow Bash /usr/bin/git push")
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

// The ten steps: an error of an earlier one hides the errors of later ones.
func TestRow_4_07_Steps(t *testing.T) {
	conflict := `(allow (exec "a")) (deny (exec "a"))`
	for _, test := range []struct{ step, text, want string }{
		{"1 parse", `(policy "main" ` + conflict + ` (include "x")`, `1:1 is not closed`},
		{"4 flatten", `(policy "main" ` + conflict + ` (include "x"))`, `1:53 no policy of that name`},
		{"5 sandbox references", `(policy "main" ` + conflict + ` (allow (exec) :sandbox "x"))`,
			`1:67 no policy of that name`},
		{"7 matchers", `(policy "main" ` + conflict + ` (allow (exec /(/)))`, `1:66 does not compile`},
		{"9 conflicts", `(policy "main" ` + conflict + `)`, `1:35 conflicts with`},
	} {
		t.Run(test.step, func(t *testing.T) { refused(t, test.text, home(), test.want) })
	}
	t.Run("all mistakes at once", func(t *testing.T) {
		refused(t, "(policy \"main\"\n (allow (exec /(/))\n (alow (exec))\n (deny (net) :sandbox \"x\")\n (include main)\n)\n(polcy)", home(),
			"2:15 does not compile", "3:2 (alow ...)", "4:14 a :sandbox of a rule about net", "5:11 without quotes", "7:1 (polcy ...)")
	})
}

// "extract the (default effect "name") declaration"
func TestRow_4_08_Default(t *testing.T) {
	for _, effect := range []string{"allow", "deny", "ask"} {
		decides(t, fmt.Sprintf(`(policy "p") (policy "main" (deny (exec))) (default %s "p")`, effect),
			effect+" Bash ls", effect+" Task x")
	}
	decides(t, `(policy "main" (allow (exec "ls")))`, "allow Bash ls", "deny Bash rm")
	refused(t, `(policy "p")`, nil, `1:1 there is no (default ...), which means (default deny "main")`)
	refused(t, `(default deny "q") (policy "p")`, nil, `1:15 the policy "q", which does not exist`)
	refused(t, "(default deny \"p\")\n(default deny \"p\") (policy \"p\")", nil,
		`2:1 a second default; the first is in line 1`)
	refused(t, `(default deny main) (policy "main")`, nil, `1:15 without quotes: main; write "main"`)
	refused(t, `(default maybe "p") (policy "p")`, nil, `1:10 the word maybe is not an effect`)
	refused(t, `(default deny) (policy "main")`, nil, `1:1 is not (default EFFECT NAME)`)
}

// "recursively resolve (include ...) into a flat rule list"
func TestRow_4_09_Includes(t *testing.T) {
	decides(t, `(default ask "main")
		(policy "main" (include "a") (include "b"))
		(policy "a" (include "c") (allow (exec "a")))
		(policy "b" (include "c"))
		(policy "c" (deny (exec "c")))
		(policy "d" (deny (exec "a")))`,
		"allow Bash a", "deny Bash c", "ask Bash d")
	if set := read(t, `(policy "main" (include "a") (include "a")) (policy "a" (allow (exec "a")))`); len(set.Rules) != 1 {
		t.Errorf("a policy that is included twice has its rules twice: %v", set.Rules)
	}
	refused(t, "(policy \"main\" (include \"a\"))\n(policy \"a\"\n(include \"b\"))\n(policy \"b\" (include \"a\"))",
		nil,
		`4:13 is circular: "a" (line 2) includes "b" (line 4) includes "a" (line 2)`)
	refused(t, `(policy "main" (include "main"))`, nil, `1:16 is circular: "main" (line 1) includes "main" (line 1)`)
	refused(t, "(policy \"main\")\n(policy \"x\" (include \"y\"))", nil, `2:13 no policy of that name`)
	refused(t, `(policy "main" (include "__internal_clash__"))`, nil,
		`1:16 clash's built-in policies are not part of policyscan`)
	refused(t, `(policy "main") (policy "a") (policy "a")`, nil, `1:38 a second policy "a"; the first is in line 1`)

	var text strings.Builder // each policy includes the next twice: 2^40 ways, and one rule
	text.WriteString(`(policy "main" (include "1"))`)
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&text, `(policy "%d" (include "%d") (include "%d"))`, i, i+1, i+1)
	}
	text.WriteString(`(policy "40" (allow (exec "x")))`)
	decides(t, text.String(), "allow Bash x")
}

// "Both forms produce the same compiled representation"
func TestRow_4_10_Sandboxes(t *testing.T) {
	compiled := func(text string) (string, []callrules.Rule) {
		c := newCompiler(&document.Source{Name: "p", Text: []byte(text)}, home())
		set := c.compile()
		if len(c.errs) > 0 {
			t.Fatal(c.errs)
		}
		name := set.Rules[0].Sandbox
		return name, c.sandboxes[name]
	}
	inline, a := compiled("(policy \"main\" (allow (exec \"x\")\n :sandbox (allow (net *)) (deny (fs write \"/a\"))))")
	named, b := compiled(`(policy "main" (allow (exec "x") :sandbox "s")) (policy "s" (allow (net *)) (include "t")) (policy "t" (deny (fs write "/a")))`)
	if inline != "inline of 2:2" || named != "s" {
		t.Errorf("%q, %q", inline, named)
	}
	if len(a) != 2 || len(b) != 2 {
		t.Fatalf("%d and %d rules", len(a), len(b))
	}
	for i := range a {
		if a[i].ID != b[i].ID || a[i].Score != b[i].Score || a[i].Domain != b[i].Domain || a[i].Effect != b[i].Effect {
			t.Errorf("%+v and %+v", a[i], b[i])
		}
	}
	t.Run("a sandbox decides nothing", func(t *testing.T) {
		decides(t, `(policy "main" (allow (exec "x") :sandbox "s")) (policy "s" (allow (net)) (allow (exec "y")))`,
			"allow Bash x", "deny Bash y", "deny WebFetch https://a/")
	})
	rule := func(s string) string { return `(policy "main" ` + s + `)` }
	refused(t, rule(`(allow (exec) :sandbox "x")`), nil, `1:30 no policy of that name`)
	refused(t, rule(`(allow (exec) :sandbox)`), nil, `1:30 a :sandbox without a policy`)
	refused(t, rule(`(allow (exec) :sandbox x)`), nil, `1:39 without quotes`)
	refused(t, rule(`(allow (exec) :sandbox "main" "x")`), nil, `1:46 something after the name`)
	refused(t, rule(`(allow (exec) :sanbox "main")`), nil, `1:30 the word :sanbox is not what may follow`)
	refused(t, rule(`(allow (exec) (net))`), nil, `1:30 (net ...) is not what may follow`)
	refused(t, rule(`(allow (fs) :sandbox "main")`), nil, `1:28 a :sandbox of a rule about fs`)
	refused(t, rule(`(allow (exec) :sandbox (allow (net) :sandbox "main"))`), nil, `1:52 a :sandbox in a sandbox`)
	refused(t, rule(`(allow (exec) :sandbox (include "main"))`), nil, `1:39 is not a rule of a sandbox`)
}

// "resolve (env NAME) references"
func TestRow_4_11_Env(t *testing.T) {
	decides(t, of(`(allow (fs read (subpath (env PWD)))) (allow (fs write (subpath (join (env HOME) "/.cache" "/x"))))
		(allow (fs write (subpath (join (join (env HOME) "/a") "/b"))))`),
		"allow Read a", "deny Read /x", "allow Write /home/u/.cache/x/y", "deny Write /home/u/.cache/y", "allow Write /home/u/a/b")
	decides(t, of(`(allow (fs read (subpath (env "PWD"))))`), "allow Read a", "deny Read /x")
	for _, name := range []string{"AZaz_09", "Z", "z", "_"} {
		text := of("(allow (fs read (subpath (env " + name + "))))")
		if _, err := Read(&document.Source{Name: "p", Text: []byte(text)}, map[string]string{name: "/a"}); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"A@", "A[", "A`", "A{", "A/", "A:", "0A", "9", `""`, "/A/"} {
		refused(t, of("(allow (fs read (subpath (env "+name+"))))"), map[string]string{name: "/a"},
			"3:26 is not (env NAME)")
	}
	t.Setenv("SET_OUTSIDE", "/x")
	path := func(s string) string { return `(policy "main" (allow (fs read (subpath ` + s + `))))` }
	refused(t, path(`(env SET_OUTSIDE)`), home(),
		`1:41 (env SET_OUTSIDE) is not defined; give --define SET_OUTSIDE=VALUE`)
	refused(t, path(`(join (env X) (env Y))`), home(), `1:47 (env X)`, `1:55 (env Y)`)
	refused(t, path(`(env)`), home(), `1:41 is not (env NAME)`)
	refused(t, path(`(env 1x)`), home(), `1:41 is not (env NAME)`)
	refused(t, path(`(join "/a")`), home(), `1:41 fewer than two parts`)
	refused(t, path(`(env PWD)`), map[string]string{"PWD": ""}, `1:41 is defined as empty`)
	refused(t, path(`(env PWD)`), map[string]string{"PWD": "w"}, `1:41 the path "w" is relative, and so is PWD`)
	refused(t, `(policy "main" (allow (fs read (env PWD))))`, home(), `1:32 (env ...) is not a path`)
}

func TestRow_4_12_to_4_15_Scores(t *testing.T) {
	for _, test := range []struct {
		matcher string
		want    [2]int
	}{
		// "Literal(3) > Regex(1) > Any(0)", "Sum of arg pattern scores + arg count"
		{`(exec)`, [2]int{0, 0}},
		{`(exec *)`, [2]int{0, 0}},
		{`(exec "git")`, [2]int{3, 0}},
		{`(exec /git/)`, [2]int{1, 0}},
		{`(exec "git" *)`, [2]int{3, 1}},
		{`(exec "git" "push")`, [2]int{3, 4}},
		{`(exec "git" "push" *)`, [2]int{3, 5}},
		{`(exec "git" /p/ *)`, [2]int{3, 3}},
		{`(exec * "push")`, [2]int{0, 4}},
		{`(exec (or "a" "b"))`, [2]int{2, 0}},
		{`(exec (or "a" /b/))`, [2]int{1, 0}},
		{`(exec (or "a" *))`, [2]int{1, 0}},
		{`(exec (or (or "a")))`, [2]int{2, 0}},
		{`(exec (not "a"))`, [2]int{1, 0}},
		{`(exec "git" (not "push") (or "a" "b"))`, [2]int{3, 5}},
		{`(exec "git" :has "a" /b/ *)`, [2]int{3, 4}},
		{`(exec "git" "push" :has "a")`, [2]int{3, 7}},
		// "Literal(3) > Regex(2) > Subpath(1) > None(0)", "Single(2) > Or(1) > Any(0)"
		{`(fs)`, [2]int{0, 0}},
		{`(fs *)`, [2]int{0, 0}},
		{`(fs read *)`, [2]int{0, 2}},
		{`(fs read)`, [2]int{0, 2}},
		{`(fs (or read write))`, [2]int{0, 1}},
		{`(fs (or read))`, [2]int{0, 2}},
		{`(fs * (subpath "/a"))`, [2]int{1, 0}},
		{`(fs (subpath "/a"))`, [2]int{1, 0}},
		{`(fs read /a/)`, [2]int{2, 2}},
		{`(fs read "/a")`, [2]int{3, 2}},
		{`(fs read (or "/a" "/b"))`, [2]int{2, 2}},
		{`(fs read (or "/a" (subpath "/b")))`, [2]int{1, 2}},
		{`(fs read (not "/a"))`, [2]int{1, 2}},
		// "Literal(3) > Regex(1) > Any(0)", "Always 0"
		{`(net)`, [2]int{0, 0}},
		{`(net *)`, [2]int{0, 0}},
		{`(net "a")`, [2]int{3, 0}},
		{`(net /a/)`, [2]int{1, 0}},
		{`(net (or "a" "b"))`, [2]int{2, 0}},
	} {
		if got := read(t, of("(allow "+test.matcher+")")).Rules[0].Score; got != test.want {
			t.Errorf("%s: %v, want %v", test.matcher, got, test.want)
		}
	}
	t.Run("a sum does not overflow", func(t *testing.T) {
		set := read(t, of(`(allow (exec "x"`+strings.Repeat(` "a"`, 300)+`)) (deny (exec "x" "a" *))`))
		if set.Rules[0].Score != [2]int{3, 1200} || set.Rules[0].Effect != callrules.Allow {
			t.Error(order(set))
		}
	})
}

// Primary before secondary.
func TestRow_4_16_Compared(t *testing.T) {
	decides(t, of(`(allow (exec "git")) (deny (exec /git/ "a" "b" "c"))`), "allow Bash git a b c")
	decides(t, of(`(deny (exec "git" "a")) (allow (exec "git" *))`), "deny Bash git a", "allow Bash git b")
	decides(t, of(`(deny (fs "/a")) (allow (fs read (subpath "/")))`), "deny Read /a", "allow Read /b")
}

// "Two rules conflict when: they have equal specificity, they have different effects, their matchers may
// overlap (conservative check: different literals in the same position prove non-overlap)"
func TestRow_4_17_Conflicts(t *testing.T) {
	for _, test := range []struct {
		a, b     string
		conflict bool
	}{
		{`(allow (exec "git"))`, `(deny (exec "git"))`, true},
		{`(allow (exec "git"))`, `(ask (exec "git"))`, true},
		{`(allow (exec "git"))`, `(allow (exec "git"))`, false},
		{`(allow (exec "git"))`, `(deny (exec "npm"))`, false},
		{`(allow (exec "git" "a" *))`, `(deny (exec "git" "b" *))`, false},
		{`(allow (exec "git" "a" *))`, `(deny (exec "git" * "b"))`, true},
		{`(allow (exec "git" "a"))`, `(deny (exec "git" "a" *))`, false}, // not equal
		{`(allow (exec /a/))`, `(deny (exec /b/))`, true},
		{`(allow (exec (or "a" "b")))`, `(deny (exec (or "c" "d")))`, true},
		{`(allow (exec "git" :has "a"))`, `(deny (exec "git" :has "b"))`, true},
		{`(allow (exec "git" "x" :has "a"))`, `(deny (exec "git" "y" :has "a"))`, false},
		{`(allow (fs read "/a"))`, `(deny (fs read "/b"))`, false},
		{`(allow (fs read "/a"))`, `(deny (fs read "/b/../a"))`, true},
		{`(allow (fs read "/a"))`, `(deny (fs write "/a"))`, false},
		{`(allow (fs (or read write) "/a"))`, `(deny (fs (or read create) "/a"))`, true},
		{`(allow (fs read (subpath "/a")))`, `(deny (fs read (subpath "/b")))`, true},
		{`(allow (fs read))`, `(deny (fs write))`, false},
		{`(allow (net "a"))`, `(deny (net "b"))`, false},
		{`(allow (net "a"))`, `(deny (net "A."))`, true},
		{`(allow (net))`, `(deny (net *))`, true},
		// X11: one is the negation of the other.
		{`(allow (fs write (subpath "/a")))`, `(deny (fs write (not (subpath "/a/"))))`, false},
		{`(allow (fs write (subpath "/a")))`, `(deny (fs write (not (subpath "/b"))))`, true},
		{`(allow (exec "x" /a/ "b"))`, `(deny (exec "x" (not /a/) "b"))`, false},
		{`(allow (net /a/))`, `(deny (net (not /a/)))`, false},
		{`(allow (net /a/))`, `(deny (net (not /b/)))`, true},
		{`(allow (net (not "a")))`, `(deny (net (not "a")))`, true},
	} {
		for _, text := range []string{test.a + "\n" + test.b, test.b + "\n" + test.a} {
			_, err := Read(&document.Source{Name: "p", Text: []byte(of(text))}, home())
			if (err != nil) != test.conflict {
				t.Errorf("%s\n%v", text, err)
			}
		}
	}
}

// "Conflicts are compile-time errors."
func TestRow_4_18_ConflictNamesBoth(t *testing.T) {
	refused(t, "(policy \"main\" (include \"a\")\n (allow (exec \"git\" *)))\n(policy \"a\"\n (deny (exec \"git\"  *) ; no\n ))", nil,
		`4:2 (deny (exec "git" *)) conflicts with (allow (exec "git" *)) of line 2: both are of specificity (3,1)`)
}

// "Walk the rule list: first match wins, record effect; if the matching rule has :sandbox, note sandbox name in
// trace; non-matching rules are recorded as skipped"
func TestRow_4_19_and_4_22_Trace(t *testing.T) {
	set := read(t, of(`(deny (exec "git" "push" *)) (allow (exec "git" *) :sandbox "main") (ask (exec)) (allow (net))`))
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

// "If no queries produced matches: return default effect"
func TestRow_4_20_NoMatch(t *testing.T) {
	out := ask(t, read(t, `(default ask "main") (policy "main" (allow (exec "git")))`), "Bash ls")
	if out.Effect != callrules.Ask || out.Rule != nil || out.Reason != "no rule matches; default: ask" {
		t.Errorf("%+v", out)
	}
}

func TestRow_4_23_Positional(t *testing.T) {
	decides(t, of(`(allow (exec "git" "push" *))`), "allow Bash git push", "allow Bash git push a b", "deny Bash git",
		"deny Bash git x push")
	decides(t, of(`(allow (exec "git" * "a"))`), "allow Bash git x a", "deny Bash git a", "deny Bash git")
	decides(t, of(`(allow (exec "git" (not "push")))`), "allow Bash git pull", "deny Bash git push", "deny Bash git")
	decides(t, of(`(allow (exec "git" (or "a" *)))`), "allow Bash git b", "deny Bash git")
	decides(t, of(`(allow (exec "git" (not (or "push" /^re/))))`), "allow Bash git pull", "deny Bash git push",
		"deny Bash git reset")
	decides(t, of(`(allow (exec (not (not "git")) /^-/))`), "allow Bash git -v", "deny Bash ls -v")
}

func TestRow_4_24_Has(t *testing.T) {
	decides(t, of(`(allow (exec "git" "push" :has "--force"))`),
		"allow Bash git push --force", "allow Bash git push --force origin", "allow Bash git push origin --force main",
		"deny Bash git push origin", "deny Bash git --force push", "deny Bash git pull --force")
	decides(t, of(`(allow (exec "x" :has "a" "a"))`), "allow Bash x a b a", "deny Bash x a b")
	decides(t, of(`(allow (exec "x" :has /-/ "--f"))`), "allow Bash x --f -y", "allow Bash x -y --f",
		"deny Bash x --f")
	decides(t, of(`(allow (exec "x" :has (not "a")))`), "allow Bash x a b", "deny Bash x a", "deny Bash x")
	decides(t, of(`(allow (exec "x" * :has "a"))`), "allow Bash x b a", "deny Bash x a", "deny Bash x")
	decides(t, of(`(allow (exec :has "a"))`), "allow Bash x a", "deny Bash x b")
	refused(t, of(`(allow (exec "x" :has))`), nil, `3:18 a :has with nothing after it`)
	refused(t, of(`(allow (exec "x" :has "a" :has "b"))`), nil, `3:27 the word :has where a pattern belongs`)
}

// "Relative paths in tool inputs are resolved against the current working directory before matching"
func TestRow_4_25_Paths(t *testing.T) {
	decides(t, of(`(allow (fs read (subpath (env PWD))))`),
		"allow Read a", "allow Read /w/a", "allow Read src/../a", "deny Read src/../../etc/x", "deny Read /w/../etc/x", "deny Read ../w2/a")
}

func TestRow_4_26_Subpath(t *testing.T) {
	decides(t, of(`(allow (fs read (subpath "/a/x/")))`), "allow Read /a/x", "allow Read /a/x/y/z", "deny Read /a/xy",
		"deny Read /a")
	decides(t, of(`(allow (fs read (subpath "/")))`), "allow Read /a", "allow Read /")
	decides(t, of(`(allow (fs read (or "/a" /\.md$/ (not (subpath "/b")))))`), "allow Read /a", "allow Read /b/x.md",
		"allow Read /c", "deny Read /b/x")
}

// A relative path of a rule is resolved against PWD, or refused: it would never match.
func TestRow_4_27_RelativePaths(t *testing.T) {
	decides(t, `(default allow "main") (policy "main" (deny (fs write ".env")) (deny (fs read (subpath "./target"))))`,
		"deny Write .env", "deny Write /w/.env", "allow Write sub/.env", "deny Read target/x", "allow Read x")
	for _, path := range []string{`".env"`, `(subpath ".git")`, `(subpath (join "a" "b"))`} {
		_, err := Read(&document.Source{Name: "p", Text: []byte(of(`(deny (fs write ` + path + `))`))}, nil)
		if err == nil || !strings.Contains(err.Error(), "--define PWD=FOLDER") {
			t.Errorf("%s: %v", path, err)
		}
	}
	refused(t, of(`(deny (fs write "~/.ssh"))`), home(), `3:17 a ~ in the path`)
	refused(t, of(`(deny (fs write "~u/.ssh"))`), home(), `3:17 a ~ in the path`)
	refused(t, of(`(deny (fs (or)))`), home(), `3:11 an (or) of nothing`)
	refused(t, of(`(deny (fs write ""))`), home(), `3:17 a path that is empty`)
}

// "(deny (exec "git" "push" *))": what a transparent prefix runs is what counts.
func TestRow_4_28_Prefixes(t *testing.T) {
	decides(t, of(`(deny (exec "git" "push" *)) (allow (exec "git" *)) (allow (exec "sudo" *))`),
		"deny Bash time git push origin main", "allow Bash time git status", "deny Bash nice -n 10 git push origin",
		"deny Bash timeout 30 git push", "deny Bash time env GIT_SSH=ssh git push", "deny Bash command -v git", "allow Bash sudo git push")
}

// A program that is looked through is a program, too: alone, and for the rules that deny or ask by its name.
func TestFault_164_LookedThrough(t *testing.T) {
	decides(t, "(default allow \"main\")\n(policy \"main\" (deny (exec \"env\" *)) (ask (exec \"nohup\")))",
		"deny Bash env", "deny Bash env -0", "deny Bash env FOO=1", "deny Bash env git status",
		"deny Bash nice -n 5 env git", "deny Bash env nohup git",
		"ask Bash nohup git", "allow Bash git env", "deny Bash env; git status", "deny Bash env > out", "allow Bash time git", "allow Bash nice")
	decides(t, of(`(allow (exec (or "env" "time") *)) (allow (exec "git" *))`),
		"allow Bash env", "allow Bash env -0", "allow Bash env git status", "deny Bash env rm x", "deny Bash time rm", "allow Bash time", "deny Bash nice", "deny Bash env | rm")
	// The most specific rule that names the program decides; any-program rules and a not do not name it.
	decides(t, "(default allow \"main\")\n(policy \"main\" (deny (exec \"env\" *)) (allow (exec \"env\" \"git\" *)))",
		"allow Bash env git status", "deny Bash env ls")
	decides(t, of(`(ask (exec *)) (allow (exec "git" *))`), "allow Bash env git status", "ask Bash env",
		"ask Bash env ls")
	decides(t, of(`(deny (exec (not "git"))) (allow (exec "git" *))`), "allow Bash env git status", "deny Bash env")
	decides(t, of(`(ask (exec /./)) (allow (exec "git" *))`), "allow Bash env git status")
	decides(t, of(`(deny (exec /^env$/)) (allow (exec "git" *))`), "deny Bash env git status")
	// Never milder than the default, or than what the program's own rules say.
	decides(t, of(`(ask (exec "env" *)) (deny (exec "rm" *))`), "deny Bash env ls", "deny Bash env rm", "ask Bash env")
	decides(t, of(`(allow (exec "command" *)) (deny (exec "git" *))`), "allow Bash command -v git",
		"deny Bash command git")
	out := ask(t, read(t, "(default allow \"main\")\n(policy \"main\" (deny (exec \"env\" *)))"), "Bash env git")
	if out.Rule == nil || !strings.Contains(out.Trace.Steps[0].Why, "env is part of the command") ||
		!out.Trace.Steps[0].Matched {
		t.Errorf("%+v", out.Trace)
	}
	for rule, want := range map[string]string{
		`(allow (exec "env" "git" *))`:         "2 is skipped as a wrapper, and the program is git",
		`(allow (exec "timeout" "30" "make"))`: "2 the program is make",
		`(allow (exec "nice" "env"))`:          "2 the program is env",
		`(allow (exec "env" "FOO=1"))`:         "",
		`(allow (exec "timeout" "30"))`:        "",
		`(allow (exec "env" *))`:               "",
		`(allow (exec "command" "-v" "git"))`:  "",
		`(deny (exec "env" "git"))`:            "",
	} {
		text := "(default deny \"main\")\n(policy \"main\" " + rule + ")"
		if set := read(t, text); want == "" {
			noted(t, text)
		} else if len(set.Notes) == 0 || !strings.Contains(set.Notes[0].Text, want[2:]) {
			t.Errorf("%s: %v", rule, set.Notes)
		}
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

// "(Note: Kernel-level sandbox enforcement is a future PR. Currently the sandbox reference is validated and
// compiled but not yet enforced.)"
func TestRow_4_29_SandboxIsNotEnforced(t *testing.T) {
	noted(t, "(policy \"main\" (allow (exec \"x\")\n :sandbox \"s\"))\n(policy \"s\"\n (deny (exec \"y\")))",
		`2 the sandbox "s" is read and named, but not enforced`, `4 is in the sandbox "s"`)
	noted(t, `(policy "main" (deny (exec "x") :sandbox (allow (net))))`, `1 but not enforced`,
		`1 a :sandbox of a rule that says deny`)
	noted(t, `(policy "__worktree__") (policy "main" (allow (net)))`,
		`1 there is no built-in policy of clash for it to replace`)
}

// "A deny rule can never be overridden by an allow rule." But "within a domain: first-match wins".
func TestRow_4_31_DenyIsOverridden(t *testing.T) {
	text := of("(deny (exec \"git\" \"push\" *))\n(allow (exec \"git\" \"push\" \"origin\" \"x\"))\n(ask (exec \"git\" \"push\" \"origin\" *))")
	decides(t, text, "deny Bash git push y", "allow Bash git push origin x", "ask Bash git push origin y")
	noted(t, text, `3 (allow (exec "git" "push" "origin" "x")) of line 4 and 1 more are more specific`)
	noted(t, of("(deny (fs (subpath \"/etc\")))\n(allow (fs read /conf/))"),
		`3 (allow (fs read /conf/)) of line 4 is more specific`)
	noted(t, of("(deny (exec /^rm/))\n(allow (exec \"git\"))"))                           // git is not rm
	noted(t, of("(deny (exec))\n(allow (exec \"git\"))\n(deny (fs))\n(allow (fs read))")) // that is what they are for
	noted(t, of("(deny (fs write (subpath \"/a\")))\n(allow (fs read \"/a/b\"))"))
	for _, path := range []string{"/a", "/a/b"} {
		noted(t, of("(deny (fs read (subpath \"/a\")))\n(allow (fs read \""+path+"\"))"),
			`3 may decide before this rule denies`)
	}
	noted(t, of("(deny (fs read (subpath \"/a\")))\n(allow (fs read \"/ab\"))")) // is not under /a
	noted(t, of("(deny (exec \"git\"))\n(allow (exec /git/ \"a\"))"))            // is less specific
	noted(t, of("(deny (fs (or write create) (subpath \"/a\")))\n(allow (fs read \"/a/b\"))"))
	// "To express "deny everything except X", use negation patterns"
	decides(t, of(`(deny  (fs write (not (subpath (env PWD)))))   ; deny writes outside CWD
(allow (fs write (subpath (env PWD))))          ; allow writes inside CWD
`), "deny Write /x", "allow Write x", "deny Write ../x")
}

func TestX12_TrailingStars(t *testing.T) {
	text := of("(allow (exec \"git\" * * * * *))\n(deny (exec \"git\" \"push\"))")
	decides(t, text, "allow Bash git push")
	noted(t, text, `3 ends in 5 times *`, `3 before (deny (exec "git" "push")) of line 4 only because of its *`,
		`4 is more specific and may decide before this rule denies`)
	noted(t, of(`(allow (exec "git" "push" *)) (deny (exec "git" *))`), `3 is more specific and may decide`)
	noted(t, of(`(allow (exec "git" *)) (allow (exec "git"))`))
	noted(t, of(`(allow (exec "git" * * :has "a"))`)) // they keep :has from the first two
}

func TestX13_OneStar(t *testing.T) {
	text := of("(deny (exec \"git\"))\n(ask (exec \"git\" *))")
	decides(t, text, "ask Bash git", "ask Bash git push")
	noted(t, text, `3 is more specific and may decide before this rule denies`,
		`4 only because of its *, which requires nothing: without it they would be a conflict`)
}

// The environment of this process is not read.
func TestX15_EnvIsDefined(t *testing.T) {
	t.Setenv("PWD", "/elsewhere")
	decides(t, of(`(allow (fs read (subpath (env PWD))))`), "allow Read /w/x", "deny Read /elsewhere/x")
}

func TestX16_Hosts(t *testing.T) {
	decides(t, of(`(allow (net (or "GitHub.com" "b."))) (allow (net /^(X|y)\.org$/))`),
		"allow WebFetch https://github.com/", "allow WebFetch https://GITHUB.com:443/", "allow WebFetch https://b./",
		"allow WebFetch https://x.org/",
		"deny WebFetch https://github.com:x@evil.com/", "deny WebFetch https://api.github.com/")
	decides(t, `(default allow "main") (policy "main" (deny (net "evil.com")))`,
		"deny WebFetch https://evil.com/", "deny WebFetch https:/evil.com", `deny WebFetch https://evil.com\@x.org/`, "allow WebSearch x")
	decides(t, of(`(allow (net (not "evil.com")))`), "deny WebFetch https:/evil.com", "allow WebFetch https://x/",
		"allow WebSearch x")
	decides(t, of(`(allow (net *))`), "allow WebFetch https:/evil.com", "allow WebSearch x")
	refused(t, of("(deny (net \"a\u0080\"))"), nil, "3:12 is not a host")
	refused(t, of(`(deny (net "bücher.de"))`), nil, `3:12 is not ASCII; write "xn--bcher-kva.de"`)
	for _, host := range []string{"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1"} {
		decides(t, of(fmt.Sprintf(`(allow (net %q))`, host)), "allow WebFetch http://127.0.0.1/",
			"allow WebFetch http://127.1:80/", "deny WebFetch http://127.0.0.2/")
	}
	for _, host := range []string{"::1", "[::1]", "0:0:0:0:0:0:0:1"} {
		decides(t, of(fmt.Sprintf(`(allow (net %q))`, host)), "allow WebFetch http://[::1]/",
			"allow WebFetch http://[0::0:1]/", "deny WebFetch http://[::2]/")
	}
	refused(t, of(`(deny (net "127.1")) (allow (net "127.0.0.1"))`), nil, "3:22 conflicts with") // one host
	for _, host := range []string{"https://github.com", "github.com/a", "github.com:443", "*.github.com", "",
		"bücher.de", "a b", "a..b", "1.2.3.256", "[::1", "a^b", "u@a"} {
		if _, err := Read(&document.Source{Name: "p", Text: []byte(of(fmt.Sprintf("(deny (net %q))", host)))},
			nil); err == nil {
			t.Errorf("%q loads", host)
		}
	}
	decides(t, of(`(allow (net "::1"))`), "allow WebFetch http://[::1]:80/")
	noted(t, of(`(allow (net "*"))`), `3 is only the host of a web search`)
	decides(t, of(`(allow (net "*"))`), "allow WebSearch x", "deny WebFetch https://a/")
}

// What cannot be determined might be anything, so a rule about anything is one that might decide, however it is
// written.
func TestAnythingOfWhatCannotBeDetermined(t *testing.T) {
	for _, any := range []string{`*`, `(or *)`, `(or * *)`, `(or "a" *)`} {
		set := read(t, fmt.Sprintf(`(default allow "main") (policy "main" (deny (fs write %s)) (deny (exec %s)) (deny (net %s)))`, any, any, any))
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
