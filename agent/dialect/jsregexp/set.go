package jsregexp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A set is a set of UTF-16 code units: pairs of a first and a last one, in order, that neither overlap nor
// touch.
type set []rune

// The code units that are half a character, and the first of the characters that stand in for them.
const (
	firstHalf, lastHalf = 0xD800, 0xDFFF
	lastUnit            = 0xFFFF
	firstStandIn        = 0xF0000
)

// The sets that JavaScript has names for.
var (
	digits = set{'0', '9'}
	words  = set{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	spaces = set{
		'\t', '\r', ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x202F,
		0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF,
	}
	lineEnds = set{'\n', '\n', '\r', '\r', 0x2028, 0x2029}
	halves   = set{firstHalf, lastHalf}
)

// union returns what is in any of some sets, which may be in no order.
func union(sets ...set) set {
	type span struct{ first, last rune }
	var spans []span
	for _, s := range sets {
		for i := 0; i < len(s); i += 2 {
			spans = append(spans, span{s[i], s[i+1]})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.first - b.first) })
	var all set
	for _, s := range spans {
		if n := len(all); n > 0 && s.first <= all[n-1]+1 {
			all[n-1] = max(all[n-1], s.last)
			continue
		}
		all = append(all, s.first, s.last)
	}
	return all
}

// not returns the code units that are not in s.
func (s set) not() set {
	var rest set
	next := rune(0)
	for i := 0; i < len(s); i += 2 {
		if next < s[i] {
			rest = append(rest, next, s[i]-1)
		}
		next = s[i+1] + 1
	}
	if next <= lastUnit {
		rest = append(rest, next, lastUnit)
	}
	return rest
}

// and returns the code units that are in both sets.
func (s set) and(t set) set { return union(s.not(), t.not()).not() }

// String returns the set in RE2's syntax: one of its characters, by their stand-ins.
func (s set) String() string {
	all := s.and(halves.not())
	for _, unit := range s.and(halves) {
		all = append(all, standIn(unit))
	}
	if len(all) == 0 {
		return `[^\x{0}-\x{10FFFF}]`
	}
	if len(all) == 2 && all[0] == all[1] {
		return regexp.QuoteMeta(string(all[0]))
	}
	var b strings.Builder
	b.WriteByte('[')
	for pair := range slices.Chunk(all, 2) {
		fmt.Fprintf(&b, `\x{%X}`, pair[0])
		if pair[1] > pair[0] {
			fmt.Fprintf(&b, `-\x{%X}`, pair[1])
		}
	}
	b.WriteByte(']')
	return b.String()
}
