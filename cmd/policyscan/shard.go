package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/shard"
)

// split returns the part of the tree that --shard names; the zero Split if it is not given.
func (c *scanCmd) split() (shard.Split, error) {
	of, err := parseShard(c.Shard, c.Defer, c.Report, c.Output, "file")
	if err != nil || of.Count == 0 {
		return of, err
	}
	const change = "a change is small enough for one run, and is compared as a whole"
	for _, scope := range []struct {
		name  string
		given bool
		why   string
	}{
		{"--diff-base", c.DiffBase != "", change}, {"--staged", c.Staged, change},
		{"--stdin", c.Stdin, "standard input is one file"},
	} {
		if scope.given {
			return shard.Split{}, fmt.Errorf("--shard and %s are both given; %s", scope.name, scope.why)
		}
	}
	return of, nil
}

// parseShard returns the part that the values of --shard and --defer name, which go with no report, and with an output
// in which the result is.
func parseShard(part string, deferred bool, reports []string, output, result string) (shard.Split, error) {
	switch {
	case part == "" && deferred:
		return shard.Split{}, errors.New("--defer is given without --shard")
	case part == "" && getenv(shard.CountVariable) != "":
		return shard.Split{}, fmt.Errorf("%s is set, and --shard is not given, so that each task would do "+
			"all of the work; give --shard auto, or unset it", shard.CountVariable)
	case part == "":
		return shard.Split{}, nil
	case len(reports) > 0:
		return shard.Split{}, errors.New("--shard and --report are both given; " +
			"a shard has no report: policyscan merge writes those of all shards")
	case output == "none":
		return shard.Split{}, errors.New("--shard is given with --output none; a shard's result is its " + result)
	}
	return shard.Parse(part, getenv)
}

// shardBegun returns what is in the place of a shard file until the run ends; nil if the run is no shard.
func (r *reporter) shardBegun(of shard.Split) output.Document {
	if of.Count == 0 {
		return nil
	}
	begun := &shard.Document{Verdict: shard.Undecided, Shard: of, State: shard.InProgress}
	begun.Run.Tool, begun.Run.Scope = verdict.New(version()).Tool, r.about.Scope()
	begun.Findings.TreeErrors = []verdict.Error{{Code: code.InProgress, Message: output.InProgress}}
	return begun
}

// shardStatus is what a shard means to the shell, of which failed could not be written. With --defer, violations do not
// make an engine run the shard again: the merge has the last word on them.
func shardStatus(word string, decided, deferred bool, failed error) int {
	switch {
	case failed != nil:
		return exitUndecided
	case word == shard.Fail && !deferred:
		return exitViolation
	case !decided:
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
	complainOf(r.std, slices.Concat(f.TreeErrors, f.FileErrors), r.about.Place.Prefix)
	if !r.Quiet {
		fmt.Fprintf(&text, "shard %s, %s: looked at %d of %d files; %d violations, %d allowed, %d errors\n"+
			"This is no verdict: policyscan merge makes it of all %d shards.\n",
			d.Shard, d.State, d.Tree.Own, d.Tree.Files,
			len(f.Violations)-allowed, allowed, len(f.TreeErrors)+len(f.FileErrors), d.Shard.Count)
	}
	_, err := w.Write(text.Bytes())
	return err
}
