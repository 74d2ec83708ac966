package needle

import (
	_ "embed"
	"math"
)

// pairs says how rare two bytes in a row are in source code and configuration: at 256*first+second, minus 8 times the
// binary logarithm of their share of all pairs, 255 at most. TestPairs -update writes it again, from any tree.
//
//go:embed pairs.bin
var pairs string

// share is about how often a few bytes in a row are at a place: as if each two of them came by chance. There are two
// at least.
func share(gram []byte) float64 {
	sum, n := 0, 0
	for i := 0; i+1 < len(gram); i++ {
		sum += int(pairs[int(gram[i])<<8|int(gram[i+1])])
		n++
	}
	// Of q bytes there are q-1 pairs that overlap, and q/2 that do not.
	return power(sum * len(gram) / (2 * n))
}

// power is 2 to the power of -x/8. A set of many needles asks for thousands of them.
func power(x int) float64 {
	eighths := [8]float64{1, 0.917, 0.841, 0.771, 0.707, 0.648, 0.595, 0.545}
	return eighths[x%8] * math.Float64frombits(uint64(1023-x/8)<<52)
}

// maxPlaces is at how many places of a needle its grams are tried: it can be long, and its beginning is as good as any
// other part.
const maxPlaces = 256

// shares appends to dst the shares of the grams of size bytes of a needle, by place, as many as may be tried.
func shares(dst []float64, needle []byte, size int) []float64 {
	for i := 0; i+size <= len(needle) && i < maxPlaces+maxStep-1; i++ {
		dst = append(dst, share(needle[i:i+size]))
	}
	return dst
}

// rarest returns the first of step places, one after another, at which the shares are the least together.
func rarest(shares []float64, step int) int {
	best, from := math.Inf(1), 0
	for i := 0; i+step <= len(shares) && i < maxPlaces; i++ {
		sum := 0.0
		for _, s := range shares[i : i+step] {
			sum += s
		}
		if sum < best {
			best, from = sum, i
		}
	}
	return from
}
