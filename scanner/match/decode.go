package match

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
)

// A Text is a content in UTF-8, without its byte order mark. It maps its characters to places in the content.
type Text struct {
	UTF8 []byte

	content []byte
	enc     encoding
	mark    int // the mark's length
}

// Decode reads a content in the encoding of its byte order mark, or as UTF-8 without one. If two marks fit, the longer
// counts. UTF-8 is not checked. In another encoding, Decode returns false at the first unit that is invalid or cut
// off, and the text ends before it.
func Decode(content []byte) (*Text, bool) {
	t := &Text{content: content}
	own := Shape{marks: marks(content)}.own()
	t.enc, t.mark = own.enc, int(own.from)
	rest := content[t.mark:]
	if t.enc == utf8Enc {
		t.UTF8 = rest
		return t, true
	}
	t.UTF8 = make([]byte, 0, len(rest)/t.enc.unit())
	for len(rest) > 0 {
		c, n := t.enc.character(rest)
		if n == 0 {
			return t, false
		}
		t.UTF8 = utf8.AppendRune(t.UTF8, c)
		rest = rest[n:]
	}
	return t, true
}

// character is char for units of 16 or 32 bits, with length 0 for an invalid unit.
func (e encoding) character(data []byte) (rune, int) {
	c, n := e.char(data, true)
	if c == utf8.RuneError && !bytes.HasPrefix(data, e.encode(string(utf8.RuneError))) {
		return 0, 0
	}
	return c, n
}

// offsets maps ascending offsets of the text to offsets of the content.
func (t *Text) offsets(text []int) []int64 {
	all := make([]int64, len(text))
	if t.enc == utf8Enc {
		for i, at := range text {
			all[i] = int64(at + t.mark)
		}
		return all
	}
	at, in := 0, t.mark
	for i, offset := range text {
		for at < offset && in < len(t.content) {
			c, n := t.enc.character(t.content[in:])
			if n == 0 {
				break
			}
			at, in = at+utf8.RuneLen(c), in+n
		}
		all[i] = int64(in)
	}
	return all
}

// A Region is a part of a [Text]: the bytes from Start up to, not including, End.
type Region struct{ Start, End int }

// Locate returns the evidence of lists of regions of a text, in the given order: the evidence of each list's first
// region, with all of the list as places. It leaves Kind, Pattern and Encoding empty.
func (x *Examiner) Locate(ctx context.Context, t *Text, lists [][]Region) ([]*Find, error) {
	if len(lists) == 0 {
		return nil, nil
	}
	var ends []int
	for _, regions := range lists {
		for _, r := range regions {
			ends = append(ends, r.Start, r.End)
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	offsets := t.offsets(ends)
	at := func(offset int) int64 {
		i, _ := slices.BinarySearch(ends, offset)
		return offsets[i]
	}
	var finds []*Find
	for i, regions := range lists {
		kept := make([]placed, len(regions))
		for k, r := range regions {
			kept[k] = placed{match{start: at(r.Start), end: at(r.End)}, t.enc}
		}
		f := newFind(i, "", t.enc, kept[0].match, int64(len(regions)))
		f.kept = kept
		finds = append(finds, f)
	}
	reads, limit := 0, x.Limit
	x.Limit = 0 // the content was read
	err := x.locate(ctx, bytes.NewReader(t.content), finds, &reads)
	x.Limit = limit
	for _, f := range finds {
		f.Evidence.Encoding = ""
	}
	slices.SortFunc(finds, func(a, b *Find) int { return cmp.Compare(a.Pattern, b.Pattern) })
	return finds, err
}

// Lacking returns the evidence for a text, read to its end, in which something is missing.
func (x *Examiner) Lacking(ctx context.Context, t *Text) (*Find, error) {
	reads, limit := 0, x.Limit
	x.Limit = 0
	end, err := x.end(ctx, bytes.NewReader(t.content), t.enc, &reads)
	x.Limit = limit
	return &Find{Evidence: lackingUntil(end), Line: verdict.NoLine(verdict.KindMissing)}, err
}

// lackingUntil is the evidence for something missing in a content that ends at a place.
func lackingUntil(end spot) verdict.Evidence {
	return verdict.Evidence{
		Kind: verdict.KindMissing, Line: 1, Column: 1, EndLine: end.line, EndColumn: end.offset - end.lineStart + 1,
		UTF16Column: 1, UTF16EndColumn: end.units + 1, Occurrences: 1,
	}
}
