// Package linehash computes GitHub's primaryLocationLineHash, by which its code scanning follows an alert when the
// lines above it change.
//
// The hash of a line is a polynomial hash (base 37, modulo 2^64) of the 100 UTF-16 code units from the line's start
// on, across the lines that follow. Spaces and tabs are skipped, CR and CRLF count as LF, the unit 0xFFFF marks the
// end of the text, and zeros follow it. The original is src/fingerprints.ts of github/codeql-action; docs/verdict.md
// has a full description.
//
// A [Hasher] reads a text as UTF-16 code units, in any number of pieces, and emits the hash of each line in order. It
// neither reads files nor decodes bytes. Its memory does not grow with the text.
package linehash

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// hashUnits is the number of UTF-16 code units in a line's hash.
const hashUnits = 100

// hashBase is the base of the polynomial, and hashPower its hashUnits-th power modulo 2^64.
const (
	hashBase  = 37
	hashPower = 0xe59cd09a331cdb71
)

// room is the maximum number of units that a hasher remembers, a power of two.
const room = 512

// A Hasher computes the hashes of a text's lines.
//
// It keeps one polynomial of the whole text. With P(n) for that of its first n units, the hash of the 100 units from n
// on is P(n+100) - 37^100 P(n).
type Hasher struct {
	emit    func(line, n int64, hash uint64)
	line    int64 // of the last line that began
	midLine bool
	afterCR bool

	// The polynomials, at least from the first line with an unknown hash on, and the number of units between the first
	// and the last.
	polys [room + hashUnits]uint64
	n     int
	units [room]byte // of one addLines
	// The indices of the lines in polys. Those from known to begun have no hash yet.
	starts       [room]uint16
	known, begun int
}

// Reset begins a text, also the first one. The hasher then calls emit for all lines, in order: n lines from the given
// one on have this hash. Lines count from 1. A text has one line more than it has line ends.
func (h *Hasher) Reset(emit func(line, n int64, hash uint64)) {
	h.emit = emit
	h.line, h.midLine, h.afterCR = 0, false, false
	h.polys[0], h.n = 0, 0
	h.known, h.begun = 0, 0
}

// Add adds the next code unit.
func (h *Hasher) Add(unit uint16) {
	afterCR := h.afterCR
	h.afterCR = false
	switch unit {
	case ' ', '\t':
		return
	case '\n':
		if afterCR {
			return
		}
	case '\r':
		h.afterCR = true
		unit = '\n'
	}
	h.add(unit)
}

// AddASCII is a faster [Hasher.Add] for ASCII characters.
func (h *Hasher) AddASCII(text []byte) {
	if len(text) < 8 { // usual between characters that are not ASCII
		for _, c := range text {
			h.Add(uint16(c))
		}
		return
	}
	for len(text) > 0 {
		switch c := text[0]; {
		case h.onlyLineEnds() && (c == '\n' || c == '\r'):
			text = text[h.addLineEnds(text):]
		case h.afterCR || c == '\r':
			h.Add(uint16(c))
			text = text[1:]
		case h.Idle() && c != '\n':
			text = text[toLineEnd(text):]
		default:
			text = text[h.addLines(text):]
		}
	}
}

// isUnit is 1 for each ASCII character in the hash, and 0 for the skipped ones.
var isUnit = func() (is [256]uint8) {
	for c := range is {
		is[c] = 1
	}
	is[' '], is['\t'] = 0, 0
	return is
}()

// addLines adds the beginning of text, up to a CR or the end of the room, and returns its length.
func (h *Hasher) addLines(text []byte) int {
	h.makeRoom()
	text = text[:min(len(text), room-h.n)]
	if cr := bytes.IndexByte(text, '\r'); cr >= 0 {
		text = text[:cr]
	}
	// Branches on the ends of words are mispredicted. So the loop has no such branch: a skipped character is
	// overwritten by the next.
	n := 0
	for _, c := range text {
		h.units[n&(room-1)] = c
		n += int(isUnit[c])
	}
	units, at := h.units[:n], h.n
	h.addUnits(units)
	for len(units) > 0 {
		if !h.midLine {
			h.begin(at)
		}
		n := bytes.IndexByte(units, '\n') + 1
		if n == 0 {
			break
		}
		units, at, h.midLine = units[n:], at+n, false
	}
	h.take()
	return len(text)
}

// addUnits continues the polynomial.
func (h *Hasher) addUnits(units []byte) {
	const by2, by3, by4 = hashBase * hashBase, hashBase * hashBase * hashBase, hashBase * hashBase * hashBase * hashBase
	polys := h.polys[h.n+1:][:len(units)]
	poly := h.polys[h.n]
	h.n += len(units)
	i := 0
	for ; i+4 <= len(units); i += 4 { // the next four wait for one multiplication
		u, to := (*[4]byte)(units[i:]), (*[4]uint64)(polys[i:])
		a := uint64(u[0])
		b := a*hashBase + uint64(u[1])
		c := b*hashBase + uint64(u[2])
		d := c*hashBase + uint64(u[3])
		to[0], to[1], to[2] = poly*hashBase+a, poly*by2+b, poly*by3+c
		poly = poly*by4 + d
		to[3] = poly
	}
	for ; i < len(units); i++ {
		poly = poly*hashBase + uint64(units[i])
		polys[i] = poly
	}
}

