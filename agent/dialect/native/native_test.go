package native

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

func source(text string) *document.Source {
	return &document.Source{Name: "calls.yml", Text: []byte(text)}
}

func read(t testing.TB, text string) *callrules.Set {
	t.Helper()
	set, err := Read(source(text))
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return set
}

func parse(t testing.TB, text string) *call.Call {
	t.Helper()
	c, err := callrules.ParseCall([]byte(text))
	if err != nil {
		t.Fatalf("%v\nin %s", err, text)
	}
	return c
}

// whole is a file with every key there is.
const whole = `rules:
  - id: NO-FORCE-PUSH
    title: No force push
    effect: deny
    when:
      all:
        - fact: exec.bin
          equals: git
        - fact: command
          matches: 'push\s.*--force'
          not: false
        - any:
            - {fact: tool, one_of: [Bash, shell]}
            - {fact: capability, equals: execute}
    message: This rewrites history.
    remediation: Push a new commit.
    x-ticket: ABC-1
default: allow
`

func TestWholeFile(t *testing.T) {
	set := read(t, whole)
	out := set.Decide(parse(t, `{"tool": "Bash", "input": {"command": "git push --force"}}`),
		callrules.Options{Trace: true})
	if out.Decision != "deny" || out.Rule.ID != "NO-FORCE-PUSH" ||
		out.Reason != "This rewrites history. To fix it: Push a new commit." ||
		out.Rule.Origin != (callrules.Origin{File: "calls.yml", Line: 2}) {
		t.Errorf("%s by %+v: %q", out.Decision, out.Rule, out.Reason)
	}
	out = set.Decide(parse(t, `{"tool": "Bash", "input": {"command": "git pull"}}`), callrules.Options{Trace: true})
	if out.Decision != "allow" || out.Rule != nil ||
		out.Trace.Steps[0].Why != `command matches "push\\s.*--force" does not hold` {
		t.Errorf("%s: %+v", out.Decision, out.Trace.Steps)
	}
	if len(set.Notes) != 0 {
		t.Errorf("notes: %v", set.Notes)
	}
}

// TestShown: what a trace shows of a test is what the file has.
func TestShown(t *testing.T) {
	for test, want := range map[string]string{
		"{fact: tool, equals: Write}":                   `tool equals "Write" does not hold`,
		"{fact: tool, one_of: [Write, Edit, Read]}":     `tool one_of "Write, Edit, Read" does not hold`,
		"{fact: command, begins_with: git, not: true}":  `not command begins_with "git" does not hold`,
		"{fact: exec.args, equals: --force, not: true}": `not exec.args equals "--force" does not hold`,
		"{fact: exec.args, one_of: [-n, --dry-run]}":    `exec.args one_of "-n, --dry-run" does not hold`,
		"{fact: fs.path, exists: true}":                 `fs.path exists "true" does not hold`,
	} {
		set := read(t, "rules:\n  - {id: R, title: t, effect: deny, when: "+test+"}\n")
		if got := set.Decide(parse(t, push), callrules.Options{Trace: true}).Trace.Steps[0].Why; got != want {
			t.Errorf("%s: %q", test, got)
		}
	}
}

func TestReason(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"", "The title"},
		{"    remediation: Do it.\n", "The title. To fix it: Do it."},
		{"    message: It is bad.\n", "It is bad."},
		{"    message: |\n      It is\n      bad.\n    remediation: |\n      Do it.\n",
			"It is\nbad. To fix it: Do it."},
	} {
		set := read(t, "rules:\n  - id: R\n    title: The title\n    effect: ask\n"+
			"    when: {fact: tool, equals: Bash}\n"+c.keys)
		if got := set.Rules[0].Reason; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The calls of the tests.
const (
	push = `{"tool": "Bash", "input": {"command": "git push --force origin ./a/b.tf", "timeout": 5},
		"agent_id": "a1", "cwd": "/work/app"}`
	bare   = `{"tool": "Bash", "input": {"command": "ls"}}`
	listed = `{"tool": "shell", "input": {"command": ["bash", "-lc", "git push --force"]}}`
	write  = `{"tool": "Write", "input": {"file_path": "src/../infra/main.tf", "content": "cidr = \"0.0.0.0/0\"\n"},
		"cwd": "/work/app"}`
	fetch = `{"tool": "WebFetch", "input": {"url": "https://API.Example.com/x",
		"headers": {"a": null, "b": ["c", 1]}}}`
	multi = `{"tool": "MultiEdit", "input": {"file_path": "a.tf",
		"edits": [{"old_string": "a", "new_string": "0.0.0.0/0"}]}}`
	mcp     = `{"tool": "mcp__db__query", "input": {"sql": "drop table"}}`
	unknown = `{"tool": "Other"}`
)

// rows are the files of testdata/rows.txtar, by their names.
func rows(t *testing.T) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/rows.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range archive.Files {
		all[f.Name] = string(f.Data)
	}
	return all
}

