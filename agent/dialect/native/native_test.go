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
		set := read(t, "rules:\n  - id: R\n    title: The title\n    effect: ask\n    when: {fact: tool, equals: Bash}\n"+c.keys)
		if got := set.Rules[0].Reason; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The calls of the tests.
const (
	push    = `{"tool": "Bash", "input": {"command": "git push --force origin ./a/b.tf", "timeout": 5}, "agent_id": "a1", "cwd": "/work/app"}`
	bare    = `{"tool": "Bash", "input": {"command": "ls"}}`
	listed  = `{"tool": "shell", "input": {"command": ["bash", "-lc", "git push --force"]}}`
	write   = `{"tool": "Write", "input": {"file_path": "src/../infra/main.tf", "content": "cidr = \"0.0.0.0/0\"\n"}, "cwd": "/work/app"}`
	fetch   = `{"tool": "WebFetch", "input": {"url": "https://API.Example.com/x", "headers": {"a": null, "b": ["c", 1]}}}`
	multi   = `{"tool": "MultiEdit", "input": {"file_path": "a.tf", "edits": [{"old_string": "a", "new_string": "0.0.0.0/0"}]}}`
	mcp     = `{"tool": "mcp__db__query", "input": {"sql": "drop table"}}`
	unknown = `{"tool": "Other"}`
)

