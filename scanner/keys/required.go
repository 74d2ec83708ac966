package keys

import "github.com/policyscan/policyscan/rules/keyitem"

type requirement struct {
	item *keyitem.Item
	hits []Hit

	each   []*walk     // to the nodes that must have the key, if the item names them
	values []*walk     // for each path, to find reached values that are not as required
	tries  []*reach    // for each path: whether it reaches all required values
	report *reach      // for the first path: where it does not
	any    []*anyCheck // for each path, if one value as required is enough
}

func newRequirement(item *keyitem.Item) *requirement {
	r := &requirement{item: item}
	for i, path := range item.Paths {
		if item.AnyValue {
			r.any = append(r.any, &anyCheck{item, i, newWalk(path), map[reachedNode]bool{}, nil})
			continue
		}
		w := newWalk(path)
		w.memoAll = len(item.Each) > 0 // the nodes can be nested
		wrong := func(at Span, why Reason) { r.hits = append(r.hits, Hit{At: at, Path: i, Why: why}) }
		if item.Asks == keyitem.Exists { // for a list, only whether it exists
			w.entry = func(e *Entry, _ *Node) {
				if e.Value.Kind == Null {
					wrong(e.At, IsNull)
				}
			}
		} else {
			w.node = func(n *Node, states uint64, _ Span, _ bool) {
				if w.ends(n, states) && !satisfies(&item.Condition, n) {
					wrong(n.At, whyOther(n))
				}
			}
		}
		r.values = append(r.values, w)
		r.tries = append(r.tries, newReach(item, path, nil))
	}
	r.report = newReach(item, item.Paths[0], r.missing)
	r.findEach()
	return r
}

func (r *requirement) missing(at Span, why Reason) { r.hits = append(r.hits, Hit{At: at, Why: why}) }

// whyOther says why a value is not as required.
func whyOther(n *Node) Reason {
	switch {
	case n.uncertain() || n.Kind == ScalarNode && !n.Scalar.Certain:
		return Uncertain
	case n.Kind == Null:
		return IsNull
	case n.Kind == Mapping:
		return IsMapping
	case n.Kind == List:
		return IsList
	}
	return OtherValue
}

// uncertain reports whether a node could be anything.
func (n *Node) uncertain() bool { return n.Tagged || n.Kind == ScalarNode && n.Scalar.Variable }

func whyMissing(perhaps bool) Reason {
	if perhaps {
		return PerhapsMissing
	}
	return Missing
}

// check checks a node for the key, and returns why it does not have it; 0 if it has, or if nodes below it do not. from
// is the node's introduction; inside is set in a tagged value.
func (r *requirement) check(n *Node, from Span, inside bool) Reason {
	if inside {
		return PerhapsMissing
	}
	if r.any != nil {
		return r.checkAny(n)
	}
	reached := false
	for i, w := range r.values {
		w.from(n, from)
		o := r.tries[i].rest(n, 0)
		reached = reached || o.why == 0 && !o.under
	}
	if reached {
		return 0
	}
	return r.report.rest(n, 0).why
}

// findEach makes the walks to the nodes that the item names, which check each of them for the key.
func (r *requirement) findEach() {
	type place struct {
		node   *Node
		at     int
		inside bool
	}
	done, asked := map[place]bool{}, newConditions(r.item.If)
	for _, path := range r.item.Each {
		r.each = append(r.each, newEach(path, func(n *Node, from Span, inside bool) {
			at := place{n, from.Start, inside}
			if done[at] || !asked.hold(n) {
				return
			}
			done[at] = true
			why := whyMissing(inside || n.uncertain())
			if canHave(n, inside) {
				why = r.check(n, from, false)
			}
			if why != 0 {
				r.missing(from, why)
			}
		}))
	}
}

// newEach returns a walk to the nodes of an "each" path. It calls found with them, as walk.node.
func newEach(path keyitem.Path, found func(n *Node, from Span, inside bool)) *walk {
	w := newWalk(path)
	w.tagged, w.whole = true, true
	reached := func(n *Node, from Span, inside bool) {
		if n.Kind != List || n.Tagged { // an empty list has no node
			found(n, from, inside)
		}
	}
	isName := path[len(path)-1].Kind != keyitem.Deep
	w.node = func(n *Node, states uint64, from Span, inside bool) {
		switch {
		case !w.ends(n, states):
		case n.Inside != nil && isName: // a key below it is in the text
			for _, in := range n.inner(nil) {
				reached(in, in.At, inside)
			}
		default:
			reached(n, from, inside)
		}
	}
	return w
}

// inner returns the items of a list, those of lists and texts in it as well, or else the node itself.
func (n *Node) inner(all []*Node) []*Node {
	if n.Inside != nil && !n.Inside.Tagged {
		n = n.Inside
	}
	if n.Kind != List || n.Tagged {
		return append(all, n)
	}
	for _, item := range n.Items {
		all = item.inner(all)
	}
	return all
}

// canHave reports whether a node can have a required key. inside is set in a tagged value.
func canHave(n *Node, inside bool) bool { return n.Kind == Mapping && !n.Tagged && !inside }

func (r *requirement) checkEach(d document) {
	for _, w := range r.each {
		w.document(d)
	}
}

