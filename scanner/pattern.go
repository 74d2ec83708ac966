package scanner

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/scanner/needle"
)

// A pattern is a rule's pattern in all the byte forms that count as it.
type pattern struct {
	text  string
	forms []form // UTF-8 first, then in order of encoding
	// A pattern of one character counts in UTF-16 and UTF-32 only in a file that
	// begins with that encoding's byte order mark: as two or four bytes it would be
	// found in anything.
	short bool
}

// compile returns the pattern of a text that is valid UTF-8 and not empty.
func compile(text string) *pattern {
	p := &pattern{text: text, short: utf8.RuneCountInString(text) == 1}
	for e := range encodings {
		p.forms = append(p.forms, newForm(e, text))
	}
	return p
}

// A form is a pattern's bytes in one encoding. Its text is cut at its line ends,
// for each of which LF and CRLF stand alike: a match is the first segment, a line
// end, the second segment, and so on.
type form struct {
	enc      encoding
	segments [][]byte // at least one; any may be empty but one
	anchor   int      // the longest segment, which is searched for
	cr, lf   []byte
	longest  int  // the longest match, in bytes
	nul      bool // the anchor holds a NUL byte, so content without one has no match

	prepared *needle.Needle // the anchor
}

func newForm(e encoding, text string) form {
	f := form{enc: e, cr: e.encode("\r"), lf: e.encode("\n")}
	for i, s := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		seg := e.encode(s)
		f.segments = append(f.segments, seg)
		f.longest += len(seg)
		if i > 0 {
			f.longest += len(f.cr) + len(f.lf)
		}
		if len(seg) > len(f.segments[f.anchor]) {
			f.anchor = i
		}
	}
	f.prepared = needle.New(f.segments[f.anchor])
	f.nul = bytes.IndexByte(f.segments[f.anchor], 0) >= 0
	return f
}

// needle is the byte string without which the form does not match.
func (f *form) needle() []byte { return f.segments[f.anchor] }

// next returns the leftmost match in data that begins at or after from, or -1.
func (f *form) next(data []byte, from int) (start, end int) {
	if from > len(data) {
		return -1, -1
	}
	if len(f.segments) == 1 {
		i := bytes.Index(data[from:], f.segments[0])
		if i < 0 {
			return -1, -1
		}
		return from + i, from + i + len(f.segments[0])
	}
	start, end = -1, -1
	for at := from; ; at++ {
		i := bytes.Index(data[at:], f.needle())
		if i < 0 {
			return start, end
		}
		at += i
		// In an encoding of several bytes a match can be read at more than one
		// alignment, so an anchor further on could belong to a match that begins earlier.
		if start >= 0 && at-f.longest >= start {
			return start, end
		}
		if s := f.back(data, f.anchor, at, from); s >= 0 && (start < 0 || s < start) {
			if e := f.forward(data, f.anchor, at); e >= 0 {
				start, end = s, e
			}
		}
	}
}

// forward returns where a match ends whose segment i begins at the given place, or
// -1. There is at most one way: what follows a segment is LF, CRLF or no match.
func (f *form) forward(data []byte, i, at int) int {
	for {
		if !bytes.HasPrefix(data[at:], f.segments[i]) {
			return -1
		}
		at += len(f.segments[i])
		if i++; i == len(f.segments) {
			return at
		}
		if bytes.HasPrefix(data[at:], f.cr) && bytes.HasPrefix(data[at+len(f.cr):], f.lf) {
			at += len(f.cr)
		}
		if !bytes.HasPrefix(data[at:], f.lf) {
			return -1
		}
		at += len(f.lf)
	}
}

// back returns where a match begins, at or after from, whose segment i begins at
// the given place, or -1. Read backwards, a CR before an LF may be the line end's or
// the segment's: both are tried, the longer first, for the leftmost counts.
func (f *form) back(data []byte, i, at, from int) int {
	if i == 0 {
		return at
	}
	if !bytes.HasSuffix(data[from:at], f.lf) {
		return -1
	}
	at -= len(f.lf)
	before := f.segments[i-1]
	if cut, ok := bytes.CutSuffix(data[from:at], f.cr); ok && bytes.HasSuffix(cut, before) {
		if s := f.back(data, i-1, from+len(cut)-len(before), from); s >= 0 {
			return s
		}
	}
	if !bytes.HasSuffix(data[from:at], before) {
		return -1
	}
	return f.back(data, i-1, at-len(before), from)
}
