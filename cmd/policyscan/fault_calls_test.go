package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A decided call is what eval says of it, and what it ended with.
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
