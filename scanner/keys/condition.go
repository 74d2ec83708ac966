package keys

import (
	"slices"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// conditions are those of a where or an if. All must hold.
type conditions []*condition

// A condition could hold for any value that is uncertain. A key that occurs twice, or that a merge hides, has either
// value.
type condition struct {
	is    *keyitem.At
	steps *walk
	known map[reachedNode]answer // of nodes with several ways to them
}

// An answer is what a path reaches from a node.
type answer struct {
	could bool // a value for which the condition could hold, or an uncertain one
	sure  bool // a value, whichever of several keys of one name counts; for Missing one that is not null
}

type reachedNode struct {
	node         *Node
	states, into uint64
}

func newConditions(all []keyitem.At) conditions {
	var c conditions
	for i := range all {
		c = append(c, &condition{&all[i], newWalk(all[i].Path), nil})
	}
	return c
}

// hold reports whether the conditions could hold at a node, at which their paths begin.
func (c conditions) hold(n *Node) bool { return c.failing(n) < 0 }

// failing returns the index of the first condition that cannot hold at a node; -1 if all could.
func (c conditions) failing(n *Node) int {
	return slices.IndexFunc(c, func(c *condition) bool { return !c.holds(n) })
}

// concerned returns the documents for which the conditions could hold.
func (c conditions) concerned(documents []document) []document {
	return slices.DeleteFunc(documents, func(d document) bool { return !d.anyKind && !c.hold(d.root) })
}

func (c *condition) holds(n *Node) bool {
	a := c.ask(n, c.steps.begin, 0)
	switch c.is.Asks {
	case keyitem.IsNot, keyitem.MatchesNot, keyitem.Missing:
		return a.could || !a.sure
	}
	return a.could
}

// ask follows the path from a node that it reaches in some states, as [walk.visit] does.
func (c *condition) ask(n *Node, states, into uint64) (a answer) {
	if states == 0 {
		return a
	}
	// What jsonencode is given is looked into instead, if the path may.
	encoded := n.Inside != nil && n.Inside.At.In == 0 && states&^into == 0 && states&c.steps.end == 0
	if n.Dynamic || n.uncertain() && !encoded {
		return answer{true, true}
	}
	at := reachedNode{n, states, into}
	if known, ok := c.known[at]; ok {
		return known
	}
	if states&c.steps.end != 0 {
		a = c.value(n)
	}
	for _, item := range n.Items {
		a = a.or(c.ask(item, states, into))
	}
	if n.Inside != nil {
		a = a.or(c.ask(n.Inside, c.steps.inText(into), c.steps.inText(into)))
	}
	if len(n.Entries) > 0 {
		a = a.or(c.entries(n, states))
	}
	if n.Shared || n.Parted {
		if c.known == nil {
			c.known = map[reachedNode]answer{}
		}
		c.known[at] = a
	}
	return a
}

// value answers for a node at the end of the path.
func (c *condition) value(n *Node) answer {
	hasItems := n.Kind == List && len(n.Items) > 0
	switch c.is.Asks {
	case keyitem.Present:
		return answer{could: n.Kind != Null}
	case keyitem.Missing:
		return answer{sure: n.Kind != Null && n.Kind != List}
	}
	return answer{could: n.joinedIs(&c.is.Condition) || !hasItems && couldHold(&c.is.Condition, n), sure: !hasItems}
}

// entries answers for the entries of a mapping. A key with variables may be any, and any other one a second time.
func (c *condition) entries(n *Node, states uint64) (a answer) {
	type named struct {
		answer
		name    string
		visible bool // not only hidden entries have the name
	}
	var first named
	found := false
	var others map[string]named               // the names after the first
	open, isOpen := answer{sure: true}, false // of the keys with variables
	for i := range n.Entries {
		e := &n.Entries[i]
		into := c.steps.into(states, e)
		next := into | c.steps.skipping(states&c.steps.deep)
		o := named{name: e.Name, visible: !e.Hidden}
		switch {
		case e.Unsure && !e.Named:
			isOpen, o.answer = true, c.anyKey(e.Value, states)
			open = answer{open.could || o.could, open.sure && o.sure}
			continue
		case next == 0:
			continue
		case e.Unsure: // a dynamic block
			o.answer = answer{true, true}
		default:
			o.answer = c.ask(e.Value, next, into)
		}
		if n.Body || !e.Named {
			a = a.or(o.answer)
			continue
		}
		isFirst := !found || first.name == o.name
		before, again := others[o.name]
		if isFirst && found {
			before, again = first, true
		}
		if again { // one key twice
			o.could, o.sure, o.visible = before.could || o.could, before.sure && o.sure, before.visible || o.visible
		}
		switch {
		case isFirst:
			first, found = o, true
		case others == nil:
			others = map[string]named{o.name: o}
		default:
			others[o.name] = o
		}
	}
	every := isOpen && states&c.steps.named == 0 // all keys are reached, whatever their names
	add := func(o named) {
		o.sure = o.sure && o.visible
		every = every && o.sure
		a = a.or(answer{o.could, o.sure && open.sure})
	}
	if found {
		add(first)
	}
	for _, o := range others {
		add(o)
	}
	return a.or(answer{open.could, every && open.sure})
}

// anyKey answers for the value of a key that may be any segment of the path.
func (c *condition) anyKey(n *Node, states uint64) answer {
	states &^= c.steps.end
	into := c.steps.skipping(states &^ c.steps.deep << 1)
	a := c.ask(n, into|c.steps.skipping(states&c.steps.deep), into)
	a.sure = a.sure && states&(states-1) == 0 // not only in one of several places
	return a
}

func (a answer) or(b answer) answer { return answer{a.could || b.could, a.sure || b.sure} }
