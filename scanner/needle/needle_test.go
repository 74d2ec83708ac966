package needle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func prepared(texts [][]byte) []*Needle {
	var needles []*Needle
	for _, t := range texts {
		needles = append(needles, New(t))
	}
	return needles
}

// find returns which needles occur, by each way that there is on this processor.
func find(t *testing.T, needles [][]byte, content []byte) []bool {
	t.Helper()
	var answers [][]bool
	for _, s := range []*Set{Compile(prepared(needles)), compile(prepared(needles), false)} {
		seen := s.NewSeen()
		s.Find(content, seen)
		answer := make([]bool, len(needles))
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
	}
	if !slices.Equal(answers[0], answers[1]) {
		t.Errorf("needles %q in %q: %v by vectors, %v without", needles, content, answers[0], answers[1])
	}
	return answers[0]
}

func naive(needles [][]byte, content []byte) []bool {
	seen := make([]bool, len(needles))
	for i, n := range needles {
		seen[i] = bytes.Contains(content, n)
	}
	return seen
}

// Every needle length at every place of contents of every small length: what the
// stride could step over.
func TestEveryPlace(t *testing.T) {
	for length := 1; length <= 20; length++ {
		n := []byte("abcdefghijklmnopqrst")[:length]
		for total := length; total <= 48; total++ {
			for at := 0; at+length <= total; at++ {
				content := bytes.Repeat([]byte{'.'}, total)
				copy(content[at:], n)
				if !find(t, [][]byte{n}, content)[0] {
					t.Fatalf("%q at %d of %d bytes is not found", n, at, total)
				}
				content[at+length-1] ^= 1
				if find(t, [][]byte{n}, content)[0] {
					t.Fatalf("%q is found in %q", n, content)
				}
			}
		}
	}
}

func TestNestedAndEqual(t *testing.T) {
	needles := [][]byte{[]byte("cidr_blocks"), []byte("cidr_block"), []byte("blocks = ["), []byte("cidr_blocks"), []byte("c"), []byte("cidr"), []byte("nowhere")}
	got := find(t, needles, []byte(`  cidr_blocks = ["0.0.0.0/0"]`))
	if want := []bool{true, true, true, true, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Of more needles than a block of the vector unit has places, some common and some rare,
// each is found where it is, and a bucket that is done leaves the others.
func TestManyBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 400 {
		var needles [][]byte
		for range 1 + r.IntN(maxTeddy+8) {
			n := make([]byte, 1+r.IntN(9))
			for i := range n {
				n[i] = "ab0/.\x00\xff"[r.IntN(7)]
			}
			needles = append(needles, n)
		}
		content := make([]byte, r.IntN(2000))
		for i := range content {
			content[i] = "ab0/.\x00\xffcdefghijklmnopqrstuvwxyz"[r.IntN(30)]
		}
		if got, want := find(t, needles, content), naive(needles, content); !slices.Equal(got, want) {
			t.Fatalf("needles %q in %q: got %v, want %v", needles, content, got, want)
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
			t.Fatalf("masks %x, content %x: got %d, %v, %x, want %d, %v, %x", m, content, at, ok, got, wantAt, wantOK, want)
		}
	}
	if hits < 5_000 || hits > 15_000 {
		t.Errorf("%d contents of 20,000 have a hit: too few or too many for a test of both", hits)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("0.0.0.0/0\x00::/0\x00a"), []byte("x = 0.0.0.0/0"))
	f.Add([]byte("aaaa\x00aaaaaaa\x00aaaaaaaaaaa"), []byte("aaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("abcdefg\x00bcdefgh\x00cdefghi\x00fghijkl"), []byte("..abcdefghijkl.."))
	f.Fuzz(func(t *testing.T, list, content []byte) {
		var needles [][]byte
		for _, n := range bytes.Split(list, []byte{0}) {
			if len(n) > 0 {
				needles = append(needles, n)
			}
		}
		if got, want := find(t, needles, content), naive(needles, content); !slices.Equal(got, want) {
			t.Errorf("needles %q in %q: got %v, want %v", needles, content, got, want)
		}
	})
}

// A small alphabet makes needles overlap, contain and begin one another.
func TestAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, letters int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + r.IntN(letters))
		}
		return b
	}
	for range 3000 {
		letters := 1 + r.IntN(4)
		needles := make([][]byte, 1+r.IntN(30))
		for i := range needles {
			needles[i] = random(1+r.IntN(12), letters)
		}
		content := random(r.IntN(300), letters)
		if got, want := find(t, needles, content), naive(needles, content); !slices.Equal(got, want) {
			t.Fatalf("needles %q in %q: got %v, want %v", needles, content, got, want)
		}
	}
}

