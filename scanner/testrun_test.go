package scanner

import (
	"context"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// testOptions are what a test sets of a run. The zero value is an ordinary one.
type testOptions struct {
	Version         string
	Rules           []string
	Allow           []string
	AllowLink       func(string) bool
	Excluded        []string
	Exclude         func(string) bool
	Day             string
	Earlier         bool
	Starts          [][]rules.Allowance
	LeaveOut        map[string]string
	RequireGoverned bool
	MaxFileBytes    int64
	Workers         int
}

// run returns a run of a tree by some bundles.
func (o testOptions) run(sources []run.RuleSource, t tree.Tree) *run.Run {
	r := &run.Run{
		Options: run.Options{
			Version: o.Version, RuleIDs: o.Rules, Allow: o.Allow, Exclude: o.Excluded,
			RequireGoverned: o.RequireGoverned, MaxFileBytes: o.MaxFileBytes, Workers: o.Workers,
		},
		Sources: sources, Rules: run.NewRuleSet(sources), Limiter: check.NewParseLimiter(), Tree: t,
		BaselineAllowances: o.Starts, AllowsLink: o.AllowLink, Excludes: o.Exclude, Day: o.Day, Backdated: o.Earlier,
		Skip: o.LeaveOut,
	}
	r.Plans = check.NewPlanCache(r.Rules.Bundle)
	return r
}

// one is the source of a bundle on disk.
func one(b *rules.Bundle) []run.RuleSource { return []run.RuleSource{{From: "disk", Bundle: b}} }

// scanWith scans a tree by one bundle.
func scanWith(ctx context.Context, b *rules.Bundle, t tree.Tree, o testOptions) *verdict.Verdict {
	return Scan(ctx, o.run(one(b), t), nil)
}
