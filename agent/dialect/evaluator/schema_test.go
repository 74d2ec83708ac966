package evaluator

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/document"
)

// whole is a bundle with every key there is.
const whole = `{
  "bundleVersion": 3,
  "contentHash": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
  "builtAt": "2026-01-31T12:00:00.123Z",
  "policies": [
    {
      "policyId": "11111111-1111-4111-8111-111111111111",
      "policyVersion": 0,
      "document": {
        "apiVersion": "agent-governance.io/v1",
        "kind": "Policy",
        "metadata": {"name": "shell", "description": "what shells may do", "labels": {"team": "core"}},
        "spec": {
          "defaultEffect": "allow",
          "rules": [
            {"id": "r1", "description": "no root", "effect": "deny", "conditions": [
              {"field": "input.command", "operator": "contains", "value": "sudo"}
            ]}
          ]
        }
      }
    }
  ],
  "frozenAgentIds": ["agent-1"]
}`

func TestWholeBundleLoads(t *testing.T) {
	set := read(t, whole)
	if len(set.Notes) != 0 {
		t.Errorf("notes: %v", set.Notes)
	}
	if r := set.Rules[0]; r.ID != "r1" || r.Origin.Line != 16 || r.Origin.File != "bundle.json" ||
		r.Reason != "no root" {
		t.Errorf("the rule is %+v", r)
	}
	if p := set.Policies[0]; p.Version != 0 || p.ID != first || p.Broken != "" {
		t.Errorf("the policy is %+v", p)
	}
	// What the document itself does not show may be left out.
	short := whole
	for _, key := range []string{"bundleVersion", "contentHash", "builtAt"} {
		_, rest, _ := strings.Cut(short, "\n  \""+key)
		_, rest, _ = strings.Cut(rest, "\n")
		short = "{\n" + rest
	}
	short = strings.Replace(short, ",\n  \"frozenAgentIds\": [\"agent-1\"]", "", 1)
	if strings.Contains(short, "frozen") || strings.Contains(short, "builtAt") || len(read(t, short).Rules) != 1 {
		t.Error(short)
	}
}

