package match

import (
	"context"
	"io"

	"github.com/policyscan/policyscan/verdict"
)

// A need tells whether a pattern of an engine must occur.
type need uint8

const (
	optional need = iota
	required
	onlyRequired // the pattern is only required: its places do not matter
)

// Require marks a pattern, by its index, as required, and whether it is only required. Call it before the engine is
// used.
//
// A literal counts in all encodings, in whole units from the end of the content's byte order mark, or from its first
// byte: if units are cut in two, it and its neighbours are not the content's characters. A single character counts
// only in the encoding of that mark, as a regex does: see [Find.Marked].
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

// Alone reports whether a pattern is only required.
func (e *Engine) Alone(pattern int) bool { return e.needs != nil && e.needs[pattern] == onlyRequired }

// missing adds the required patterns that do not occur, and the content's end, to a report with all finds.
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
