package regex

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A program is what a matcher runs: regexp/syntax's instructions without groups and no-ops, with a table for ASCII.
type program struct {
	steps   []step
	start   uint32
	asserts bool // it has an assertion
	atBegin bool // every match begins at a line start

	matchesEmpty bool // if assertions are ignored
	alike        bool // no step distinguishes non-ASCII characters

	// The first bytes of possible matches, so that an idle matcher skips the rest; all from 0x80 on are treated alike.
	first      [256]bool
	firstOrEnd [256]bool // the same and both line ends
}

type step struct {
	kind  kind
	out   uint32
	other uint32    // of a split: tried after out
	ascii [2]uint64 // of a char: the ASCII characters that it matches, LF and CR only in whole texts
	wide  *syntax.Inst
	need  syntax.EmptyOp // of an assertion: these must hold
}

type kind uint8

const (
	char   kind = iota // read a character
	split              // try two ways
	assert             // go on if an assertion holds
	match              // a match ends here
	fail               // dead end
)

// newProgram returns the program for lines, or for whole texts, where a line end is a character.
func newProgram(code *syntax.Prog, whole bool) *program {
	p := &program{steps: make([]step, len(code.Inst)), alike: true}
	skip := func(pc uint32) uint32 {
		for code.Inst[pc].Op == syntax.InstNop || code.Inst[pc].Op == syntax.InstCapture {
			pc = code.Inst[pc].Out
		}
		return pc
	}
	for pc := range code.Inst {
		in, s := &code.Inst[pc], &p.steps[pc]
		if in.Op != syntax.InstMatch && in.Op != syntax.InstFail {
			s.out = skip(in.Out)
		}
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			s.kind, s.other = split, skip(in.Arg)
		case syntax.InstEmptyWidth:
			s.kind, s.need = assert, syntax.EmptyOp(in.Arg)
			p.asserts = true
		case syntax.InstMatch:
			s.kind = match
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			s.kind, s.wide = char, in
			s.ascii = maskOf(func(c rune) bool { return (whole || c != '\n' && c != '\r') && accepts(in, c) })
			if narrow(in) {
				s.wide = nil
			}
			p.alike = p.alike && (s.wide == nil || readsAllWide(s.wide))
		default: // InstFail; no-ops are never reached
			s.kind = fail
		}
	}
	p.start = skip(uint32(code.Start))
	begin := &p.steps[p.start]
	p.atBegin = begin.kind == assert && begin.need&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0
	p.findFirst()
	return p
}

func maskOf(has func(rune) bool) (mask [2]uint64) {
	for c := range rune(utf8.RuneSelf) {
		if has(c) {
			mask[c/64] |= 1 << (c % 64)
		}
	}
	return mask
}

// bytes returns the approximate memory of the program, without the numbers of its classes.
func (p *program) bytes() int {
	const table, stepBytes, instBytes = 512 + 64, 48, 40
	n := table + stepBytes*len(p.steps)
	for i := range p.steps {
		if p.steps[i].wide != nil { // any of them keeps all of syntax.Prog alive
			return n + instBytes*len(p.steps)
		}
	}
	return n
}

func accepts(in *syntax.Inst, c rune) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1:
		return in.MatchRune(c)
	}
	return in.Op == syntax.InstRuneAny || c != '\n' // a dot
}

func narrow(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return false
	case syntax.InstRune1:
		return in.Rune[0] < utf8.RuneSelf
	}
	if len(in.Rune) == 1 && syntax.Flags(in.Arg)&syntax.FoldCase != 0 { // it may fold to others
		return false
	}
	return len(in.Rune) == 0 || in.Rune[len(in.Rune)-1] < utf8.RuneSelf // the last number of a class is its largest
}

// reads reports whether a char step matches c, which must not be negative.
func (s *step) reads(c rune) bool {
	if c < utf8.RuneSelf {
		return s.ascii[c/64]&(1<<(c%64)) != 0
	}
	return s.wide != nil && accepts(s.wide, c)
}

// A side is the neighbour of a place in a line.
type side uint8

const (
	edge  side = iota // none: the line begins or ends
	word              // a word character
	other             // another character
	sides             // number of sides
)

