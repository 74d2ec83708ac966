package regex

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// found returns the matches of the i-th regex in the lines that the set names for it.
func found(lines func(func(int, Match) bool), i int, e *Expr, text string) (all []Match) {
	for n, line := range lines {
		if n != i {
			continue
		}
		for m := range e.Find([]byte(text[line.Start:line.End])) {
			all = append(all, Match{line.Start + m.Start, line.Start + m.End})
		}
	}
	return all
}

// drawSet makes a set of random regexes, and a text that is likely to match some.
func drawSet(t *rapid.T) (exprs []*Expr, text string) {
	for range rapid.IntRange(1, 6).Draw(t, "expressions") {
		source := rapid.SampledFrom(corpus()).Draw(t, "real").source
		if rapid.IntRange(0, 2).Draw(t, "kind") > 0 {
			source = expression(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		}
		if e, err := Compile(source); err == nil {
			exprs = append(exprs, e)
			text += textFor(t, parsed(t, source))
		}
	}
	return exprs, text
}

// TestSet: the lines of a set have all matches of each regex, and lines without a character outside ASCII are named
// only if the regex matches.
func TestSet(t *testing.T) {
	total := 0
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			exprs, text := drawSet(t)
			if len(exprs) == 0 {
				return
			}
			s := NewSet(exprs)
			if len(exprs) > 1 { // it gives up in this text, or drops its states
				d := newDFA(s)
				d.limits = rapid.SampledFrom([]dfaLimits{
					usualLimits(len(exprs)), {cells: 60, bytes: 1 << 10, work: 1 << 20},
					{cells: 1 << 10, bytes: 1 << 10, work: 30, reads: 1 << 20},
				}).Draw(t, "limits")
				s.release(d)
			}
			whole := []Match{{0, int64(len(text))}}
			read, err := NewSet(exprs).LinesReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			named := make([]int, len(exprs))
			for i, line := range s.Lines([]byte(text), whole) {
				named[i]++
				part := []byte(text[line.Start:line.End])
				if ascii := !bytes.ContainsFunc(part, func(r rune) bool { return r >= 0x80 }); ascii && !exprs[i].Match(part) {
					t.Fatalf("%#q of %q does not match %q of %q", exprs[i], exprs, part, text)
				}
			}
			for i, e := range exprs {
				want := naive(e.String(), text)
				if got := found(s.Lines([]byte(text), whole), i, e, text); !slices.Equal(got, want) {
					t.Fatalf("%#q of %q in %q:\n  got  %v\n  want %v", e, exprs, text, got, want)
				}
				if in := slices.Contains(read, i); in != (named[i] > 0) && len(exprs) == len(read) || len(want) > 0 && !in {
					t.Fatalf("%#q of %q in a reader of %q: %v", e, exprs, text, in)
				}
				total += len(want)
			}
		})
	}
	if total < 2000 {
		t.Errorf("%d matches: too few to say anything", total)
	}
}

// TestSetThrashes: where nearly each character makes a new state, an automaton stops after bounded work, its halves
// are searched, and nothing is missed.
func TestSetThrashes(t *testing.T) {
	var exprs []*Expr
	for i := range 8 {
		exprs = append(exprs, compiled(t, fmt.Sprintf(`[ab]*%c[ab]{%d}[xy]`, 'a'+i%2, 18+i)))
	}
	var text strings.Builder
	random := uint32(1)
	for range 400_000 {
		random = random*1664525 + 1013904223
		text.WriteByte("aabbabab"[random>>29])
		if random>>22&0xff == 0 {
			text.WriteString("\n")
		}
	}
	s := NewSet(exprs)
	d := newDFA(s)
	_, end := d.line([]byte(text.String()), 0)
	most := 2*d.limits.work + d.read/10
	if !d.gaveUp || end != text.Len() || d.worked > most || d.read > 100_000 {
		t.Errorf("gave up: %v, after %d places were followed and %d characters read; at most %d expected",
			d.gaveUp, d.worked, d.read, most)
	}
	if d.next != nil || d.known != nil {
		t.Error("it holds states")
	}
	lines := s.Lines([]byte(text.String()), []Match{{0, int64(text.Len())}})
	for i, e := range exprs {
		got, want := found(lines, i, e, text.String()), slices.Collect(e.Find([]byte(text.String())))
		if !slices.Equal(got, want) {
			t.Errorf("%d: %d matches, want %d", i, len(got), len(want))
		}
	}
	if !s.halved.Load() || s.idle != nil {
		t.Error("it was not searched by halves")
	}
}

// TestSetMemory: an automaton holds no more than its limits and one state.
func TestSetMemory(t *testing.T) {
	var exprs []*Expr
	for i := range 4 {
		exprs = append(exprs, compiled(t, fmt.Sprintf(`[ab]*a[ab]{%d}x`, 10+i)))
	}
	d := newDFA(NewSet(exprs))
	d.limits.reads = 0 // it never gives up
	random := uint32(1)
	for range 20_000 {
		line := make([]byte, 40)
		for i := range line {
			random = random*1664525 + 1013904223
			line[i] = "ab"[random>>31]
		}
		d.line(line, 0)
		if len(d.next) > d.limits.cells+d.columns || d.held > d.limits.bytes+1<<10 {
			t.Fatalf("%d cells, %d bytes", len(d.next), d.held)
		}
	}
	if d.worked == 0 {
		t.Error("no states were dropped")
	}
}
