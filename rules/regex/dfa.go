package regex

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A dfa says of lines whether they have a match, at a table look-up for each character. It does not know where: that
// is for the matcher that it belongs to.
//
// Its states are what a matcher can have under way, order and beginnings aside: a set of places in the program, and
// what the last character means to an assertion. They are made when a text first leads to them. They can be many: the
// dfa forgets them when they take too much memory, and gives up where it makes so many that they are no gain.
type dfa struct {
	program *program
	columns int // of the table: the classes of the program, and wide and end
	limits  dfaLimits

	// next is a table: at the number of a state plus a column is what that leads to, which is the number of another
	// state, a multiple of columns, or one of the constants below.
	next   []int32
	places [][]uint32       // of each state, in order
	before []rune           // the last character, or one that means the same to an assertion
	known  map[string]int32 // the number of a state
	held   int              // bytes of places and known

	made   int // states
	read   int // characters
	gaveUp bool
	set    []uint32
	key    []byte
}

// What a column can lead to besides a state.
const (
	unknown    int32 = -1 - iota // nobody has asked yet
	matches                      // a match ends before the character
	ends                         // the line does: see the column end
	manyBytes                    // the character is beyond ASCII: see the column wide
	lookBehind = 2               // how many columns behind those of the classes are wide and end
)

// dfaLimits are when a dfa forgets its states, and when it gives up.
type dfaLimits struct {
	cells  int // of the table
	bytes  int // of the sets of places
	reads  int // characters for each state that was made, or else it gives up,
	states int // after so many states
}

func usualLimits() dfaLimits {
	return dfaLimits{cells: 16 << 10, bytes: 128 << 10, reads: 50, states: 500}
}

func newDFA(p *program) *dfa {
	d := &dfa{program: p, columns: len(p.samples) + lookBehind, limits: usualLimits(), known: map[string]int32{}}
	d.forget()
	return d
}

// forget drops all states but the one at the beginning of a line, whose number is 0.
func (d *dfa) forget() {
	d.next, d.places, d.before, d.held = d.next[:0], d.places[:0], d.before[:0], 0
	clear(d.known)
	d.state(nil, lineEnd)
}

// state returns the number of a state, which is made if need be.
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

// line returns the next line of text, from the beginning of one on, that the matcher must read. If there is none it
// is at the end of text, and if the dfa gives up it is all the rest.
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

// leads returns what a column leads to from a state, as the character c does: a state, or matches.
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

// ask reads c where some places are under way.
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
