package match

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/verdict"
)

// CompileRegex returns the pattern of a regex. Only content with one of its literals is read again.
//
// It is matched in UTF-8 and, in content with a NUL byte or a mark of UTF-16 or UTF-32, in both byte orders of both:
// from the first byte, and from the end of each mark at the start. A mark at the first byte is in no line. A match
// begins in the first withinLines lines, or in any if that is 0.
func CompileRegex(x *regex.Expr, withinLines int) *Pattern {
	p := &Pattern{text: x.String(), expr: x, options: Options{WithinLines: withinLines}, ascii: true}
	for _, l := range x.Literals() {
		for i := range len(l.Text) {
			p.ascii = p.ascii && l.Text[i] < utf8.RuneSelf
		}
	}
	p.addForms()
	return p
}

func literalForms(x *regex.Expr, end encoding) (forms []form) {
	for e := range end {
		for _, l := range x.Literals() {
			forms = append(forms, newLiteralForm(e, l))
		}
	}
	return forms
}

func newLiteralForm(e encoding, l regex.Literal) form {
	f := form{enc: e, needle: e.encode(l.Text), fold: l.Fold} // in lower case if it folds
	if f.nul = bytes.IndexByte(f.needle, 0) >= 0; !f.nul {
		f.prepared = f.prepare()
	}
	return f
}

// An exprCandidate is a regex that may match, in the second step.
type exprCandidate struct {
	index    int // the pattern's index in the engine
	expr     *regex.Expr
	readings []exprReading
	own      exprReading           // the encoding of the content's mark, after it; without a mark all of it as UTF-8
	until    map[exprReading]int64 // no match that counts begins there or later; nil: no limit
	inLines  bool                  // confirm finds its matches

	found bool    // its matches were found by confirm
	lines []match // in which it may match, in the window that is looked at

	enc    encoding // the first match's start
	first  match
	count  int64 // as in a tally
	upTo   int64
	kept   kept
	marked bool // it matches in its own reading
}

// An exprReading reads a content as lines in one encoding, from an offset on.
type exprReading struct {
	enc  encoding
	from int64
}

func (e *Engine) newExprCandidate(index int, seen []formOf, s *seen, keep int) exprCandidate {
	p := e.patterns[index]
	var has [encodings]bool // the regex's possible matches
	of := p.forms
	if seen[len(seen)-1].form >= len(of) {
		of = p.every()
	}
	inLines := true
	for _, s := range seen {
		if s.form < 0 {
			has = [encodings]bool{true, true, true, true, true}
			inLines = len(e.always) > 1 // one is found as fast without
			continue
		}
		f := &of[s.form]
		has[f.enc] = true
		inLines = inLines && (f.enc != utf8Enc || !f.nul)
	}
	readings := s.exprReadings(p, has)
	return exprCandidate{
		index: index, expr: p.expr, own: s.own(), kept: kept{most: keep}, readings: readings,
		inLines: inLines && len(readings) == 1 && readings[0].enc == utf8Enc,
	}
}

// exprReadings returns the readings of a content for a regex that may match in some encodings.
func (s *seen) exprReadings(p *Pattern, has [encodings]bool) []exprReading {
	if readings, known := s.readings[has]; known {
		return readings
	}
	starts := []int64{0}
	for e := range encodings {
		if s.marks[e] {
			starts = append(starts, int64(len(e.bom())))
		}
	}
	var readings []exprReading
	for e := range encodings {
		if !has[e] || !p.countsIn(e, s.Shape, false) {
			continue
		}
		for _, from := range starts {
			r := exprReading{e, from}
			if from == 0 && s.marks[e] {
				r.from = int64(len(e.bom()))
			}
			if (e != utf8Enc || from == 0) && !slices.Contains(readings, r) {
				readings = append(readings, r)
			}
		}
	}
	s.readings[has] = readings
	return readings
}

func (h *exprCandidate) find(finds []*Find) []*Find {
	if h.count == 0 {
		return finds
	}
	f := newFind(h.index, verdict.KindRegex, h.enc, h.first, h.count)
	f.Marked = h.marked
	f.kept = h.kept.list
	return append(finds, f)
}

// searchExpr searches for a regex. If one window held the content, it is only.
func (x *Examiner) searchExpr(
	ctx context.Context, content io.ReadSeeker, only window, h *exprCandidate, reads *int,
) error {
	matches := func(r exprReading) iter.Seq2[match, error] {
		if only.last && r.enc == utf8Enc {
			return h.inMemory(only.data, r.from)
		}
		return h.inContent(ctx, x, content, r, reads)
	}
	if len(h.readings) == 1 {
		for m, err := range matches(h.readings[0]) {
			if err != nil {
				return err
			}
			h.add(h.readings[0], m)
		}
		return nil
	}
	// Each reading has its own position: its next match is known at the end of a line, and lines differ in length.
	type head struct {
		reading exprReading
		next    func() (match, error, bool)
		match   match
		ok      bool
	}
	var heads []head
	for _, r := range h.readings {
		next, stop := iter.Pull2(matches(r))
		defer stop()
		heads = append(heads, head{reading: r, next: next})
	}
	behind := -1 // all heads
	for {
		best := -1
		for k := range heads {
			if behind < 0 || k == behind {
				var err error
				if heads[k].match, err, heads[k].ok = heads[k].next(); err != nil {
					return err
				}
			}
			if heads[k].ok && (best < 0 || heads[k].match.start < heads[best].match.start) {
				best = k
			}
		}
		if best < 0 {
			return nil
		}
		h.add(heads[best].reading, heads[best].match)
		behind = best
	}
}

func (h *exprCandidate) forget() {
	h.enc, h.first, h.count, h.upTo, h.marked = 0, match{}, 0, 0, false
	h.kept.list = nil
}

func (h *exprCandidate) add(r exprReading, m match) {
	if until, ok := h.until[r]; ok && m.start >= until {
		return
	}
	h.marked = h.marked || r == h.own
	if m.start < h.upTo {
		return
	}
	if h.count == 0 {
		h.enc, h.first = r.enc, m
	}
	h.count++
	h.upTo = m.end
	h.kept.add(r.enc, m)
}

// inMemory returns the matches in content from an offset on, as UTF-8.
func (h *exprCandidate) inMemory(content []byte, from int64) iter.Seq2[match, error] {
	return func(yield func(match, error) bool) {
		for m := range h.expr.Find(content[from:]) {
			if !yield(match{from + m.Start, from + m.End}, nil) {
				return
			}
		}
	}
}

// inContent returns the matches in a reading of content that is read again.
func (h *exprCandidate) inContent(
	ctx context.Context, x *Examiner, content io.ReadSeeker, r exprReading, reads *int,
) iter.Seq2[match, error] {
	return func(yield func(match, error) bool) {
		c := newChars(ctx, content, r, x, nil)
		defer func() { *reads += c.windows.reads }()
		for m, err := range h.expr.FindReader(c) {
			if !yield(match{r.from + m.Start, r.from + m.End}, err) || err != nil {
				return
			}
		}
	}
}
