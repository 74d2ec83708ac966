// Package needle says which of a fixed set of byte strings occur in a content.
// It knows neither rules nor files: bytes in, a set of indices out.
//
// # How
//
// Content is not looked at byte by byte. A few bytes at a place (a gram) are looked
// up in a bitmap, and only where the bitmap says "perhaps" are the needles that
// hold this gram compared. A gram of q bytes that is looked up at every s-th place
// meets each needle of q+s-1 bytes and more, wherever it stands:
//
//	needle            0 . 0 . 0 . 0 / 0
//	content   c i d r = 0 . 0 . 0 . 0 / 0 \n } .
//	grams     [. . . .]       [. 0 . 0]       [. . .       q = 4, s = 4
//	                  [= 0 . 0]       [. 0 / 0]
//
// Needles of seven bytes and more have grams of four bytes at every fourth place,
// those of four to six bytes grams of three at every second place, and shorter ones
// are searched one by one with bytes.Index. Of each needle s grams in a row are
// entered, one for each alignment; among the places where they could stand in the
// needle, the one whose bytes are rarest in text is taken. A gram only ever proposes
// a needle; a comparison of all its bytes decides. The answer is exact.
//
// The idea is that of filters with q-samples (Navarro and Raffinot, Flexible Pattern
// Matching in Strings, Cambridge 2002).
package needle

import (
	"bytes"
	"encoding/binary"
)

// A Set is a compiled set of needles. It may be used by several goroutines at once.
type Set struct {
	needles [][]byte
	short   []int // needles without grams
	mid     grams // q = 3, s = 2
	long    grams // q = 4, s = 4
}

// The shortest needle for each kind of gram: q+s-1 bytes.
const (
	midLen  = 3 + 2 - 1
	longLen = 4 + 4 - 1
)

// Compile prepares a set. No needle may be empty; two may be equal. The needles
// must not be changed afterwards.
func Compile(needles [][]byte) *Set {
	s := &Set{needles: needles}
	rank := ranks()
	for i, n := range needles {
		switch {
		case len(n) < midLen:
			s.short = append(s.short, i)
		case len(n) < longLen:
			for at := range rank.rarest(n, 3, 2) {
				s.mid.add(uint32(n[at])|uint32(n[at+1])<<8|uint32(n[at+2])<<16, place{i, at})
			}
		default:
			for at := range rank.rarest(n, 4, 4) {
				s.long.add(binary.LittleEndian.Uint32(n[at:]), place{i, at})
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
	if s.mid.maybe != nil {
		s.findMid(content, seen)
	}
	if s.long.maybe != nil {
		s.findLong(content, seen)
	}
}

// step is how many bytes the loops below look at before they decide anything: with
// four look-ups under way at once they run at twice the speed of one at a time.
const step = 16

func (s *Set) findLong(content []byte, seen []bool) {
	m := s.long.maybe
	at := 0
	for ; at+step <= len(content); at += step {
		c := content[at : at+step : at+step]
		v, w := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(c[8:])
		if m.has(uint32(v))|m.has(uint32(v>>32))|m.has(uint32(w))|m.has(uint32(w>>32)) == 0 {
			continue
		}
		for k := 0; k < step; k += 4 {
			s.compare(&s.long, binary.LittleEndian.Uint32(c[k:]), content, at+k, seen)
		}
	}
	for ; at+4 <= len(content); at += 4 {
		s.compare(&s.long, binary.LittleEndian.Uint32(content[at:]), content, at, seen)
	}
}

func (s *Set) findMid(content []byte, seen []bool) {
	const gram = 1<<24 - 1
	m := s.mid.maybe
	at := 0
	for ; at+step <= len(content); at += step / 2 {
		c := content[at : at+step : at+step]
		v, w := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(c[2:])
		if m.has(uint32(v)&gram)|m.has(uint32(v>>16)&gram)|m.has(uint32(v>>32)&gram)|m.has(uint32(w>>32)&gram) == 0 {
			continue
		}
		for k := 0; k < step/2; k += 2 {
			s.compare(&s.mid, binary.LittleEndian.Uint32(c[k:])&gram, content, at+k, seen)
		}
	}
	for ; at+3 <= len(content); at += 2 {
		s.compare(&s.mid, uint32(content[at])|uint32(content[at+1])<<8|uint32(content[at+2])<<16, content, at, seen)
	}
}

// compare looks for the needles that hold the gram that stands at a place.
func (s *Set) compare(g *grams, gram uint32, content []byte, at int, seen []bool) {
	if g.maybe.has(gram) == 0 {
		return
	}
	for _, p := range g.of[gram] {
		n, start := s.needles[p.needle], at-p.at
		if !seen[p.needle] && start >= 0 && bytes.HasPrefix(content[start:], n) {
			seen[p.needle] = true
		}
	}
}

// grams says which needles hold a gram, and where.
type grams struct {
	maybe *bitmap // nil: there are none
	of    map[uint32][]place
}

type place struct {
	needle int
	at     int // of the gram in the needle
}

func (g *grams) add(gram uint32, p place) {
	if g.maybe == nil {
		g.maybe, g.of = new(bitmap), make(map[uint32][]place)
	}
	g.of[gram] = append(g.of[gram], p)
	g.maybe.add(gram)
}

// bitmap is a set of hashes of 15 bits, a byte for each: a bit for each would need
// a shift more at every place, and 32 KiB still fit the fastest cache.
type bitmap [1 << 15]byte

func (b *bitmap) has(gram uint32) byte { return b[hash(gram)] }
func (b *bitmap) add(gram uint32)      { b[hash(gram)] = 1 }

// hash spreads a gram over 15 bits (Fibonacci hashing).
func hash(gram uint32) uint32 { return gram * 0x9e3779b1 >> 17 }

// ranking is a rough rank of how often each byte stands in source code and
// configuration: from 1, rare, to 6.
type ranking [256]int

func ranks() *ranking {
	var r ranking
	for i := range r {
		r[i] = 1
	}
	for _, class := range []struct {
		bytes string
		rank  int
	}{
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789.,:;=()\"'/*", 2},
		{"abcdefghijklmnopqrstuvwxyz_-01", 3},
		{"etaoinsrlcdp\n\t", 4},
		{" \x00", 6},
	} {
		for i := range len(class.bytes) {
			r[class.bytes[i]] = class.rank
		}
	}
	return &r
}

// rarest returns the places of count grams of q bytes in a row: those in the needle
// that are the least common together.
func (r *ranking) rarest(needle []byte, q, count int) func(yield func(int) bool) {
	best, from := 0, -1
	// A needle can be long, and its beginning is as good as any other part.
	for i := 0; i+count+q-1 <= len(needle) && i < 256; i++ {
		sum := 0
		for k := range count {
			product := 1
			for _, c := range needle[i+k : i+k+q] {
				product *= r[c]
			}
			sum += product
		}
		if from < 0 || sum < best {
			best, from = sum, i
		}
	}
	return func(yield func(int) bool) {
		for k := range count {
			if !yield(from + k) {
				return
			}
		}
	}
}
