package jsregexp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A node is an expression over whole characters, which RE2 can hold. A nil node matches nothing.
type node struct {
	kind     nodeKind
	set      set    // of chars
	text     string // of anchor: as RE2 has it
	subs     []*node
	min, max int // of repeat; a max of -1 is without end
	size     int // how many nodes it is, written out
}

type nodeKind uint8

const (
	empty  nodeKind = iota // the empty text
	chars                  // one character of a set
	anchor                 // a place in the text
	concat                 // the subs one after the other
	either                 // any of the subs
	repeat                 // the one sub, over and over
)

// maxSize is how many nodes an expression may have. RE2 takes a step for each of them at each
// character of the text.
const maxSize = 20_000

// A grid is an expression over UTF-16 code units, as what it is over characters. A character beyond
// U+FFFF is two units, and an expression may begin or end between them: grid[from][to] is the part that
// begins at a whole character (from 0) or in the middle of one (1), and ends so. The character itself is
// in the part that takes its first unit. All grids hold either all the units of halves or none,
// so in the middle nothing has to be remembered.
type grid [2][2]*node

// nothing returns the grid of an expression that takes no unit, and holds wherever it is.
func nothing() grid { return grid{{&node{}, nil}, {nil, &node{}}} }

func whole(n *node) grid { return grid{{n, nil}, {nil, nil}} }

// unit returns the grid of one unit of a set that holds all of halves or none.
func unit(s set) grid {
	g := whole(class(s.and(halves.not())))
	if len(s.and(halves)) > 0 {
		g[0][1], g[1][0] = class(beyond), &node{}
	}
	return g
}

func class(s set) *node {
	if len(s) == 0 {
		return nil
	}
	return &node{kind: chars, set: s, size: 1}
}

// A sum builds nodes, and notes when one of them is over maxSize.
type sum struct{ over bool }

func (s *sum) checked(n *node) *node {
	n.size = 1
	for _, sub := range n.subs {
		n.size += sub.size
	}
	if n.size > maxSize {
		s.over = true
		return &node{kind: anchor, text: "^", size: 1} // the result is of no use any more
	}
	return n
}

// cat is all of some nodes, one after the other.
func (s *sum) cat(nodes ...*node) *node {
	var subs []*node
	for _, n := range nodes {
		switch {
		case n == nil:
			return nil
		case n.kind == concat:
			subs = append(subs, n.subs...)
		case n.kind != empty:
			subs = append(subs, n)
		}
	}
	switch len(subs) {
	case 0:
		return &node{}
	case 1:
		return subs[0]
	}
	return s.checked(&node{kind: concat, subs: subs})
}

// alt is any of some nodes.
func (s *sum) alt(nodes ...*node) *node {
	var subs []*node
	var sets []set
	hasEmpty := false
	for _, n := range nodes {
		parts := []*node{n}
		if n != nil && n.kind == either {
			parts = n.subs
		}
		for _, p := range parts {
			switch {
			case p == nil || p.kind == empty && hasEmpty:
			case p.kind == chars:
				sets = append(sets, p.set)
			default:
				hasEmpty = hasEmpty || p.kind == empty
				subs = append(subs, p)
			}
		}
	}
	if c := class(union(sets...)); c != nil {
		subs = append(subs, c)
	}
	switch len(subs) {
	case 0:
		return nil
	case 1:
		return subs[0]
	}
	return s.checked(&node{kind: either, subs: subs})
}

// times is a node from min to max times.
func (s *sum) times(n *node, min, max int) *node {
	switch {
	case max == 0, n == nil && min == 0, n != nil && n.kind == empty:
		return &node{}
	case n == nil:
		return nil
	case min == 1 && max == 1:
		return n
	}
	r := s.checked(&node{kind: repeat, subs: []*node{n}, min: min, max: max})
	return r
}

func (s *sum) product(a, b grid) grid {
	var g grid
	for from := range 2 {
		for to := range 2 {
			g[from][to] = s.alt(s.cat(a[from][0], b[0][to]), s.cat(a[from][1], b[1][to]))
		}
	}
	return g
}

