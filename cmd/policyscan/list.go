package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/policyscan/policyscan/verdict"
)

// listCmd prints the rules of a bundle.
type listCmd struct {
	bundleArg `embed:""`
	JSON      bool `name:"json" help:"Print JSON, with every field of each rule."`
}

// Run prints the rules in order of evaluation, the deprecated ones last.
func (c *listCmd) Run(std streams) error {
	policies, err := c.load()
	if err != nil {
		return err
	}
	all := policies.Listing()
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
	return w.Flush()
}
