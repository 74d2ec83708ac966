package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/policyscan/policyscan/cmd/policyscan/manual"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/output"
)

// scanCmd has the flags of a scan.
type scanCmd struct {
	Path string `arg:"" optional:"" help:"@scan_path"`

	policyFlag
	Rev       string `placeholder:"REV" help:"@scan_rev"`
	DiffBase  string `placeholder:"REF" help:"@scan_diff_base"`
	Head      string `placeholder:"REF" help:"With --diff-base: the commit to check, instead of HEAD."`
	PolicyRef string `placeholder:"REF" help:"With --diff-base or --staged: use only the bundle of this commit."`
	Staged    bool   `help:"Scan only what the next commit would change, as staged. For hooks."`
	Tracked   bool   `help:"Scan only the files that git tracks, as they are on disk."`
	FilesFrom string `placeholder:"FILE" help:"@scan_files_from"`
	Stdin     bool   `help:"Scan standard input as one file, whose path --stdin-path gives."`
	StdinPath string `placeholder:"PATH" help:"Path, from the root, of the file on standard input."`

	Output string `placeholder:"FILE" help:"@scan_output"`
	reportFlag
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

	also []output.Report // besides those of the flags
}

// Help returns the text below the flags.
func (*scanCmd) Help() string {
	return `Examples:
  policyscan                           the repository around this folder
  policyscan --diff-base origin/main   what this branch changes
  policyscan --policy policy infra     another folder, another bundle
  policyscan --policy builtin:infra    the starter bundle
  git ls-files -z --full-name :/ | policyscan --files-from -  a list
  policyscan --stdin --stdin-path main.tf <main.tf

` + manual.Statuses()
}

// Run scans, and reports.
func (c *scanCmd) Run(std streams) error {
	_, err := c.run(std)
	return err
}

