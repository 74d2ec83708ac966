package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A decided call is eval's decision and its exit status.
type decided struct {
	Decision, Rule, Policy, Code, Reason string

	status int
}

// eval asks policyscan eval, of calls on a line each.
func (p program) eval(calls string, args ...string) []decided {
	p.t.Helper()
	p.stdin = calls
	e := p.run(append([]string{"eval"}, args...)...)
	if e.status > 1 {
		p.t.Fatalf("eval %q of %s ends with %d\n%s", args, calls, e.status, e.err)
	}
	var all []decided
	for line := range strings.Lines(e.out) {
		d := decided{status: e.status}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			p.t.Fatal(err)
		}
		all = append(all, d)
	}
	if want := strings.Count(strings.TrimSuffix(calls, "\n"), "\n") + 1; len(all) != want {
		p.t.Fatalf("%d answers to %d calls\n%s%s", len(all), want, e.out, e.err)
	}
	return all
}

// lineOf is the line of a call of a tool with one text in its input.
func lineOf(t testing.TB, tool, name string, value any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"tool": tool, "input": map[string]any{name: value}, "cwd": "/w"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// evaluatorBundle is a bundle of one rule with one condition.
func evaluatorBundle(effect, byDefault, condition string) string {
	return fmt.Sprintf(`{"policies": [{"policyId": "11111111-1111-4111-8111-111111111111", "policyVersion": 1, "document": {
		"apiVersion": "agent-governance.io/v1", "kind": "Policy", "metadata": {"name": "p"},
		"spec": {"defaultEffect": %q, "rules": [{"id": "R", "effect": %q, "conditions": [%s]}]}}}]}`, byDefault, effect, condition)
}

// TestListsHaveText: a value that is a list has a text in a rule that denies, as JavaScript has it, and none in a
// rule that allows.
func TestListsHaveText(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	for _, c := range []struct {
		condition string
		value     string
		deny      string // by a rule that denies, of the default allow
		allow     string // by a rule that allows, of the default deny
	}{
		{`{"field": "input.args", "operator": "contains", "value": "--force"}`, `["push","--force"]`, "deny", "deny"},
		{`{"field": "input.args", "operator": "contains", "value": "--force"}`, `["push","--forc"]`, "allow", "deny"},
		{`{"field": "input.args", "operator": "contains", "value": "--force"}`, `"push --force"`, "deny", "allow"},
		{`{"field": "input.args", "operator": "starts_with", "value": "rm,-rf"}`, `["rm",["-rf","/"]]`, "deny", "deny"},
		{`{"field": "input.args", "operator": "ends_with", "value": ",[object Object],"}`, `["a",{"b":1},null]`, "deny", "deny"},
		{`{"field": "input.args", "operator": "matches", "value": "^1\\.5,true,$"}`, `[1.50,true,null]`, "deny", "deny"},
		{`{"field": "input.args", "operator": "in", "value": ["push"]}`, `["push"]`, "deny", "deny"},
		{`{"field": "input.args", "operator": "not_in", "value": ["push"]}`, `["push"]`, "deny", "deny"},
		{`{"field": "input.args", "operator": "eq", "value": "push"}`, `["push"]`, "allow", "deny"},
		{`{"field": "input.args", "operator": "neq", "value": "push"}`, `["push"]`, "deny", "allow"},
		{`{"field": "input.args", "operator": "contains", "value": "o"}`, `{"a":1}`, "allow", "deny"},
	} {
		p.write("deny.json", evaluatorBundle("deny", "allow", c.condition))
		p.write("allow.json", evaluatorBundle("allow", "deny", c.condition))
		use := lineOf(t, "Bash", "args", json.RawMessage(c.value))
		if got := p.eval(use, "--calls", "deny.json")[0]; got.Decision != c.deny {
			t.Errorf("deny %s of %s: %+v", c.condition, c.value, got)
		}
		if got := p.eval(use, "--calls", "allow.json")[0]; got.Decision != c.allow {
			t.Errorf("allow %s of %s: %+v", c.condition, c.value, got)
		}
	}
	for _, c := range []struct{ action, unmatched, want string }{
		{"deny", "allow", "deny"}, {"escalate", "allow", "escalate"}, {"allow", "deny", "deny"}, {"escalate", "deny", "deny"},
	} {
		p.write("rules.yaml", fmt.Sprintf("version: \"1\"\ndefaults: {unmatched: %s}\nrules:\n"+
			"  - {name: R, action: %s, tool: Bash, match: {command: [{pattern: rm, type: regex}]}}\n", c.unmatched, c.action))
		if got := p.eval(lineOf(t, "Bash", "command", []string{"rm", "-rf", "/"}), "--calls", "rules.yaml")[0]; got.Decision != c.want {
			t.Errorf("%s, unmatched %s: %+v", c.action, c.unmatched, got)
		}
	}
}

// TestBrokenPatternIsNamed: POLICY_COMPILE_ERROR says which policy, which rule and which pattern.
func TestBrokenPatternIsNamed(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	for _, c := range []struct{ value, pattern string }{{`"(?=x)"`, `"(?=x)"`}, {`[1, 2]`, `[1,2]`}} {
		p.write("b.json", evaluatorBundle("deny", "allow", `{"field": "tool_name", "operator": "matches", "value": `+c.value+`}`))
		got := p.eval(`{"tool": "Bash"}`, "--calls", "b.json")[0]
		said := "policy contains a regex pattern that failed to compile — failing closed: policy " +
			"11111111-1111-4111-8111-111111111111, the pattern " + c.pattern + " of the rule R "
		if got.Code != "POLICY_COMPILE_ERROR" || got.Decision != "deny" || got.Rule != "" || !strings.HasPrefix(got.Reason, said) {
			t.Errorf("%s: %+v", c.value, got)
		}
		if e := p.run("validate", "--calls", "b.json"); !strings.Contains(e.out+e.err, "the pattern "+c.pattern+" of the rule R ") {
			t.Errorf("validate says\n%s%s", e.out, e.err)
		}
	}
}

// TestNullBundle: "Bundle is null (never loaded) or has zero policies".
func TestNullBundle(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	p.write("b.json", "null\n")
	if got := p.eval(`{"tool": "Bash"}`, "--calls", "b.json")[0]; got.Decision != "deny" || got.Code != "NO_POLICIES" || got.status != 1 {
		t.Errorf("%+v", got)
	}
	if e := p.run("validate", "--calls", "b.json"); e.status != 0 || !strings.Contains(e.out+e.err, "b.json:1: note: the bundle is null") {
		t.Errorf("validate ends with %d\n%s%s", e.status, e.out, e.err)
	}
}

// TestFault_156_OneHost: a host is one, however it is spelt, in a URL and in a rule.
func TestFault_156_OneHost(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	for _, c := range []struct {
		host    string // as a rule has it
		same    []string
		another []string
		unsure  []string
	}{
		{
			"127.0.0.1",
			[]string{
				"http://127.0.0.1/", "http://2130706433/", "http://0x7f000001/", "http://127.1/", "http://0177.0.0.1/", "http://127.0.0.1./", "http://127.0.0.1:80",
				"http://%31%32%37.0.0.1/", "http://１２７.0.0.1/", "http://127。0。0。1/", "HTTP://0X7F.0.1/", "2130706433/", "http://evil.com:x@127.1/", "http://12\t7.1",
			},
			[]string{"http://127.0.0.2/", "http://127.0.0.1.example.com/", "http://127.0.0.1@evil.com/", "http://127.0.0.x/", "http://[::ffff:127.0.0.1]/", "http://2130706434/"},
			[]string{"http://127.0.0.256/", "http://4294967296/", "http://1.2.3.4.5/", "http://127.0.0.1..", "http:127.0.0.1", "http:///127.0.0.1/", `http:\\127.0.0.1`, "//127.0.0.1"},
		},
		{
			"::1",
			[]string{"http://[::1]/", "http://[0:0:0:0:0:0:0:1]:80/", "http://[0000::0001]/", "http://[::0.0.0.1]"},
			[]string{"http://[::2]/", "http://127.0.0.1/"},
			[]string{"http://[::1/", "http://::1/", "http://[::1%25lo]/", "http://[1]/", "http://[::1]x/"},
		},
		{"::ffff:7f00:1", []string{"http://[::ffff:127.0.0.1]/", "http://[::FFFF:7F00:1]/"}, []string{"http://127.0.0.1/"}, nil},
		{
			"evil.com",
			[]string{"https://evil.com", "https://EVIL.com./x", "https://ｅｖｉｌ.com", "https://e%76il.com", "https://ev\u00adil.com", "https://evil。com", "evil.com:443", "https://github.com:x@evil.com/", "https://ev\nil.com"},
			[]string{"https://github.com/evil.com", "https://evil.com.org", "https://evil.com@github.com", "https://xn--vil-8cd.com"},
			[]string{"https:/evil.com", "https:evil.com", "//evil.com", `https://github.com\@evil.com`, `https://evil.com\@github.com`, "https://a@b@evil.com", "https://evil.com:99999", "https://ev<il.com", "https://evil%00.com", "https://", "git://evil.com"},
		},
		{"xn--bcher-kva.example", []string{"https://bücher.example", "https://BÜCHER.example", "https://b%C3%BCcher.example", "https://bu\u0308cher.example"}, []string{"https://bucher.example"}, nil},
	} {
		p.write("deny.sexpr", fmt.Sprintf("(default allow \"main\")\n(policy \"main\" (deny (net %q)))\n", c.host))
		p.write("allow.sexpr", fmt.Sprintf("(default deny \"main\")\n(policy \"main\" (allow (net %q)))\n", c.host))
		native := "rules:\n  - {id: R, title: The host, effect: %s, when: {fact: net.host, %s: %s}}\ndefault: %s\n"
		p.write("deny.yml", fmt.Sprintf(native, "deny", "equals", "'"+c.host+"'", "allow"))
		p.write("ask.yml", fmt.Sprintf(native, "ask", "one_of", "['"+c.host+"']", "allow"))
		p.write("allow.yml", fmt.Sprintf(native, "allow", "equals", "'"+c.host+"'", "deny"))
		for kind, urls := range [][]string{c.same, c.another, c.unsure} {
			var calls strings.Builder
			for _, url := range urls {
				calls.WriteString(lineOf(t, "WebFetch", "url", url))
			}
			if len(urls) == 0 {
				continue
			}
			for file, want := range map[string][3]string{
				"deny.sexpr": {"deny", "allow", "deny"}, "allow.sexpr": {"allow", "deny", "deny"},
				"deny.yml": {"deny", "allow", "deny"}, "ask.yml": {"ask", "allow", "ask"}, "allow.yml": {"allow", "deny", "deny"},
			} {
				for i, got := range p.eval(calls.String(), "--calls", file) {
					if got.Decision != want[kind] {
						t.Errorf("%s of %s: %q is %s, want %s: %s", file, c.host, urls[i], got.Decision, want[kind], got.Reason)
					}
					if kind == 2 && got.Rule != "" && !strings.Contains(got.Reason, "the host of the URL cannot be determined") {
						t.Errorf("%s of %s: %q: the reason is %s", file, c.host, urls[i], got.Reason)
					}
				}
			}
		}
	}
	// A rule has the host in the same form, or an error says what to write.
	for _, c := range []struct{ host, clash, native string }{
		{"0x7f.1", "", `net.host is never "0x7f.1"; write 127.0.0.1`},
		{"127.0.0.1.", "", `net.host is never "127.0.0.1."; write 127.0.0.1`},
		{"[::1]", "", `net.host is never "[::1]"; write ::1`},
		{"Evil.COM", "", `net.host is in lower case, and "Evil.COM" is not; write evil.com`},
		{"bücher.example", `the host "bücher.example" is not ASCII; write "xn--bcher-kva.example"`, `net.host is never "bücher.example"; write xn--bcher-kva.example`},
		{"evil.com:443", `"evil.com:443" is not a host`, `net.host is never "evil.com:443"; write the host alone`},
		{"ev^il.com", `"ev^il.com" is not a host`, `net.host is never "ev^il.com"; write the host alone`},
		{"1.2.3.256", `"1.2.3.256" is not a host`, `net.host is never "1.2.3.256"; write the host alone`},
	} {
		p.write("rule.sexpr", fmt.Sprintf("(default deny \"main\")\n(policy \"main\" (allow (net %q)))\n", c.host))
		p.write("rule.yml", fmt.Sprintf("rules:\n  - {id: R, title: t, effect: deny, when: {fact: net.host, equals: '%s'}}\n", c.host))
		for file, want := range map[string]string{"rule.sexpr": c.clash, "rule.yml": c.native} {
			e := p.run("validate", "--calls", file)
			if (e.status == 0) != (want == "") || !strings.Contains(e.out+e.err, want) {
				t.Errorf("%s of %q: status %d, want %q\n%s%s", file, c.host, e.status, want, e.out, e.err)
			}
		}
	}
}

// TestFault_157_Home: a path that an agent may expand or trim is not under the working directory.
func TestFault_157_Home(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	p.write("allow.sexpr", "(default deny \"main\")\n(policy \"main\" (allow (fs (or read write) (subpath (env PWD)))))\n")
	p.write("deny.sexpr", "(default allow \"main\")\n(policy \"main\" (deny (fs * (subpath \"/home/u\"))) (deny (fs * \"/etc/passwd\")))\n")
	native := "rules:\n  - {id: R, title: The path, effect: %s, when: {fact: fs.path, %s}}\ndefault: %s\n"
	p.write("allow.yml", fmt.Sprintf(native, "allow", "under: /w", "deny"))
	p.write("outside.yml", fmt.Sprintf(native, "deny", "under: /w, not: true", "allow"))
	p.write("deny.yml", fmt.Sprintf(native, "deny", "under: /home/u", "allow"))
	p.write("ask.yml", fmt.Sprintf(native, "ask", "glob: /etc/*", "allow"))
	unsure := map[string]string{"allow.sexpr": "deny", "deny.sexpr": "deny", "allow.yml": "deny", "outside.yml": "deny", "deny.yml": "deny", "ask.yml": "ask"}
	within := map[string]string{"allow.sexpr": "allow", "deny.sexpr": "allow", "allow.yml": "allow", "outside.yml": "allow", "deny.yml": "allow", "ask.yml": "allow"}
	for _, group := range []struct {
		want  map[string]string
		paths []string
	}{
		{unsure, []string{
			"~", "~/", "~/.ssh/id_rsa", "~u/x", "~+/x", "~\\x", " ~/.ssh/id_rsa", " /etc/passwd", "/etc/passwd ", "/w/a ", "\t/etc/passwd", "/etc/passwd\n",
			"\u00a0/etc/passwd", "/etc/passwd\u3000", "\ufeff/etc/passwd", "\x00/etc/passwd", " a", "a ", " ", "~backup",
		}},
		{within, []string{"a", "./~/x", "a/~", "a~", "/w/~/x", "a b", "/w/ a/b", "$HOME/x", "%USERPROFILE%/x"}},
	} {
		for _, tool := range []struct{ name, key string }{
			{"Read", "file_path"}, {"Write", "file_path"}, {"Edit", "file_path"}, {"Glob", "path"}, {"Grep", "path"}, {"Glob", "pattern"}, {"view", "path"},
		} {
			for file, want := range group.want {
				var calls strings.Builder
				for _, path := range group.paths {
					calls.WriteString(lineOf(t, tool.name, tool.key, path))
				}
				for i, got := range p.eval(calls.String(), "--calls", file, "--define", "PWD=/w") {
					path := group.paths[i]
					if got.Decision != want {
						t.Errorf("%s: %s of %q is %s, want %s: %s", file, tool.name, path, got.Decision, want, got.Reason)
					}
					if want != "allow" && got.Rule != "" && !strings.Contains(got.Reason, "the path begins ") {
						t.Errorf("%s: %s of %q: the reason is %s", file, tool.name, path, got.Reason)
					}
				}
			}
		}
	}
	// A search pattern is not a path.
	for _, pattern := range []string{"~", " a "} {
		call := fmt.Sprintf(`{"tool": "Grep", "input": {"path": "/w", "pattern": %q}, "cwd": "/w"}`, pattern)
		if got := p.eval(call, "--calls", "allow.yml")[0]; got.Decision != "allow" {
			t.Errorf("Grep of %q: %+v", pattern, got)
		}
	}
}

// TestFault_162_CallRules: X/** takes X itself where a rule denies or asks, and not where it allows; in claudecube
// it means in a rule that allows what micromatch says.
func TestFault_162_CallRules(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	native := func(effect, test, byDefault string) string {
		return fmt.Sprintf("rules:\n  - {id: R, title: The path, effect: %s, when: {%s}}\ndefault: %s\n", effect, test, byDefault)
	}
	cube := func(action, glob string) string {
		return fmt.Sprintf("version: \"1\"\ndefaults: {unmatched: escalate}\nrules:\n"+
			"  - {name: R, action: %s, tool: Read, match: {file_path: [{pattern: '%s', type: glob}]}}\n", action, glob)
	}
	for _, c := range []struct {
		file, rules string
		paths       map[string]string
	}{
		{"deny.yml", native("deny", "fact: fs.path, glob: '/w/secret/**'", "allow"), map[string]string{"/w/secret": "deny", "/w/secret/a": "deny", "/w/secrets": "allow"}},
		{"ask.yml", native("ask", "fact: path, glob: 'sec*/**'", "allow"), map[string]string{"secret": "ask", "secret/a": "ask", "a/secret": "allow"}},
		{"allow.yml", native("allow", "fact: fs.path, glob: '/w/src/**'", "deny"), map[string]string{"/w/src": "deny", "/w/src/a": "allow", "/w/src/a/b": "allow", "/w/srcs": "deny"}},
		{"allow2.yml", native("allow", "fact: path, glob: 'test*/**'", "deny"), map[string]string{"testing.tf": "deny", "tests/a": "allow"}},
		{"not.yml", native("deny", "fact: fs.path, glob: '/w/src/**', not: true", "allow"), map[string]string{"/w/src": "deny", "/w/src/a": "allow", "/w/b": "deny"}},
		{"notallow.yml", native("allow", "fact: fs.path, glob: '/w/src/**', not: true", "deny"), map[string]string{"/w/src": "deny", "/w/src/a": "deny", "/w/b": "allow"}},
		{"a.yaml", cube("allow", "src/*/**"), map[string]string{"src/a": "escalate", "src/a/b": "allow", "src/a/b/c": "allow", "src": "escalate", "src/a/.b": "escalate"}},
		{"b.yaml", cube("allow", "test*/**"), map[string]string{"testing.tf": "escalate", "tests/a": "allow", "test": "escalate"}},
		{"c.yaml", cube("allow", "src/**"), map[string]string{"src": "allow", "src/a": "allow", "srcs": "escalate"}}, // as micromatch has it
		{"d.yaml", cube("deny", "src/*/**"), map[string]string{"src/a": "deny", "src/a/b": "deny", "src/a/.b": "deny", "src": "escalate"}},
		{"e.sexpr", `(default allow "main") (policy "main" (deny (fs * (subpath "/w/secret"))))`, map[string]string{"/w/secret": "deny", "/w/secret/a": "deny", "/w/secrets": "allow"}},
		{"f.sexpr", `(default deny "main") (policy "main" (allow (fs * (subpath "/w/src"))))`, map[string]string{"/w/src": "allow", "/w/src/a": "allow", "/w/srcs": "deny"}},
	} {
		p.write(c.file, c.rules)
		for path, want := range c.paths {
			if got := p.eval(lineOf(t, "Read", "file_path", path), "--calls", c.file)[0]; got.Decision != want {
				t.Errorf("%s: %q is %s, want %s\n%s", c.file, path, got.Decision, want, c.rules)
			}
		}
	}
}

// TestDialectsPage: the limits of the dialects in docs/dialects.md are true.
func TestDialectsPage(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	p.write("any.rules", "rule g {\n  DENY any\n  IF path GLOB \"src/**\"\n  OR command CONTAINS \"[\\\"a\\\"\"\n  MESSAGE \"m\"\n}\n")
	p.write("length.json", evaluatorBundle("deny", "allow", `{"field": "input.args.length", "operator": "eq", "value": 2}`))
	p.write("item.json", evaluatorBundle("deny", "allow", `{"field": "input.args.1", "operator": "eq", "value": "b"}`))
	p.write("length.yaml", "version: \"1\"\ndefaults: {unmatched: allow}\nrules:\n"+
		"  - {name: R, action: deny, tool: Bash, match: {args.length: [{pattern: '2'}], args.9: [{pattern: b}]}}\n")
	p.write("status.sexpr", `(default deny "main") (policy "main" (allow (exec "git" "status")))`)
	p.write("force.sexpr", `(default allow "main") (policy "main" (deny (exec "git" :has "--force")))`)
	same := lineOf(t, "Bash", "command", "ls")
	for _, got := range p.eval(same+same+same+same, "--calls", "any.rules") { // no loop guard
		if got.Decision != "allow" {
			t.Errorf("the same command again is %+v", got)
		}
	}
	p.write("same.jsonl", strings.Repeat(`{"tool": "Bash", "input": {"command": "ls"}, "expected_decision": "allow"}`+"\n", 4))
	if e := p.run("test", "--calls", "any.rules", "--scenarios", "same.jsonl"); e.status != 0 {
		t.Errorf("the same command again: test ends with %d\n%s%s", e.status, e.out, e.err)
	}
	for _, c := range []struct {
		file, tool, key string
		value           any
		want            string
	}{
		{"any.rules", "Read", "file_path", "src", "allow"},
		{"any.rules", "Read", "file_path", "src/", "block"},
		{"any.rules", "Read", "file_path", "src/a/b", "block"},
		{"any.rules", "Bash", "command", []string{"a"}, "block"},
		{"length.json", "Bash", "args", []string{"a", "b"}, "allow"},
		{"item.json", "Bash", "args", []string{"a", "b"}, "deny"},
		{"length.yaml", "Bash", "args", []string{"a", "b"}, "allow"},
		{"status.sexpr", "Bash", "command", "git status\nrm -rf /", "allow"},
		{"status.sexpr", "Bash", "command", "git status | sh", "allow"},
		{"status.sexpr", "Bash", "command", "git status&rm", "allow"},
		{"status.sexpr", "Bash", "command", "git\nstatus", "allow"},
		{"status.sexpr", "Bash", "command", "| git status", "allow"},
		{"status.sexpr", "Bash", "command", "git | status", "deny"},
		{"status.sexpr", "Bash", "command", "ls && git status", "deny"},
		{"force.sexpr", "Bash", "command", "git status; x --force", "deny"},
		{"force.sexpr", "Bash", "command", "ls\ngit push --force", "allow"},
	} {
		if got := p.eval(lineOf(t, c.tool, c.key, c.value), "--calls", c.file)[0]; got.Decision != c.want {
			t.Errorf("%s: %s of %q is %s, want %s", c.file, c.tool, c.value, got.Decision, c.want)
		}
	}
}
