package regex

import (
	"regexp/syntax"
	"unicode/utf8"
)

// A matcher finds all matches of a text in one pass over it.
//
// One search is Pike's simulation: its threads are the places of the program that some way of reading the text has
// reached, in the order in which a backtracking search would try them. When one reaches the end of the program, the
// threads after it are dropped: a backtracking search would not reach them. The threads before it go on, and may still
// find a better match: after the a, a(?:.*b)? must read to the end of the line.
//
// regexp waits until a match is certain and restarts at its end, which reads the rest of the line again for each
// match. A matcher does not wait. When a search has a match, which may still be replaced, the next search begins at
// its end at once, with its threads after those of the first. If a thread of the first search finds a better match,
// everything after it is dropped, including later searches, and a new one begins there.
//
// No place is followed twice at the same character, even for different searches: the later thread cannot change the
// result. The earlier thread reads the same characters to the same end; if that is a match, the later thread's search
// is dropped. So there are never more threads than places in the program, however many searches. Only the matches that
// may still be replaced take memory, at most MaxMatches.
type matcher struct {
	program *program
	now     []thread // for the next character, in order
	next    []thread
	found   []Match  // of the line; one may be replaced while its search has threads
	stack   []uint32 // places still to follow
	before  rune     // the last character; lineEnd at the beginning of a line
	most    int      // the matches of a line that are looked for

	// Place pc was followed at this character if seen[pc] is round. Everything reachable from it was followed too,
	// unless a match came first. The next search cannot reach such a place at this character: its match would be
	// empty.
	seen  []uint64
	round uint64
}

type thread struct {
	start  int64  // where the match would begin
	pc     uint32 // next step
	search uint32 // number of matches before it
}

// lineEnd is the character before and after each line.
const lineEnd rune = -1

func newMatcher(e *Expr) *matcher {
	m := &matcher{program: e.program, seen: make([]uint64, len(e.program.steps)), before: lineEnd, most: MaxMatches}
	if e.except != nil {
		m.most++ // see [Expr.Except]
	}
	return m
}

// read reads the character c, or lineEnd, at offset at.
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

// canBegin reports whether a match that counts can begin with the next character c.
func (m *matcher) canBegin(c rune) bool {
	p := m.program
	return len(m.found) < m.most && p.first[min(c, utf8.RuneSelf)] && (!p.atBegin || m.before == lineEnd)
}

// follow moves a thread over the character c to the places after it. It reports whether it reached a match before c.
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

// idle reports whether no search is under way, so that the matches so far are certain.
func (m *matcher) idle() bool { return len(m.now) == 0 }

// endLine ends a line, if it has begun, and returns its matches, which are valid until the next call.
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