// TestTests: one test to a row, the calls for which it holds and those for which it does not.
func TestTests(t *testing.T) {
	for _, c := range []struct {
		test    string
		yes, no []string
	}{
		{"{fact: tool, equals: Bash}", []string{push}, []string{write, listed}},
		{"{fact: tool, one_of: [Bash, Write]}", []string{push, write}, []string{fetch}},
		{"{fact: tool, glob: mcp__*}", []string{mcp}, []string{push}},
		{"{fact: tool, equals: Bash, not: true}", []string{write, unknown}, []string{push}},
		{"{fact: capability, equals: execute}", []string{push, listed}, []string{write, unknown}},
		{"{fact: capability, one_of: [write, network]}", []string{write, fetch}, []string{push}},
		{"{fact: command, contains: push}", []string{push, listed}, []string{bare, write}},
		{"{fact: command, begins_with: git}", []string{push}, []string{bare, listed}},
		{"{fact: command, ends_with: .tf}", []string{push}, []string{bare}},
		{`{fact: command, matches: 'push\s.*--force'}`, []string{push, listed}, []string{bare}},
		{"{fact: command, matches: '(?i)PUSH'}", []string{push}, []string{bare}},
		{"{fact: command, equals: ls}", []string{bare}, []string{push}},
		{"{fact: path, ends_with: .tf}", []string{write, multi}, []string{push}},
		{"{fact: path, glob: '**/infra/*.tf'}", []string{write}, []string{multi}},
		{"{fact: content, contains: 0.0.0.0/0}", []string{write}, []string{multi, push}},
		{"{fact: exec.bin, equals: git}", []string{push}, []string{bare, write}},
		{"{fact: exec.args, equals: --force}", []string{push}, []string{bare, write}},
		{"{fact: exec.args, one_of: [-f, --force]}", []string{push}, []string{bare}},
		{"{fact: exec.args, begins_with: --}", []string{push}, []string{bare}},
		{"{fact: exec.args, equals: push --force}", nil, []string{push}}, // one argument, not all of them
		{"{fact: exec.args, glob: '**/*.tf'}", []string{push}, []string{bare}},
		{"{fact: exec.args, equals: --force, not: true}", []string{bare}, []string{push, write}}, // no argument is so
		{"{fact: exec.args, exists: true}", []string{push}, []string{bare, write}},
		{"{fact: exec.args, exists: false}", []string{bare, write}, []string{push}},
		{"{fact: fs.op, equals: write}", []string{write}, []string{push}},
		{"{fact: fs.path, under: /work/app/infra}", []string{write}, []string{push}},
		{"{fact: fs.path, under: /work/app/inf}", nil, []string{write}},
		{"{fact: fs.path, under: /work/app/src}", nil, []string{write}},
		{"{fact: fs.path, under: /}", []string{write}, []string{push}},
		{"{fact: fs.path, glob: /work/**/*.tf}", []string{write}, []string{multi}},
		{"{fact: fs.path, glob: '**/*.tf'}", []string{write}, []string{push}},
		{"{fact: fs.path, glob: /work/app/infra/main.tf/**}", []string{write}, []string{multi}}, // unlike in a bundle
		{"{fact: fs.path, glob: /work/app/infra/main.tf/**, not: true}", []string{write}, []string{push}},
		{"{fact: net.host, equals: api.example.com}", []string{fetch}, []string{push}},
		{"{fact: net.host, glob: '*.example.com'}", []string{fetch}, []string{push}},
		{"{fact: net.host, matches: '(?i)EXAMPLE'}", []string{fetch}, []string{push}},
		{"{fact: agent, equals: a1}", []string{push}, []string{bare}},
		{"{fact: cwd, under: /work}", []string{push, write}, []string{bare}},
		{"{fact: input.timeout, equals: 5}", []string{push}, []string{bare}},
		{"{fact: input.sql, contains: drop}", []string{mcp}, []string{bare}},
		{"{fact: input.headers.b, equals: '[\"c\",1]'}", []string{fetch}, []string{bare}},
		{"{fact: input.headers.b.0, equals: c}", []string{fetch}, []string{bare}},
		{"{fact: input.edits, contains: 0.0.0.0/0}", []string{multi}, []string{write}},
		{"{fact: input, contains: 0.0.0.0/0}", []string{multi, write}, []string{push, unknown}},
		{"{fact: command, exists: true}", []string{push, listed}, []string{write, unknown}},
		{"{fact: command, exists: false}", []string{write, unknown}, []string{push}},
		// A missing fact: the test fails, also with not.
		{"{fact: command, equals: x}", nil, []string{write, unknown}},
		{"{fact: command, equals: x, not: true}", []string{push}, []string{write, unknown}},
		{"{fact: input.headers.a, matches: '.*', not: true}", nil, []string{fetch, push}},
		{"{fact: input.headers.a, exists: true}", nil, []string{fetch}},
		{"{all: [{fact: tool, equals: Bash}, {fact: command, contains: push}]}", []string{push}, []string{bare, mcp}},
		{"{any: [{fact: tool, equals: Write}, {fact: command, contains: push}]}", []string{push, write},
			[]string{bare}},
		{"{all: [{fact: tool, equals: Bash}, {any: [{fact: command, equals: ls}, {fact: agent, equals: a1}]}]}",
			[]string{push, bare}, []string{listed}},
	} {
		t.Run(c.test, func(t *testing.T) {
			set := read(t, "rules:\n  - id: R\n    title: t\n    effect: deny\n    when: "+c.test+"\n")
			for i, list := range [][]string{c.yes, c.no} {
				for _, one := range list {
					if got, want := set.Decide(parse(t, one), callrules.Options{}).Decision, []string{"deny",
						"allow"}[i]; got != want {
						t.Errorf("%s: got %s, want %s", one, got, want)
					}
				}
			}
		})
	}
}

