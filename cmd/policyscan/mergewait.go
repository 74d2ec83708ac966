package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/policyscan/policyscan/verdict/shard"
)

// waitEvery is how often a merge that waits looks for shards.
const waitEvery = time.Second

// A sight is what a shard file was when it was last looked at.
type sight struct {
	size     int64
	modified time.Time
	written  bool // by a run that has ended
	index    int
	count    int // of the shards of its run
}

// awaitFirst returns when the first file or folder of shards is there, or after the time of --wait. Until then nobody
// can tell whether the shards are those of a tree or of a fleet.
func (c *mergeCmd) awaitFirst(began time.Time) {
	for time.Since(began) < c.Wait {
		if _, err := os.Stat(c.Files[0]); err == nil {
			return
		}
		time.Sleep(min(waitEvery, c.Wait-time.Since(began)))
	}
}

// await returns when all shards have been written, or after the time of --wait. It judges none of them: what is missing
// or wrong then, the merge says.
func (c *mergeCmd) await(ctx context.Context, began time.Time, allWritten func(map[string]sight) bool) {
	if c.Wait == 0 {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, began.Add(c.Wait))
	defer cancel()
	seen := map[string]sight{}
	for !allWritten(seen) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(waitEvery):
		}
	}
}

// filesWritten reports whether every shard file of a tree is there, and is that of a run that has ended.
func (c *mergeCmd) filesWritten(seen map[string]sight) bool {
	all := true
	for _, name := range c.Files {
		s := look(seen, name, func(s *sight) error {
			d, err := readShard(name)
			if err == nil {
				s.written = d.State == shard.Done || d.State == shard.Stopped
			}
			return err
		})
		all = all && s.written
	}
	return all
}

// foldersWritten reports whether the folders have as many shards of a fleet as there are in the run, all of runs that
// have ended.
func (c *mergeCmd) foldersWritten(seen map[string]sight) bool {
	folders, err := shardFolders(c.Files)
	if err != nil {
		return false // the first one is still to come
	}
	written, count := map[int]bool{}, 1
	for _, folder := range slices.Concat(folders...) {
		name := filepath.Join(folder, shardName)
		s := look(seen, name, func(s *sight) error {
			p, err := readPart(name)
			if err == nil {
				s.written = p.State == shard.Done || p.State == shard.Stopped
				s.index, s.count = p.Shard.Index, p.Shard.Count
			}
			return err
		})
		if s.written {
			written[s.index] = true
		}
		count = max(count, s.count)
	}
	return len(written) >= count
}

// look returns what a shard file is. One that has not changed is not read again.
func look(seen map[string]sight, name string, read func(*sight) error) sight {
	stat, err := os.Stat(name)
	if err != nil {
		return sight{}
	}
	now := sight{size: stat.Size(), modified: stat.ModTime()}
	if was, ok := seen[name]; ok && was.size == now.size && was.modified.Equal(now.modified) {
		return was
	}
	if read(&now) == nil {
		seen[name] = now
	}
	return now
}
