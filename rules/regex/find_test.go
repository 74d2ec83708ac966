package regex

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A source generates a long text from a few pieces, and counts the characters read.
type source struct {
	piece string
	len   int64 // of the text, in pieces
	read  int64 // characters
	at    int   // within the piece
}

func (s *source) ReadRune() (rune, int, error) {
	if s.at == len(s.piece) {
		s.len, s.at = s.len-1, 0
	}
	if s.len == 0 {
		return 0, 0, io.EOF
	}
	s.read++
	s.at++
	return rune(s.piece[s.at-1]), 1, nil
}

// TestLongLine: a line of any length is read once and not held, for every regex.
func TestLongLine(t *testing.T) {
	const n = 256 << 10
	for _, c := range []struct {
		source, piece string
		matches       int
		last          Match
	}{
		{`a(?:.*b)?`, "a", 100, Match{99, 100}},
		{`a(?:.*b)?`, "ab", 1, Match{0, 2 * n}},
		{`(?:a+)+$`, "a", 1, Match{0, n}},
		{`(?:a+)+$`, "a ", 0, Match{}},
		{`(?:a|b.*c|.*d)`, "ab", 100, Match{198, 199}},
		{`a.*?b|a`, "a", 100, Match{99, 100}},
		{`\ba\b`, "a ", 100, Match{198, 199}},
		{`x`, "a", 0, Match{}},
		{`^a`, "a", 1, Match{0, 1}},
		{`a(?:a{50}.*b)?`, "a", 100, Match{99, 100}},
	} {
		e, err := Compile(c.source)
		if err != nil {
			t.Fatal(err)
		}
		r := &source{piece: c.piece, len: n}
		var found []Match
		before := allocated()
		for m, err := range e.FindReader(r) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, m)
		}
		if memory := allocated() - before; memory > 64<<10 {
			t.Errorf("%#q in a line of %q: %d bytes were allocated", c.source, c.piece, memory)
		}
		if want := int64(n * len(c.piece)); r.read != want {
			t.Errorf("%#q in a line of %q: %d characters were read, want %d", c.source, c.piece, r.read, want)
		}
		if len(found) != c.matches || c.matches > 0 && found[c.matches-1] != c.last {
			t.Errorf("%#q in a line of %q: %d matches, want %d, the last at %v", c.source, c.piece, len(found),
				c.matches, c.last)
		}
	}
}

// allocated returns the total number of allocated bytes.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestThreads: however many matches may still be replaced, there are no more threads than places in the program. So
// the time for a character is bounded.
func TestThreads(t *testing.T) {
	for _, source := range []string{`a(?:.*b)?`, `a(?:[ab]*c|.*d)?`, `(?:a|ab|abc.*x|.*y)`, `a{1,3}(?:.*b)?`} {
		e, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		m := newMatcher(e)
		most, pending := 0, 0
		for i, c := range strings.Repeat("aaca", 100) {
			m.read(c, int64(i))
			most, pending = max(most, len(m.now)), max(pending, len(m.found))
		}
		if most > len(e.program.steps) || pending < 50 {
			t.Errorf("%#q: %d threads for %d steps, with %d matches that may be replaced", source, most,
				len(e.program.steps), pending)
		}
	}
}

// TestLimitOfLine: the first 100 matches of a line count, and the next line has its own 100.
func TestLimitOfLine(t *testing.T) {
	for _, c := range []struct{ source, line string }{
		{"a", long('a', 250)},
		{"a(?:.*b)?", long('a', 250)},
		{"a(?:.*b)?", long('a', 250) + "b"},
		{"a(?:.{120}b)?", long('a', 250) + "b" + long('a', 250)},
		{"a(?:.{20}b)?", long('a', 95) + "b" + long('a', 250)},
		{`\ba|b`, strings.Repeat("a b", 80)},
		{"^a|b", "a" + long('b', 120)},
		{"é", long('é', 120)},
		{"a+", strings.Repeat("aa ", 100)},
		{"a+", strings.Repeat("aa ", 99) + "aaa"},
	} {
		e, err := Compile(c.source)
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"\n", "\r", "\r\n", "\n\n"} {
			compareAll(t, e, c.line+end+c.line+end+"b"+end+c.line)
		}
	}
}

// TestConcurrent: one regex, several texts at the same time, one within the loop over another.
func TestConcurrent(t *testing.T) {
	e, err := Compile(`\ba(?:.*b)?`)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			outer := strings.Repeat("a c", 5*i) + "b\n" + strings.Repeat("a ", i)
			want := naive(e.String(), outer)
			for range 50 {
				var got []Match
				for m := range e.Find([]byte(outer)) {
					got = append(got, m)
					if n := len(slices.Collect(e.Find([]byte("a b\na")))); n != 2 {
						t.Errorf("within: %d matches", n)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	wait.Wait()
}

// words returns different words, none contained in another.
func words(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%c%c1", 'a'+i/26, 'a'+i%26)
	}
	return all
}

// TestLiterals: literals at the limits.
func TestLiterals(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{strings.Repeat("é", 33) + "a", strings.Repeat("é", 32)},
		{"a" + strings.Repeat("é", 33), "a" + strings.Repeat("é", 31)},
		{strings.Join(words(500), "|"), strings.Join(words(500), ", ")},
		{`\b(?:` + strings.Join(words(500), "|") + `)\(`, strings.Join(words(500), "(, ") + "("},
		{strings.Join(words(501), "|"), ""},
		{`(?:` + strings.Join(words(501), "|") + `)abc`, "abc"},
	} {
		e, err := Compile(c.source)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(e.Literals()); got != c.want || c.want == "" && e.Literals() != nil {
			t.Errorf("%#.60q:\n  got  %s\n  want %s", c.source, got, c.want)
		}
	}
}
