package regex

import (
	"io"
	"iter"
	"maps"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// A Set finds the lines that match any of several regexes: one automaton reads a text once for all of them, so that
// many cost hardly more than one. It is safe for concurrent use.
//
// If the automaton of all has too many states, each half of the regexes has its own, and so on.
type Set struct {
	exprs    []*Expr
	alphabet func() *alphabet
	halves   func() [2]*Set // of a set of several
	halved   atomic.Bool    // it is searched by halves

	dfas sync.Pool // of *dfa, for one regex
	mu   sync.Mutex
	idle []*dfa // for several; the garbage collector would drop a pool's, which took long to make
}

// maxSetSteps bounds the instructions of the programs of a set that is not searched by halves.
const maxSetSteps = 16 << 10

// NewSet returns the set of regexes for the lines of a file: one or more, not [Expr.Whole].
func NewSet(exprs []*Expr) *Set {
	if len(exprs) == 1 {
		return exprs[0].alone
	}
	s := newSet(exprs)
	total := 0
	for _, e := range exprs {
		total += len(e.program.steps)
	}
	s.halved.Store(total > maxSetSteps)
	return s
}

func newSet(exprs []*Expr) *Set {
	return &Set{
		exprs:    exprs,
		alphabet: sync.OnceValue(func() *alphabet { return newAlphabet(exprs) }),
		halves: sync.OnceValue(func() [2]*Set {
			return [2]*Set{NewSet(exprs[:len(exprs)/2]), NewSet(exprs[len(exprs)/2:])}
		}),
	}
}

// Exprs returns the regexes. The caller must not change them.
func (s *Set) Exprs() []*Expr { return s.exprs }

// Lines returns the lines in parts of a text that regexes may match: for each the index of the regex and the line.
// Those of one regex are in order. Each part consists of whole lines, as in [Expr.Find], which has the matches. Few
// lines are without a match; several can be returned as one.
func (s *Set) Lines(text []byte, parts []Match) iter.Seq2[int, Match] {
	return func(yield func(int, Match) bool) { s.lines(text, parts, 0, yield) }
}

// lines is Lines with the indices of the regexes from first on.
func (s *Set) lines(text []byte, parts []Match, first int, yield func(int, Match) bool) bool {
	if s.halved.Load() {
		halves := s.halves()
		return halves[0].lines(text, parts, first, yield) &&
			halves[1].lines(text, parts, first+len(halves[0].exprs), yield)
	}
	d := s.dfa()
	defer s.release(d)
	for k, part := range parts {
		for from := int(part.Start); from < int(part.End); {
			start, end := d.line(text[:part.End], from)
			if d.gaveUp && len(s.exprs) > 1 {
				s.halve()
				rest := slices.Clone(parts[k:])
				rest[0].Start = int64(start)
				return s.lines(text, rest, first, yield)
			}
			for _, i := range d.matched {
				if !yield(first+i, Match{int64(start), int64(end)}) {
					return false
				}
			}
			from = end
		}
	}
	return true
}

// LinesReader reads r until io.EOF, and returns which regexes may match some line, by their indices. It may stop
// earlier. See [Expr.FindReader].
func (s *Set) LinesReader(r io.RuneReader) ([]int, error) {
	if s.halved.Load() {
		return s.all(), nil
	}
	d := s.dfa()
	defer s.release(d)
	d.begin()
	for state := int32(0); !d.gaveUp && len(d.matched) < len(s.exprs); d.read++ {
		c, _, err := r.ReadRune()
		switch {
		case err == io.EOF:
			d.endLine(state)
			return slices.Clone(d.matched), nil
		case err != nil:
			return nil, err
		case c == '\n' || c == '\r':
			d.endLine(state)
			state = 0
		case c < 0 || c >= utf8.RuneSelf:
			state = d.wide(state)
		default:
			state = d.after(state, int(d.classes[c]))
		}
	}
	if d.gaveUp && len(s.exprs) > 1 {
		s.halve()
	}
	return s.all(), nil
}

func (s *Set) all() []int {
	all := make([]int, len(s.exprs))
	for i := range all {
		all[i] = i
	}
	return all
}

func (s *Set) halve() {
	s.halved.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = nil
}

// dfa returns an automaton that nobody else uses until it is released.
func (s *Set) dfa() *dfa {
	if len(s.exprs) == 1 {
		if d, ok := s.dfas.Get().(*dfa); ok {
			return d
		}
		return newDFA(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle) - 1
	if n < 0 {
		return newDFA(s)
	}
	d := s.idle[n]
	s.idle = s.idle[:n]
	return d
}

func (s *Set) release(d *dfa) {
	if len(s.exprs) == 1 {
		s.dfas.Put(d)
	} else if !d.gaveUp {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.idle = append(s.idle, d)
	}
}

// An alphabet is the classes of the bytes of a text. Two ASCII characters are in one class if each step of some
// programs reads both or neither and, for assertions, both or neither are word characters. After these come the
// class of all bytes from 0x80 on, and that of line ends.
type alphabet struct {
	classes [256]uint8
	samples []rune // a character of each class
}

func newAlphabet(exprs []*Expr) *alphabet {
	a := &alphabet{}
	different := map[[2]uint64]bool{}
	for _, e := range exprs {
		if e.program.asserts {
			different[maskOf(syntax.IsWordChar)] = true
		}
		for i := range e.program.steps {
			if s := &e.program.steps[i]; s.kind == char {
				different[s.ascii] = true
			}
		}
	}
	masks := slices.Collect(maps.Keys(different))
	classes := map[string]uint8{} // by the set of masks that have its characters
	for c := range rune(utf8.RuneSelf) {
		if c == '\n' || c == '\r' {
			continue
		}
		in := make([]byte, len(masks))
		for i, mask := range masks {
			in[i] = byte(mask[c/64] >> (c % 64) & 1)
		}
		class, known := classes[string(in)]
		if !known {
			class = uint8(len(classes))
			classes[string(in)] = class
			a.samples = append(a.samples, c)
		}
		a.classes[c] = class
	}
	count := len(classes)
	for c := utf8.RuneSelf; c < len(a.classes); c++ {
		a.classes[c] = uint8(count)
	}
	a.classes['\n'], a.classes['\r'] = uint8(count+1), uint8(count+1)
	a.samples = append(a.samples, utf8.RuneError, lineEnd)
	return a
}
