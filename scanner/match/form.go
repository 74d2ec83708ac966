package match

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/needle"
)

// A form is a literal's bytes in one encoding. Its text is cut at its line ends, where LF and CRLF are alike, and with
// the option Spaces at its runs of spaces: a match is the first segment, the text between, the second segment, and so
// on.
type form struct {
	enc      encoding
	segments [][]byte
	joints   []joint
	anchor   int    // the segment to search for
	search   []byte // its bytes; with fold in lower case
	cr, lf   []byte
	longest  int  // the longest match, in bytes, with each run of spaces as one space
	aligned  bool // only segments at align and whole units from it count
	align    int
	from     int64 // where align is in the content; less than a unit
	until    int64 // no match that counts begins here or later; 0: no limit
	run      int   // the longest run of spaces, in bytes; 0: any length
	over     bool  // a longer run was found
	fold     bool
	begins   bool // no word character directly before a match
	ends     bool // no word character directly after a match

	needle   []byte         // content without it has no match
	rare     int            // the index of the segment
	nul      bool           // the needle holds a NUL byte
	prepared *needle.Needle // the needle, if it has none
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

// alignedAt returns a copy of the form that counts only whole units from an offset on.
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

// anchorOf returns the index of the line to search for: the longest that is in no other line. Then the content between
// two of its places is compared only once. If none of the first few qualifies, it is the longest line; content that
// repeats a pattern's repeated lines then takes time that grows with both.
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
// The first place of the anchor with a match gives the leftmost match: the match that begins later has no earlier
// segment. A segment that begins no earlier ends no earlier, and the line end after it, outside the other's segment
// and its CR, is no earlier either. The same holds for a run of spaces after it, if both are aligned alike.
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

// forward returns the end of a match whose segment i begins at the given place, or -1. At most one is possible: a
// segment is followed by LF or CRLF, and a run of spaces is taken whole, since no segment after one begins with a
// space.
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

// isOver reports, and records, that a run of spaces is too long.
func (f *form) isOver(n int) bool {
	f.over = f.over || f.run > 0 && n > f.run
	return f.over
}

// back returns the start of a match, at or after from, whose segment i begins at the given place, or -1. Read
// backwards, a CR before an LF may belong to the line end or to the segment: both are tried, the longer first, since
// the leftmost counts. No segment before a run of spaces ends with one.
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