// TestMistakes: what is replaced in the whole bundle, and the error that this makes.
func TestMistakes(t *testing.T) {
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	const (
		ruleText      = `{"id": "r1", "description": "no root", "effect": "deny", "conditions": [`
		conditionText = `{"field": "input.command", "operator": "contains", "value": "sudo"}`
		otherRule     = `{"id": "r", "effect": "allow", "conditions": [{"field": "a", "operator": "eq", "value": 1}]},`
	)
	for _, c := range []struct{ name, old, new, want string }{
		{"Row_1_30 apiVersion", `"agent-governance.io/v1"`, `"v2"`,
			`10:23: the apiVersion "v2"; write agent-governance.io/v1`},
		{"Row_1_30 kind", `"Policy"`, `"policy"`, `11:17: the kind "policy"; write Policy`},
		{"Row_1_30 defaultEffect is required", `"defaultEffect": "allow",`, ``,
			`13:17: "spec" has no "defaultEffect"; write it`},
		{"Row_1_30 uuid", `"11111111-1111-4111-8111-111111111111"`, `"p1"`, `7:19: the policyId "p1"; write a UUID`},
		{"Row_1_30 policyVersion", `"policyVersion": 0`, `"policyVersion": -1`,
			`8:24: policyVersion is not a whole number of 0 or more`},
		{"Row_1_30 policyVersion is whole", `"policyVersion": 0`, `"policyVersion": 1.5`,
			`8:24: policyVersion is not a whole number`},
		{"Row_1_30 policyVersion within JavaScript's", `"policyVersion": 0`, `"policyVersion": 9007199254740992`,
			`8:24: policyVersion is not a whole number`},
		{"Row_1_30 bundleVersion", `"bundleVersion": 3`, `"bundleVersion": "3"`,
			`2:20: bundleVersion is not a whole number`},
		{"Row_1_30 name is there", `"shell"`, `""`, `12:30: name is empty`},
		{"Row_1_30 name of 129", `"shell"`, `"` + strings.Repeat("é", 129) + `"`,
			`12:30: name has 129 characters; the limit is 128`},
		{"Row_1_30 description of 1025", `"what shells may do"`, `"` + strings.Repeat("x", 1025) + `"`,
			`12:54: description has 1025 characters; the limit is 1024`},
		{"Row_1_30 frozen id of 129", `"agent-1"`, `"` + strings.Repeat("x", 129) + `"`,
			`24:22: an id of frozenAgentIds has 129 characters`},
		{"Row_1_30 frozen id of 0", `"agent-1"`, `""`, `24:22: an id of frozenAgentIds is empty`},
		{"Row_1_30 1001 rules", ruleText, strings.Repeat(otherRule, 1000) + ruleText,
			`"rules" has 1001 items; the limit is 1000`},
		{"Row_1_30 51 conditions", conditionText, many(51, conditionText),
			`"conditions" has 51 items; the limit is 50`},
		{"Row_1_30 0 conditions", conditionText, ``,
			`16:84: rule "r1": "conditions" is an empty list; write at least 1`},
		{"Row_1_30 0 rules", ruleText + "\n              " + conditionText + "\n            ]}", ``,
			`15:20: "rules" is an empty list`},
		{"Row_1_30 an empty rule id", `"id": "r1"`, `"id": ""`, `16:20: id is empty`},
		{"Row_1_32 the effect ask", `"effect": "deny"`, `"effect": "ask"`,
			`16:62: rule "r1": the effect "ask": the document has no effect but allow and deny; write deny`},
		{"Row_1_32 the default ask", `"defaultEffect": "allow"`, `"defaultEffect": "ask"`,
			`14:28: the defaultEffect "ask": the document has no effect but allow and deny`},
		{"Row_1_32 mcpAccess", `"bundleVersion": 3`, `"mcpAccess": {"approvedServers": []}`,
			`2:3: "mcpAccess": the document has no gate for MCP servers; remove it, and write a rule on tool_name`},
		{"an unknown effect", `"effect": "deny"`, `"effect": "Deny"`,
			`16:62: rule "r1": the effect "Deny"; write allow, deny`},
		{"an unknown effect of 160 bytes is shown whole", `"effect": "deny"`, `"effect": "` +
			strings.Repeat("x", 160) + `"`, `the effect "` + strings.Repeat("x", 160) + `"; write`},
		{"an unknown effect of 161 bytes is cut", `"effect": "deny"`, `"effect": "` + strings.Repeat("x", 161) + `"`,
			`the effect "` + strings.Repeat("x", 160) + `"…; write`},
		{"an unknown operator", `"contains"`, `"equals"`,
			`17:54: rule "r1": the operator "equals"; write eq, neq, in, not_in, contains, starts_with, ends_with, matches`},
		{"an unknown key of the bundle", `"bundleVersion"`, `"version"`,
			`2:3: unknown key "version" in the bundle; the keys are policies, bundleVersion`},
		{"an unknown key of a condition", `"value": "sudo"`, `"value": "sudo", "flags": "i"`,
			`17:83: rule "r1": unknown key "flags" in the condition; the keys are field, operator, value`},
		{"an unknown key of a rule", `"effect": "deny"`, `"effect": "deny", "priority": 5`,
			`16:70: rule "r1": unknown key "priority" in the rule`},
		{"a key in another case", `"field"`, `"Field"`, `17:16: rule "r1": unknown key "Field"`},
		{"a missing key", `"field": "input.command", `, ``, `17:15: rule "r1": the condition has no "field"`},
		{"no policies", `"policies"`, `"policy"`, `1:1: the bundle has no "policies"`},
		{"a key twice", `"kind": "Policy",`, `"kind": "Policy", "kind": "Policy",`,
			`11:27: the key "kind" occurs twice; remove one of them`},
		{"a wrong type", `"policies": [`, `"policies": {}, "x": [`, `5:15: "policies" is an object; write a list`},
		{"null is no value", `"value": "sudo"`, `"value": null`, `17:75: rule "r1": the value is or has null`},
		{"an object is no value", `"value": "sudo"`, `"value": {"a": 1}`, `the value is or has an object`},
		{"a list of truth values", `"contains", "value": "sudo"`, `"in", "value": [true]`,
			`17:70: rule "r1": the value is or has a boolean`},
		{"a list of lists", `"contains", "value": "sudo"`, `"in", "value": [["a"]]`, `the value is or has a list`},
		{"a list of both", `"contains", "value": "sudo"`, `"in", "value": ["a", 1]`,
			`17:75: rule "r1": the list has strings and numbers`},
		{"a number that no one can hold", `"contains", "value": "sudo"`, `"eq", "value": 1e999`,
			`the number 1e999 is out of range`},
		{"an empty field", `"input.command"`, `""`, `17:25: rule "r1": field is empty`},
		{"labels are texts", `"team": "core"`, `"team": 1`, `the label "team" is a number; write a string`},
		{"labels are an object", `{"team": "core"}`, `[]`, `"labels" is a list; write an object`},
		{"a hash", `0123456789abcdef"`, `0123456789ABCDEF"`, `3:18: "contentHash" is not a SHA-256`},
		{"a date", `"2026-01-31T12:00:00.123Z"`, `"yesterday"`, `4:14: "builtAt" is not a date and time`},
		{"a trailing comma", "\n            ]}\n", "\n            ,]}\n",
			`not JSON: invalid character ']' looking for beginning of value`},
		{"a comment", `"bundleVersion": 3,`, `// "bundleVersion": 3,`, `2:3: not JSON: invalid character '/'`},
		{"a file that ends too soon", `["agent-1"]` + "\n}", `["agent-1"`, `not JSON: unexpected end of JSON input`},
		{"two values", `["agent-1"]` + "\n}", `["agent-1"]}` + "\n{}",
			`25:1: not JSON: invalid character '{' after top-level value`},
		{"not UTF-8", `"no root"`, "\"no \xffroot\"", `a byte that is not UTF-8; save the file as UTF-8`},
		{"a list for a bundle", whole, `[]`, `1:1: the bundle is a list; write an object with policies`},
		{"nothing", whole, " \n", `nothing in the file`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(whole, c.old, c.new, 1)
			if text == whole {
				t.Fatal("the test replaces nothing")
			}
			set, err := Read(source(text))
			var list document.Errors
			if !errors.As(err, &list) || set != nil {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(list.Error(), c.want) || strings.Count(list.Error(), "b.json:") != len(list) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestRow_1_30_WithinTheLimits(t *testing.T) {
	var list, conditions []string
	for i := range 50 {
		conditions = append(conditions, fmt.Sprintf(`input.f%d eq 1`, i))
	}
	for i := range 1000 {
		list = append(list, rule(fmt.Sprint(i), "allow", isBash))
	}
	list[0] = rule("0", "allow", conditions...)
	text := strings.NewReplacer(`"test"`, `"`+strings.Repeat("é", 128)+`"`, `"policyVersion": 7`,
		`"policyVersion": 9007199254740991`).
		Replace(bundle(policy(first, "allow", list...)))
	if set := read(t, text); len(set.Rules) != 1000 || len(set.Rules[0].When.All) != 50 ||
		set.Policies[0].Version != 1<<53-1 {
		t.Errorf("%d rules, version %d", len(set.Rules), set.Policies[0].Version)
	}
}

// TestAllMistakesAtOnce: the mistakes of a file, each where it is, in order.
func TestAllMistakesAtOnce(t *testing.T) {
	text := strings.NewReplacer(`"kind"`, `"sort"`, `"contains"`, `"has"`, `"deny"`, `"ask"`, `"core"`, `5`, `"value"`,
		`"valve"`, `"agent-1"`, `"", 7`).Replace(whole)
	_, err := Read(source(text))
	var got []string
	for _, e := range err.(document.Errors) {
		got = append(got, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Code))
		if inRule := e.Line == 16 || e.Line == 17; inRule != (e.Rule == "r1") {
			t.Errorf("%v is said to be of the rule %q", e, e.Rule)
		}
	}
	want := "9:19 E_POLICY_VALUE, 11:9 E_POLICY_KEY, 12:95 E_POLICY_TYPE, 16:62 E_POLICY_VALUE, 17:15 E_POLICY_VALUE, 17:54 E_POLICY_VALUE, 17:61 E_POLICY_KEY, 24:22 E_POLICY_VALUE, 24:26 E_POLICY_TYPE"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s\n%v", strings.Join(got, ", "), want, err)
	}
}

// TestMistakeBehindARule: what is wrong with the next policy is not said to be of the rule before.
func TestMistakeBehindARule(t *testing.T) {
	text := bundle(policy(first, "deny", rule("r", "deny", isBash)),
		strings.Replace(policy(second, "deny", rule("r", "deny", isBash)), "Policy", "P", 1))
	_, err := Read(source(text))
	if list := err.(document.Errors); len(list) != 1 || list[0].Rule != "" {
		t.Error(err)
	}
}

func TestMistakesHaveALimit(t *testing.T) {
	_, err := Read(&document.Source{Name: "b.json",
		Text: []byte(`{"policies": [` + strings.Repeat("1,", 900) + `1], ` + strings.Repeat("\n\"x\": 1,", 2000) +
			`"y": 1}`)})
	if list := err.(document.Errors); len(list) != maxMistakes+1 ||
		!strings.Contains(err.Error(), "more than 1000 mistakes; fix the others first") {
		t.Errorf("%d mistakes", len(list))
	}
}

// TestNotes: what loads and is often a mistake.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ name, bundle, want string }{
		{"X8 mixed defaults", bundle(policy(first, "deny", rule("r", "deny", isBash)),
			policy(second, "allow", rule("r", "deny", isBash))),
			"mixed defaults: the first policy's counts (" + first + ", deny), and that of " + second +
				" (allow) is never used; give all policies one default"},
		{"no policies", bundle(), "no policies: every call is denied, NO_POLICIES; write one"},
		{"a policy twice", bundle(policy(first, "deny", rule("r", "deny", isBash)),
			policy(first, "deny", rule("r", "deny", isBash))), "occurs twice, first in line 1"},
		{"a rule twice", bundle(policy(first, "deny", rule("r", "deny", isBash), rule("r", "deny", isBash))),
			"the rule r occurs twice in its policy, first in line 2"},
		{"eq with a list", bundle(policy(first, "deny", rule("r", "deny", `input.x eq ["a"]`))),
			"eq with a list: two lists are never equal, so it is always false; write in or not_in"},
		{"neq with a list", bundle(policy(first, "deny", rule("r", "deny", `input.x neq ["a"]`))),
			"so it is always true"},
		{"in with an empty list", bundle(policy(first, "deny", rule("r", "deny", `input.x in []`))),
			"in with an empty list is always false"},
		{"not_in with an empty list", bundle(policy(first, "deny", rule("r", "deny", `input.x not_in []`))),
			"not_in with an empty list is always true"},
		{"an empty text", bundle(policy(first, "deny", rule("r", "deny", `input.x contains ""`))),
			"contains with an empty string is true for every field that is present"},
		{"an empty part", bundle(policy(first, "deny", rule("r", "deny", `input..x eq 1`))),
			`the field "input..x" has an empty part`},
		{"a field that hooks do not bring", bundle(policy(first, "deny",
			rule("r", "deny", `command eq "a"`, `command neq "b"`))), `"command" is only in requests that bring it`},
		{"a signature", strings.Replace(bundle(policy(first, "deny", rule("r", "deny", isBash))), `{`,
			`{"signature": "x", `, 1), `"signature" is not verified`},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := read(t, c.bundle)
			if len(set.Notes) != 1 || !strings.Contains(set.Notes[0].Text, c.want) || set.Notes[0].Origin.Line < 1 {
				t.Errorf("got %v\nwant %s", set.Notes, c.want)
			}
		})
	}
	if notes := read(t, bundle(policy(first, "deny", rule("r", "deny", isBash)),
		policy(second, "deny", rule("r", "deny", isBash)))).Notes; len(notes) != 0 {
		t.Errorf("notes on a bundle without a mistake: %v", notes)
	}
}

func source(text string) *document.Source {
	return &document.Source{Name: "b.json", Text: []byte(text)}
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
		case e.File != "b.json" || e.Found == "" || e.Fix == "" || e.Line < 0 || e.Line > len(lines):
			t.Errorf("no place in the file: %+v", e)
		case e.Line > 0 && (e.Column < 0 || e.Column > len(lines[e.Line-1])+1):
			t.Errorf("the column %d of a line of %d bytes: %v", e.Column, len(lines[e.Line-1]), e)
		}
	}
}
