package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/shard"
)

// split returns the part of the tree that --shard names; the zero Split if it is not given.
func (c *scanCmd) split() (shard.Split, error) {
	scopes := []struct {
		name  string
		given bool
		why   string
	}{
		{"--diff-base", c.DiffBase != "", "a change is small enough for one run, and is compared as a whole"},
		{"--staged", c.Staged, "a change is small enough for one run, and is compared as a whole"},
		{"--stdin", c.Stdin, "standard input is one file"},
	}
	switch {
	case c.Shard == "" && c.Defer:
		return shard.Split{}, errors.New("--defer is given without --shard")
	case c.Shard == "" && getenv(shard.CountVariable) != "":
		return shard.Split{}, fmt.Errorf("%s is set, and --shard is not given, so that each task would do "+
			"all of the work; give --shard auto, or unset it", shard.CountVariable)
	case c.Shard == "":
		return shard.Split{}, nil
	case len(c.Report) > 0:
		return shard.Split{}, errors.New("--shard and --report are both given; " +
			"a shard has no report: policyscan merge writes those of all shards")
	case c.Output == "none":
		return shard.Split{}, errors.New("--shard is given with --output none; a shard's result is its file")
	}
	for _, s := range scopes {
		if s.given {
			return shard.Split{}, fmt.Errorf("--shard and %s are both given; %s", s.name, s.why)
		}
	}
	return shard.Parse(c.Shard, getenv)
}

// runShard scans one part of the tree, and writes its shard file.
func (c *scanCmd) runShard(r *reporter, of shard.Split) error {
	begun := &shard.Document{Verdict: shard.Undecided, Shard: of, State: shard.InProgress}
	begun.Run.Tool, begun.Run.Scope = verdict.New(version()).Tool, r.options.Scope()
	begun.Findings.TreeErrors = []verdict.Error{{Code: code.InProgress, Message: output.InProgress}}
	if err := r.begin(begun); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	var d *shard.Document
	if err := c.open(ctx, r); err != nil {
		d = scanner.ShardStopped(r.undecided(err), of)
	} else {
		defer r.about.Close()
		defer closeReuse(r.about.Reuse)
		progress := &scanner.Progress{}
		unwatch := r.watch(progress)
		d = scanner.Shard(ctx, r.about, of, progress)
		unwatch()
		d.Tree.Head = run.CheckedOutCommit(r.about.Place.Root)
	}
	failed := r.outputs.EndPart(d)
	if err := r.showShard(d); failed == nil {
		failed = err
	}
	status := shardStatus(d, c.Defer)
	switch sig := caught(); {
	case sig != 0:
		status = 128 + sig
	case failed != nil:
		status = exitUndecided
	}
	if status == exitPass {
		return nil
	}
	return outcome{status: status, err: failed}
}

// shardStatus is what a shard file means to the shell. With --defer, violations do not make an engine run the shard
// again: the merge has the last word on them.
func shardStatus(d *shard.Document, deferred bool) int {
	switch {
	case d.Verdict == shard.Fail && !deferred:
		return exitViolation
	case !d.Decided():
		return exitUndecided
	}
	return exitPass
}

// showShard prints what a person reads of a shard: its violations and errors, and what it did.
func (r *reporter) showShard(d *shard.Document) error {
	var w io.Writer = r.std.out
	if r.Output == "-" {
		w = r.std.err
	}
	f := &d.Findings
	var text bytes.Buffer
	allowed := 0
	for i := range f.Violations {
		v := &f.Violations[i]
		if v.Allowance != nil {
			allowed++
		} else if !r.Quiet {
			fmt.Fprintf(&text, "%s%s:%d:%d: %s: %s\n", safe(r.about.Place.Prefix), safe(v.Violation.File),
				v.Violation.Evidence.Line, v.Violation.Evidence.Column, safe(v.Violation.RuleID),
				safe(v.Violation.Title))
		}
	}
	for _, errs := range [][]verdict.Error{f.TreeErrors, f.FileErrors} {
		for _, e := range errs {
			if e.File != "" {
				e.File = r.about.Place.Prefix + e.File
			}
			complain(r.std.err, fmt.Errorf("%w [%s]", &e, e.Code))
		}
	}
	if !r.Quiet {
		fmt.Fprintf(&text, "shard %s, %s: looked at %d of %d files; %d violations, %d allowed, %d errors\n"+
			"This is no verdict: policyscan merge makes it of all %d shards.\n",
			d.Shard, d.State, d.Tree.Own, d.Tree.Files,
			len(f.Violations)-allowed, allowed, len(f.TreeErrors)+len(f.FileErrors), d.Shard.Count)
	}
	_, err := w.Write(text.Bytes())
	return err
}
