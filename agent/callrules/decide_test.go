package callrules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
)

// 0-02: rules of one priority keep the order of their files, however many they are: a sort that is stable for twelve
// by accident is not for a hundred.
func TestRow_0_02_ManyTies(t *testing.T) {
	set := &Set{Strategy: PriorityFirst, Default: Allow}
	for i := range 300 {
		set.Rules = append(set.Rules, Rule{ID: fmt.Sprintf("%d.%03d", 2-i%3, i), Effect: Log, Priority: -(i % 3),
			When: Predicate{Any: []Predicate{}}})
	}
	out := set.Decide(&call.Call{Tool: "x"}, Options{Trace: true})
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
			out := set.Decide(&call.Call{Tool: "Bash",
				Input: call.NewObject(call.Member{Name: "command", Value: call.Text("ls")})}, Options{Trace: true})
			if out.Effect != def || out.Rule != nil || out.Code != "" {
				t.Errorf("%s, default %s: %+v", s, def, out)
			}
			if want := string(def) + ": no rule decides, so the default"; out.Trace.Resolution != want {
				t.Errorf("%s: %q", s, out.Trace.Resolution)
			}
		}
	}
	if out := (&Set{Name: "s"}).Decide(&call.Call{Tool: "x"}, Options{}); out.Effect != Deny ||
		!strings.Contains(out.Reason, "has no strategy") {
		t.Errorf("a set without a strategy: %+v", out)
	}
}

// The trace's last word, of what no rule decides by a code.
func TestResolutionOfACode(t *testing.T) {
	out := (&Set{Strategy: DenyOverrides}).Decide(&call.Call{Tool: "x"}, Options{Trace: true})
	if out.Trace.Resolution != "deny: NO_POLICIES" {
		t.Errorf("%q", out.Trace.Resolution)
	}
}

func TestRow_1_06_Codes(t *testing.T) {
	// "Stable code on denies that aren't from a regular rule match."
	got := []string{codeFrozen, CodeNoPolicies, CodeCompile, codeTimeout}
	if want := []string{"AGENT_FROZEN", "NO_POLICIES", "POLICY_COMPILE_ERROR", "EVAL_TIMEOUT"}; !slices.Equal(got,
		want) {
		t.Errorf("got %v", got)
	}
}

