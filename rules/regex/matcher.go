package regex

import (
	"regexp/syntax"
	"unicode/utf8"
)

// A matcher finds all matches of a text in one pass over it.
//
// One search is Pike's simulation: the threads are the places of the program that some way of reading the text has
// reached, in the order in which a backtracking search would try them. Where one reaches the end of the program, the
// threads behind it are dropped: a backtracking search would not come to them. Those before it go on, and one of
// them may yet find a better match: after the a, a(?:.*b)? has to read on to the end of the line.
//
// To restart where a match ends when that is certain, as regexp does, would read the rest of the line again for
// each match. So a matcher does not wait. Where a search has a match, which may yet be replaced, the next search
// begins at its end at once, and its threads go behind those of the first. If a thread of the first search finds
// a better match, all that is behind it is dropped, the later searches included, and a new one begins there.
//
// No place is followed twice at the same character, even for different searches: the thread behind can do nothing
// that would count. What it will read, the one before it reads as well, to the same end at the same character; and
// if that is a match, the search of the thread behind is dropped. So there are never more threads than places in
// the program, however many searches. Only the matches that may yet be replaced take memory, at most MaxMatches.
type matcher struct {
	program *program
	dfa     *dfa     // says which lines are worth reading
	now     []thread // at the next character, in order
	next    []thread
	found   []Match  // of the line; one may be replaced while its search has threads
	stack   []uint32 // places to follow
	before  rune     // the last character; lineEnd at the beginning of a line

	// The place pc was followed at this character if seen[pc] is round. All that can be reached from it was
	// followed, too, unless a match came first. Such a place is none that the next search comes to at this
	// character: both together would be an empty match.
	seen  []uint64
	round uint64
}

type thread struct {
	start  int64  // where the match would begin
	pc     uint32 // the step to follow
	search uint32 // how many matches come before it
}

// lineEnd is the character before and after each line.
const lineEnd rune = -1

func newMatcher(p *program) *matcher {
	return &matcher{program: p, dfa: newDFA(p), seen: make([]uint64, len(p.steps)), before: lineEnd}
}

// read takes the character c, or lineEnd, at the offset at.
func (m *matcher) read(c rune, at int64) {
	m.round++
	var holds syntax.EmptyOp
	if m.program.asserts {
		holds = between(m.before, c)
	}
	m.next = m.next[:0]
	for _, t := range m.now {
		if m.follow(t, c, holds) {
			m.found = append(m.found[:t.search], Match{t.start, at})
			break
		}
	}
	if c != lineEnd && m.canBegin(c) {
		m.follow(thread{at, m.program.start, uint32(len(m.found))}, c, holds) // no match is empty
	}
	m.now, m.next = m.next, m.now
	m.before = c
}

// canBegin reports whether a match that counts can begin with c, which comes next.
func (m *matcher) canBegin(c rune) bool {
	p := m.program
	return len(m.found) < MaxMatches && p.first[min(c, utf8.RuneSelf)] && (!p.atBegin || m.before == lineEnd)
}

// follow takes a thread over the character c to what it reaches behind it. It reports whether it reached a match
// before it.
func (m *matcher) follow(t thread, c rune, holds syntax.EmptyOp) bool {
	steps, stack := m.program.steps, m.stack[:0]
	pc := t.pc
	for {
		s := &steps[pc]
		if m.seen[pc] != m.round {
			m.seen[pc] = m.round
			switch s.kind {
			case char:
				if c >= 0 && s.reads(c) {
					m.next = append(m.next, thread{t.start, s.out, t.search})
				}
			case split:
				stack = append(stack, s.other)
				pc = s.out
				continue
			case assert:
				if s.need&^holds == 0 {
					pc = s.out
					continue
				}
			case match:
				m.stack = stack
				return true
			}
		}
		if len(stack) == 0 {
			m.stack = stack
			return false
		}
		pc = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
	}
}

// between returns the assertions that hold between two characters of a line.
func between(before, after rune) syntax.EmptyOp {
	holds := syntax.EmptyNoWordBoundary
	if syntax.IsWordChar(before) != syntax.IsWordChar(after) {
		holds = syntax.EmptyWordBoundary
	}
	if before == lineEnd {
		holds |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if after == lineEnd {
		holds |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	return holds
}

// idle reports whether nothing is under way, so that the matches of the line up to here are certain.
func (m *matcher) idle() bool { return len(m.now) == 0 }

// endLine ends a line, if it has not just begun, and returns its matches, which are valid until the next call.
func (m *matcher) endLine(at int64) []Match {
	if !m.idle() {
		m.read(lineEnd, at)
	}
	m.before = lineEnd
	found := m.found
	m.found = m.found[:0]
	return found
}

func (m *matcher) reset() {
	m.now, m.found, m.before = m.now[:0], m.found[:0], lineEnd
}
