package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

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
	NoOwnPolicy bool     `help:"Do not enforce the bundle of the repository's default branch."`
	Allow       []string `placeholder:"REASON" sep:"none" help:"@scan_allow"`
	Output      string   `placeholder:"FILE" default:"none" help:"@push_output"`
	reportFlag
	Timeout time.Duration `placeholder:"D" default:"45s" help:"@push_timeout"`
}

// Run rejects the push, with status 1, unless the verdict is PASS.
func (c *hookPreReceiveCmd) Run(std streams) error {
	err := c.run(std)
	if err == nil {
		return nil
	}
	o := exitError{exitViolation, err}
	if errors.As(err, &o) && o.status == exitUndecided {
		o.status = exitViolation
	}
	return o
}

func (c *hookPreReceiveCmd) run(std streams) error {
	p := &push.Push{Options: newOptions(), Own: !c.NoOwnPolicy}
	p.Options.Policies, p.Options.Allow = eachLine(c.Policy), c.Allow
	switch {
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout is %s; give the time after which a push is rejected, such as 45s", c.Timeout)
	case c.NoOwnPolicy && len(p.Options.Policies) == 0:
		return errors.New("--no-own-policy is given without --policy: no rule would check a push")
	}
	var err error
	if p.Options.Pins, err = c.pins(len(p.Options.Policies)); err != nil {
		return err
	}
	out := &output.Run{
		Version: version(), Scope: push.Scope(), Output: c.Output, Tracks: gitEnvironment().Tracks, Stdout: std.out,
		Show: func(v *verdict.Verdict) error { return showPush(std, v) },
	}
	if out.Reports, err = output.Reports(c.Report, out.Tracks); err == nil {
		err = out.Begin()
	}
	if err != nil {
		return err
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	var v *verdict.Verdict
	if text, err := readStdin(ctx, std.in, 0); err != nil {
		v = run.Verdict(version(), push.Scope(), err)
	} else {
		p.Lines = string(text)
		v = p.Check(ctx)
	}
	failed := out.End(v, caught)
	return ended(exitStatus(v), caught, failed)
}

// showPush writes the report for the pusher: the violations, and in the last line what to do.
func showPush(std streams, v *verdict.Verdict) error {
	var text bytes.Buffer
	err := report.WriteText(&text, v, report.TextOptions{Width: pushColumns, Most: 20, Brief: true})
	switch {
	case v.Verdict == verdict.Pass:
	case len(v.Violations) > 0:
		text.WriteString("rejected: change the commits (git rebase -i, --amend); push again\n")
	default:
		text.WriteString("rejected: fix what the errors name, or ask who runs the server\n")
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
	for _, name := range eachLine(c.Policy) {
		if _, err = run.LoadRules([]string{name}, ""); err == nil && !run.IsBuiltin(name) {
			name, err = filepath.Abs(name)
		}
		if err != nil {
			return err
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
	return installed(std, &hook, "for each push, and rejects the push")
}
