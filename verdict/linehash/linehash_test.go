package linehash

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func lineHashes(t *testing.T, text string) []string {
	var got []string
	count := map[uint64]int64{}
	var h Hasher
	h.Reset(func(int64, int64, uint64) {})
	h.AddASCII([]byte("a text before\nthat was not read to its end\r"))
	h.Reset(func(line, n int64, hash uint64) {
		if line != int64(len(got))+1 {
			t.Errorf("%q: after %d lines comes line %d", text, len(got), line)
		}
		for range n {
			count[hash]++
			got = append(got, Format(hash, count[hash]))
		}
	})
	for rest := text; rest != ""; {
		n := strings.IndexFunc(rest, func(r rune) bool { return r >= utf8.RuneSelf })
		if n < 0 {
			n = len(rest)
		}
		h.AddASCII([]byte(rest[:n/3]))
		h.AddASCII([]byte(rest[n/3 : n]))
		if rest = rest[n:]; rest != "" {
			r, size := utf8.DecodeRuneInString(rest)
			for _, u := range utf16.Encode([]rune{r}) {
				h.Add(u)
			}
			rest = rest[size:]
		}
	}
	h.Close()
	return got
}

// The vectors are GitHub's own, from the tests of github/codeql-action.
func TestLineHashVectors(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"c129715d7a2bc9a3:1"}},
		{" a\nb\n  \t\tc\n d", []string{
			"271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1",
		}},
	} {
		crlf, cr := strings.ReplaceAll(c.text, "\n", "\r\n"), strings.ReplaceAll(c.text, "\n", "\r")
		for _, text := range []string{c.text, crlf, cr} {
			if got := lineHashes(t, text); !slices.Equal(got, c.want) {
				t.Errorf("%q: got %q, want %q", text, got, c.want)
			}
		}
	}
}

// naiveLineHashes is the literal definition of docs/verdict.md.
func naiveLineHashes(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	var got []string
	count := map[uint64]int64{}
	for {
		units := slices.DeleteFunc(utf16.Encode([]rune(text)), func(u uint16) bool { return u == ' ' || u == '\t' })
		units = append(units, 0xffff)
		var hash uint64
		for i := range 100 {
			hash *= 37
			if i < len(units) {
				hash += uint64(units[i])
			}
		}
		count[hash]++
		got = append(got, Format(hash, count[hash]))
		_, after, more := strings.Cut(text, "\n")
		if !more {
			return got
		}
		text = after
	}
}

func FuzzLineHash(f *testing.F) {
	f.Add("")
	f.Add("no line end")
	f.Add("x = 1\r\n\r\n\ty\r\rz")
	f.Add(strings.Repeat("a line of text\n", 30))
	f.Add(strings.Repeat("\U0001f600", 120) + "\n \n")
	// More than a hasher remembers, with lines of unknown hash where it forgets.
	f.Add(strings.Repeat("x\n", 700) + strings.Repeat("\ta line of 27 units and more\r\n", 60))
	f.Add(strings.Repeat(strings.Repeat("yz ", 33)+"\n", 30) + strings.Repeat("é\n", 600))
	// Runs that are added at once, and lines that are mostly skipped.
	for _, end := range []string{"\n", "\r", "\r\n"} {
		f.Add("a" + strings.Repeat(end, 330) + "b")
		f.Add(strings.Repeat(end, 150) + "\r" + strings.Repeat("\r\n", 150) + "\n\n x")
		f.Add(strings.Repeat("x", 3000) + end + strings.Repeat("é", 300) + strings.Repeat(" \t", 40) + end + "y")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := lineHashes(t, text), naiveLineHashes(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}

// BenchmarkHasher takes text whose words and lines have no pattern that a processor could learn, as in source code.
func BenchmarkHasher(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	ends := 0
	for len(text) < 1<<18 {
		text = append(text, "cidr_blocks"[:1+r.IntN(11)]...)
		if r.IntN(5) > 0 {
			text = append(text, ' ')
			continue
		}
		text = append(append(text, '\n'), "\t\t\t\t"[:r.IntN(5)]...)
		ends++
	}
	lines := 0
	b.SetBytes(int64(len(text)))
	var h Hasher
	for b.Loop() {
		lines = 0
		h.Reset(func(_, n int64, _ uint64) { lines += int(n) })
		h.AddASCII(text)
		h.Close()
	}
	if lines != ends+1 {
		b.Fatal(lines, "lines")
	}
}
