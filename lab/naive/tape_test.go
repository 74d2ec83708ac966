package naive

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A tape is a source of random numbers that keeps what it gave. What is made of fewer of them is smaller.
type tape struct {
	random rand.Source // nil: after the numbers come the largest one, with which all repetitions end
	given  []uint64
	next   int
}

// tapeOf is the tape of a number.
func tapeOf(n int) *tape { return &tape{random: rand.NewPCG(*seed, uint64(n))} }

func (t *tape) generator() *generator { return &generator{Rand: rand.New(t)} }

// errEndless says that something is tried again and again.
var errEndless = errors.New("no end with these numbers")

func (t *tape) Uint64() uint64 {
	if t.next++; t.next > 1_000_000 {
		panic(errEndless)
	}
	if t.next > len(t.given) {
		if t.random == nil {
			return math.MaxUint64
		}
		t.given = append(t.given, t.random.Uint64())
	}
	return t.given[t.next-1]
}

// smallest leaves out numbers of a tape for twenty seconds, as long as what is made of the rest differs in the same way, and
// returns the least that does.
func smallest[T any](from *tape, made func(*tape) T, differs func(T) error, err error) T {
	var first, d difference
	errors.As(err, &first)
	same := func(given []uint64) (is bool) {
		defer func() {
			if what := recover(); what != nil && what != errEndless {
				panic(what)
			}
		}()
		return errors.As(differs(made(&tape{given: given})), &d) && d.about == first.about
	}
	given, end := from.given, time.Now().Add(20*time.Second)
	for size := len(given) / 2; size > 0 && first.about != ""; size /= 2 {
		for at := 0; at+size <= len(given) && time.Now().Before(end); {
			if less := slices.Delete(slices.Clone(given), at, at+size); same(less) {
				given = less
			} else {
				at += size
			}
		}
	}
	return made(&tape{given: given})
}
