// Package needle says which of a fixed set of byte strings occur in a content.
// It knows neither rules nor files: bytes in, a set of indices out.
//
// # How
//
// Content is tested a few bytes at a time, not byte by byte: the four bytes (a
// gram) at a place are looked up in a bitmap, and only where the bitmap says
// "perhaps" are the needles that hold this gram compared. Needles of seven bytes
// and more hold a gram that begins at a multiple of four wherever they stand, so
// for them every fourth place is enough:
//
//	content   . . . . x x 0 . 0 . 0 . 0 / 0 x . . . .
//	grams     [. . . .]       [. 0 . 0]       [. . .
//	                  [x x 0 .]       [. 0 / 0]
//
// Four grams of each such needle, one for each alignment, are entered; of the
// places where these four could stand in the needle, the one whose bytes are rarest
// in text is taken. Needles of four to six bytes have one gram, looked up at every
// place; shorter ones are searched one by one with bytes.Index. A gram only ever
// proposes a needle, a comparison of all its bytes decides: the answer is exact.
//
// The idea is that of q-gram filters with sampled text (see Navarro and Raffinot,
// Flexible Pattern Matching in Strings, 2002).
package needle

import (
	"bytes"
	"encoding/binary"
)

// gramLen is the length of a gram, and the stride of the sampled ones.
const gramLen = 4

// sampledLen is the shortest needle in which a gram begins at every alignment.
const sampledLen = 2*gramLen - 1

// A Set is a compiled set of needles. It may be used by several goroutines at once.
type Set struct {
	needles [][]byte
	short   []int // needles of fewer bytes than a gram
	dense   grams // one gram each of the needles that are too short to be sampled
	sampled grams
}

// Compile prepares a set. No needle may be empty; two may be equal. The needles
// must not be changed afterwards.
func Compile(needles [][]byte) *Set {
	s := &Set{needles: needles}
	for i, n := range needles {
		switch {
		case len(n) < gramLen:
			s.short = append(s.short, i)
		case len(n) < sampledLen:
			s.dense.add(n, i, rarest(n, 1))
		default:
			at := rarest(n, gramLen)
			for k := range gramLen {
				s.sampled.add(n, i, at+k)
			}
		}
	}
	return s
}

// Find sets seen[i] for each needle i that occurs in content. Needles already seen
// are not looked for. seen has one element for each needle.
func (s *Set) Find(content []byte, seen []bool) {
	for _, i := range s.short {
		if !seen[i] && bytes.Contains(content, s.needles[i]) {
			seen[i] = true
		}
	}
	s.find(&s.dense, 1, content, seen)
	s.find(&s.sampled, gramLen, content, seen)
}

// find looks at the gram at every stride-th place of content.
func (s *Set) find(g *grams, stride int, content []byte, seen []bool) {
	if g.of == nil {
		return
	}
	for at := 0; at+gramLen <= len(content); at += stride {
		gram := binary.LittleEndian.Uint32(content[at:])
		if h := hash(gram); g.maybe[h/8]&(1<<(h%8)) == 0 {
			continue
		}
		for _, p := range g.of[gram] {
			n, start := s.needles[p.needle], at-p.at
			if !seen[p.needle] && start >= 0 && bytes.HasPrefix(content[start:], n) {
				seen[p.needle] = true
			}
		}
	}
}

// grams says which needles hold a gram, and where.
type grams struct {
	maybe [1 << 13]byte // a bit for each hash: small enough for the fastest cache
	of    map[uint32][]place
}

type place struct {
	needle int
	at     int // of the gram in the needle
}

func (g *grams) add(needle []byte, i, at int) {
	if g.of == nil {
		g.of = make(map[uint32][]place)
	}
	gram := binary.LittleEndian.Uint32(needle[at:])
	g.of[gram] = append(g.of[gram], place{needle: i, at: at})
	h := hash(gram)
	g.maybe[h/8] |= 1 << (h % 8)
}

// hash spreads a gram over the 2^16 bits of the map (Fibonacci hashing).
func hash(gram uint32) uint32 { return gram * 0x9e3779b1 >> 16 }

// rarest returns where in the needle count grams in a row are the least common.
func rarest(needle []byte, count int) int {
	best, at := 1<<30, 0
	for i := 0; i+count+gramLen-1 <= len(needle) && i < 256; i++ {
		sum := 0
		for k := range count {
			worst := 1
			for _, c := range needle[i+k : i+k+gramLen] {
				worst *= commonness(c)
			}
			sum += worst
		}
		if sum < best {
			best, at = sum, i
		}
	}
	return at
}

// commonness is a rough rank of how often a byte stands in source code and
// configuration: from 1, rare, to 6.
func commonness(c byte) int {
	switch {
	case c == ' ' || c == 0:
		return 6
	case bytes.IndexByte([]byte("etaoinsrlcdp"), c) >= 0 || c == '\n' || c == '\t':
		return 4
	case 'a' <= c && c <= 'z' || c == '_' || c == '-' || c == '0' || c == '1':
		return 3
	case 'A' <= c && c <= 'Z' || bytes.IndexByte([]byte(`.,:;=()"'/*`), c) >= 0 || '2' <= c && c <= '9':
		return 2
	}
	return 1
}
