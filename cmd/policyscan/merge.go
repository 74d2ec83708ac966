package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/shard"
)

type mergeCmd struct {
	Files []string `arg:"" name:"shard" help:"@merge_files"`

	Output string `placeholder:"FILE" help:"@merge_output"`
	reportFlag
	colorFlag
	Quiet bool          `short:"q" help:"Print only the reports of --report; errors still go to standard error."`
	Wait  time.Duration `placeholder:"D" help:"@merge_wait"`
}

func (c *mergeCmd) Run(std streams) error {
	std.color = c.Color
	if c.Wait < 0 {
		return fmt.Errorf("--wait is %s; give a time such as 2h, or 0 to wait for nothing", c.Wait)
	}
	began := time.Now()
	// Until the first shard exists, it is unknown whether the shards are a tree's or a fleet's.
	c.await(context.Background(), began, func(map[string]shard.Split) bool {
		_, err := os.Stat(c.Files[0])
		return err == nil
	})
	if st, err := os.Stat(c.Files[0]); err == nil && st.IsDir() {
		return c.mergeFleet(std, began)
	}
	o := newOptions()
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
	r := newReporter(&scanCmd{Output: c.Output, reportFlag: c.reportFlag, Quiet: c.Quiet}, o, std)
	r.began = began
	if err := r.begin(nil); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(0)
	defer stop()
	c.await(ctx, began, c.filesWritten)
	v := c.merge()
	failed := r.outputs.End(v, caught)
	return ended(exitStatus(v), caught, failed)
}

// overwritten returns the shard file, if any, that the verdict or a report would replace.
func (c *mergeCmd) overwritten() string {
	outputs := []string{c.Output}
	for _, r := range c.Report {
		_, file, _ := strings.Cut(r, "=")
		outputs = append(outputs, file)
	}
	for _, name := range c.Files {
		in, err := os.Stat(name)
		if err == nil && slices.ContainsFunc(outputs, func(output string) bool {
			out, err := os.Stat(output) // an error: the file does not exist yet, or the output will be refused
			return err == nil && os.SameFile(in, out)
		}) {
			return name
		}
	}
	return ""
}

// merge returns the merged verdict. If the files do not fit together, its errors say why.
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

// waitEvery is the interval at which a waiting merge looks for shards.
const waitEvery = time.Second

// await returns when all shards have been written, or after the time of --wait. The merge reports missing or bad
// shards. allWritten adds to ended the files of runs that have ended, which are not read again.
func (c *mergeCmd) await(ctx context.Context, began time.Time, allWritten func(ended map[string]shard.Split) bool) {
	if c.Wait == 0 {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, began.Add(c.Wait))
	defer cancel()
	ended := map[string]shard.Split{}
	for !allWritten(ended) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(waitEvery):
		}
	}
}

func hasEnded(state string) bool { return state == shard.Done || state == shard.Stopped }

// filesWritten reports whether every shard file of a tree exists and its run has ended.
func (c *mergeCmd) filesWritten(ended map[string]shard.Split) bool {
	all := true
	for _, name := range c.Files {
		if _, known := ended[name]; known {
			continue
		}
		if d, err := readShard(name); err == nil && hasEnded(d.State) {
			ended[name] = d.Shard
		} else {
			all = false
		}
	}
	return all
}

// dirsWritten reports whether the directories have all shards of a fleet, and all their runs have ended.
func (c *mergeCmd) dirsWritten(ended map[string]shard.Split) bool {
	dirs, err := shardDirs(c.Files)
	if err != nil {
		return false // the first one is still to come
	}
	written, count := map[int]bool{}, 1
	for _, dir := range slices.Concat(dirs...) {
		name := filepath.Join(dir, shardName)
		of, known := ended[name]
		if !known {
			p, err := readPart(name)
			if err != nil {
				continue
			}
			if of = p.Shard; hasEnded(p.State) {
				ended[name], known = of, true
			}
		}
		if known {
			written[of.Index] = true
		}
		count = max(count, of.Count)
	}
	return len(written) >= count
}
