package main

import (
	"context"
	"os"
	"time"

	"github.com/policyscan/policyscan/verdict/shard"
)

// waitEvery is how often a merge that waits looks for shards.
const waitEvery = time.Second

// A sight is what a shard file was when it was last looked at.
type sight struct {
	size     int64
	modified time.Time
	written  bool
}

// await returns when all shard files have been written, or after the time of --wait. It judges none of them: what is
// missing or wrong then, the merge says.
func (c *mergeCmd) await(ctx context.Context) {
	if c.Wait == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	seen := map[string]sight{}
	for !c.allWritten(seen) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(waitEvery):
		}
	}
}

// allWritten reports whether every shard file is there, and is that of a run that has ended. A file that has not
// changed is not read again.
func (c *mergeCmd) allWritten(seen map[string]sight) bool {
	all := true
	for _, name := range c.Files {
		stat, err := os.Stat(name)
		if err != nil {
			all = false
			continue
		}
		now := sight{size: stat.Size(), modified: stat.ModTime()}
		if was := seen[name]; was.size == now.size && was.modified.Equal(now.modified) {
			now.written = was.written
		} else if d, err := readShard(name); err == nil {
			now.written = d.State == shard.Done || d.State == shard.Stopped
		}
		seen[name] = now
		all = all && now.written
	}
	return all
}
