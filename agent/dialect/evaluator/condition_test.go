package evaluator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
)

// The request that the conditions are asked of.
const asked = `{"tool_name": "Bash", "input": {
	"text": "git push", "number": 1000, "half": 2.50, "big": 1e21, "minus": -0, "yes": true, "no": false,
	"null": null, "empty": "", "list": ["a", "b"], "one": ["a"], "none": [], "flags": ["push", "--force"],
	"mixed": [1.50, true, null, ["c", [null, 1e21]], {"a": 1}, []], "object": {"a": 1, "": {"": "deep"}},
	"a.b": "dotted", "length": 3}}`

// TestConditions: one condition to a row, as "field operator value", and whether it holds.
func TestConditions(t *testing.T) {
	for _, group := range []struct {
		name string
		yes  []string
		no   []string
	}{
		{"Row_1_15 eq and neq: strict equality on the resolved field value",
			[]string{`input.text eq "git push"`, `input.number eq 1000`, `input.number eq 1e3`, `input.half eq 2.5`,
				`input.yes eq true`, `input.empty eq ""`, `input.minus eq 0`,
				`input.number neq "1000"`, `input.yes neq "true"`, `input.text neq "Git push"`,
				`input.list neq ["a","b"]`, `input.one neq ["a"]`, `input.none neq []`, `input.object neq "x"`},
			[]string{`input.number eq "1000"`, `input.yes eq "true"`, `input.no eq "false"`, `input.empty eq false`,
				`input.minus eq ""`, `input.text eq "Git push"`,
				`input.list eq ["a","b"]`, `input.one eq "a"`, `input.none eq []`, `input.text neq "git push"`,
				`input.number neq 1000.0`}},
		{"Row_1_16 undefined compares unequal to anything a policy would eq against",
			[]string{`input.absent neq "x"`, `input.absent neq ""`, `input.null neq "x"`, `input.null neq "null"`,
				`input.absent not_in ["x"]`, `absent.a.b neq 1`},
			[]string{`input.absent eq "x"`, `input.absent eq ""`, `input.absent eq "undefined"`,
				`input.null eq "null"`, `input.absent in ["undefined", ""]`, `absent.a.b eq 1`}},
		{"Row_1_17 membership in a list: both sides are stringified before comparison",
			[]string{`input.number in ["1000"]`, `input.number in [1000, 2]`, `input.text in ["x", "git push"]`,
				`input.yes in ["true"]`, `input.half in ["2.5"]`, `input.big in ["1e+21"]`,
				`input.minus in ["0"]`, `input.text not_in ["x"]`, `input.number not_in ["1000.0"]`,
				`input.text in ["git push"]`, `input.empty in [""]`},
			[]string{`input.number not_in ["1000"]`, `input.number not_in [1e3]`, `input.text in ["git"]`,
				`input.yes in ["TRUE"]`, `input.half in ["2.50"]`, `input.text in []`}},
		{"Row_1_17 scalar values are normalized to singleton lists",
			[]string{`input.text in "git push"`, `input.number in "1000"`, `input.number in 1000`, `input.yes in true`,
				`input.yes not_in false`},
			[]string{`input.text in "git"`, `input.number not_in 1000`, `input.yes not_in true`}},
		{"Row_1_18 a missing or null field: in is false, not_in is true",
			[]string{`input.absent not_in [1]`, `input.null not_in ["null"]`},
			[]string{`input.absent in [1]`, `input.null in ["null", ""]`}},
		{"Row_1_19 contains, starts_with, ends_with: the resolved field is stringified",
			[]string{`input.text contains "t p"`, `input.text starts_with "git"`, `input.text ends_with "push"`,
				`input.number contains "00"`, `input.number starts_with "1"`,
				`input.yes ends_with "ue"`, `input.half ends_with ".5"`, `input.empty contains ""`},
			[]string{`input.text contains "T P"`, `input.text starts_with "push"`, `input.text ends_with "git"`,
				`input.number contains "01"`,
				`input.absent contains "u"`, `input.null contains "null"`, `input.absent starts_with ""`,
				`input.null ends_with ""`}},
		{"Row_1_20 matches: re2, anywhere in the field",
			[]string{`input.text matches "t\\s+p"`, `input.text matches "^git"`, `input.text matches "(?i)GIT"`,
				`input.number matches "^1000$"`, `input.yes matches "^true$"`, `input.empty matches "^$"`},
			[]string{`input.text matches "^push"`, `input.text matches "GIT"`}},
		{"Row_1_22 matches on a missing or null field is false, even .*",
			nil,
			[]string{`input.absent matches ".*"`, `input.null matches ".*"`, `input.null matches "null"`}},
		{"Row_1_23 lists have the text that JavaScript joins, objects have none",
			[]string{`input.list contains "a"`, `input.list contains "a,b"`, `input.list starts_with "a,"`,
				`input.list ends_with ",b"`, `input.list matches "^a,b$"`,
				`input.list in ["a,b"]`, `input.one in ["a"]`, `input.none starts_with ""`, `input.none in ""`,
				`input.flags contains "--force"`,
				`input.mixed in ["1.5,true,,c,,1e+21,[object Object],"]`,
				`input.list not_in ["a"]`, `input.list not_in ["a,b"]`, `input.object not_in ["[object Object]"]`,
				`input.list neq "a,b"`},
			[]string{`input.list contains "b,a"`, `input.list in ["a"]`, `input.list eq "a,b"`, `input.one eq "a"`,
				`input.object contains "object"`, `input.object matches ""`, `input.object in ["[object Object]"]`}},
		{"Row_1_24 dot-paths walk the request object",
			[]string{`tool_name eq "Bash"`, `input.object.a eq 1`},
			[]string{`input.object.b eq 1`, `input.text.a eq "git push"`, `input.number.a eq 1000`, `tool eq "Bash"`,
				`Input.text eq "git push"`}},
		{"Row_1_25 a part that is a decimal index walks into a list",
			[]string{`input.list.0 eq "a"`, `input.list.1 eq "b"`, `input.length eq 3`},
			[]string{`input.list.2 eq "b"`, `input.list.00 eq "a"`, `input.list.+1 eq "b"`, `input.list.-1 eq "b"`,
				`input.list.length eq 2`, `input.text.0 eq "g"`}},
		{"Row_1_26 keys that contain dots cannot be reached; an empty part is a key without a name",
			[]string{`input.object.. eq "deep"`},
			[]string{`input.a.b eq "dotted"`, `input.object. eq "deep"`}},
	} {
		for i, list := range [][]string{group.yes, group.no} {
			for _, condition := range list {
				t.Run(group.name+"/"+condition, func(t *testing.T) {
					want := []string{"deny 11@7 d", "allow"}[i]
					if got := decide(t, bundle(policy(first, "allow", rule("d", "deny", condition))),
						asked); got != want {
						t.Errorf("got %s, want %s", got, want)
					}
				})
			}
		}
	}
}

