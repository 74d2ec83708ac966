package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner/push"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/setup"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/report"
)

// pushColumns is the width of the report: git puts "remote: " before each line.
const pushColumns = 72

// hookPreReceiveCmd runs as git's pre-receive hook: it checks what a push brings, before git updates any ref.
type hookPreReceiveCmd struct {
	Policy []string `placeholder:"DIR" sep:"none" help:"@push_policy"`
	pinFlag
	NoOwnPolicy  bool     `help:"Do not enforce the bundle of the repository's default branch."`
	Allow        []string `placeholder:"REASON" sep:"none" help:"@scan_allow"`
	MaxFileBytes int64    `placeholder:"N" help:"Do not pass if a file covered by a rule is longer."`
	Output       string   `placeholder:"FILE" default:"none" help:"@push_output"`
	reportFlag
	Timeout time.Duration `placeholder:"D" default:"45s" help:"@push_timeout"`
}

// Run rejects the push, with status 1, unless the verdict is PASS.
func (c *hookPreReceiveCmd) Run(std streams) error {
	err := c.run(std)
	var o exitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &o):
		return exitError{exitViolation, err}
	case o.status == exitUndecided:
		o.status = exitViolation
	}
	return o
}

func (c *hookPreReceiveCmd) run(std streams) error {
	p := &push.Push{Options: newOptions(), Own: !c.NoOwnPolicy}
	o := &p.Options
	o.Policies, o.Allow, o.MaxFileBytes = eachLine(c.Policy), c.Allow, c.MaxFileBytes
	tracks := gitEnvironment().Tracks
	reports, err := output.Reports(c.Report, tracks)
	if err == nil {
		err = c.check()
	}
	if err == nil {
		o.Pins, err = c.pins(len(o.Policies))
	}
	if err != nil {
		return err
	}
	std.color = "never"
	outputs := &output.Run{
		Version: version(), Scope: push.Scope(), Output: c.Output, Reports: reports, Tracks: tracks, Stdout: std.out,
		Show: func(v *verdict.Verdict) error { return showPush(std, v) },
	}
	if err := outputs.Begin(); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	v := c.verdict(ctx, std, p)
	failed := outputs.End(v, caught)
	return ended(exitStatus(v), caught, failed)
}

func (c *hookPreReceiveCmd) check() error {
	switch {
	case c.Timeout == 0:
		return errors.New("--timeout is 0; give the time after which a push is rejected, such as 45s")
	case c.NoOwnPolicy && len(eachLine(c.Policy)) == 0:
		return errors.New("--no-own-policy is given without --policy: no rule would check a push")
	}
	return checkLimits(c.MaxFileBytes, c.Timeout)
}

func (c *hookPreReceiveCmd) verdict(ctx context.Context, std streams, p *push.Push) *verdict.Verdict {
	var err error
	if p.Lines, err = readStdin(ctx, std.in, 0); err != nil {
		return run.Verdict(version(), push.Scope(), err)
	}
	return p.Check(ctx)
}

// showPush writes the report for the pusher: the violations, and in the last line what to do.
func showPush(std streams, v *verdict.Verdict) error {
	o := std.textOptions(std.err)
	o.Width, o.Most, o.Brief = pushColumns, 20, true
	var text bytes.Buffer
	err := report.WriteText(&text, v, o)
	todo := "rejected: fix what the errors name, or ask who runs the server"
	switch {
	case v.Verdict == verdict.Pass:
		todo = ""
	case len(v.Violations) > 0:
		todo = "rejected: change the commits (git rebase -i, --amend); push again"
	}
	if todo != "" {
		text.WriteString(todo + "\n")
	}
	_, werr := std.err.Write(report.Fold(text.Bytes(), pushColumns))
	return cmp.Or(err, werr)
}

type hookInstallPreReceiveCmd struct {
	Repo   string   `arg:"" optional:"" help:"@push_repo"`
	Policy []string `placeholder:"DIR" sep:"none" help:"@push_policy"`
	Print  bool     `help:"Print the hook instead of writing it."`
}

// Run writes the hook of a server's repository.
func (c *hookInstallPreReceiveCmd) Run(std streams) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the program that runs cannot be found: %w", err)
	}
	words := []string{program, "hook", "pre-receive"}
	names := eachLine(c.Policy)
	if _, err := run.LoadRules(names, ""); len(names) > 0 && err != nil {
		return err
	}
	for _, name := range names {
		if !run.IsBuiltin(name) {
			if name, err = filepath.Abs(name); err != nil {
				return err
			}
		}
		words = append(words, "--policy", name)
	}
	hook := setup.PreReceive(words)
	if c.Print {
		return print(std.out, "%s", hook.Text)
	}
	if hook, err = hook.In(gitEnvironment(), c.Repo); err != nil {
		return err
	}
	already, err := hook.Install()
	if err != nil {
		return err
	}
	done := "wrote"
	if already {
		done = "already there:"
	}
	return print(std.out, "%s %s\ngit runs it for each push, and rejects the push if it fails\n",
		done, safe(disk.Shown(hook.File)))
}
