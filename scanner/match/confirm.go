package match

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/scanner/needle"
)

// A suspect is a candidate whose needles may occur without the pattern. A needle is rare, but a part of a literal with
// options, or a literal of a regex, often occurs in files without a match. One pass over the places of all needles is
// much cheaper than a search for each.
type suspect struct {
	needle *needle.Needle
	form   *form

	text *tally
	left int  // bytes of a window that may still be compared before the literal counts as one that occurs
	sure bool // the literal occurs, or a search has to decide

	regexes *exprSet // with this literal
	tried   match    // the last line searched
}

type suspects struct {
	engine  *Engine
	list    []*suspect
	needles []*needle.Needle // the different ones
	from    []int            // the first suspect of each needle, and the end
	exprs   []exprCandidate
	bare    bool // some regexes have no literal
}

// confirm drops the candidates whose needles occur only where the pattern does not match, and finds the matches of
// regexes. It skips whatever needs more than a look: other encodings, literals of several lines in content read in
// several windows, and content with a line longer than a window.
func (x *Examiner) confirm(
	ctx context.Context, content io.ReadSeeker, only window, e *Engine, c *candidates, reads *int,
) error {
	s := e.suspects(c, only)
	if len(s.list) == 0 && !s.bare {
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
		if done && one.text != nil && !one.sure {
			gone[one.text] = true
		}
	}
	for i := range c.exprs {
		if h := &c.exprs[i]; h.inLines {
			if h.found = done; !done {
				h.forget()
			}
		}
	}
	c.texts = slices.DeleteFunc(c.texts, func(h *candidate) bool { return gone[&h.tally] })
	c.spaced = slices.DeleteFunc(c.spaced, func(h *candidate) bool { return gone[&h.tally] })
	return nil
}

// suspects returns the suspects among the candidates, in a content or in its lines.
func (e *Engine) suspects(c *candidates, only window) *suspects {
	s := &suspects{engine: e, exprs: c.exprs}
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
	if slices.ContainsFunc(c.exprs, func(h exprCandidate) bool { return h.inLines }) {
		for _, l := range c.literals {
			f := &e.patterns[l.pattern].forms[l.form]
			s.list = append(s.list, &suspect{needle: f.prepared, form: f, regexes: e.setOf[l.pattern]})
		}
		s.bare = len(e.always) > 1
	}
	// Several patterns can share a needle.
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

// wavers reports whether the needle can occur without a match, and whether the lines around it, or the whole content,
// decide that cheaply. The CR of a segment can also belong to a line end.
func (f *form) wavers(whole bool) bool {
	return (len(f.segments) > 1 || f.begins || f.ends) && (whole || !slices.Contains(f.joints, lineEnd)) &&
		!slices.ContainsFunc(f.segments, func(s []byte) bool { return bytes.IndexByte(s, '\r') >= 0 })
}

// lookAtLines reads a content in windows of whole lines. It returns false if a line is longer than a window, or if
// look does.
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

// look searches whole lines of a content, which begin at an offset. It returns false if it gave up.
func (s *suspects) look(data []byte, at int64) bool {
	for _, one := range s.list {
		one.left = WindowSize
	}
	from := int64(0)
	if i := slices.IndexFunc(s.exprs, func(h exprCandidate) bool { return h.inLines }); i >= 0 {
		from = max(s.exprs[i].readings[0].from-at, 0)
	}
	line := match{} // the last line searched
	all := needle.Places(data, s.needles, func(n, place int) {
		for _, one := range s.list[s.from[n]:s.from[n+1]] {
			if one.text != nil {
				one.compare(data, place)
				continue
			}
			if int64(place) < from {
				continue
			}
			if int64(place) < line.start || int64(place) >= line.end {
				line = lineAround(data, place, int(from))
			}
			if one.tried != line {
				one.tried = line
				s.try(one.regexes, data, line)
			}
		}
	})
	if s.bare {
		s.try(s.engine.setOf[s.engine.always[0]], data, match{from, int64(len(data))})
	}
	for i := range s.exprs {
		s.exprs[i].take(data, at)
	}
	for _, one := range s.list {
		one.tried = match{}
	}
	return all
}

// compare checks for a match of a literal around a place of its needle.
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

// try notes the lines, among some of data, that regexes may match.
func (s *suspects) try(regexes *exprSet, data []byte, lines match) {
	for i, l := range regexes.set(s.engine).Lines(data[lines.start:lines.end]) {
		k, found := slices.BinarySearchFunc(s.exprs, regexes.patterns[i], func(h exprCandidate, index int) int {
			return cmp.Compare(h.index, index)
		})
		if found && s.exprs[k].inLines {
			h := &s.exprs[k]
			h.lines = withLine(h.lines, match{lines.start + l.Start, lines.start + l.End})
		}
	}
}

// take adds the matches in the noted lines.
func (h *exprCandidate) take(data []byte, at int64) {
	if len(h.lines) == 0 {
		return
	}
	slices.SortFunc(h.lines, match.before)
	lines := h.lines[:1]
	for _, l := range h.lines[1:] {
		lines = withLine(lines, l)
	}
	for _, l := range lines {
		for m := range h.expr.Find(data[l.start:l.end]) {
			h.add(h.readings[0], match{at + l.start + m.Start, at + l.start + m.End})
		}
	}
	h.lines = h.lines[:0]
}

// withLine adds a line to lines, or to the last of them if it is part of it or directly after it.
func withLine(lines []match, l match) []match {
	if n := len(lines) - 1; n >= 0 && l.start >= lines[n].start && l.start <= lines[n].end+int64(len("\r\n")) {
		lines[n].end = max(lines[n].end, l.end)
		return lines
	}
	return append(lines, l)
}
