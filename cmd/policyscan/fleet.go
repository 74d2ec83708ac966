package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/fleet"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
	"github.com/policyscan/policyscan/verdict/shard"
	"github.com/policyscan/policyscan/verdict/summary"
)

type fleetCmd struct {
	List string `arg:"" optional:"" help:"@fleet_list"`

	Repos  string   `placeholder:"FILE" help:"The same as the argument."`
	Policy []string `placeholder:"DIR" sep:"none" help:"@fleet_policy"`
	pinFlag
	OwnPolicy bool  `help:"@fleet_own_policy"`
	Expect    int64 `placeholder:"N" help:"Do not pass if there are fewer repositories."`

	Shard string `placeholder:"I/N" help:"@fleet_shard"`
	Defer bool   `help:"With --shard: exit with 0 if all of it was decided, with or without violations."`

	Output string   `placeholder:"DIR" default:"policyscan-fleet" help:"@fleet_output"`
	Report []string `placeholder:"FORMAT" sep:"none" help:"@fleet_report"`
	Quiet  bool     `short:"q" help:"Print only the reports of --report; errors still go to standard error."`

	Allow           []string      `placeholder:"REASON" sep:"none" help:"@fleet_allow"`
	RequireGoverned bool          `help:"Do not pass a repository of which no rule selects any file."`
	MaxFileBytes    int64         `placeholder:"N" help:"Do not pass if a file covered by a rule is longer."`
	Timeout         time.Duration `placeholder:"D" help:"Stop, undecided, after this time, such as 2h."`
	AsOf            string        `placeholder:"DATE" help:"@scan_as_of"`
	reuseFlag
	colorFlag
	Workers int64 `placeholder:"N" help:"Repositories at a time. Default: as many as processors."`
}

type fleetRun struct {
	*fleetCmd
	std     streams
	began   time.Time
	outputs output.Fleet
	summary *summary.Fleet
	policy  string // the bundles, as given on the command line
	of      shard.Split
	stopped bool // by an error, before the scan
	reuse   *check.Reuse
}

func (c *fleetCmd) Run(std streams) error {
	std.color = c.Color
	r, err := c.prepareOutputs(std, time.Now())
	if err == nil {
		r.of, err = parseShard(c.Shard, c.Defer, c.Report, c.Output, "directory")
	}
	if err != nil {
		invalidateFleet(c.Output, true)
		return err
	}
	if r.of.Count > 0 {
		r.outputs.Begun = func(f *summary.Fleet) output.Document { return r.part(shard.InProgress, f) }
	}
	if err := r.outputs.Begin(r.summary); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	r.scan(ctx)
	if r.of.Count > 0 {
		return r.endPart(ctx, caught)
	}
	return r.end(caught)
}

// prepareOutputs returns the run, whose outputs have not begun.
func (c *fleetCmd) prepareOutputs(std streams, began time.Time) (*fleetRun, error) {
	r := &fleetRun{fleetCmd: c, std: std, began: began, summary: summary.New(version())}
	tracks := gitEnvironment().Tracks
	reports, err := output.ReportsOf(report.FleetFormats(r.summary), c.Report, tracks)
	r.outputs = output.Fleet{Output: c.Output, Reports: reports, Tracks: tracks, Stdout: std.out, Show: r.show}
	return r, err
}

func (r *fleetRun) end(caught func() int) error {
	failed := r.outputs.End(caught)
	return ended(statusOf(r.summary.Totals.Places, r.summary.Verdict), caught, failed)
}

// scan scans all repositories into the summary. An error that prevents it is in the summary, too.
func (r *fleetRun) scan(ctx context.Context) {
	f := &fleet.Run{Own: r.OwnPolicy, Workers: int(r.Workers), Shard: r.of}
	f.Keep = func(e fleet.Entry, v *verdict.Verdict) (string, error) { return r.outputs.Keep(e.Name, v) }
	wrong, err := r.prepare(ctx, f)
	*r.summary = *f.Start()
	if err != nil {
		wrong = append(wrong, run.Errors(err)...)
		if mistakes := fleet.Mistakes(err); mistakes != nil {
			wrong = mistakes
		}
	}
	r.summary.Errors = wrong
	if err != nil {
		r.stopped = true
		return
	}
	own := len(f.Owned())
	defer watching(r.std.err, r.Quiet, func() string {
		done, failed, undecided := f.Progress()
		return fmt.Sprintf("scanning: %d of %d repositories, %d failed, %d undecided", done, own, failed, undecided)
	})()
	defer closeReuse(r.reuse)
	// Collect garbage sooner when memory exceeds the needs of a fleet: 64 MiB, and 4 KiB per row of the summary. Large
	// YAML files would double it otherwise. GOMEMLIMIT takes precedence.
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(64<<20 + 4<<10*int64(len(f.Entries)))
	}
	f.Scan(ctx, r.summary)
}

