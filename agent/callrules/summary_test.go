package callrules

import "testing"

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
