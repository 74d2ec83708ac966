package editor

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// An encoding says in which units the client counts the characters of a line.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// units returns the length of a character, of n bytes.
func (e encoding) units(c rune, n int) int {
	switch {
	case e == utf8Units:
		return n
	case e == utf16Units && c > 0xffff:
		return 2
	}
	return 1
}

// A position is 0-based; a character is a unit of the client's encoding.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// A text is the content of a document. Its bytes are never changed: a check may be reading them.
type text struct {
	bytes []byte
	lines []int // the offset of each line; at least one
}

// newText finds the lines of a text, which end at LF, CRLF or a lone CR.
func newText(b []byte) *text {
	t := &text{bytes: b, lines: []int{0}}
	for at := 0; ; {
		n := bytes.IndexAny(b[at:], "\r\n")
		if n < 0 {
			return t
		}
		if at += n + 1; b[at-1] == '\r' && at < len(b) && b[at] == '\n' {
			at++
		}
		t.lines = append(t.lines, at)
	}
}

// line returns the offsets of a line's content. A line after the last one is empty, at the end.
func (t *text) line(n int) (start, end int) {
	if n >= len(t.lines) {
		return len(t.bytes), len(t.bytes)
	}
	if start, end = t.lines[max(n, 0)], len(t.bytes); n+1 < len(t.lines) {
		end = t.lines[max(n, 0)+1]
	}
	return start, start + len(bytes.TrimRight(t.bytes[start:end], "\r\n"))
}

// offset returns the offset of a position. One outside of the text is moved to the nearest one in it, and one within a
// character to its start.
func (t *text) offset(p position, e encoding) int {
	if p.Line < 0 {
		return 0
	}
	at, end := t.line(p.Line)
	for left := p.Character; at < end; {
		c, n := utf8.DecodeRune(t.bytes[at:end])
		if left -= e.units(c, n); left < 0 {
			break
		}
		at += n
	}
	return at
}

// position returns the position of an offset.
func (t *text) position(offset int, e encoding) position {
	offset = min(max(offset, 0), len(t.bytes))
	n, found := slices.BinarySearch(t.lines, offset)
	if !found {
		n--
	}
	p := position{Line: n}
	for at, end := t.line(n); at < min(offset, end); {
		c, size := utf8.DecodeRune(t.bytes[at:end])
		if at += size; at <= offset {
			p.Character += e.units(c, size)
		}
	}
	return p
}

// between returns the range of two offsets.
func (t *text) between(start, end int, e encoding) textRange {
	return textRange{t.position(start, e), t.position(max(start, end), e)}
}

// A contentChange is one edit of a notification; without a range it is the whole text.
type contentChange struct {
	Range *textRange `json:"range"`
	Text  *string    `json:"text"`
}

// edited returns the text with a range replaced.
func (t *text) edited(r textRange, by string, e encoding) *text {
	start, end := t.offset(r.Start, e), t.offset(r.End, e)
	start, end = min(start, end), max(start, end)
	return newText(slices.Concat(t.bytes[:start], []byte(by), t.bytes[end:]))
}
