package regex

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A dfa decides whether a line has a match, with a table look-up per character. The matcher then finds the location.
//
// A state is a set of places in the program, plus what the last character means to an assertion. Unlike in a matcher,
// the order of the places and the beginnings of matches do not matter. States are made on first use. The dfa drops all
// of them when they take too much memory, and gives up when it makes too many to be faster.
type dfa struct {
	program *program
	columns int // of the table: the classes of the program, and wide and end
	limits  dfaLimits

	// next is the transition table, indexed by a state's number plus a column. It has the number of another state, a
	// multiple of columns, or one of the constants below.
	next   []int32
	places [][]uint32       // of each state, in order
	before []rune           // the last character, or an equivalent one for assertions
	known  map[string]int32 // state numbers by key
	held   int              // bytes of places and known

	made   int // number of states
	read   int // number of characters
	gaveUp bool
	set    []uint32
	key    []byte
}

// Entries of the table other than states.
const (
	unknown    int32 = -1 - iota // not computed yet
	matches                      // a match ends before the character
	ends                         // the line ends: see the column end
	manyBytes                    // the character is not ASCII: see the column wide
	lookBehind = 2               // number of columns after the classes: wide and end
)

// dfaLimits says when a dfa drops its states, and when it gives up.
type dfaLimits struct {
	cells  int // of the table
	bytes  int // of the sets of places
	reads  int // it gives up below this number of characters per state,
	states int // after this number of states
}

func usualLimits() dfaLimits {
	return dfaLimits{cells: 16 << 10, bytes: 128 << 10, reads: 50, states: 500}
}

func newDFA(p *program) *dfa {
	d := &dfa{program: p, columns: len(p.samples) + lookBehind, limits: usualLimits(), known: map[string]int32{}}
	d.forget()
	return d
}

// forget drops all states except 0, the beginning of a line.
func (d *dfa) forget() {
	d.next, d.places, d.before, d.held = d.next[:0], d.places[:0], d.before[:0], 0
	clear(d.known)
	d.state(nil, lineEnd)
}

// state returns the number of a state, and makes it if needed.
func (d *dfa) state(places []uint32, before rune) int32 {
	d.key = append(d.key[:0], byte(before)) // one of three
	for _, pc := range places {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if n, ok := d.known[string(d.key)]; ok {
		return n
	}
	n := len(d.next)
	for range d.columns {
		d.next = append(d.next, unknown)
	}
	d.next[n+int(d.program.classes[utf8.RuneSelf])] = manyBytes
	d.next[n+int(d.program.classes['\n'])] = ends
	d.places, d.before = append(d.places, slices.Clone(places)), append(d.before, before)
	d.known[string(d.key)] = int32(n)
	d.held += 2 * len(d.key)
	d.made++
	return int32(n)
}

// line returns the next line of text, from the line start from on, that the matcher must read: the end of text if no
// such line is left, and the whole rest if the dfa gives up.
func (m *matcher) line(text []byte, from int) (start, end int) {
	d, p := m.dfa, m.program
	if d.gaveUp {
		return from, len(text)
	}
	defer func() { d.read += end - from }()
	start = from
	state := int32(0)
	for i := from; i < len(text); {
		class := int(p.classes[text[i]])
		to, size := d.next[int(state)+class], 1
		if to < 0 {
			switch to {
			case ends:
				if to = m.leads(state, class+lookBehind, lineEnd); to != matches {
					start = i + 1
				}
			case manyBytes:
				if !p.alike {
					return start, lineFrom(text, i)
				}
				_, size = utf8.DecodeRune(text[i:])
				to = m.leads(state, class+lookBehind, utf8.RuneError)
			case unknown:
				to = m.leads(state, class, p.samples[class])
			}
			if to == matches {
				return start, lineFrom(text, i)
			}
			if d.gaveUp {
				return start, len(text)
			}
		}
		state = to
		i += size
	}
	if m.leads(state, int(p.classes['\n'])+lookBehind, lineEnd) == matches {
		return start, len(text)
	}
	return len(text), len(text)
}

// leads returns the entry for a state and a column, with the character c: a state, or matches.
func (m *matcher) leads(state int32, column int, c rune) int32 {
	d := m.dfa
	if to := d.next[int(state)+column]; to != unknown {
		return to
	}
	to := m.ask(d.places[int(state)/d.columns], d.before[int(state)/d.columns], c)
	d.next[int(state)+column] = to
	if len(d.next) > d.limits.cells || d.held > d.limits.bytes {
		d.gaveUp = d.made >= d.limits.states && d.read < d.limits.reads*d.made
		if to > 0 {
			places, before := d.places[int(to)/d.columns], d.before[int(to)/d.columns]
			d.forget()
			return d.state(places, before)
		}
		d.forget()
	}
	return to
}

// ask reads c in a set of places.
func (m *matcher) ask(places []uint32, before, c rune) int32 {
	d, p := m.dfa, m.program
	m.round++
	holds := between(before, c)
	m.next = m.next[:0]
	for _, pc := range places {
		if m.follow(thread{pc: pc}, c, holds) {
			return matches
		}
	}
	if c == lineEnd {
		return 0
	}
	if !p.atBegin || before == lineEnd {
		m.follow(thread{pc: p.start}, c, holds)
	}
	d.set = d.set[:0]
	for _, t := range m.next {
		d.set = append(d.set, t.pc)
	}
	m.next = m.next[:0]
	slices.Sort(d.set)
	last := ' '
	if p.asserts && syntax.IsWordChar(c) {
		last = 'a'
	}
	return d.state(slices.Compact(d.set), last)
}

func lineFrom(text []byte, i int) int {
	for i < len(text) && text[i] != '\n' && text[i] != '\r' {
		i++
	}
	return i
}
