package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/run"
)

// allowCmd writes the allowances of a bundle.
type allowCmd struct {
	Path string `arg:"" optional:"" help:"@allow_path"`

	From   string `placeholder:"FILE" help:"@allow_from"`
	Owner  string `placeholder:"NAME" help:"With --from: who answers for what is allowed."`
	Reason string `placeholder:"TEXT" help:"With --from: why it is allowed, such as the number of a ticket."`
	Until  string `placeholder:"DATE" help:"With --from: the last day that the new entries count."`
	Raise  bool   `help:"With --from: also raise entries that say less, and extend those that have ended."`

	Tighten bool     `help:"@allow_tighten"`
	Base    string   `placeholder:"REF" help:"@allow_base"`
	Tracked bool     `help:"With --tighten: count in the files that git tracks, not in all of the folder."`
	Rev     string   `placeholder:"REV" help:"@allow_rev"`
	Allow   []string `placeholder:"REASON" sep:"none" help:"@allow_allow"`

	Due string `placeholder:"DAYS" help:"@allow_due"`

	AsOf   string   `placeholder:"DATE" help:"The day that counts as today, which is that of UTC."`
	Policy []string `placeholder:"DIR" sep:"none" help:"@scan_policy"`
	Into   string   `placeholder:"DIR" help:"@allow_into"`
}

// Help returns the text below the flags.
func (*allowCmd) Help() string {
	return `Writes rules/allowances.yml of the bundle: how many occurrences of a rule a file may
keep. Nothing else in a bundle is ever written. A change cannot allow its own
violations, so commit what this writes in a separate change, for the owner to
review. What --tighten writes belongs in the change that removed or moved something.

Examples:
  policyscan; policyscan allow --from verdict.json --owner network-team --reason NET-123
  policyscan allow --tighten       lower the numbers to what is there
  policyscan allow --due 30d       what ends within 30 days

Exit status: 0 it was done; 1 some violations were not allowed, or with --due, some
entries end; 2 nothing was written, because of an error.`
}

// Run does the one of the three that is asked for.
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
	var modes []string
	mode := func(name string, given bool) {
		if given {
			modes = append(modes, name)
		}
	}
	mode("--from", c.From != "")
	mode("--tighten", c.Tighten)
	mode("--due", c.Due != "")
	for _, flag := range []struct {
		name, of string
		given    bool
	}{
		{"--owner", "--from", c.Owner != ""}, {"--reason", "--from", c.Reason != ""},
		{"--until", "--from", c.Until != ""}, {"--raise", "--from", c.Raise}, {"--base", "--tighten", c.Base != ""},
		{"--rev", "--tighten", c.Rev != ""},
	} {
		if flag.given && len(modes) == 1 && modes[0] != flag.of {
			return fmt.Errorf("%s is for %s, and %s is given", flag.name, flag.of, modes[0])
		}
	}
	switch len(modes) {
	case 0:
		return errors.New("give --from FILE, --tighten or --due DAYS; see policyscan allow --help")
	case 1:
		if c.Tracked && c.Rev != "" {
			return errors.New("--rev and --tracked are both given; choose one")
		}
		return nil
	}
	return fmt.Errorf("%s are given; choose one", strings.Join(modes, " and "))
}

// policies returns the bundles in use, loaded, and the folder that is scanned.
func (c *allowCmd) policies() (run.RuleSources, string, error) {
	place, err := run.Find(c.Path)
	if err != nil {
		return nil, "", err
	}
	all, err := run.LoadRules(c.named(), place.Root)
	return all, place.Root, err
}

// named returns the bundles that are named, or "" for the one that discovery finds.
func (c *allowCmd) named() []string {
	if all := eachLine(c.Policy); len(all) > 0 {
		return all
	}
	return []string{""}
}

// add writes entries for the violations of a verdict.
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
	o := run.Options{
		Version: version(), Path: c.Path, Policies: c.named(), Tracked: c.Tracked, Rev: c.Rev, Allow: c.Allow,
		AsOf: c.AsOf, Git: gitEnvironment(), Getenv: getenv,
	}
	var err error
	if o.Output, err = o.VerdictFile(); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(0)
	defer stop()
	file, result, err := scanner.Tighten(ctx, o, c.Into, c.Base)
	if sig := caught(); sig != 0 && err != nil {
		return outcome{status: 128 + sig, err: err}
	}
	if err != nil {
		return err
	}
	return showOutcome(std, file, &result, "commit it together with the change that removed or moved what it is about")
}

// showOutcome prints what was done, and what to do next.
func showOutcome(std streams, l *allowance.File, o *allowance.EditResult, next string) error {
	var b strings.Builder
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
		return outcome{status: exitViolation, err: err}
	}
	return err
}

// due prints the entries that end.
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
		e := &due[i].Allowance
		fmt.Fprintf(&b, "%s  %s  %s: %d, %s, %s%s (%s)\n", e.Until, safe(e.Rule), safe(e.File), e.AtMost, safe(e.Owner),
			safe(e.Reason), inBundle(&due[i], len(all)), due[i].When())
	}
	err = print(std.out, "%sfix what they allow, or write a later \"until\", in a separate change\n", b.String())
	return outcome{status: exitViolation, err: err}
}

// inBundle names the bundle of an entry if there are several.
func inBundle(e *allowance.Expiring, bundles int) string {
	if bundles < 2 {
		return ""
	}
	return ", in " + safe(e.Bundle)
}
