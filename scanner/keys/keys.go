package keys

import (
	"slices"

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
	return reached(item, forbiddenOf(item, file), func(n *Node) bool { return forbids(item, n) }, nil)
}

func forbiddenOf(item *keyitem.Item, file []Document) []document {
	return newConditions(item.Where).concerned((&splitter{forbidden: true}).split(file))
}

// reached returns the places of the known values at a forbidden item's paths; for an item without a condition, of the
// keys. left, unless it is nil, is called with the places at whose owners its if does not hold.
func reached(
	item *keyitem.Item, documents []document, had func(n *Node) bool, left func(at Span, owner *Node),
) []Hit {
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
			} else if left != nil {
				left(at, w.owner)
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
	order := func(a, b Hit) int { return a.At.compare(b.At) }
	slices.SortStableFunc(hits, order)
	return slices.CompactFunc(hits, func(a, b Hit) bool { return order(a, b) == 0 })
}
