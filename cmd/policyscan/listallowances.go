package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

// A listedAllowance is an entry of allowances.yml as policyscan list --json prints it, with the rule that it is for.
type listedAllowance struct {
	File    string   `json:"file"`
	AtMost  int      `json:"at_most"`
	Owner   string   `json:"owner"`
	Reason  string   `json:"reason"`
	Until   string   `json:"until"` // "" if it has no end
	From    []string `json:"from"`  // never null
	MayGrow bool     `json:"may_grow"`
	Bundle  string   `json:"bundle"` // whose entry it is
	Line    int      `json:"line"`   // 1-based
}

// String is the entry in a clause.
func (a listedAllowance) String() string {
	text := "allowed at most " + strconv.Itoa(a.AtMost)
	if a.Until != "" {
		text += " until " + a.Until
	}
	return text
}

// giveAllowances adds to each rule the entries for it, in the order of the bundles: those for a path, or with "" all.
func giveAllowances(list []listedRule, ps run.RuleSources, path string) {
	byRule := map[string][]listedAllowance{}
	for i := range ps {
		for _, a := range ps[i].Bundle.Allowances {
			if path != "" && a.File != verdict.Path(path) {
				continue
			}
			byRule[a.Rule] = append(byRule[a.Rule], listedAllowance{
				File: a.File, AtMost: a.AtMost, Owner: a.Owner, Reason: a.Reason, Until: a.Until,
				From: verdict.OrEmpty(a.From), MayGrow: a.MayGrow, Bundle: ps[i].Name, Line: a.Line,
			})
		}
	}
	for i := range list {
		list[i].Allowed = byRule[list[i].ID]
	}
}

// printAllowances prints the entries of the bundles, if they have some, each in the order of its file.
func printAllowances(std streams, ps run.RuleSources) error {
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) } // Flush has the error
	any := false
	for i := range ps {
		for _, a := range ps[i].Bundle.Allowances {
			if !any {
				row("\nALLOWED FOR", "IN", "AT MOST", "UNTIL", "OWNER", "REASON")
				any = true
			}
			row(safe(a.Rule), safe(a.File), atMost(a), cmp.Or(a.Until, "-"), safe(a.Owner), safe(a.Reason))
		}
	}
	return w.Flush()
}

func atMost(a rules.Allowance) string {
	if a.MayGrow {
		return strconv.Itoa(a.AtMost) + " (may grow)"
	}
	return strconv.Itoa(a.AtMost)
}
