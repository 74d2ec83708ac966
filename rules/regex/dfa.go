package regex

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A dfa decides which regexes of a set match a line, with a table look-up per character.
//
// A state is a set of places in the programs, what the last character means to an assertion, and which regexes had a
// match that ended before that character. Unlike in a matcher, the order of the places and the beginnings of matches do
// not matter. States are made on first use. The dfa drops all of them when they take too much memory, and gives up when
// it makes too many to be faster.
type dfa struct {
	*alphabet
	matchers []*matcher // of the regexes: they follow the steps of a program
	base     []uint32   // the number of each program's first place; the end
	columns  int        // of the table: the classes, and wide and end
	limits   dfaLimits
	asserts  bool // a program has an assertion

	// next is the transition table, indexed by a state's number plus a column. It has the number of another state, a
	// multiple of columns, its complement if it says that a regex matched, or one of the constants below.
	next  []int32
	keys  []string         // of each state: see encode
	known map[string]int32 // state numbers by key
	held  int              // bytes of keys and known

	made   int // number of states
	read   int // number of characters
	gaveUp bool

	matched []int  // the regexes that match the line
	has     []bool // the same by their index

	hits, places, set []uint32
	key               []byte
}

// Entries of the table other than states.
const (
	unknown    int32 = -1 - iota // not computed yet
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

// usualLimits allows a dfa of some 200 KB for a regex, and no more than eight times as much for many.
func usualLimits(exprs int) dfaLimits {
	n := min(exprs, 8)
	return dfaLimits{cells: n * 16 << 10, bytes: n * 128 << 10, reads: 50, states: 500}
}

// kinds are characters, each for all that assertions treat alike.
var kinds = [...]rune{lineEnd, ' ', 'a'}

func newDFA(s *Set) *dfa {
	d := &dfa{
		alphabet: s.alphabet(), limits: usualLimits(len(s.exprs)), known: map[string]int32{},
		has: make([]bool, len(s.exprs)), base: []uint32{0},
	}
	d.columns = len(d.samples) + lookBehind
	for i, e := range s.exprs {
		d.matchers, d.asserts = append(d.matchers, newMatcher(e)), d.asserts || e.program.asserts
		d.base = append(d.base, d.base[i]+uint32(len(e.program.steps)))
	}
	d.forget()
	return d
}

// forget drops all states except 0, the beginning of a line.
func (d *dfa) forget() {
	d.next, d.keys, d.held = d.next[:0], d.keys[:0], 0
	clear(d.known)
	d.hits = d.hits[:0]
	d.encode(d.kind(lineEnd), nil)
	d.state()
}

// state returns the number of the state of d.key, and makes it if needed.
func (d *dfa) state() int32 {
	if n, ok := d.known[string(d.key)]; ok {
		return n
	}
	n := len(d.next)
	for range d.columns {
		d.next = append(d.next, unknown)
	}
	d.next[n+int(d.classes[utf8.RuneSelf])] = manyBytes
	d.next[n+int(d.classes['\n'])] = ends
	key := string(d.key)
	d.keys = append(d.keys, key)
	d.known[key] = int32(n)
	d.held += len(key) + stateBytes
	d.made++
	return int32(n)
}

// stateBytes is what a state holds besides its row and its key.
const stateBytes = 48

func (d *dfa) begin() {
	for _, i := range d.matched {
		d.has[i] = false
	}
	d.matched = d.matched[:0]
}

// line returns the next line of text, from the line start from on, that a regex matches, and sets d.matched: the end of
// text if no such line is left. If the dfa gives up, all regexes may match the rest.
func (d *dfa) line(text []byte, from int) (start, end int) {
	d.begin()
	start = from
	state, read := int32(0), from
	for i := from; i < len(text) && !d.gaveUp; {
		class := int(d.classes[text[i]])
		to, size := d.next[int(state)+class], 1
		if to < 0 {
			d.read, read = d.read+i-read, i
			switch to {
			case ends:
				if d.endLine(state); len(d.matched) > 0 {
					return start, i
				}
				to, start = 0, i+1
			case manyBytes:
				_, size = utf8.DecodeRune(text[i:])
				to = d.wide(state)
			default:
				to = d.after(state, class)
			}
			if len(d.matched) == len(d.matchers) {
				return start, lineFrom(text, i)
			}
		}
		state = to
		i += size
	}
	if !d.gaveUp {
		d.read += len(text) - read
		if d.endLine(state); len(d.matched) > 0 {
			return start, len(text)
		}
		return len(text), len(text)
	}
	for i := range d.has {
		d.match(i)
	}
	return start, len(text)
}

func (d *dfa) match(i int) {
	if !d.has[i] {
		d.has[i] = true
		d.matched = append(d.matched, i)
	}
}

// after returns the state after a state and a character of a class.
func (d *dfa) after(state int32, class int) int32 { return d.leads(state, class, d.samples[class]) }

func (d *dfa) wide(state int32) int32 { return d.leads(state, d.columns-2, utf8.RuneError) }

func (d *dfa) endLine(state int32) { d.leads(state, d.columns-1, lineEnd) }

// leads returns the state for a state and a column, with the character c, and notes the regexes that matched.
func (d *dfa) leads(state int32, column int, c rune) int32 {
	to := d.next[int(state)+column]
	if to == unknown {
		to = d.ask(d.keys[int(state)/d.columns], c)
		d.next[int(state)+column] = to
	}
	full := len(d.next) > d.limits.cells || d.held > d.limits.bytes
	if to >= 0 && !full {
		return to
	}
	key := d.keys[int(max(to, ^to))/d.columns]
	if to < 0 {
		to = ^to
		d.decode(key)
		for _, i := range d.hits {
			d.match(int(i))
		}
	}
	if !full {
		return to
	}
	if d.gaveUp = d.made >= d.limits.states && d.read < d.limits.reads*d.made; d.gaveUp {
		d.next, d.keys, d.known = nil, nil, nil
		return 0
	}
	d.forget()
	d.key = append(d.key[:0], key...)
	return d.state()
}

// ask reads c in the state of a key. It returns the next state, or its complement if a regex matched before c.
func (d *dfa) ask(key string, c rune) int32 {
	d.decode(key)
	places, before, last := d.places, kinds[key[0]], d.kind(c)
	holds := between(before, c)
	d.hits, d.set = d.hits[:0], d.set[:0]
	for i, m := range d.matchers {
		p, base := m.program, d.base[i]
		m.round++
		matched := c == utf8.RuneError && !p.alike // perhaps
		for ; len(places) > 0 && places[0] < d.base[i+1]; places = places[1:] {
			matched = m.follow(thread{pc: places[0] - base}, c, holds) || matched
		}
		if matched {
			d.hits = append(d.hits, uint32(i))
		}
		if c != lineEnd && p.first[min(c, utf8.RuneSelf)] && (!p.atBegin || before == lineEnd) {
			m.follow(thread{pc: p.start}, c, holds) // no match is empty
		}
		for _, t := range m.next {
			d.set = append(d.set, base+t.pc)
		}
		m.next = m.next[:0]
	}
	slices.Sort(d.set)
	d.encode(last, slices.Compact(d.set))
	if len(d.hits) > 0 {
		return ^d.state()
	}
	return d.state()
}

// kind returns the index of the kind of a character.
func (d *dfa) kind(c rune) byte {
	switch {
	case c == lineEnd:
		return 0
	case d.asserts && syntax.IsWordChar(c):
		return 2
	}
	return 1
}

// encode sets the key of a state: the last character's kind and, as varints, the number of d.hits, these, and the
// differences of its places.
func (d *dfa) encode(kind byte, places []uint32) {
	d.key = binary.AppendUvarint(append(d.key[:0], kind), uint64(len(d.hits)))
	for _, i := range d.hits {
		d.key = binary.AppendUvarint(d.key, uint64(i))
	}
	last := uint32(0)
	for _, place := range places {
		d.key = binary.AppendUvarint(d.key, uint64(place-last))
		last = place
	}
}

// decode sets d.hits and d.places from a key.
func (d *dfa) decode(key string) {
	d.hits, d.places = d.hits[:0], d.places[:0]
	hits, rest := varint(key[1:])
	for last := uint32(0); rest != ""; {
		var n uint32
		if n, rest = varint(rest); hits > 0 {
			d.hits = append(d.hits, n)
			hits--
			continue
		}
		last += n
		d.places = append(d.places, last)
	}
}

func varint(key string) (n uint32, rest string) {
	for i := 0; ; i++ {
		if n |= uint32(key[i]&0x7f) << (7 * i); key[i] < 0x80 {
			return n, key[i+1:]
		}
	}
}

func lineFrom(text []byte, i int) int {
	for i < len(text) && text[i] != '\n' && text[i] != '\r' {
		i++
	}
	return i
}