// TestFault_155_Commands: a command line to a row, and whether a rule with a test, or several, denies it and allows
// it.
func TestFault_155_Commands(t *testing.T) {
	for _, c := range []struct{ test, line, denies, allows string }{
		{"{fact: exec.bin, equals: git}", "cd x && git push", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "git a; git b", "yes", "yes"},
		{"{fact: exec.bin, equals: git}", "ls", "no", "no"},
		{"{fact: exec.bin, equals: git, not: true}", "cd x && git push", "yes", "no"},
		{"{fact: exec.bin, equals: git, not: true}", "cd x && ls", "yes", "yes"},
		{"{fact: exec.bin, exists: false}", "ls", "no", "no"},
		{"{fact: exec.bin, exists: true}", "ls; cd", "yes", "yes"},
		{`{fact: exec.bin, matches: "^$"}`, "A=1", "yes", "yes"}, // a line that runs nothing has a program, as ever
		// Both tests are about one command.
		{"{all: [{fact: exec.bin, equals: git}, {fact: exec.args, equals: --force}]}", "git push && rm --force", "no",
			"no"},
		{"{all: [{fact: exec.bin, equals: git}, {fact: exec.args, equals: --force}]}", "rm x | git push --force",
			"yes", "no"},
		{"{any: [{fact: exec.bin, equals: git}, {fact: exec.args, equals: --force}]}", "rm --force && git push", "yes",
			"yes"},
		{"{all: [{fact: tool, equals: Bash}, {any: [{fact: exec.bin, equals: git}, {fact: command, contains: x}]}]}",
			"ls x && cd", "yes", "yes"},
		// Names: a deny knows a program by any, an allow by what is written.
		{"{fact: exec.bin, equals: git}", "/usr/bin/git push", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "GIT.exe push", "yes", "no"},
		{"{fact: exec.bin, equals: /usr/bin/git}", "/usr/bin/git push", "yes", "yes"},
		{"{fact: exec.bin, equals: /usr/bin/git}", "git push", "no", "no"},
		{"{fact: exec.bin, begins_with: /usr/}", "/usr/bin/git push", "yes", "yes"},
		{"{fact: exec.bin, equals: git, not: true}", "/usr/bin/git push", "yes", "no"},
		{"{fact: exec.bin, equals: rm, not: true}", "/bin/rm x", "yes", "no"},
		{"{fact: exec.bin, one_of: [git, ls], not: true}", "./git", "yes", "no"},
		// What only runs another.
		{"{fact: exec.bin, equals: git}", "env git status", "yes", "yes"},
		{"{fact: exec.bin, equals: env}", "env A=1 git status", "yes", "no"},
		{"{fact: exec.bin, equals: env}", "env A=1", "yes", "no"},
		// A variable that is set can make a program run another.
		{"{fact: exec.bin, equals: git}", "GIT_PAGER=x git log", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "env PATH=x git log", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "PATH=x; git log", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "for PATH in x; do git log; done", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "x=1; git log $x; for f in a b; do git add $f; done", "yes", "yes"},
		{"{fact: exec.bin, one_of: [git, export]}", "export GIT_PAGER=x; git log", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "git -c core.pager=x log", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "git --exec-path=x log", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "git rebase -x 'rm x'", "yes", "no"},
		{"{fact: exec.bin, equals: git}", "git submodule foreach 'git pull'", "yes", "yes"},
		{"{fact: exec.unseen, equals: environment}", "A=1 git log $X", "yes", "no"},
		{"{fact: exec.unseen, equals: argument}", "A=1 git log $X", "yes", "no"},
		{"{fact: exec.unseen, one_of: [argument, environment]}", "A=1 git log $X", "yes", "yes"},
		{"{fact: exec.unseen, equals: code, not: true}", "A=1 python -c x", "yes", "no"},
		{"{any: [{fact: exec.bin, equals: git}, {fact: exec.unseen, equals: environment}]}", "A=1 git log", "yes",
			"yes"},
		{"{fact: exec.bin, one_of: [nice, env]}", "nice env", "yes", "yes"},
		{"{fact: exec.bin, equals: git}", "sudo git status", "yes", "no"},
		{"{fact: exec.bin, one_of: [git, sudo]}", "sudo git status", "yes", "yes"},
		{"{fact: exec.bin, equals: git}", "command -v git", "no", "no"},
		// What is not seen.
		{"{fact: exec.unseen, exists: true}", "git push", "no", "no"},
		{"{fact: exec.unseen, exists: true}", "git push; eval $X", "yes", "no"},
		{"{fact: exec.unseen, exists: false}", "git push; eval $X", "yes", "no"},
		{"{fact: exec.unseen, exists: false}", "git push; ls", "yes", "yes"},
		{"{fact: exec.unseen, equals: code}", "python3 -c x", "yes", "yes"},
		{"{fact: exec.unseen, one_of: [stdin, eval]}", "curl x | sh", "yes", "no"},
		{"{fact: exec.unseen, begins_with: s}", "sh", "yes", "yes"},
		{"{fact: exec.bin, matches: .}", "$X", "yes", "no"},
		{"{fact: exec.bin, matches: .}", "sh", "yes", "no"},
		{"{fact: exec.bin, matches: .}", "python -c x; sh y; git $X", "yes", "yes"},
		{"{fact: exec.bin, matches: .}", "git '", "yes", "no"},
		{"{any: [{fact: exec.bin, matches: .}, {fact: exec.unseen, equals: stdin}]}", "sh", "yes", "yes"},
		{"{fact: exec.args, equals: --force, not: true}", "git push $X", "yes", "no"},
		{"{fact: exec.args, equals: --force, not: true}", "git push", "yes", "yes"},
		{"{all: [{fact: exec.args, equals: --force, not: true}, {fact: exec.unseen, equals: argument}]}",
			"git push $X", "yes", "yes"},
	} {
		for effect, want := range map[string]string{"deny": c.denies, "allow": c.allows} {
			other := map[string]string{"deny": "allow", "allow": "deny"}[effect]
			set := read(t, "rules:\n  - id: R\n    title: t\n    effect: "+effect+"\n    when: "+c.test+"\ndefault: "+other+"\n")
			asked := &call.Call{Tool: "Bash",
				Input: call.NewObject(call.Member{Name: "command", Value: call.Text(c.line)})}
			out := set.Decide(asked, callrules.Options{Trace: true})
			if got := map[bool]string{true: "yes", false: "no"}[out.Rule != nil]; got != want {
				t.Errorf("%s of %s, %q: %s, want %s: %+v", effect, c.test, c.line, got, want, out.Trace.Steps)
			}
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
	for _, c := range []struct{ name, old, new, want string }{
		{"an unknown key", "    message: ", "    messages: ",
			`calls.yml:15:5: rule "NO-FORCE-PUSH": unknown key "messages" in the rule; write "message"`},
		{"a key of a bundle", "    message: ", "    match: ",
			`unknown key "match" in the rule; the keys are id, title, effect, when, message, remediation; your own keys must begin with "x-"`},
		{"an unknown key of the file", "default: allow", "version: 1",
			`18:1: unknown key "version" in the file; the keys are rules, default`},
		{"an unknown operator", "equals: git", "eq: git",
			`8:11: rule "NO-FORCE-PUSH": unknown key "eq" in the item; the keys are fact, equals, contains`},
		{"a key twice", "    effect: deny", "    effect: deny\n    effect: ask",
			`5:5: duplicate key "effect", first on line 4`},
		{"an unknown effect", "effect: deny", "effect: block",
			`4:13: rule "NO-FORCE-PUSH": the effect "block"; write deny, ask or allow`},
		{"an unknown default", "default: allow", "default: log", `18:10: the default "log"; write deny, ask or allow`},
		{"a default of null", "default: allow", "default:", `"default" has no value`},
		{"no title", "    title: No force push\n", "", `2:5: rule "NO-FORCE-PUSH": the rule has no "title"`},
		{"no effect", "    effect: deny\n", "", `the rule has no "effect"; write "effect: …"`},
		{"an effect of null", "effect: deny", "effect:", `"effect" has no value; write "effect: …"`},
		{"an id of two words", "NO-FORCE-PUSH", "no push",
			`the id is not one word: it has the character U+0020; write one word`},
		{"an id twice", "default: allow", "  - {id: NO-FORCE-PUSH, title: t, effect: deny, when: {fact: tool, equals: x}}", `18:10: rule "NO-FORCE-PUSH": duplicate id, first at calls.yml:2`},
		{"an unknown fact", "fact: exec.bin", "fact: exec.binary",
			`7:17: rule "NO-FORCE-PUSH": there is no fact "exec.binary"; write one of tool, capability, command, path`},
		{"a fact with an empty part", "fact: exec.bin", "fact: input..a", `there is no fact "input..a"`},
		{"no fact", "- fact: exec.bin\n          equals: git", "- equals: git",
			`7:11: rule "NO-FORCE-PUSH": the item has no "fact"`},
		{"no operator", "{fact: capability, equals: execute}", "{fact: capability}",
			`14:15: rule "NO-FORCE-PUSH": the test has no operator; write one of equals, contains`},
		{"two operators", "equals: git", "equals: git\n          contains: g",
			`7:11: rule "NO-FORCE-PUSH": the test has both "equals" and "contains"; write a test for each`},
		{"all beside any", "      all:", "      any: [{fact: tool, equals: x}]\n      all:",
			`6:7: rule "NO-FORCE-PUSH": unknown key "any" in "when" with "all"`},
		{"all beside a fact", "      all:", "      fact: tool\n      all:",
			`unknown key "fact" in "when" with "all"; the key is all`},
		{"an empty list", "[Bash, shell]", "[]", `"one_of" is an empty list; write "one_of: …"`},
		{"a text for a list", "[Bash, shell]", "Bash",
			`"one_of" is a string where a list belongs; write one_of: ['Bash']`},
		{"a list for a text", "equals: git", "equals: [git]", `a list in "equals", where a string belongs`},
		{"an empty text", "equals: git", `equals: ""`, `an empty string in "equals"`},
		{"a when that is a text", "when:", "when: always\n    x-when:",
			`"when" is a string; write {fact: tool, equals: Bash}`},
		{"a when of null", "when:", "when:\n    x-when:", `"when" is empty`},
		{"not that is no truth value", "not: false", "not: maybe",
			`11:16: rule "NO-FORCE-PUSH": "not" is "maybe"; write true or false`},
		{"not beside exists", "equals: git", "exists: true\n          not: true",
			`9:16: rule "NO-FORCE-PUSH": "not" next to "exists"; write "exists: false"`},
		{"exists of a text", "equals: git", "exists: git", `"exists" is "git"; write true or false`},
		{"a pattern that does not compile", `'push\s.*--force'`, `'(?=push)'`,
			`10:20: rule "NO-FORCE-PUSH": the pattern does not compile: invalid or unsupported Perl syntax: `},
		{"a glob that can never match", "equals: git", "glob: ./git",
			`8:17: rule "NO-FORCE-PUSH": a segment ".": no path has one`},
		{"a glob on free text", `matches: 'push\s.*--force'`, "glob: git *",
			`10:17: rule "NO-FORCE-PUSH": a glob on command, in which * would stop at each /; write matches or contains`},
		{"under, of a path as it was given", "fact: exec.bin\n          equals: git",
			"fact: path\n          under: /etc", `"under" on path, which may have ".." in it; write fs.path`},
		{"under, relative", "fact: exec.bin\n          equals: git", "fact: fs.path\n          under: etc",
			`the folder "etc"; write an absolute path`},
		{"under, not clean", "fact: exec.bin\n          equals: git", "fact: fs.path\n          under: /etc/",
			`the folder "/etc/"; write an absolute path`},
		{"a capability that no tool has", "equals: execute", "equals: exec",
			`capability is never "exec"; write one of execute, read, write, search, agent, network`},
		{"a reason that exec.unseen never is", "{fact: capability, equals: execute}",
			"{fact: exec.unseen, equals: shell}", `exec.unseen is never "shell"; write one of variable, argument`},
		{"an operation that there is not", "{fact: capability, equals: execute}",
			"{fact: fs.op, one_of: [read, delete]}", `14:44: rule "NO-FORCE-PUSH": fs.op is never "delete"`},
		{"a host in upper case", "{fact: capability, equals: execute}", "{fact: net.host, ends_with: .Example.com}",
			`net.host is in lower case, and ".Example.com" is not; write .example.com`},
		{"an anchor", "title: No", "title: &a No", `the anchor "&a"`},
		{"an alias", "title: No force push", "title: *a", `"*a"`},
		{"a tag", "title: No", "title: !!str No", `the tag "!!str"`},
		{"a merge key", "    message: ", "    <<: ", `the merge key "<<"`},
		{"a second document", "default: allow\n", "---\nrules: []\n", `a second document`},
		{"no YAML", "title: No force push", "title: 'No", `calls.yml:3: not YAML: `},
		{"no list of rules", "rules:\n", "rules: []\nx-rules:\n",
			`"rules" is an empty list; write "rules:" and beneath it a list, each rule beginning with "- id:"`},
		{"rules of null", whole, "rules:\n", `"rules" has no value`},
		{"an empty file", whole, "# nothing\n", `the file is empty; write "rules:" and beneath it a list`},
		{"null", whole, "~\n", `the file is empty; write "rules:" and beneath it a list`},
		{"a list", whole, "- a\n", `the file is a list; write "rules:" and beneath it a list`},
		{"not UTF-8", "No force", "No \xff", "the byte 0xFF is not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(whole, c.old, c.new, 1)
			if text == whole {
				t.Fatal("the test replaces nothing")
			}
			set, err := Read(source(text))
			if err == nil || set != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v\nwant %s", err, c.want)
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

// TestAddingARuleNeverLoosens: a rule that denies or asks never makes the outcome milder, wherever it is put.
func TestAddingARuleNeverLoosens(t *testing.T) {
	changed := 0
	check := func(rt *rapid.T) {
		one := func(id string, effects ...string) string {
			return fmt.Sprintf("  - {id: %s, title: t, effect: %s, when: %s}\n", id,
				rapid.SampledFrom(effects).Draw(rt, "effect"), rapid.SampledFrom([]string{
					"{fact: tool, equals: Bash}", "{fact: command, contains: push, not: true}",
					"{fact: exec.args, equals: --force}", "{fact: command, exists: false}",
				}).Draw(rt, "when"))
		}
		list := []string{one("r0", "allow", "ask", "deny")}
		for i := range rapid.IntRange(0, 2).Draw(rt, "rules") {
			list = append(list, one(fmt.Sprint("r", i+1), "allow", "ask", "deny"))
		}
		end := "default: " + rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(rt, "default") + "\n"
		asked := parse(t, rapid.SampledFrom([]string{push, bare, write, unknown}).Draw(rt, "call"))
		was := read(t, "rules:\n"+strings.Join(list, "")+end).Decide(asked, callrules.Options{})
		at := rapid.IntRange(0, len(list)).Draw(rt, "place")
		text := "rules:\n" + strings.Join(list[:at], "") + one("extra", "deny") + strings.Join(list[at:], "") + end
		is := read(t, text).Decide(asked, callrules.Options{})
		if is.Effect.Rank() < was.Effect.Rank() {
			rt.Fatalf("%s became %s\n%s", was.Decision, is.Decision, text)
		}
		if is.Effect != was.Effect {
			changed++
		}
	}
	for range 100 { // of a few draws none may
		if rapid.Check(t, check); t.Failed() || changed > 0 {
			return
		}
	}
	t.Error("no rule made a difference")
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
		fmt.Fprintf(&text, "  - {id: E%d, title: t, effect: deny, when: {all: [{fact: exec.bin, equals: git}, {fact: exec.args, one_of: [-f, --force-%d]}, {fact: command, matches: 'push\\s.*-%d\\b'}]}}\n", i, i, i)
		fmt.Fprintf(&text, "  - {id: P%d, title: t, effect: ask, when: {any: [{fact: path, glob: '**/area-%d/*.tf'}, {fact: command, contains: ' area-%d'}]}}\n", i, i, i)
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
