package needle

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// prepared returns needles, of which some may fold; folded nil: none does.
func prepared(texts [][]byte, folded []bool) []*Needle {
	var needles []*Needle
	for i, text := range texts {
		if folded != nil && folded[i] {
			needles = append(needles, NewFolded(text))
		} else {
			needles = append(needles, New(text))
		}
	}
	return needles
}

// sets returns the sets of needles by each way that there is on this processor.
func sets(needles []*Needle) []*Set {
	all := []*Set{Compile(needles), compile(needles, false)}
	for step := 2; step <= maxStep; step *= 2 {
		s := &Set{needles: needles}
		var long []int
		for i, n := range needles {
			if len(n.text) < step+2 { // grams have three bytes or more
				s.short = append(s.short, i)
			} else {
				long = append(long, i)
			}
		}
		s.long = newGrams(needles, long, step)
		all = append(all, s)
	}
	return all
}

// find returns which needles occur, by each way.
func find(t *testing.T, texts [][]byte, folded []bool, content []byte) []bool {
	t.Helper()
	var answers [][]bool
	for way, s := range sets(prepared(texts, folded)) {
		seen := s.NewSeen()
		s.Find(content, seen)
		answer := make([]bool, len(texts))
		for _, i := range seen.Indices() {
			if answer[i] {
				t.Errorf("needle %d is found twice", i)
			}
			answer[i] = true
		}
		answers = append(answers, answer)
		seen.Reset()
		if slices.Contains(seen.has, true) || len(seen.Indices()) > 0 {
			t.Error("something is left after Reset")
		}
		if !slices.Equal(answers[0], answer) {
			t.Errorf("needles %q, folded %v, in %q: %v by vectors, %v by the way %d",
				texts, folded, content, answers[0], answer, way)
		}
	}
	return answers[0]
}

// naive tries every place, and both cases of every letter of a folded needle.
func naive(texts [][]byte, folded []bool, content []byte) []bool {
	const letters = "aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
	seen := make([]bool, len(texts))
	for i, text := range texts {
		if folded == nil || !folded[i] {
			seen[i] = bytes.Contains(content, text)
			continue
		}
		same := func(a, b byte) bool {
			k := strings.IndexByte(letters, a)
			return a == b || k >= 0 && letters[k^1] == b
		}
		for at := 0; at+len(text) <= len(content) && !seen[i]; at++ {
			k := 0
			for k < len(text) && same(content[at+k], text[k]) {
				k++
			}
			seen[i] = k == len(text)
		}
	}
	return seen
}

func wantNaive(t *testing.T, texts [][]byte, folded []bool, content []byte) {
	t.Helper()
	if got, want := find(t, texts, folded, content), naive(texts, folded, content); !slices.Equal(got, want) {
		t.Fatalf("needles %q, folded %v, in %q: got %v, want %v", texts, folded, content, got, want)
	}
}

// TestEveryPlace: needles of every length at every place of contents that have up to two blocks and more, by each way;
// and none that differs in its first or last byte.
func TestEveryPlace(t *testing.T) {
	for length := 1; length <= 20; length++ {
		n := []byte("abcdefghijklmnopqrst")[:length]
		for way, s := range sets(prepared([][]byte{n}, nil)) {
			seen := s.NewSeen()
			check := func(content []byte, want bool) {
				seen.Reset()
				if s.Find(content, seen); (len(seen.Indices()) > 0) != want {
					t.Fatalf("by the way %d: %q in %q: not %v", way, n, content, want)
				}
			}
			for total := length; total <= 2*lookups*maxStep+24; total += 1 + total/50 {
				content := bytes.Repeat([]byte{'.'}, total)
				for at := 0; at+length <= total; at++ {
					copy(content[at:], n)
					check(content, true)
					for _, place := range []int{at, at + length - 1} {
						content[place] ^= 1
						check(content, false)
						content[place] ^= 1
					}
					copy(content[at:], "....................")
				}
			}
		}
	}
}

