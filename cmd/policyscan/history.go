package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/policyscan/policyscan/scanner/past"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
)

type historyCmd struct {
	Repos []string `arg:"" optional:"" name:"repo" help:"@history_repo"`

	Policy []string `placeholder:"DIR" sep:"none" help:"@history_policy"`
	pinFlag
	Since  string `placeholder:"DATE|REF" help:"@history_since"`
	Branch string `placeholder:"REF" help:"@history_branch"`

	Report []string `placeholder:"FORMAT" sep:"none" help:"@history_report"`
	Quiet  bool     `short:"q" help:"Print only the reports of --report; errors still go to standard error."`

	Allow   []string      `placeholder:"REASON" sep:"none" help:"@fleet_allow"`
	Timeout time.Duration `placeholder:"D" help:"Stop, undecided, after this time, such as 10m."`
	colorFlag
}

func (c *historyCmd) Run(std streams) error {
	std.color = c.Color
	judge, err := c.prepare()
	h := judge.End() // so far
	tracks := gitEnvironment().Tracks
	reports, reportsErr := output.ReportsOf(report.HistoryFormats(h), c.Report, tracks)
	if reportsErr != nil {
		return errors.Join(err, reportsErr)
	}
	out := output.Summary{
		Reports: reports, Tracks: tracks, Stdout: std.out,
		Passes: func() bool { return h.Verdict == verdict.Pass },
		Fail: func(lost verdict.Error) {
			h.Errors = []verdict.Error{lost}
			h.Decide()
		},
	}
	began := time.Now()
	out.Show = func() error {
		w := std.out
		if slices.ContainsFunc(reports, output.Report.Prints) {
			w = std.err
		}
		if c.Quiet {
			printErrorsOf(std, h.Failures(), "")
			return nil
		}
		o := std.textOptions(w)
		o.Elapsed = time.Since(began)
		return report.WriteHistoryText(w, h, o)
	}
	if beginErr := out.Begin(); err != nil || beginErr != nil {
		return errors.Join(err, beginErr)
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	c.judge(ctx, std, judge)
	judge.End()
	return ended(statusOf(h.Totals.Refused, h.Verdict), caught, out.End(caught))
}

// prepare applies the flags. The judge is never nil.
func (c *historyCmd) prepare() (*past.Judge, error) {
	o := past.Options{Run: newOptions(), Since: c.Since, Branch: c.Branch, Several: len(c.Repos) > 1}
	names := eachLine(c.Policy)
	err := checkLimits(0, c.Timeout)
	if err == nil {
		o.Run.Allow, _, err = run.ParseAllow(c.Allow)
		o.Run.Allow = slices.Compact(slices.Sorted(slices.Values(o.Run.Allow)))
	}
	if err == nil {
		o.Run.Pins, err = c.pins(max(len(names), 1))
	}
	if err == nil && len(names) > 0 {
		var bundles run.RuleSources
		if bundles, err = run.LoadRules(names, ""); err == nil {
			o.Bundles, err = bundles, o.Run.Pins.Check(bundles.Bundles())
		}
	}
	return past.New(o), err
}

// judge judges each repository, or the one around the current directory.
func (c *historyCmd) judge(ctx context.Context, std streams, j *past.Judge) {
	names, open := c.Repos, repo.At
	if len(names) == 0 {
		names, open = []string{"."}, func(string) (*repo.Repository, error) { return gitEnvironment().Open("") }
	}
	for i, name := range names {
		stop := watching(std.err, c.Quiet, func() string {
			done, all := j.Progress()
			return fmt.Sprintf("%s, %d of %d: %d of %d steps", safe(name), i+1, len(names), done, all)
		})
		j.Add(ctx, name, open)
		stop()
	}
}
