package callrules

import (
	"bytes"
	"encoding/json"
	"time"
)

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
