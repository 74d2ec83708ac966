package needle

import (
	"cmp"
	"math/bits"
	"slices"
)

// grams finds needles by a few bytes each, looked up at every few places of a content.
type grams struct {
	filter  filter
	step    int      // how far one place that is looked up is from the next: 2, 4 or 8
	size    int      // of a window, in bytes
	windows []window // those with the same hash in a row
	slots   []slot   // by the hash of a window; open addressing, a power of two
}

// A window is the part of a needle that its grams cover: of the first of them to the last.
type window struct {
	hash   uint64
	needle int
	at     int // in the needle
}

type slot struct {
	hash     uint64
	from, to int32 // empty: the slot is free
}

// newGrams returns the grams of some needles, to be looked up at every step-th place; nil if there are no needles.
// Grams are as long as the shortest needle allows: the longer they are, the rarer.
func newGrams(needles []*Needle, of []int, step int) *grams {
	if len(of) == 0 {
		return nil
	}
	shortest, fold := needles[of[0]], false
	for _, i := range of {
		if n := needles[i]; len(n.text) < len(shortest.text) {
			shortest = n
		}
		fold = fold || needles[i].fold
	}
	gram := min(len(shortest.text)-step+1, maxGram)
	g := &grams{filter: newFilter(len(of)*step, gram, fold), step: step, size: gram + step - 1}
	for _, i := range of {
		n := needles[i]
		w := window{needle: i, at: min(n.run(step), len(n.text)-g.size)}
		for k := range step {
			g.filter.add(gramAt(n.text[w.at+k:], gram), k)
		}
		w.hash = g.hashAt(n.text, w.at)
		g.windows = append(g.windows, w)
	}
	slices.SortFunc(g.windows, func(a, b window) int { return cmp.Compare(a.hash, b.hash) })
	g.slots = make([]slot, 1<<bits.Len(uint(2*len(of))))
	for from := 0; from < len(of); {
		to := from
		for to < len(of) && g.windows[to].hash == g.windows[from].hash {
			to++
		}
		g.add(slot{g.windows[from].hash, int32(from), int32(to)})
		from = to
	}
	return g
}

func gramAt(b []byte, size int) uint64 {
	var gram uint64
	for i := range size {
		gram |= uint64(b[i]) << (8 * i)
	}
	return gram
}

func (g *grams) hashAt(text []byte, at int) uint64 {
	var first, last uint64 // bytes of it
	if g.size < 8 {
		first = gramAt(text[at:], g.size)
	} else {
		first, last = word(text[at:]), word(text[at+g.size-8:])
	}
	return (first|g.filter.fold)*spread ^ bits.RotateLeft64((last|g.filter.fold)*spread, 32)
}

func (g *grams) add(s slot) {
	i := g.slotOf(s.hash)
	for g.slots[i].to > 0 {
		i = (i + 1) & (len(g.slots) - 1)
	}
	g.slots[i] = s
}

// slotOf returns the first slot in which a hash may be.
func (g *grams) slotOf(hash uint64) int { return int(hash>>32) & (len(g.slots) - 1) }

func (g *grams) find(content []byte, needles []*Needle, seen *Seen) {
	s := gramScan{g, content, needles, seen}
	at := s.scan(content, 0)
	// What is left is too short for a block: once more, with zeros behind it.
	var rest [(lookups + 1) * maxGram]byte
	n := copy(rest[:], content[at:])
	blocks := (n + g.block() - 1) / g.block()
	s.scan(rest[:blocks*g.block()+maxGram-g.step], at)
}

// block is how many bytes the filter skips at once. It reads up to maxGram-step bytes more.
func (g *grams) block() int { return lookups * g.step }

type gramScan struct {
	*grams
	content []byte
	needles []*Needle
	seen    *Seen
}

// scan searches text, which begins at a place of the content, up to its last whole block. It returns how far it came.
func (s *gramScan) scan(text []byte, base int) (at int) {
	step, skip := s.step, s.filter.skipper(s.step)
	for ; ; at += s.block() {
		at += skip(&s.filter, text[at:])
		if len(text)-at < s.block()+maxGram-step {
			return at
		}
		// A bit says at which of the places, and by its number in the byte, which gram of a window is there.
		has := s.filter.block(text[at:], step)
		for ; has != 0; has &= has - 1 {
			bit := bits.TrailingZeros64(has)
			s.compare(base+at+bit/8*step-bit%8, bit%8)
		}
	}
}

// compare looks for the needles whose window is at a place and may have its gram k.
func (s *gramScan) compare(at, k int) {
	if at < 0 || at+s.size > len(s.content) {
		return
	}
	// Another gram is required, too, of other bytes if possible.
	other := (k + s.step/2) & (s.step - 1)
	if at+other+8 <= len(s.content) && s.filter.has(word(s.content[at+other:]))>>other&1 == 0 {
		return
	}
	hash := s.hashAt(s.content, at)
	for i := s.slotOf(hash); s.slots[i].to > 0; i = (i + 1) & (len(s.slots) - 1) {
		if s.slots[i].hash != hash {
			continue
		}
		for _, w := range s.windows[s.slots[i].from:s.slots[i].to] {
			if !s.seen.has[w.needle] && s.seen.stands(w.needle, s.needles[w.needle], s.content, at-w.at) {
				s.seen.add(w.needle)
			}
		}
		return
	}
}
