package match

import (
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// A requirement is a pattern of an engine that must occur.
type requirement struct {
	pattern int
	alone   bool // nothing else is asked of it: where it occurs does not matter
}

// Require says of a pattern, by its index, that it must occur, and whether it is there for nothing else. It is to be
// called before the engine is used.
func (e *Engine) Require(pattern int, alone bool) {
	e.required = append(e.required, requirement{pattern, alone})
}

// alone reports whether all that is asked of a pattern is that it occurs.
func (e *Engine) alone(pattern int) bool {
	return slices.Contains(e.required, requirement{pattern, true})
}

// missing adds to a report, which has all finds, the required patterns that do not occur, and where the content ends.
func (x *Examiner) missing(
	ctx context.Context, e *Engine, content io.ReadSeeker, s *seen, rep *Report,
) error {
	if len(e.required) == 0 {
		return nil
	}
	present := map[int]bool{}
	for _, f := range rep.Finds {
		present[f.Pattern] = f.Marked || e.patterns[f.Pattern].expr == nil // a text in any encoding
	}
	for _, r := range e.required {
		if !present[r.pattern] {
			rep.Missing = append(rep.Missing, r.pattern)
		}
	}
	if len(rep.Missing) == 0 {
		return nil
	}
	end, err := x.end(ctx, content, markOf(s.marks), &rep.Reads)
	if err == nil && end.offset != rep.Bytes {
		err = ErrChanged
	}
	rep.End = verdict.Evidence{
		Kind: verdict.KindMissing, Line: 1, Column: 1, EndLine: end.line, EndColumn: end.offset - end.lineStart + 1,
		UTF16Column: 1, UTF16EndColumn: end.units + 1, Occurrences: 1,
	}
	return err
}

// end returns where a content ends, read in an encoding.
func (x *Examiner) end(ctx context.Context, content io.ReadSeeker, enc encoding, reads *int) (spot, error) {
	var end spot
	r := newReading(enc, 0, 0)
	err := x.again(ctx, content, 0, 0, reads, func(w window) bool {
		end.offset = w.at + int64(len(w.data))
		r.spots = []*spot{&end}
		r.add(w.data)
		return true
	})
	r.spots = []*spot{&end}
	r.close()
	return end, err
}

// markOf returns the encoding whose byte order mark a content begins with: of two that fit the longer, of none UTF-8.
func markOf(marks [encodings]bool) encoding {
	mark := utf8Enc
	for e := range encodings {
		if marks[e] && (mark == utf8Enc || len(e.bom()) > len(mark.bom())) {
			mark = e
		}
	}
	return mark
}
