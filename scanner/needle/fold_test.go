package needle

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A folded needle of every length at every place, in every mix of cases; and not where a byte differs in the same bit
// and is no letter.
func TestFoldedEveryPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for length := 1; length <= 20; length++ {
		for at := range 40 {
			text := []byte("aZ0_b.Yc@[`{d-Xe0fWg")[:length]
			content := bytes.Repeat([]byte{'.'}, 64)
			for i, c := range text {
				if lower(c) >= 'a' && lower(c) <= 'z' && r.IntN(2) == 0 {
					c ^= caseBit
				}
				content[at+i] = c
			}
			folded := []bool{true}
			if !find(t, [][]byte{text}, folded, content)[0] {
				t.Fatalf("%q is not found in %q", text, content)
			}
			for i, c := range text {
				was := content[at+i]
				content[at+i] ^= caseBit
				letter := lower(c) >= 'a' && lower(c) <= 'z'
				if find(t, [][]byte{text}, folded, content)[0] != letter {
					t.Fatalf("%q in %q: found %v", text, content, !letter)
				}
				content[at+i] = was
			}
		}
	}
}

func FuzzFindFolded(f *testing.F) {
	f.Add([]byte("TLSv1.0\x00password\x00A"), uint64(5), []byte("x = tlsV1.0"))
	f.Add([]byte("aaaa\x00aaaaaaa\x00aaaaaaaaaaa"), uint64(3), []byte("aaaaaAAAAaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, list []byte, which uint64, content []byte) {
		var texts [][]byte
		var folded []bool
		for i, n := range bytes.Split(list, []byte{0}) {
			if len(n) > 0 {
				texts, folded = append(texts, n), append(folded, which>>(i%64)&1 == 1)
			}
		}
		wantNaive(t, texts, folded, content)
	})
}

// TestAppendLower: every byte, at every place of a word of eight and behind the last one.
func TestAppendLower(t *testing.T) {
	for c := range 256 {
		for at := range 19 {
			text := []byte("abcdefghijklmnopqrs")
			text[at] = byte(c)
			want := bytes.Clone(text)
			if i := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", byte(c)); i >= 0 {
				want[at] = "abcdefghijklmnopqrstuvwxyz"[i]
			}
			if got := AppendLower([]byte("X"), text); string(got) != "X"+string(want) {
				t.Fatalf("%q: %q", text, got)
			}
		}
	}
}

// TestFoldedAlmostEverywhere: a long folded needle that almost occurs at each place is given up, and is found all the
// same.
func TestFoldedAlmostEverywhere(t *testing.T) {
	content := bytes.Repeat([]byte{'A'}, 64<<10)
	texts := [][]byte{append(bytes.Repeat([]byte{'a'}, 20<<10), 'b'), append(bytes.Repeat([]byte{'a'}, 20<<10), 'A')}
	folded := []bool{true, true}
	if got := find(t, texts, folded, content); got[0] || !got[1] {
		t.Errorf("got %v", got)
	}
	content[len(content)-1] = 'B'
	if got := find(t, texts, folded, content); !got[0] || !got[1] {
		t.Errorf("with the end: got %v", got)
	}
}

// TestRarestText: of several texts the one to look for.
func TestRarestText(t *testing.T) {
	for texts, want := range map[string]int{
		"=": 0, "=|true": 1, "true|=": 0, "publicly_accessible|=|true": 0,
		"the|zqxj|tion": 1, "return 0|zq\x01jkxw": 1,
		"aaaaaaaaaaaaaaa|zqxjkv": 0, // of six bytes there are only the grams of three
	} {
		var list [][]byte
		for text := range strings.SplitSeq(texts, "|") {
			list = append(list, []byte(text))
		}
		if got := Rarest(list); got != want {
			t.Errorf("%q: %d, want %d", texts, got, want)
		}
	}
}

// TestPlaces: every place of every needle is told once, by each way, and those of a needle from the left.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"ab", "aAb.", "aAbBcC \n"}).Draw(t, "letters")
		text := func(most int) []byte {
			return []byte(rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 1, most, -1).Draw(t, "text"))
		}
		content := text(300)
		var texts [][]byte
		var folded []bool
		for range rapid.IntRange(1, 60).Draw(t, "needles") {
			texts, folded = append(texts, text(9)), append(folded, rapid.Bool().Draw(t, "fold"))
		}
		needles := prepared(texts, folded)
		want := make([][]int, len(texts))
		for i := range texts {
			for at := 0; at+len(texts[i]) <= len(content); at++ {
				if naive(texts[i:i+1], folded[i:i+1], content[at:at+len(texts[i])])[0] {
					want[i] = append(want[i], at)
				}
			}
		}
		for _, vectors := range []bool{vectors(), false} {
			got := make([][]int, len(texts))
			if !places(content, needles, vectors, func(n, at int) { got[n] = append(got[n], at) }) {
				t.Fatal("it gave up")
			}
			for i := range got {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("%q, folded %v, in %q: at %v, want %v", texts[i], folded[i], content, got[i], want[i])
				}
			}
		}
	})
}

// TestPlacesGivesUp: a long needle that is nearly everywhere is not compared everywhere.
func TestPlacesGivesUp(t *testing.T) {
	content := bytes.Repeat([]byte("a"), 1<<20)
	needle := New(append(bytes.Repeat([]byte("a"), 64<<10), 'b'))
	needle.gram = 0
	for _, n := range []*Needle{needle, New(content[:64<<10])} {
		for _, vectors := range []bool{vectors(), false} {
			found := 0
			all := places(content, []*Needle{n}, vectors, func(int, int) { found++ })
			if all && found != 0 || found > 100 {
				t.Errorf("vectors %v: %d places, all of them: %v", vectors, found, all)
			}
		}
	}
}
