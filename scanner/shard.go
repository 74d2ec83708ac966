package scanner

import (
	"context"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/shard"
)

// Shard is [Scan] of the files of one shard. It lists the whole tree, checks its part, and returns the findings.
// [Merge] makes the verdict of the documents of all shards. A change has no shards.
func Shard(ctx context.Context, r *run.Run, of shard.Split, p *Progress) *shard.Document {
	s := newScan(r)
	s.inShard, s.progress = of.Owns, p
	s.runUntil(ctx)
	d := &shard.Document{Shard: of, State: shard.Done, Tree: s.digest()}
	about, findings := s.collect()
	d.Run, d.Findings = *about, *findings
	if ctx.Err() != nil || !d.Findings.Listed {
		d.State = shard.Interrupted
	}
	d.Verdict = shard.Undecided
	for i := range d.Findings.Violations {
		if d.Findings.Violations[i].Allowance == nil {
			d.Verdict = shard.Fail
		}
	}
	return d
}

// ShardStopped returns the document of a shard that failed before scanning; v is the verdict of such a run.
func ShardStopped(v *verdict.Verdict, of shard.Split) *shard.Document {
	d := &shard.Document{Verdict: shard.Undecided, Shard: of, State: shard.Stopped}
	d.Run.Tool, d.Run.Scope, d.Findings.TreeErrors = v.Tool, v.Scope, v.Errors
	return d
}
