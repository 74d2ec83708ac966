package call

import (
	"fmt"
	"strings"
	"testing"
)

// 0-02: rules of one priority keep the order of their files, however many they are: a sort that is stable for twelve
// by accident is not for a hundred.
func TestRow_0_02_ManyTies(t *testing.T) {
	set := &Set{Strategy: PriorityFirst, Default: Allow}
	for i := range 300 {
		set.Rules = append(set.Rules, Rule{ID: fmt.Sprintf("%d.%03d", 2-i%3, i), Effect: Log, Priority: -(i % 3), When: Predicate{Any: []Predicate{}}})
	}
	out := set.Decide(&Call{Tool: "x"}, Options{Trace: true})
	if out.Rule != nil || len(out.Trace.Steps) != 300 {
		t.Fatalf("%+v, %d steps", out.Rule, len(out.Trace.Steps))
	}
	for i, s := range out.Trace.Steps {
		if want := fmt.Sprintf("%d.%03d", 2-i/100, i%100*3+i/100); s.Rule.ID != want {
			t.Fatalf("step %d is %s, not %s", i, s.Rule.ID, want)
		}
	}
}

// Where no rule decides it is the set's default, in every strategy; and the trace says so.
func TestDefaults(t *testing.T) {
	never := Rule{ID: "never", Effect: Allow, Domain: "exec", When: Predicate{Any: []Predicate{}}}
	for _, s := range []Strategy{PriorityFirst, DenyOverrides, CategoryFirst, MostSpecific, AllViolations} {
		for _, def := range []Effect{Deny, Ask, Allow} {
			set := &Set{Strategy: s, Default: def, Policies: []Policy{{Default: def}}, Rules: []Rule{never}}
			out := set.Decide(&Call{Tool: "Bash", Input: NewObject(Member{"command", Text("ls")})}, Options{Trace: true})
			if out.Effect != def || out.Rule != nil || out.Code != "" {
				t.Errorf("%s, default %s: %+v", s, def, out)
			}
			if want := string(def) + ": no rule decides, so the default"; out.Trace.Resolution != want {
				t.Errorf("%s: %q", s, out.Trace.Resolution)
			}
		}
	}
	if out := (&Set{Name: "s"}).Decide(&Call{Tool: "x"}, Options{}); out.Effect != Deny || !strings.Contains(out.Reason, "has no strategy") {
		t.Errorf("a set without a strategy: %+v", out)
	}
}

// The trace's last word, of what no rule decides by a code.
func TestResolutionOfACode(t *testing.T) {
	out := (&Set{Strategy: DenyOverrides}).Decide(&Call{Tool: "x"}, Options{Trace: true})
	if out.Trace.Resolution != "deny: NO_POLICIES" {
		t.Errorf("%q", out.Trace.Resolution)
	}
}