// one is a set of one rule of an effect, and the other effect as its default.
func one(t *testing.T, effect, when string) *callrules.Set {
	t.Helper()
	other := map[string]string{"deny": "allow", "allow": "deny"}[effect]
	return read(t, "rules:\n  - id: R\n    title: t\n    effect: "+effect+"\n    when: "+when+"\ndefault: "+other+"\n")
}

// TestTests: the calls for which a test holds, and those for which it does not.
func TestTests(t *testing.T) {
	calls := map[string]string{"push": push, "bare": bare, "listed": listed, "write": write, "fetch": fetch,
		"multi": multi, "mcp": mcp, "unknown": unknown}
	for line := range strings.Lines(rows(t)["tests"]) {
		test, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		yes, no, _ := strings.Cut(names, "; not")
		set := one(t, "deny", test)
		for i, list := range []string{yes, no} {
			for name := range strings.FieldsSeq(list) {
				want := []string{"deny", "allow"}[i]
				if got := set.Decide(parse(t, calls[name]), callrules.Options{}).Decision; got != want {
					t.Errorf("%s: %s: got %s, want %s", test, name, got, want)
				}
			}
		}
	}
}

// TestFault_155_Commands: whether a rule with a test, or several, denies and allows a command line.
func TestFault_155_Commands(t *testing.T) {
	for row := range strings.Lines(rows(t)["commands"]) {
		words, rest, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "  ")
		test, line, _ := strings.Cut(rest, "  ")
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command", Value: call.Text(line)})}
		got := []string{"-", "-"}
		for i, effect := range []string{"deny", "allow"} {
			if out := one(t, effect, test).Decide(asked, callrules.Options{}); out.Rule != nil {
				got[i] = []string{"denies", "allows"}[i]
			}
		}
		if strings.Join(got, " ") != words {
			t.Errorf("%s, %q: %v, want %s", test, line, got, words)
		}
	}
}

// before is a predicate about the first command alone, as it was.
func before(p callrules.Predicate) callrules.Predicate {
	var all, any []callrules.Predicate
	for _, q := range p.All {
		all = append(all, before(q))
	}
	for _, q := range p.Any {
		any = append(any, before(q))
	}
	p.All, p.Any = all, any
	if p.Test != nil {
		test := *p.Test
		switch test.Fact.Source {
		case callrules.FromProgram:
			test.Fact.Source = callrules.FromExecBin
		case callrules.FromArguments:
			test.Fact.Source = callrules.FromExecArgs
		}
		p.Test = &test
	}
	return p
}

// TestFault_155_NeverWeaker: a call that a rule stopped by the facts of the first command is still stopped. And a
// call that a rule did not allow by them is not allowed now, except through a wrapper program.
func TestFault_155_NeverWeaker(t *testing.T) {
	matched, allowed := 0, 0
	check := func(rt *rapid.T) {
		test := rapid.Custom(func(rt *rapid.T) string {
			not := rapid.SampledFrom([]string{"", ", not: true"}).Draw(rt, "not")
			return rapid.SampledFrom([]string{
				"{fact: exec.bin, equals: git" + not + "}", "{fact: exec.bin, glob: '**/git'" + not + "}",
				"{fact: exec.bin, one_of: [git, bash, /usr/bin/git]" + not + "}",
				"{fact: exec.bin, matches: '^[a-z]*$'" + not + "}", "{fact: exec.bin, exists: true}",
				"{fact: exec.bin, exists: false}", "{fact: exec.args, exists: true}",
				"{fact: exec.args, exists: false}", "{fact: exec.args, equals: --force" + not + "}",
				"{fact: exec.args, contains: push" + not + "}", "{fact: exec.args, equals: $X" + not + "}",
			}).Draw(rt, "test")
		})
		when := rapid.SampledFrom([]string{"all", "any"}).Draw(rt, "join") + ": [" +
			strings.Join(rapid.SliceOfN(test, 1, 3).Draw(rt, "tests"), ", ") + "]"
		effect := rapid.SampledFrom([]string{"deny", "ask", "allow"}).Draw(rt, "effect")
		set := read(t, "rules:\n  - {id: R, title: t, effect: "+effect+", when: {"+when+"}}\n")
		was := *set
		was.Rules = []callrules.Rule{set.Rules[0]}
		was.Rules[0].When, was.Rules[0].EachCommand = before(set.Rules[0].When), false
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"git", "push", "--force", "'a b'", "env", "A=1", "nice", "-n", "5", "/usr/bin/git", "$X", `"$X"`, `"q"`,
			"bash", "-c", "'git push'", "sudo", "xargs", "time", "timeout",
			"command", "-v", "*", "eval", "sh", "python", "-S", "find", "-exec", "--",
		}), 0, 7).Draw(rt, "words")
		asked := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text(strings.Join(words, " "))})}
		old, now := was.Decide(asked, callrules.Options{}).Rule != nil, set.Decide(asked,
			callrules.Options{Trace: true})
		switch {
		case effect != "allow" && old && now.Rule == nil:
			rt.Fatalf("%s of %s: %q was stopped and is not: %+v", effect, when, words, now.Trace.Steps)
		case effect != "allow" && old:
			matched++
		case effect == "allow" && !old && now.Rule != nil && !slices.Contains(words, "A=1"): // "nice A=1" runs A=1
			rt.Fatalf("%s: %q was not allowed and is: %+v", when, words, now.Trace.Steps)
		case effect == "allow" && old && now.Rule != nil:
			allowed++
		}
	}
	rapid.Check(t, check)
	if matched == 0 || allowed == 0 {
		t.Logf("%d stopped, %d allowed", matched, allowed)
	}
}

