package scope

import (
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// A Listed rule is a rule as policyscan list --json prints it. Its lists are never null.
type Listed struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"` // "boundary", "invariant" or "deprecated"
	Title       string   `json:"title"`
	Severity    string   `json:"severity"`
	Owner       string   `json:"owner"`
	Tags        []string `json:"tags"`
	Files       []string `json:"files"`
	Exclude     []string `json:"exclude"`
	Patterns    []string `json:"patterns"`
	Message     string   `json:"message"`
	Remediation string   `json:"remediation"`
	DocsURL     string   `json:"docs_url"`
	Redact      bool     `json:"redact"`
	Examples    []Sample `json:"examples"`
	Bundle      string   `json:"bundle"`
	File        string   `json:"file"` // the rule file in the bundle
	Line        int      `json:"line"` // 1-based
}

// A Sample is a rule's example.
type Sample struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Violates bool   `json:"violates"`
}

// Listing returns the rules of the bundles, which are loaded, in order of evaluation, the deprecated ones last.
func (ps Policies) Listing() []Listed {
	all := []Listed{}
	for _, t := range []rules.Type{rules.Boundary, rules.Invariant} {
		for i := range ps {
			for k := range ps[i].Bundle.Rules {
				if r := &ps[i].Bundle.Rules[k]; r.Type == t {
					all = append(all, listed(r, string(t), ps[i].Name))
				}
			}
		}
	}
	for i := range ps {
		for k := range ps[i].Bundle.Deprecated {
			all = append(all, listed(&ps[i].Bundle.Deprecated[k], "deprecated", ps[i].Name))
		}
	}
	return all
}

func listed(r *rules.Rule, kind, bundle string) Listed {
	samples := []Sample{}
	for _, x := range r.Examples {
		samples = append(samples, Sample{x.Path, x.Content, x.Violates})
	}
	return Listed{
		r.ID, kind, r.Title, r.Severity, r.Owner, verdict.OrEmpty(r.Tags), verdict.OrEmpty(r.Files),
		verdict.OrEmpty(r.Exclude), verdict.OrEmpty(rules.Names(r.Patterns)),
		r.Message, r.Remediation, r.DocsURL, r.Redact, samples, bundle, r.File, r.Line,
	}
}
