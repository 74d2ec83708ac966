package keys

import (
	"cmp"
	"slices"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// A Hit is a place at which a file breaks an item.
type Hit struct {
	// At is of the value or the key; of what lacks a required key it is the key or header that leads to it, of a list
	// item the item, of a document its head.
	At      Span
	Missing bool // a required key is missing there
	Path    int  // which of the item's paths leads there, or is missing: its index
}

// Forbidden returns the places of the values that an item forbids in a file, by their offsets, each once.
func Forbidden(item *keyitem.Item, file []Document) []Hit {
	documents := (&splitter{forbidden: true}).split(file)
	where := newConditions(item)
	var hits []Hit
	for i, path := range item.Paths {
		add := func(at Span) { hits = append(hits, Hit{At: at, Path: i}) }
		w := newWalk(path)
		w.hidden, w.tagged = true, true
		if item.Asks == keyitem.Exists {
			w.entry = func(e *Entry, _ *Node) { add(e.At) }
		} else {
			w.node = func(n *Node, states uint64, _ Span, _ bool) {
				if w.ends(n, states) && forbids(item, n) {
					add(n.At)
				}
			}
		}
		for _, d := range documents {
			if !where.met(d) {
				continue
			}
			if item.Asks == keyitem.Exists && w.begin&w.end != 0 {
				add(d.root.At) // no key leads to it
			}
			w.from(d.root, d.head)
		}
	}
	return places(hits)
}

// Required returns the places at which a file lacks what an item requires, or has another value, by their offsets, each
// once.
func Required(item *keyitem.Item, file []Document) []Hit {
	narrow := len(item.Where) > 0 || len(item.Each) > 0
	documents := (&splitter{narrow: narrow}).split(file)
	if len(documents) == 0 {
		if len(item.Where) > 0 || len(item.Each) > 0 {
			return nil
		}
		var head Span
		if len(file) > 0 {
			head = file[0].Head
		}
		return []Hit{{At: head, Missing: true}}
	}
	r, where := newRequirement(item), newConditions(item)
	for _, d := range documents {
		if !where.met(d) {
			continue
		}
		if len(item.Each) == 0 {
			r.check(d.root, d.head)
			continue
		}
		r.checkEach(d.root, d.head)
	}
	return places(r.hits)
}

// conditions are those of "where", as walks that stop where one is met.
type conditions []*walk

func newConditions(item *keyitem.Item) conditions {
	var all conditions
	for _, where := range item.Where {
		w := newWalk(where.Path)
		w.hidden, w.tagged = true, true
		w.node = func(n *Node, states uint64, _ Span, _ bool) {
			w.stop = n.Tagged || n.Kind == ScalarNode &&
				(n.Scalar.Variable || states&w.end != 0 && couldBeAny(&n.Scalar, where.Values))
		}
		all = append(all, w)
	}
	return all
}

// met reports whether a document meets all conditions. What has a tag or variables, at the end of a path or on the way
// there, could be anything.
func (c conditions) met(d document) bool {
	return d.tagged || !slices.ContainsFunc(c, func(w *walk) bool {
		w.stop = false
		w.from(d.root, d.head)
		return !w.stop
	})
}

// places puts hits in the order of their places, and leaves out all but the first of each.
func places(hits []Hit) []Hit {
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.At.Start, b.At.Start) })
	return slices.CompactFunc(hits, func(a, b Hit) bool { return a.At.Start == b.At.Start })
}