// TestStrictest: every rule is asked, and the strictest effect wins.
func TestStrictest(t *testing.T) {
	rule := func(id, effect, tool string) string {
		return fmt.Sprintf("  - {id: %s, title: says %s, effect: %s, when: {fact: tool, equals: %s}}\n", id, id,
			effect, tool)
	}
	for _, c := range []struct{ name, text, decision, id, reason string }{
		{"a deny behind an allow", rule("a", "allow", "Bash") + rule("d", "deny", "Bash"), "deny", "d", "says d"},
		{"an ask before a deny: both are told", rule("k", "ask", "Bash") + rule("a", "allow", "Bash") +
			rule("d", "deny", "Bash"), "deny", "d", "says k; says d"},
		{"an ask before an allow", rule("k", "ask", "Bash") + rule("a", "allow", "Bash"), "ask", "k", "says k"},
		{"of equal ones the first", rule("d", "deny", "Bash") + rule("e", "deny", "Bash"), "deny", "d",
			"says d; says e"},
		{"of allows the first", rule("a", "allow", "Bash") + rule("b", "allow", "Bash"), "allow", "a", "says a"},
		{"no rule", rule("d", "deny", "Write"), "allow", "", ""},
		{"no rule, default deny", rule("d", "deny", "Write") + "default: deny\n", "deny", "",
			"no rule matches; default: deny"},
		{"no rule, default ask", rule("d", "deny", "Write") + "default: ask\n", "ask", "",
			"no rule matches; default: ask"},
		{"an allow over the default deny", rule("a", "allow", "Bash") + "default: deny\n", "allow", "a", "says a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := read(t, "rules:\n"+c.text).Decide(parse(t, push), callrules.Options{})
			id := ""
			if out.Rule != nil {
				id = out.Rule.ID
			}
			if out.Decision != c.decision || id != c.id || out.Reason != c.reason {
				t.Errorf("got %s %q %q", out.Decision, id, out.Reason)
			}
		})
	}
}

// TestMistakes: what is replaced in the whole file, and the error that this makes.
func TestMistakes(t *testing.T) {
	all := map[string][]string{
		"rules of null": {whole, "rules:\n", `"rules" has no value`},
		"an empty file": {whole, "# nothing\n", `the file is empty; write "rules:" and a list`},
		"null":          {whole, "~\n", `the file is empty; write "rules:" and a list`},
		"a list":        {whole, "- a\n", `the file is a list; write "rules:" and a list`},
		"not UTF-8":     {"No force", "No \xff", "the byte 0xFF is not UTF-8"},
	}
	for name, text := range rows(t) {
		if parts := strings.Split(text, "\n=>\n"); len(parts) == 3 {
			all[name] = parts
		}
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(whole, c[0], c[1], 1)
			if text == whole {
				t.Fatal("the test replaces nothing")
			}
			set, err := Read(source(text))
			if err == nil || set != nil || !strings.Contains(err.Error(), strings.TrimSpace(c[2])) {
				t.Fatalf("got %v\nwant %s", err, c[2])
			}
			checkPositions(t, text, err)
		})
	}
}

