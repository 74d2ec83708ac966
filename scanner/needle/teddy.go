package needle

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A teddy finds a few needles, of two bytes and more, by the vector unit. Each is represented by its rarest gram of
// four bytes and put into one of eight buckets. Of each of the four bytes two tables of 16 say for each value of its
// lower and of its upper half which buckets have it; one instruction looks up 32 of them at a time. What is left when
// all eight answers are joined is where a gram of a bucket may be:
//
//	content        c  i  d  r  =  0  .  0 ...   32 places at a time
//	1st byte       .  .  .  .  .  a  .  a       buckets whose gram begins with it
//	2nd byte       .  .  .  .  a  .  a  .       (at the place before, and so on)
//	3rd, 4th ...
//	joined         .  .  .  .  .  a  .  .       compare bucket a's needles here
//
// The algorithm is Geoffrey Langdale's, from Hyperscan (fdr/teddy.c there); it is described in the comments of the
// aho-corasick crate, src/packed/teddy.
type teddy struct {
	masks   masks
	buckets [8][]candidate
}

// masks are, for each of the four bytes of a gram, the buckets of each lower half, then of each upper half.
type masks [4][2][16]byte

type candidate struct {
	needle int
	at     int    // of the gram in the needle
	gram   uint32 // and which of its bits count
	mask   uint32
	bits   uint32 // the case bits of a folded needle's letters; they are set in gram
}

const (
	teddyLen  = 2  // the shortest needle
	maxTeddy  = 48 // needles; with more the buckets fill up, and everything may be one
	gramLen   = 4
	blockLen  = 32
	blockRead = blockLen + gramLen - 1
)

// newTeddy returns a teddy for some needles, maxTeddy at most.
func newTeddy(needles []*Needle, of []int) *teddy {
	t := &teddy{}
	var all []candidate
	for _, i := range of {
		n := needles[i].text
		size := min(len(n), gramLen)
		c := candidate{needle: i, at: needles[i].gram, mask: 1<<(8*size) - 1}
		if size == gramLen {
			c.mask = 1<<32 - 1
		}
		c.gram = uint32(gramAt(n[c.at:], size))
		if needles[i].fold {
			c.bits = caseBits(c.gram)
		}
		all = append(all, c)
	}
	// Grams that begin alike share a bucket: the more they have in common, the fewer other grams its tables let
	// through.
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Compare(bits.ReverseBytes32(a.gram), bits.ReverseBytes32(b.gram))
	})
	for i, c := range all {
		b := i * len(t.buckets) / len(all)
		t.buckets[b] = append(t.buckets[b], c)
		t.masks.add(c, b)
	}
	return t
}

func (m *masks) add(c candidate, bucket int) {
	bit := byte(1) << bucket
	for k := range m {
		if c.mask>>(8*k)&0xff == 0 { // a short needle: any byte
			for h := range 16 {
				m[k][0][h] |= bit
				m[k][1][h] |= bit
			}
			continue
		}
		v := byte(c.gram >> (8 * k))
		m[k][0][v&15] |= bit
		m[k][1][v>>4] |= bit
		m[k][1][(v&^byte(c.bits>>(8*k)))>>4] |= bit
	}
}

func (m *masks) drop(bucket int) {
	keep := ^(byte(1) << bucket)
	for h := range 16 { // of one byte is enough
		m[0][0][h] &= keep
	}
}

func (t *teddy) find(content []byte, needles []*Needle, seen *Seen) {
	s := teddyScan{teddy: t, content: content, needles: needles, seen: seen}
	if len(seen.list) > 0 { // in an earlier window
		for bucket := range t.buckets {
			if s.isDone(bucket) {
				s.drop(bucket)
			}
		}
	}
	at := s.scan(content, 0)
	// What is left is too short for a block: once more, with zeros behind it.
	var rest [2*blockLen + gramLen]byte
	copy(rest[:], content[at:])
	s.scan(rest[:], at)
}

type teddyScan struct {
	*teddy
	fewer   bool  // a bucket is done
	left    masks // those of the others, then
	content []byte
	needles []*Needle
	seen    *Seen
}

// scan searches text, which begins at a place of the content, up to its last whole block. It returns how far it came.
func (s *teddyScan) scan(text []byte, base int) int {
	var found [blockLen]byte
	at := 0
	for len(text)-at >= blockRead {
		masks := &s.teddy.masks
		if s.fewer {
			masks = &s.left
		}
		n, ok := scanBlocks(masks, &text[at], len(text)-at, &found)
		at += n
		if !ok {
			break
		}
		for done := s.check(&found, base+at); done != 0; done &= done - 1 {
			s.drop(bits.TrailingZeros8(done))
		}
		at += blockLen
	}
	return at
}

// drop looks for the needles of a bucket no more.
func (s *teddyScan) drop(bucket int) {
	if !s.fewer {
		s.fewer, s.left = true, s.teddy.masks
	}
	s.left.drop(bucket)
}

// check compares the needles of the buckets found in a block. It returns the buckets of which a gram was there and no
// needle is left that was not seen.
func (s *teddyScan) check(found *[blockLen]byte, at int) (done byte) {
	for w := 0; w < blockLen; w += 8 {
		for v := binary.LittleEndian.Uint64(found[w:]); v != 0; v &= v - 1 {
			bit := bits.TrailingZeros64(v)
			place, bucket := at+w+bit/8, bit%8
			gram := s.four(place)
			for i := range s.buckets[bucket] {
				// Most places have none of the grams: they have the halves of several, mixed.
				if c := &s.buckets[bucket][i]; (gram|c.bits)&c.mask == c.gram {
					s.compare(c, place)
					if s.isDone(bucket) {
						done |= 1 << bucket
					}
				}
			}
		}
	}
	return done
}

// four returns the four bytes at a place, with zeros for those behind the content's end.
func (s *teddyScan) four(place int) uint32 {
	if place+gramLen <= len(s.content) {
		return binary.LittleEndian.Uint32(s.content[place:])
	}
	rest := s.content[min(place, len(s.content)):]
	return uint32(gramAt(rest, len(rest)))
}

// compare notes a candidate's needle, if it was not seen and is in the content, its gram at a place.
func (s *teddyScan) compare(c *candidate, place int) {
	if !s.seen.has[c.needle] && s.seen.stands(c.needle, s.needles[c.needle], s.content, place-c.at) {
		s.seen.add(c.needle)
	}
}

func (s *teddyScan) isDone(bucket int) bool {
	for _, c := range s.buckets[bucket] {
		if !s.seen.has[c.needle] {
			return false
		}
	}
	return true
}
