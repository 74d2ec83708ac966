package regex

import (
	"io"
	"iter"
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
		m := e.matcher()
		defer e.release(m)
		m.findLines(text, yield)
	}
}

// Match reports whether a line of a text matches, or the text if the regex is [Expr.Whole]. It is much faster than
// Find if none does.
func (e *Expr) Match(text []byte) bool {
	m := e.matcher()
	defer e.release(m)
	if e.whole {
		return m.matchWhole(text)
	}
	found := false
	m.findLines(text, func(Match) bool { found = true; return false })
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
func (m *matcher) findLines(text []byte, yield func(Match) bool) {
	for from := 0; from < len(text); {
		start, end := m.line(text, from)
		again := func(match Match) bool {
			return yield(Match{int64(start) + match.Start, int64(start) + match.End})
		}
		if !m.find(text[start:end], again) {
			return
		}
		from = end
	}
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
	case len(m.found) == MaxMatches || p.atBegin && (m.before != lineEnd || !p.first[text[i]]):
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
		m := e.matcher()
		defer e.release(m)
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
				for _, match := range m.endLine(at) {
					if !yield(match, nil) {
						return
					}
				}
			case m.idle() && !m.canBegin(c):
				m.before = c
			default:
				m.read(c, at)
			}
			if err != nil {
				return
			}
			at += int64(size)
		}
	}
}

func (e *Expr) matcher() *matcher {
	if m, ok := e.matchers.Get().(*matcher); ok {
		return m
	}
	return newMatcher(e.program)
}

func (e *Expr) release(m *matcher) {
	m.reset()
	e.matchers.Put(m)
}