// TestRow_1_23_NotInFailsClosed: where it cannot be determined whether a field is in a list, a rule that
// allows does not hold, and a rule that denies does.
func TestRow_1_23_NotInFailsClosed(t *testing.T) {
	for _, c := range []struct{ condition, isBash, allow string }{
		{`input.list not_in ["x"]`, "holds", "fails"},
		{`input.list not_in ["a,b"]`, "holds", "fails"}, // not as JavaScript has it: see docs/dialects.md
		{`input.list in ["a,b"]`, "holds", "fails"},
		{`input.list contains "a"`, "holds", "fails"},
		{`input.list starts_with "a"`, "holds", "fails"},
		{`input.list ends_with "b"`, "holds", "fails"},
		{`input.list matches "a"`, "holds", "fails"},
		{`input.object not_in ["x"]`, "holds", "fails"},
		{`input.absent not_in ["x"]`, "holds", "holds"}, // row 1-18
		{`input.null not_in ["x"]`, "holds", "holds"},
		{`input.text not_in ["x"]`, "holds", "holds"},
		{`input.text not_in ["git push"]`, "fails", "fails"},
	} {
		for effect, want := range map[string]string{"deny": c.isBash, "allow": c.allow} {
			byDefault := map[string]string{"deny": "allow", "allow": "deny"}[effect]
			got := "holds"
			if decide(t, bundle(policy(first, byDefault, rule("r", effect, c.condition))), asked) == byDefault {
				got = "fails"
			}
			if got != want {
				t.Errorf("%s in a rule of effect %s: %s, want %s", c.condition, effect, got, want)
			}
		}
	}
}

