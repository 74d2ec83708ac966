package needle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func find(needles [][]byte, content []byte) []bool {
	seen := make([]bool, len(needles))
	Compile(needles).Find(content, seen)
	return seen
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
				if !find([][]byte{n}, content)[0] {
					t.Fatalf("%q at %d of %d bytes is not found", n, at, total)
				}
				content[at+length-1] ^= 1
				if find([][]byte{n}, content)[0] {
					t.Fatalf("%q is found in %q", n, content)
				}
			}
		}
	}
}

func TestNestedAndEqual(t *testing.T) {
	needles := [][]byte{[]byte("cidr_blocks"), []byte("cidr_block"), []byte("blocks = ["), []byte("cidr_blocks"), []byte("c"), []byte("cidr"), []byte("nowhere")}
	got := find(needles, []byte(`  cidr_blocks = ["0.0.0.0/0"]`))
	if want := []bool{true, true, true, true, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
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
		if got, want := find(needles, content), naive(needles, content); !slices.Equal(got, want) {
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
		if got, want := find(needles, content), naive(needles, content); !slices.Equal(got, want) {
			t.Fatalf("needles %q in %q: got %v, want %v", needles, content, got, want)
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
	for _, n := range []int{1, 20, 100, 1000} {
		var needles [][]byte
		for i := range n {
			needles = append(needles, fmt.Appendf(nil, "%s.%d/%d!", words[i%len(words)], r.IntN(1000), i))
		}
		s := Compile(needles)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				s.Find(content, make([]bool, n))
			}
		})
	}
}
