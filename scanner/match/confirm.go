package match

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/rules/regex"
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

	lines *exprLines // of the regexes with this literal
}

// exprLines are the lines of a window with a literal of some regexes.
type exprLines struct {
	*exprSet
	lines []regex.Match
}

type suspects struct {
	engine  *Engine
	list    []*suspect
	needles []*needle.Needle // the different ones
	from    []int            // the first suspect of each needle, and the end
	exprs   []exprCandidate
	lines   []*exprLines
	bare    *exprLines // nil, or of the regexes without a literal
}

// confirm drops the candidates whose needles occur only where the pattern does not match, and finds the matches of
// regexes. It skips whatever needs more than a look: other encodings, literals of several lines in content read in
// several windows, and content with a line longer than a window.
func (x *Examiner) confirm(
	ctx context.Context, content io.ReadSeeker, only window, e *Engine, c *candidates, reads *int,
) error {
	s := e.suspects(c, only)
	if len(s.list) == 0 && s.bare == nil {
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
	sets := map[*exprSet]*exprLines{}
	linesOf := func(pattern int) *exprLines {
		set := e.setOf[pattern]
		if sets[set] == nil {
			sets[set] = &exprLines{exprSet: set}
			s.lines = append(s.lines, sets[set])
		}
		return sets[set]
	}
	if slices.ContainsFunc(c.exprs, func(h exprCandidate) bool { return h.inLines }) {
		for _, l := range c.literals {
			f := &e.patterns[l.pattern].forms[l.form]
			s.list = append(s.list, &suspect{needle: f.prepared, form: f, lines: linesOf(l.pattern)})
		}
		if len(e.always) > 1 {
			s.bare = linesOf(e.always[0])
		}
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
	line := regex.Match{} // the last line with a literal
	if !needle.Places(data, s.needles, func(n, place int) {
		for _, one := range s.list[s.from[n]:s.from[n+1]] {
			switch at := int64(place); {
			case one.lines == nil:
				one.compare(data, place)
			case at >= from:
				if at < line.Start || at >= line.End {
					line = lineAround(data, place, int(from))
				}
				one.lines.add(line)
			}
		}
	}) {
		return false
	}
	if s.bare != nil {
		s.bare.add(regex.Match{Start: from, End: int64(len(data))})
	}
	for _, l := range s.lines {
		s.find(l, data, at)
	}
	return true
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

func lineAround(data []byte, place, from int) regex.Match {
	start := place
	for start > from && data[start-1] != '\n' && data[start-1] != '\r' {
		start--
	}
	return regex.Match{Start: int64(start), End: int64(place + utf8Enc.lineEnd(data[place:]))}
}

// add adds a line, or lengthens the last one if it is part of it or follows it.
func (l *exprLines) add(line regex.Match) {
	if n := len(l.lines) - 1; n >= 0 && line.Start >= l.lines[n].Start &&
		line.Start <= l.lines[n].End+int64(len("\r\n")) {
		l.lines[n].End = max(l.lines[n].End, line.End)
		return
	}
	l.lines = append(l.lines, line)
}

// find adds the matches in some lines of data, and forgets these.
func (s *suspects) find(l *exprLines, data []byte, at int64) {
	slices.SortFunc(l.lines, func(a, b regex.Match) int { return cmp.Compare(a.Start, b.Start) })
	lines := l.lines
	l.lines = l.lines[:0]
	for _, line := range lines {
		l.add(line)
	}
	for i, line := range l.set(s.engine).Lines(data, l.lines) {
		k, found := slices.BinarySearchFunc(s.exprs, l.patterns[i], func(h exprCandidate, index int) int {
			return cmp.Compare(h.index, index)
		})
		if !found || !s.exprs[k].inLines {
			continue
		}
		h := &s.exprs[k]
		for m := range h.expr.Find(data[line.Start:line.End]) {
			h.add(h.readings[0], match{at + line.Start + m.Start, at + line.Start + m.End})
		}
	}
	l.lines = l.lines[:0]
}
