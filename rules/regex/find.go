package regex

import (
	"io"
	"iter"
	"slices"
	"unicode/utf8"
)

// A Match is a non-empty match from Start up to End: 0-based, in bytes of the text or, for a reader, in the sizes that
// it returned.
type Match struct {
	Start, End int64
}

// Find returns the matches in a text of any number of lines, from the left, at most MaxMatches per line. The text is
// UTF-8; an invalid byte is U+FFFD. The text must consist of whole lines, since assertions see its ends as line ends.
// The matches of a line are yielded once its end is read.
func (e *Expr) Find(text []byte) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		d := e.dfa()
		defer e.release(d)
		if e.except == nil {
			d.findLines(text, yield)
			return
		}
		spared := e.except.dfa()
		defer e.except.release(spared)
		d.findApart(text, spared.matchers[0], yield)
	}
}

// Match reports whether a line of a text matches, or the text if the regex is [Expr.Whole]. It is much faster than
// Find if none does.
func (e *Expr) Match(text []byte) bool {
	if e.except != nil {
		for range e.Find(text) {
			return true
		}
		return false
	}
	d := e.dfa()
	defer e.release(d)
	if e.whole {
		return d.matchers[0].matchWhole(text)
	}
	found := false
	d.findLines(text, func(Match) bool { found = true; return false })
	return found
}

// matchWhole reports whether a text has a match, with line ends as ordinary characters.
func (m *matcher) matchWhole(text []byte) bool {
	for at := 0; at < len(text) && len(m.found) == 0; {
		c, size := utf8.DecodeRune(text[at:])
		m.read(c, int64(at))
		at += size
	}
	return len(m.found) > 0 || len(m.endLine(int64(len(text)))) > 0
}

// findLines yields the matches of a text. It reads only the lines that have one.
func (d *dfa) findLines(text []byte, yield func(Match) bool) {
	for from := 0; from < len(text); {
		start, end := d.line(text, from)
		again := func(match Match) bool {
			return yield(Match{int64(start) + match.Start, int64(start) + match.End})
		}
		if !d.matchers[0].find(text[start:end], again) {
			return
		}
		from = end
	}
}

// findApart is findLines without the matches that lie within those of another regex.
func (d *dfa) findApart(text []byte, spared *matcher, yield func(Match) bool) {
	all := func(m *matcher, line []byte) (all []Match) {
		m.find(line, func(match Match) bool { all = append(all, match); return true })
		return all
	}
	for from := 0; from < len(text); {
		start, end := d.line(text, from)
		for start < end { // one line, or several
			line := text[start:lineFrom(text, start)]
			for _, match := range apart(all(d.matchers[0], line), all(spared, line)) {
				if !yield(Match{int64(start) + match.Start, int64(start) + match.End}) {
					return
				}
			}
			start += len(line) + 1
		}
		from = end
	}
}

// apart returns the matches of a line that do not lie within one of the others. Both are in order.
func apart(found, spared []Match) []Match {
	first, i := found[:min(len(found), MaxMatches)], 0
	kept := slices.DeleteFunc(slices.Clone(first), func(m Match) bool {
		for i < len(spared) && spared[i].End < m.End {
			i++
		}
		return i < len(spared) && spared[i].Start <= m.Start
	})
	if len(kept) == 0 {
		return found[len(first):]
	}
	return kept
}

// find yields the matches of the lines of a text, until yield returns false.
func (m *matcher) find(text []byte, yield func(Match) bool) bool {
	for i := 0; i < len(text); {
		if m.idle() {
			if i = m.skip(text, i); i == len(text) {
				break
			}
		}
		c, size := rune(text[i]), 1
		switch {
		case c == '\n' || c == '\r':
			if !m.yieldLine(i, yield) {
				return false
			}
			i++
			continue
		case c >= utf8.RuneSelf:
			c, size = utf8.DecodeRune(text[i:])
		}
		m.read(c, int64(i))
		i += size
	}
	return m.yieldLine(len(text), yield)
}

func (m *matcher) yieldLine(at int, yield func(Match) bool) bool {
	for _, match := range m.endLine(int64(at)) {
		if !yield(match) {
			return false
		}
	}
	return true
}

// skip returns the next place, from i on, where the text must be read, if nothing is under way at i.
func (m *matcher) skip(text []byte, i int) int {
	p, from := m.program, i
	switch {
	case len(m.found) == m.most || p.atBegin && (m.before != lineEnd || !p.first[text[i]]):
		i = lineFrom(text, i)
	case p.atBegin:
	case len(m.found) > 0: // the line's end is needed
		for i < len(text) && !p.firstOrEnd[text[i]] {
			i++
		}
	default:
		for i < len(text) && !p.first[text[i]] {
			i++
		}
	}
	if i > from {
		switch before := text[i-1]; {
		case before == '\n' || before == '\r':
			m.before = lineEnd
		case before < utf8.RuneSelf:
			m.before = rune(before)
		default: // assertions do not distinguish them
			m.before = utf8.RuneError
		}
	}
	return i
}

// FindReader is [Expr.Find] for a text that is not in memory. It reads r until io.EOF, and holds neither the text nor
// a line of it. Offsets are sums of the sizes that r returned, so where r decodes UTF-16 they can be bytes of the
// file. An invalid rune, such as half of a UTF-16 pair, counts as U+FFFD. The matches of a line are yielded once its
// end is read.
//
// Any other error of r is yielded last, instead of the matches of the current line.
func (e *Expr) FindReader(r io.RuneReader) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		d := e.dfa()
		defer e.release(d)
		m := d.matchers[0]
		all := []*matcher{m}
		if e.except != nil {
			spared := e.except.dfa()
			defer e.except.release(spared)
			all = append(all, spared.matchers[0])
		}
		for at := int64(0); ; {
			c, size, err := r.ReadRune()
			if err != nil && err != io.EOF {
				yield(Match{}, err)
				return
			}
			if !utf8.ValidRune(c) {
				c = utf8.RuneError
			}
			switch {
			case err != nil || c == '\n' || c == '\r':
				found := m.endLine(at)
				if len(all) > 1 {
					found = apart(found, all[1].endLine(at))
				}
				for _, match := range found {
					if !yield(match, nil) {
						return
					}
				}
			default:
				for _, m := range all {
					m.step(c, at)
				}
			}
			if err != nil {
				return
			}
			at += int64(size)
		}
	}
}

// step reads a character of a line, of which no more than the last is needed where no match can begin.
func (m *matcher) step(c rune, at int64) {
	if m.idle() && !m.canBegin(c) {
		m.before = c
	} else {
		m.read(c, at)
	}
}

// dfa returns a dfa of the regex alone.
func (e *Expr) dfa() *dfa { return e.alone.dfa() }

func (e *Expr) release(d *dfa) {
	d.matchers[0].reset()
	e.alone.dfas.Put(d)
}
