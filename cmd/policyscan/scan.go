package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// scanCmd are the flags of a scan.
type scanCmd struct {
	Path string `arg:"" optional:"" help:"Folder to scan; paths and globs count from it. Default: the root of the repository around the current folder, or the current folder."`

	Policy    string `placeholder:"DIR" help:"Folder that holds rules/, or builtin:infra. Default: .policyscan in the root, or the root."`
	FilesFrom string `placeholder:"FILE" help:"Scan only the files that FILE lists (-: standard input), by lines or NUL-separated."`
	Stdin     bool   `help:"Scan standard input as one file; --stdin-path says which."`
	StdinPath string `placeholder:"PATH" help:"Path, from the root, of the file on standard input."`

	Output string `placeholder:"FILE" default:"verdict.json" help:"Where the verdict goes: a file, - for standard output, or none. Default: verdict.json."`
	Quiet  bool   `short:"q" help:"No report; errors still go to standard error."`

	Allow           []string      `placeholder:"REASON" help:"Knowingly accept: lfs-pointer, special-file, empty, partial. Repeatable."`
	RequireGoverned bool          `help:"Do not pass when no rule selects any file."`
	MaxFileBytes    int64         `placeholder:"N" help:"Do not pass when a governed file is longer."`
	Timeout         time.Duration `placeholder:"D" help:"Give up, undecided, after a time such as 90s."`

	Rule    []string `placeholder:"ID" sep:"none" help:"Enforce only this rule, for debugging: the run is partial. Repeatable."`
	Exclude []string `placeholder:"GLOB" sep:"none" help:"Take these paths from every rule, for debugging: the run is partial. Repeatable."`
}

// Help is shown below the flags.
func (*scanCmd) Help() string {
	return `Examples:
  policyscan                                     the repository around this folder
  policyscan --policy policy infra               another folder, another bundle
  policyscan --policy builtin:infra              the starter bundle
  git ls-files -z | policyscan --files-from -    only some files
  policyscan --stdin --stdin-path main.tf <main.tf

Exit status: 0 PASS; 1 a violation was found, whatever else went wrong; 2 could
not decide, bad usage, or an output that could not be written.`
}

// Run scans, and reports.
func (c *scanCmd) Run(std streams) error {
	r := reporter{scanCmd: c, std: std, began: time.Now()}
	if err := r.begin(); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(c.Timeout)
	defer stop()
	v := c.scan(ctx, &r)
	err := r.end(v)
	if sig := caught(); sig != 0 {
		return outcome{status: 128 + sig, err: r.failed}
	}
	return err
}

// scan returns the verdict; what keeps it from scanning at all is in there too.
func (c *scanCmd) scan(ctx context.Context, r *reporter) *verdict.Verdict {
	if err := c.check(); err != nil {
		return r.undecided(err)
	}
	place, err := findPlace(c.Path)
	r.place = place
	if err != nil {
		return r.undecided(err)
	}
	policy, err := loadPolicy(c.Policy, place.root)
	if err != nil {
		return r.undecided(err)
	}
	r.policy = policy.name
	bundle, err := only(policy.bundle, c.Rule)
	if err != nil {
		return r.undecided(err)
	}
	tree, closeTree, err := c.tree(ctx, place, r.std)
	if err != nil {
		return r.undecided(err)
	}
	defer closeTree()

	o := scanner.Options{
		Version:         version(),
		From:            policy.from,
		Allow:           c.Allow,
		Partial:         len(c.Rule) > 0,
		LeaveOut:        map[string]string{},
		RequireGoverned: c.RequireGoverned,
		MaxFileBytes:    c.MaxFileBytes,
		Progress:        &scanner.Progress{},
	}
	if len(c.Exclude) > 0 {
		o.Exclude = glob.Compile(c.Exclude).Match
	}
	for _, file := range policy.files {
		place.leaveOut(o.LeaveOut, file, "rules")
	}
	if !c.Stdin { // what stands at that path on disk is not what was given
		place.leaveOut(o.LeaveOut, r.file, "output")
	}
	defer r.watch(o.Progress)()
	return scanner.Scan(ctx, bundle, tree, o)
}

