package needle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// findFolded returns which needles occur, by each way; folded says which of them fold.
func findFolded(t *testing.T, texts [][]byte, folded []bool, content []byte) []bool {
	t.Helper()
	var needles []*Needle
	for i, text := range texts {
		if folded[i] {
			needles = append(needles, NewFolded(text))
		} else {
			needles = append(needles, New(text))
		}
	}
	var answers [][]bool
	for way, s := range sets(needles) {
		seen := s.NewSeen()
		s.Find(content, seen)
		answer := make([]bool, len(needles))
		for _, i := range seen.Indices() {
			answer[i] = true
		}
		answers = append(answers, answer)
		if !slices.Equal(answers[0], answer) {
			t.Errorf("needles %q, folded %v, in %q: %v by vectors, %v by the way %d",
				texts, folded, content, answers[0], answer, way)
		}
	}
	return answers[0]
}

// naiveFolded tries every place, and both cases of every letter.
func naiveFolded(texts [][]byte, folded []bool, content []byte) []bool {
	same := func(a, b byte, fold bool) bool {
		if a == b {
			return true
		}
		const upper, lower = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
		i, k := strings.IndexByte(upper, a), strings.IndexByte(lower, b)
		if i < 0 {
			i, k = strings.IndexByte(lower, a), strings.IndexByte(upper, b)
		}
		return fold && i >= 0 && i == k
	}
	seen := make([]bool, len(texts))
	for n, text := range texts {
		for at := 0; at+len(text) <= len(content) && !seen[n]; at++ {
			k := 0
			for k < len(text) && same(content[at+k], text[k], folded[n]) {
				k++
			}
			seen[n] = k == len(text)
		}
	}
	return seen
}

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
			if !findFolded(t, [][]byte{text}, folded, content)[0] {
				t.Fatalf("%q is not found in %q", text, content)
			}
			for i, c := range text {
				was := content[at+i]
				content[at+i] ^= caseBit
				letter := lower(c) >= 'a' && lower(c) <= 'z'
				if findFolded(t, [][]byte{text}, folded, content)[0] != letter {
					t.Fatalf("%q in %q: found %v", text, content, !letter)
				}
				content[at+i] = was
			}
		}
	}
}

// drawFolded returns needles and a content of few letters, in both cases and with bytes that differ from them in the
// bit of the case alone.
func drawFolded(r *rand.Rand, most int) (texts [][]byte, folded []bool, content []byte) {
	letters := "aAbB0\x10@`[{ \x00"[:2+r.IntN(11)]
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return b
	}
	for range 1 + r.IntN(most) {
		texts, folded = append(texts, random(1+r.IntN([]int{12, 24}[r.IntN(2)]))), append(folded, r.IntN(2) == 0)
	}
	return texts, folded, random(r.IntN(300))
}

func TestFoldedAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 4000 {
		texts, folded, content := drawFolded(r, maxTeddy+8)
		got, want := findFolded(t, texts, folded, content), naiveFolded(texts, folded, content)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, folded %v, in %q: got %v, want %v", texts, folded, content, got, want)
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
		got, want := findFolded(t, texts, folded, content), naiveFolded(texts, folded, content)
		if !slices.Equal(got, want) {
			t.Errorf("%q, folded %v, in %q: got %v, want %v", texts, folded, content, got, want)
		}
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
	if got := findFolded(t, texts, folded, content); got[0] || !got[1] {
		t.Errorf("got %v", got)
	}
	content[len(content)-1] = 'B'
	if got := findFolded(t, texts, folded, content); !got[0] || !got[1] {
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

func BenchmarkFindFolded(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"resource", "cidr_blocks", "=", "[", "]", "\n", "  ", "ingress", "from_port", "443", "Description"}
	var content []byte
	for len(content) < 256<<10 {
		content = append(content, words[r.IntN(len(words))]...)
		content = append(content, ' ')
	}
	for _, n := range []int{1, 20, 200, 1000} {
		for name, prepare := range map[string]func([]byte) *Needle{"plain": New, "folded": NewFolded} {
			var needles []*Needle
			for i := range n {
				needles = append(needles, prepare(fmt.Appendf(nil, "%s.%d/%d!", words[i%len(words)], r.IntN(1000), i)))
			}
			s := Compile(needles)
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

// TestPlaces: every place of every needle is told once, by each way, and those of a needle from the left.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"ab", "aAb.", "aAbBcC \n"}).Draw(t, "letters")
		text := func(most int) []byte {
			return []byte(rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 1, most, -1).Draw(t, "text"))
		}
		content := text(300)
		var needles []*Needle
		var texts [][]byte
		var folded []bool
		for range rapid.IntRange(1, 60).Draw(t, "needles") {
			n, fold := text(9), rapid.Bool().Draw(t, "fold")
			texts, folded = append(texts, n), append(folded, fold)
			if fold {
				needles = append(needles, NewFolded(n))
			} else {
				needles = append(needles, New(n))
			}
		}
		want := make([][]int, len(texts))
		for i := range texts {
			for at := 0; at+len(texts[i]) <= len(content); at++ {
				if naiveFolded(texts[i:i+1], folded[i:i+1], content[at:at+len(texts[i])])[0] {
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
