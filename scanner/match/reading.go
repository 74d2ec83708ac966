package match

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// A spot is a place in a file as a person and an editor count it.
type spot struct {
	offset    int64 // what is asked for: bytes from the start of the file
	line      int64 // 1-based
	lineStart int64 // offset of the line's first byte
	units     int64 // UTF-16 code units of the line before the spot, a byte order mark not counted
}

// A reading follows a file's text in one encoding, counts lines and columns, and
// hands the text to a line hasher.
//
// Text of 16 or 32 bits a unit is read at the alignment of the match it is read
// for; bytes before the first whole unit are no text, but count in the column of
// line 1. Bytes that are no text are U+FFFD, one for each maximal part of a
// character as the WHATWG's Encoding Standard counts them, which is also what
// GitHub's hash of the same bytes sees.
type reading struct {
	enc   encoding
	spots []*spot             // to be filled, by offset
	hash  *verdict.LineHasher // nil: no one asks

	at        int64 // of the next byte
	line      int64
	lineStart int64
	units     int64
	afterCR   bool
	rest      []byte // bytes of a character that the last window cut
	skip      int    // bytes before the first whole unit
}

// newReading prepares to read a file from the offset at on, whose text is aligned
// as the byte at align is.
func newReading(enc encoding, align, at int64) *reading {
	unit := int64(enc.unit())
	return &reading{enc: enc, at: at, line: 1, lineStart: at, skip: int((align%unit - at%unit + unit) % unit)}
}

// add reads the file's next bytes, which the caller has not added before.
func (r *reading) add(data []byte) {
	if len(r.rest) > 0 {
		data = append(r.rest, data...)
		r.rest = nil
	}
	n := min(r.skip, len(data))
	r.skip -= n
	r.at += int64(n)
	data = data[n:]
	for len(data) > 0 {
		if n := r.plain(data); n > 0 {
			data = data[n:]
			continue
		}
		c, n := r.decode(data)
		if n == 0 {
			r.rest = append([]byte(nil), data...)
			return
		}
		r.char(c, n)
		data = data[n:]
	}
}

// plain takes as much of the beginning of data as needs no decoding, and returns
// how many bytes that was. It is what makes the reading of a file with a find cheap.
func (r *reading) plain(data []byte) int {
	switch {
	case len(r.spots) == 0 && r.hash == nil: // no one asks for anything any more
		r.at += int64(len(data))
		return len(data)
	case r.enc != utf8Enc:
		return 0
	case r.hash == nil && r.at == r.lineStart && !r.afterCR:
		if n := r.skipLines(data); n > 0 {
			return n
		}
	}
	n := 0
	for n < len(data) && data[n] < utf8.RuneSelf {
		n++
		if r.hash == nil && data[n-1] == '\n' {
			break // the lines that follow may be skipped again
		}
	}
	if len(r.spots) == 0 {
		r.hash.AddASCII(data[:n])
		r.at += int64(n)
		return n
	}
	for _, c := range data[:n] {
		r.char(rune(c), 1)
	}
	return n
}

// skipLines steps, from the start of a line, over the lines before the one that the
// next spot is in. No one asks for their columns or hashes.
func (r *reading) skipLines(data []byte) int {
	until := min(r.spots[0].offset-r.at, int64(len(data)))
	if until <= 0 {
		return 0
	}
	data = data[:until]
	if cr := bytes.IndexByte(data, '\r'); cr >= 0 {
		data = data[:cr] // a CR may or may not end a line alone
	}
	n := bytes.LastIndexByte(data, '\n') + 1
	if n == 0 {
		return 0
	}
	r.line += int64(bytes.Count(data[:n], []byte{'\n'}))
	r.at += int64(n)
	r.lineStart = r.at
	return n
}

// close ends the text.
func (r *reading) close() {
	for len(r.rest) > 0 {
		n := len(r.rest)
		if r.enc == utf8Enc {
			n = subpart(r.rest)
		}
		r.rest = r.rest[n:]
		r.char(utf8.RuneError, n)
	}
	r.endCR()
	r.fill()
	if r.hash != nil {
		r.hash.Close()
	}
}

// decode returns the character that data begins with and its length in bytes, or a
// length of 0 when data ends within it. In UTF-16 a character is one code unit:
// surrogates are counted, hashed and compared one by one.
func (r *reading) decode(data []byte) (rune, int) {
	if r.enc == utf8Enc {
		if !utf8.FullRune(data) {
			return 0, 0
		}
		c, n := utf8.DecodeRune(data)
		if c == utf8.RuneError && n == 1 {
			n = subpart(data)
		}
		return c, n
	}
	return r.enc.decodeUnit(data)
}

// char takes the next character, n bytes long.
func (r *reading) char(c rune, n int) {
	if r.afterCR && c != '\n' {
		r.endCR()
	}
	if len(r.spots) > 0 && r.spots[0].offset <= r.at {
		r.fill()
	}
	if r.at > 0 || c != '\ufeff' { // a byte order mark stands in no column
		r.units++
		if c > 0xffff {
			r.units++
		}
	}
	if r.hash != nil {
		if c > 0xffff {
			hi, lo := utf16.EncodeRune(c)
			r.hash.Add(uint16(hi))
			r.hash.Add(uint16(lo))
		} else {
			r.hash.Add(uint16(c))
		}
	}
	r.at += int64(n)
	r.afterCR = c == '\r'
	if c == '\n' {
		r.newLine()
	}
}

// endCR begins a new line if the last character was a CR, which turns out to be alone.
func (r *reading) endCR() {
	if r.afterCR {
		r.afterCR = false
		r.newLine()
	}
}

func (r *reading) newLine() {
	r.line++
	r.lineStart = r.at
	r.units = 0
}

// fill fills the spots that lie at or before the next byte.
func (r *reading) fill() {
	for len(r.spots) > 0 && r.spots[0].offset <= r.at {
		s := r.spots[0]
		s.line, s.lineStart, s.units = r.line, r.lineStart, r.units
		r.spots = r.spots[1:]
	}
}