// TestSkip holds what skips blocks, and what looks into one, to their comments, worked out place by place: of every
// length around a few blocks, with no block that may have a gram, with one, with many.
func TestSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for step := 2; step <= maxStep; step *= 2 {
		hits := 0
		for i := range 10_000 {
			size := 1 + r.IntN(maxGram)
			f := newFilter(1, size, i%2 == 0)
			for range r.IntN(2 << 10) {
				f.bytes[r.IntN(len(f.bytes))] = byte(r.Uint32())
			}
			text := make([]byte, r.IntN(230))
			for j := range text {
				text[j] = byte(r.Uint32())
			}
			block, all := lookups*step, uint64(0)
			at := 0
			for ; len(text)-at >= block+maxGram-step && all == 0; at += block {
				for k := range lookups {
					gram := uint64(0)
					for j := range size {
						c := uint64(text[at+k*step+j])
						if i%2 == 0 {
							c |= caseBit
						}
						gram |= c << (8 * j)
					}
					all |= uint64(f.bytes[gram*f.spread>>f.shift]) << (8 * k)
				}
			}
			if all != 0 {
				at -= block
				hits++
			}
			if got := f.skipper(step)(&f, text); got != at {
				t.Fatalf("step %d, grams of %d bytes, %x: skips %d bytes, want %d", step, size, text, got, at)
			}
			if all == 0 {
				continue
			}
			if got := f.block(text[at:], step); got != all {
				t.Fatalf("step %d, grams of %d bytes, %x at %d: %x, want %x", step, size, text, at, got, all)
			}
		}
		if hits < 1_000 || hits > 9_000 {
			t.Errorf("step %d: %d texts of 10,000 have a hit: too few or too many for a test of both", step, hits)
		}
	}
}

// TestScanBlocks holds the assembly to what its comment says, worked out place by place: of every length around one
// and two blocks, with no block that may hold a gram, with one, with many.
func TestScanBlocks(t *testing.T) {
	if !vectors() {
		t.Skip("this processor or this program has no vectors")
	}
	r := rand.New(rand.NewPCG(5, 6))
	hits := 0
	for i := range 20_000 {
		bucket := func() byte { // sets of buckets, smaller ones at every second turn: then many blocks have no hit
			if i%2 == 0 {
				return byte(r.Uint32())
			}
			return byte((r.Uint32() | r.Uint32()) & r.Uint32())
		}
		var m masks
		for k := range m {
			for h := range 16 {
				m[k][0][h], m[k][1][h] = bucket(), bucket()
			}
		}
		content := make([]byte, 1+r.IntN(230))
		for j := range content {
			content[j] = byte(r.Uint32())
		}
		var got, want [blockLen]byte
		wantAt, wantOK := 0, false
		for ; len(content)-wantAt >= blockRead && !wantOK; wantAt += blockLen {
			for p := range want {
				want[p] = 0xff
				for k := range gramLen {
					c := content[wantAt+p+k]
					want[p] &= m[k][0][c&15] & m[k][1][c>>4]
				}
				wantOK = wantOK || want[p] != 0
			}
		}
		at, ok := scanBlocks(&m, &content[0], len(content), &got)
		if wantOK {
			wantAt -= blockLen
			hits++
		}
		if at != wantAt || ok != wantOK || ok && got != want {
			t.Fatalf("masks %x, content %x: got %d, %v, %x, want %d, %v, %x", m, content, at, ok, got, wantAt, wantOK,
				want)
		}
	}
	if hits < 5_000 || hits > 15_000 {
		t.Errorf("%d contents of 20,000 have a hit: too few or too many for a test of both", hits)
	}
}

// TestAgainstNaive: few letters make needles overlap, contain and begin one another. There are more needles than a
// block of the vector unit has places, than one teddy has, and than all of them have; some differ from the content in
// the bit of the case alone.
func TestAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		letters := "aAbB0\x10@`[{ \x00"[:2+r.IntN(11)]
		if i%5 == 0 {
			letters = "ab0/.\x00\xffcdefghijklmnopqrstuvwxyz"
		}
		random := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = letters[r.IntN(len(letters))]
			}
			return b
		}
		var texts [][]byte
		var folded []bool
		for range 1 + r.IntN([]int{30, maxTeddy + 8, maxTeddy + 8, 3*maxTeddy + 60}[i%4]) {
			texts = append(texts, random(1+r.IntN([]int{9, 12, 24}[r.IntN(3)])))
			folded = append(folded, i%3 > 0 && r.IntN(2) == 0)
		}
		wantNaive(t, texts, folded, random(r.IntN(300*(1+i%4))))
	}
}

