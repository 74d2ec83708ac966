// Package linehash computes GitHub's primaryLocationLineHash for the lines of a text, by which its code scanning
// follows an alert when the lines above it change.
//
// The hash of a line is a polynomial hash (base 37, modulo 2^64) of the 100 UTF-16 code units from the line's start
// on, across the lines that follow. Spaces and tabs are skipped, CR and CRLF count as LF, the unit 0xFFFF stands for
// the end of the text and zeros for what would come after it. github/codeql-action writes it in src/fingerprints.ts;
// docs/verdict.md says it in full.
//
// A [Hasher] takes the text as UTF-16 code units, in any number of pieces, and gives the hash of each line in order.
// It neither reads files nor decodes bytes. Its memory does not grow with the text.
package linehash

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// hashUnits is how many UTF-16 code units a line's hash looks at.
const hashUnits = 100

// hashBase is the base of the polynomial, and hashPower its hashUnits-th power
// modulo 2^64.
const (
	hashBase  = 37
	hashPower = 0xe59cd09a331cdb71
)

// A Hasher computes the hashes of a text's lines.
//
// It keeps one polynomial of the whole text. With P(n) for that of its first
// n units, the hash of the 100 units from n on is P(n+100) - 37^100 P(n).
type Hasher struct {
	emit    func(line, n int64, hash uint64)
	poly    uint64
	units   int64 // in poly
	line    int64 // of the last line that began
	ends    int64 // line ends that were the last units
	midLine bool
	afterCR bool

	// The lines that began less than 100 units ago, a ring: each has a unit at least.
	starts      [hashUnits]lineStart
	first, size int
	due         int64 // units at which the first of them is known
}

type lineStart struct {
	units int64
	poly  uint64
}

// New returns a hasher that calls emit for all lines, in order: n lines from the given
// one on have this hash. Lines count from 1. A text has one line more than it has line ends.
func New(emit func(line, n int64, hash uint64)) *Hasher {
	return &Hasher{emit: emit, due: -1}
}

// Add takes the text's next UTF-16 code unit.
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

// AddASCII takes the text's next characters, all of them ASCII: the same as Add for
// each, but faster.
func (h *Hasher) AddASCII(text []byte) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case h.Idle():
			if i += toLineEnd(text[i:]); i < len(text) {
				h.Add(uint16(text[i]))
				i++
			}
		case c == ' ' || c == '\t':
			h.afterCR = false
			if i++; i < len(text) && text[i] == c {
				i += Repeated(text[i:], 1)
			}
		case h.midLine && c > ' ':
			// The polynomial in registers, up to what needs a decision.
			poly, from := h.poly, i
			stop := min(len(text), i+int(h.due-h.units))
			for i < stop && text[i] > ' ' {
				poly = poly*hashBase + uint64(text[i])
				i++
			}
			h.poly, h.units = poly, h.units+int64(i-from)
			if i == from { // the first line in the ring is due
				h.Add(uint16(c))
				i++
			}
			h.ends = 0
		case h.ends > hashUnits && (c == '\n' || c == '\r'):
			i += h.addLineEnds(text[i:])
		default:
			h.Add(uint16(c))
			i++
		}
	}
}

// addLineEnds takes a run of line ends that text begins with, and returns how many bytes that was.
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

// Repeated returns how many bytes text begins with that are its first size bytes again and again.
func Repeated(text []byte, size int) int {
	n := size
	for n < len(text) && n < 16 && text[n] == text[n-size] {
		n++
	}
	if n < 16 {
		return n / size * size // as nearly always
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

// AddRepeated takes a code unit n times: the same as Add, but faster for spaces and line ends.
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

// AddLineEnds takes n line ends, each of them LF or CRLF.
func (h *Hasher) AddLineEnds(n int64) {
	h.afterCR = false
	for ; n > 0 && h.ends <= hashUnits; n-- {
		h.add('\n')
	}
	if n > 0 {
		// Before the next one and after it the last 100 units are the same, and a line began with each.
		h.emit(h.line-int64(h.size)+1, n, h.poly-hashPower*h.starts[h.first].poly)
		h.line += n
	}
}

// Idle reports whether no hash depends on what is next, up to the end of the line, so that it need
// not be added.
func (h *Hasher) Idle() bool { return h.midLine && h.due < 0 }

// Lines returns how many lines have begun: those before a line of which nothing was added yet.
func (h *Hasher) Lines() int64 { return h.line }

// toLineEnd returns where the first line of text ends. In long lines it looks for either character in
// turn, in blocks, so that it looks at nothing that is far behind the line's end.
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
	if h.units == h.due {
		h.take()
	}
	if !h.midLine {
		h.begin()
	}
	if h.midLine = unit != '\n'; h.midLine {
		h.ends = 0
	} else {
		h.ends++
	}
	h.poly = h.poly*hashBase + uint64(unit)
	h.units++
}

// begin notes that a line begins with the next unit.
func (h *Hasher) begin() {
	h.line++
	h.starts[(h.first+h.size)%hashUnits] = lineStart{h.units, h.poly}
	h.size++
	if h.size == 1 {
		h.due = h.units + hashUnits
	}
}

// take emits the first line of the ring.
func (h *Hasher) take() {
	s := h.starts[h.first]
	line := h.line - int64(h.size) + 1
	h.first = (h.first + 1) % hashUnits
	h.size--
	h.due = -1
	if h.size > 0 {
		h.due = h.starts[h.first].units + hashUnits
	}
	h.emit(line, 1, h.poly-hashPower*s.poly)
}

// Close ends the text and emits the lines that are left.
func (h *Hasher) Close() {
	h.add(0xffff)
	for h.size > 0 {
		if h.units == h.due {
			h.take()
			continue
		}
		h.poly *= hashBase // a zero
		h.units++
	}
}

// Format writes a line's hash as GitHub does: in hexadecimal, with the
// number of lines that have had it so far, this one included.
func Format(hash uint64, count int64) string {
	return strconv.FormatUint(hash, 16) + ":" + strconv.FormatInt(count, 10)
}
