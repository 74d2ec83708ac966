package keys

import (
	"math/bits"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// A walk visits everything that a path can reach, in one pass. At each node it knows the set of states: the possible
// numbers of segments taken on the way. So "**" costs no more than another segment.
type walk struct {
	names            []string // of the segments that have one
	named, any, deep uint64   // the segments of each kind
	begin, end       uint64   // the states before the first segment, and the one after the last

	hidden bool // visit entries overridden in a YAML merge, too
	tagged bool // visit tagged lists and mappings, too
	whole  bool // a tagged list does not represent its items as well

	// node is called with each node reached on the way or at the end: with the states, the node that introduces it,
	// and whether it is in a tagged value. entry is called with each entry at the end of the path.
	node  func(n *Node, states uint64, from Span, inside bool)
	entry func(e *Entry, n *Node)
	stop  bool
	// beyond is called with nodes that it would look into if they were texts; or nil.
	beyond func(n *Node)
	// owner, if owned, is the mapping with the key through which node or entry was reached, which is not a block's
	// label; at a document's root, the root.
	owner *Node

	// seen are the states in which the content of a node was visited, for nodes with several ways to them.
	seen    map[seenNode]uint64
	memoAll bool // walks begin within each other, so that every node can be one of those
	owned   bool // owner matters
}

type seenNode struct {
	node   *Node
	inside bool
	owner  *Node  // of the entries and items, if owned
	into   uint64 // of a list
}

func newWalk(path keyitem.Path) *walk {
	w := &walk{names: make([]string, len(path)), end: 1 << len(path)}
	for i, s := range path {
		switch s.Kind {
		case keyitem.Deep:
			w.deep |= 1 << i
		case keyitem.Any:
			w.any |= 1 << i
		default:
			w.named |= 1 << i
			w.names[i] = s.Name
		}
	}
	w.begin = w.skipping(1)
	return w
}

// skipping adds the states after each "**", which can match nothing. Two are never adjacent.
func (w *walk) skipping(states uint64) uint64 { return states | states&w.deep<<1 }

// into returns the states after an entry for which a "*" or a name stands. In those after one for which a "**" stands,
// which are skipping(states & deep), a walk does not look into a text.
func (w *walk) into(states uint64, e *Entry) uint64 {
	next := states & w.any << 1
	if e.Named {
		for named := states & w.named; named != 0; named &= named - 1 {
			if i := bits.TrailingZeros64(named); w.names[i] == e.Name {
				next |= 1 << (i + 1)
			}
		}
	}
	return w.skipping(next)
}

// inText returns the states in which a walk looks into a text. What is in it is a value at the end of the path only if
// a "**" leads on to it.
func (w *walk) inText(into uint64) uint64 { return w.skipping(into &^ w.end) }

// ends reports whether a node is a value at the end of the path. A list represents its items, if it has any; a tagged
// list is a value as well.
func (w *walk) ends(n *Node, states uint64) bool {
	return states&w.end != 0 && (n.Kind != List || n.Tagged || len(n.Items) == 0)
}

func (w *walk) from(n *Node, introduced Span) {
	w.owner = n
	w.visit(n, w.begin, 0, &introduced, false)
}

func (w *walk) document(d document) {
	w.owner = d.root
	w.visit(d.root, w.begin, 0, &d.head, d.inside)
}

// visit visits a node in some states; into are those in which the walk looks into a text.
func (w *walk) visit(n *Node, states, into uint64, from *Span, inside bool) {
	if states == 0 || w.stop {
		return
	}
	if w.node != nil && states&w.end != 0 {
		w.node(n, states, *from, inside)
	}
	if n.Inside != nil && !w.stop {
		w.visit(n.Inside, w.inText(into), w.inText(into), from, inside)
	}
	if w.beyond != nil && into&^w.end != 0 {
		w.beyond(n)
	}
	if n.Kind != Mapping && n.Kind != List || w.stop || n.Tagged && !w.tagged {
		return
	}
	memo := n.Shared || n.Parted || w.memoAll
	key, before := seenNode{node: n, inside: inside}, uint64(0)
	if memo {
		if n.Kind == List {
			key.into = into
		}
		if w.owned && (n.Kind == List || n.Header) {
			key.owner = w.owner
		}
		before = w.seen[key]
		if states &^= before; states == 0 {
			return
		}
		if w.seen == nil {
			w.seen = map[seenNode]uint64{}
		}
		w.seen[key] = before | states
	}
	inside = inside || n.Tagged
	ofItems := states
	if n.Tagged && w.whole {
		ofItems &^= w.end
	}
	for _, item := range n.Items {
		w.visit(item, ofItems, into, &item.At, inside)
	}
	owner := w.owner
	if w.owned && n.Kind == Mapping && !n.Header {
		w.owner = n
	}
	for i := range n.Entries {
		e := &n.Entries[i]
		if e.Hidden && !w.hidden {
			continue
		}
		into := w.into(states, e)
		next := into | w.skipping(states&w.deep)
		if w.entry != nil && next&w.end != 0 {
			w.entry(e, n)
		}
		w.visit(e.Value, next, into, &e.At, inside)
	}
	if w.owned {
		w.owner = owner
	}
	if w.stop && memo { // not all of it was looked at
		w.seen[key] = before
	}
}