// run is Run, and returns the verdict that is in the outputs: nil if they could not be
// started.
func (c *scanCmd) run(std streams) (*verdict.Verdict, error) {
	o := c.options(std)
	given := c.Output
	of, err := c.split()
	if err != nil {
		replaceOldVerdict(run.VerdictFiles(o.Git, given)...)
		return nil, err
	}
	if given == "" {
		var err error
		if c.Output, err = o.VerdictFile(); err != nil {
			replaceOldVerdict(run.VerdictFiles(o.Git)...)
			return nil, err
		}
		if of.Count > 0 {
			c.Output = filepath.Join(filepath.Dir(c.Output), fmt.Sprintf("shard-%d-of-%d.json", of.Index, of.Count))
		}
	}
	if word := c.Path; isMistyped(word) {
		replaceOldVerdict(run.VerdictFiles(o.Git, given)...)
		return nil, seeHelp(fmt.Errorf("%q is neither a folder nor a command%s", word, meant(word, commandTree())), "")
	}
	r := reporter{scanCmd: c, options: o, about: &run.Run{Options: o}, std: std, began: time.Now()}
	if of.Count > 0 {
		return nil, c.runShard(&r, of)
	}
	if err := r.begin(nil); err != nil {
		return nil, err
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	v := c.scan(ctx, &r)
	failed := r.outputs.End(v, caught)
	if sig := caught(); sig != 0 {
		return v, outcome{status: 128 + sig, err: failed}
	}
	if status := exitStatus(v); status != exitPass {
		return v, outcome{status: status, err: failed}
	}
	return v, nil
}

// scan returns the verdict, which also has the error that kept it from scanning.
func (c *scanCmd) scan(ctx context.Context, r *reporter) *verdict.Verdict {
	if err := c.open(ctx, r); err != nil {
		return r.undecided(err)
	}
	about := r.about
	defer about.Close()
	defer closeReuse(about.Reuse)
	progress := &scanner.Progress{}
	defer r.watch(progress)()
	v := scanner.Scan(ctx, about, progress)
	about.Notes = slices.Concat(about.Notes, about.UncoveredHints(v), about.FilterReport.Notes(),
		notesOnReuse(about.Reuse))
	if !c.Quiet {
		about.Notes = append(about.Notes, about.LintNotes()...)
	}
	return v
}

// open opens what is to be scanned. Without an error it is to be closed.
func (c *scanCmd) open(ctx context.Context, r *reporter) error {
	err := c.check()
	if err == nil {
		r.options.Pins, err = c.pins(len(c.flags()))
	}
	if err != nil {
		return err
	}
	r.options.Output = r.outputs.File()
	if r.about, err = run.Open(ctx, r.options); err != nil {
		return err
	}
	r.about.FilterReport = &checkout.FilterReport{}
	if r.about.Reuse, err = c.reuseFlag.open(); err != nil {
		r.about.Close()
	}
	return err
}

// options returns what the flags choose to scan, allow, limit and narrow.
func (c *scanCmd) options(std streams) run.Options {
	o := run.Options{
		Version: version(), Path: c.Path, Policies: c.flags(), RuleIDs: c.Rule,
		Rev: c.Rev, Base: c.DiffBase, Head: c.Head, PolicyRef: c.PolicyRef, RequireMerged: c.RequireMerged,
		Staged: c.Staged, Tracked: c.Tracked, ContentPath: c.StdinPath,
		Allow: c.Allow, Exclude: c.Exclude, AsOf: c.AsOf, RequireGoverned: c.RequireGoverned,
		MaxFileBytes: c.MaxFileBytes, Uncommitted: !c.Quiet,
		Git: gitEnvironment(), Getenv: getenv,
	}
	if c.FilesFrom != "" {
		o.List = func(ctx context.Context) ([]string, error) { return readList(ctx, c.FilesFrom, std.in) }
	}
	if c.Stdin {
		o.Content = func(ctx context.Context) ([]byte, error) { return readStdin(ctx, std.in, c.MaxFileBytes) }
	}
	return o
}

// check returns an error for flags that contradict each other.
func (c *scanCmd) check() error {
	var scopes []string
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--rev", c.Rev != ""}, {"--diff-base", c.DiffBase != ""}, {"--staged", c.Staged}, {"--tracked", c.Tracked},
		{"--files-from", c.FilesFrom != ""}, {"--stdin", c.Stdin},
	} {
		if flag.given {
			scopes = append(scopes, flag.name)
		}
	}
	switch {
	case c.Stdin && c.StdinPath == "":
		return errors.New("--stdin needs --stdin-path PATH: rules select files by their path")
	case !c.Stdin && c.StdinPath != "":
		return errors.New("--stdin-path is given without --stdin")
	case len(scopes) > 1:
		return fmt.Errorf("%s and %s are both given; choose one", scopes[0], scopes[1])
	case c.DiffBase == "" && c.Head != "":
		return errors.New("--head is given without --diff-base")
	case c.DiffBase == "" && !c.Staged && c.PolicyRef != "":
		return errors.New("--policy-ref is given without --diff-base or --staged")
	case c.DiffBase == "" && c.RequireMerged:
		return errors.New("--require-merged is given without --diff-base")
	case c.Rev == "" && c.Reuse != "":
		return errors.New("--reuse is given without --rev: results are kept by git's hash of a file's content, " +
			"which only a scan of a commit has for every file")
	case c.MaxFileBytes < 0:
		return fmt.Errorf("--max-file-bytes is %d; give a number of bytes, or 0 for no limit", c.MaxFileBytes)
	case c.Timeout < 0:
		return fmt.Errorf("--timeout is %s; give a time such as 90s, or 0 for no limit", c.Timeout)
	}
	return nil
}

// interruptible returns a context that ends after the timeout (0: none) or at a
// signal. caught returns the signal's number, 0 if there was none.
func interruptible(timeout time.Duration) (ctx context.Context, caught func() int, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught, stopSignals := onSignal(func(name string) {
		cancel(&run.InterruptedError{Code: code.Interrupted,
			Message: "the run was stopped by " + name + "; run it again"})
	})
	release := func() {}
	if timeout > 0 {
		ctx, release = context.WithTimeoutCause(ctx, timeout, &run.InterruptedError{
			Code: code.Timeout, Message: fmt.Sprintf("the run did not end within --timeout %s; raise it, or scan less",
				timeout),
		})
	}
	return ctx, caught, func() {
		stopSignals()
		release()
		cancel(nil)
	}
}
