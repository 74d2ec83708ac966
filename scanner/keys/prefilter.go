package keys

import (
	"math/bits"
	"slices"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// A Prefilter finds out which of many forbidden items may have a hit in a file, in one walk. It follows all their paths
// at once, as a [walk] follows one: each state of each path has a bit. Several goroutines may use it.
type Prefilter struct {
	items     []*keyitem.Item
	itemOf    []int            // by state
	named     map[string][]int // the states before a segment with this name
	any, deep stateSet         // those before the other segments
	begin     stateSet
	end       stateSet // the last state of each path
}

type stateSet []uint64

func (s stateSet) add(state int)      { s[state/64] |= 1 << (state % 64) }
func (s stateSet) has(state int) bool { return s[state/64]&(1<<(state%64)) != 0 }

func NewPrefilter(items []*keyitem.Item) *Prefilter {
	p := &Prefilter{items: items, named: map[string][]int{}}
	for i, item := range items {
		for _, path := range item.Paths {
			p.itemOf = append(p.itemOf, slices.Repeat([]int{i}, len(path)+1)...)
		}
	}
	for _, s := range []*stateSet{&p.any, &p.deep, &p.begin, &p.end} {
		*s = make(stateSet, len(p.itemOf)/64+1)
	}
	state := 0
	for _, item := range items {
		for _, path := range item.Paths {
			p.begin.add(state)
			for _, segment := range path {
				switch segment.Kind {
				case keyitem.Deep:
					p.deep.add(state)
				case keyitem.Any:
					p.any.add(state)
				default:
					p.named[segment.Name] = append(p.named[segment.Name], state)
				}
				state++
			}
			p.end.add(state)
			state++
		}
	}
	p.skip(p.begin)
	return p
}

// skip adds the states after each "**", and reports whether there are any states.
func (p *Prefilter) skip(states stateSet) (some bool) {
	carry := uint64(0)
	for i, s := range states {
		deep := s & p.deep[i]
		states[i] |= deep<<1 | carry
		carry = deep >> 63
		some = some || states[i] != 0
	}
	return some
}

// Possible reports for each item whether it may have a hit in a file. It is nil if that is unknown.
func (p *Prefilter) Possible(file []Document) []bool {
	f := filtering{Prefilter: p, possible: make([]bool, len(p.items)), seen: map[*Node]stateSet{}}
	for _, d := range file {
		if d.Beyond != nil {
			return nil
		}
	}
	for _, d := range (&splitter{forbidden: true}).split(file) {
		if !f.visit(d.root, p.begin, 0) {
			return nil
		}
	}
	return f.possible
}

// A filtering is a walk over a file.
type filtering struct {
	*Prefilter
	possible []bool
	levels   []stateSet // the states of each mapping's value on the way
	seen     map[*Node]stateSet
	again    int // how often a node was visited in further states
}

// maxAgain bounds the visits of nodes with several ways to them: each takes time for all paths.
const maxAgain = 100

// visit visits a node in some states, and what is in it. It returns false if that takes too long.
func (f *filtering) visit(n *Node, states stateSet, level int) bool {
	if n.Shared || n.Parted {
		if states = f.fresh(n, states); states == nil || f.again > maxAgain {
			return states == nil
		}
	}
	for i, s := range states {
		for end := s & f.end[i]; end != 0; end &= end - 1 {
			at := f.itemOf[i*64+bits.TrailingZeros64(end)]
			f.possible[at] = f.possible[at] || couldForbid(f.items[at], n)
		}
	}
	if n.Inside != nil && !f.visit(n.Inside, states, level) {
		return false
	}
	for _, item := range n.Items {
		if !f.visit(item, states, level) {
			return false
		}
	}
	for i := range n.Entries {
		e := &n.Entries[i]
		if next, some := f.next(states, e, level); some && !f.visit(e.Value, next, level+1) {
			return false
		}
	}
	return true
}

// fresh returns those of some states in which a node was not visited; nil if there are none.
func (f *filtering) fresh(n *Node, states stateSet) stateSet {
	before, known := f.seen[n]
	if !known {
		f.seen[n] = slices.Clone(states)
		return states
	}
	fresh, some := make(stateSet, len(states)), false
	for i, s := range states {
		fresh[i] = s &^ before[i]
		before[i] |= s
		some = some || fresh[i] != 0
	}
	if !some {
		return nil
	}
	f.again++
	return fresh
}

// next returns the states after an entry.
func (f *filtering) next(states stateSet, e *Entry, level int) (next stateSet, some bool) {
	if level == len(f.levels) {
		f.levels = append(f.levels, make(stateSet, len(states)))
	}
	next = f.levels[level]
	carry := uint64(0)
	for i, s := range states {
		step := s & f.any[i]
		next[i] = step<<1 | carry | s&f.deep[i]
		carry = step >> 63
	}
	if e.Named {
		for _, state := range f.named[e.Name] {
			if states.has(state) {
				next.add(state + 1)
			}
		}
	}
	return next, f.skip(next)
}

// couldForbid reports whether an item may have a hit at a node at the end of its path.
func couldForbid(item *keyitem.Item, n *Node) bool {
	isValue := n.Kind != List || n.Tagged || len(n.Items) == 0
	return item.Asks == keyitem.Exists || n.joinedIs(&item.Condition) || isValue && forbids(item, n)
}
