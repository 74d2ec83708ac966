package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// A listedChoice is what the globs of a rule say of a path, as policyscan list --for prints it. Its lists are never
// null.
type listedChoice struct {
	Selects        bool     `json:"selects"`         // the content of the file is checked
	Files          []string `json:"files"`           // the globs of the rule that match
	ForbiddenFiles []string `json:"forbidden_files"` // likewise
	RequiredFiles  []string `json:"required_files"`  // likewise
	Exclude        string   `json:"exclude"`         // the glob that excludes it; "": none
	FileExclude    string   `json:"file_exclude"`    // likewise, of the rule file
}

func listedChoiceOf(c *rules.Choice) *listedChoice {
	return &listedChoice{
		Selects: c.Selects(), Files: verdict.OrEmpty(c.Files), ForbiddenFiles: verdict.OrEmpty(c.Forbidden),
		RequiredFiles: verdict.OrEmpty(c.Required), Exclude: c.Exclude, FileExclude: c.FileExclude,
	}
}

// listingFor returns the enforced rules that look at a path, or would but for an exclude, and why, in the order of
// evaluation.
func listingFor(ps run.RuleSources, path string) (all []listedRule, why [][]string) {
	all = []listedRule{}
	for _, t := range []rules.Type{rules.Boundary, rules.Invariant} {
		for i := range ps {
			for k := range ps[i].Bundle.Rules {
				r := &ps[i].Bundle.Rules[k]
				choice := r.Choose(path)
				if r.Type != t || !choice.Looks() {
					continue
				}
				one := listed(r, string(t), ps[i].Name)
				one.For = listedChoiceOf(&choice)
				all, why = append(all, one), append(why, choice.Reasons(r))
			}
		}
	}
	return all, why
}

// printFor prints the rules that look at a path.
func (c *listCmd) printFor(std streams, ps run.RuleSources) error {
	path, err := tree.CleanPath(c.For)
	if err != nil {
		return fmt.Errorf("--for: %w", err)
	}
	all, why := listingFor(ps, path)
	giveAllowances(all, ps, path)
	if c.JSON {
		text, err := verdict.JSON(all)
		if err == nil {
			_, err = std.out.Write(text)
		}
		return err
	}
	if len(all) == 0 {
		return print(std.out, "no rule looks at %s\n", safe(path))
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) } // Flush has the error
	row("ID", "TYPE", "BUNDLE", "WHY")
	for i, r := range all {
		for _, a := range r.Allowed {
			why[i] = append(why[i], a.String())
		}
		row(safe(r.ID), r.Type, safe(r.Bundle), safe(strings.Join(why[i], "; ")))
	}
	return w.Flush()
}
