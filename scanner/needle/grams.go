package needle

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// grams finds needles by a few bytes each, looked up at every few places of a content.
type grams struct {
	filter filter
	places []place // of each gram in a row
	slots  []slot  // by the hash of the gram; open addressing, a power of two
	fold   uint32  // bits that are set in each gram, and in what is looked up: the case bits, if a needle is folded
}

// A place is where a gram is in a needle.
type place struct {
	gram   uint32
	needle int
	at     int    // of the gram in the needle
	head   uint32 // the needle's first four bytes
	bits   uint32 // of them that do not count; they are set in head
}

// A slot says which places are those of a gram.
type slot struct {
	gram     uint32
	from, to int32 // empty: the slot is free
}

// newGrams returns the grams of size bytes, to be looked up at every step-th place, of some
// needles, each of which is size+step-1 bytes long at
// least; nil if there are none.
func newGrams(needles []*Needle, of []int, size, step int) *grams {
	if len(of) == 0 {
		return nil
	}
	g := &grams{}
	if slices.ContainsFunc(of, func(i int) bool { return needles[i].fold }) {
		g.fold = gramAt([]byte{caseBit, caseBit, caseBit, caseBit}, size)
	}
	for _, i := range of {
		n, from := needles[i].text, needles[i].grams
		p := place{needle: i, head: binary.LittleEndian.Uint32(n)}
		if needles[i].fold {
			p.bits = caseBits(p.head)
		}
		for p.at = from; p.at < from+step; p.at++ {
			p.gram = gramAt(n[p.at:], size) | g.fold
			g.places = append(g.places, p)
		}
	}
	slices.SortFunc(g.places, func(a, b place) int { return cmp.Compare(a.gram, b.gram) })
	g.filter = newFilter(len(g.places))
	g.slots = make([]slot, 1<<bits.Len(uint(2*len(g.places))))
	for from := 0; from < len(g.places); {
		to := from
		for to < len(g.places) && g.places[to].gram == g.places[from].gram {
			to++
		}
		g.add(slot{g.places[from].gram, int32(from), int32(to)})
		from = to
	}
	return g
}

func gramAt(b []byte, size int) uint32 {
	var gram uint32
	for i := range size {
		gram |= uint32(b[i]) << (8 * i)
	}
	return gram
}

func (g *grams) add(s slot) {
	g.filter.add(s.gram)
	i := g.slotOf(s.gram)
	for g.slots[i].to > 0 {
		i = (i + 1) & (len(g.slots) - 1)
	}
	g.slots[i] = s
}

func (g *grams) slotOf(gram uint32) int { return int(gram*spread>>3) & (len(g.slots) - 1) }

// compare looks for the needles that have the gram, in which the bits of g.fold are set, at a place.
func (g *grams) compare(gram uint32, content []byte, at int, needles []*Needle, seen *Seen) {
	for i := g.slotOf(gram); ; i = (i + 1) & (len(g.slots) - 1) {
		s := g.slots[i]
		if s.to == 0 {
			return
		}
		if s.gram != gram {
			continue
		}
		for k := s.from; k < s.to; k++ {
			p := &g.places[k]
			start := at - p.at
			if seen.has[p.needle] || start < 0 || start+4 > len(content) ||
				binary.LittleEndian.Uint32(content[start:])|p.bits != p.head {
				continue
			}
			if seen.stands(p.needle, needles[p.needle], content, start) {
				seen.add(p.needle)
			}
		}
		return
	}
}

// block is how many bytes the loops below look at before they decide anything: look-ups
// that do not wait for one another run at several times the speed of one at a time.
const block = 32

// findBy4 looks up grams of four bytes at every fourth place.
func (g *grams) findBy4(content []byte, needles []*Needle, seen *Seen) {
	f := g.filter
	at := 0
	for ; at+block <= len(content); at += block {
		c := content[at : at+block : at+block]
		a, b := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(c[8:])
		d, e := binary.LittleEndian.Uint64(c[16:]), binary.LittleEndian.Uint64(c[24:])
		if f.has(uint32(a))|f.has(uint32(a>>32))|f.has(uint32(b))|f.has(uint32(b>>32))|
			f.has(uint32(d))|f.has(uint32(d>>32))|f.has(uint32(e))|f.has(uint32(e>>32)) == 0 {
			continue
		}
		for k := 0; k < block; k += 4 {
			if gram := binary.LittleEndian.Uint32(c[k:]); f.has(gram) != 0 {
				g.compare(gram, content, at+k, needles, seen)
			}
		}
	}
	for ; at+4 <= len(content); at += 4 {
		g.compare(binary.LittleEndian.Uint32(content[at:]), content, at, needles, seen)
	}
}

// findBy2 looks up grams of three bytes at every second place.
func (g *grams) findBy2(content []byte, needles []*Needle, seen *Seen) {
	const (
		three = 1<<24 - 1
		half  = block / 2
	)
	f := g.filter
	at := 0
	for ; at+block <= len(content); at += half {
		c := content[at : at+block : at+block]
		a, b := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(c[6:])
		d := binary.LittleEndian.Uint64(c[12:])
		if f.has(uint32(a)&three)|f.has(uint32(a>>16)&three)|f.has(uint32(a>>32)&three)|
			f.has(uint32(b)&three)|f.has(uint32(b>>16)&three)|f.has(uint32(b>>32)&three)|
			f.has(uint32(d)&three)|f.has(uint32(d>>16)&three) == 0 {
			continue
		}
		for k := 0; k < half; k += 2 {
			if gram := binary.LittleEndian.Uint32(c[k:]) & three; f.has(gram) != 0 {
				g.compare(gram, content, at+k, needles, seen)
			}
		}
	}
	for ; at+3 <= len(content); at += 2 {
		g.compare(gramAt(content[at:], 3), content, at, needles, seen)
	}
}

// A filter is a set of grams that may say yes for one that is not in it: a byte for each
// hash. Bits would take an eighth of the memory, and half as long again for each look-up. It
// grows with the number of grams, so that one place in a hundred says yes.
type filter struct {
	bytes []byte
	shift uint
}

// The logarithms of a filter's size in bytes: what a processor's first cache holds, and no
// more than its second does.
const (
	minFilter = 15
	maxFilter = 19
)

func newFilter(grams int) filter {
	log := min(max(bits.Len(uint(grams*100)), minFilter), maxFilter)
	return filter{make([]byte, 1<<log), uint(32 - log)}
}

// spread is the multiplier of Fibonacci hashing (Knuth, The Art of Computer Programming,
// volume 3, section 6.4).
const spread = 0x9e3779b1

func (f filter) add(gram uint32) { f.bytes[gram*spread>>f.shift] = 1 }

// has is 1 if the gram may be in the set, else 0.
func (f filter) has(gram uint32) byte { return f.bytes[gram*spread>>(f.shift%32)] }
