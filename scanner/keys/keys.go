package keys

import (
	"cmp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// A Hit is a place where a file violates an item.
type Hit struct {
	// At is the value or the key. If a required key is missing, it is the key or header of its parent, the list item,
	// or the document's head.
	At   Span
	Path int    // index of the item's path
	Why  Reason // of a required key
	Top  bool   // At is the document's head
}

// A Reason is why a required key is not as the item requires.
type Reason uint8

// The reasons. Forbidden items have the zero Reason.
const (
	_              Reason = iota
	Missing               // the key is missing
	PerhapsMissing        // a tag, a merge, variables or a dynamic block decide
	IsNull
	IsMapping
	IsList // an empty one
	OtherValue
	Uncertain // a value with a tag or variables, or one that parsers read differently
)

// Forbidden returns the places of an item's forbidden values in a file, by their offsets, each once.
func Forbidden(item *keyitem.Item, file []Document) []Hit {
	return reached(item, forbiddenOf(item, file), func(n *Node) bool { return forbids(item, n) })
}

func forbiddenOf(item *keyitem.Item, file []Document) []document {
	return newConditions(item.Where).concerned((&splitter{forbidden: true}).split(file))
}

// reached returns the places of the known values at a forbidden item's paths; for an item without a condition, of the
// keys.
func reached(item *keyitem.Item, documents []document, had func(n *Node) bool) []Hit {
	var hits []Hit
	asked := newConditions(item.If)
	var owner *Node // that was asked last
	holds := false
	for i, path := range item.Paths {
		w := newWalk(path)
		w.hidden, w.tagged, w.owned = true, true, len(asked) > 0
		add := func(at Span) {
			if w.owned && w.owner != owner {
				owner, holds = w.owner, asked.hold(w.owner)
			}
			if holds || !w.owned {
				hits = append(hits, Hit{At: at, Path: i})
			}
		}
		if item.Asks == keyitem.Exists {
			w.entry = func(e *Entry, _ *Node) { add(e.At) }
		} else {
			w.node = func(n *Node, states uint64, _ Span, _ bool) {
				joined := states&w.end != 0 && n.joinedIs(&item.Condition) && !slices.ContainsFunc(n.Items, had)
				if joined || w.ends(n, states) && had(n) {
					add(n.At)
				}
			}
		}
		for _, d := range documents {
			if item.Asks == keyitem.Exists && w.begin&w.end != 0 {
				w.owner = d.root
				add(d.root.At) // it has no key
			}
			w.from(d.root, d.head)
		}
	}
	return places(hits)
}

// Required returns the places where a file lacks an item's required value, or has another one, by their offsets, each
// once.
func Required(item *keyitem.Item, file []Document) []Hit {
	documents := requiredOf(item, file)
	if len(documents) == 0 {
		isEmpty := len((&splitter{narrow: narrows(item)}).split(file)) == 0
		if narrows(item) && (len(item.Each) > 0 || !isEmpty || !newConditions(item.Where).hold(&Node{})) {
			return nil
		}
		var head Span
		if len(file) > 0 {
			head = file[0].Head
		}
		return []Hit{{At: head, Why: Missing, Top: true}}
	}
	r := newRequirement(item)
	for _, d := range documents {
		if len(item.Each) > 0 {
			r.checkEach(d)
		} else if why := r.check(d.root, d.head, d.inside); why != 0 {
			r.hits = append(r.hits, Hit{At: d.head, Why: why, Top: true})
		}
	}
	return places(r.hits)
}

func narrows(item *keyitem.Item) bool { return len(item.Where) > 0 || len(item.Each) > 0 }

func requiredOf(item *keyitem.Item, file []Document) []document {
	return newConditions(item.Where).concerned((&splitter{narrow: narrows(item)}).split(file))
}

// A Reach tells how much of a file an item applies to. An item that applies to nothing is never violated.
type Reach struct {
	Where bool // a document meets the item's where, if it has one
	Found bool // there are places, if the item's if is left out
	// Places are the different places in such documents: for a forbidden item the values at its paths, or without a
	// condition their keys; for a required item the nodes at its each, or without each the documents.
	Places int
}

// Nothing explains why the item has no place; "" if it has one.
func (r Reach) Nothing(item *keyitem.Item, required bool) string {
	which := func(paths []keyitem.Path, of string) string {
		if len(paths) == 1 {
			return of
		}
		return strings.Replace(of, "this path", "any of these paths", 1)
	}
	switch {
	case r.Places > 0:
		return ""
	case len(item.Where) > 0 && !r.Where:
		return "not asked: no document meets its where"
	case r.Found:
		return "not asked: no object at its path meets its if"
	case required:
		return which(item.Each, "not asked: nothing is at this path of each")
	case item.Asks == keyitem.Exists:
		return which(item.Paths, "no key is at this path")
	}
	return which(item.Paths, "no value is at this path")
}

// ForbiddenReach returns the Reach of an item that forbids something.
func ForbiddenReach(item *keyitem.Item, file []Document) Reach {
	documents := forbiddenOf(item, file)
	all := *item
	all.If = nil
	every := func(*Node) bool { return true }
	return Reach{
		len(documents) > 0, len(reached(&all, documents, every)) > 0, len(reached(item, documents, every)),
	}
}

// RequiredReach returns the Reach of an item that requires something.
func RequiredReach(item *keyitem.Item, file []Document) Reach {
	documents, met, found := requiredOf(item, file), newConditions(item.If), false
	var asked []Hit
	for _, d := range documents {
		if len(item.Each) == 0 {
			asked = append(asked, Hit{At: d.root.At})
		}
	}
	for _, path := range item.Each {
		w := newEach(path, func(n *Node, _ Span, _ bool) {
			if found = true; met.hold(n) {
				asked = append(asked, Hit{At: n.At})
			}
		})
		for _, d := range documents {
			w.document(d)
		}
	}
	return Reach{len(documents) > 0, found, len(places(asked))}
}

// Signs show that a required item is alive in a file.
type Signs struct {
	Each []bool // for each path of the item's Each: whether it reaches a node
	Met  bool   // a document, or with Each a node, has the required value
}

// SignsOf returns a file's signs for a required item.
func SignsOf(item *keyitem.Item, file []Document) Signs {
	s := Signs{Each: make([]bool, len(item.Each))}
	meet := func(n *Node, from Span) {
		if s.Met {
			return
		}
		r := newRequirement(item) // separate: nodes can be nested
		s.Met = r.check(n, from, false) == 0 && len(r.hits) == 0
	}
	documents, asked := requiredOf(item, file), newConditions(item.If)
	for i, path := range item.Each {
		w := newEach(path, func(n *Node, from Span, inside bool) {
			if !asked.hold(n) {
				return
			}
			if s.Each[i] = true; canHave(n, inside) {
				meet(n, from)
			}
		})
		for _, d := range documents {
			w.document(d)
		}
	}
	for _, d := range documents {
		if len(item.Each) == 0 && !d.inside {
			meet(d.root, d.head)
		}
	}
	return s
}

// places sorts hits by place, and keeps the first of each place.
func places(hits []Hit) []Hit {
	order := func(a, b Hit) int { return cmp.Or(cmp.Compare(a.At.Start, b.At.Start), cmp.Compare(a.At.In, b.At.In)) }
	slices.SortStableFunc(hits, order)
	return slices.CompactFunc(hits, func(a, b Hit) bool { return order(a, b) == 0 })
}
