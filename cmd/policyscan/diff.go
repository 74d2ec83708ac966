package main

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/policydiff"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
)

type diffCmd struct {
	Old string `arg:"" help:"@diff_bundle"`
	New string `arg:"" help:"The bundle after the change, named in the same way."`

	Report []string `placeholder:"FORMAT" sep:"none" help:"@diff_report"`
	FailOn string   `enum:"never,weaker,unknown" default:"never" placeholder:"EFFECT" help:"@diff_fail_on"`
	colorFlag
}

// Run compares two bundles.
func (c *diffCmd) Run(std streams) error {
	std.color = c.Color
	d := &verdict.PolicyDiff{SchemaVersion: "1", Tool: verdict.New(version()).Tool}
	tracks := gitEnvironment().Tracks
	reports, err := output.ReportsOf(report.DiffFormats(d), c.Report, tracks)
	if err == nil {
		compare := func() (*verdict.Verdict, error) { return nil, c.compare(d) }
		err = output.Rewrite(reports, c.Old, tracks, compare, std.out)
	}
	if err == nil && len(c.Report) == 0 {
		err = report.WriteDiffText(std.out, d, std.textOptions(std.out))
	}
	if err == nil && slices.ContainsFunc(d.Changes, c.fails) {
		return exitError{status: exitViolation}
	}
	return err
}

func (c *diffCmd) fails(ch verdict.PolicyChange) bool {
	return c.FailOn != "never" && ch.Weakens() || c.FailOn == "unknown" && ch.Effect == verdict.Unknown
}

func (c *diffCmd) compare(d *verdict.PolicyDiff) error {
	old, err := run.LoadCompared(c.Old, gitEnvironment())
	if err != nil {
		return err
	}
	now, err := run.LoadCompared(c.New, gitEnvironment())
	if err != nil {
		return err
	}
	for _, g := range now.Bundle.Bundles {
		if !slices.Contains(old.Bundle.Bundles, g) {
			d.BundlesAdded = append(d.BundlesAdded, g)
		}
	}
	for _, g := range old.Bundle.Bundles {
		if !slices.Contains(now.Bundle.Bundles, g) {
			return fmt.Errorf("\"bundles\" of the new bundle no longer has %q, and which rules are lost depends on "+
				"the tree; policyscan --diff-base of the repository lists them", g)
		}
	}
	d.Before = run.NewRuleSet(run.RuleSources{old}).Policies[0]
	d.After = run.NewRuleSet(run.RuleSources{now}).Policies[0]
	d.Changes = append(policydiff.Rules([]*rules.Bundle{old.Bundle}, []*rules.Bundle{now.Bundle}),
		allowance.PolicyChanges(old.Bundle.Allowances, now.Bundle.Allowances)...)
	return nil
}
