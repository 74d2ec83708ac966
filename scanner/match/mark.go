package match

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Mark is where an occurrence is in its line, whose spaces and tabs do not count: contents that differ in those, or
// in their encodings, have the same marks.
type Mark struct {
	Line  [16]byte // a hash of the line in UTF-8, without spaces, tabs, its end and the content's byte order mark
	Start int64    // where the line begins: 0-based, bytes from the start of the content
	At    int64    // how many bytes of what is hashed are before the occurrence
}

// MaxMarks is how many occurrences of a pattern in a content have a [Mark]: the first ones.
const MaxMarks = 20_000

// A marked is an occurrence that gets a mark.
type marked struct {
	placed
	mark *Mark
}

// mark fills in the marks of finds.
func (x *Examiner) mark(ctx context.Context, content io.ReadSeeker, finds []*Find, reads *int) error {
	texts := map[text][]marked{}
	for _, f := range finds {
		f.Marks = make([]Mark, min(len(f.kept), MaxMarks))
		for i := range f.Marks {
			t := textOf(f.kept[i].enc, f.kept[i].start)
			texts[t] = append(texts[t], marked{f.kept[i], &f.Marks[i]})
		}
	}
	for t, wanted := range texts {
		slices.SortStableFunc(wanted, func(a, b marked) int { return a.match.before(b.match) })
		m := &marker{enc: t.enc, wanted: wanted, skip: int(t.align)}
		err := x.again(ctx, content, 0, 0, reads, func(w window) bool {
			m.add(w.data)
			if w.last {
				m.close()
			}
			return !m.done()
		})
		if err == nil && !m.done() {
			err = ErrChanged // it ends before a match that was in it
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A marker follows a content's text in one encoding, from the first byte on, and marks occurrences. It holds no more of
// a line than a few kilobytes.
type marker struct {
	enc    encoding
	wanted []marked // in order
	open   []*Mark  // of the line that is read

	at    int64     // of the next byte
	start int64     // of the line
	size  int64     // of what is hashed of the line
	text  []byte    // the end of that, which was not handed to hash
	hash  hash.Hash // of the line so far; nil if all of that is in text
	cr    bool      // the line ended in a CR, and an LF behind it belongs to it
	high  rune      // the first half of a character in UTF-16; 0: none
	skip  int       // bytes before the first whole unit
	rest  []byte    // what the last window cut
}

// done reports whether all occurrences are marked.
func (m *marker) done() bool { return len(m.wanted)+len(m.open) == 0 }

// add reads the content's next bytes.
func (m *marker) add(data []byte) {
	if len(m.rest) > 0 {
		data = append(m.rest, data...)
		m.rest = nil
	}
	n := min(m.skip, len(data))
	m.skip -= n
	m.take(data[n:], int64(n), false)
}

// close ends the content.
func (m *marker) close() {
	rest := m.rest
	m.rest = nil
	m.take(rest, 0, true)
	m.at += int64(len(m.rest))
	m.half()
	m.meet()
	m.endLine()
}

// take reads bytes from an offset behind the last ones on.
func (m *marker) take(data []byte, behind int64, last bool) {
	for m.at += behind; len(data) > 0 && !m.done(); {
		n := 0
		switch bom := encoding.bom(utf8Enc); {
		case m.enc != utf8Enc:
			n = m.unit(data)
		case m.at > 0:
			n = m.bytes(data)
		case !last && strings.HasPrefix(bom, string(data[:min(len(data), len(bom))])) && len(data) < len(bom):
		case bytes.HasPrefix(data, []byte(bom)):
			n = len(bom)
		default:
			n = m.bytes(data)
		}
		if n == 0 {
			m.rest = bytes.Clone(data)
			return
		}
		m.at += int64(n)
		data = data[n:]
	}
}

// afterCR ends a line that ended in a CR, behind which there is another character than an LF.
func (m *marker) afterCR() {
	if m.cr {
		m.endLine()
	}
}

// bytes takes some of the beginning of data, in UTF-8, and returns how much.
func (m *marker) bytes(data []byte) int {
	if data[0] != '\n' {
		m.afterCR()
	}
	m.meet()
	switch data[0] {
	case '\n':
		m.at++
		m.endLine()
		m.at--
		return 1
	case '\r':
		m.cr = true
		return 1
	}
	if len(m.wanted) > 0 {
		data = data[:min(m.wanted[0].start-m.at, int64(len(data)))]
		if m.at == m.start && len(m.open) == 0 { // lines in which nothing is wanted need not be hashed
			if n := bytes.LastIndexByte(data, '\n') + 1; n > 0 {
				m.start += int64(n)
				return n
			}
		}
	}
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		data = data[:n]
	}
	if n := bytes.IndexByte(data, '\r'); n >= 0 {
		data = data[:n]
	}
	n := len(data)
	for len(data) > 0 {
		piece := data[:min(len(data), 4<<10)]
		data = data[len(piece):]
		for _, c := range piece {
			if c != ' ' && c != '\t' {
				m.text = append(m.text, c)
			}
		}
		m.flush()
	}
	return n
}

// unit takes the unit that data begins with, and returns its length; 0 if it is cut.
func (m *marker) unit(data []byte) int {
	c, n := m.enc.decodeUnit(data)
	if n == 0 {
		return 0
	}
	if joined := utf16.DecodeRune(m.high, c); m.high != 0 && joined != utf8.RuneError {
		m.high = 0
		m.text = utf8.AppendRune(m.text, joined)
		m.flush()
		return n
	}
	m.half()
	if c != '\n' {
		m.afterCR()
	}
	m.meet()
	switch {
	case c == '\n':
		m.at += int64(n)
		m.endLine()
		m.at -= int64(n)
	case c == '\r':
		m.cr = true
	case c == ' ', c == '\t', c == '\ufeff' && m.at == 0:
	case n == 2 && c >= 0xd800 && c < 0xdc00:
		m.high = c
	default:
		m.text = utf8.AppendRune(m.text, c)
		m.flush()
	}
	return n
}

// half ends a character of which only the first half was there.
func (m *marker) half() {
	if m.high != 0 {
		m.high = 0
		m.text = utf8.AppendRune(m.text, utf8.RuneError)
	}
}

// flush hands the text of the line to the hash if it is long.
func (m *marker) flush() {
	if len(m.text) >= 4<<10 {
		if m.hash == nil {
			m.hash = sha256.New()
		}
		m.hash.Write(m.text)
		m.size += int64(len(m.text))
		m.text = m.text[:0]
	}
}

// meet marks the occurrences that begin at the next byte, or before it.
func (m *marker) meet() {
	for len(m.wanted) > 0 && m.wanted[0].start <= m.at {
		mark := m.wanted[0].mark
		mark.Start, mark.At = m.start, m.size+int64(len(m.text))
		m.open = append(m.open, mark)
		m.wanted = m.wanted[1:]
	}
}

// endLine ends the line before the next byte.
func (m *marker) endLine() {
	if len(m.open) > 0 {
		var sum [sha256.Size]byte
		if m.hash == nil {
			sum = sha256.Sum256(m.text)
		} else {
			m.hash.Write(m.text)
			m.hash.Sum(sum[:0])
		}
		for _, mark := range m.open {
			mark.Line = [16]byte(sum[:16])
		}
		m.open = m.open[:0]
	}
	m.start, m.size, m.text, m.hash, m.cr = m.at, 0, m.text[:0], nil, false
}