// A reach checks whether a path reaches a value everywhere it must, and finds the places where it does not. Each list
// item on the way, each block that the path selects and each child that a "*" matches must reach one; below a "**"
// each mapping with the next segment, at least one.
type reach struct {
	path keyitem.Path
	// missing is called with the introduction of a missing node's parent, unless the parent is the path's first node.
	// It may be nil.
	missing func(at Span, why Reason)
	// memo has the nodes with several ways to them: shared ones, or all if a step can recur within itself.
	memo    map[step]outcome
	memoAll bool
}

// A step is a node and the number of path segments taken.
type step struct {
	node   *Node
	taken  int
	below  bool // the next "**" was begun above the node
	inside bool // in a tagged value
}

type outcome struct {
	why   Reason // a parent of this node is this one; 0 if not
	under bool   // a parent of another node
	found bool   // below a "**": a mapping has the next segment
}

func (r *reach) child(o *outcome, child outcome, introduced Span) {
	o.under = o.under || child.why != 0 || child.under
	o.found = o.found || child.found
	if child.why != 0 && r.missing != nil {
		r.missing(introduced, child.why)
	}
}

func newReach(item *keyitem.Item, path keyitem.Path, missing func(at Span, why Reason)) *reach {
	deep := 0
	for _, s := range path {
		if s.Kind == keyitem.Deep {
			deep++
		}
	}
	return &reach{path: path, missing: missing, memo: map[step]outcome{}, memoAll: deep > 1 || len(item.Each) > 0}
}

// rest follows the path from a node, after some of its segments.
func (r *reach) rest(n *Node, taken int) outcome {
	if taken == len(r.path) {
		return outcome{}
	}
	deep := r.path[taken].Kind == keyitem.Deep
	if last := taken+1 == len(r.path); n.Inside != nil && !n.Inside.Tagged && taken > 0 && !(deep && last) {
		var o outcome // the segment before selected the text's key
		r.child(&o, r.rest(n.Inside, taken), n.Inside.At)
		return o
	}
	if n.Kind != Mapping && n.Kind != List || n.Tagged || n.Kind == List && len(n.Items) == 0 {
		if deep {
			return r.all(n, taken)
		}
		return outcome{why: whyMissing(n.uncertain())}
	}
	return r.once(step{node: n, taken: taken}, func() (o outcome) {
		switch {
		case n.Kind == List:
			for _, item := range n.Items {
				r.child(&o, r.rest(item, taken), item.At)
			}
			return o
		case deep:
			return r.all(n, taken)
		}
		sure, perhaps := false, false
		for i := range n.Entries {
			e := &n.Entries[i]
			if e.Hidden {
				continue
			}
			chosen := r.chooses(e, taken)
			perhaps = perhaps || e.Unsure && (chosen || !e.Named)
			if chosen {
				sure = sure || !e.Unsure
				r.child(&o, r.rest(e.Value, taken+1), e.At)
			}
		}
		if !sure && !o.under {
			o.why = whyMissing(perhaps)
		}
		return o
	})
}

// all follows a "**" that begins at a node.
func (r *reach) all(n *Node, taken int) outcome {
	o := r.below(n, taken, false)
	if o.why == 0 && !o.found && !o.under {
		o.why = whyMissing(n.uncertain())
	}
	return outcome{why: o.why, under: o.under}
}

// below follows a "**" that began at a node or above it.
func (r *reach) below(n *Node, taken int, inside bool) outcome {
	last := taken+1 == len(r.path)
	if n.Kind != Mapping && n.Kind != List {
		o := outcome{found: last}
		if last && inside {
			o.why = PerhapsMissing
		}
		return o
	}
	return r.once(step{n, taken, true, inside}, func() (o outcome) {
		switch {
		case last && n.Kind != List || last && len(n.Items) == 0: // the value itself
			if o.found = true; inside {
				o.why = PerhapsMissing
			}
		case r.has(n, taken+1):
			o.found = true
			if inside || n.Tagged {
				o.why = PerhapsMissing
			} else {
				next := r.rest(n, taken+1)
				o.why, o.under = next.why, next.under
			}
		}
		inside = inside || n.Tagged
		for _, item := range n.Items {
			r.child(&o, r.below(item, taken, inside), item.At)
		}
		for i := range n.Entries {
			if e := &n.Entries[i]; !e.Hidden {
				child := r.below(e.Value, taken, inside)
				child.found = child.found && !e.Unsure
				r.child(&o, child, e.At)
			}
		}
		return o
	})
}

func (r *reach) once(s step, follow func() outcome) outcome {
	if !r.memoAll && !s.node.Shared && !s.node.Parted {
		return follow()
	}
	if o, known := r.memo[s]; known {
		return o
	}
	o := follow()
	r.memo[s] = o
	return o
}

func (r *reach) has(n *Node, segment int) bool {
	for i := range n.Entries {
		if e := &n.Entries[i]; segment < len(r.path) && !e.Hidden && r.chooses(e, segment) {
			return true
		}
	}
	return false
}

// chooses reports whether a segment selects an entry. For a block, the labels must match as well, up to the path's
// last segment.
func (r *reach) chooses(e *Entry, segment int) bool {
	for ; ; segment++ {
		s := r.path[segment]
		if s.Kind == keyitem.Deep {
			return true
		}
		if s.Kind == keyitem.Name && (!e.Named || e.Name != s.Name) {
			return false
		}
		if !e.Value.Header || segment+1 == len(r.path) {
			return true
		}
		e = &e.Value.Entries[0]
	}
}
