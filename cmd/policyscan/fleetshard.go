package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/output"
	"github.com/policyscan/policyscan/verdict/shard"
	"github.com/policyscan/policyscan/verdict/summary"
)

// part returns the shard file in a state, with a decided summary.
func (r *fleetRun) part(state string, f *summary.Fleet) *summary.Part {
	o := summary.Options{RequireGoverned: r.RequireGoverned, MaxFileBytes: r.MaxFileBytes}
	return summary.NewPart(r.of, state, o, f)
}

// invalidateFleet replaces the summary of an earlier run in a results directory, and its shard file if this run writes
// one or might have.
func invalidateFleet(dir string, shards bool) {
	if dir == "none" {
		return
	}
	var part func(*summary.Fleet) output.Document
	if shards {
		part = func(f *summary.Fleet) output.Document {
			return summary.NewPart(shard.Split{Index: 0, Count: 1}, shard.Stopped, summary.Options{}, f)
		}
	}
	output.ReplaceOldFleet(version(), gitEnvironment().Tracks, dir, part)
}

func (r *fleetRun) endPart(ctx context.Context, caught func() int) error {
	r.summary.Decide()
	state := shard.Done
	switch {
	case r.stopped:
		state = shard.Stopped
	case ctx.Err() != nil:
		state = shard.Interrupted
	}
	p := r.part(state, r.summary)
	failed := r.outputs.EndPart(p)
	return ended(shardStatus(p.Verdict, p.Decided(), r.Defer, failed), caught, failed)
}

const shardName = "shard.json"

// mergeFleet writes the summary of a fleet's shards, and the directory of their results.
func (c *mergeCmd) mergeFleet(std streams, began time.Time) error {
	if c.Output == "" {
		c.Output = "policyscan-fleet"
	}
	about := &fleetCmd{Output: c.Output, Report: c.Report, Quiet: c.Quiet}
	dirs, err := shardDirs(c.Files)
	if c.Wait > 0 {
		err = nil // they are still to come
	}
	if err == nil && c.Output != "none" {
		err = checkSeparateDirs(c.Output, append(slices.Concat(dirs...), c.Files...))
	}
	if err != nil {
		return err
	}
	r, err := about.prepareOutputs(std, began)
	if err != nil {
		invalidateFleet(c.Output, false)
		return err
	}
	if err := r.outputs.Begin(r.summary); err != nil {
		return err
	}
	ctx, caught, stop := interruptible(0)
	defer stop()
	c.await(ctx, began, c.dirsWritten)
	if dirs, err = shardDirs(c.Files); err != nil {
		r.summary.Errors = append(r.summary.Errors, verdict.Error{Code: code.Shard, Message: err.Error()})
	} else {
		r.merge(ctx, dirs)
	}
	return r.end(caught)
}

// shardDirs returns the shard directories of each named directory: itself, or, if it has no shard file, its
// subdirectories. A shard may have a directory per attempt, which are returned then. A directory without either
// belongs to a shard that wrote nothing.
func shardDirs(named []string) ([][]string, error) {
	var all [][]string
	for _, name := range named {
		found := []string{name}
		if !hasShard(name) {
			inside, err := dirsIn(name)
			if err != nil {
				return nil, fmt.Errorf("%s: the directory of shards cannot be read: %w", safe(name), disk.Cause(err))
			}
			found = nil
			for _, dir := range inside {
				attempts, _ := dirsIn(dir)
				attempts = slices.DeleteFunc(attempts, func(attempt string) bool { return !hasShard(attempt) })
				if hasShard(dir) || len(attempts) == 0 {
					attempts = []string{dir}
				}
				found = append(found, attempts...)
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: there is no %s in it, nor in a directory in it; name directories of shards",
				safe(name), shardName)
		}
		all = append(all, found)
	}
	return all, nil
}

// hasShard reports whether a directory has a shard file, or one that cannot be seen.
func hasShard(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, shardName))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

func dirsIn(dir string) ([]string, error) {
	inside, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, d := range inside {
		if d.IsDir() {
			all = append(all, filepath.Join(dir, d.Name()))
		}
	}
	return all, nil
}

// checkSeparateDirs fails if the results directory is a shard's, or contains or is inside one: it is emptied first.
func checkSeparateDirs(out string, dirs []string) error {
	real, err := disk.Real(out)
	if errors.Is(err, fs.ErrNotExist) {
		dir, derr := disk.Real(filepath.Dir(filepath.Clean(out)))
		real, err = filepath.Join(dir, filepath.Base(out)), derr
		if errors.Is(err, fs.ErrNotExist) {
			return nil // its parent does not exist, so it is not a shard's directory
		}
	}
	if err != nil {
		return fmt.Errorf("the directory of the results cannot be found: %w", disk.Cause(err))
	}
	for _, dir := range dirs {
		in, err := disk.Real(dir)
		if err != nil {
			return fmt.Errorf("%s: the directory of a shard cannot be found: %w", safe(dir), disk.Cause(err))
		}
		sep := string(filepath.Separator)
		if strings.HasPrefix(in+sep, real+sep) || strings.HasPrefix(real+sep, in+sep) {
			return fmt.Errorf("the results would go to %s, and %s is a directory of shards; "+
				"choose an --output outside of it", safe(out), safe(dir))
		}
	}
	return nil
}

// merge writes the summary of the shards in some directories. If they do not fit together, its errors say why.
func (r *fleetRun) merge(ctx context.Context, dirs [][]string) {
	var parts []summary.NamedPart
	of := map[string]string{} // the directory of each repository
	for _, named := range dirs {
		var found []summary.NamedPart
		for _, dir := range named {
			p, err := readPart(filepath.Join(dir, shardName))
			found = append(found, summary.NamedPart{Name: verdict.Visible(dir), Dir: dir, Part: p, Err: err})
		}
		for _, n := range summary.Attempts(found) {
			parts = append(parts, n)
			if n.Err != nil {
				continue
			}
			for i := range n.Part.Fleet.Repositories {
				of[n.Part.Fleet.Repositories[i].Name] = n.Dir
			}
		}
	}
	f, wrong := summary.Merge(version(), parts)
	for i := range f.Repositories {
		row := &f.Repositories[i]
		if ctx.Err() != nil {
			wrong = append(wrong, context.Cause(ctx))
			break
		}
		if err := r.outputs.Adopt(of[row.Name], row.Name, row.SHA256); err != nil {
			wrong = append(wrong, err)
		}
	}
	*r.summary = *f
	if len(wrong) == 0 {
		return
	}
	if err := r.outputs.Void(); err != nil {
		wrong = append(wrong, err)
	}
	*r.summary = *summary.New(version())
	for _, err := range wrong {
		r.summary.Errors = append(r.summary.Errors, verdict.Error{Code: code.Shard, Message: err.Error()})
	}
}

func readPart(name string) (*summary.Part, error) {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() { // a FIFO would be waited for
		return nil, fmt.Errorf("its %s is not a regular file", shardName)
	}
	text, err := readShardFile(name)
	if err != nil {
		return nil, fmt.Errorf("its %s cannot be read: %w", shardName, err)
	}
	return summary.DecodePart(text)
}
