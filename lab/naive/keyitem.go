package naive

import (
	"cmp"
	"regexp"
	"slices"
)

// A KeyItem is an item with a key.
type KeyItem struct {
	Each, Key []Path
	Where     []Condition
	Is        []Value // with any of them, and so on; nil if it is not asked
	IsNot     []Value
	Matches   *Expression
	NoMatch   *Expression // matches_not
	Format    string
}

// An Expression matches in the lines of a text, or in all of it.
type Expression struct {
	*regexp.Regexp
	Whole bool
}

// parts are the texts in which the expression matches.
func (e *Expression) parts(text string) []string {
	if e.Whole {
		return []string{text}
	}
	return linesOf(text)
}

// A Condition is a path of where, and its values.
type Condition struct {
	Path   Path
	Values []Value
}

// A Path is how to get to a value.
type Path []Segment

// A Segment is a step of a path.
type Segment struct {
	Kind SegmentKind
	Text string
}

// A SegmentKind is what a segment matches.
type SegmentKind string

const (
	literal   SegmentKind = "key"
	anyOne    SegmentKind = "*"
	anyNumber SegmentKind = "**"
)

func (s Segment) matches(e *Entry) bool {
	return s.Kind == anyOne || s.Kind == literal && !e.Any && s.Text == e.Key
}

// A spot is where an item is broken.
type spot struct {
	at      int
	missing bool
}

