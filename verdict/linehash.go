package verdict

import "strconv"

// window is how many UTF-16 code units a line's hash looks at.
const hashWindow = 100

// A LineHasher computes GitHub's primaryLocationLineHash for the lines of a text,
// which its code scanning follows an alert by when the lines above it change.
//
// The hash of a line is a polynomial hash (base 37, modulo 2^64) of the 100 UTF-16
// code units from the line's start on, across the lines that follow. Spaces and
// tabs are left out, CR and CRLF count as LF, the unit 0xFFFF stands for the end
// of the text and zeros for what would come after it. github/codeql-action writes
// it in src/fingerprints.ts; docs/verdict.md says it in full.
//
// The hash is rolled over the text: a ring holds the last 100 units and, for each
// that begins a line, the line's number; when the ring comes round to such a unit,
// the hash is that line's.
type LineHasher struct {
	emit      func(line int64, hash uint64)
	units     [hashWindow]uint16
	lines     [hashWindow]int64 // the line that the unit begins, or 0
	at        int               // where the next unit goes
	pending   int               // lines in the ring
	hash      uint64
	line      int64 // of the last line that began
	midLine   bool
	afterCR   bool
	lastPower uint64 // 37^100: the weight with which a unit leaves the window
}

// NewLineHasher returns a hasher that calls emit for each line, in order; lines
// count from 1. A text has one line more than it has line ends.
func NewLineHasher(emit func(line int64, hash uint64)) *LineHasher {
	h := &LineHasher{emit: emit, lastPower: 1}
	for range hashWindow {
		h.lastPower *= 37
	}
	return h
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

func (h *LineHasher) add(unit uint16) {
	h.turn()
	if !h.midLine {
		h.line++
		h.lines[h.at] = h.line
		h.pending++
	}
	h.midLine = unit != '\n'
	h.roll(unit)
}

// turn emits the line that begins at the ring's present place, if there is one.
func (h *LineHasher) turn() {
	if line := h.lines[h.at]; line != 0 {
		h.lines[h.at] = 0
		h.pending--
		h.emit(line, h.hash)
	}
}

func (h *LineHasher) roll(unit uint16) {
	h.hash = h.hash*37 + uint64(unit) - h.lastPower*uint64(h.units[h.at])
	h.units[h.at] = unit
	if h.at++; h.at == hashWindow {
		h.at = 0
	}
}

// Close ends the text and emits the lines that are left.
func (h *LineHasher) Close() {
	h.add(0xffff)
	for h.pending > 0 {
		h.turn()
		h.roll(0)
	}
}

// FormatLineHash writes a line's hash as GitHub does: in hexadecimal, with the
// number of lines that have had it so far, this one included.
func FormatLineHash(hash uint64, count int64) string {
	return strconv.FormatUint(hash, 16) + ":" + strconv.FormatInt(count, 10)
}
