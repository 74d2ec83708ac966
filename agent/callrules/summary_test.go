package callrules

import (
	"testing"

	"github.com/policyscan/policyscan/agent/call"
)

func TestSummary(t *testing.T) {
	rules := func(effects ...Effect) (all []Rule) {
		for _, e := range effects {
			all = append(all, Rule{Effect: e})
		}
		return all
	}
	disabled := rules(Deny, Shadow)
	disabled[1].Disabled = true
	for _, c := range []struct {
		set  Set
		want string
	}{
		{Set{}, "no rules"},
		{Set{Rules: rules(Allow)}, "1 rule: 1 allow"},
		{Set{Rules: rules(Ask, Allow, Deny, Allow), Words: map[Effect]string{Ask: "escalate"}},
			"4 rules: 1 deny, 2 allow, 1 escalate"},
		{Set{Rules: rules(Deny, Force, Log), Words: map[Effect]string{Deny: "block"}},
			"3 rules: 1 block, 1 force, 1 log"},
		{Set{Rules: disabled}, "2 rules: 1 deny, 1 shadow; 1 of them not enabled"},
	} {
		if got := c.set.Summary(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestFallback: it is what the set decides of a call that none of its rules matches.
func TestFallback(t *testing.T) {
	for _, s := range []Set{
		{Strategy: AllViolations, Default: Deny},
		{Strategy: PriorityFirst, Default: Allow},
		{Strategy: CategoryFirst, Default: Ask},
		{Strategy: MostSpecific, Default: Deny},
		{Strategy: DenyOverrides, Default: Allow},
		{Strategy: DenyOverrides, Default: Deny, Policies: []Policy{{ID: "p", Default: Allow}, {ID: "q", Default: Deny}}},
	} {
		if got, want := s.Fallback(), s.Decide(&call.Call{Tool: "x"}, Options{}).Effect; got != want {
			t.Errorf("%s: got %s, want %s", s.Strategy, got, want)
		}
	}
}
