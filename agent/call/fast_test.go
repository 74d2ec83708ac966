package call

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call/shell"
	"github.com/policyscan/policyscan/internal/cputime"
)

// An input is an agent's to choose, and a hook that is late is one that did not speak: what is under 100 KB takes no
// second, whatever it is. These took 2 s, 0.9 s and, for a hundred rules, two minutes.
func TestInputsAreFast(t *testing.T) {
	var members []Member
	for i := 12_000; i > 0; i-- { // JavaScript has such names in numerical order
		members = append(members, Member{fmt.Sprint(i), Text("x")})
	}
	names := NewObject(Member{"a", NewObject(members...)})
	set := &Set{Strategy: AllViolations, Default: Allow}
	for range 100 {
		set.Rules = append(set.Rules, Rule{Effect: Deny, When: Predicate{Test: &Test{
			Fact: Fact{Source: FromInput, Path: []string{"a"}, JSON: true}, Op: Contains, Text: "y"}}})
	}
	for name, work := range map[string]func(){
		"operators":        func() { shell.Tokens(strings.Repeat(";", 100_000)) },
		"parentheses":      func() { shell.Tokens(strings.Repeat("(", 100_000)) },
		"names of indexes": func() { names.JSON() },
		"a hundred rules":  func() { set.Decide(&Call{Tool: "X", Input: names}, Options{}) },
	} {
		if took := cputime.Of(work); took > 800*time.Millisecond {
			t.Errorf("%s: %s", name, took)
		}
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
		f := &facts{call: &Call{Input: NewObject(Member{"a", value(t, in)})}}
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
		c := &Call{Tool: "Bash", Input: NewObject(Member{"command", Text("git push --force")})}
		if got := testing.AllocsPerRun(10, func() { set.Decide(c, Options{}) }); got > 100 {
			t.Errorf("%s: %v allocations for 1000 rules", s, got)
		}
	}
}
