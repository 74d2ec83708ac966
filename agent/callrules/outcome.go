package callrules

import (
	"fmt"
	"strings"
)

// The codes of outcomes that are denied and that no rule decided.
const (
	codeFrozen     = "AGENT_FROZEN"
	codeServer     = "MCP_SERVER_NOT_APPROVED"
	CodeNoPolicies = "NO_POLICIES"
	CodeCompile    = "POLICY_COMPILE_ERROR"
	codeTimeout    = "EVAL_TIMEOUT"
)

// An Outcome is a set's result for a call.
type Outcome struct {
	Effect   Effect
	Decision string // the effect in the words of the dialect
	Code     string // one of the Code constants, or ""
	Reason   string // for display; may be empty if the call goes on

	Set    *Set    // that decided
	Rule   *Rule   // that decided; nil if none did
	Policy *Policy // the deciding policy of DenyOverrides; may be set without a rule

	asksUser bool // the tool itself asks the user, so a hook must not answer for them

	Trace *Trace // with Options.Trace
}

// Explicit reports whether a rule allows the call: not a default, no rule that only notes it, and of MostSpecific not
// a tool that asks the user.
func (o *Outcome) Explicit() bool { return o.Rule != nil && o.Effect == Allow && !o.asksUser }

// A Trace tells how a decision came about.
type Trace struct {
	Steps []Step // the rules in the order of evaluation
	// Resolution says how the steps became the effect.
	Resolution string
}

// A Step is a rule that was looked at, or was not, and why.
type Step struct {
	Rule    *Rule
	Matched bool

	// Why is the reason that a rule did not match or was not evaluated. For a match it names the command, if known.
	Why string
	Of  string // the command that Why is about, a text of the call; or ""
}

// Reason is Why with the command.
func (s *Step) Reason() string {
	if s.Of == "" {
		return s.Why
	}
	return s.Why + ": " + s.Of
}

// Strictest returns the strictest of several outcomes for one call: the first deny, else the first ask, else the
// first that a rule decided, else the first. Without outcomes it is the zero Outcome.
func Strictest(outcomes []Outcome) Outcome {
	var best Outcome
	for i, o := range outcomes {
		stricter := o.Effect.Rank() > best.Effect.Rank()
		allowed := o.Effect.Rank() == 0 && best.Effect.Rank() == 0
		firstRule := allowed && best.Rule == nil && o.Rule != nil
		if i == 0 || stricter || firstRule {
			best = o
		}
	}
	return best
}

// Summary tells how many rules the set has, and of which effects, in the words of its dialect: "12 rules:
// 3 deny, 6 allow, 3 escalate". Rules that their file disables are counted and reported.
func (s *Set) Summary() string {
	count := map[Effect]int{}
	disabled := 0
	for i := range s.Rules {
		count[s.Rules[i].Effect]++
		if s.Rules[i].Disabled {
			disabled++
		}
	}
	var parts []string
	for _, e := range []Effect{Deny, Force, Allow, Ask, Log, Shadow} {
		if count[e] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[e], s.Word(e)))
		}
	}
	text := fmt.Sprintf("%d rules: %s", len(s.Rules), strings.Join(parts, ", "))
	switch len(s.Rules) {
	case 0:
		text = "no rules"
	case 1:
		text = "1 rule: " + strings.Join(parts, ", ")
	}
	if disabled > 0 {
		text += fmt.Sprintf("; %d of them not enabled", disabled)
	}
	return text
}
