package match

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/policyscan/policyscan/verdict"
)

// locate fills in the evidence of finds: lines, columns, line hashes, excerpts.
func (x *Examiner) locate(ctx context.Context, content io.ReadSeeker, finds []*Find, reads *int) error {
	// Matches in one encoding and alignment are read together, as one text.
	type text struct {
		enc   encoding
		align int64
	}
	texts := map[text][]*Find{}
	for _, f := range finds {
		t := text{f.enc, f.match.start % int64(f.enc.unit())}
		texts[t] = append(texts[t], f)
	}
	for t, finds := range texts {
		if err := x.readText(ctx, content, t.enc, t.align, finds, reads); err != nil {
			return err
		}
	}
	for _, f := range finds {
		if err := f.look(content); err != nil {
			return err
		}
	}
	return nil
}

// readText finds the places of the finds in a text, and the hashes of their lines.
//
// GitHub numbers lines that have the same hash, so the text is read a second time,
// for the lines before a find: to remember all their hashes in the first reading
// would take memory that grows with the file.
func (x *Examiner) readText(ctx context.Context, content io.ReadSeeker, enc encoding, align int64, finds []*Find, reads *int) error {
	r := newReading(enc, align, 0)
	for _, f := range finds {
		r.spots = append(r.spots, &f.start, &f.end)
	}
	slices.SortFunc(r.spots, func(a, b *spot) int { return cmp.Compare(a.offset, b.offset) })
	err := x.again(ctx, content, 0, reads, func(w window) bool {
		r.add(w.data)
		if w.last {
			r.close()
		}
		return len(r.spots) > 0
	})
	if err == nil && len(r.spots) > 0 {
		err = ErrChanged // it ends before a match that was in it
	}
	if err != nil {
		return err
	}

	hashes := make([]uint64, len(finds))
	counts := map[uint64]int64{} // of the lines so far
	var last int64               // line in which the last find begins
	for i, f := range finds {
		if hashes[i], err = x.lineHash(ctx, content, enc, align, f.start.lineStart, reads); err != nil {
			return err
		}
		counts[hashes[i]] = 0
		last = max(last, f.start.line)
	}
	numbers := map[int64]int64{} // of a line among those of its hash
	for _, f := range finds {
		numbers[f.start.line] = 0
	}
	done := false
	r = newReading(enc, align, 0)
	r.hash = verdict.NewLineHasher(func(line int64, hash uint64) {
		n, ok := counts[hash]
		if !ok || done {
			return
		}
		counts[hash] = n + 1
		if _, ok := numbers[line]; ok {
			numbers[line] = n + 1
		}
		done = line == last
	})
	err = x.again(ctx, content, 0, reads, func(w window) bool {
		for piece := range slices.Chunk(w.data, 4096) {
			if r.add(piece); done {
				return false
			}
		}
		if w.last {
			r.close()
		}
		return true
	})
	for i, f := range finds {
		f.Evidence.LineHash = verdict.FormatLineHash(hashes[i], numbers[f.start.line])
	}
	return err
}

// lineHash returns the hash of the line that begins at start.
func (x *Examiner) lineHash(ctx context.Context, content io.ReadSeeker, enc encoding, align, start int64, reads *int) (hash uint64, err error) {
	if _, err := content.Seek(start, io.SeekStart); err != nil {
		return 0, err
	}
	done := false
	r := newReading(enc, align, start)
	r.hash = verdict.NewLineHasher(func(_ int64, h uint64) {
		if !done {
			hash, done = h, true
		}
	})
	// Most lines need less than 512 bytes; the windows go on for one full of spaces.
	_, err = pass(ctx, &windows{r: content, buf: x.buf[:min(512, len(x.buf))]}, reads, func(w window) bool {
		r.add(w.data)
		if w.last {
			r.close()
		}
		return !done
	})
	return hash, err
}

// around is how many bytes of a line are looked at on either side of where a match
// begins: for the fingerprint, and more than enough for an excerpt.
const around = 2048

// look fills in what is read off the match's surroundings: columns, excerpt and the
// line's text.
func (f *Find) look(content io.ReadSeeker) error {
	e := &f.Evidence
	e.Line, e.EndLine = f.start.line, f.end.line
	e.Column, e.EndColumn = f.match.start-f.start.lineStart+1, f.match.end-f.end.lineStart+1
	e.UTF16Column, e.UTF16EndColumn = f.start.units+1, f.end.units+1

	from := max(f.start.lineStart, f.match.start-around)
	if _, err := content.Seek(from, io.SeekStart); err != nil {
		return err
	}
	buf := make([]byte, f.match.start-from+2*around)
	n, err := io.ReadFull(content, buf)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	if int64(n) < min(f.match.end-from, int64(len(buf))) {
		return ErrChanged // it ends within the match
	}
	before, rest := buf[:f.match.start-from], buf[f.match.start-from:n]

	line := rest[:min(f.enc.lineEnd(rest), around)]
	f.Line = slices.Concat(before, line)

	if from == 0 && len(before)%f.enc.unit() == 0 { // else it is no mark of this text
		before = bytes.TrimPrefix(before, []byte(f.enc.bom()))
	}
	match := rest[:min(f.match.end-f.match.start, int64(len(rest)))]
	after := rest[len(match):]
	after = after[:f.enc.lineEnd(after)]
	f.Before, f.Matched, f.After = excerpt(f.enc.text(before, true), f.enc.text(match, false), f.enc.text(after, false))
	return nil
}

// excerptLimit is the longest excerpt, in characters.
const excerptLimit = 200

// excerpt cuts the text around a match: the match first, then what stands before
// and after it, evenly where there is more of both than room.
func excerpt(before, match, after []rune) (b, m, a string) {
	match = match[:min(len(match), excerptLimit)]
	room := excerptLimit - len(match)
	left := min(len(before), max(room/2, room-len(after)))
	right := min(len(after), room-left)
	return string(before[len(before)-left:]), string(match), string(after[:right])
}
