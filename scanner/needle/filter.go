package needle

import (
	"encoding/binary"
	"math/bits"
)

// A filter is a set of grams, each with a number below eight, that may say yes for one that is not in it. It has a
// byte for each hash, with a bit for each number.
//
// Bits without numbers would take an eighth of the memory, and half as long again for each look-up.
type filter struct {
	bytes  []byte
	shift  uint
	spread uint64
	fold   uint64 // bits that are set in each gram, and in what is looked up: the case bits, if a needle is folded
}

const (
	maxGram = 8 // bytes of the longest gram
	lookups = 8 // of a block
)

// The logarithms of a filter's size in bytes: what a processor's first cache holds, and no more than its second does.
const (
	minFilter = 15
	maxFilter = 19
)

// spread is the multiplier of Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
const spread = 0x9e3779b97f4a7c15

// newFilter returns a filter for that many grams of size bytes. It grows with their number, so that one place in a
// hundred says yes.
func newFilter(grams, size int, fold bool) filter {
	log := min(max(bits.Len(uint(grams*100)), minFilter), maxFilter)
	// The zeros at the end of the multiplier leave no bit of the bytes behind the gram in the product.
	f := filter{bytes: make([]byte, 1<<log), shift: uint(64 - log), spread: spread << (64 - 8*size)}
	if fold {
		f.fold = caseBit * 0x0101010101010101
	}
	return f
}

// word returns the first eight bytes of b. A gram is the first few of them, by its size.
func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func (f *filter) add(gram uint64, number int) {
	f.bytes[(gram|f.fold)*f.spread>>f.shift] |= 1 << number
}

// has returns a bit for each number with which the gram may be in the set.
func (f *filter) has(word uint64) byte { return f.bytes[(word|f.fold)*f.spread>>(f.shift%64)] }

// block looks up the grams at eight places, step bytes one from another. It returns a byte for each.
func (f *filter) block(text []byte, step int) (all uint64) {
	bytes, shift, spread, fold := f.bytes, f.shift, f.spread, f.fold
	for i := range lookups {
		all |= uint64(bytes[(word(text[i*step:])|fold)*spread>>(shift%64)]) << (8 * i)
	}
	return all
}

// skipper returns what skips blocks by looking at every step-th place: one of the functions below, or of those in
// foldedfilter.go.
func (f *filter) skipper(step int) func(*filter, []byte) int {
	plain, folded := (*filter).skip8, (*filter).skip8Folded
	switch step {
	case 2:
		plain, folded = (*filter).skip2, (*filter).skip2Folded
	case 4:
		plain, folded = (*filter).skip4, (*filter).skip4Folded
	}
	if f.fold == 0 {
		return plain
	}
	return folded
}

// skip8 returns where in text the first block begins that may have a gram, by looking at every eighth place; without
// such a block, where less than a block is left. Look-ups that do not wait for one another run at several times the
// speed of one at a time, so nothing is decided before a block of them is done. One function for all distances,
// instead of this and the two below, takes half as long again.
func (f *filter) skip8(text []byte) (at int) {
	bytes, shift, spread := f.bytes, f.shift, f.spread
	has := func(word uint64) byte { return bytes[word*spread>>(shift%64)] }
	for ; len(text)-at >= 64; at += 64 {
		c := text[at : at+64 : at+64]
		if has(word(c))|has(word(c[8:]))|has(word(c[16:]))|has(word(c[24:]))|
			has(word(c[32:]))|has(word(c[40:]))|has(word(c[48:]))|has(word(c[56:])) != 0 {
			break
		}
	}
	return at
}

// skip4 is skip8 for every fourth place.
func (f *filter) skip4(text []byte) (at int) {
	bytes, shift, spread := f.bytes, f.shift, f.spread
	has := func(word uint64) byte { return bytes[word*spread>>(shift%64)] }
	for ; len(text)-at >= 36; at += 32 {
		c := text[at : at+36 : at+36]
		if has(word(c))|has(word(c[4:]))|has(word(c[8:]))|has(word(c[12:]))|
			has(word(c[16:]))|has(word(c[20:]))|has(word(c[24:]))|has(word(c[28:])) != 0 {
			break
		}
	}
	return at
}

// skip2 is skip8 for every second place.
func (f *filter) skip2(text []byte) (at int) {
	bytes, shift, spread := f.bytes, f.shift, f.spread
	has := func(word uint64) byte { return bytes[word*spread>>(shift%64)] }
	for ; len(text)-at >= 22; at += 16 {
		c := text[at : at+22 : at+22]
		if has(word(c))|has(word(c[2:]))|has(word(c[4:]))|has(word(c[6:]))|
			has(word(c[8:]))|has(word(c[10:]))|has(word(c[12:]))|has(word(c[14:])) != 0 {
			break
		}
	}
	return at
}
