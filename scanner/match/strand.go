package match

import (
	"context"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/policyscan/policyscan/scanner/needle"
)

// A strand is a content as a text in one encoding, from one alignment on, in which each run of spaces and tabs is one
// space. What a run of any length can be part of is so of bounded length, and can be looked for in windows:
//
//	content   a = [ \t  \t ... 1 GB ...  ] ;
//	strand    a = [   ] ;
//	offset    0 1 2 3 4 ...
//
// It is read once, from the left. Places are bytes of the strand from its beginning, offsets bytes of the content.
type strand struct {
	enc   encoding
	align int64

	raw    windows // the content, whose position others move
	data   []byte  // the window
	at     int64   // the place of its first byte
	jumps  []jump  // what is left out within the window, in order; the first is at its first byte
	limit  int64   // the place up to which matches may begin that end within the window
	last   bool    // the content ends here
	inRun  bool    // the last unit was a space,
	longer bool    // and some after it were left out
	lower  []byte  // the window in lower case; empty until it is needed
}

// A jump says where the units of a strand from a place on are.
type jump struct{ place, offset int64 }

// reset begins the strand of another content.
func (s *strand) reset(enc encoding, align int64, raw windows) {
	raw.at = align
	*s = strand{
		enc: enc, align: align, raw: raw,
		data: s.data[:0], lower: s.lower[:0], jumps: append(s.jumps[:0], jump{0, align}),
	}
}

// advance reads on. The next window begins with the last overlap bytes of this one.
func (s *strand) advance(ctx context.Context, content io.Seeker, overlap int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if _, err := content.Seek(s.raw.read(), io.SeekStart); err != nil {
		return err
	}
	s.forget(len(s.data) - overlap)
	w, _, err := s.raw.next()
	if err != nil {
		return err
	}
	s.add(w)
	s.last = w.last
	s.limit = s.at + int64(len(s.data))
	if !s.last {
		s.limit = max(s.limit-int64(overlap)+lookBack, 0)
	}
	return nil
}

// forget drops the first n bytes of the window.
func (s *strand) forget(n int) {
	s.lower = s.lower[:0]
	if n <= 0 {
		return
	}
	at := s.at + int64(n)
	first := jump{at, s.offset(at)}
	passed := sort.Search(len(s.jumps), func(i int) bool { return s.jumps[i].place > at })
	s.jumps = slices.Replace(s.jumps, 0, passed, first)
	s.data = append(s.data[:0], s.data[n:]...)
	s.at = at
}

// add appends the text of the content's next bytes.
func (s *strand) add(w window) {
	unit := s.enc.unit()
	rest := w.data[:len(w.data)/unit*unit] // less than a unit is left only where the content ends
	for at := 0; at < len(rest); {
		from := at
		at += s.enc.untilSpace(rest[at:])
		if at > from {
			if s.longer {
				s.jumps = append(s.jumps, jump{s.at + int64(len(s.data)), w.at + int64(from)})
			}
			s.inRun, s.longer = false, false
			s.data = append(s.data, rest[from:at]...)
		}
		from = at
		at += s.enc.untilText(rest[at:])
		if at > from {
			s.longer = s.inRun || at-from > unit
			if !s.inRun {
				s.data = append(s.data, s.enc.space()...)
			}
			s.inRun = true
		}
	}
}

// offset returns where the unit at a place is, which is one of the window or the place behind it.
func (s *strand) offset(place int64) int64 {
	i := sort.Search(len(s.jumps), func(i int) bool { return s.jumps[i].place > place }) - 1
	return s.jumps[i].offset + place - s.jumps[i].place
}

// placeOf returns the first place of the window whose unit is at an offset or behind it, or the place behind the
// window.
func (s *strand) placeOf(offset int64) int64 {
	i := sort.Search(len(s.jumps), func(i int) bool { return s.jumps[i].offset > offset }) - 1
	if i < 0 {
		return s.at
	}
	unit := int64(s.enc.unit())
	place := s.jumps[i].place + (offset-s.jumps[i].offset+unit-1)/unit*unit
	if i+1 < len(s.jumps) {
		return min(place, s.jumps[i+1].place)
	}
	return min(place, s.at+int64(len(s.data)))
}

// knownUpTo is the offset before which every match begins that can be found in this window or was in those before it.
func (s *strand) knownUpTo() int64 {
	if s.last {
		return math.MaxInt64
	}
	return s.offset(s.limit)
}

// next returns the first match of a form that begins at a place of the window or behind it, and before the limit.
func (s *strand) next(f *form, from int64) (match, bool) {
	if f.fold && len(s.lower) != len(s.data) {
		s.lower = needle.AppendLower(s.lower[:0], s.data)
	}
	start, end := f.next(s.data, s.lower, int(from-s.at))
	if start < 0 || s.at+int64(start) >= s.limit {
		return match{}, false
	}
	unit := s.enc.unit()
	m := match{s.offset(s.at + int64(start)), s.offset(s.at+int64(end-unit)) + int64(unit)}
	return m, f.until == 0 || m.start < f.until
}
