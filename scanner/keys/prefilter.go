package keys

import (
	"slices"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// A Prefilter finds out which of many forbidden items may have a hit in a file, in one walk that follows all their
// paths at once. Several goroutines may use it, after all items were added.
type Prefilter struct{ root pathNode }

// A pathNode is where paths with the same first segments are after those.
type pathNode struct {
	items  []*keyitem.Item // those with a path that ends here
	named  map[string]*pathNode
	other  [keyitem.Deep + 1]*pathNode // after a "*" or "**"
	isDeep bool                        // the last segment is "**"
}

// NewPrefilter returns a filter without items.
func NewPrefilter() *Prefilter { return &Prefilter{pathNode{named: map[string]*pathNode{}}} }

// Add adds a forbidden item.
func (p *Prefilter) Add(item *keyitem.Item) {
	for _, path := range item.Paths {
		at := &p.root
		for _, segment := range path {
			at = at.after(segment)
		}
		at.items = append(at.items, item)
	}
}

// after returns the node after another segment, which it makes if need be.
func (p *pathNode) after(segment keyitem.Segment) *pathNode {
	known := p.other[segment.Kind]
	if segment.Kind == keyitem.Name {
		known = p.named[segment.Name]
	}
	if known != nil {
		return known
	}
	next := &pathNode{named: map[string]*pathNode{}, isDeep: segment.Kind == keyitem.Deep}
	if segment.Kind == keyitem.Name {
		p.named[segment.Name] = next
	} else {
		p.other[segment.Kind] = next
	}
	return next
}

// Possible returns the items that may have a hit in a file. It is nil if they are unknown.
func (p *Prefilter) Possible(file []Document) map[*keyitem.Item]bool {
	f := prefilterWalk{possible: map[*keyitem.Item]bool{}, refused: map[itemAndOwner]bool{}}
	f.reach(0, &p.root)
	for _, d := range (&splitter{forbidden: true}).split(file) {
		f.visit(d.root, d.root, f.stack)
	}
	if f.ways > maxWays || slices.ContainsFunc(file, func(d Document) bool { return d.Beyond != nil }) {
		return nil
	}
	return f.possible
}

// A prefilterWalk is a walk of a filter over a file. It visits a node on each way to it, and gives up if they are many.
type prefilterWalk struct {
	possible map[*keyitem.Item]bool
	refused  map[itemAndOwner]bool // whose if does not hold
	stack    []*pathNode           // that were reached, of each value on the way
	shared   int                   // nodes on the way that may have several ways
	ways     int                   // visits of such nodes and of the nodes in them
}

const maxWays = 5000

type itemAndOwner struct {
	item  *keyitem.Item
	owner *Node
}

// reach adds a node, if it is one, to those from an index of the stack on. Behind it, a "**" can match nothing.
func (f *prefilterWalk) reach(from int, p *pathNode) {
	for ; p != nil && !slices.Contains(f.stack[from:], p); p = p.other[keyitem.Deep] {
		f.stack = append(f.stack, p)
	}
}

// visit visits a node, and what is in it, where paths have reached some nodes. owner is as for a walk.
func (f *prefilterWalk) visit(n, owner *Node, reached []*pathNode) {
	if n.Shared || n.Parted {
		f.shared++
		defer func() { f.shared-- }()
	}
	if f.shared > 0 {
		f.ways++
	}
	if len(reached) == 0 || f.ways > maxWays {
		return
	}
	for _, p := range reached {
		for _, item := range p.items {
			f.value(item, n, owner)
		}
	}
	if n.Inside != nil {
		f.visit(n.Inside, owner, reached)
	}
	for _, item := range n.Items {
		f.visit(item, owner, reached)
	}
	if !n.Header {
		owner = n
	}
	top := len(f.stack)
	for i := range n.Entries {
		e := &n.Entries[i]
		for _, p := range reached {
			if p.isDeep {
				f.reach(top, p)
			}
			if e.Named {
				f.reach(top, p.named[e.Name])
			}
			f.reach(top, p.other[keyitem.Any])
		}
		f.visit(e.Value, owner, f.stack[top:])
		f.stack = f.stack[:top]
	}
}

// value notes whether an item may have a hit at a node at the end of its path.
func (f *prefilterWalk) value(item *keyitem.Item, n, owner *Node) {
	if f.possible[item] || len(item.If) > 0 && f.refused[itemAndOwner{item, owner}] {
		return
	}
	isValue := n.Kind != List || n.Tagged || len(n.Items) == 0
	if item.Asks != keyitem.Exists && !n.joinedIs(&item.Condition) && (!isValue || !forbids(item, n)) {
		return
	}
	if newConditions(item.If).hold(owner) {
		f.possible[item] = true
	} else {
		f.refused[itemAndOwner{item, owner}] = true
	}
}
