package gate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

// denying returns a gate with one rule, which denies the tool Bash.
func denying() *Gate {
	tool := callrules.Predicate{Test: &callrules.Test{
		Fact: callrules.Fact{Source: callrules.FromTool}, Op: callrules.Equals, Text: "Bash",
	}}
	return &Gate{Sets: []*callrules.Set{{
		Name: "calls.yml", Dialect: "native", Strategy: callrules.AllViolations, Default: callrules.Allow,
		Rules: []callrules.Rule{{ID: "SHELL", Effect: callrules.Deny, Reason: "No shell", When: tool}},
	}}}
}

// TestScenarios: each scenario is compared with what is expected of it; what cannot be read is the last thing.
func TestScenarios(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // for each scenario its line and differences, or the error
	}{
		{`{"kind":"meta"}
{"tool":"Bash","input":{},"expected_decision":"deny","expected_rule_id":"SHELL","expected_code":null}

{"tool":"Bash","input":{},"expected_decision":"allow","expected_rule_id":null}
{"tool":"Read","input":{},"expected_decision":"allow","expected_rule_id":"SHELL","expected_code":"X"}
{"tool":"Read","input":{},"expected_decision":"allow"}`, []string{
			"2:[]", "4:[{decision allow deny} {rule no rule SHELL}]", "5:[{rule SHELL no rule} {code X no code}]",
			"6:[]",
		}},
		{
			`{"tool":"Read","input":{},"expected_decision":"allow"}` + "\nx\n" + `{"tool":"Read"}`,
			[]string{"1:[]", "s.jsonl:2: "},
		},
		{`{"kind":"meta"}`, []string{"contain no call, so nothing was tested"}},
		{"", []string{"contain no call, so nothing was tested"}},
	} {
		name := filepath.Join(folder(t, map[string]string{"s.jsonl": c.text}), "s.jsonl")
		var got []string
		for trial, err := range denying().Scenarios(name) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, fmt.Sprint(trial.Line, ":", trial.Differences()))
		}
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
	for trial, err := range denying().Scenarios(filepath.Join(t.TempDir(), "none")) {
		if trial != nil || err == nil || !strings.Contains(err.Error(), "cannot be read: ") {
			t.Errorf("%v, %v", trial, err)
		}
	}
}

// TestExplain: the call, its result with the reason, then each set's decision with its rules.
func TestExplain(t *testing.T) {
	for tool, want := range map[string][]string{
		"Bash": {
			"Bash {}", "  deny", "  rule SHELL (:0): No shell", "  calls.yml (native, all-violations): deny",
			"    + deny SHELL", "    = ",
		},
		"Read": {"Read {}", "  allow", "  calls.yml (native, all-violations): allow", "    - deny SHELL  ", "    = "},
	} {
		c := &call.Call{Tool: tool, Input: call.NewObject()}
		r, err := denying().Judge(t.Context(), c, callrules.Options{Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		out := r.Outcome()
		if got := r.Explain(c, &out); !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
}
