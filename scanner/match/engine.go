package match

import (
	"bytes"
	"sync"

	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/needle"
)

// An Engine finds which patterns of a fixed set occur in a content. It may be used by several goroutines at once.
//
// It works in two steps. The first reads the content once and finds, for any number of patterns, which needles occur:
// most files contain none and are done. The second checks the few patterns whose needles occur, one after another,
// exactly by the contract. It alone decides.
type Engine struct {
	patterns []*Pattern
	required []int  // patterns that must occur
	needs    []need // by pattern; nil: none is required
	overlap  int    // the overlap of consecutive windows
	before   int    // the part of the overlap that is only context

	plain   *needle.Set       // forms whose needle has no NUL byte
	plainOf []formOf          // the form of each needle
	sharing map[int][]formOf  // the other regexes with this needle
	wide    func() *wideForms // the others: only content with a NUL byte can contain them
	always  []int             // the regexes without a needle

	setOf []*exprSet // by pattern; nil: there is no regex
}

type formOf struct {
	pattern int
	form    int // a literal's encoding; -1 without a needle
}

type wideForms struct {
	set *needle.Set
	of  []formOf // the form of each needle
}

// lookBack is the context before the searched places, and after the longest match: one character, in any encoding.
const lookBack = 4

// lookAhead is the distance after a match within which the same literal can begin aligned: see [tally.evidence].
const lookAhead = 3

// NewEngine returns the engine of patterns. A Find names a pattern by its index here.
func NewEngine(patterns []*Pattern) *Engine {
	e := &Engine{patterns: patterns, sharing: map[int][]formOf{}}
	longest, longestWords := 0, 0
	var plain []*needle.Needle
	literals := map[regex.Literal]int{} // their needles
	for i, p := range patterns {
		if p.expr != nil {
			if e.setOf == nil {
				e.setOf = make([]*exprSet, len(patterns))
			}
			e.setOf[i] = &exprSet{patterns: []int{i}}
		}
		switch {
		case p.expr != nil || p.options.Spaces:
			longest = max(longest, p.longestNeedle())
			if len(p.forms) == 0 {
				e.always = append(e.always, i)
				e.join(i, e.always[0])
			}
		case p.options.Words:
			longestWords = max(longestWords, p.longest())
		default:
			longest = max(longest, p.longest())
		}
		for k := range p.forms {
			f := &p.forms[k]
			if f.nul || p.byMark(f) {
				continue
			}
			if p.expr != nil && f.enc == utf8Enc { // many regexes share a literal
				l := regex.Literal{Text: string(f.needle), Fold: f.fold}
				if n, known := literals[l]; known {
					e.join(i, e.plainOf[n].pattern)
					e.sharing[n] = append(e.sharing[n], formOf{i, k})
					continue
				}
				literals[l] = len(plain)
			}
			plain, e.plainOf = append(plain, f.prepared), append(e.plainOf, formOf{i, k})
		}
	}
	if longestWords > 0 {
		e.before = lookBack
		longest = max(longest, longestWords+lookBack)
	}
	e.overlap = max(longest-1, 0) + lookAhead + e.before
	e.plain = needle.Compile(plain)
	e.wide = sync.OnceValue(e.newWide) // few files need it
	return e
}

// Len returns the number of patterns.
func (e *Engine) Len() int { return len(e.patterns) }

func (e *Engine) newWide() *wideForms {
	var wide []*needle.Needle
	var of []formOf
	for i, p := range e.patterns {
		forms := p.every()
		for k := range forms {
			if f := &forms[k]; f.nul && !p.byMark(f) {
				wide, of = append(wide, f.prepare()), append(of, formOf{i, k})
			}
		}
	}
	return &wideForms{needle.Compile(wide), of}
}

// byMark reports whether a byte order mark alone decides if the form counts.
func (p *Pattern) byMark(f *form) bool { return p.short && f.enc != utf8Enc }

type seen struct {
	plain *needle.Seen
	wide  *needle.Seen // nil until it is needed
	Shape
	readings map[[encodings]bool][]exprReading // of regexes that may match in these encodings
}

func (e *Engine) newSeen() *seen {
	return &seen{plain: e.plain.NewSeen(), readings: map[[encodings]bool][]exprReading{}}
}

func (s *seen) reset() {
	s.plain.Reset()
	if s.wide != nil {
		s.wide.Reset()
	}
	s.Shape = Shape{}
	clear(s.readings)
}

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

func (e *Engine) look(s *seen, w window) {
	if w.at == 0 {
		s.marks = marks(w.data)
	}
	e.plain.Find(w.data, s.plain)
	if bytes.IndexByte(w.data, 0) >= 0 {
		s.nul = true
		if s.wide == nil {
			s.wide = e.wide().set.NewSeen()
		}
		e.wide().set.Find(w.data, s.wide)
	}
}
