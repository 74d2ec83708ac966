package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/policyscan/policyscan/cmd/policyscan/manual"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/shard"
)

// mergeCmd makes the verdict of the shards of a scan.
type mergeCmd struct {
	Files []string `arg:"" name:"shard" help:"@merge_files"`

	Output string `placeholder:"FILE" help:"@merge_output"`
	reportFlag
	Quiet bool          `short:"q" help:"Print only the reports of --report; errors still go to standard error."`
	Wait  time.Duration `placeholder:"D" help:"@merge_wait"`
}

// Help returns the text below the flags.
func (*mergeCmd) Help() string {
	return `The verdict and the reports are those that one scan of the whole tree would have written, byte for byte.
Each shard must be there once, of the same files, bundle, flags and program, and complete.

Examples:
  policyscan --tracked --shard 0/2 --output s0.json
  policyscan --tracked --shard 1/2 --output s1.json
  policyscan merge s0.json s1.json

` + manual.Statuses()
}

// Run merges, and reports.
func (c *mergeCmd) Run(std streams) error {
	if c.Wait < 0 {
		return fmt.Errorf("--wait is %s; give a time such as 2h, or 0 to wait for nothing", c.Wait)
	}
	began := time.Now()
	c.awaitFirst(began)
	if st, err := os.Stat(c.Files[0]); err == nil && st.IsDir() {
		return c.mergeFleet(std, began)
	}
	o := run.Options{Version: version(), Git: gitEnvironment(), Getenv: getenv}
	if c.Output == "" {
		var err error
		if c.Output, err = o.VerdictFile(); err != nil {
			replaceOldVerdict(run.VerdictFiles(o.Git)...)
			return err
		}
	}
	if name := c.overwritten(); name != "" {
		return fmt.Errorf("%s is one of the shard files, and would be overwritten; write to another file", safe(name))
	}
	about := &scanCmd{Output: c.Output, reportFlag: c.reportFlag, Quiet: c.Quiet}
	r := reporter{scanCmd: about, options: o, about: &run.Run{Options: o}, std: std, began: began}
	if err := r.begin(nil); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(0)
	defer stop()
	c.await(ctx, began, c.filesWritten)
	v := c.merge()
	failed := r.outputs.End(v, caught)
	if sig := caught(); sig != 0 {
		return outcome{status: 128 + sig, err: failed}
	}
	if status := exitStatus(v); status != exitPass {
		return outcome{status: status, err: failed}
	}
	return nil
}

// overwritten returns the shard file, if any, that the verdict or a report would replace.
func (c *mergeCmd) overwritten() string {
	outputs := []string{c.Output}
	for _, r := range c.Report {
		_, file, _ := strings.Cut(r, "=")
		outputs = append(outputs, file)
	}
	for _, name := range outputs {
		out, err := os.Stat(name)
		if err != nil { // nothing is there yet, or the output will be refused
			continue
		}
		for _, name := range c.Files {
			if in, err := os.Stat(name); err == nil && os.SameFile(in, out) {
				return name
			}
		}
	}
	return ""
}

// merge returns the verdict. That of files that make none says what is wrong with them.
func (c *mergeCmd) merge() *verdict.Verdict {
	var files []scanner.ShardFile
	for _, name := range c.Files {
		d, err := readShard(name)
		files = append(files, scanner.ShardFile{Name: verdict.Visible(name), Document: d, Err: err})
	}
	v, wrong := scanner.Merge(version(), files)
	if len(wrong) == 0 {
		return v
	}
	var all []verdict.Error
	for _, err := range wrong {
		all = append(all, verdict.Error{Code: code.Shard, Message: err.Error()})
	}
	v = verdict.Incomplete(version(), verdict.Scope{Mode: "full"}, all...)
	v.Decide()
	return v
}

// maxShard is how many bytes a shard file can have.
const maxShard = 1<<31 - 2

func readShard(name string) (*shard.Document, error) {
	text, err := readShardFile(name)
	if err != nil {
		return nil, err
	}
	return shard.Decode(text)
}

func readShardFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, disk.Cause(err)
	}
	defer f.Close() // read only: nothing to lose
	text, err := io.ReadAll(io.LimitReader(f, maxShard+1))
	if err != nil {
		return nil, disk.Cause(err)
	}
	if len(text) > maxShard {
		return nil, errors.New("it is longer than 2 GiB")
	}
	return text, nil
}
