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

// TestFault_156_OneHost: a host is one, however it is spelt, in a URL and in a rule.
func TestFault_156_OneHost(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	for _, c := range []struct {
		host    string // in a rule
		same    []string
		another []string
		unsure  []string
	}{
		{
			"127.0.0.1",
			[]string{"http://0x7f000001/", "http://127.1/", "http://127.0.0.1./", "http://１２７.0.0.1/", "2130706433/"},
			[]string{"http://127.0.0.2/", "http://127.0.0.1@evil.com/", "http://[::ffff:127.0.0.1]/"},
			[]string{"http://127.0.0.256/", "http:///127.0.0.1/", `http:\\127.0.0.1`, "//127.0.0.1"},
		},
		{"::1", []string{"http://[0:0:0:0:0:0:0:1]:80/"}, []string{"http://127.0.0.1/"}, []string{"http://[::1/"}},
		{
			"evil.com",
			[]string{"https://EVIL.com./x", "https://e%76il.com", "https://github.com:x@evil.com/",
				"https://ev\nil.com"},
			[]string{"https://evil.com.org", "https://evil.com@github.com"},
			[]string{"https:evil.com", `https://github.com\@evil.com`, "https://a@b@evil.com", "git://evil.com"},
		},
		{"xn--bcher-kva.example", []string{"https://BÜCHER.example"}, []string{"https://bucher.example"}, nil},
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
				"deny.yml": {"deny", "allow", "deny"}, "ask.yml": {"ask", "allow", "ask"},
				"allow.yml": {"allow", "deny", "deny"},
			} {
				for i, got := range p.eval(calls.String(), "--calls", file) {
					if got.Decision != want[kind] {
						t.Errorf("%s of %s: %q is %s, want %s: %s", file, c.host, urls[i], got.Decision, want[kind],
							got.Reason)
					}
					if kind == 2 && got.Rule != "" && !strings.Contains(got.Reason,
						"the host of the URL cannot be determined") {
						t.Errorf("%s of %s: %q: the reason is %s", file, c.host, urls[i], got.Reason)
					}
				}
			}
		}
	}
	// A rule has the host in the same form, or an error says what to write.
	for _, c := range []struct{ host, clash, native string }{
		{"0x7f.1", "", `net.host is never "0x7f.1"; write 127.0.0.1`},
		{"bücher.example", `the host "bücher.example" is not ASCII; write "xn--bcher-kva.example"`,
			`net.host is never "bücher.example"; write xn--bcher-kva.example`},
		{"evil.com:443", `"evil.com:443" is not a host`, `net.host is never "evil.com:443"; write the host alone`},
	} {
		p.write("rule.sexpr", fmt.Sprintf("(default deny \"main\")\n(policy \"main\" (allow (net %q)))\n", c.host))
		p.write("rule.yml",
			fmt.Sprintf("rules:\n  - {id: R, title: t, effect: deny, when: {fact: net.host, equals: '%s'}}\n", c.host))
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
	p.write("allow.sexpr",
		"(default deny \"main\")\n(policy \"main\" (allow (fs (or read write) (subpath (env PWD)))))\n")
	p.write("deny.sexpr",
		"(default allow \"main\")\n(policy \"main\" (deny (fs * (subpath \"/home/u\"))) (deny (fs * "+
			"\"/etc/passwd\")))\n")
	native := "rules:\n  - {id: R, title: The path, effect: %s, when: {fact: fs.path, %s}}\ndefault: %s\n"
	p.write("allow.yml", fmt.Sprintf(native, "allow", "under: /w", "deny"))
	p.write("outside.yml", fmt.Sprintf(native, "deny", "under: /w, not: true", "allow"))
	p.write("deny.yml", fmt.Sprintf(native, "deny", "under: /home/u", "allow"))
	p.write("ask.yml", fmt.Sprintf(native, "ask", "glob: /etc/*", "allow"))
	unsure := map[string]string{"allow.sexpr": "deny", "deny.sexpr": "deny", "allow.yml": "deny",
		"outside.yml": "deny", "deny.yml": "deny", "ask.yml": "ask"}
	within := map[string]string{"allow.sexpr": "allow", "deny.sexpr": "allow", "allow.yml": "allow",
		"outside.yml": "allow", "deny.yml": "allow", "ask.yml": "allow"}
	for _, group := range []struct {
		want  map[string]string
		paths []string
	}{
		{unsure, []string{
			"~", "~/.ssh/id_rsa", "~u/x", " /etc/passwd", "/w/a ", "/etc/passwd\n", "\u00a0/etc/passwd",
			"\ufeff/etc/passwd", " ",
		}},
		{within, []string{"a", "./~/x", "a~", "a b", "/w/ a/b", "$HOME/x"}},
	} {
		for _, tool := range []struct{ name, key string }{
			{"Read", "file_path"}, {"Grep", "path"}, {"Glob", "pattern"},
		} {
			for file, want := range group.want {
				var calls strings.Builder
				for _, path := range group.paths {
					calls.WriteString(lineOf(t, tool.name, tool.key, path))
				}
				for i, got := range p.eval(calls.String(), "--calls", file, "--define", "PWD=/w") {
					path := group.paths[i]
					if got.Decision != want {
						t.Errorf("%s: %s of %q is %s, want %s: %s", file, tool.name, path, got.Decision, want,
							got.Reason)
					}
					if want != "allow" && got.Rule != "" && !strings.Contains(got.Reason, "the path begins ") {
						t.Errorf("%s: %s of %q: the reason is %s", file, tool.name, path, got.Reason)
					}
				}
			}
		}
	}
}

