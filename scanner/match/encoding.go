package match

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// An encoding is one in which a literal can occur. Forms that match at the same byte are reported in this order.
type encoding uint8

const (
	utf8Enc encoding = iota
	utf16LE
	utf16BE
	utf32LE
	utf32BE
	encodings // the number of encodings
)

func (e encoding) String() string {
	return [...]string{"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"}[e]
}

func (e encoding) unit() int { return [...]int{1, 2, 2, 4, 4}[e] }

func (e encoding) bom() string {
	return [...]string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\xff\xfe\x00\x00", "\x00\x00\xfe\xff"}[e]
}

// encode returns text, valid UTF-8, in this encoding.
func (e encoding) encode(text string) []byte {
	switch e {
	case utf16LE, utf16BE:
		var out []byte
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, byte(u>>8), byte(u))
		}
		if e == utf16LE {
			swap(out, 2)
		}
		return out
	case utf32LE, utf32BE:
		var out []byte
		for _, r := range text {
			out = append(out, byte(r>>24), byte(r>>16), byte(r>>8), byte(r))
		}
		if e == utf32LE {
			swap(out, 4)
		}
		return out
	}
	return []byte(text)
}

func swap(b []byte, unit int) {
	for ; len(b) >= unit; b = b[unit:] {
		slices.Reverse(b[:unit])
	}
}

// marks returns the encodings whose byte order mark begins head. FF FE 00 00 begins with two, and both count.
func marks(head []byte) (found [encodings]bool) {
	for e := range encodings {
		found[e] = bytes.HasPrefix(head, []byte(e.bom()))
	}
	return found
}

// decodeUnit returns the first 8-, 16- or 32-bit unit of data as a character, and its length; 0 if data is shorter. An
// invalid 32-bit unit is U+FFFD.
func (e encoding) decodeUnit(data []byte) (rune, int) {
	n := e.unit()
	if len(data) < n {
		return 0, 0
	}
	var v uint32
	switch e {
	case utf8Enc:
		v = uint32(data[0])
	case utf16LE:
		v = uint32(binary.LittleEndian.Uint16(data))
	case utf16BE:
		v = uint32(binary.BigEndian.Uint16(data))
	case utf32LE:
		v = binary.LittleEndian.Uint32(data)
	default:
		v = binary.BigEndian.Uint32(data)
	}
	if n == 4 && !utf8.ValidRune(rune(v)) {
		return utf8.RuneError, n
	}
	return rune(v), n
}

func (e encoding) untilText(data []byte) int {
	at := 0
	for {
		c, n := e.decodeUnit(data[at:])
		if n == 0 || !isSpace(c) {
			return at
		}
		at += n
	}
}

// sinceText returns the length of the spaces and tabs at the end of data.
func (e encoding) sinceText(data []byte) int {
	unit, n := e.unit(), 0
	for ; n+unit <= len(data); n += unit {
		if c, _ := e.decodeUnit(data[len(data)-n-unit:]); !isSpace(c) {
			break
		}
	}
	return n
}

// equalFold compares a and b, of the same length in whole units, without the case of ASCII letters.
func (e encoding) equalFold(a, b []byte) bool {
	unit := e.unit()
	for ; len(a) > 0; a, b = a[unit:], b[unit:] {
		if bytes.Equal(a[:unit], b[:unit]) {
			continue
		}
		x, _ := e.decodeUnit(a)
		y, _ := e.decodeUnit(b)
		if !isLetter(x) || !isLetter(y) || x|0x20 != y|0x20 {
			return false
		}
	}
	return true
}

// subpart returns the length of the invalid UTF-8 at the start of data that counts as one U+FFFD: the longest
// beginning of a character, or one byte (the Unicode Standard, section 3.9, "maximal subpart"). data is not empty.
func subpart(data []byte) int {
	// A prefix begins a character exactly if the bytes are valid so far: utf8.FullRune still waits for more.
	n := 1
	if utf8.FullRune(data[:1]) {
		return 1
	}
	for n < len(data) && !utf8.FullRune(data[:n+1]) {
		n++
	}
	return n
}

// lineEnd returns where the first line of data ends: at an LF or a CR, or at the end of data. data begins at a code
// unit.
func (e encoding) lineEnd(data []byte) int {
	if e == utf8Enc {
		if i := bytes.IndexAny(data, "\r\n"); i >= 0 {
			return i
		}
		return len(data)
	}
	for at := 0; ; {
		r, n := e.decodeUnit(data[at:])
		if n == 0 {
			return len(data)
		}
		if r == '\r' || r == '\n' {
			return at
		}
		at += n
	}
}

// text decodes data, with U+FFFD for invalid bytes. With fromEnd, data ends at a code unit, otherwise it begins at
// one; the other end may be cut anywhere.
func (e encoding) text(data []byte, fromEnd bool) []rune {
	if fromEnd {
		data = data[len(data)%e.unit():]
	}
	var out []rune
	for len(data) > 0 {
		c, n := e.char(data, true)
		switch {
		case n == 0: // less than a unit
			c, n = utf8.RuneError, len(data)
		case e == utf8Enc && c == utf8.RuneError && n == 1:
			n = subpart(data)
		}
		out = append(out, c)
		data = data[n:]
	}
	return out
}