// TestAlmostEverywhere: a needle that almost occurs at each byte takes no time that grows with its
// length, and is found all the same. Compared at each place these would take minutes.
func TestAlmostEverywhere(t *testing.T) {
	content := bytes.Repeat([]byte{'a'}, 256<<10)
	var needles [][]byte
	for i := range 26 {
		needles = append(needles, append(bytes.Repeat([]byte{'a'}, 60<<10+i), 'b'), append(bytes.Repeat([]byte{'a'}, 65+i), 'c'))
	}
	for _, list := range [][][]byte{needles[:1], needles[:20], needles} {
		if got, want := find(t, list, content), naive(list, content); !slices.Equal(got, want) {
			t.Errorf("%d needles: got %v", len(list), got)
		}
		with := append(bytes.Clone(content), 'b')
		if got, want := find(t, list, with), naive(list, with); !slices.Equal(got, want) || !got[0] {
			t.Errorf("%d needles, of which some are at the end: got %v", len(list), got)
		}
		// What one content does not hold the next may.
		s := Compile(prepared(list))
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

// TestWays: which way a needle is looked for, by its length and by how many there are. Each way finds
// it; the wrong one takes many times as long.
func TestWays(t *testing.T) {
	if slow {
		t.Skip("this program has one way")
	}
	places := func(g *grams) int {
		if g == nil {
			return 0
		}
		return len(g.places)
	}
	for length := 1; length <= 10; length++ {
		list := prepared([][]byte{[]byte("abcdefghijkl")[:length]})
		with, without := compile(list, true), compile(list, false)
		if with.few == nil != (length == 1) || len(with.short) != map[bool]int{true: 1, false: 0}[length == 1] {
			t.Errorf("%d bytes: with a vector unit: few %v, short %v", length, with.few != nil, with.short)
		}
		got := [3]int{len(without.short), places(without.mid), places(without.long)}
		want := [3]int{1, 0, 0}
		switch {
		case length >= 7:
			want = [3]int{0, 0, 4}
		case length >= 4:
			want = [3]int{0, 2, 0}
		}
		if got != want {
			t.Errorf("%d bytes: %v short ones, grams of three, grams of four; want %v", length, got, want)
		}
	}
	var texts [][]byte
	for i := range 49 {
		texts = append(texts, fmt.Appendf(nil, "needle%02d", i))
	}
	if s := compile(prepared(texts[:48]), true); s.few == nil {
		t.Error("48 needles are too many")
	} else {
		for i, b := range s.few.buckets {
			if len(b) != 48/len(s.few.buckets) {
				t.Errorf("bucket %d has %d needles", i, len(b))
			}
		}
	}
	if s := compile(prepared(texts), true); s.few != nil || places(s.long) != 4*49 {
		t.Error("49 needles are few")
	}
	short := [][]byte{[]byte("ab"), []byte("abc")}
	if s := compile(prepared(append(short, texts...)), true); s.few == nil || len(s.short) > 0 || places(s.long) != 4*49 {
		t.Error("among many, two short ones are not left to the vector unit")
	}
	if s := compile(nil, true); s.few != nil {
		t.Error("no needles are a few")
	}
}

// TestFilterSize: a filter has some hundred bytes for each gram, within what the caches hold.
func TestFilterSize(t *testing.T) {
	for grams, want := range map[int]int{0: 1 << 15, 1: 1 << 15, 1000: 1 << 17, 4000: 1 << 19, 1_000_000: 1 << 19} {
		if got := len(newFilter(grams).bytes); got != want {
			t.Errorf("%d grams: %d bytes, want %d", grams, got, want)
		}
	}
}

// TestPatience: a long needle is compared until that was in vain for four times the content, then never again
// in this content; a short one each time.
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

func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"resource", "cidr_blocks", "=", "[", "]", "\n", "  ", "ingress", "from_port", "443", "\"", "description"}
	var content []byte
	for len(content) < 256<<10 {
		content = append(content, words[r.IntN(len(words))]...)
		content = append(content, ' ')
	}
	for _, n := range []int{1, 20, 100, 1000, 10000} {
		var needles [][]byte
		for i := range n {
			needles = append(needles, fmt.Appendf(nil, "%s.%d/%d!", words[i%len(words)], r.IntN(1000), i))
		}
		for name, s := range map[string]*Set{"best": Compile(prepared(needles)), "pure": compile(prepared(needles), false)} {
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