// TestFault_162_CallRules: X/** takes X itself where a rule denies or asks, and not where it allows; in claudecube
// it means in a rule that allows what micromatch says.
func TestFault_162_CallRules(t *testing.T) {
	p := program{t: t, dir: t.TempDir()}
	native := func(effect, test, byDefault string) string {
		return fmt.Sprintf("rules:\n  - {id: R, title: The path, effect: %s, when: {%s}}\ndefault: %s\n", effect, test,
			byDefault)
	}
	cube := func(action, glob string) string {
		return fmt.Sprintf("version: \"1\"\ndefaults: {unmatched: escalate}\nrules:\n"+
			"  - {name: R, action: %s, tool: Read, match: {file_path: [{pattern: '%s', type: glob}]}}\n", action, glob)
	}
	for _, c := range []struct {
		file, rules string
		paths       map[string]string
	}{
		{"deny.yml", native("deny", "fact: fs.path, glob: '/w/secret/**'", "allow"),
			map[string]string{"/w/secret": "deny", "/w/secret/a": "deny", "/w/secrets": "allow"}},
		{"ask.yml", native("ask", "fact: path, glob: 'sec*/**'", "allow"),
			map[string]string{"secret": "ask", "secret/a": "ask", "a/secret": "allow"}},
		{"allow.yml", native("allow", "fact: fs.path, glob: '/w/src/**'", "deny"),
			map[string]string{"/w/src": "deny", "/w/src/a": "allow", "/w/src/a/b": "allow", "/w/srcs": "deny"}},
		{"not.yml", native("deny", "fact: fs.path, glob: '/w/src/**', not: true", "allow"),
			map[string]string{"/w/src": "deny", "/w/src/a": "allow", "/w/b": "deny"}},
		{"a.yaml", cube("allow", "src/*/**"), map[string]string{"src/a": "escalate", "src/a/b": "allow",
			"src/a/b/c": "allow", "src": "escalate", "src/a/.b": "escalate"}},
		// as in micromatch
		{"c.yaml", cube("allow", "src/**"), map[string]string{"src": "allow", "src/a": "allow", "srcs": "escalate"}},
		{"f.sexpr", `(default deny "main") (policy "main" (allow (fs * (subpath "/w/src"))))`,
			map[string]string{"/w/src": "allow", "/w/src/a": "allow", "/w/srcs": "deny"}},
	} {
		p.write(c.file, c.rules)
		for path, want := range c.paths {
			if got := p.eval(lineOf(t, "Read", "file_path", path), "--calls", c.file)[0]; got.Decision != want {
				t.Errorf("%s: %q is %s, want %s\n%s", c.file, path, got.Decision, want, c.rules)
			}
		}
	}
}
