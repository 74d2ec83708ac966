package callrules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/cputime"
)

// A list of arguments is an agent's to choose: matching them may not take all ways.
func TestEachIsFast(t *testing.T) {
	test := &Test{Fact: Fact{Source: FromExecArgs}, Op: Each}
	for range 12 {
		test.Each = append(test.Each, Predicate{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: "a"}})
	}
	test.Each = append(test.Each, Predicate{Test: &Test{Fact: Fact{Source: FromItem}, Op: Equals, Text: "z"}})
	c := &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command",
		Value: call.Text("git " + strings.Repeat("a ", 5000))})}
	took := cputime.Of(func() {
		if test.holds(&facts{call: c}) {
			t.Error("there is no z")
		}
	})
	if took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Each is whether each test can have its own item: against all ways to give them out.
func TestEachIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching("[abc]{1,3}")
		wanted := rapid.SliceOfN(letters, 0, 4).Draw(t, "wanted") // an item must be one of these letters
		items := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 5).Draw(t, "items")
		test := &Test{Fact: Fact{Source: FromExecArgs}, Op: Each}
		for _, w := range wanted {
			any := Predicate{Any: []Predicate{}}
			for _, l := range w {
				any.Any = append(any.Any, Predicate{Test: &Test{Fact: Fact{Source: FromItem}, Text: string(l)}})
			}
			test.Each = append(test.Each, any)
		}
		var every func(from int, left []string) bool
		every = func(from int, left []string) bool {
			if from == len(wanted) {
				return true
			}
			for i, item := range left {
				if strings.Contains(wanted[from], item) && every(from+1, slices.Delete(slices.Clone(left), i, i+1)) {
					return true
				}
			}
			return false
		}
		f := &facts{operated: true, ops: call.Operations{Exec: true, Runs: call.Program{Name: call.Text("x")}}}
		for _, item := range items {
			f.ops.Runs.Args = append(f.ops.Runs.Args, call.Text(item))
		}
		if got, want := test.holds(f), every(0, items); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