// prepare applies the flags. wrong are missing settings without which the run can go on.
func (r *fleetRun) prepare(ctx context.Context, f *fleet.Run) (wrong []verdict.Error, err error) {
	f.Options = run.Options{
		Version: version(), AsOf: r.AsOf, Now: time.Now(), RequireGoverned: r.RequireGoverned,
		MaxFileBytes: r.MaxFileBytes,
	}
	names, missing := eachLine(r.Policy), r.missingList()
	switch {
	case r.List != "" && r.Repos != "":
		return nil, errors.New("a list and --repos are both given; choose one")
	case r.List == "" && r.Repos == "":
		return nil, errors.New("no repository is named; give FILE, a list of them, or DIR, which has them")
	case len(names) == 0 && !r.OwnPolicy:
		if missing != nil {
			wrong = run.Errors(missing)
		}
		const none = "no bundle is named; give --policy DIR, or --own-policy for the one in each repository"
		return wrong, errors.New(none)
	case missing != nil:
		return nil, missing
	case r.Expect < 0:
		return nil, fmt.Errorf("--expect is %d; give a number of repositories", r.Expect)
	case r.Workers < 0:
		return nil, fmt.Errorf("--workers is %d; give a number of repositories, or 0 for one for each processor",
			r.Workers)
	}
	if err := checkLimits(r.MaxFileBytes, r.Timeout); err != nil {
		return nil, err
	}
	if _, _, err = run.ParseDay(r.AsOf, f.Options.Now); err != nil {
		return nil, err
	}
	if f.Options.Allow, _, err = run.ParseAllow(r.Allow); err != nil {
		return nil, err
	}
	f.Options.Allow = slices.Compact(slices.Sorted(slices.Values(f.Options.Allow)))
	if f.Options.Pins, err = r.pins(len(names)); err != nil {
		return nil, err
	}
	all, err := run.LoadRules(names, "")
	r.policy = all.String()
	if err != nil {
		return nil, err
	}
	f.Policies = all
	if err := f.Options.Pins.Check(f.Policies.Bundles()); err != nil {
		return nil, err
	}
	if r.reuse, err = r.open(); err != nil {
		return nil, err
	}
	f.Reuse = r.reuse
	f.Entries, wrong, err = r.entries(ctx)
	if n := int64(len(f.Entries)); err == nil && n > 0 && n < r.Expect {
		const few = "there are %d repositories, but --expect is %d; find the others, or lower --expect"
		wrong = append(wrong, verdict.Error{Code: code.List, Message: fmt.Sprintf(few, n, r.Expect)})
	}
	if err == nil && len(f.Entries) == 0 {
		err = &verdict.Error{Code: code.Empty, Message: "there is no repository to scan; check the list or directory"}
	}
	return wrong, err
}

// missingList returns an error if the list or directory does not exist.
func (r *fleetRun) missingList() error {
	name := cmp.Or(r.List, r.Repos)
	if _, err := os.Stat(name); name == "" || name == "-" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("the list %s does not exist; give FILE, a list of repositories, or DIR, which has them",
		quoted(name))
}

// entries returns the repositories of the argument or --repos.
func (r *fleetRun) entries(ctx context.Context) (all []fleet.Entry, wrong []verdict.Error, err error) {
	name := cmp.Or(r.List, r.Repos)
	if name != "-" {
		if st, err := os.Stat(name); err == nil && st.IsDir() {
			return fleet.Find(name)
		}
	}
	text, err := readNamed(ctx, name, r.std.in)
	if err != nil {
		return nil, nil, fmt.Errorf("the list %s cannot be read: %w", quoted(name), err)
	}
	dir := ""
	if name != "-" {
		dir = filepath.Dir(name)
	}
	all, err = fleet.Parse(text, dir)
	return all, nil, err
}

func (r *fleetRun) show() error {
	w := r.std.out
	if r.outputs.Printed() {
		w = r.std.err
	}
	if r.Quiet || r.of.Count > 0 && r.stopped {
		printErrorsOf(r.std, r.summary.Errors, "")
		return nil
	}
	o := r.std.textOptions(w)
	o.Policy, o.Elapsed, o.Notes = r.policy, time.Since(r.began), notesOnReuse(r.reuse)
	if r.Output != "none" {
		o.Root = filepath.ToSlash(filepath.Clean(r.Output))
	}
	var text bytes.Buffer
	if err := report.WriteFleetText(&text, r.summary, o); err != nil {
		return err
	}
	if r.of.Count > 0 {
		fmt.Fprintf(&text, "Shard %s, not a verdict yet: run policyscan merge on all %d shards.\n", r.of,
			r.of.Count)
	}
	_, err := w.Write(text.Bytes())
	return err
}