// TestAllMistakesAtOnce: the mistakes of a file, each once and where it is, in order.
func TestAllMistakesAtOnce(t *testing.T) {
	text := strings.NewReplacer("equals: git", "equal: git", "'push\\s.*--force'", "'('", "[Bash, shell]", "[Bash, ~]",
		"effect: deny", "effect: no", "default: allow", "defaults: allow").Replace(whole)
	_, err := Read(source(text))
	var got []string
	for _, e := range err.(document.Errors) {
		got = append(got, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Code))
	}
	want := "4:13 E_POLICY_VALUE, 8:11 E_POLICY_KEY, 10:20 E_POLICY_VALUE, 13:43 E_POLICY_VALUE, 18:1 E_POLICY_KEY"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s\n%v", strings.Join(got, ", "), want, err)
	}
}

// TestMistakeOfNoRule: what is wrong with an item is not said to be of the rule before.
func TestMistakeOfNoRule(t *testing.T) {
	_, err := Read(source("rules:\n  - {id: R, title: t, effect: deny, when: {fact: tool, equals: x}}\n  - text\n"))
	if list := err.(document.Errors); len(list) != 1 || list[0].Rule != "" || list[0].Line != 3 {
		t.Error(err)
	}
}

func TestTooDeep(t *testing.T) {
	_, err := Read(source("rules: " + strings.Repeat("[", 200) + strings.Repeat("]", 200)))
	if list := err.(document.Errors); len(list) != 1 || list[0].Code != document.CodeLimit {
		t.Error(err)
	}
}

// TestNotes: words that YAML reads as another type than a string.
func TestNotes(t *testing.T) {
	set := read(t, strings.Replace(whole, "equals: git", "equals: 0777", 1))
	if len(set.Notes) != 1 || set.Notes[0].Origin != (callrules.Origin{File: "calls.yml", Line: 8}) ||
		!strings.Contains(set.Notes[0].Text, `quote it: '0777'`) {
		t.Errorf("notes: %v", set.Notes)
	}
}

// checkPositions: every mistake is of the file, and somewhere in it.
func checkPositions(t *testing.T, text string, err error) {
	t.Helper()
	var list document.Errors
	if !errors.As(err, &list) || len(list) == 0 {
		t.Fatalf("not Errors: %v", err)
	}
	lines := strings.Split(text, "\n")
	for _, e := range list {
		switch {
		case e.File != "calls.yml" || e.Found == "" || e.Fix == "" || e.Line < 0 || e.Line > len(lines):
			t.Errorf("no place in the file: %+v", e)
		case e.Line > 0 && (e.Column < 0 || e.Column > len(lines[e.Line-1])+1):
			t.Errorf("the column %d of a line of %d bytes: %v", e.Column, len(lines[e.Line-1]), e)
		}
	}
}

// FuzzRead: the reader never panics; mistakes have positions in the file; valid rules are evaluated.
func FuzzRead(f *testing.F) {
	f.Add(whole, push)
	f.Add("rules:\n  - {id: a, title: t, effect: ask, when: {fact: fs.path, glob: '/a/{b,c}/**'}}\n", write)
	f.Add("rules:\n  - {id: a, title: t, effect: ask, when: {fact: exec.args, exists: false}}\ndefault: deny\n", fetch)
	f.Add("rules: [{when: {any: [{all: }]}}]\n", unknown)
	f.Add("rules:\n- when: {fact: [], matches: {}, not: }\n", `{`)
	f.Fuzz(func(t *testing.T, text, asked string) {
		set, err := Read(source(text))
		if err != nil {
			if set != nil {
				t.Error("a set next to an error")
			}
			checkPositions(t, text, err)
			return
		}
		c, err := callrules.ParseCall([]byte(asked))
		if err != nil {
			c = &call.Call{Tool: "Bash"}
		}
		out := set.Decide(c, callrules.Options{Trace: true})
		if out.Decision != "allow" && out.Decision != "ask" && out.Decision != "deny" ||
			len(out.Trace.Steps) != len(set.Rules) || len(set.Rules) == 0 {
			t.Errorf("decided %q in %d steps", out.Decision, len(out.Trace.Steps))
		}
	})
}

// BenchmarkThousandRules: every rule of all-violations is asked.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	text.WriteString("rules:\n")
	for i := range 500 {
		fmt.Fprintf(&text, `  - {id: E%d, title: t, effect: deny, when: {all: [{fact: exec.bin, equals: git},
      {fact: exec.args, one_of: [-f, --force-%[1]d]}, {fact: command, matches: 'push\s.*-%[1]d\b'}]}}
  - {id: P%[1]d, title: t, effect: ask, when: {any: [{fact: path, glob: '**/area-%[1]d/*.tf'},
      {fact: command, contains: ' area-%[1]d'}]}}
`, i)
	}
	set := read(b, text.String())
	c := &call.Call{Tool: "Bash", Dir: "/w", Input: call.NewObject(call.Member{Name: "command",
		Value: call.Text("git push origin feature --force-with-lease --no-verify && make test lint")})}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}
