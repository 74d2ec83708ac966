package keys

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// A Sentence has strings, values, places, and conditions that fail. It is about the place that it begins with; one
// without is about the whole file.
type Sentence []any // of string, *Node, Span or Failing

// A Failing is a condition of an item's where or if, by its index, that does not hold.
type Failing struct {
	Clause string // "where" or "if"
	Index  int
}

// A seen is a place that an item asks.
type seen struct {
	at    Span
	node  *Node // the value; nil for a key or an object
	owner *Node // at which a condition fails
}

// Explain returns how much of a file an item applies to and, if it finds nothing, why. asked is the number of different
// places in documents that meet the item's where: for a forbidden item the values at its paths, or without a condition
// their keys; for a required item the nodes at its each, or without each the documents. An item that is checked nowhere
// is never violated.
func Explain(item *keyitem.Item, file []Document, required bool) (asked int, why []Sentence) {
	where, ifs := newConditions(item.Where), newConditions(item.If)
	s := splitter{forbidden: !required, narrow: required && narrows(item)}
	var met []document
	var left, objects, others []seen
	for _, d := range s.split(file) {
		if d.anyKind || where.hold(d.root) {
			met = append(met, d)
		} else {
			left = append(left, seen{at: d.head, owner: d.root})
		}
	}
	paths, key := item.Paths, "the key is here, but "
	var hits, all []Hit
	reaches := false // a path reaches something, whatever its if says
	if required {
		paths, key, hits = item.Each, "", Required(item, file)
		for _, d := range met {
			if len(item.Each) == 0 {
				all = append(all, Hit{At: d.root.At})
			}
		}
		for _, path := range item.Each {
			w := newEach(path, func(n *Node, from Span, _ bool) {
				if ifs.hold(n) {
					all = append(all, Hit{At: n.At})
				} else {
					objects = append(objects, seen{at: from, owner: n})
				}
			})
			for _, d := range met {
				w.document(d)
			}
		}
	} else {
		var last *Node
		had := func(n *Node) bool {
			if last = n; forbids(item, n) {
				return true
			}
			others = append(others, seen{at: n.At, node: n})
			return false
		}
		hits = reached(item, met, had, func(at Span, owner *Node) { objects = append(objects, seen{at, last, owner}) })
		every := func(*Node) bool { return true }
		all = reached(item, met, every, func(Span, *Node) { reaches = true })
	}
	if asked = len(places(all)); len(hits) > 0 {
		return asked, nil
	}
	if len(met)+len(left) == 0 {
		why = []Sentence{{"the file has no document"}}
	}
	fails := func(clause string, of conditions, all []seen, key string) {
		why = named(why, all, func(p seen) Sentence {
			is := Sentence{p.at, key}
			if p.node != nil {
				is = Sentence{p.at, "it is ", p.node, ", but "}
			}
			k := of.failing(p.owner)
			is = append(is, Failing{clause, k}, " does not hold: ")
			return append(is, follow(of[k].is.Path, []document{{root: p.owner, head: p.at}})...)
		})
	}
	fails("where", where, left, "")
	fails("if", ifs, objects, key)
	others = different(others)
	if best := extreme(&item.Condition, others); best != nil {
		why = append(why, best)
	} else {
		why = named(why, others, func(p seen) Sentence { return Sentence{p.at, "it is ", p.node} })
	}
	if len(met) > 0 && len(all)+len(objects) == 0 && !reaches {
		for _, path := range paths {
			why = append(why, follow(path, met))
		}
	}
	return asked, why
}

const maxNamed = 3

// named appends what is said of the first different places, and how many more there are.
func named(why []Sentence, all []seen, sentence func(seen) Sentence) []Sentence {
	all = different(all)
	for _, p := range all[:min(len(all), maxNamed)] {
		why = append(why, sentence(p))
	}
	if n := len(all) - maxNamed; n > 0 {
		why = append(why, Sentence{fmt.Sprintf("and %d more of these", n)})
	}
	return why
}

// different sorts places, and keeps the first of each place.
func different(all []seen) []seen {
	order := func(a, b seen) int { return cmp.Or(cmp.Compare(a.at.Start, b.at.Start), cmp.Compare(a.at.In, b.at.In)) }
	slices.SortStableFunc(all, order)
	return slices.CompactFunc(all, func(a, b seen) bool { return order(a, b) == 0 })
}

// extreme returns the largest number of the values that are not above a limit, or the smallest of those not below it.
func extreme(c *keyitem.Condition, others []seen) (best Sentence) {
	var limit keyitem.Number
	word := map[keyitem.Asks]string{keyitem.Above: "largest", keyitem.Below: "smallest"}[c.Asks]
	for _, p := range others {
		for _, n := range p.node.Scalar.numbers(c.Quantity) {
			if word != "" && (best == nil || c.Asks == keyitem.Above && limit.CouldBeBelow(n) ||
				c.Asks == keyitem.Below && limit.CouldBeAbove(n)) {
				best, limit = Sentence{p.at, "it is ", p.node}, n
			}
		}
	}
	if best != nil && len(others) > 1 {
		best = append(best, fmt.Sprintf(", the %s of %d values", word, len(others)))
	}
	return best
}

// follow describes what a path reaches in documents, or else what its longest part does, and the key missing there.
func follow(path keyitem.Path, documents []document) (is Sentence) {
	rest := path
	for taken := len(path); is == nil && taken > 0; taken-- {
		if taken < len(path) && path[taken-1].Kind == keyitem.Deep {
			continue // it is all below the part before
		}
		all, before := different(valuesAt(path[:taken], documents)), "it is "
		if taken < len(path) {
			before = path[:taken].String() + " is "
		}
		for _, p := range all[:min(len(all), maxNamed)] {
			is, before, rest = append(is, before, p.node, " (", p.at, ")"), ", ", path[taken:]
		}
		if n := len(all) - maxNamed; n > 0 {
			is = append(is, fmt.Sprintf(" and %d more", n))
		}
	}
	if len(rest) == 0 {
		return is
	}
	if rest[0].Kind == keyitem.Deep && len(rest) > 1 {
		rest = rest[1:]
	}
	if is == nil {
		return Sentence{"there is no key " + rest[:1].String()}
	}
	return append(is, ", without a key "+rest[:1].String())
}

// valuesAt returns the values at a path.
func valuesAt(path keyitem.Path, documents []document) (all []seen) {
	w := newWalk(path)
	w.hidden, w.tagged = true, true
	w.node = func(n *Node, states uint64, from Span, _ bool) {
		if at := n.At; w.ends(n, states) {
			if n.Kind == Mapping {
				at = from
			}
			all = append(all, seen{at: at, node: n})
		}
	}
	for _, d := range documents {
		w.from(d.root, d.head)
	}
	return all
}
