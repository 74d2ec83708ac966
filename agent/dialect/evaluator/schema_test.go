package evaluator

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/document"
	"golang.org/x/tools/txtar"
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
	const (
		ruleText      = `{"id": "r1", "description": "no root", "effect": "deny", "conditions": [`
		conditionText = `{"field": "input.command", "operator": "contains", "value": "sudo"}`
		otherRule     = `{"id": "r", "effect": "allow", "conditions": [{"field": "a", "operator": "eq", "value": 1}]},`
	)
	type mistake struct{ old, new, want string }
	all := map[string]mistake{
		"1_30 description of 1025": {`"what shells may do"`, `"` + strings.Repeat("x", 1025) + `"`,
			`12:54: description has 1025 characters; the limit is 1024`},
		"1_30 1001 rules": {ruleText, strings.Repeat(otherRule, 1000) + ruleText,
			`"rules" has 1001 items; the limit is 1000`},
		"1_30 51 conditions": {conditionText, strings.Repeat(conditionText+",", 50) + conditionText,
			`"conditions" has 51 items; the limit is 50`},
		"not UTF-8":           {`"no root"`, "\"no \xffroot\"", `a byte that is not UTF-8; save the file as UTF-8`},
		"a list for a bundle": {whole, `[]`, `1:1: the bundle is a list; write an object with policies`},
		"nothing":             {whole, " \n", `nothing in the file`},
	}
	for name, text := range cases(t) {
		if part := strings.Split(text, "\n=>\n"); len(part) == 3 {
			all[name] = mistake{part[0], part[1], strings.TrimSpace(part[2])}
		}
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
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

// cases are the files of testdata/rows.txtar, by their names.
func cases(t *testing.T) map[string]string {
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
	want := "9:19 E_POLICY_VALUE, 11:9 E_POLICY_KEY, 12:95 E_POLICY_TYPE, 16:62 E_POLICY_VALUE, " +
		"17:15 E_POLICY_VALUE, 17:54 E_POLICY_VALUE, 17:61 E_POLICY_KEY, 24:22 E_POLICY_VALUE, 24:26 E_POLICY_TYPE"
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
			"the rule r occurs twice in its policy, first in line 3"},
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
