package match

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
)

// TestStrand: a strand is the units of a content, each run of spaces and tabs but for its first unit left out, and
// knows where they are.
func TestStrand(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 2))
	for range 2000 {
		content := make([]byte, r.IntN(120))
		for i := range content {
			content[i] = " \t \x00\x00\x00a"[r.IntN(7)]
		}
		for enc := range encodings {
			unit := enc.unit()
			align := r.IntN(unit)
			var want []byte
			var offsets []int64
			for at, inRun := align, false; at+unit <= len(content); at += unit {
				c, _ := enc.decodeUnit(content[at:])
				if c == ' ' || c == '\t' {
					if inRun {
						continue
					}
					want = append(want, enc.encode(" ")...)
				} else {
					want = append(want, content[at:at+unit]...)
				}
				inRun, offsets = c == ' ' || c == '\t', append(offsets, int64(at))
			}
			var s strand
			overlap := 8 + 4*r.IntN(4)
			buf := make([]byte, 4+4*r.IntN(10))
			s.reset(enc, int64(align), windows{buf: buf, r: bytes.NewReader(content)})
			for !s.last {
				if err := s.advance(context.Background(), s.raw.r.(io.Seeker), overlap); err != nil {
					t.Fatal(err)
				}
				if got := want[s.at:][:len(s.data)]; !bytes.Equal(got, s.data) {
					t.Fatalf("%v from %d in %q: %q at %d; want %q", enc, align, content, s.data, s.at, got)
				}
				if !s.last && s.limit > max(0, s.at+int64(len(s.data)-overlap+lookBack)) {
					t.Fatalf("%v: limit %d of %d+%d", enc, s.limit, s.at, len(s.data))
				}
				end := s.at + int64(len(s.data))
				for place := s.at; place < end; place += int64(unit) {
					if got, want := s.offset(place), offsets[int(place)/unit]; got != want {
						t.Fatalf("%v from %d in %q: place %d is at %d, want %d", enc, align, content, place, got, want)
					}
				}
				for offset := range int64(len(content)) {
					want := s.at
					for want < end && offsets[int(want)/unit] < offset {
						want += int64(unit)
					}
					if got := s.placeOf(offset); got != want {
						t.Fatalf("%v from %d in %q: the place of %d is %d, want %d",
							enc, align, content, offset, got, want)
					}
				}
			}
			if end := s.at + int64(len(s.data)); end != int64(len(want)) {
				t.Fatalf("%v from %d in %q: it ends at %d, want %d", enc, align, content, end, len(want))
			}
		}
	}
}

// TestWindowEndsWithText: what is next to a text counts, also where a window ends with the text.
func TestWindowEndsWithText(t *testing.T) {
	texts := []asked{{"ab b", Options{Spaces: true, Words: true}}, {"ab b", words}, {"a b", all}}
	for enc := range encodings {
		for before := range 12 {
			content := enc.encode(strings.Repeat(".", before) + strings.Repeat("ab bab b.", 20))
			for window := range 24 {
				compare(t, texts, content, 4*window)
			}
		}
	}
}

// TestLongRun: a run of spaces of many windows is within one match, with bounded memory and each byte read a fixed
// number of times, and its evidence is that of the real bytes.
func TestLongRun(t *testing.T) {
	const size = 12 << 20
	for enc := range encodings {
		text := func(s string) string { return string(enc.encode(s)) }
		unit := int64(enc.unit())
		content := &repeated{text: strings.Repeat(text(" \t"), 4<<10), size: size, end: text("= a key = b\nkey= b")}
		start := text("x\nkey")
		e := NewEngine([]*Pattern{Compile("key = b", spaces), Compile("key = a", Options{Spaces: true, Words: true})})
		x := Examiner{}
		rep, err := x.Examine(context.Background(), e, &prefixed{prefix: start, rest: content})
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Finds) != 2 {
			t.Fatalf("%v: %d finds", enc, len(rep.Finds))
		}
		got := rep.Finds[1].Evidence
		end := int64(len(start)) + size + int64(len(text("= a")))
		if got.Offset != 2*unit || got.Line != 2 || got.Column != 1 || got.Occurrences != 1 ||
			got.EndLine != 2 || got.EndColumn != end-2*unit+1 {
			t.Errorf("%v: %+v", enc, got)
		}
		if f := rep.Finds[1]; f.Before != "" || f.Matched != "key"+strings.Repeat(" \t", 98)+" " || f.After != "" {
			t.Errorf("%v: excerpt %q, %q, %q", enc, f.Before, f.Matched, f.After)
		}
		if f := rep.Finds[0].Evidence; f.Occurrences != 2 || f.Line != 2 || f.Offset != end+unit {
			t.Errorf("%v: %+v", enc, f)
		}
		held := cap(x.buf) + cap(x.held) + cap(x.raw) + cap(x.lower)
		for e := range x.strands {
			for a := range x.strands[e] {
				s := &x.strands[e][a]
				held += cap(s.data) + cap(s.lower) + cap(s.raw.buf) + 16*cap(s.jumps)
			}
		}
		if held > 4<<20 {
			t.Errorf("%v: it holds %d bytes", enc, held)
		}
		// Once for the first step, once for each alignment of a byte order, and three times for the evidence, of two
		// texts in the same one.
		if most := (1 + 2*unit + 3) * (size + 1<<20); content.read > most {
			t.Errorf("%v: %d bytes were read, of %d", enc, content.read, size)
		}
	}
}

// A prefixed is a content with a few bytes before it.
type prefixed struct {
	prefix string
	rest   *repeated
	at     int64
}

func (p *prefixed) Seek(offset int64, _ int) (int64, error) {
	p.at = offset
	return p.rest.Seek(max(offset-int64(len(p.prefix)), 0), io.SeekStart)
}

func (p *prefixed) Read(b []byte) (int, error) {
	if p.at < int64(len(p.prefix)) {
		n := copy(b, p.prefix[p.at:])
		p.at += int64(n)
		return n, nil
	}
	return p.rest.Read(b)
}

// TestManyBeginnings: content in which a text begins at each place, and never ends, takes a time that grows with it.
func TestManyBeginnings(t *testing.T) {
	for _, c := range []struct {
		text  string
		o     Options
		again string
	}{
		{"a = = = b", spaces, "= "}, {"a = = = b", spaces, "a = = = "},
		{"a = b", spaces, "a "}, {"= = = = x", spaces, "=\t"},
		{"a b c d e f", spaces, "a b c d e "}, {"a\n b\n c", spaces, "a\n b\n "}, {"= = = = = = = = =a", spaces, "= "},
		{"a = b", all, "A\t\t"}, {"aab", Options{Words: true, IgnoreCase: true}, "aA"}, {"aa ", words, "a"},
	} {
		text := []asked{{c.text, c.o}}
		var took [2]time.Duration
		for i := range took {
			content := []byte(strings.Repeat(c.again, (1+15*i)*(1<<20)/len(c.again)) + "." + c.text)
			took[i] = cputime.Of(func() {
				if f := examine(t, text, content, 0)[0]; f == nil || f.Evidence.Occurrences != 1 {
					t.Errorf("%q after many of %q: %+v", c.text, c.again, f)
				}
			})
		}
		// 16 times the content; a time that grows with its square would be 256 times as long.
		t.Logf("%q, %q: %v, %v", c.text, c.again, took[0], took[1])
		if took[1] > 64*took[0]+300*time.Millisecond && !cputime.RaceDetector {
			t.Errorf("%q after many of %q: %v of processor time, for 16 times as many %v",
				c.text, c.again, took[0], took[1])
		}
	}
}
