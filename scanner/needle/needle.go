// Package needle finds which of a fixed set of byte strings occur in a content. It knows neither rules nor files:
// bytes in, a set of indices out. The answer is exact: a comparison of all its bytes confirms every proposed needle.
//
// # A few needles
//
// The vector unit searches for up to 48 needles, 32 places of the content at a time: see teddy.go. It needs AVX2
// (amd64) or NEON (arm64).
//
// # Many needles, or another processor
//
// Content is not read byte by byte. A few bytes at a place (a gram) are looked up in a table, and only if the table
// says "perhaps" are needles compared. A gram of q bytes, looked up at every s-th place, meets each needle of at least
// q+s-1 bytes, wherever it is:
//
//	needle            0 . 0 . 0 . 0 / 0
//	content   c i d r = 0 . 0 . 0 . 0 / 0 \n } .
//	grams     [. . . .]       [. 0 . 0]       [. . .       q = 4, s = 4
//	                  [= 0 . 0]       [. 0 / 0]
//
// The fewer lookups, the better: a set whose needles all have at least eleven bytes has grams at every eighth place, a
// set with some of only seven bytes at every fourth. Needles of four to six bytes have grams at every second place.
// Grams have four bytes (short needles three), and up to eight if all needles are long enough.
//
// Each needle enters s grams in a row, one for each alignment, at the place in the needle whose bytes are rarest in
// text (rarity.go). The bytes that they cover are the needle's window. The table tells which of the s grams may be at
// a place, and so where the window begins. If another of its grams matches, too, a second table has the needles with
// this window.
//
// The vector unit takes over where this is slow: up to 48 needles of two to six bytes; if there are more, those of two
// and three bytes, 48 at a time. Without it these are searched one by one with bytes.Index, as are all of one byte.
//
// # Folded needles
//
// A folded needle matches ASCII letters of either case. In the tables of the vector unit both cases of a letter have
// its bucket. A set with a folded needle looks up all grams without the case bit, so a plain needle is proposed a
// little more often; the comparison is exact for both.
//
// The idea comes from filters with q-samples (Navarro and Raffinot, Flexible Pattern Matching in Strings, Cambridge
// 2002).
package needle

import (
	"bytes"
	"math/bits"
	"slices"
)

// A Set is a compiled set of needles. It may be used by several goroutines at once.
type Set struct {
	needles []*Needle
	few     []*teddy // of all needles, or of the short ones
	short   []int    // needles that are looked for one by one
	mid     *grams   // of three bytes and more at every second place; nil: none
	long    *grams   // of four bytes and more at every fourth or eighth place; nil: none
}

// The shortest needle for each kind of gram.
const (
	midLen     = 3 + 2 - 1
	longLen    = 4 + 4 - 1
	longestLen = 4 + maxStep - 1
)

// maxStep is how far apart the places are that are looked up, at most.
const maxStep = 8

// A Needle is a byte string to look for, prepared: it can be in many sets.
type Needle struct {
	text []byte
	fold bool   // text is in lower case, and ASCII letters of either case match it
	gram int    // where its rarest gram for the vector unit is
	runs [3]int // and its rarest grams in a row, for every second, fourth and eighth place
}

// New prepares a needle, which may not be empty and must not be changed afterwards.
func New(text []byte) *Needle { return prepare(&Needle{text: text}) }

// NewFolded is New for a needle that also occurs where bytes that are ASCII letters have another case than in text.
func NewFolded(text []byte) *Needle {
	return prepare(&Needle{text: AppendLower(nil, text), fold: true})
}

func prepare(n *Needle) *Needle {
	if len(n.text) < teddyLen {
		return n
	}
	var buf [maxPlaces + maxStep - 1]float64
	of := shares(buf[:0], n.text, min(len(n.text), gramLen))
	n.gram = rarest(of, 1)
	switch size := len(n.text); {
	case size >= longestLen:
		n.runs[2] = rarest(of, 8)
		fallthrough
	case size >= longLen:
		n.runs[1] = rarest(of, 4)
	case size >= midLen:
		n.runs[0] = rarest(shares(buf[:0], n.text, 3), 2)
	}
	return n
}

// run returns where in the needle the grams begin that are looked up at every step-th place.
func (n *Needle) run(step int) int { return n.runs[bits.Len(uint(step))-2] }

// Compile prepares a set. Two needles may be equal.
func Compile(needles []*Needle) *Set { return compile(needles, vectors()) }

