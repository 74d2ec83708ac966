package keys

import "slices"

// A document is a part of a file that items are asked of by itself: one of its documents, an item of the list that it
// is, or an item of a Kubernetes List.
type document struct {
	root   *Node // not null
	head   Span  // what introduces it
	tagged bool  // it is within a list or mapping that has a tag
}

// A splitter takes a file apart.
type splitter struct {
	forbidden bool // for forbidden items, which look inside what is tagged, and at a List itself as well
	all       []document
	nested    bool              // some are within others
	seen      map[document]bool // shared ones
}

// split returns the documents of a file, and whether some are within others. Empty ones are left out.
func split(file []Document, forbidden bool) (all []document, nested bool) {
	s := splitter{forbidden: forbidden, seen: map[document]bool{}}
	for _, d := range file {
		s.add(document{root: d.Root, head: d.Head})
	}
	return s.all, s.nested
}

// add takes a node as a document, or what it is made of.
func (s *splitter) add(d document) {
	n := d.root
	if n.Kind == Null || n.Shared && s.seen[d] {
		return
	}
	if n.Shared {
		s.seen[d] = true
	}
	if n.Tagged && !s.forbidden {
		s.all = append(s.all, d)
		return
	}
	if n.Kind == List {
		if n.Tagged {
			s.all, s.nested = append(s.all, d), true
		}
		s.items(n, d.tagged)
		return
	}
	lists, certain := s.ofList(n)
	if len(lists) == 0 || s.forbidden || !certain {
		s.all = append(s.all, d)
		s.nested = s.nested || len(lists) > 0
	}
	for _, list := range lists {
		s.items(list, d.tagged || n.Tagged)
	}
}

func (s *splitter) items(list *Node, tagged bool) {
	for _, item := range list.Items {
		s.add(document{item, item.At, tagged || list.Tagged})
	}
}

// ofList returns the lists of items of a mapping of "kind: List", and whether it is that and nothing else.
func (s *splitter) ofList(n *Node) (lists []*Node, certain bool) {
	isList, certain := false, true
	for i := range n.Entries {
		e := &n.Entries[i]
		if !e.Named || e.Hidden && !s.forbidden {
			continue
		}
		switch v := e.Value; e.Name {
		case "kind":
			is := v.Kind == ScalarNode && (v.Scalar.Exact == Exact{ExactText, "List"} ||
				s.forbidden && slices.Contains(v.Scalar.Texts, "List"))
			isList, certain = isList || is, certain && is
		case "items":
			if v.Kind == List && (s.forbidden || !v.Tagged) {
				lists = append(lists, v)
			} else {
				certain = false
			}
		}
	}
	if !isList {
		return nil, false
	}
	return lists, certain
}