// tidy sorts places, each once, also if a value there is wrong and lacks a key itself.
func tidy(places []spot) []spot {
	slices.SortFunc(places, func(a, b spot) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(places, func(a, b spot) bool { return a.at == b.at })
}

// conditional reports whether the item asks for values, not only for the key.
func (k *KeyItem) conditional() bool {
	return k.Is != nil || k.IsNot != nil || k.Matches != nil || k.NoMatch != nil
}

// concerns reports whether the item is about a document.
func (k *KeyItem) concerns(d Document) bool {
	return d.Open || !slices.ContainsFunc(k.Where, func(c Condition) bool { return !c.holds(d.Root, c.Path) })
}

// holds reports whether the path reaches one of the values, or what may be anything is there or on the way.
func (c Condition) holds(n *Node, path Path) bool {
	if n.Tagged || n.Kind == ScalarNode && n.Scalar.Open {
		return true
	}
	if len(path) == 0 {
		found := false
		values(n, true, func(v *Node) {
			found = found || v.Tagged || v.Kind == ScalarNode && (v.Scalar.Open || anyCouldBe(v.Scalar, c.Values))
		})
		return found
	}
	if n.Kind == ListNode {
		return slices.ContainsFunc(n.Items, func(item *Node) bool { return c.holds(item, path) })
	}
	if path[0].Kind == anyNumber && c.holds(n, path[1:]) {
		return true
	}
	return slices.ContainsFunc(n.Entries, func(e Entry) bool {
		if path[0].Kind == anyNumber {
			return c.holds(e.Value, path)
		}
		return path[0].matches(&e) && c.holds(e.Value, path[1:])
	})
}

func anyCouldBe(s Scalar, list []Value) bool { return slices.ContainsFunc(list, s.couldBe) }

// forbiddenIn returns the places of what the item forbids.
func (k *KeyItem) forbiddenIn(documents []Document) []spot {
	var found []spot
	for _, d := range (splitting{}).split(documents) {
		if !k.concerns(d) {
			continue
		}
		for _, path := range k.Key {
			reach(d.Root, nil, path, func(r reached) {
				if !k.conditional() {
					if r.entry != nil {
						found = append(found, spot{at: r.entry.At})
					}
					return
				}
				values(r.node, true, func(v *Node) {
					if k.forbids(v) {
						found = append(found, spot{at: v.At})
					}
				})
			})
		}
	}
	return tidy(found)
}

// forbids reports whether a value is one that the item forbids.
func (k *KeyItem) forbids(v *Node) bool {
	one := v.Kind == ScalarNode
	switch {
	case k.Is != nil:
		return one && anyCouldBe(v.Scalar, k.Is)
	case k.IsNot != nil:
		return !one || !slices.ContainsFunc(k.IsNot, v.Scalar.certainly)
	case k.Matches != nil:
		return one && slices.ContainsFunc(v.Scalar.Texts, func(text string) bool {
			return slices.ContainsFunc(k.Matches.parts(text), k.Matches.MatchString)
		})
	}
	return !one || !k.NoMatch.all(v.Scalar)
}

// all reports whether a value is certain, and matches in all that a required matches and matches_not ask.
func (e *Expression) all(s Scalar) bool {
	return s.Exact.Kind != noKind &&
		!slices.ContainsFunc(e.parts(s.Asked), func(part string) bool { return !e.MatchString(part) })
}

// requiredIn returns the places where what the item requires is not.
func (k *KeyItem) requiredIn(documents []Document) []spot {
	var broken []spot
	all := splitting{required: true, narrow: k.Where != nil || k.Each != nil}.split(documents)
	if len(all) == 0 {
		all = []Document{{Root: &Node{Kind: NullNode}, Head: -1}}
	}
	for _, d := range all {
		if !k.concerns(d) {
			continue
		}
		whole := parent{d.Root, d.Head, d.Tagged, false}
		if k.Each == nil {
			broken = append(broken, k.lackedBy(whole)...)
			continue
		}
		for _, path := range k.Each {
			for _, p := range nodesAt(whole, path) {
				broken = append(broken, k.lackedBy(p)...)
			}
		}
	}
	return tidy(broken)
}

// lackedBy returns what one node lacks.
func (k *KeyItem) lackedBy(p parent) []spot {
	var broken, first []spot
	whole := false
	for i, path := range k.Key {
		n := need{item: k}
		p.unsure = false
		if p.tagged || k.Each != nil && (p.node.Tagged || p.node.Kind != MappingNode) {
			n.gap(p)
		} else {
			n.ask(p, path)
		}
		broken = append(broken, n.wrong...)
		whole = whole || len(n.gaps) == 0
		if i == 0 {
			first = n.gaps
		}
	}
	if !whole {
		broken = append(broken, first...)
	}
	return broken
}

// A parent is a node that has to have a key, and where it is said to lack one: at what introduces it.
type parent struct {
	node   *Node
	place  int
	tagged bool // it is inside a list or mapping with a tag
	unsure bool // it is inside what may never exist
}

// in is the value of an entry as a parent.
func (p parent) in(e *Entry) parent {
	return parent{e.Value, e.At, p.tagged || p.node.Tagged, p.unsure || e.Unsure}
}

// item is an item of a list as a parent.
func (p parent) item(n *Node) parent { return parent{n, n.At, p.tagged || p.node.Tagged, p.unsure} }

// nodesAt are the nodes of each: those at the path, a list standing for its items if it has no tag. They are looked
// for broadly.
func nodesAt(p parent, path Path) []parent {
	var all []parent
	if p.node.Kind == ListNode && !(p.node.Tagged && len(path) == 0) {
		for _, item := range p.node.Items {
			all = append(all, nodesAt(p.item(item), path)...)
		}
		return all
	}
	if len(path) == 0 {
		return []parent{p}
	}
	if path[0].Kind == anyNumber {
		all = nodesAt(p, path[1:])
	}
	for i := range p.node.Entries {
		e := &p.node.Entries[i]
		switch {
		case e.Hidden:
		case path[0].Kind == anyNumber:
			all = append(all, nodesAt(p.in(e), path)...)
		case path[0].matches(e):
			all = append(all, nodesAt(p.in(e), path[1:])...)
		}
	}
	return all
}

// A need is one path of a required item in one node.
type need struct {
	item        *KeyItem
	gaps, wrong []spot // what reaches nothing; values that are not equal
}

func (n *need) gap(p parent) { n.gaps = append(n.gaps, spot{at: p.place, missing: true}) }

// ask looks for the path in a node, and all of it has to be there.
func (n *need) ask(p parent, path Path) {
	tagged := p.tagged || p.node.Tagged
	switch {
	case p.node.Kind == ListNode && len(p.node.Items) > 0 && !tagged:
		for _, item := range p.node.Items {
			n.ask(p.item(item), path)
		}
	case path[0].Kind == anyNumber:
		before, sure := len(n.gaps), false
		for _, q := range having(p, path[1:]) {
			sure = sure || q.unsure == p.unsure
			n.ask(q, path[1:])
		}
		if !sure && len(n.gaps) == before {
			n.gap(p)
		}
	case p.node.Kind != MappingNode || tagged:
		n.gap(p)
	default:
		before, sure := len(n.gaps), false
		for _, e := range chosen(p.node, path) {
			sure = sure || !e.Unsure
			if len(path) > 1 {
				n.ask(p.in(e), path[1:])
			} else {
				n.end(e)
			}
		}
		if !sure && len(n.gaps) == before {
			n.gap(p)
		}
	}
}

// end judges what a key has.
func (n *need) end(e *Entry) {
	if !n.item.conditional() {
		if e.Value.Kind == NullNode {
			n.wrong = append(n.wrong, spot{at: e.At})
		}
		return
	}
	values(e.Value, false, func(v *Node) {
		if !n.accepts(v) {
			n.wrong = append(n.wrong, spot{at: v.At})
		}
	})
}

func (n *need) accepts(v *Node) bool {
	switch {
	case v.Kind != ScalarNode:
		return false
	case n.item.Is != nil:
		return slices.ContainsFunc(n.item.Is, v.Scalar.Exact.is)
	}
	return n.item.Matches.all(v.Scalar)
}

// having are the nodes, at any depth, that have the first segment of the path.
func having(p parent, path Path) []parent {
	var all []parent
	if len(chosen(p.node, path)) > 0 {
		all = append(all, p)
	}
	for _, item := range p.node.Items {
		all = append(all, having(p.item(item), path)...)
	}
	for i := range p.node.Entries {
		if e := &p.node.Entries[i]; !e.Hidden {
			all = append(all, having(p.in(e), path)...)
		}
	}
	return all
}

// chosen are the entries that the first segment means. A block is meant by its type and labels together.
func chosen(n *Node, path Path) []*Entry {
	var all []*Entry
	for i := range n.Entries {
		if e := &n.Entries[i]; !e.Hidden && path[0].matches(e) && labelled(e.Value, path[1:]) {
			all = append(all, e)
		}
	}
	return all
}

// labelled reports whether the path, behind the type of a block, goes along with its labels.
func labelled(n *Node, path Path) bool {
	if !n.Label || len(path) == 0 || path[0].Kind == anyNumber {
		return true
	}
	return path[0].matches(&n.Entries[0]) && labelled(n.Entries[0].Value, path[1:])
}