// sequence is the product of some grids. It halves the list, which keeps a list of n dots at the size
// of n squared; one after the other it would grow as Fibonacci's numbers do.
func (s *sum) sequence(list []grid) grid {
	switch {
	case len(list) == 0 || s.over:
		return nothing()
	case len(list) == 1:
		return list[0]
	}
	half := len(list) / 2
	return s.product(s.sequence(list[:half]), s.sequence(list[half:]))
}

func (s *sum) choice(list []grid) grid {
	if len(list) == 1 {
		return list[0]
	}
	var g grid
	for from := range 2 {
		for to := range 2 {
			nodes := make([]*node, len(list))
			for i := range list {
				nodes[i] = list[i][from][to]
			}
			g[from][to] = s.alt(nodes...)
		}
	}
	return g
}

// quantified is a grid from min to max times.
func (s *sum) quantified(g grid, min, max int) grid {
	if g[0][1] == nil && g[1][0] == nil { // it goes from no half to another: RE2 may count
		return grid{{s.times(g[0][0], min, max), nil}, {nil, s.times(g[1][1], min, max)}}
	}
	all := make([]grid, 0, 8)
	for range min {
		all = append(all, g)
	}
	switch {
	case max < 0 && min > 0 && g[1][1] == nil:
		all[min-1] = s.plus(g)
	case max < 0:
		all = append(all, s.star(g))
	default:
		again := s.choice([]grid{nothing(), g})
		for range max - min {
			all = append(all, again)
		}
	}
	return s.sequence(all)
}

// star is Kleene's, of a matrix.
func (s *sum) star(g grid) grid {
	inner := s.times(g[1][1], 0, -1)
	outer := s.times(s.alt(g[0][0], s.cat(g[0][1], inner, g[1][0])), 0, -1)
	in, out := s.cat(g[0][1], inner), s.cat(inner, g[1][0])
	return grid{
		{outer, s.cat(outer, in)},
		{s.cat(out, outer), s.alt(inner, s.cat(out, outer, in))},
	}
}

// plus is one time or more, of a grid that does not go from a middle to a middle: shorter than the product
// of the grid and its star.
func (s *sum) plus(g grid) grid {
	once := s.alt(g[0][0], s.cat(g[0][1], g[1][0]))
	outer := s.times(once, 0, -1)
	return grid{
		{s.times(once, 1, -1), s.cat(outer, g[0][1])},
		{s.cat(g[1][0], outer), s.cat(g[1][0], outer, g[0][1])},
	}
}

// found is what it takes to find the grid somewhere in a text.
func (s *sum) found(g grid) *node {
	return s.alt(g[0][0], g[0][1], s.cat(class(beyond), g[1][0]), s.cat(class(beyond), g[1][1]))
}

// String returns the node as RE2 has it.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	if n == nil {
		b.WriteString(`[^\x{0}-\x{10FFFF}]`)
		return
	}
	switch n.kind {
	case empty:
		b.WriteString("(?:)")
	case anchor:
		b.WriteString(n.text)
	case chars:
		if len(n.set) == 2 && n.set[0] == n.set[1] {
			b.WriteString(regexp.QuoteMeta(string(n.set[0])))
			return
		}
		b.WriteByte('[')
		for pair := range slices.Chunk(n.set, 2) {
			fmt.Fprintf(b, `\x{%X}`, pair[0])
			if pair[1] > pair[0] {
				fmt.Fprintf(b, `-\x{%X}`, pair[1])
			}
		}
		b.WriteByte(']')
	case concat:
		for _, sub := range n.subs {
			sub.write(b)
		}
	case either:
		b.WriteString("(?:")
		for i, sub := range n.subs {
			if i > 0 {
				b.WriteByte('|')
			}
			sub.write(b)
		}
		b.WriteByte(')')
	case repeat:
		b.WriteString("(?:")
		n.subs[0].write(b)
		b.WriteByte(')')
		switch {
		case n.max < 0 && n.min == 0:
			b.WriteByte('*')
		case n.max < 0 && n.min == 1:
			b.WriteByte('+')
		case n.max < 0:
			fmt.Fprintf(b, "{%d,}", n.min)
		default:
			fmt.Fprintf(b, "{%d,%d}", n.min, n.max)
		}
	}
}
