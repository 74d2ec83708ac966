package callrules

import (
	"fmt"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/cputime"
)

func parsedValue(t testing.TB, text string) *call.Value {
	t.Helper()
	v, err := call.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// An input is an agent's to choose, and a hook that is late is one that did not speak: what is under 100 KB takes no
// second, whatever it is. For a hundred rules this took two minutes.
func TestManyRulesAreFast(t *testing.T) {
	var members []call.Member
	for i := 12_000; i > 0; i-- { // JavaScript has such names in numerical order
		members = append(members, call.Member{Name: fmt.Sprint(i), Value: call.Text("x")})
	}
	names := call.NewObject(call.Member{Name: "a", Value: call.NewObject(members...)})
	set := &Set{Strategy: AllViolations, Default: Allow}
	for range 100 {
		set.Rules = append(set.Rules, Rule{Effect: Deny, When: Predicate{Test: &Test{
			Fact: Fact{Source: FromInput, Path: []string{"a"}, JSON: true}, Op: Contains, Text: "y"}}})
	}
	took := cputime.Of(func() { set.Decide(&call.Call{Tool: "X", Input: names}, Options{}) })
	if took > 800*time.Millisecond {
		t.Errorf("it took %s", took)
	}
}

// A text that no rule changes is the same for each that asks for it, and for each call its own.
func TestJSONOfEachCall(t *testing.T) {
	fact := Fact{Source: FromInput, Path: []string{"a"}, JSON: true}
	for _, want := range []string{`[1]`, `{"b":[2]}`, `[]`, `5`, `true`, `x`} {
		in := want
		if want == "x" {
			in = `"x"`
		}
		f := &facts{call: &call.Call{Input: call.NewObject(call.Member{Name: "a", Value: parsedValue(t, in)})}}
		for range 2 {
			if got, ok := f.text(&fact); got != want || !ok {
				t.Errorf("%s: %q", want, got)
			}
		}
	}
}

// A decision allocates nothing for each of its rules.
func TestAllocations(t *testing.T) {
	for _, s := range []Strategy{PriorityFirst, DenyOverrides, CategoryFirst, MostSpecific, AllViolations} {
		set := &Set{Strategy: s, Default: Allow, Policies: []Policy{{ID: "p", Default: Allow}}}
		for range 1000 {
			set.Rules = append(set.Rules, Rule{Effect: Deny, Domain: "exec", When: Predicate{All: []Predicate{
				{Test: &Test{Fact: Fact{Source: FromTool}, Op: Equals, Text: "Bash"}},
				{Test: &Test{Fact: Fact{Source: FromCapability}, Op: Equals, Text: "execute"}},
				{Test: &Test{Fact: Fact{Source: FromExecBin}, Op: Equals, Text: "git"}},
				{Test: &Test{Fact: Fact{Source: FromExecArgs}, Op: Each, Each: []Predicate{
					{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: "--force"}}}}},
				{Test: &Test{Fact: Fact{Source: FromInput, Path: []string{"command"}}, Op: Contains, Text: "nothing"}},
			}}})
		}
		c := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
			Value: call.Text("git push --force")})}
		if got := testing.AllocsPerRun(10, func() { set.Decide(c, Options{}) }); got > 100 {
			t.Errorf("%s: %v allocations for 1000 rules", s, got)
		}
	}
}

// TestCapabilityFacts: the facts that the targets of sigmashake's rules are about.
func TestCapabilityFacts(t *testing.T) {
	for tool, want := range map[string]string{
		"Bash": "execute -", "Edit": "write edit", "apply_patch": "write edit", "MultiEdit": "write edit",
		"Write": "write -", "NotebookEdit": "write -", "mcp__x__y": "- -",
	} {
		f := &facts{call: &call.Call{Tool: tool}}
		got := ""
		for _, of := range []Fact{{Source: FromCapability}, {Source: FromEdits}} {
			text, ok := f.text(&of)
			if !ok {
				text = "-"
			}
			got += " " + text
		}
		if got != " "+want {
			t.Errorf("%s:%s, not %s", tool, got, want)
		}
	}
}
