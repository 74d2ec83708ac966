package needle

import (
	"encoding/binary"
	"math"
)

// caseBit is the bit in which the two cases of an ASCII letter differ.
const caseBit = 0x20

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | caseBit
	}
	return c
}

// caseBits returns, for bytes in lower case, the bits in which what they match may differ from them.
func caseBits(gram uint32) (bits uint32) {
	for k := 0; k < 32; k += 8 {
		if c := byte(gram >> k); 'a' <= c && c <= 'z' {
			bits |= caseBit << k
		}
	}
	return bits
}

// AppendLower appends text to dst, with each byte that is an upper-case ASCII letter in lower case. It knows no
// encoding: in UTF-16 it also changes halves of other characters.
func AppendLower(dst, text []byte) []byte {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	for ; len(text) >= 8; text = text[8:] {
		v := binary.LittleEndian.Uint64(text)
		seven := v &^ high
		// Bit 7 of each byte: it is at least 'A', and it is more than 'Z'.
		upper := (seven + (0x80-'A')*ones) &^ (seven + (0x80-'Z'-1)*ones) &^ v & high
		dst = binary.LittleEndian.AppendUint64(dst, v|upper>>2)
	}
	for _, c := range text {
		dst = append(dst, lower(c))
	}
	return dst
}

// equalFold compares content with text, which is in lower case and of the same length, without the case of ASCII
// letters.
func equalFold(content, text []byte) bool {
	for i, c := range content {
		if c != text[i] && lower(c) != text[i] {
			return false
		}
	}
	return true
}

// Rarest returns the index of the text that is best to look for where one of them is enough: a long one, of which
// there are grams, before a short one, and then one whose rarest gram is rare. None of the texts may be empty.
func Rarest(texts [][]byte) int {
	best, length, rare := 0, -1, math.Inf(1)
	for i, text := range texts {
		n, r := min(len(text), longLen), 1.0
		if size := min(len(text), gramLen); size >= teddyLen {
			at := rarest(shares(nil, text, size), 1)
			r = share(text[at : at+size])
		}
		if n > length || n == length && r < rare {
			best, length, rare = i, n, r
		}
	}
	return best
}