// TestStrategies: which rule decides, and what is said then. Of every rule the trace has a step.
func TestStrategies(t *testing.T) {
	deny, ask, allow := Rule{ID: "d", Effect: Deny}, Rule{ID: "k", Effect: Ask, Reason: "why"}, Rule{ID: "a",
		Effect: Allow}
	never := Rule{ID: "n", Effect: Deny, When: Predicate{Any: []Predicate{}}}
	in := func(policy int, r Rule) Rule { r.Policy = policy; return r }
	one, two := []Policy{{ID: "p", Default: Allow}}, []Policy{{ID: "p", Default: Deny}, {ID: "q", Default: Allow}}
	broken := []Policy{{ID: "p"}, {ID: "q", Broken: "it is"}}
	const late, compile = "evaluation exceeded wall-clock budget — failing closed", "policy contains a regex " +
		"pattern that failed to compile — failing closed: policy q, it is"
	for _, c := range []struct {
		set  Set
		call call.Call
		want string // effect, code, policy and rule: reason
	}{
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow}, Frozen: []string{"X"}},
			call.Call{Agent: "x"}, "deny AGENT_FROZEN - -: agent frozen by operator"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow}, Frozen: []string{"X"}},
			call.Call{Request: call.NewObject(call.Member{Name: "agent_id", Value: call.Text("x")})},
			"deny AGENT_FROZEN - -: agent frozen by operator"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow}, Frozen: []string{"X"}}, call.Call{},
			"allow - p a: "},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{allow, deny, allow}}, call.Call{},
			"deny - p d: denied by rule d"},
		{Set{Strategy: DenyOverrides, Policies: two, Rules: []Rule{allow, in(1, never), in(1, deny)}}, call.Call{},
			"deny - q d: denied by rule d"},
		{Set{Strategy: DenyOverrides, Policies: two, Rules: []Rule{in(1, allow), in(1, never)}}, call.Call{},
			"allow - q a: "},
		{Set{Strategy: DenyOverrides, Policies: two, Rules: []Rule{never, in(1, never)}}, call.Call{},
			"deny - - -: no rule matches; default of the first policy: deny"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never}}, call.Call{}, "allow - - -: "},
		{Set{Strategy: DenyOverrides, Policies: broken, Rules: []Rule{allow, in(1, allow)}}, call.Call{},
			"deny POLICY_COMPILE_ERROR q -: " + compile},
		// A look at the clock takes a second.
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never, never, deny}, Budget: 2 * time.Second},
			call.Call{}, "deny EVAL_TIMEOUT - -: " + late},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never, never, deny}, Budget: 3 * time.Second},
			call.Call{}, "deny - p d: denied by rule d"},
		{Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{never, never, deny}}, call.Call{},
			"deny - p d: denied by rule d"},

		{Set{Strategy: CategoryFirst, Rules: []Rule{ask, allow, deny, deny}}, call.Call{},
			"deny - - d: Denied by rule: d"},
		{Set{Strategy: CategoryFirst, Rules: []Rule{ask, never, allow}}, call.Call{},
			"allow - - a: Allowed by rule: a"},
		{Set{Strategy: CategoryFirst, Rules: []Rule{never, ask}}, call.Call{}, "ask - - k: why"},
		{Set{Strategy: CategoryFirst, Rules: []Rule{never}, Default: Ask}, call.Call{},
			"ask - - -: No matching rule; default action: ask"},

		{Set{Strategy: AllViolations, Rules: []Rule{allow, ask, never, deny}}, call.Call{}, "deny - - d: why; d"},
		{Set{Strategy: AllViolations, Rules: []Rule{deny, {ID: "f", Effect: Force}}}, call.Call{}, "deny - - d: d; f"},
		{Set{Strategy: AllViolations, Rules: []Rule{never, allow}, Default: Deny}, call.Call{}, "allow - - a: a"},
		{Set{Strategy: AllViolations, Rules: []Rule{never}, Default: Deny}, call.Call{},
			"deny - - -: no rule matches; default: deny"},
		{Set{Strategy: AllViolations, Rules: []Rule{never}, Default: Allow}, call.Call{}, "allow - - -: "},
	} {
		var now time.Time
		clock := func() time.Time { now = now.Add(time.Second); return now }
		for _, o := range []Options{{Clock: clock}, {Clock: clock, Trace: true}} {
			out := c.set.Decide(&c.call, o)
			policy, rule := "-", "-"
			if out.Policy != nil {
				policy = out.Policy.ID
			}
			if out.Rule != nil {
				rule = out.Rule.ID
			}
			if got := fmt.Sprintf("%s %s %s %s: %s", out.Effect, cmp.Or(out.Code, "-"), policy, rule,
				out.Reason); got != c.want {
				t.Errorf("%s of %+v: got %q, want %q", c.set.Strategy, c.set.Rules, got, c.want)
			}
			if o.Trace && len(out.Trace.Steps) != len(c.set.Rules) {
				t.Errorf("%s of %+v: %d steps", c.set.Strategy, c.set.Rules, len(out.Trace.Steps))
			}
		}
	}
	slow := Set{Strategy: DenyOverrides, Policies: one, Rules: []Rule{deny}, Budget: time.Nanosecond}
	if out := slow.Decide(&call.Call{}, Options{}); out.Rule == nil {
		t.Errorf("without a clock there is no budget: %+v", out)
	}
}

// TestWhyNot: what a trace says of a rule that did not match.
func TestWhyNot(t *testing.T) {
	for _, c := range []struct {
		when Predicate
		want string
	}{
		{Predicate{Test: &Test{Op: Equals, Text: "Bash", Shown: "tool is Bash"}}, "tool is Bash does not hold"},
		{Predicate{Test: &Test{Op: Matches, Broken: "it does not compile", Shown: "tool is like ("}},
			"tool is like ( cannot be asked: it does not compile"},
		{Predicate{Any: []Predicate{}}, "it asks for nothing that exists"},
	} {
		set := &Set{Strategy: AllViolations, Rules: []Rule{{Effect: Deny, When: c.when}}}
		if got := set.Decide(&call.Call{Tool: "Read"}, Options{Trace: true}).Trace.Steps[0].Why; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
