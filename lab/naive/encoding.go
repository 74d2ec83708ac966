package naive

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An Encoding is one of the five in which text is looked for.
type Encoding struct {
	Name      string // as in the verdict
	Unit      int    // bytes
	BigEndian bool
}

// Encodings are the five, in the order in which they count.
func Encodings() []Encoding {
	return []Encoding{
		{"utf-8", 1, false},
		{"utf-16le", 2, false}, {"utf-16be", 2, true},
		{"utf-32le", 4, false}, {"utf-32be", 4, true},
	}
}

// Encode returns the bytes of a text.
func (e Encoding) Encode(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch e.Unit {
		case 1:
			b.WriteRune(r)
		case 2:
			for _, u := range utf16.AppendRune(nil, r) {
				b.WriteString(e.bytes(uint32(u)))
			}
		case 4:
			b.WriteString(e.bytes(uint32(r)))
		}
	}
	return b.String()
}

// bytes is a unit in this byte order.
func (e Encoding) bytes(unit uint32) string {
	b := make([]byte, e.Unit)
	for i := range b {
		b[i] = byte(unit >> (8 * i))
		if e.BigEndian {
			b[i] = byte(unit >> (8 * (e.Unit - 1 - i)))
		}
	}
	return string(b)
}

// unitAt returns the unit that begins at an offset, and false if the content ends or begins.
func (e Encoding) unitAt(content string, offset int) (uint32, bool) {
	if offset < 0 || offset+e.Unit > len(content) {
		return 0, false
	}
	var unit uint32
	for i := range e.Unit {
		if e.BigEndian {
			unit = unit<<8 | uint32(content[offset+i])
		} else {
			unit |= uint32(content[offset+i]) << (8 * i)
		}
	}
	return unit, true
}

// runeAt returns the character at an offset and its bytes; U+FFFD for an invalid byte or unit, and 0 bytes where less
// than a unit is left.
func (e Encoding) runeAt(content string, offset int) (rune, int) {
	if e.Unit == 1 {
		if offset >= len(content) {
			return 0, 0
		}
		return utf8.DecodeRuneInString(content[offset:])
	}
	unit, ok := e.unitAt(content, offset)
	if !ok {
		return 0, 0
	}
	if e.Unit == 4 {
		if unit > utf8.MaxRune || !utf8.ValidRune(rune(unit)) {
			return utf8.RuneError, 4
		}
		return rune(unit), 4
	}
	if !utf16.IsSurrogate(rune(unit)) {
		return rune(unit), 2
	}
	if next, ok := e.unitAt(content, offset+2); ok {
		if r := utf16.DecodeRune(rune(unit), rune(next)); r != utf8.RuneError {
			return r, 4
		}
	}
	return utf8.RuneError, 2
}

// mark is the byte order mark of the encoding.
func (e Encoding) mark() string { return e.Encode("\uFEFF") }

func (e Encoding) isMarkOf(content string) bool { return strings.HasPrefix(content, e.mark()) }

// markOf returns the encoding whose mark the content begins with, the longer of two, or UTF-8.
func markOf(content string) Encoding {
	best := Encodings()[0]
	length := 0
	for _, e := range Encodings() {
		if e.isMarkOf(content) && len(e.mark()) > length {
			best, length = e, len(e.mark())
		}
	}
	return best
}

// decoded is the text of a content that begins with a mark, without it, and for each offset in the text, and its end,
// the one in the content; nil if there is no mark.
func decoded(content string) (text string, starts []int) {
	e := markOf(content)
	if !e.isMarkOf(content) {
		return content, nil
	}
	var b strings.Builder
	at := len(e.mark())
	for {
		r, size := e.runeAt(content, at)
		if size == 0 {
			return b.String(), append(starts, at)
		}
		n, _ := b.WriteRune(r)
		for range n {
			starts = append(starts, at)
		}
		at += size
	}
}

// position returns the line and the column of an offset, both 1-based, the column in bytes. Lines are those of the
// encoding, read from the byte from on; a line ends at LF, CRLF or a lone CR.
func position(content string, e Encoding, from, offset int) (line, column int) {
	line, start := 1, 0
	for at := from; ; at += e.Unit {
		unit, ok := e.unitAt(content, at)
		if !ok {
			break
		}
		if unit == '\r' {
			if next, ok := e.unitAt(content, at+e.Unit); ok && next == '\n' {
				at += e.Unit
			}
		} else if unit != '\n' {
			continue
		}
		if at+e.Unit > offset {
			break
		}
		line, start = line+1, at+e.Unit
	}
	return line, offset - start + 1
}

// at is the evidence of a find. Lines are read from the first byte that is a whole number of units away.
func at(content string, f Find) Violation {
	v := Violation{Offset: f.Offset, Encoding: f.Encoding.Name}
	v.Line, v.Column = position(content, f.Encoding, f.Offset%f.Encoding.Unit, f.Offset)
	v.EndLine, v.EndColumn = position(content, f.Encoding, f.End%f.Encoding.Unit, f.End)
	return v
}

// missingIn is the place of what a content lacks: all of it.
func missingIn(content string) Violation {
	v := start()
	v.EndLine, v.EndColumn = position(content, markOf(content), 0, len(content))
	return v
}

// start is the place without a place in a file.
func start() Violation { return Violation{Line: 1, Column: 1, EndLine: 1, EndColumn: 1} }
