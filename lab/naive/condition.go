package naive

import "slices"

// A step is a node on a path.
type step struct {
	node    *Node
	entry   *Entry // the key that led there; nil for a document
	owner   *step  // the mapping that has the key, or the body that has the header of the block
	named   bool   // a segment other than ** stands for the key
	texts   int    // how many texts it is in
	dynamic bool   // it is in a dynamic block
}

// into is the value of an entry.
func (s step) into(e *Entry, named bool) step {
	owner := &s
	if s.node.Label {
		owner = s.owner
	}
	return step{e.Value, e, owner, named, s.texts, s.dynamic || e.Dynamic}
}

// item is an item of a list, which is transparent.
func (s step) item(n *Node) step {
	s.node = n
	return s
}

// inside is what is in the text that the step is at, if the path may look into it.
func (a *asking) inside(s step) (step, bool) {
	inner, tooDeep := inside(s.node)
	if !s.named || inner == nil && !tooDeep {
		return s, false
	}
	if s.node.Encoded == nil {
		s.texts++
	}
	if tooDeep || s.texts > 3 {
		a.limited = true
		return s, false
	}
	return step{inner, s.entry, s.owner, s.named, s.texts, s.dynamic}, true
}

// reach calls visit for each node to which the path leads, lists being transparent on the way.
func (a *asking) reach(s step, path Path, visit func(step)) {
	if len(path) == 0 {
		visit(s)
		return
	}
	if inner, ok := a.inside(s); ok {
		a.reach(inner, path, visit)
	}
	rest := path[0].Kind == anyNumber
	if s.node.Kind == ListNode {
		for _, item := range s.node.Items {
			a.reach(s.item(item), path, visit)
		}
		if rest && s.node.Joined != nil {
			a.reach(s, path[1:], visit)
		}
		return
	}
	if rest {
		a.reach(s, path[1:], visit)
	}
	for i := range s.node.Entries {
		e := &s.node.Entries[i]
		switch {
		case rest:
			a.reach(s.into(e, false), path, visit)
		case path[0].matches(e):
			a.reach(s.into(e, true), path[1:], visit)
		}
	}
}

// concerns reports whether the item is about a document.
func (a *asking) concerns(d Document) bool { return d.Open || a.holdAll(a.Where, step{node: d.Root}) }

func (a *asking) holdAll(conditions []Condition, s step) bool {
	return !slices.ContainsFunc(conditions, func(c Condition) bool { return !a.holds(c, s) })
}

// holds reports whether a condition could hold of a document, or of the mapping at which if begins.
func (a *asking) holds(c Condition, s step) bool {
	switch c.Form {
	case "is_not", "matches_not", "missing":
		return a.outcomes(c, s, []way{{c.Path, s.named}})&(nothing|holding) != 0
	}
	return a.some(c, s, c.Path)
}

// uncertain reports whether what stands there, or, if the path goes on, below it, may be anything. What jsonencode is
// given is looked into instead.
func (s step) uncertain(more bool) bool {
	open := s.node.Kind == ScalarNode && s.node.Scalar.Open && !(more && s.named && s.node.Encoded != nil)
	return s.dynamic || s.node.Tagged || open
}

// some reports whether the path reaches a value that could be what the condition says.
func (a *asking) some(c Condition, s step, path Path) bool {
	if s.uncertain(len(path) > 0) {
		return true
	}
	if len(path) == 0 {
		uncertain := false
		values(s.node, true, func(v *Node) { uncertain = uncertain || s.item(v).uncertain(false) })
		return uncertain || c.Form == "present" && s.node.Kind != NullNode || c.couldBeAny(s.node)
	}
	if inner, ok := a.inside(s); ok && a.some(c, inner, path) {
		return true
	}
	rest := path[0].Kind == anyNumber
	return rest && a.some(c, s, path[1:]) ||
		slices.ContainsFunc(s.node.Items, func(item *Node) bool { return a.some(c, s.item(item), path) }) ||
		slices.ContainsFunc(s.node.Entries, func(e Entry) bool {
			if rest {
				return a.some(c, s.into(&e, false), path)
			}
			return (path[0].matches(&e) || e.mayBeAny()) && a.some(c, s.into(&e, true), path[1:])
		})
}

// A way is what is left of a path at a node, and whether a segment other than ** stands for the key that led there.
type way struct {
	path  Path
	named bool
}

// split reports whether a way ends here, and returns the ways that go on, and of them the ways that look into a text.
func split(ways []way) (ended bool, more, named []way) {
	for i := 0; i < len(ways); i++ {
		w := ways[i]
		if len(w.path) == 0 {
			ended = true
			continue
		}
		if w.path[0].Kind == anyNumber {
			ways = append(slices.Clip(ways), way{w.path[1:], w.named})
		}
		if more = append(more, w); w.named {
			named = append(named, w)
		}
	}
	return ended, more, named
}

