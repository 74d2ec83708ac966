package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

// listCmd prints the rules of a bundle.
type listCmd struct {
	bundleArg `embed:""`
	For       string `placeholder:"PATH" help:"@list_for"`
	JSON      bool   `name:"json" help:"Print JSON, with every field of each rule."`
}

// Run prints the rules in order of evaluation, the deprecated ones last.
func (c *listCmd) Run(std streams) error {
	policies, err := c.load()
	if err != nil {
		return err
	}
	if c.For != "" {
		return c.printFor(std, policies)
	}
	all := listing(policies)
	giveAllowances(all, policies, "")
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
		row(safe(r.ID), r.Type, cmp.Or(r.Severity, "-"), cmp.Or(safe(r.Owner), "-"), safe(r.Title))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return printAllowances(std, policies)
}

// A listedRule is a rule as policyscan list --json prints it. Its lists are never null.
type listedRule struct {
	ID          string          `json:"id"`
	Type        string          `json:"type"` // "boundary", "invariant" or "deprecated"
	Title       string          `json:"title"`
	Severity    string          `json:"severity"`
	Owner       string          `json:"owner"`
	Tags        []string        `json:"tags"`
	Files       []string        `json:"files"`
	Exclude     []string        `json:"exclude"`
	Patterns    []listedItem    `json:"patterns"`
	Message     string          `json:"message"`
	Remediation string          `json:"remediation"`
	DocsURL     string          `json:"docs_url"`
	Redact      bool            `json:"redact"`
	Examples    []listedExample `json:"examples"`
	Bundle      string          `json:"bundle"`
	File        string          `json:"file"` // the rule file in the bundle
	Line        int             `json:"line"` // 1-based

	// What only a 0.2 bundle can have is left out where there is none.
	FileExclude      []string     `json:"file_exclude,omitempty"` // of the rule file
	PathCase         string       `json:"path_case,omitempty"`
	RequiredPatterns []listedItem `json:"required_patterns,omitempty"`
	Unparsable       string       `json:"unparsable,omitempty"`
	ForbiddenFiles   []string     `json:"forbidden_files,omitempty"`
	RequiredFiles    []string     `json:"required_files,omitempty"`

	Allowances string            `json:"allowances,omitempty"` // "never", or nothing
	Allowed    []listedAllowance `json:"allowed,omitempty"`    // the entries of allowances.yml for it

	For *listedChoice `json:"for,omitempty"` // what its globs say of the path of --for
}

// A listedItem is a pattern as it can be written: a string, or a mapping.
type listedItem rules.Item

// MarshalJSON returns the string, or the mapping.
func (i listedItem) MarshalJSON() ([]byte, error) {
	if item := rules.Item(i); !item.IsPlain() {
		return []byte(item.Name), nil
	}
	return verdict.JSON(i.Text)
}

func listedItems(list []rules.Item) []listedItem {
	all := []listedItem{}
	for _, item := range list {
		all = append(all, listedItem(item))
	}
	return all
}

// A listedExample is a rule's example.
type listedExample struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Violates bool   `json:"violates"`
}

// listing returns the rules of the bundles, which are loaded, in order of evaluation, the deprecated ones last.
func listing(ps run.RuleSources) []listedRule {
	all := []listedRule{}
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

func listed(r *rules.Rule, kind, bundle string) listedRule {
	samples := []listedExample{}
	for _, x := range r.Examples {
		samples = append(samples, listedExample{x.Path, x.Content, x.Violates})
	}
	pathCase, unparsable, allowances := "", "", ""
	if r.NeverAllowed {
		allowances = "never"
	}
	if r.PathCase {
		pathCase = "ignore"
	}
	if r.Unparsable {
		unparsable = "text"
	}
	return listedRule{
		ID: r.ID, Type: kind, Title: r.Title, Severity: r.Severity, Owner: r.Owner, Tags: verdict.OrEmpty(r.Tags),
		Files: verdict.OrEmpty(r.Files), Exclude: verdict.OrEmpty(r.Exclude), Patterns: listedItems(r.Patterns),
		Message: r.Message, Remediation: r.Remediation, DocsURL: r.DocsURL, Redact: r.Redact, Examples: samples,
		Bundle: bundle, File: r.File, Line: r.Line,
		FileExclude: r.FileExclude, PathCase: pathCase, Unparsable: unparsable,
		RequiredPatterns: listedItems(r.Required),
		ForbiddenFiles:   r.ForbiddenFiles, RequiredFiles: r.RequiredFiles, Allowances: allowances,
	}
}
