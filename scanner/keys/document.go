package keys

import (
	"slices"
	"strings"
)

// A document is a part of a file that items are checked against separately: a document of the file, an item of its
// list, or an item of a Kubernetes list.
type document struct {
	root    *Node  // not null
	head    Span   // the node that introduces it
	inside  bool   // it is in a list or mapping with a tag: required values cannot be reached in it
	anyKind bool   // its kind is unknown, so it meets each where
	kind    *Entry // nil, or the kind given by the list that contains it
}

// A splitter splits a file into documents. Required items get the broad reading, too: a tag hides no document.
type splitter struct {
	forbidden bool // for forbidden items, which check a Kubernetes list itself as well
	narrow    bool // the item has a condition on documents or nodes
	lists     bool // the document may be a Kubernetes list
	all       []document
	seen      map[document]bool // shared ones
}

// split returns the documents of a file without empty ones.
func (s *splitter) split(file []Document) []document {
	s.seen = map[document]bool{}
	for _, d := range file {
		s.lists = d.Kubernetes
		s.add(document{root: d.Root, head: d.Head})
	}
	return s.all
}

// add takes a node as a document, or its parts.
func (s *splitter) add(d document) {
	n := d.root
	if n.Kind == Null || n.Shared && s.seen[d] {
		return
	}
	if n.Shared {
		s.seen[d] = true
	}
	if n.Kind == List {
		if n.Tagged {
			s.all, n.Parted = append(s.all, d), true
		}
		s.items(n, d)
		return
	}
	list := s.listOf(n)
	if list.items == nil || s.forbidden || list.itself || n.Tagged || s.narrow && !list.plain {
		whole := d
		whole.root = d.root.ofKind(d.kind)
		s.all = append(s.all, whole)
		n.Parted = n.Parted || list.items != nil
	}
	d.kind, d.inside = list.kind, d.inside || n.Tagged
	d.anyKind = d.anyKind || n.Tagged || list.kind != nil && list.kind.Value.Kind == List
	for _, items := range list.items {
		s.items(items, d)
	}
}

func (s *splitter) items(list *Node, of document) {
	for _, item := range list.Items {
		s.add(document{item, item.At, of.inside || list.Tagged, of.anyKind || list.Tagged, of.kind})
	}
}

// A kubernetesList is a mapping with "kind" and a list "items": kubectl applies its items, whatever the kind.
type kubernetesList struct {
	items  []*Node // nil: the mapping is not one
	kind   *Entry  // the default kind of the items, or nil
	itself bool    // it may be a document that happens to have "items"
	plain  bool    // it is "kind: List", only a container for its items
}

func (s *splitter) listOf(n *Node) (list kubernetesList) {
	if !s.lists {
		return list
	}
	list.plain = true
	var kinds []*Entry
	versioned := false
	for i := range n.Entries {
		e := &n.Entries[i]
		if !e.Named || e.Hidden && !s.forbidden {
			continue
		}
		switch v := e.Value; e.Name {
		case "apiVersion":
			versioned = versioned || v.Kind != Null
		case "kind":
			if v.isKind() {
				kinds = append(kinds, e)
			}
			isList := v.Kind == ScalarNode && v.Scalar.Exact.Type == ExactText
			list.itself = list.itself || !isList || !strings.HasSuffix(v.Scalar.Exact.Text, "List")
			list.plain = list.plain && isList && v.Scalar.Exact.Text == "List"
		case "items":
			if v.Kind == List {
				list.items = append(list.items, v)
			} else {
				list.itself = true
			}
		}
	}
	if len(kinds) == 0 || !versioned && !s.forbidden && !s.narrow {
		return kubernetesList{}
	}
	list.itself = list.itself || !versioned
	if list.items != nil {
		list.kind = kindOfItems(kinds)
	}
	return list
}

func (n *Node) isKind() bool {
	return n.Kind == ScalarNode && slices.ContainsFunc(n.Scalar.Texts, func(text string) bool { return text != "" })
}

// kindOfItems returns the kind of a list without the final "List", for several kinds a list.
func kindOfItems(kinds []*Entry) *Entry {
	given := Entry{Name: "kind", Named: true, At: kinds[0].At, Hidden: true}
	var all []*Node
	for _, kind := range kinds {
		n := &Node{Kind: ScalarNode, At: kind.Value.At, Scalar: kind.Value.Scalar}
		n.Scalar.Texts = nil
		for _, text := range kind.Value.Scalar.Texts {
			if text = strings.TrimSuffix(text, "List"); text != "" {
				n.Scalar.Texts = append(n.Scalar.Texts, text)
			}
		}
		n.Scalar.Exact.Text = strings.TrimSuffix(n.Scalar.Exact.Text, "List")
		if n.Scalar.Texts != nil {
			all = append(all, n)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		given.Value = all[0]
	default:
		given.Value = &Node{Kind: List, At: all[0].At, Items: all, Shared: true}
	}
	return &given
}

// ofKind returns a mapping with the kind of its list, if it has no kind itself. Required items ignore that kind, which
// the mapping does not contain.
func (n *Node) ofKind(kind *Entry) *Node {
	says := func(e Entry) bool { return e.Named && e.Name == "kind" && e.Value.isKind() }
	if kind == nil || n.Kind != Mapping || slices.ContainsFunc(n.Entries, says) {
		return n
	}
	with := *n
	with.Shared = false
	with.Entries = append(slices.Clip(n.Entries), *kind)
	return &with
}