func TestRow_1_19_ValueMustBeAString(t *testing.T) {
	// "the condition value must be a string"
	for _, operator := range []string{"contains", "starts_with", "ends_with"} {
		for _, value := range []string{`5`, `true`, `["a"]`, `[]`} {
			text := bundle(policy(first, "allow", rule("d", "deny", "input.text "+operator+" "+value)))
			_, err := Read(source(text))
			if err == nil || !strings.Contains(err.Error(), "the value of "+operator+" is ") {
				t.Errorf("%s %s: %v", operator, value, err)
			}
		}
	}
}

func TestRow_1_20_NoLookaround(t *testing.T) {
	// "Lookaround and backreferences are not supported; patterns using them fail to compile"
	for _, pattern := range []string{`(?=a)`, `(?!a)`, `(?<=a)b`, `(?<!a)b`, `(a)\1`, `(?P=n)`, `\u0041`, `(`,
		`a{1001}`, `(?>a)`, `a++b`} {
		quoted, err := json.Marshal(pattern)
		if err != nil {
			t.Fatal(err)
		}
		set := read(t, bundle(policy(first, "allow", rule("d", "allow", "input.text matches "+string(quoted)))))
		if got := line(set.Decide(request(t, asked), callrules.Options{})); got != "deny POLICY_COMPILE_ERROR 11@7" ||
			len(set.Notes) != 1 {
			t.Errorf("%s: %s, %d notes", pattern, got, len(set.Notes))
		}
	}
}

func TestRow_1_21_MatchesOfNoString(t *testing.T) {
	for _, value := range []string{`5`, `true`, `["a"]`} {
		set := read(t, bundle(policy(first, "allow", rule("d", "deny", "input.text matches "+value))))
		if got := line(set.Decide(request(t, asked), callrules.Options{})); got != "deny POLICY_COMPILE_ERROR 11@7" {
			t.Errorf("matches %s: %s", value, got)
		}
		if broken := set.Policies[0].Broken; !strings.Contains(broken,
			"the pattern "+value+" of the rule d is not a string") {
			t.Errorf("matches %s: %s", value, broken)
		}
	}
}

func TestRow_1_27_PrototypeParts(t *testing.T) {
	// "__proto__, constructor, and prototype parts are rejected at the schema layer"
	for _, field := range []string{"__proto__", "input.__proto__.x", "constructor", "a.constructor", "prototype.a"} {
		_, err := Read(source(bundle(policy(first, "allow", rule("d", "deny", field+` eq "x"`)))))
		if err == nil || !strings.Contains(err.Error(), "has the part") {
			t.Errorf("%s: %v", field, err)
		}
	}
	// "inherited properties don't resolve"
	for _, field := range []string{"toString", "input.hasOwnProperty", "input.list.length", "input.text.length",
		"input.constructors"} {
		if got := decide(t, bundle(policy(first, "deny", rule("d", "allow", field+` neq "x"`))),
			asked); got != "allow 11@7 d" {
			t.Errorf("%s: %s", field, got)
		}
	}
}
