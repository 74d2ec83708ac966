package match

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"slices"
	"unicode/utf8"
)

// A Mark locates an occurrence in its line, not counting spaces and tabs: contents that differ only in those, or in
// their encodings, have the same marks.
type Mark struct {
	Line  [16]byte // a hash of the line in UTF-8, without spaces, tabs, its end and the content's byte order mark
	Start int64    // start of the line: 0-based, bytes from the start of the content
	At    int64    // number of hashed bytes before the occurrence
}

// MaxMarks is the number of a pattern's first occurrences in a content that have a [Mark].
const MaxMarks = 20_000

type marked struct {
	placed
	line spot
	mark *Mark
}

// mark fills in the marks of finds: it finds their lines and reads them.
func (x *Examiner) mark(ctx context.Context, content io.ReadSeeker, finds []*Find, reads *int) error {
	texts := map[text][]*marked{}
	for _, f := range finds {
		f.Marks = make([]Mark, min(len(f.kept), MaxMarks))
		for i := range f.Marks {
			k := f.kept[i]
			t := textOf(k.enc, k.start)
			texts[t] = append(texts[t], &marked{placed: k, line: spot{offset: k.start}, mark: &f.Marks[i]})
		}
	}
	for t, wanted := range texts {
		slices.SortStableFunc(wanted, func(a, b *marked) int { return a.match.before(b.match) })
		r := newReading(t.enc, t.align, 0)
		for _, m := range wanted {
			r.spots = append(r.spots, &m.line)
		}
		err := x.again(ctx, content, 0, 0, reads, func(w window) bool {
			r.add(w.data)
			if w.last {
				r.close()
			}
			return len(r.spots) > 0
		})
		if err == nil && len(r.spots) > 0 {
			err = ErrChanged // it ends before a match that was in it
		}
		if err == nil {
			err = x.markLines(ctx, content, t, wanted, reads)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// markLines fills in marks, in the order of their places, whose lines are known.
func (x *Examiner) markLines(ctx context.Context, content io.ReadSeeker, t text, wanted []*marked, reads *int) error {
	c := newChars(ctx, content, exprReading{t.enc, t.align}, x, x.windows(content, utf8.UTFMax).buf)
	defer func() { *reads += c.windows.reads }()
	var line lineHash
	var buf [utf8.UTFMax]byte
	for len(wanted) > 0 {
		start := wanted[0].line.lineStart
		c.jump(max(start, t.align))
		n := 0
		for {
			for ; n < len(wanted) && wanted[n].line.lineStart == start && wanted[n].start <= c.at(); n++ {
				*wanted[n].mark = Mark{Start: start, At: line.size}
			}
			if t.enc == utf8Enc && c.at() > 0 { // all but line ends, without decoding
				text := c.window.data[c.place:]
				if n < len(wanted) && wanted[n].line.lineStart == start {
					text = text[:min(int64(len(text)), wanted[n].start-c.at())]
				}
				solid := solidBytes(text)
				line.add(text[:solid]...)
				blank := blankBytes(text[solid:])
				if c.place += solid + blank; solid+blank > 0 {
					continue
				}
			}
			char, length, err := c.ReadRune()
			if err == io.EOF || char == '\n' || char == '\r' {
				break
			}
			if err != nil {
				return err
			}
			switch {
			case char == ' ', char == '\t', char == '\ufeff' && c.at() == int64(length):
			case t.enc == utf8Enc: // the bytes as they are, text or not
				line.add(c.window.data[c.place-length : c.place]...)
			default:
				line.add(utf8.AppendRune(buf[:0], char)...)
			}
		}
		for ; n < len(wanted) && wanted[n].line.lineStart == start; n++ { // at the LF after a CR
			*wanted[n].mark = Mark{Start: start, At: line.size}
		}
		sum := line.sum()
		for _, m := range wanted[:n] {
			m.mark.Line = [16]byte(sum)
		}
		wanted = wanted[n:]
	}
	return nil
}

// solidBytes returns the number of bytes before the first space, tab or line end.
func solidBytes(text []byte) int {
	for i, c := range text {
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			return i
		}
	}
	return len(text)
}

// blankBytes returns the number of spaces and tabs at the start of text.
func blankBytes(text []byte) int {
	for i, c := range text {
		if c != ' ' && c != '\t' {
			return i
		}
	}
	return len(text)
}

// A lineHash is the hash of a line. It buffers only a few kilobytes of it.
type lineHash struct {
	size int64
	text []byte    // the end, not yet hashed
	hash hash.Hash // nil: all is in text
}

func (l *lineHash) add(text ...byte) {
	l.size += int64(len(text))
	if l.text = append(l.text, text...); len(l.text) >= 4<<10 {
		if l.hash == nil {
			l.hash = sha256.New()
		}
		l.hash.Write(l.text)
		l.text = l.text[:0]
	}
}

// sum returns the first 16 bytes of the hash, and begins another line.
func (l *lineHash) sum() []byte {
	var sum []byte
	if l.hash == nil {
		all := sha256.Sum256(l.text)
		sum = all[:16]
	} else {
		l.hash.Write(l.text)
		sum = l.hash.Sum(nil)[:16]
	}
	*l = lineHash{text: l.text[:0]}
	return sum
}
