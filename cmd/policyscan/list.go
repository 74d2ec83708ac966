package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/scope"
	"github.com/policyscan/policyscan/verdict"
)

// listCmd prints the rules of a bundle.
type listCmd struct {
	bundleArg `embed:""`
	JSON      bool `name:"json" help:"Print JSON, with every field of each rule."`
}

// listed is a rule as list --json prints it.
type listed struct {
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
	Examples    []sample `json:"examples"`
	Bundle      string   `json:"bundle"`
	File        string   `json:"file"` // the rule file in the bundle
	Line        int      `json:"line"` // 1-based
}

// sample is a rule's example.
type sample struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Violates bool   `json:"violates"`
}

// Run prints the rules in order of evaluation, the deprecated ones last.
func (c *listCmd) Run(std streams) error {
	policies, err := c.load()
	if err != nil {
		return err
	}
	all := []listed{}
	add := func(p *scope.Policy, r *rules.Rule, kind string) {
		samples := []sample{}
		for _, x := range r.Examples {
			samples = append(samples, sample{x.Path, x.Content, x.Violates})
		}
		all = append(all, listed{
			r.ID, kind, r.Title, r.Severity, r.Owner, verdict.OrEmpty(r.Tags), verdict.OrEmpty(r.Files),
			verdict.OrEmpty(r.Exclude), verdict.OrEmpty(r.Patterns),
			r.Message, r.Remediation, r.DocsURL, r.Redact, samples, p.Name, r.File, r.Line,
		})
	}
	for _, t := range []rules.Type{rules.Boundary, rules.Invariant} {
		for i := range policies {
			for k := range policies[i].Bundle.Rules {
				if r := &policies[i].Bundle.Rules[k]; r.Type == t {
					add(&policies[i], r, string(t))
				}
			}
		}
	}
	for i := range policies {
		for k := range policies[i].Bundle.Deprecated {
			add(&policies[i], &policies[i].Bundle.Deprecated[k], "deprecated")
		}
	}
	if c.JSON {
		text, err := verdict.JSON(all)
		if err == nil {
			_, err = std.out.Write(text)
		}
		return err
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) } // Flush has the error
	row("ID", "TYPE", "SEVERITY", "OWNER", "TITLE")
	for _, r := range all {
		row(safe(r.ID), r.Type, dash(r.Severity), dash(safe(r.Owner)), safe(r.Title))
	}
	return w.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
