package naive

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A KeyItem is an item with a key.
type KeyItem struct {
	Each, Key []Path
	Where, If []Condition
	Question
	Any    bool
	Format string
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

// A Condition is a path of where or if, and what must hold there.
type Condition struct {
	Path Path
	Question
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

// A spot is where an item is broken. What stands in one text or one instruction has one place, and a sub each.
type spot struct {
	at  int
	sub string
}

// tidy sorts places, each once, also if a value there is wrong and lacks a key itself.
func tidy(places []spot) []spot {
	slices.SortFunc(places, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.at, b.at), slices.Compare(a.numbers(), b.numbers()))
	})
	return slices.Compact(places)
}

// numbers are those in the sub, the offsets in texts within each other.
func (s spot) numbers() (all []int) {
	for _, part := range strings.FieldsFunc(s.sub, func(r rune) bool { return r == '/' }) {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}

func (n *Node) spot() spot { return spot{n.At, n.Sub} }

// An asking is an item and a file.
type asking struct {
	*KeyItem
	limited bool // a path went on into one text too many, or a text is too deep
}

// brokenIn returns the places of what the item forbids, or where what it requires is not; limited says that it could
// not be asked.
func (k *KeyItem) brokenIn(documents []Document, required bool) (places []spot, limited bool) {
	a := &asking{KeyItem: k}
	if required {
		places = a.requiredIn(documents)
	} else {
		places = a.forbiddenIn(documents)
	}
	if a.limited {
		return nil, true
	}
	return places, false
}

// forbiddenIn returns the places of what the item forbids.
func (a *asking) forbiddenIn(documents []Document) []spot {
	var found []spot
	for _, d := range (splitting{}).split(documents) {
		if !a.concerns(d) {
			continue
		}
		for _, path := range a.Key {
			a.reach(step{node: d.Root}, path, func(s step) {
				start := s
				if s.owner != nil {
					start = *s.owner
				}
				if a.holdAll(a.If, start) {
					found = append(found, a.forbiddenAt(s)...)
				}
			})
		}
	}
	return tidy(found)
}

// forbiddenAt returns the places of what the item forbids at the end of a path.
func (a *asking) forbiddenAt(s step) []spot {
	var found []spot
	if a.Form == "" {
		if s.entry != nil {
			found = append(found, spot{s.entry.At, s.entry.Sub})
			for _, at := range s.entry.Also {
				found = append(found, spot{at, s.entry.Sub})
			}
		}
		return found
	}
	values(s.node, true, func(v *Node) {
		if a.forbids(v) {
			found = append(found, v.spot())
		}
	})
	if len(found) == 0 && a.couldBeAny(s.node) {
		found = append(found, s.node.spot())
	}
	return found
}

// requiredIn returns the places where what the item requires is not.
func (a *asking) requiredIn(documents []Document) []spot {
	var broken []spot
	all := splitting{required: true, narrow: a.Where != nil || a.Each != nil}.split(documents)
	if len(all) == 0 {
		all = []Document{{Root: &Node{Kind: NullNode}, Head: -1}}
	}
	for _, d := range all {
		if !a.concerns(d) {
			continue
		}
		whole := parent{step: step{node: d.Root}, place: spot{at: d.Head}, tagged: d.Tagged}
		if a.Each == nil {
			broken = append(broken, a.lackedBy(whole)...)
			continue
		}
		for _, path := range a.Each {
			for _, p := range a.nodesAt(whole, path) {
				if a.holdAll(a.If, p.step) {
					broken = append(broken, a.lackedBy(p)...)
				}
			}
		}
	}
	return tidy(broken)
}

// lackedBy returns what one node lacks.
func (a *asking) lackedBy(p parent) []spot {
	var broken, first []spot
	whole := false
	p.unsure = p.absent && a.Any
	if p.tagged || a.Each != nil && (p.node.Tagged || p.node.Kind != MappingNode) {
		return []spot{p.place}
	}
	if a.Any {
		return a.anyLackedBy(p)
	}
	for i, path := range a.Key {
		n := need{asking: a}
		n.ask(p, path)
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
	step
	place  spot
	tagged bool // it is inside a list or mapping with a tag
	unsure bool // it is inside what may never exist
	absent bool // by a dynamic block
}

// to is the value of an entry as a parent.
func (p parent) to(e *Entry, named bool) parent {
	absent := p.absent || e.Dynamic && e.Unsure
	return parent{p.into(e, named), spot{e.At, e.Sub}, p.tagged || p.node.Tagged, p.unsure || e.Unsure, absent}
}

// of is an item of a list as a parent.
func (p parent) of(n *Node) parent {
	return parent{p.item(n), n.spot(), p.tagged || p.node.Tagged, p.unsure, p.absent}
}

// within is what is in a text as a parent. All of it has the place of the text.
func (p parent) within(s step) parent {
	return parent{s, s.node.spot(), p.tagged || p.node.Tagged, p.unsure, p.absent}
}

// nodesAt are the nodes of each: those at the path, a list standing for its items if it has no tag. They are looked
// for broadly.
func (a *asking) nodesAt(p parent, path Path) []parent {
	var all []parent
	if inner, ok := a.inside(p.step); ok {
		if all = a.nodesAt(p.within(inner), path); len(path) == 0 {
			return all
		}
	}
	if p.node.Kind == ListNode && !(p.node.Tagged && len(path) == 0) {
		for _, item := range p.node.Items {
			all = append(all, a.nodesAt(p.of(item), path)...)
		}
		return all
	}
	if len(path) == 0 {
		return []parent{p}
	}
	if path[0].Kind == anyNumber {
		all = append(all, a.nodesAt(p, path[1:])...)
	}
	for i := range p.node.Entries {
		e := &p.node.Entries[i]
		switch {
		case e.Hidden:
		case path[0].Kind == anyNumber:
			all = append(all, a.nodesAt(p.to(e, false), path)...)
		case path[0].matches(e):
			all = append(all, a.nodesAt(p.to(e, true), path[1:])...)
		}
	}
	return all
}

// A need is one path of a required item in one node.
type need struct {
	*asking
	gaps, wrong []spot // what reaches nothing; values that are not equal
}

func (n *need) gap(p parent) { n.gaps = append(n.gaps, p.place) }

// ask looks for the path in a node, and all of it has to be there.
func (n *need) ask(p parent, path Path) {
	tagged := p.tagged || p.node.Tagged
	if !tagged {
		if inner, ok := n.inside(p.step); ok {
			p = p.within(inner)
		}
	}
	switch {
	case p.node.Kind == ListNode && len(p.node.Items) > 0 && !tagged:
		for _, item := range p.node.Items {
			n.ask(p.of(item), path)
		}
	case path[0].Kind == anyNumber:
		before, sure := len(n.gaps), false
		p.unsure = false // what is above does not matter
		for _, q := range having(p, path[1:]) {
			sure = sure || !q.unsure
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
				n.ask(p.to(e, true), path[1:])
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
	if n.Form == "" {
		if e.Value.Kind == NullNode {
			n.wrong = append(n.wrong, spot{e.At, e.Sub})
		}
		return
	}
	values(e.Value, false, func(v *Node) {
		if !n.accepts(v) {
			n.wrong = append(n.wrong, v.spot())
		}
	})
}

// having are the nodes, at any depth, that have the first segment of the path.
func having(p parent, path Path) []parent {
	var all []parent
	if len(chosen(p.node, path)) > 0 {
		all = append(all, p)
	}
	for _, item := range p.node.Items {
		all = append(all, having(p.of(item), path)...)
	}
	for i := range p.node.Entries {
		if e := &p.node.Entries[i]; !e.Hidden {
			all = append(all, having(p.to(e, false), path)...)
		}
	}
	return all
}

// anyLackedBy is where a node lacks an equal value of any path: at the first value, else at what introduces the node.
func (a *asking) anyLackedBy(p parent) []spot {
	var reached []spot
	equal := func(path Path) bool { return a.hasEqual(p, []way{{path, p.named}}, &reached) }
	switch {
	case slices.ContainsFunc(a.Key, equal):
		return nil
	case len(reached) == 0:
		return []spot{p.place}
	}
	return tidy(reached)[:1]
}

// hasEqual reports whether one of the ways leads to an equal value, whichever of a key's occurrences counts. It adds
// the places of all values.
func (a *asking) hasEqual(p parent, ways []way, reached *[]spot) bool {
	ended, more, named := split(ways)
	has := false
	if ended {
		values(p.node, false, func(v *Node) {
			*reached = append(*reached, v.spot())
			has = has || !p.unsure && !p.tagged && a.accepts(v)
		})
	}
	if p.node.Tagged || p.tagged || len(more) == 0 {
		return has
	}
	p.named = len(named) > 0
	if inner, ok := a.inside(p.step); ok {
		has = a.hasEqual(p.within(inner), named, reached) || has
	}
	for _, item := range p.node.Items {
		has = a.hasEqual(p.of(item), more, reached) || has
	}
	for _, key := range groups(p.node) {
		all, none := true, true
		for _, e := range key {
			if !e.Hidden {
				none = false
				all = a.hasEqual(p.to(e, false), along(more, e), reached) && all
			}
		}
		has = has || all && !none
	}
	return has
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
