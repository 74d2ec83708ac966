package match

import (
	"context"
	"io"

	"github.com/policyscan/policyscan/verdict"
)

// A need says whether a pattern of an engine must occur.
type need uint8

const (
	optional need = iota
	required
	onlyRequired // nothing else is asked of it: where it occurs does not matter
)

// Require says of a pattern, by its index, that it must occur, and whether it is there for nothing else. It is to be
// called before the engine is used.
//
// A text counts in all encodings, in whole units from behind the byte order mark that the content begins with, or
// from its first byte: where units are cut in two, it and what is next to it are not the content's characters. One
// character counts only in the encoding of that mark, as an expression does: see [Find.Marked].
func (e *Engine) Require(pattern int, alone bool) {
	if e.needs == nil {
		e.needs = make([]need, len(e.patterns))
	}
	e.required = append(e.required, pattern)
	if e.needs[pattern] = required; alone {
		e.needs[pattern] = onlyRequired
	}
}

func (e *Engine) requires(pattern int) bool { return e.needs != nil && e.needs[pattern] != optional }

// alone reports whether all that is asked of a pattern is that it occurs.
func (e *Engine) alone(pattern int) bool { return e.needs != nil && e.needs[pattern] == onlyRequired }

// missing adds to a report, which has all finds, the required patterns that do not occur, and where the content ends.
func (x *Examiner) missing(
	ctx context.Context, e *Engine, content io.ReadSeeker, s *seen, rep *Report,
) error {
	if len(e.required) == 0 {
		return nil
	}
	present := map[int]bool{}
	for _, f := range rep.Finds {
		present[f.Pattern] = present[f.Pattern] || f.required || f.Marked
	}
	for _, pattern := range e.required {
		if !present[pattern] {
			rep.Missing = append(rep.Missing, pattern)
		}
	}
	if len(rep.Missing) == 0 {
		return nil
	}
	rep.End = new(verdict.Evidence)
	if x.Bare {
		return nil
	}
	end, err := x.end(ctx, content, s.own().enc, &rep.Reads)
	if err == nil && end.offset != rep.Bytes {
		err = ErrChanged
	}
	*rep.End = lackingUntil(end)
	return err
}

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
