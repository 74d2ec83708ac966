package scanner

import (
	"fmt"

	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict/shard"
)

// A digest identifies a set of files by a count and a sum.
type digest struct {
	files int
	own   int // number of files of this shard
	sum   uint64
}

// add adds a file; content is a number that differs with the content, if known.
func (l *digest) add(path string, content uint64) {
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

// mix is the end of MurmurHash3, so that the sums of similar paths do not collide.
func mix(n uint64) uint64 {
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}

// addToDigest adds a file of the tree, of any shard, in a scan of several shards.
func (w *worker) addToDigest(f *tree.File) {
	if w.scan.inShard == nil {
		return
	}
	w.sum.mu.Lock()
	defer w.sum.mu.Unlock()
	w.sum.digest.add(f.Path, f.Key)
	if f.State != tree.Elsewhere {
		w.sum.digest.own++
	}
}

// digest adds up the digests of all workers.
func (s *scan) digest() shard.Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all digest
	for _, t := range s.sums {
		t.mu.Lock()
		all.files += t.digest.files
		all.own += t.digest.own
		all.sum += t.digest.sum
		t.mu.Unlock()
	}
	return shard.Tree{Files: all.files, Own: all.own, Sum: fmt.Sprintf("%016x", all.sum)}
}