// place returns the sides of a place in a line, as a set of one.
func place(before, after side) (places uint16) { return 1 << (before*sides + after) }

// matches reports whether any line or text has a match; with noMark, a match that does not begin with a BOM. It
// follows the steps through all possible neighbours, so it is exact: with asserts, assertions count, and hold or not
// by the characters around them.
func (p *program) matches(asserts, noMark bool) bool {
	const anywhere = 1<<(sides*sides) - 1
	samples := [sides]rune{lineEnd, 'a', ' '}
	words := maskOf(syntax.IsWordChar)
	reached := make([]uint16, len(p.steps))
	var todo []uint32
	reach := func(pc uint32, places uint16) {
		if reached[pc]|places != reached[pc] {
			reached[pc] |= places
			todo = append(todo, pc)
		}
	}
	reach(p.start, anywhere)
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s := &p.steps[pc]
		switch s.kind {
		case match:
			return true
		case split:
			reach(s.out, reached[pc])
			reach(s.other, reached[pc])
		case assert:
			var next uint16
			for before := range sides {
				for after := range sides {
					if !asserts || s.need&^between(samples[before], samples[after]) == 0 {
						next |= reached[pc] & place(before, after)
					}
				}
			}
			reach(s.out, next)
		case char:
			var next uint16
			for after, reads := range s.sides(words) {
				here := place(word, side(after)) | place(other, side(after))
				if !noMark || !s.onlyMark() {
					here |= place(edge, side(after))
				}
				if reads && reached[pc]&here != 0 {
					next |= place(side(after), edge) | place(side(after), word) | place(side(after), other)
				}
			}
			reach(s.out, next)
		}
	}
	return false
}

func (s *step) sides(words [2]uint64) (reads [sides]bool) {
	reads[word] = s.ascii[0]&words[0]|s.ascii[1]&words[1] != 0
	reads[other] = s.ascii[0]&^words[0]|s.ascii[1]&^words[1] != 0 || s.wide != nil && readsWide(s.wide)
	return reads
}

// onlyMark reports whether a char step reads only a BOM.
func (s *step) onlyMark() bool {
	return s.ascii == [2]uint64{} && s.wide != nil && len(s.wide.Rune) > 0 &&
		!slices.ContainsFunc(s.wide.Rune, func(c rune) bool { return c != '\ufeff' })
}

// readsWide reports whether an instruction reads a non-ASCII character that a text can contain.
func readsWide(in *syntax.Inst) bool {
	switch {
	case in.Op != syntax.InstRune && in.Op != syntax.InstRune1:
		return true // a dot
	case len(in.Rune) > 1:
		for i := 0; i+1 < len(in.Rune); i += 2 {
			if lo, hi := max(in.Rune[i], utf8.RuneSelf), in.Rune[i+1]; lo <= hi && inText(lo, hi) {
				return true
			}
		}
		return false
	}
	for c := in.Rune[0]; ; {
		if c >= utf8.RuneSelf && inText(c, c) && in.MatchRune(c) {
			return true
		}
		if c = unicode.SimpleFold(c); c == in.Rune[0] {
			return false
		}
	}
}

// findFirst sets the first bytes of matches: those read by the steps that are reachable from the start, whether or not
// the assertions on the way hold. It also sets whether they reach a match.
func (p *program) findFirst() {
	seen := make([]bool, len(p.steps))
	for todo := []uint32{p.start}; len(todo) > 0; {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		s := &p.steps[pc]
		switch s.kind {
		case split:
			todo = append(todo, s.other, s.out)
		case assert:
			todo = append(todo, s.out)
		case match:
			p.matchesEmpty = true
		case char:
			for c := range rune(len(p.first)) {
				p.first[c] = p.first[c] || (c < utf8.RuneSelf && s.reads(c)) || (c >= utf8.RuneSelf && s.wide != nil)
			}
		}
	}
	p.firstOrEnd = p.first
	p.firstOrEnd['\n'], p.firstOrEnd['\r'] = true, true
}

// readsAllWide reports whether an instruction reads all non-ASCII characters.
func readsAllWide(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	n := len(in.Rune)
	return n > 1 && in.Rune[n-2] <= utf8.RuneSelf && in.Rune[n-1] == utf8.MaxRune
}
