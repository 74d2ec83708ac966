package keys

import "github.com/policyscan/policyscan/rules/keyitem"

// An anyCheck finds out whether a path reaches at least one value that is as an item requires. Of a key that occurs
// twice each value must be so, or lead to one; an HCL block that may not exist has none.
type anyCheck struct {
	item  *keyitem.Item
	path  int
	steps *walk
	known map[reachedNode]bool // of nodes with several ways to them
	first *Node                // the reached value with the lowest offset
}

// checkAny checks a node for one value as required, and returns why it lacks any; 0 if it has one, or if a value that
// is not as required is the place.
func (r *requirement) checkAny(n *Node) Reason {
	var first *Node
	path := 0
	for _, a := range r.any {
		a.first = nil
		clear(a.known)
		if a.in(n, a.steps.begin, 0) {
			return 0
		}
		if a.first != nil && (first == nil || a.first.At.compare(first.At) < 0) {
			first, path = a.first, a.path
		}
	}
	if first == nil {
		return whyMissing(n.uncertain())
	}
	r.hits = append(r.hits, Hit{At: first.At, Path: path, Why: whyOther(first)})
	return 0
}

// in looks for the value in a node that the path reaches in some states, as [walk.visit] does.
func (a *anyCheck) in(n *Node, states, into uint64) (found bool) {
	if states == 0 {
		return false
	}
	if a.steps.ends(n, states) {
		if a.first == nil || n.At.compare(a.first.At) < 0 {
			a.first = n
		}
		if satisfies(&a.item.Condition, n) && !n.Unsure {
			return true
		}
	}
	if n.Inside != nil {
		return a.in(n.Inside, a.steps.inText(into), a.steps.inText(into))
	}
	if n.Kind != Mapping && n.Kind != List || n.Tagged {
		return false
	}
	at := reachedNode{n, states, into}
	if known, ok := a.known[at]; ok {
		return known
	}
	for _, item := range n.Items {
		found = a.in(item, states, into) || found
	}
	names := map[string]bool{}
	for i := range n.Entries {
		e := &n.Entries[i]
		into := a.steps.into(states, e)
		next := into | a.steps.skipping(states&a.steps.deep)
		if next == 0 || e.Hidden {
			continue
		}
		has := a.in(e.Value, next, into) && !e.Unsure
		if before, again := names[e.Name]; again && e.Named && !n.Body {
			has = has && before
		} else if again || !e.Named {
			found = found || has
			continue
		}
		names[e.Name] = has
	}
	for _, has := range names {
		found = found || has
	}
	if n.Shared || n.Parted {
		a.known[at] = found
	}
	return found
}
