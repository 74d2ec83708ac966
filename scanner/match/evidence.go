package match

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/policyscan/policyscan/verdict/linehash"
)

// locate fills in the evidence of finds: lines, columns, line hashes, excerpts, places, and their marks, if the
// examiner wants them. Their site is cleared.
func (x *Examiner) locate(ctx context.Context, content io.ReadSeeker, finds []*Find, reads *int) error {
	defer func() {
		for _, f := range finds {
			f.site = nil
		}
	}()
	if x.Mark {
		if err := x.mark(ctx, content, finds, reads); err != nil {
			return err
		}
	}
	if x.Bare {
		return nil
	}
	return x.show(ctx, content, finds, reads)
}

func (x *Examiner) show(ctx context.Context, content io.ReadSeeker, finds []*Find, reads *int) error {
	// Matches in one encoding and alignment are read together, as one text.
	for t, g := range groups(finds) {
		if err := x.readText(ctx, content, t, g, reads); err != nil {
			return err
		}
		for _, f := range g.finds {
			if err := f.look(); err != nil {
				return err
			}
			f.fillFirst()
		}
		for _, l := range g.rest {
			l.fill()
		}
	}
	return nil
}

// readText finds the places of a group in its text, and the line hashes of the finds.
//
// GitHub numbers lines with the same hash. So the hashes of the finds' lines are computed first, and then the lines
// before the last find are read: storing all their hashes would take memory that grows with the file. Each step reads
// every byte once, whatever the number of finds.
func (x *Examiner) readText(ctx context.Context, content io.ReadSeeker, t text, g *group, reads *int) error {
	anchor, err := x.places(ctx, content, t, g, reads)
	if err != nil || len(g.finds) == 0 {
		return err
	}
	enc, align, finds := t.enc, t.align, g.finds
	var lines []spot // the different lines in which the finds begin
	for _, f := range finds {
		if len(lines) == 0 || f.start.line > lines[len(lines)-1].line {
			lines = append(lines, f.start)
		}
	}
	hashes, err := x.lineHashes(ctx, content, enc, align, lines, reads)
	if err != nil {
		return err
	}
	before, numbers, err := x.number(ctx, content, enc, align, anchor, lines, hashes, reads)
	if err != nil {
		return err
	}
	for _, f := range finds {
		for lines[0].line < f.start.line {
			lines, hashes, numbers = lines[1:], hashes[1:], numbers[1:]
		}
		f.Evidence.LineHash = linehash.Format(hashes[0], numbers[0])
		f.start.line += before
		f.end.line += before
	}
	for _, l := range g.rest {
		l.start.line += before
		l.end.line += before
	}
	return nil
}

// places fills in a group's places and the surroundings of its finds. Lines count from the one at the returned anchor:
// near the first place if a line begins near it and there is a find, otherwise at the first byte.
func (x *Examiner) places(
	ctx context.Context, content io.ReadSeeker, t text, g *group, reads *int,
) (anchor int64, err error) {
	near := int64(4 * cmp.Or(x.Window, WindowSize))
	from := int64(0)
	if len(g.finds) > 0 { // otherwise the lines before the anchor are not counted
		first := g.finds[0].match.start
		if len(g.rest) > 0 {
			first = min(first, g.rest[0].match.start)
		}
		from = max(first-near, 0)
	}
	for {
		r := newReading(t.enc, t.align, 0)
		if from > 0 {
			r = newReadingWithin(t.enc, t.align, from)
		}
		for _, f := range g.finds {
			r.spots = append(r.spots, &f.start, &f.end)
		}
		for _, l := range g.rest {
			r.spots = append(r.spots, &l.start, &l.end)
		}
		slices.SortFunc(r.spots, func(a, b *spot) int { return cmp.Compare(a.offset, b.offset) })
		rest, added := g.finds, from
		err := x.again(ctx, content, from, 3*around, reads, func(w window) bool {
			r.add(w.data[added-w.at:])
			added = w.at + int64(len(w.data))
			if w.last {
				r.close()
			}
			for len(rest) > 0 && (w.last || rest[0].match.start+2*around <= added) {
				rest[0].keep(w)
				rest = rest[1:]
			}
			return !r.lost && len(r.spots)+len(rest) > 0
		})
		switch {
		case err != nil:
			return 0, err
		case r.lost: // the line begins further up
			from = 0
		case len(r.spots) > 0:
			return 0, ErrChanged // it ends before a match that was in it
		default:
			return r.anchor, nil
		}
	}
}

func (f *Find) keep(w window) {
	f.nearAt = max(f.match.start-around, w.at)
	from, to := f.nearAt-w.at, min(f.match.start+2*around-w.at, int64(len(w.data)))
	f.near = bytes.Clone(w.data[min(from, to):to])
}

