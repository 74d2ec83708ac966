package match

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
)

// limitLines sets where the lines end in which matches of candidates with the option WithinLines may begin.
func (x *Examiner) limitLines(
	ctx context.Context, e *Engine, content io.ReadSeeker, c *candidates, reads *int,
) error {
	type lines struct {
		exprReading
		count int
	}
	known := map[lines]int64{}
	end := func(index int, r exprReading) (int64, error) {
		l := lines{r, e.patterns[index].options.WithinLines}
		if l.count == 0 {
			return 0, nil
		}
		if at, ok := known[l]; ok {
			return at, nil
		}
		at, err := x.endOfLines(ctx, content, r, l.count, reads)
		known[l] = at
		return at, err
	}
	limit := func(index int, forms []*form) (err error) {
		for _, f := range forms {
			if f.aligned && err == nil { // otherwise it is not a copy
				f.until, err = end(index, exprReading{f.enc, f.from})
			}
		}
		return err
	}
	for _, h := range slices.Concat(c.texts, c.spaced) {
		if err := limit(h.index, h.forms); err != nil {
			return err
		}
	}
	for i := range c.exprs {
		h := &c.exprs[i]
		for _, r := range h.readings {
			until, err := end(h.index, r)
			if err != nil {
				return err
			}
			if until > 0 {
				if h.until == nil {
					h.until = map[exprReading]int64{}
				}
				h.until[r] = until
			}
		}
	}
	return nil
}

// endOfLines returns where the first lines of a content, in one reading, end: the offset of the next line, or one
// after the content.
func (x *Examiner) endOfLines(
	ctx context.Context, content io.ReadSeeker, r exprReading, count int, reads *int,
) (int64, error) {
	c := newChars(ctx, content, r, x, nil)
	defer func() { *reads += c.windows.reads }()
	for last := rune(0); ; {
		at := c.at()
		char, _, err := c.ReadRune()
		if errors.Is(err, io.EOF) {
			return math.MaxInt64, nil
		}
		if err != nil {
			return 0, err
		}
		if last == '\n' || last == '\r' && char != '\n' {
			if count--; count == 0 {
				return at, nil
			}
		}
		last = char
	}
}
