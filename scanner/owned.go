package scanner

import (
	"encoding/binary"
	"fmt"

	"github.com/policyscan/policyscan/scanner/repo"
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

// contentOf is the number of a leaf of git's.
func contentOf(leaf repo.Leaf) uint64 {
	return binary.BigEndian.Uint64(leaf.Hash[:8]) + uint64(leaf.Mode)
}

// owns reports whether a file that is listed is one to look at. A shard notes those of others as well.
func (w *worker) owns(path string, content uint64) bool {
	if w.Owns == nil {
		return true
	}
	own := w.Owns(path)
	w.tally.mu.Lock()
	defer w.tally.mu.Unlock()
	w.tally.all.add(path, content)
	if own {
		w.tally.all.own++
	}
	return own
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