// addLineEnds adds a run of line ends at the beginning of text, and returns its length.
func (h *Hasher) addLineEnds(text []byte) int {
	if text[0] == '\r' && len(text) > 1 && text[1] == '\n' {
		n := Repeated(text, 2)
		h.AddLineEnds(int64(n / 2))
		return n
	}
	n := Repeated(text, 1)
	if text[0] == '\r' && n > 1 {
		n-- // the last may be one of CRLF
	}
	h.AddRepeated(uint16(text[0]), int64(n))
	return n
}

// Repeated returns the length of the beginning of text that repeats its first size bytes.
func Repeated(text []byte, size int) int {
	n := size
	for n < len(text) && n < 16 && text[n] == text[n-size] {
		n++
	}
	if n < 16 {
		return n / size * size // usual
	}
	block := 16
	for n+block <= len(text) && bytes.Equal(text[n:n+block], text[n-size:n-size+block]) {
		n += block
		block = min(2*block, 4096)
	}
	for n+8 <= len(text) && binary.LittleEndian.Uint64(text[n:]) == binary.LittleEndian.Uint64(text[n-size:]) {
		n += 8
	}
	for n < len(text) && text[n] == text[n-size] {
		n++
	}
	return n / size * size
}

// AddRepeated adds a code unit n times, faster than [Hasher.Add] for spaces and line ends.
func (h *Hasher) AddRepeated(unit uint16, n int64) {
	switch {
	case n <= 0:
	case unit == ' ' || unit == '\t':
		h.afterCR = false
	case unit == '\n':
		if h.afterCR {
			n--
		}
		h.AddLineEnds(n)
	case unit == '\r':
		h.AddLineEnds(n)
		h.afterCR = true
	default:
		for range n {
			h.Add(unit)
		}
	}
}

// AddLineEnds adds n line ends, each of them LF or CRLF.
func (h *Hasher) AddLineEnds(n int64) {
	h.afterCR = false
	for ; n > 0 && !h.onlyLineEnds(); n-- {
		h.add('\n')
	}
	if n > 0 {
		// Each completes the hash of the first pending line, and begins another line.
		h.emit(h.line-(hashUnits-1)+1, n, lineEnds)
		h.line += n
	}
}

// lineEnds is the hash of a line whose 100 units are line ends.
var lineEnds = func() (hash uint64) {
	for range hashUnits {
		hash = hash*hashBase + '\n'
	}
	return hash
}()

// onlyLineEnds reports whether each of the last units is a line end.
func (h *Hasher) onlyLineEnds() bool { return !h.midLine && h.begun-h.known == hashUnits-1 }

// Idle reports whether no hash depends on the rest of the line, which then need not be added.
func (h *Hasher) Idle() bool { return h.midLine && h.known == h.begun }

// Lines returns the number of lines that have begun: those before a line without any unit yet.
func (h *Hasher) Lines() int64 { return h.line }

// toLineEnd returns the end of the first line of text. It searches long lines in blocks, for one character at a time,
// to stay near the line's end.
func toLineEnd(text []byte) int {
	const size = 1 << 10
	for n := 0; n < len(text); n += size {
		block := text[n:min(n+size, len(text))]
		lf := bytes.IndexByte(block, '\n')
		if lf >= 0 {
			block = block[:lf]
		}
		if cr := bytes.IndexByte(block, '\r'); cr >= 0 {
			return n + cr
		}
		if lf >= 0 {
			return n + lf
		}
	}
	return len(text)
}

func (h *Hasher) add(unit uint16) {
	h.makeRoom()
	if !h.midLine {
		h.begin(h.n)
	}
	h.midLine = unit != '\n'
	h.polys[h.n+1] = h.polys[h.n]*hashBase + uint64(unit)
	h.n++
	h.take()
}

// begin begins a line at an index of polys.
func (h *Hasher) begin(at int) {
	h.midLine = true
	h.starts[h.begun] = uint16(at)
	h.begun++
	h.line++
}

// makeRoom drops polynomials that no hash needs, if there is little room: at least 100 units have room then.
func (h *Hasher) makeRoom() {
	if h.n <= room-hashUnits {
		return
	}
	from := h.n
	if h.known < h.begun {
		from = int(h.starts[h.known])
	}
	copy(h.polys[:], h.polys[from:h.n+1])
	for i, at := range h.starts[h.known:h.begun] {
		h.starts[i] = at - uint16(from)
	}
	h.n -= from
	h.known, h.begun = 0, h.begun-h.known
}

// take emits the lines that are complete.
func (h *Hasher) take() {
	for h.known < h.begun {
		at := int(h.starts[h.known])
		if at+hashUnits > h.n {
			return
		}
		h.emit(h.line-int64(h.begun-h.known)+1, 1, h.polys[at+hashUnits]-h.polys[at]*hashPower)
		h.known++
	}
}

// Close ends the text and emits the remaining lines.
func (h *Hasher) Close() {
	h.add(0xffff)
	for range hashUnits - 1 {
		h.polys[h.n+1] = h.polys[h.n] * hashBase // a zero
		h.n++
	}
	h.take()
}

// Format writes a line's hash in GitHub's syntax: in hexadecimal, with the number of lines with that hash so far,
// including this one.
func Format(hash uint64, count int64) string {
	return strconv.FormatUint(hash, 16) + ":" + strconv.FormatInt(count, 10)
}