func (x *Examiner) lineHashes(ctx context.Context, content io.ReadSeeker, enc encoding, align int64, lines []spot,
	reads *int) ([]uint64, error) {
	hashes := make([]uint64, len(lines))
	for done := 0; done < len(lines); {
		first := lines[done]
		if _, err := content.Seek(first.lineStart, io.SeekStart); err != nil {
			return nil, err
		}
		r := newReading(enc, align, first.lineStart)
		r.hash = x.hashing(func(line, n int64, hash uint64) {
			for ; done < len(lines) && lines[done].line < first.line+line-1+n; done++ {
				hashes[done] = hash
			}
		})
		// Most lines need less than 512 bytes. The windows go on for a line full of spaces, and for lines that began
		// meanwhile.
		ws := &windows{r: content, buf: x.buf[:min(512, len(x.buf))]}
		before := done
		_, err := pass(ctx, ws, reads, func(w window) bool {
			ws.buf = x.buf
			r.add(w.data)
			if w.last {
				r.close()
			}
			return done == before || done < len(lines) && lines[done].lineStart < r.at
		})
		if err != nil {
			return nil, err
		}
		if done == before {
			return nil, ErrChanged // the line was removed
		}
	}
	return hashes, nil
}

func (x *Examiner) hashing(emit func(line, n int64, hash uint64)) *linehash.Hasher {
	if x.hasher == nil {
		x.hasher = new(linehash.Hasher)
	}
	x.hasher.Reset(emit)
	return x.hasher
}

// number returns the number of lines before the one at the anchor, and of each line its number among those with its
// hash.
func (x *Examiner) number(ctx context.Context, content io.ReadSeeker, enc encoding, align, anchor int64, lines []spot,
	hashes []uint64, reads *int) (before int64, numbers []int64, err error) {
	numbers = make([]int64, len(lines))
	if anchor == 0 && lines[len(lines)-1].line == 1 {
		numbers[0] = 1
		return 0, numbers, nil
	}
	counts := map[uint64]int64{} // of the lines so far
	var likely [256]bool         // skips the lookup in counts for most lines
	for _, hash := range hashes {
		counts[hash], likely[hash>>56] = 0, true
	}
	before = -1
	done := 0
	r := newReading(enc, align, 0)
	r.hash = x.hashing(func(line, n int64, hash uint64) {
		if !likely[hash>>56] {
			return
		}
		count, ok := counts[hash]
		if !ok {
			return
		}
		if before >= 0 {
			for ; done < len(lines) && before+lines[done].line < line+n; done++ {
				numbers[done] = count + before + lines[done].line - line + 1
			}
		}
		counts[hash] = count + n
	})
	err = x.again(ctx, content, 0, 0, reads, func(w window) bool {
		data := w.data
		if n := anchor - w.at; 0 <= n && n < int64(len(data)) {
			r.add(data[:n])
			before, data = r.hash.Lines(), data[n:]
		}
		for piece := range slices.Chunk(data, 16<<10) {
			if r.add(piece); done == len(lines) {
				return false
			}
		}
		if w.last {
			r.close()
		}
		return true
	})
	if err == nil && done < len(lines) {
		err = ErrChanged
	}
	return before, numbers, err
}

// around is the number of bytes of a line read on either side of a match's start: enough for the fingerprint, and more
// than an excerpt needs.
const around = 2048

// look fills in columns, excerpt and line from the match's surroundings.
func (f *Find) look() error {
	e := &f.Evidence
	e.Line, e.EndLine = f.start.line, f.end.line
	e.Column, e.EndColumn = f.match.start-f.start.lineStart+1, f.match.end-f.end.lineStart+1
	e.UTF16Column, e.UTF16EndColumn = f.start.units+1, f.end.units+1

	from := max(f.start.lineStart, f.match.start-around)
	if from < f.nearAt || f.nearAt+int64(len(f.near)) < min(f.match.end, f.match.start+2*around) {
		return ErrChanged // it ends within the match
	}
	before, rest := f.near[from-f.nearAt:f.match.start-f.nearAt], f.near[f.match.start-f.nearAt:]
	f.near = nil

	line := rest[:min(f.enc.lineEnd(rest), around)]
	f.Line = slices.Concat(before, line)

	if from == 0 && len(before)%f.enc.unit() == 0 { // otherwise it is not a mark of this text
		before = bytes.TrimPrefix(before, []byte(f.enc.bom()))
	}
	match := rest[:min(f.match.end-f.match.start, int64(len(rest)))]
	after := rest[len(match):]
	after = after[:f.enc.lineEnd(after)]
	match, after = match[:min(len(match), excerptBytes)], after[:min(len(after), excerptBytes)]
	f.Before, f.Matched, f.After = excerpt(f.enc.text(f.enc.ending(before), true),
		f.enc.text(match, false), f.enc.text(after, false))
	return nil
}

// excerptLimit is the longest excerpt, in characters. excerptBytes is its size in a file at most, plus one character
// that may be cut.
const (
	excerptLimit = 200
	excerptBytes = 4 * (excerptLimit + 1)
)

// ending returns the part of data's end that an excerpt can need, or all of data if the characters would have to be
// found first.
func (e encoding) ending(data []byte) []byte {
	n := len(data) - excerptBytes
	if n <= 0 || e == utf8Enc && ascii(data[n:]) < excerptBytes {
		return data
	}
	return data[n:]
}

// excerpt cuts the text around a match: the match first, then the text before and after it, evenly if both exceed the
// room.
func excerpt(before, match, after []rune) (b, m, a string) {
	match = match[:min(len(match), excerptLimit)]
	room := excerptLimit - len(match)
	left := min(len(before), max(room/2, room-len(after)))
	right := min(len(after), room-left)
	return string(before[len(before)-left:]), string(match), string(after[:right])
}
