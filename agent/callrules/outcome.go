package callrules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
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

// A Form is an outcome as it is written in JSON. docs/dialects.md has the names that each dialect's
// document gives its members. What there is not is nil.
type Form struct {
	Decision      string      `json:"decision"`
	Rule          *string     `json:"rule"`
	Policy        *string     `json:"policy"`
	PolicyVersion *int64      `json:"policy_version"`
	Code          *string     `json:"code"`
	Reason        *string     `json:"reason"`
	Trace         []TraceForm `json:"trace,omitempty"`
	LatencyMS     *float64    `json:"latency_ms,omitempty"`
}

// A TraceForm is the trace of one set.
type TraceForm struct {
	File       string     `json:"file"`
	Dialect    string     `json:"dialect"`
	Strategy   Strategy   `json:"strategy"`
	Decision   string     `json:"decision"`
	Matched    []stepForm `json:"matched_rules"`
	Skipped    []stepForm `json:"skipped_rules"`
	Resolution string     `json:"final_resolution"`
}

type stepForm struct {
	Rule    string `json:"rule"`
	Effect  string `json:"effect"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Sandbox string `json:"sandbox,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Form returns the outcome as it is written. traced are the outcomes of all sets, for the traces that they have.
func (o *Outcome) Form(traced []Outcome) Form {
	f := Form{Decision: o.Decision, Code: known(o.Code), Reason: known(o.Reason)}
	if o.Rule != nil {
		f.Rule = &o.Rule.ID
	}
	if o.Policy != nil {
		f.Policy, f.PolicyVersion = &o.Policy.ID, &o.Policy.Version
	}
	for i := range traced {
		if t := &traced[i]; t.Trace != nil {
			f.Trace = append(f.Trace, t.traceForm())
		}
	}
	return f
}

// Line writes an outcome as one line of JSON, with a line feed. Missing values are null. traced is [Outcome.Form]'s;
// latency is left out if it is 0.
func (o *Outcome) Line(traced []Outcome, latency time.Duration) ([]byte, error) {
	f := o.Form(traced)
	if latency > 0 {
		ms := float64(latency.Microseconds()) / 1000
		f.LatencyMS = &ms
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(f)
	return b.Bytes(), err
}

func (o *Outcome) traceForm() TraceForm {
	f := TraceForm{
		File: o.Set.Name, Dialect: o.Set.Dialect, Strategy: o.Set.Strategy, Decision: o.Decision,
		Matched: []stepForm{}, Skipped: []stepForm{}, Resolution: o.Trace.Resolution,
	}
	for _, s := range o.Trace.Steps {
		form := stepForm{
			Rule: s.Rule.ID, Effect: o.Set.Word(s.Rule.Effect), File: s.Rule.Origin.File, Line: s.Rule.Origin.Line,
			Sandbox: s.Rule.Sandbox, Reason: s.Reason(),
		}
		if s.Matched {
			f.Matched = append(f.Matched, form)
		} else {
			f.Skipped = append(f.Skipped, form)
		}
	}
	return f
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
