package match

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict/linehash"
)

// A spot is a place in a file, with line and column as an editor counts them.
type spot struct {
	offset    int64 // the input: bytes from the start of the file
	line      int64 // 1-based
	lineStart int64 // offset of the line's first byte
	units     int64 // UTF-16 code units of the line before the spot, without a byte order mark
}

// A reading follows a file's text in one encoding, counts lines and columns, and passes the text to a line hasher.
//
// Text in 16- or 32-bit units is read at the match's alignment; bytes before the first whole unit are not text, but
// count in the column of line 1. Invalid bytes are U+FFFD, one per maximal subpart as in the WHATWG's Encoding
// Standard; GitHub's hash of the same bytes sees the same.
type reading struct {
	enc   encoding
	spots []*spot          // to be filled, by offset
	hash  *linehash.Hasher // nil: not needed

	at        int64 // the next byte's offset
	line      int64
	lineStart int64
	units     int64
	afterCR   bool
	rest      []byte // bytes of a character that the last window cut
	skip      int    // bytes before the first whole unit

	// anchor is the start of the first known line, from which lines count; -1: none so far. lost is set if a spot came
	// before it.
	anchor int64
	lost   bool
}

// newReading prepares to read a file from the offset at on, with text aligned at align.
func newReading(enc encoding, align, at int64) *reading {
	unit := int64(enc.unit())
	return &reading{enc: enc, at: at, line: 1, lineStart: at,
		skip: int((align%unit - at%unit + unit) % unit), anchor: at}
}

// newReadingWithin is newReading from an offset anywhere in a line.
func newReadingWithin(enc encoding, align, at int64) *reading {
	r := newReading(enc, align, at)
	r.line, r.lineStart, r.anchor = 0, -1, -1
	return r
}

// add reads the file's next bytes.
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

// plain consumes the beginning of data that needs no decoding, and returns its length. It makes the reading of a file
// with a find cheap.
func (r *reading) plain(data []byte) int {
	n := len(data) // all spots and hashes are done
	switch {
	case len(r.spots) > 0 && r.hash == nil:
		return r.plainPlaces(data)
	case len(r.spots) > 0:
		return 0
	case r.hash != nil:
		n = r.plainHash(data)
	}
	r.at += int64(n)
	return n
}

// plainPlaces is plain if only places are needed.
func (r *reading) plainPlaces(data []byte) int {
	until := min(r.spots[0].offset-r.at, int64(len(data)))
	if until <= 0 || r.afterCR || r.at == 0 && r.enc != utf8Enc { // a byte order mark is in no column
		return 0
	}
	data = data[:until]
	if r.enc == utf8Enc && r.at == r.lineStart {
		if n := r.skipLines(data); n > 0 {
			return n
		}
	}
	if r.enc.unit() == 4 {
		return 0 // a unit of 32 bits can be two of 16
	}
	n := r.enc.withoutLineEnd(data, r.enc == utf8Enc)
	r.at += int64(n)
	r.units += int64(n / r.enc.unit())
	return n
}

// plainHash is plain if only hashes are needed.
func (r *reading) plainHash(data []byte) int {
	if r.hash.Idle() {
		if n := r.enc.withoutLineEnd(data, false); n > 0 {
			return n
		}
	}
	// Repeated spaces and line ends are consumed at once.
	unit := r.enc.unit()
	c, n := r.enc.decodeUnit(data)
	if n > 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
		if next, n := r.enc.decodeUnit(data[unit:]); c == '\r' && next == '\n' && n > 0 {
			n := linehash.Repeated(data, 2*unit)
			r.hash.AddLineEnds(int64(n / (2 * unit)))
			return n
		}
		if n := linehash.Repeated(data, unit); n > unit || unit > 1 {
			r.hash.AddRepeated(uint16(c), int64(n/unit))
			return n
		}
	}
	if r.enc != utf8Enc {
		return 0
	}
	n = ascii(data)
	r.hash.AddASCII(data[:n])
	return n
}

// withoutLineEnd returns the number of bytes of data, in whole units, before a possible line end, or with onlyASCII
// before a non-ASCII character. Each block is twice as long as the one before, which bounds the bytes read to a few
// times the result.
func (e encoding) withoutLineEnd(data []byte, onlyASCII bool) int {
	unit := e.unit()
	stops := func(c byte) bool { return c == '\n' || c == '\r' || onlyASCII && c >= utf8.RuneSelf }
	if n := slices.IndexFunc(data[:min(16, len(data))], stops); n >= 0 {
		return n / unit * unit
	}
	n := 0
	for size := 64; n < len(data); size = min(2*size, 32<<10) {
		block := data[n:min(n+size, len(data))]
		if bytes.IndexByte(block, '\n') >= 0 || bytes.IndexByte(block, '\r') >= 0 ||
			onlyASCII && ascii(block) < len(block) {
			if size == 64 {
				n += slices.IndexFunc(block, stops)
			}
			break
		}
		n += len(block)
	}
	return n / unit * unit
}

func ascii(data []byte) int {
	n := 0
	for ; n+8 <= len(data); n += 8 {
		if binary.LittleEndian.Uint64(data[n:])&0x8080808080808080 != 0 {
			break
		}
	}
	for n < len(data) && data[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// skipLines skips, from the start of a line, the lines before the next spot's line, which is after data. Their columns
// and hashes are not needed.
func (r *reading) skipLines(data []byte) int {
	if cr := bytes.IndexByte(data, '\r'); cr >= 0 {
		data = data[:cr] // a CR may or may not end a line alone
	}
	if bytes.IndexByte(data, '\n') < 0 {
		return 0
	}
	n := bytes.LastIndexByte(data, '\n') + 1
	r.line += int64(bytes.Count(data[:n], []byte{'\n'}))
	r.at += int64(n)
	r.lineStart = r.at
	return n
}

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

// decode returns the first character of data and its length in bytes, or 0 if data ends within it. In UTF-16 a
// character is one code unit: surrogates are counted, hashed and compared one by one.
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

func (r *reading) char(c rune, n int) {
	if r.afterCR && c != '\n' {
		r.endCR()
	}
	if len(r.spots) > 0 && r.spots[0].offset <= r.at {
		r.fill()
	}
	if r.at > 0 || c != '\ufeff' { // a byte order mark is in no column
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

// endCR begins a new line if the last character was a CR without an LF.
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
	if r.anchor < 0 {
		r.anchor = r.at
	}
}

func (r *reading) fill() {
	for len(r.spots) > 0 && r.spots[0].offset <= r.at {
		s := r.spots[0]
		r.lost = r.lost || r.anchor < 0
		s.line, s.lineStart, s.units = r.line, r.lineStart, r.units
		r.spots = r.spots[1:]
	}
}
