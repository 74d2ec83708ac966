package verdict

import "strconv"

// hashUnits is how many UTF-16 code units a line's hash looks at.
const hashUnits = 100

// hashBase is the base of the polynomial, and hashPower its hashUnits-th power
// modulo 2^64.
const (
	hashBase  = 37
	hashPower = 0xe59cd09a331cdb71
)

// A LineHasher computes GitHub's primaryLocationLineHash for the lines of a text,
// which its code scanning follows an alert by when the lines above it change.
//
// The hash of a line is a polynomial hash (base 37, modulo 2^64) of the 100 UTF-16
// code units from the line's start on, across the lines that follow. Spaces and
// tabs are left out, CR and CRLF count as LF, the unit 0xFFFF stands for the end
// of the text and zeros for what would come after it. github/codeql-action writes
// it in src/fingerprints.ts; docs/verdict.md says it in full.
//
// The hasher keeps one polynomial of the whole text. With P(n) for that of its first
// n units, the hash of the 100 units from n on is P(n+100) - 37^100 P(n).
type LineHasher struct {
	emit    func(line int64, hash uint64)
	poly    uint64
	units   int64 // in poly
	line    int64 // of the last line that began
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

// NewLineHasher returns a hasher that calls emit for each line, in order; lines
// count from 1. A text has one line more than it has line ends.
func NewLineHasher(emit func(line int64, hash uint64)) *LineHasher {
	return &LineHasher{emit: emit, due: -1}
}

// Add takes the text's next UTF-16 code unit.
func (h *LineHasher) Add(unit uint16) {
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
// each, at five times the speed.
func (h *LineHasher) AddASCII(text []byte) {
	for i := 0; i < len(text); i++ {
		if h.midLine {
			// The polynomial in registers, up to what needs a decision.
			poly, from := h.poly, i
			stop := len(text)
			if h.due >= 0 {
				stop = min(stop, i+int(h.due-h.units))
			}
			for i < stop && text[i] > ' ' {
				poly = poly*hashBase + uint64(text[i])
				i++
			}
			h.poly, h.units = poly, h.units+int64(i-from)
			if i == len(text) {
				return
			}
		}
		h.Add(uint16(text[i]))
	}
}

func (h *LineHasher) add(unit uint16) {
	if h.units == h.due {
		h.take()
	}
	if !h.midLine {
		h.begin()
	}
	h.midLine = unit != '\n'
	h.poly = h.poly*hashBase + uint64(unit)
	h.units++
}

// begin notes that a line begins with the next unit.
func (h *LineHasher) begin() {
	h.line++
	h.starts[(h.first+h.size)%hashUnits] = lineStart{h.units, h.poly}
	h.size++
	if h.size == 1 {
		h.due = h.units + hashUnits
	}
}

// take emits the first line of the ring.
func (h *LineHasher) take() {
	s := h.starts[h.first]
	line := h.line - int64(h.size) + 1
	h.first = (h.first + 1) % hashUnits
	h.size--
	h.due = -1
	if h.size > 0 {
		h.due = h.starts[h.first].units + hashUnits
	}
	h.emit(line, h.poly-hashPower*s.poly)
}

// Close ends the text and emits the lines that are left.
func (h *LineHasher) Close() {
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

// FormatLineHash writes a line's hash as GitHub does: in hexadecimal, with the
// number of lines that have had it so far, this one included.
func FormatLineHash(hash uint64, count int64) string {
	return strconv.FormatUint(hash, 16) + ":" + strconv.FormatInt(count, 10)
}