func compile(needles []*Needle, vectors bool) *Set {
	s := &Set{needles: needles}
	var short, mid, long, longest []int
	for i, n := range needles {
		switch n := n.text; {
		case slow || len(n) < teddyLen:
			s.short = append(s.short, i)
		case len(n) < midLen:
			short = append(short, i)
		case len(n) < longLen:
			mid = append(mid, i)
		case len(n) < longestLen:
			long = append(long, i)
		default:
			longest = append(longest, i)
		}
	}
	if vectors {
		few := short
		switch {
		case len(short)+len(mid)+len(long)+len(longest) <= maxTeddy:
			few = slices.Concat(short, mid, long, longest)
			mid, long, longest = nil, nil, nil
		case len(short)+len(mid) <= maxTeddy:
			few = slices.Concat(short, mid)
			mid = nil
		}
		for some := range slices.Chunk(few, maxTeddy) {
			s.few = append(s.few, newTeddy(needles, some))
		}
	} else {
		s.short = append(s.short, short...)
	}
	s.mid = newGrams(needles, mid, 2)
	if len(long) > 0 {
		s.long = newGrams(needles, append(long, longest...), 4)
	} else {
		s.long = newGrams(needles, longest, maxStep)
	}
	return s
}

// A Seen is which needles of a set were found. It is for one goroutine.
type Seen struct {
	has  []bool
	list []int

	vain   []int // bytes of each long needle that were compared with this content, in vain
	tried  []int // the needles of which there are some
	absent []int // needles that this content does not hold: until its end they count as seen

	lowered []byte // the content in lower case; empty until it is needed
}

// NewSeen returns the Seen of a set of which nothing was found yet.
func (s *Set) NewSeen() *Seen {
	return &Seen{has: make([]bool, len(s.needles)), vain: make([]int, len(s.needles))}
}

// Indices returns the indices of the needles that were found, in no certain order.
func (x *Seen) Indices() []int { return x.list }

// Reset forgets what was found.
func (x *Seen) Reset() {
	for _, i := range x.list {
		x.has[i] = false
	}
	x.list = x.list[:0]
}

func (x *Seen) add(i int) {
	x.has[i] = true
	x.list = append(x.list, i)
}

// A needle of more bytes than shortest is compared in vain with no more than patience times the bytes of a content:
// where it almost occurs at each place that would take a time that grows with the product of both. Then bytes.Contains
// decides, which takes a time that grows with the content.
const (
	shortest = 64 // bytes
	patience = 4
)

// stands reports whether a needle is in content: at a place, or in another where that was looked for too often.
func (x *Seen) stands(i int, n *Needle, content []byte, start int) bool {
	needle := n.text
	switch {
	case start < 0 || start+len(needle) > len(content):
		return false
	case string(content[start:start+len(needle)]) == string(needle):
		return true
	case n.fold && equalFold(content[start:start+len(needle)], needle):
		return true
	case len(needle) <= shortest:
		return false
	}
	if x.vain[i] == 0 {
		x.tried = append(x.tried, i)
	}
	if x.vain[i] += len(needle); x.vain[i] <= patience*len(content) {
		return false
	}
	if x.contains(content, n) {
		return true
	}
	x.has[i] = true
	x.absent = append(x.absent, i)
	return false
}

func (x *Seen) contains(content []byte, n *Needle) bool {
	if n.fold {
		content = x.lower(content)
	}
	return bytes.Contains(content, n.text)
}

func (x *Seen) lower(content []byte) []byte {
	if len(x.lowered) != len(content) {
		x.lowered = AppendLower(x.lowered[:0], content)
	}
	return x.lowered
}

func (x *Seen) next() {
	x.lowered = x.lowered[:0]
	for _, i := range x.tried {
		x.vain[i] = 0
	}
	for _, i := range x.absent {
		x.has[i] = false
	}
	x.tried, x.absent = x.tried[:0], x.absent[:0]
}

// Find adds to seen the needles that occur in content. What was found already is not looked for.
func (s *Set) Find(content []byte, seen *Seen) {
	defer seen.next()
	for _, i := range s.short {
		if !seen.has[i] && seen.contains(content, s.needles[i]) {
			seen.add(i)
		}
	}
	for _, t := range s.few {
		t.find(content, s.needles, seen)
	}
	if s.mid != nil {
		s.mid.find(content, s.needles, seen)
	}
	if s.long != nil {
		s.long.find(content, s.needles, seen)
	}
}