// texts60 returns more needles than a teddy has, of two to twenty bytes.
func texts60() (texts [][]byte) {
	for i := range 60 {
		texts = append(texts, fmt.Appendf(nil, "%02d%s", i, "abcdefghijklmnopqr"[:i%19]))
	}
	return texts
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("0.0.0.0/0\x00::/0\x00a"), []byte("x = 0.0.0.0/0"))
	f.Add([]byte("aaaa\x00aaaaaaa\x00aaaaaaaaaaa"), []byte("aaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("abcdefg\x00bcdefgh\x00cdefghi\x00fghijkl"), []byte("..abcdefghijkl.."))
	f.Add([]byte("abcdefghijklmnop\x00bcdefghijklmno\x00-cdefghijklm"), []byte("...-cdefghijklmabcdefghijklmnop"))
	f.Add(bytes.Join(texts60(), []byte{0}), bytes.Join(texts60()[40:], nil))
	f.Fuzz(func(t *testing.T, list, content []byte) {
		var needles [][]byte
		for _, n := range bytes.Split(list, []byte{0}) {
			if len(n) > 0 {
				needles = append(needles, n)
			}
		}
		wantNaive(t, needles, nil, content)
	})
}

// TestAlmostEverywhere: a needle that almost occurs at each byte takes no time that grows with its length, and is
// found. Compared at each place these would take minutes.
func TestAlmostEverywhere(t *testing.T) {
	content := bytes.Repeat([]byte{'a'}, 256<<10)
	var needles [][]byte
	for i := range 26 {
		needles = append(needles, append(bytes.Repeat([]byte{'a'}, 60<<10+i), 'b'),
			append(bytes.Repeat([]byte{'a'}, 65+i), 'c'))
	}
	for _, list := range [][][]byte{needles[:1], needles[:20], needles} {
		if got, want := find(t, list, nil, content), naive(list, nil, content); !slices.Equal(got, want) {
			t.Errorf("%d needles: got %v", len(list), got)
		}
		with := append(bytes.Clone(content), 'b')
		if got, want := find(t, list, nil, with), naive(list, nil, with); !slices.Equal(got, want) || !got[0] {
			t.Errorf("%d needles, of which some are at the end: got %v", len(list), got)
		}
		// What one content does not hold the next may.
		s := Compile(prepared(list, nil))
		seen := s.NewSeen()
		s.Find(content, seen)
		if len(seen.Indices()) > 0 {
			t.Errorf("%d needles: %v are seen", len(list), seen.Indices())
		}
		s.Find(with, seen)
		if !slices.Contains(seen.Indices(), 0) {
			t.Errorf("%d needles: the first is not seen in the second content", len(list))
		}
	}
}

// TestWays: which way needles are looked for, by their lengths and by how many there are. Each way finds them; the
// wrong one takes many times as long.
func TestWays(t *testing.T) {
	if slow {
		t.Skip("this program has one way")
	}
	var number int
	texts := func(n, length int) (list [][]byte) { // n different ones
		for range n {
			number++
			text := fmt.Appendf(nil, "%d", number)
			list = append(list, append(text, "abcdefghijklmnopqrst"[:max(length, len(text))-len(text)]...))
		}
		return list
	}
	type way struct {
		few        []int // needles of each teddy
		short      int
		mid, long  int // needles
		step, size int // of the grams of the long ones
	}
	wayOf := func(s *Set) (w way) {
		for _, t := range s.few {
			n := 0
			for _, b := range t.buckets {
				n += len(b)
			}
			w.few = append(w.few, n)
		}
		w.short = len(s.short)
		if s.mid != nil {
			w.mid = len(s.mid.windows)
		}
		if s.long != nil {
			w.step = s.long.step
			w.long, w.size = len(s.long.windows), 8-bits.TrailingZeros64(s.long.filter.spread)/8
		}
		return w
	}
	for _, c := range []struct {
		what    string
		needles [][]byte
		vectors bool
		want    way
	}{
		{"none", nil, true, way{}},
		{"one byte", texts(1, 1), true, way{short: 1}},
		{"two bytes", texts(1, 2), true, way{few: []int{1}}},
		{"48 of all lengths", slices.Concat(texts(16, 3), texts(16, 6), texts(16, 20)), true, way{few: []int{48}}},
		{"49 of 7 bytes", texts(49, 7), true, way{long: 49, step: 4, size: 4}},
		{"49 of 10 bytes", texts(49, 10), true, way{long: 49, step: 4, size: 7}},
		{"49 of 11 bytes", texts(49, 11), true, way{long: 49, step: 8, size: 4}},
		{"49 of 15 bytes", texts(49, 15), true, way{long: 49, step: 8, size: 8}},
		{"49 of 20 bytes", texts(49, 20), true, way{long: 49, step: 8, size: 8}},
		{"a short one, and 49 of 20 bytes", slices.Concat(texts(49, 20), texts(1, 3)), true,
			way{few: []int{1}, long: 49, step: 8, size: 8}},
		{"46 short ones, 2 of 7 bytes, 49 of 13 bytes", slices.Concat(texts(49, 13), texts(2, 7), texts(46, 6)), true,
			way{few: []int{46}, long: 51, step: 4, size: 4}},
		{"46 short ones, 3 of 7 bytes, 49 of 13 bytes", slices.Concat(texts(49, 13), texts(3, 7), texts(46, 6)), true,
			way{few: []int{46}, long: 52, step: 4, size: 4}},
		{"48 short ones, 49 of 20 bytes", slices.Concat(texts(8, 3), texts(40, 6), texts(49, 20)), true,
			way{few: []int{48}, long: 49, step: 8, size: 8}},
		{"145 short ones", slices.Concat(texts(45, 3), texts(100, 6)), true, way{few: []int{45}, mid: 100}},
		{"60 of three bytes, 100 of four", slices.Concat(texts(60, 3), texts(100, 4)), true,
			way{few: []int{48, 12}, mid: 100}},

		{"no vectors, one byte", texts(1, 1), false, way{short: 1}},
		{"no vectors, three bytes", texts(1, 3), false, way{short: 1}},
		{"no vectors, four and six bytes", slices.Concat(texts(1, 4), texts(1, 6)), false, way{mid: 2}},
		{"no vectors, seven bytes", slices.Concat(texts(1, 20), texts(1, 7)), false, way{long: 2, step: 4, size: 4}},
		{"no vectors, eleven bytes", slices.Concat(texts(1, 20), texts(1, 11)), false, way{long: 2, step: 8, size: 4}},
	} {
		if got := wayOf(compile(prepared(c.needles, nil), c.vectors)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
	for i, b := range compile(prepared(texts(48, 9), nil), true).few[0].buckets {
		if len(b) != 48/8 {
			t.Errorf("bucket %d has %d needles", i, len(b))
		}
	}
}

// TestFilterSize: a filter has some hundred bytes for each gram, within what the caches hold.
func TestFilterSize(t *testing.T) {
	for grams, want := range map[int]int{0: 1 << 15, 1: 1 << 15, 1000: 1 << 17, 4000: 1 << 19, 1_000_000: 1 << 19} {
		if got := len(newFilter(grams, 4, false).bytes); got != want {
			t.Errorf("%d grams: %d bytes, want %d", grams, got, want)
		}
	}
}

// TestPatience: a long needle is compared until that was in vain for four times the content, then never again in this
// content; a short one each time.
func TestPatience(t *testing.T) {
	content := []byte(strings.Repeat("a", 999) + "b") // its last byte is needed, or bytes.Contains is
	for _, c := range []struct{ length, compared int }{
		{64, 100}, // not long
		{65, 62},  // 62 * 65 > 4000
		{200, 21}, // 20 * 200 = 4000
		{1000, 5}, // as long as the content: at its beginning alone
	} {
		x := (&Set{needles: make([]*Needle, 1)}).NewSeen()
		text := bytes.Repeat([]byte{'a'}, c.length)
		text[c.length-1] = 'c'
		needle := New(text)
		for try := 1; try <= 100; try++ {
			if x.stands(0, needle, content, 0) {
				t.Fatalf("%d bytes: it is there", c.length)
			}
			if gaveUp := x.has[0]; gaveUp != (try >= c.compared && c.length > shortest) {
				t.Fatalf("%d bytes: given up at the comparison %d: %v", c.length, try, gaveUp)
			}
			if x.has[0] {
				break
			}
		}
		x.next()
		if x.has[0] || x.vain[0] != 0 {
			t.Errorf("%d bytes: the next content is not started again: %v, %d", c.length, x.has[0], x.vain[0])
		}
	}
}

// BenchmarkFind finds none of some needles, by the vectors if possible, without them, and folded.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("resource cidr_blocks = [ ] ingress from_port 443 Description")
	var content []byte
	for len(content) < 256<<10 {
		content = append(append(content, words[r.IntN(len(words))]...), " \n"[r.IntN(2)])
	}
	for _, n := range []int{1, 20, 100, 1000, 10000} {
		var needles [][]byte
		for i := range n {
			needles = append(needles, fmt.Appendf(nil, "%s.%d/%d!", words[i%len(words)], r.IntN(1000), i))
		}
		plain, folded := prepared(needles, nil), prepared(needles, slices.Repeat([]bool{true}, n))
		for name, s := range map[string]*Set{
			"best": Compile(plain), "pure": compile(plain, false), "folded": Compile(folded),
		} {
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) {
				b.SetBytes(int64(len(content)))
				seen := s.NewSeen()
				for b.Loop() {
					seen.Reset()
					s.Find(content, seen)
				}
			})
		}
	}
}
