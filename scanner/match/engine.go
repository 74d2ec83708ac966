package match

import (
	"bytes"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/scanner/needle"
)

// An Engine finds which patterns of a fixed set occur in a content. It may be used
// by several goroutines at once.
//
// It works in two steps. The first reads the content once and asks, for any number
// of patterns, which needles occur at all: most files hold none and are done. The
// second is for the few patterns of a file whose needles were seen: it follows the
// contract to the letter, one pattern after another, and alone decides.
type Engine struct {
	patterns []*Pattern
	index    map[string]int // by text
	longest  int            // of any form of any pattern, in bytes
	required []requirement

	plain   *needle.Set       // forms whose needle has no NUL byte
	plainOf []int             // the pattern of each needle
	wide    func() *wideForms // the others: only content with a NUL byte can hold them
}

// wideForms are the forms of an engine whose needle has a NUL byte.
type wideForms struct {
	*needle.Set
	of []int // the pattern of each needle
}

// NewEngine returns the engine of patterns of different texts; index has the place of each.
func NewEngine(patterns []*Pattern, index map[string]int) *Engine {
	e := &Engine{patterns: patterns, index: index}
	var plain []*needle.Needle
	for i, p := range patterns {
		e.longest = max(e.longest, p.longest())
		for k := range p.forms {
			if f := &p.forms[k]; !f.nul && !p.byMark(f) {
				plain, e.plainOf = append(plain, f.prepared), append(e.plainOf, i)
			}
		}
	}
	e.plain = needle.Compile(plain)
	e.wide = sync.OnceValue(e.newWide) // few files need it
	return e
}

func (e *Engine) newWide() *wideForms {
	var wide []*needle.Needle
	var of []int
	for i, p := range e.patterns {
		forms := p.every()
		for k := range forms {
			if f := &forms[k]; f.nul && !p.byMark(f) {
				wide, of = append(wide, needle.New(f.needle())), append(of, i)
			}
		}
	}
	return &wideForms{needle.Compile(wide), of}
}

// Index returns the index of the pattern with this text, which is one of the engine's.
func (e *Engine) Index(text string) int { return e.index[text] }

// byMark reports whether a byte order mark alone decides if the form counts.
func (p *Pattern) byMark(f *form) bool { return p.short && f.enc != utf8Enc }

// overlap is how much consecutive windows must share.
func (e *Engine) overlap() int { return max(e.longest-1, 0) }

// seen is what the first step found out about a content.
type seen struct {
	plain *needle.Seen
	wide  *needle.Seen // nil until it is needed
	marks [encodings]bool
	nul   bool // a NUL byte occurs
}

func (e *Engine) newSeen() *seen {
	return &seen{plain: e.plain.NewSeen()}
}

// reset makes it ready for another content.
func (s *seen) reset() {
	s.plain.Reset()
	if s.wide != nil {
		s.wide.Reset()
	}
	s.marks, s.nul = [encodings]bool{}, false
}

// any reports whether there is a candidate.
func (s *seen) any() bool {
	if len(s.plain.Indices()) > 0 || s.nul && len(s.wide.Indices()) > 0 {
		return true
	}
	for en := utf16LE; en < encodings; en++ {
		if s.marks[en] {
			return true // of one character, perhaps
		}
	}
	return false
}

// look adds what a window holds.
func (e *Engine) look(s *seen, w window) {
	if w.at == 0 {
		s.marks = marks(w.data)
	}
	e.plain.Find(w.data, s.plain)
	if bytes.IndexByte(w.data, 0) >= 0 {
		s.nul = true
		if s.wide == nil {
			s.wide = e.wide().NewSeen()
		}
		e.wide().Find(w.data, s.wide)
	}
}

// candidates returns, in order, the patterns that may occur, and for each the forms
// that count in this content.
func (e *Engine) candidates(s *seen) []*candidate {
	marked := false
	for en := utf16LE; en < encodings; en++ {
		marked = marked || s.marks[en]
	}
	var seen []int
	for _, i := range s.plain.Indices() {
		seen = append(seen, e.plainOf[i])
	}
	if s.nul {
		for _, i := range s.wide.Indices() {
			seen = append(seen, e.wide().of[i])
		}
	}
	if marked {
		for i, p := range e.patterns {
			if p.short {
				seen = append(seen, i)
			}
		}
	}
	slices.Sort(seen)
	var candidates []*candidate
	for _, i := range slices.Compact(seen) {
		candidates = append(candidates, newCandidate(i, e.patterns[i], s))
	}
	return candidates
}

// A candidate is a pattern that may occur, in the second step: its first match and its occurrences.
type candidate struct {
	index int // of the pattern in the engine
	forms []*form

	first [encodings]match // the first match of each form; found says which there are
	found [encodings]bool
	count int64 // matches in order from the left, none overlapping the one counted before
	upTo  int64 // where the last counted match ends
}

// A match is a run of a content's bytes.
type match struct{ start, end int64 }

func newCandidate(index int, p *Pattern, s *seen) *candidate {
	h := &candidate{index: index}
	forms := p.forms
	if s.nul {
		forms = p.every()
	}
	for k := range forms {
		f := &forms[k]
		if f.nul && !s.nul || p.byMark(f) && !s.marks[f.enc] {
			continue
		}
		h.forms = append(h.forms, f)
	}
	return h
}

// look adds the matches that begin in w. Those that begin in its last overlap bytes
// belong to the next window, if there is one.
func (h *candidate) look(w window, overlap int) {
	limit := len(w.data)
	if !w.last {
		limit -= overlap
	}
	from := int(max(h.upTo-w.at, 0))
	next := make([]struct{ start, end int }, len(h.forms)) // the next match of each form
	for k, f := range h.forms {
		begin := from
		if !h.found[f.enc] {
			begin = 0 // a form's first match may overlap a counted match of another
		}
		next[k].start, next[k].end = f.next(w.data, begin)
		if next[k].start >= 0 && next[k].start < limit && !h.found[f.enc] {
			h.found[f.enc] = true
			h.first[f.enc] = match{w.at + int64(next[k].start), w.at + int64(next[k].end)}
		}
	}
	for {
		best := -1
		for k, f := range h.forms {
			if next[k].start >= 0 && next[k].start < from {
				next[k].start, next[k].end = f.next(w.data, from)
			}
			if next[k].start >= 0 && (best < 0 || next[k].start < next[best].start) {
				best = k
			}
		}
		if best < 0 || next[best].start >= limit {
			return
		}
		h.count++
		from = next[best].end
		h.upTo = w.at + int64(from)
	}
}

// evidence returns the match to report and the encoding it is read in; false when
// the pattern does not occur.
//
// The leftmost match counts. But text of 16 or 32 bits a unit can be read in the
// other byte order too, a byte or three early: "\x00a\x00b\x00" holds "ab" in both.
// Of two such readings the one that is aligned to its unit, counted from the start
// of the file, is the text.
func (h *candidate) evidence() (encoding, match, bool) {
	best := encodings
	for e := range encodings {
		if h.found[e] && (best == encodings || h.first[e].start < h.first[best].start) {
			best = e
		}
	}
	if best == encodings {
		return 0, match{}, false
	}
	unit := int64(best.unit())
	if h.first[best].start%unit != 0 {
		for e := range encodings {
			if h.found[e] && e.unit() == best.unit() && h.first[e].start%unit == 0 &&
				h.first[e].start < h.first[best].start+unit {
				best = e
				break
			}
		}
	}
	return best, h.first[best], true
}
