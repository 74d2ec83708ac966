package scanner

import (
	"fmt"

	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict/shard"
)

// A listing identifies files by a count and a sum, in whatever order they come.
type listing struct {
	files int
	own   int // of which this run looks at so many
	sum   uint64
}

// add adds a file; content is a number that differs where its content is known to.
func (l *listing) add(path string, content uint64) {
	h := mix(content + uint64(len(path)))
	for ; len(path) >= 8; path = path[8:] {
		h = mix(h ^ (uint64(path[0]) | uint64(path[1])<<8 | uint64(path[2])<<16 | uint64(path[3])<<24 |
			uint64(path[4])<<32 | uint64(path[5])<<40 | uint64(path[6])<<48 | uint64(path[7])<<56))
	}
	last := uint64(0)
	for i := range len(path) {
		last = last<<8 | uint64(path[i])
	}
	l.files++
	l.sum += mix(h ^ last)
}

// mix spreads a number over all of its bits (the end of MurmurHash3), so that the sum of two of them is no third one's
// by their likeness.
func mix(n uint64) uint64 {
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}

// add notes a file of the tree, whoever looks at it.
func (t *tally) add(f *tree.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all.add(f.Path, f.Key)
	if f.State != tree.Elsewhere {
		t.all.own++
	}
}

// listing puts together what all workers have listed.
func (p *collector) listing() shard.Tree {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all listing
	for _, t := range p.tallies {
		t.mu.Lock()
		all.files += t.all.files
		all.own += t.all.own
		all.sum += t.all.sum
		t.mu.Unlock()
	}
	return shard.Tree{Files: all.files, Own: all.own, Sum: fmt.Sprintf("%016x", all.sum)}
}
