package verdict

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDecide: PASS only if the verdict is complete, at least one rule was enforced, and there is no violation.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		rules, violations, errors int
		want                      Outcome
		complete                  bool
	}{
		{0, 0, 0, Fail, true},
		{1, 0, 0, Pass, true},
		{2, 0, 0, Pass, true},
		{1, 1, 0, Fail, true},
		{1, 0, 1, Fail, false},
		{1, 1, 1, Fail, false},
		{0, 1, 0, Fail, true},
		{0, 0, 1, Fail, false},
	} {
		for _, before := range []Outcome{Pass, Fail, ""} {
			v := New("1.0")
			v.Rules, v.Violations, v.Errors = make([]Rule, c.rules), make([]Violation, c.violations), make([]Error,
				c.errors)
			v.Verdict, v.Complete = before, before == Pass
			v.Decide()
			if v.Verdict != c.want || v.Complete != c.complete {
				t.Errorf("%d rules, %d violations, %d errors: %s, complete %v", c.rules, c.violations, c.errors,
					v.Verdict, v.Complete)
			}
		}
	}
	if v := New("1.0"); v.Verdict != Fail {
		t.Errorf("a new verdict is %s", v.Verdict)
	}
}

// TestSchemaRefuses: a document that no run writes is invalid, above all a PASS without evidence of work.
func TestSchemaRefuses(t *testing.T) {
	schema := compile(t)
	text := document(t, "pass")
	for _, name := range documents {
		if err := validate(t, schema, document(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	failText := document(t, "fail")
	type object = map[string]any
	errs := []any{object{"code": "E_READ", "file": "", "message": "m"}}
	violation := func(fail object) object { return fail["violations"].([]any)[0].(object) }
	evidence := func(fail object) object { return violation(fail)["evidence"].(object) }
	for name, change := range map[string]func(pass, fail object){
		"a PASS that is not complete":   func(pass, _ object) { pass["complete"] = false },
		"a PASS with a violation":       func(pass, fail object) { pass["violations"] = fail["violations"] },
		"a PASS with an error":          func(pass, _ object) { pass["errors"] = errs },
		"a PASS without a rule":         func(pass, _ object) { pass["rules"] = []any{} },
		"a PASS without a bundle":       func(pass, _ object) { pass["policy"] = []any{} },
		"WARN":                          func(pass, _ object) { pass["verdict"] = "WARN" },
		"another schema":                func(pass, _ object) { pass["schema_version"] = "3" },
		"an unknown key":                func(pass, _ object) { pass["note"] = "" },
		"a missing key":                 func(pass, _ object) { delete(pass, "allowed") },
		"null for a list":               func(pass, _ object) { pass["errors"] = nil },
		"an unknown reason":             func(pass, _ object) { pass["allowed"] = []any{"everything"} },
		"a FAIL complete with errors":   func(_, fail object) { fail["errors"] = errs },
		"a FAIL incomplete for nothing": func(_, fail object) { fail["complete"] = false },
		"a violation without evidence":  func(_, fail object) { delete(violation(fail), "evidence") },
		"a violation without a rule":    func(_, fail object) { violation(fail)["rule_id"] = "" },
		"a line 0":                      func(_, fail object) { evidence(fail)["line"] = 0 },
		"an excerpt of 201 characters":  func(_, fail object) { evidence(fail)["excerpt"] = strings.Repeat("x", 201) },
		"not a fingerprint":             func(_, fail object) { violation(fail)["fingerprint"] = "x" },
		"another program":               func(_, fail object) { fail["tool"].(object)["name"] = "other" },
		"an unknown scope":              func(_, fail object) { fail["scope"].(object)["mode"] = "some" },
	} {
		var pass, fail map[string]any
		if err := json.Unmarshal(text, &pass); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(failText, &fail); err != nil {
			t.Fatal(err)
		}
		change(pass, fail)
		refused := false
		for _, doc := range []any{pass, fail} {
			changed, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			refused = refused || validate(t, schema, changed) != nil
		}
		if !refused {
			t.Errorf("the schema takes %s", name)
		}
	}
}
