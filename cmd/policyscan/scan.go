package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/setup"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/shard"
)

type scanCmd struct {
	Path []string `arg:"" optional:"" help:"@scan_path"`

	policyFlag
	Rev        string `placeholder:"REV" help:"@scan_rev"`
	DiffBase   string `placeholder:"REF" help:"@scan_diff_base"`
	Head       string `placeholder:"REF" help:"With --diff-base: the commit to check, instead of HEAD."`
	WorkTree   bool   `name:"uncommitted" help:"@scan_uncommitted"`
	EachCommit bool   `help:"@scan_each_commit"`
	PolicyRef  string `placeholder:"REF" help:"With --diff-base or --staged: use only the bundle of this commit."`
	Staged     bool   `help:"Scan only what the next commit would change, as staged. For hooks."`
	Tracked    bool   `help:"Scan only the files that git tracks, as they are on disk."`
	Files      bool   `help:"@scan_files"`
	FilesFrom  string `placeholder:"FILE" help:"@scan_files_from"`
	Stdin      bool   `help:"Scan standard input as one file, whose path --stdin-path gives."`
	StdinPath  string `placeholder:"PATH" help:"Path, from the root, of the file on standard input."`

	Output string `placeholder:"FILE" help:"@scan_output"`
	reportFlag
	colorFlag
	Quiet bool `short:"q" help:"Print only the reports of --report; errors still go to standard error."`

	Shard string `placeholder:"I/N" help:"@scan_shard"`
	Defer bool   `help:"With --shard: exit with 0 if all of it was decided, with or without violations."`

	Allow           []string      `placeholder:"REASON" sep:"none" help:"@scan_allow"`
	RequireGoverned bool          `help:"Do not pass if no rule selects any file."`
	RequireMerged   bool          `help:"@scan_require_merged"`
	MaxFileBytes    int64         `placeholder:"N" help:"Do not pass if a file covered by a rule is longer."`
	Timeout         time.Duration `placeholder:"D" help:"Stop, undecided, after this time, such as 90s."`
	reuseFlag

	AsOf string `placeholder:"DATE" help:"@scan_as_of"`

	Rule    []string `placeholder:"ID" sep:"none" help:"@scan_rule"`
	Exclude []string `placeholder:"GLOB" sep:"none" help:"@scan_exclude"`

	also []output.Report // in addition to the flags' own
}

func (c *scanCmd) Run(std streams) error {
	std.color = c.Color
	_, err := c.run(std)
	return err
}

