package match

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/policyscan/policyscan/scanner/needle"
)

// A Pattern is a rule's pattern in all the byte forms that count as it.
type Pattern struct {
	text string
	// forms are UTF-8, then the others in order of encoding. Of an ASCII text the others hold a NUL byte in every
	// unit: few files have one, so that they are made when the first comes, by every.
	forms []form
	every func() []form
	ascii bool
	// A pattern of one character counts in UTF-16 and UTF-32 only in a file that
	// begins with that encoding's byte order mark: as two or four bytes it would be
	// found in anything.
	short bool
}

// Compile returns the pattern of a text that is valid UTF-8 and not empty.
func Compile(text string) *Pattern {
	p := &Pattern{text: text, short: utf8.RuneCountInString(text) == 1, ascii: true}
	for i := range len(text) {
		p.ascii = p.ascii && text[i] < utf8.RuneSelf
	}
	all := func() []form {
		forms := make([]form, encodings)
		for e := range encodings {
			forms[e] = newForm(e, text)
		}
		return forms
	}
	if p.ascii {
		p.forms, p.every = []form{newForm(utf8Enc, text)}, sync.OnceValue(all)
		return p
	}
	p.forms = all()
	p.every = func() []form { return p.forms }
	return p
}

// longest is the longest match of any form, in bytes.
func (p *Pattern) longest() int {
	if p.ascii {
		return 4 * p.forms[0].longest // in UTF-32
	}
	n := 0
	for i := range p.forms {
		n = max(n, p.forms[i].longest)
	}
	return n
}

// A form is a pattern's bytes in one encoding. Its text is cut at its line ends,
// for each of which LF and CRLF are alike: a match is the first segment, a line
// end, the second segment, and so on.
type form struct {
	enc      encoding
	segments [][]byte // at least one; any may be empty but one
	anchor   int      // the segment that is searched for
	cr, lf   []byte
	longest  int  // the longest match, in bytes
	nul      bool // the anchor holds a NUL byte, so content without one has no match

	prepared *needle.Needle // the anchor, if it holds no NUL byte
}

func newForm(e encoding, text string) form {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	f := form{enc: e, cr: e.encode("\r"), lf: e.encode("\n"), anchor: anchorOf(lines)}
	for i, s := range lines {
		seg := e.encode(s)
		f.segments = append(f.segments, seg)
		f.longest += len(seg)
		if i > 0 {
			f.longest += len(f.cr) + len(f.lf)
		}
	}
	if f.nul = bytes.IndexByte(f.segments[f.anchor], 0) >= 0; !f.nul {
		f.prepared = needle.New(f.segments[f.anchor])
	}
	return f
}

// anchorOf returns the index of the line to search for: the longest that is in no other line, so that between two
// places of it no more of a content is compared than is between them. If there is none among the first few, it is the
// longest, and where the lines of a pattern repeat themselves a content that does, too, takes a time that grows with
// both.
func anchorOf(lines []string) int {
	if len(lines) == 1 {
		return 0
	}
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(lines[b]), len(lines[a])) })
	count := map[string]int{}
	for _, line := range lines {
		count[line]++
	}
	all := strings.Join(lines, "\n")
	tries := 8
	for _, i := range order {
		if lines[i] == "" || tries == 0 {
			break
		}
		if count[lines[i]] > 1 {
			continue
		}
		if tries--; strings.Count(all, lines[i]) == 1 {
			return i
		}
	}
	return order[0]
}

// needle is the byte string without which the form does not match.
func (f *form) needle() []byte { return f.segments[f.anchor] }

// next returns the leftmost match in data that begins at or after from, or -1.
//
// It is that of the first place of the anchor that belongs to one. For of two matches the one that begins later has
// no segment earlier than the other: where a segment begins no earlier it ends no earlier, and the line end after it,
// which is not within the other's segment nor its CR, is no earlier than the other's.
func (f *form) next(data []byte, from int) (start, end int) {
	for at := from; at <= len(data); at++ {
		i := bytes.Index(data[at:], f.needle())
		if i < 0 {
			break
		}
		at += i
		if start = f.back(data, f.anchor, at, from); start >= 0 {
			if end = f.forward(data, f.anchor, at); end >= 0 {
				return start, end
			}
		}
	}
	return -1, -1
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