// along are the ways that go on through an entry.
func along(ways []way, e *Entry) []way {
	var next []way
	for _, w := range ways {
		switch {
		case w.path[0].Kind == anyNumber:
			next = append(next, way{w.path, false})
		case w.path[0].matches(e):
			next = append(next, way{w.path[1:], true})
		}
	}
	return next
}

// mayBeAny reports whether the key has variables: for a condition it may be any.
func (e *Entry) mayBeAny() bool { return e.Any && e.Unsure }

// groups are the entries of a mapping, those together that are one key: a key that occurs twice, or that a merge hides.
func groups(n *Node) [][]*Entry {
	var all [][]*Entry
	for i := range n.Entries {
		e := &n.Entries[i]
		same := slices.IndexFunc(all, func(key []*Entry) bool {
			return key[0].Key == e.Key && !e.Any && !key[0].Any && !e.Block && !key[0].Block
		})
		if same < 0 {
			all = append(all, nil)
			same = len(all) - 1
		}
		all[same] = append(all[same], e)
	}
	return all
}

// Outcomes are what is_not, matches_not or missing can come to below a node, which depends on the occurrence of a key
// that counts.
type outcomes uint8

const (
	nothing outcomes = 1 << iota // no value is reached, or only null
	refused                      // all that is reached is so that the condition does not hold
	holding                      // something is reached that makes it hold
)

// and are the outcomes of two parts together.
func (o outcomes) and(other outcomes) outcomes {
	var both outcomes
	for _, x := range []outcomes{nothing, refused, holding} {
		for _, y := range []outcomes{nothing, refused, holding} {
			if o&x != 0 && other&y != 0 {
				both |= max(x, y)
			}
		}
	}
	return both
}

func (a *asking) outcomes(c Condition, s step, ways []way) outcomes {
	ended, more, named := split(ways)
	s.named = len(named) == len(more)
	if s.uncertain(!ended) {
		return holding
	}
	o := nothing
	if ended {
		o = c.end(s)
	}
	if s.named = len(named) > 0; s.named {
		if inner, ok := a.inside(s); ok {
			o = o.and(a.outcomes(c, inner, named))
		}
	}
	for _, item := range s.node.Items {
		if len(more) > 0 {
			o = o.and(a.outcomes(c, s.item(item), more))
		}
	}
	open, isOpen := a.open(c, s, more)
	every := isOpen && !slices.ContainsFunc(more, func(w way) bool { return w.path[0].Kind == literal })
	for _, key := range groups(s.node) {
		if key[0].mayBeAny() {
			continue
		}
		var one outcomes
		for _, e := range key {
			if next := along(more, e); len(next) == 0 {
				one |= nothing
			} else {
				one |= a.outcomes(c, s.into(e, false), next)
			}
		}
		if !slices.ContainsFunc(key, func(e *Entry) bool { return !e.Hidden }) {
			one |= nothing
		}
		every = every && one&nothing == 0
		o = o.and(one | open)
	}
	switch {
	case every:
		o = o.and(open)
	case isOpen:
		o = o.and(open | nothing)
	}
	return o
}

// open are what the keys with variables of a mapping can come to, each of which may be any key, and another one's
// second value.
func (a *asking) open(c Condition, s step, ways []way) (o outcomes, isOpen bool) {
	for i := range s.node.Entries {
		e := &s.node.Entries[i]
		if !e.mayBeAny() {
			continue
		}
		isOpen = true
		var next []way
		for _, w := range ways {
			if w.path[0].Kind == anyNumber {
				next = append(next, way{w.path, false})
			} else {
				next = append(next, way{w.path[1:], true})
			}
		}
		if len(ways) != 1 {
			o |= nothing
		}
		if len(ways) > 0 {
			o |= a.outcomes(c, s.into(e, true), next)
		}
	}
	return o, isOpen
}

// end is the outcome where the path ends.
func (c Condition) end(s step) outcomes {
	o := nothing
	values(s.node, true, func(v *Node) {
		switch empty := v.Kind == NullNode || v.Kind == ListNode && !v.Tagged; {
		case s.item(v).uncertain(false):
			o |= holding
		case c.Form == "missing" && empty:
		case c.Form != "missing" && !c.certainly(v):
			o |= holding
		default:
			o |= refused
		}
	})
	switch {
	case o&holding != 0:
		return holding
	case o&refused != 0:
		return refused
	}
	return nothing
}