// run implements Run; it also returns the verdict that was written: nil if they could not be started, or for a shard.
func (c *scanCmd) run(std streams) (*verdict.Verdict, error) {
	o := c.options(std)
	given := c.Output
	of, err := c.split()
	if err == nil && given == "" {
		if c.Output, err = o.VerdictFile(); err == nil && of.Count > 0 {
			c.Output = filepath.Join(filepath.Dir(c.Output), run.ShardName(of.Index, of.Count))
		}
	}
	o.Shards = of.Count
	if err == nil && len(c.Path) > 0 && !c.Files && isMistyped(c.Path[0]) {
		if near := didYouMean(c.Path[0], commandTree()); near != "" || len(c.Path) == 1 {
			err = withHelpHint(fmt.Errorf("%q is neither a path nor a command%s", c.Path[0], near), "")
		}
	}
	if err != nil {
		replaceOldVerdict(run.VerdictFiles(o.Git, given)...)
		return nil, err
	}
	r := newReporter(c, o, std)
	if err := r.begin(r.inProgress(of)); err != nil {
		return nil, err
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	v, d := c.scan(ctx, r, of)
	if d != nil {
		failed := r.outputs.EndPart(d)
		if err := r.showShard(d); failed == nil {
			failed = err
		}
		return nil, ended(shardStatus(d.Verdict, d.Decided(), c.Defer, failed), caught, failed)
	}
	r.outputs.NameTree(r.about.Place.Name())
	failed := r.outputs.End(v, caught)
	return v, ended(exitStatus(v), caught, failed)
}

// scan returns the verdict, or a shard's document. They include the error that prevented a scan.
func (c *scanCmd) scan(ctx context.Context, r *reporter, of shard.Split) (*verdict.Verdict, *shard.Document) {
	if err := c.open(ctx, r); err != nil {
		r.about.Mistakes = run.Mistakes(err) // each becomes an error of the verdict
		var advised *run.AdvisedError
		if errors.As(err, &advised) {
			r.advice = advised.Advice
		}
		v := r.about.Undecided(err)
		if of.Count > 0 {
			return nil, scanner.ShardStopped(v, of)
		}
		return v, nil
	}
	about := r.about
	defer about.Close()
	defer closeReuse(about.Reuse)
	progress := &scanner.Progress{}
	defer r.watch(progress)()
	if of.Count > 0 {
		d := scanner.Shard(ctx, about, of, progress)
		d.Tree.Head = run.CheckedOutCommit(about.Place.Root)
		return nil, d
	}
	v := scanner.Scan(ctx, about, progress)
	about.Notes = slices.Concat(about.Notes, about.UncoveredHints(v), about.UncoveredPaths(v),
		about.FilterReport.Notes(), notesOnReuse(about.Reuse))
	if !c.Quiet {
		about.Notes = append(about.Notes, about.LintNotes()...)
		about.Notes = append(about.Notes, ignoreNotes(about.Output)...)
	}
	return v, nil
}

// ignoreNotes notes that git does not ignore the default file of the verdict.
func ignoreNotes(file string) []string {
	if filepath.Base(file) != run.VerdictName {
		return nil
	}
	line := setup.IgnoreHint(file)
	if line == "" {
		return nil
	}
	return []string{fmt.Sprintf("git does not ignore %s, and no scan writes to it once it is committed; "+
		"add %s to .gitignore", run.VerdictName, line)}
}

// open opens the tree to scan. Without an error it must be closed.
func (c *scanCmd) open(ctx context.Context, r *reporter) error {
	err := c.check(r.about.Paths != nil)
	if err == nil {
		r.about.Pins, err = c.pins(len(policyNames(c.Policy)))
	}
	if err != nil {
		return err
	}
	r.about.Output = r.outputs.File()
	if r.about, err = run.Open(ctx, r.about.Options); err != nil {
		return err
	}
	r.about.FilterReport = &checkout.FilterReport{}
	if r.about.Reuse, err = c.reuseFlag.open(); err != nil {
		r.about.Close()
	}
	return err
}

// options returns the flags' options: what to scan, allow, limit and narrow.
func (c *scanCmd) options(std streams) run.Options {
	_, isTerminal := terminal(std.out)
	o := newOptions()
	if len(c.Path) > 0 {
		o.SetPaths(c.Path, c.Files)
	}
	o.Policies, o.RuleIDs, o.Exclude = policyNames(c.Policy), c.Rule, c.Exclude
	o.Rev, o.Base, o.Head, o.PolicyRef, o.RequireMerged = c.Rev, c.DiffBase, c.Head, c.PolicyRef, c.RequireMerged
	o.Staged, o.Tracked, o.ContentPath, o.NoteUncommitted = c.Staged, c.Tracked, c.StdinPath, isTerminal
	o.Uncommitted, o.EachCommit = c.WorkTree, c.EachCommit
	o.Allow, o.AsOf, o.RequireGoverned, o.MaxFileBytes = c.Allow, c.AsOf, c.RequireGoverned, c.MaxFileBytes
	if c.FilesFrom != "" {
		o.List = func(ctx context.Context) ([]string, error) { return readList(ctx, c.FilesFrom, std.in) }
	}
	if c.Stdin {
		o.Content = func(ctx context.Context) ([]byte, error) { return readStdin(ctx, std.in, c.MaxFileBytes) }
	}
	return o
}

// check returns an error for flags that contradict each other. isPart reports whether the paths are a part of a tree.
func (c *scanCmd) check(isPart bool) error {
	scopes := setNames(flagUse{"--rev", c.Rev != ""}, flagUse{"--diff-base", c.DiffBase != ""},
		flagUse{"--staged", c.Staged}, flagUse{"--tracked", c.Tracked},
		flagUse{"--files-from", c.FilesFrom != ""}, flagUse{"--stdin", c.Stdin})
	switch {
	case c.Stdin && c.StdinPath == "":
		return errors.New("--stdin needs --stdin-path PATH: rules select files by their path")
	case !c.Stdin && c.StdinPath != "":
		return errors.New("--stdin-path is given without --stdin")
	case c.Files && len(c.Path) == 0:
		return errors.New("--files is given without a path; name files and directories, or remove it")
	case len(scopes) > 0 && isPart:
		return fmt.Errorf("%s takes one directory at most; remove the paths, or %s", scopes[0], scopes[0])
	case len(scopes) > 1:
		return fmt.Errorf("%s and %s are both given; choose one", scopes[0], scopes[1])
	case c.DiffBase == "" && c.Head != "":
		return errors.New("--head is given without --diff-base")
	case c.DiffBase == "" && c.WorkTree:
		return errors.New("--uncommitted is given without --diff-base; to check what is staged, use --staged")
	case c.WorkTree && c.Head != "":
		return errors.New("--head and --uncommitted are both given; choose one")
	case c.WorkTree && c.DiffBase == "auto":
		return errors.New("--uncommitted needs a base that you name, such as --diff-base origin/main")
	case c.DiffBase == "" && c.EachCommit:
		return errors.New("--each-commit is given without --diff-base, which says where the commits begin")
	case c.WorkTree && c.EachCommit:
		return errors.New("--uncommitted and --each-commit are both given; --each-commit checks commits, so choose one")
	case c.DiffBase == "" && !c.Staged && c.PolicyRef != "":
		return errors.New("--policy-ref is given without --diff-base or --staged")
	case c.DiffBase == "" && c.RequireMerged:
		return errors.New("--require-merged is given without --diff-base")
	case c.Rev == "" && c.Reuse != "":
		return errors.New("--reuse is given without --rev: only files of a commit have git's hash of their content")
	}
	return checkLimits(c.MaxFileBytes, c.Timeout)
}

func checkLimits(maxFileBytes int64, timeout time.Duration) error {
	switch {
	case maxFileBytes < 0:
		return fmt.Errorf("--max-file-bytes is %d; give a number of bytes, or 0 for no limit", maxFileBytes)
	case timeout < 0:
		return fmt.Errorf("--timeout is %s; give a time such as 90s, or 0 for no limit", timeout)
	}
	return nil
}

// split returns the part of the tree for --shard; the zero Split without it.
func (c *scanCmd) split() (shard.Split, error) {
	of, err := parseShard(c.Shard, c.Defer, c.Report, c.Output, "file")
	if err != nil || of.Count == 0 {
		return of, err
	}
	whole := setNames(flagUse{"--diff-base", c.DiffBase != ""}, flagUse{"--staged", c.Staged},
		flagUse{"--stdin", c.Stdin})
	switch {
	case len(whole) == 0:
		return of, nil
	case whole[0] == "--stdin":
		return shard.Split{}, errors.New("--shard and --stdin are both given; standard input is one file")
	}
	return shard.Split{}, fmt.Errorf("--shard and %s are both given; check a change in one run", whole[0])
}

// parseShard returns the part for --shard and --defer, which allow no report and need an output for the result.
func parseShard(part string, deferred bool, reports []string, output, result string) (shard.Split, error) {
	switch {
	case part == "" && deferred:
		return shard.Split{}, errors.New("--defer is given without --shard")
	case part == "" && getenv(shard.CountVariable) != "":
		return shard.Split{}, fmt.Errorf("%s is set, and --shard is not given; give --shard auto, or unset it",
			shard.CountVariable)
	case part == "":
		return shard.Split{}, nil
	case len(reports) > 0:
		return shard.Split{}, errors.New("--shard and --report are both given; policyscan merge writes the reports")
	case output == "none":
		return shard.Split{}, errors.New("--shard is given with --output none; a shard's result is its " + result)
	}
	return shard.Parse(part, getenv)
}

// inProgress returns the content of a shard file until the run ends; nil if the run is not a shard.
func (r *reporter) inProgress(of shard.Split) output.Document {
	if of.Count == 0 {
		return nil
	}
	begun := &shard.Document{Verdict: shard.Undecided, Shard: of, State: shard.InProgress}
	begun.Run.Tool, begun.Run.Scope = verdict.New(version()).Tool, r.about.Scope()
	begun.Findings.TreeErrors = []verdict.Error{{Code: code.InProgress, Message: output.InProgress}}
	return begun
}

// shardStatus is a shard's exit status; failed are outputs that could not be written. With --defer, violations do not
// make an engine run the shard again: the merge decides about them.
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

// showShard prints a shard for display: its violations, each with its number of places, errors and numbers.
func (r *reporter) showShard(d *shard.Document) error {
	var w io.Writer = r.std.out
	if r.Output == "-" {
		w = r.std.err
	}
	f := &d.Findings
	var text bytes.Buffer
	places, allowed := 0, 0
	for i := range f.Violations {
		v := &f.Violations[i]
		n := int(v.Violation.PlaceCount)
		if v.Allowance != nil {
			allowed += n
			continue
		}
		places += n
		if !r.Quiet && n > 0 { // 0: a key pattern of the rule finds all of it, and has its line
			more := "\n"
			if n > 1 {
				more = " (" + plural(n, "place") + ")\n"
			}
			fmt.Fprintf(&text, "%s%s:%d:%d: %s: %s%s", safe(r.about.Place.Prefix), safe(v.Violation.File),
				v.Violation.Evidence.Line, v.Violation.Evidence.Column, safe(v.Violation.RuleID),
				safe(v.Violation.Title), more)
		}
	}
	printErrorsOf(r.std, slices.Concat(f.TreeErrors, f.FileErrors), r.about.Place.Prefix)
	if !r.Quiet {
		fmt.Fprintf(&text, "shard %s, %s: looked at %d of %s; %s, %d allowed, %s\n"+
			"Not a verdict yet: run policyscan merge on all %d shards.\n",
			d.Shard, d.State, d.Tree.Own, plural(d.Tree.Files, "file"), plural(places, "place"), allowed,
			plural(len(f.TreeErrors)+len(f.FileErrors), "error"), d.Shard.Count)
	}
	_, err := w.Write(text.Bytes())
	return err
}
