package regex

import (
	"io"
	"iter"
	"maps"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// A Set finds the lines that match any of several regexes: one automaton reads a text once for all of them, so that
// many cost hardly more than one. It is safe for concurrent use.
//
// Where the automaton of all would have too many states, each half of the regexes has its own, and so on.
type Set struct {
	exprs    []*Expr
	alphabet func() *alphabet
	halves   func() [2]*Set // of a set of several
	large    bool           // it is searched by halves
	dfas     sync.Pool      // of *dfa
}

// maxSetSteps bounds the instructions of the programs of a set that is not searched by halves.
const maxSetSteps = 16 << 10

// NewSet returns the set of regexes for the lines of a file: one or more, not [Expr.Whole].
func NewSet(exprs []*Expr) *Set {
	if len(exprs) == 1 {
		return exprs[0].alone
	}
	return newSet(exprs)
}

func newSet(exprs []*Expr) *Set {
	total := 0
	for _, e := range exprs {
		total += len(e.program.steps)
	}
	return &Set{
		exprs: exprs, large: len(exprs) > 1 && total > maxSetSteps,
		alphabet: sync.OnceValue(func() *alphabet { return newAlphabet(exprs) }),
		halves: sync.OnceValue(func() [2]*Set {
			return [2]*Set{NewSet(exprs[:len(exprs)/2]), NewSet(exprs[len(exprs)/2:])}
		}),
	}
}

// Lines returns the lines of a text, as in [Expr.Find], that regexes may match: for each the index of the regex and the
// line. Those of one regex are in order. A line without a match is rare; [Expr.Find] has the matches. Several lines can
// be returned as one.
func (s *Set) Lines(text []byte) iter.Seq2[int, Match] {
	return func(yield func(int, Match) bool) { s.lines(text, 0, 0, yield) }
}

// lines yields the lines of a text from a place on, with the indices of the regexes from first on.
func (s *Set) lines(text []byte, from, first int, yield func(int, Match) bool) bool {
	if !s.large {
		d := s.dfa()
		defer s.dfas.Put(d)
		for from < len(text) && (!d.gaveUp || len(s.exprs) == 1) {
			start, end := d.line(text, from)
			if from = end; d.gaveUp && len(s.exprs) > 1 {
				from = start
				break
			}
			for _, i := range d.matched {
				if !yield(first+i, Match{int64(start), int64(end)}) {
					return false
				}
			}
		}
		if from == len(text) {
			return true
		}
	}
	halves := s.halves()
	return halves[0].lines(text, from, first, yield) &&
		halves[1].lines(text, from, first+len(halves[0].exprs), yield)
}

// LinesReader reads r until io.EOF, and returns which regexes may match some line, by their indices. It may stop
// earlier. See [Expr.FindReader].
func (s *Set) LinesReader(r io.RuneReader) ([]int, error) {
	if s.large {
		return s.all(), nil
	}
	d := s.dfa()
	defer s.dfas.Put(d)
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
	return s.all(), nil
}

func (s *Set) all() []int {
	all := make([]int, len(s.exprs))
	for i := range all {
		all[i] = i
	}
	return all
}

func (s *Set) dfa() *dfa {
	if d, ok := s.dfas.Get().(*dfa); ok {
		return d
	}
	return newDFA(s)
}

// An alphabet is the classes of the bytes of a text. Two ASCII characters are in one class if each step of some
// programs reads both or neither and, for assertions, both or neither are word characters. After these come the class of all
// bytes from 0x80 on, and that of line ends.
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
