package match

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/scanner/needle"
)

// A suspect is a candidate whose needles may be there without the pattern. A needle is rare, but a part of a text that
// has options, or a literal of an expression, is often in files where nothing matches. A look at the places of all of
// them in one pass is much cheaper than a search for each.
type suspect struct {
	needle *needle.Needle
	form   *form

	text *tally
	left int  // how many more bytes of a window may be compared before the text counts as one that occurs
	sure bool // the text occurs, or a search has to find out

	expr *exprCandidate
}

type suspects struct {
	list    []*suspect
	needles []*needle.Needle // the different ones
	from    []int            // the first suspect of each, and the end
}

// confirm drops the candidates whose needles are at places of a content where the pattern does not match, and finds the
// matches of expressions. It leaves alone what needs more than a look: other encodings, texts of several lines in
// content that was read in several windows, and what is in content with a line longer than a window.
func (x *Examiner) confirm(
	ctx context.Context, content io.ReadSeeker, only window, c *candidates, reads *int,
) error {
	s := c.suspects(only)
	if len(s.list) == 0 {
		return nil
	}
	done, err := true, error(nil)
	if only.last {
		done = s.look(only.data, 0)
	} else {
		done, err = x.lookAtLines(ctx, content, s, reads)
	}
	if err != nil {
		return err
	}
	gone := map[*tally]bool{}
	for _, one := range s.list {
		switch {
		case one.expr != nil && done:
			one.expr.found = true
		case one.expr != nil:
			one.expr.forget()
		case done && !one.sure:
			gone[one.text] = true
		}
	}
	c.texts = slices.DeleteFunc(c.texts, func(h *candidate) bool { return gone[&h.tally] })
	c.spaced = slices.DeleteFunc(c.spaced, func(h *candidate) bool { return gone[&h.tally] })
	return nil
}

// suspects returns those of the candidates in a content, or in its lines if it is no window.
func (c *candidates) suspects(only window) *suspects {
	s := &suspects{}
	text := func(forms []*form, t *tally) {
		if len(forms) != 1 {
			return
		}
		if f := forms[0]; f.enc == utf8Enc && f.prepared != nil && f.wavers(only.last) {
			s.list = append(s.list, &suspect{needle: f.prepared, form: f, text: t})
		}
	}
	for _, h := range slices.Concat(c.texts, c.spaced) {
		text(h.forms, &h.tally)
	}
	for _, h := range c.exprs {
		if len(h.readings) == 1 && h.readings[0].enc == utf8Enc && len(h.literals) > 0 &&
			!slices.ContainsFunc(h.literals, func(f *form) bool { return f.prepared == nil }) {
			for _, f := range h.literals {
				s.list = append(s.list, &suspect{needle: f.prepared, form: f, expr: h})
			}
		}
	}
	// Many expressions have the same literal.
	slices.SortStableFunc(s.list, func(a, b *suspect) int {
		return cmp.Or(bytes.Compare(a.form.needle, b.form.needle), a.form.folding()-b.form.folding())
	})
	for i, one := range s.list {
		if i > 0 && one.form.fold == s.list[i-1].form.fold && bytes.Equal(one.form.needle, s.list[i-1].form.needle) {
			continue
		}
		s.needles, s.from = append(s.needles, one.needle), append(s.from, i)
	}
	s.from = append(s.from, len(s.list))
	return s
}

// folding is 1 if the form folds, else 0.
func (f *form) folding() int {
	if f.fold {
		return 1
	}
	return 0
}

// wavers reports whether the needle can be there without a match, and whether one is easily known from its place, by
// the lines around it unless all content is there. Where a segment has a CR, it can also be that of a line end.
func (f *form) wavers(whole bool) bool {
	return (len(f.segments) > 1 || f.begins || f.ends) && (whole || !slices.Contains(f.joints, lineEnd)) &&
		!slices.ContainsFunc(f.segments, func(s []byte) bool { return bytes.IndexByte(s, '\r') >= 0 })
}

// lookAtLines looks at a content in windows of whole lines. It returns false if a line is longer than a window, or look
// does.
func (x *Examiner) lookAtLines(ctx context.Context, content io.ReadSeeker, s *suspects, reads *int) (bool, error) {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	ws := x.windows(content, 0)
	defer func() { *reads += ws.reads }()
	for {
		if err := context.Cause(ctx); err != nil {
			return false, err
		}
		w, ok, err := ws.next()
		if err != nil || !ok {
			return err == nil, err
		}
		lines := w.data
		if !w.last {
			lines = w.data[:bytes.LastIndexAny(w.data, "\r\n")+1]
		}
		ws.overlap = len(w.data) - len(lines)
		if ws.overlap == len(ws.buf) || !s.look(lines, w.at) {
			return false, nil
		}
	}
}

// look looks at whole lines of a content, which begin at an offset. It returns false if it gave up.
func (s *suspects) look(data []byte, at int64) bool {
	for _, one := range s.list {
		one.left = WindowSize
	}
	line := match{} // the last one that was looked at
	all := needle.Places(data, s.needles, func(n, place int) {
		for _, one := range s.list[s.from[n]:s.from[n+1]] {
			h := one.expr
			if h == nil {
				one.compare(data, place)
				continue
			}
			from := max(h.readings[0].from-at, 0)
			if int64(place) < from {
				continue
			}
			if int64(place) < line.start || int64(place) >= line.end {
				line = lineAround(data, place, int(from))
			}
			h.try(data, line)
		}
	})
	for _, one := range s.list {
		if one.expr != nil {
			one.expr.take(data, at)
		}
	}
	return all
}

// compare looks whether there is a match of a text around a place of its needle.
func (s *suspect) compare(data []byte, place int) {
	if s.sure {
		return
	}
	f := s.form
	if s.left -= f.longest; s.left < 0 {
		s.sure = true
		return
	}
	end := f.forward(data, f.rare, place)
	if end < 0 {
		return
	}
	start := f.back(data, f.rare, place, 0)
	if start < 0 {
		return
	}
	s.left -= end - start
	s.sure = f.apart(data, start, end)
}

func lineAround(data []byte, place, from int) match {
	start := place
	for start > from && data[start-1] != '\n' && data[start-1] != '\r' {
		start--
	}
	return match{int64(start), int64(place + utf8Enc.lineEnd(data[place:]))}
}

func (h *exprCandidate) try(data []byte, line match) {
	if h.tried == line {
		return
	}
	h.tried = line
	if h.expr.Match(data[line.start:line.end]) {
		h.lines = append(h.lines, line)
	}
}

func (h *exprCandidate) take(data []byte, at int64) {
	for _, l := range inOrder(h.lines) {
		for m := range h.expr.Find(data[l.start:l.end]) {
			h.add(h.readings[0], match{at + l.start + m.Start, at + l.start + m.End})
		}
	}
	h.lines, h.tried = h.lines[:0], match{}
}

func inOrder(lines []match) []match {
	slices.SortFunc(lines, func(a, b match) int { return cmp.Compare(a.start, b.start) })
	return slices.Compact(lines)
}
