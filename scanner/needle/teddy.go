package needle

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A teddy finds a few needles, of two bytes and more, by the vector unit. Each is
// represented by its rarest gram of four bytes and put into one of eight buckets. Of each
// of the four bytes two tables of 16 say for each value of its lower and of its upper half
// which buckets have it; one instruction looks up 32 of them at a time. What is left when
// all eight answers are joined is where a gram of a bucket may be:
//
//	content        c  i  d  r  =  0  .  0 ...   32 places at a time
//	1st byte       .  .  .  .  .  a  .  a       buckets whose gram begins with it
//	2nd byte       .  .  .  .  a  .  a  .       (at the place before, and so on)
//	3rd, 4th ...
//	joined         .  .  .  .  .  a  .  .       compare bucket a's needles here
//
// The algorithm is Geoffrey Langdale's, from Hyperscan (fdr/teddy.c there); it is described
// in the comments of the aho-corasick crate, src/packed/teddy.
type teddy struct {
	masks   masks
	buckets [8][]candidate
}

// masks are, for each of the four bytes of a gram, the buckets of each lower half, then of
// each upper half.
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

// newTeddy returns a teddy for some needles, maxTeddy at the most.
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
	// Grams that begin alike share a bucket: the more they have in common, the fewer other
	// grams its tables let through.
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
	left := t.masks
	if len(seen.list) > 0 { // in an earlier window
		for bucket := range t.buckets {
			if t.isDone(bucket, seen) {
				left.drop(bucket)
			}
		}
	}
	t.each(&left, content, func(bucket, place int) {
		gram := fourAt(content, place)
		for i := range t.buckets[bucket] {
			// Most places have none of the grams: they have the halves of several, mixed.
			c := &t.buckets[bucket][i]
			if (gram|c.bits)&c.mask != c.gram {
				continue
			}
			if !seen.has[c.needle] && seen.stands(c.needle, needles[c.needle], content, place-c.at) {
				seen.add(c.needle)
			}
			if t.isDone(bucket, seen) {
				left.drop(bucket)
			}
		}
	})
}

// each calls hit with each place of content, from the left, at which a gram of a bucket may be.
func (t *teddy) each(m *masks, content []byte, hit func(bucket, place int)) {
	at := scan(m, content, 0, hit)
	// What is left is too short for a block: once more, with zeros behind it.
	var rest [2*blockLen + gramLen]byte
	copy(rest[:], content[at:])
	scan(m, rest[:], at, hit)
}

// scan is each for text, which begins at a place of the content, as far as there are blocks of it. It returns how far
// that is.
func scan(m *masks, text []byte, base int, hit func(bucket, place int)) int {
	var found [blockLen]byte
	at := 0
	for len(text)-at >= blockRead {
		n, ok := scanBlocks(m, &text[at], len(text)-at, &found)
		at += n
		if !ok {
			break
		}
		for w := 0; w < blockLen; w += 8 {
			for v := binary.LittleEndian.Uint64(found[w:]); v != 0; v &= v - 1 {
				bit := bits.TrailingZeros64(v)
				hit(bit%8, base+at+w+bit/8)
			}
		}
		at += blockLen
	}
	return at
}

// fourAt returns the four bytes at a place, with zeros for those behind the content's end.
func fourAt(content []byte, place int) uint32 {
	if place+gramLen <= len(content) {
		return binary.LittleEndian.Uint32(content[place:])
	}
	rest := content[min(place, len(content)):]
	return uint32(gramAt(rest, len(rest)))
}

func (t *teddy) isDone(bucket int, seen *Seen) bool {
	return !slices.ContainsFunc(t.buckets[bucket], func(c candidate) bool { return !seen.has[c.needle] })
}
