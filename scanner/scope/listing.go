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
	Patterns    []Item   `json:"patterns"`
	Message     string   `json:"message"`
	Remediation string   `json:"remediation"`
	DocsURL     string   `json:"docs_url"`
	Redact      bool     `json:"redact"`
	Examples    []Sample `json:"examples"`
	Bundle      string   `json:"bundle"`
	File        string   `json:"file"` // the rule file in the bundle
	Line        int      `json:"line"` // 1-based

	// What only a 0.2 bundle can have is left out where there is none.
	FileExclude      []string `json:"file_exclude,omitempty"` // of the rule file
	PathCase         string   `json:"path_case,omitempty"`
	RequiredPatterns []Item   `json:"required_patterns,omitempty"`
	ForbiddenFiles   []string `json:"forbidden_files,omitempty"`
	RequiredFiles    []string `json:"required_files,omitempty"`
}

// An Item is a pattern as it can be written: a string, or a mapping.
type Item rules.Item

// MarshalJSON returns the string, or the mapping.
func (i Item) MarshalJSON() ([]byte, error) {
	if item := rules.Item(i); !item.IsPlain() {
		return []byte(item.Name), nil
	}
	return verdict.JSON(i.Text)
}

func items(list []rules.Item) []Item {
	all := []Item{}
	for _, item := range list {
		all = append(all, Item(item))
	}
	return all
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
	pathCase := ""
	if r.PathCase {
		pathCase = "ignore"
	}
	return Listed{
		ID: r.ID, Type: kind, Title: r.Title, Severity: r.Severity, Owner: r.Owner, Tags: verdict.OrEmpty(r.Tags),
		Files: verdict.OrEmpty(r.Files), Exclude: verdict.OrEmpty(r.Exclude), Patterns: items(r.Patterns),
		Message: r.Message, Remediation: r.Remediation, DocsURL: r.DocsURL, Redact: r.Redact, Examples: samples,
		Bundle: bundle, File: r.File, Line: r.Line,
		FileExclude: r.FileExclude, PathCase: pathCase, RequiredPatterns: items(r.Required),
		ForbiddenFiles: r.ForbiddenFiles, RequiredFiles: r.RequiredFiles,
	}
}