// check refuses flags that cannot be followed together.
func (c *scanCmd) check() error {
	switch {
	case c.Stdin && c.StdinPath == "":
		return errors.New("--stdin needs --stdin-path PATH: rules select files by their path")
	case !c.Stdin && c.StdinPath != "":
		return errors.New("--stdin-path is given without --stdin")
	case c.Stdin && c.FilesFrom != "":
		return errors.New("--stdin and --files-from are both given; choose one")
	case c.MaxFileBytes < 0:
		return fmt.Errorf("--max-file-bytes is %d; give a number of bytes, or 0 for no limit", c.MaxFileBytes)
	case c.Timeout < 0:
		return fmt.Errorf("--timeout is %s; give a time such as 90s, or 0 for no limit", c.Timeout)
	}
	reasons := []string{scanner.AllowLFSPointer, scanner.AllowSpecialFile, scanner.AllowEmpty, scanner.AllowPartial}
	for _, a := range c.Allow {
		if err := oneOf("--allow", a, reasons); err != nil {
			return err
		}
	}
	for _, g := range c.Exclude {
		if err := glob.Check(g); err != nil {
			return fmt.Errorf("--exclude %q: %w", g, err)
		}
	}
	return nil
}

// tree returns the files that the flags choose, and what to call at the end.
func (c *scanCmd) tree(ctx context.Context, p place, std streams) (scanner.Tree, func(), error) {
	none := func() {}
	if c.Stdin {
		in := std.in
		if c.MaxFileBytes > 0 {
			in = io.LimitReader(in, c.MaxFileBytes+1) // one more shows that there is more
		}
		content, err := readAll(ctx, func() (io.Reader, error) { return in, nil })
		if err != nil {
			return nil, none, fmt.Errorf("standard input cannot be read: %w", err)
		}
		t, err := scanner.Single(c.StdinPath, content)
		return t, none, err
	}
	var entries []string
	if c.FilesFrom != "" {
		var err error
		if entries, err = readList(ctx, c.FilesFrom, std.in); err != nil {
			return nil, none, err
		}
	}
	root, err := worktree.Open(p.root)
	if err != nil {
		return nil, none, fmt.Errorf("the root %s cannot be opened: %w", p.shown, systemError(err))
	}
	if c.FilesFrom != "" {
		return scanner.Listed(root, entries), root.Close, nil
	}
	return scanner.Folder(root), root.Close, nil
}

// readAll reads an input that may never open or end; the error is the context's when
// that ends first.
func readAll(ctx context.Context, open func() (io.Reader, error)) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		in, err := open()
		var text []byte
		if err == nil {
			text, err = io.ReadAll(in)
		}
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readList reads the entries of --files-from. With a NUL anywhere the list is
// NUL-separated, else it is lines that end in LF.
func readList(ctx context.Context, name string, stdin io.Reader) ([]string, error) {
	text, err := readAll(ctx, func() (io.Reader, error) {
		if name == "-" {
			return stdin, nil
		}
		return os.Open(name) // may be a FIFO, as a shell's <(...) is
	})
	if err != nil {
		return nil, fmt.Errorf("--files-from cannot be read: %w", err)
	}
	sep := "\n"
	if strings.IndexByte(string(text), 0) >= 0 {
		sep = "\x00"
	}
	list := strings.TrimSuffix(string(text), sep)
	if list == "" {
		return nil, nil
	}
	return strings.Split(list, sep), nil
}

// only narrows a bundle to the rules of the given ids; none: it stays whole.
func only(b *rules.Bundle, ids []string) (*rules.Bundle, error) {
	if len(ids) == 0 {
		return b, nil
	}
	want := map[string]bool{}
	for _, id := range ids {
		want[id] = true
	}
	var kept []rules.Rule
	var all []string
	for _, r := range b.Rules {
		all = append(all, r.ID)
		if want[r.ID] {
			kept = append(kept, r)
			delete(want, r.ID)
		}
	}
	for _, id := range ids {
		if want[id] {
			return nil, oneOf("--rule", id, all)
		}
	}
	narrow := rules.New(kept, b.Deprecated)
	narrow.SHA256 = b.SHA256
	return narrow, nil
}

// interruptible returns a context that ends after the timeout (0: none) or at a
// signal. caught returns the signal's number, 0 if there was none.
func interruptible(timeout time.Duration) (ctx context.Context, caught func() int, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught, stopSignals := onSignal(func(name string) {
		cancel(&scanner.Interruption{Code: verdict.Interrupted, Message: "the run was stopped by " + name + "; run it again"})
	})
	var timer *time.Timer
	if timeout > 0 {
		timer = time.AfterFunc(timeout, func() {
			cancel(&scanner.Interruption{Code: verdict.Timeout, Message: fmt.Sprintf("the run did not end within --timeout %s; raise it, or scan less", timeout)})
		})
	}
	return ctx, caught, func() {
		stopSignals()
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
}
