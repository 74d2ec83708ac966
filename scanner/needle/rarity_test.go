package needle

import (
	"bytes"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "make pairs.bin anew from the trees that -corpus names")
	corpus = flag.String("corpus", "", "directories of text, separated as PATH is")
)

func TestPairs(t *testing.T) {
	if *update {
		if err := os.WriteFile("pairs.bin", countPairs(t, filepath.SplitList(*corpus)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if len(pairs) != 1<<16 {
		t.Fatalf("%d bytes", len(pairs))
	}
	for _, c := range []struct{ common, rare string }{
		{"  ", "e "}, {"e ", "q="}, {"in", "0/"}, {"re", "::"}, {"\n\t", "AK"}, {"st", "\x01\x02"}, {"th", "\xff\xfe"},
	} {
		if share([]byte(c.common)) <= share([]byte(c.rare)) {
			t.Errorf("%q is rarer than %q", c.common, c.rare)
		}
	}
	for _, c := range []struct {
		needle string
		size   int
		step   int
		want   string
	}{
		{"the resource AKIA the", 4, 1, "AKIA"},
		{"string 0.0.0.0/0", 4, 1, "0/0"},
		{"ab", 2, 1, "ab"},
	} {
		at := rarest(shares(nil, []byte(c.needle), c.size), c.step)
		if got := c.needle[at : at+c.size]; !strings.Contains(got, c.want) && !strings.Contains(c.want, got) {
			t.Errorf("%q: the rarest gram of %d is %q", c.needle, c.size, got)
		}
	}
}

// TestRarest: four bytes are two pairs that come by chance, six are three; of equal places the first is taken, and
// none that is far from the beginning.
func TestRarest(t *testing.T) {
	pair := share([]byte("  "))
	for size, want := range map[int]float64{2: pair, 4: pair * pair, 6: pair * pair * pair} {
		if got := share(bytes.Repeat([]byte(" "), size)); math.Abs(got/want-1) > 0.01 {
			t.Errorf("%d spaces: %g, want %g", size, got, want)
		}
	}
	if at := rarest(shares(nil, []byte("abababab"), 4), 2); at != 0 {
		t.Errorf("of equal places %d is taken", at)
	}
	for before, want := range map[int]int{250: 250, 255: 255, 256: 0} {
		needle := strings.Repeat("e", before) + "\xff\xfe\xfd\xfc"
		if at := rarest(shares(nil, []byte(needle), 4), 1); at != want {
			if want != 0 || at >= before {
				t.Errorf("behind %d bytes: %d", before, at)
			}
		}
	}
}

// TestRuns: of each needle the rarest gram, and the rarest ones in a row, worked out place by place. Those that are
// looked up at every second place have three bytes, and only needles without longer ones have them.
func TestRuns(t *testing.T) {
	first := func(text string, size, step int) (best int) {
		least := math.Inf(1)
		for i := 0; i+size+step-1 <= len(text); i++ {
			sum := 0.0
			for k := i; k < i+step; k++ {
				sum += share([]byte(text[k : k+size]))
			}
			if sum < least {
				best, least = i, sum
			}
		}
		return best
	}
	const text = "the return of 0.0.0.0/0 cidr_blocks = AKIA; if (x->y != NULL) \xff\xfe\x00 the end  "
	for from := range text {
		for _, size := range []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 15, 20, 40} {
			if from+size > len(text) {
				break
			}
			n, want := New([]byte(text[from:from+size])), [4]int{}
			switch want[0] = first(text[from:from+size], max(2, min(size, 4)), 1); {
			case size >= 11:
				want[3] = first(text[from:from+size], 4, 8)
				fallthrough
			case size >= 7:
				want[2] = first(text[from:from+size], 4, 4)
			case size >= 4:
				want[1] = first(text[from:from+size], 3, 2)
			}
			if got := [4]int{n.gram, n.run(2), n.run(4), n.run(8)}; got != want {
				t.Errorf("%q: %d, want %d", n.text, got, want)
			}
		}
	}
}

// countPairs counts in the first 64 KiB of each file. Each tree counts as much as another.
func countPairs(t *testing.T, trees []string) []byte {
	shares := make([]float64, 1<<16)
	for _, tree := range trees {
		counts := make([]int, 1<<16)
		all := 0
		err := filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = text[:min(len(text), 64<<10)]
			for i := 0; i+1 < len(text); i++ {
				counts[int(text[i])<<8|int(text[i+1])]++
				all++
			}
			return nil
		})
		if err != nil || all == 0 {
			t.Fatalf("%s: %d pairs, %v", tree, all, err)
		}
		for i, n := range counts {
			shares[i] += float64(n) / float64(all) / float64(len(trees))
		}
	}
	out := make([]byte, 1<<16)
	for i, s := range shares {
		out[i] = 255
		if s > 0 {
			out[i] = byte(min(255, math.Round(-8*math.Log2(s))))
		}
	}
	return out
}
