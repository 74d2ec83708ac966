package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict/report"
)

type allowCmd struct {
	Path string `arg:"" optional:"" help:"@allow_path"`

	From   string `placeholder:"FILE" help:"@allow_from"`
	Owner  string `placeholder:"NAME" help:"With --from: who answers for what is allowed."`
	Reason string `placeholder:"TEXT" help:"With --from: why it is allowed, such as the number of a ticket."`
	Until  string `placeholder:"DATE" help:"With --from: the last day that the new entries count."`
	Raise  bool   `help:"With --from: also raise lower entries, and extend expired ones."`

	Tighten bool     `help:"@allow_tighten"`
	Base    string   `placeholder:"REF" help:"@allow_base"`
	Tracked bool     `help:"With --tighten: count in the files that git tracks, not in all of the directory."`
	Rev     string   `placeholder:"REV" help:"@allow_rev"`
	Allow   []string `placeholder:"REASON" sep:"none" help:"@allow_allow"`

	Due string `placeholder:"DAYS" help:"@allow_due"`

	AsOf   string   `placeholder:"DATE" help:"Check dates as of this day instead of today, in UTC."`
	Policy []string `placeholder:"DIR" sep:"none" help:"@scan_policy"`
	Into   string   `placeholder:"DIR" help:"@allow_into"`
}

// Run adds or tightens allowances, or lists the due ones.
func (c *allowCmd) Run(std streams) error {
	day, _, err := run.ParseDay(c.AsOf, time.Time{})
	if err == nil {
		err = c.check()
	}
	switch {
	case err != nil:
		return err
	case c.Tighten:
		return c.tighten(std)
	case c.Due != "":
		return c.due(std, day)
	}
	return c.add(std, day)
}

// check returns an error for flags that contradict each other.
func (c *allowCmd) check() error {
	modes := setNames(flagUse{"--from", c.From != ""}, flagUse{"--tighten", c.Tighten},
		flagUse{"--due", c.Due != ""})
	ofFrom := setNames(flagUse{"--owner", c.Owner != ""}, flagUse{"--reason", c.Reason != ""},
		flagUse{"--until", c.Until != ""}, flagUse{"--raise", c.Raise})
	ofTighten := setNames(flagUse{"--base", c.Base != ""}, flagUse{"--rev", c.Rev != ""})
	switch {
	case len(modes) == 1 && modes[0] != "--from" && len(ofFrom) > 0:
		return fmt.Errorf("%s is for --from, and %s is given", ofFrom[0], modes[0])
	case len(modes) == 1 && modes[0] != "--tighten" && len(ofTighten) > 0:
		return fmt.Errorf("%s is for --tighten, and %s is given", ofTighten[0], modes[0])
	case len(modes) == 0:
		return errors.New("give --from FILE, --tighten or --due DAYS; see policyscan allow --help")
	case len(modes) > 1:
		return fmt.Errorf("%s are given; choose one", strings.Join(modes, " and "))
	case c.Tracked && c.Rev != "":
		return errors.New("--rev and --tracked are both given; choose one")
	}
	return nil
}

func (c *allowCmd) policies() (run.RuleSources, string, error) {
	place, err := run.Find(c.Path)
	if err != nil {
		return nil, "", err
	}
	all, err := run.LoadRules(policyNames(c.Policy), place.Root)
	return all, place.Root, err
}

func (c *allowCmd) add(std streams, day string) error {
	v, err := decodeVerdict(c.From, std.in)
	if err != nil {
		return fmt.Errorf("the verdict %s cannot be used: %w", quoted(c.From), err)
	}
	all, root, err := c.policies()
	if err != nil {
		return err
	}
	file, err := allowance.Open(all, root, c.Into)
	if err != nil {
		return err
	}
	o, err := file.Add(v, allowance.AddOptions{
		Owner: c.Owner, Reason: c.Reason, Until: c.Until, Raise: c.Raise, Day: day,
	})
	if err != nil {
		return err
	}
	return showOutcome(std, file, &o, "commit it in a separate change (with its rules, if they are new), "+
		"for its owner to review, before any other: a change cannot allow its own violations")
}

// tighten scans, and lowers the entries.
func (c *allowCmd) tighten(std streams) error {
	o := newOptions()
	o.Path, o.Policies, o.Tracked, o.Rev = c.Path, policyNames(c.Policy), c.Tracked, c.Rev
	o.Allow, o.AsOf = c.Allow, c.AsOf
	var err error
	if o.Output, err = o.VerdictFile(); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(0)
	defer stop()
	file, result, err := scanner.Tighten(ctx, o, c.Into, c.Base)
	if sig := caught(); sig != 0 && err != nil {
		return exitError{status: 128 + sig, err: err}
	}
	if err != nil {
		return err
	}
	return showOutcome(std, file, &result, "commit it together with the change that removed or moved what it is about")
}

func showOutcome(std streams, l *allowance.File, o *allowance.EditResult, next string) error {
	var b strings.Builder
	slices.SortStableFunc(o.Changes, func(x, y allowance.Edit) int {
		return cmp.Or(strings.Compare(x.Rule, y.Rule), report.Natural(x.File, y.File))
	})
	for i := range o.Changes {
		ch := &o.Changes[i]
		fmt.Fprintf(&b, "%-8s %s  %s: %s\n", ch.Word, safe(ch.Rule), safe(ch.File), safe(ch.Numbers()))
	}
	for i := range o.Skipped {
		x := &o.Skipped[i]
		at := safe(x.Rule)
		if x.File != "" {
			at += "  " + safe(x.File)
		}
		fmt.Fprintf(&b, "%-8s %s: %s\n", "not done", at, safe(x.Why))
	}
	for _, note := range o.Notes {
		b.WriteString("note: " + safe(note) + "\n")
	}
	name := safe(l.Name)
	switch {
	case o.Deleted:
		fmt.Fprintf(&b, "%s: %s, and deleted the file, which has no entry left\nnext: %s\n", name, o.Summary(), next)
	case len(o.Changes) > 0:
		fmt.Fprintf(&b, "%s: %s\nnext: %s\n", name, o.Summary(), next)
	default:
		fmt.Fprintf(&b, "%s: nothing to change\n", name)
	}
	err := print(std.out, "%s", b.String())
	if len(o.Skipped) > 0 {
		return exitError{status: exitViolation, err: err}
	}
	return err
}

func (c *allowCmd) due(std streams, day string) error {
	days, err := allowance.ParseDays(c.Due)
	if err != nil {
		return err
	}
	all, _, err := c.policies()
	if err != nil {
		return err
	}
	due, err := allowance.Due(all, day, days)
	if err != nil {
		return err
	}
	if len(due) == 0 {
		return print(std.out, "no allowance ends within %d days of %s\n", days, day)
	}
	var b strings.Builder
	for i := range due {
		e, bundle := &due[i].Allowance, ""
		if len(all) > 1 {
			bundle = ", in " + safe(due[i].Bundle)
		}
		fmt.Fprintf(&b, "%s  %s  %s: %d, %s, %s%s (%s)\n", e.Until, safe(e.Rule), safe(e.File), e.AtMost, safe(e.Owner),
			safe(e.Reason), bundle, due[i].When())
	}
	err = print(std.out, "%sfix what they allow, or write a later \"until\", in a separate change\n", b.String())
	return exitError{status: exitViolation, err: err}
}
