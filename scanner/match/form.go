package match

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/needle"
)

// A form is a pattern's bytes in one encoding. Its text is cut at its line ends,
// for each of which LF and CRLF are alike, and with the option Spaces at its runs of spaces: a match is
// the first segment, what is between, the second segment, and so on.
type form struct {
	enc      encoding
	segments [][]byte
	joints   []joint
	anchor   int    // the segment that is searched for
	search   []byte // its bytes; with fold in lower case
	cr, lf   []byte
	longest  int  // the longest match, in bytes, in which a run of spaces is one space
	aligned  bool // only segments at align and whole units from it count
	align    int
	from     int64 // where align is in the content; less than a unit
	until    int64 // no match that counts begins here or behind it; 0: there is no such place
	run      int   // how many bytes a run of spaces may have; 0: any number
	over     bool  // one that has more was met
	fold     bool
	begins   bool // no word character may be before a match
	ends     bool // none may be behind it

	needle   []byte         // content without it has no match
	rare     int            // the segment that it is
	nul      bool           // the needle holds a NUL byte
	prepared *needle.Needle // the needle, if it holds none
}

func newForm(e encoding, p parts) form {
	f := form{
		enc: e, joints: p.joints, anchor: p.anchor, cr: e.encode("\r"), lf: e.encode("\n"),
		aligned: p.options.Spaces, fold: p.options.IgnoreCase, begins: p.begins, ends: p.ends,
	}
	for i, s := range p.segments {
		seg := e.encode(s)
		f.segments = append(f.segments, seg)
		f.longest += len(seg)
		switch {
		case i == 0:
		case p.joints[i-1] == lineEnd:
			f.longest += len(f.cr) + len(f.lf)
		default:
			f.longest += e.unit()
		}
	}
	f.search = f.segments[f.anchor]
	f.needle = f.search
	if f.rare = p.rare; f.rare != f.anchor {
		f.needle = f.segments[f.rare]
	}
	if f.fold {
		f.search = needle.AppendLower(nil, f.search)
	}
	if f.nul = bytes.IndexByte(f.needle, 0) >= 0; !f.nul {
		f.prepared = f.prepare()
	}
	return f
}

func (f *form) prepare() *needle.Needle {
	if f.fold {
		return needle.NewFolded(f.needle)
	}
	return needle.New(f.needle)
}

// alignedAt returns a copy of the form of which only whole units from an offset on count.
func (f *form) alignedAt(from int64) *form {
	aligned := *f
	aligned.aligned, aligned.from = true, from%int64(f.enc.unit())
	aligned.alignIn(0)
	return &aligned
}

// alignIn sets align for data that begins at an offset.
func (f *form) alignIn(at int64) {
	unit := int64(f.enc.unit())
	f.align = int(((f.from-at)%unit + unit) % unit)
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

// next returns the leftmost match in data that begins at or after from, or -1. A form that folds gets data in lower
// case, too.
//
// It is that of the first place of the anchor that belongs to one. For of two matches the one that begins later has
// no segment earlier than the other: where a segment begins no earlier it ends no earlier, and the line end after it,
// which is not within the other's segment nor its CR, is no earlier than the other's. The same holds for a run of
// spaces after it, where both are aligned alike.
func (f *form) next(data, lower []byte, from int) (start, end int) {
	in := data
	if f.fold {
		in = lower
	}
	for at := from; at <= len(data); at++ {
		i := bytes.Index(in[at:], f.search)
		if i < 0 {
			break
		}
		at += i
		if f.aligned && at%f.enc.unit() != f.align {
			continue
		}
		if start = f.back(data, f.anchor, at, from); start >= 0 {
			if end = f.forward(data, f.anchor, at); end >= 0 && f.apart(data, start, end) {
				return start, end
			}
		}
	}
	return -1, -1
}

func (f *form) nextIn(w window, lower []byte, from int) (start, end int) {
	start, end = f.next(w.data, lower, from)
	if f.until > 0 && w.at+int64(start) >= f.until {
		return -1, -1
	}
	return start, end
}

// apart reports whether a match is not part of a longer word.
func (f *form) apart(data []byte, start, end int) bool {
	if unit := f.enc.unit(); f.begins && start >= unit {
		if c, _ := f.enc.decodeUnit(data[start-unit:]); isWord(c) {
			return false
		}
	}
	if f.ends {
		if c, n := f.enc.decodeUnit(data[end:]); n > 0 && isWord(c) {
			return false
		}
	}
	return true
}

func (f *form) begin(data, segment []byte) bool {
	return bytes.HasPrefix(data, segment) ||
		f.fold && len(data) >= len(segment) && f.enc.equalFold(data[:len(segment)], segment)
}

func (f *form) end(data, segment []byte) bool {
	return len(data) >= len(segment) && f.begin(data[len(data)-len(segment):], segment)
}

// forward returns where a match ends whose segment i begins at the given place, or
// -1. There is at most one way: what follows a segment is LF, CRLF or no match, and a run of spaces is taken
// whole, since no segment after one begins with a space.
func (f *form) forward(data []byte, i, at int) int {
	for {
		if !f.begin(data[at:], f.segments[i]) {
			return -1
		}
		at += len(f.segments[i])
		if i++; i == len(f.segments) {
			return at
		}
		if j := f.joints[i-1]; j != lineEnd {
			n := f.enc.untilText(data[at:])
			if n == 0 && j == space || f.isOver(n) {
				return -1
			}
			at += n
			continue
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

// isOver reports whether a run of spaces is longer than it may be, and notes it.
func (f *form) isOver(n int) bool {
	f.over = f.over || f.run > 0 && n > f.run
	return f.over
}

// back returns where a match begins, at or after from, whose segment i begins at
// the given place, or -1. Read backwards, a CR before an LF may be the line end's or
// the segment's: both are tried, the longer first, for the leftmost counts. No segment before a run of
// spaces ends with one.
func (f *form) back(data []byte, i, at, from int) int {
	if i == 0 {
		return at
	}
	before := f.segments[i-1]
	switch {
	case f.joints[i-1] != lineEnd:
		n := f.enc.sinceText(data[from:at])
		if n == 0 && f.joints[i-1] == space || f.isOver(n) {
			return -1
		}
		at -= n
	case !bytes.HasSuffix(data[from:at], f.lf):
		return -1
	default:
		at -= len(f.lf)
		if cut, ok := bytes.CutSuffix(data[from:at], f.cr); ok && f.end(cut, before) {
			if s := f.back(data, i-1, from+len(cut)-len(before), from); s >= 0 {
				return s
			}
		}
	}
	if !f.end(data[from:at], before) {
		return -1
	}
	return f.back(data, i-1, at-len(before), from)
}
