package keys

import (
	"slices"

	"github.com/policyscan/policyscan/rules/keyitem"
)

// A BeyondError is a text that a path would look into, and that exceeds a limit.
type BeyondError struct {
	At     Span
	Reason string
}

func (e *BeyondError) Error() string { return e.Reason }

// Beyond returns a [*BeyondError] if a path of an item would look into a text of the file that exceeds a limit. A path
// of if counts as if it began wherever the item's own paths lead.
func Beyond(item *keyitem.Item, file []Document) error {
	if !slices.ContainsFunc(file, func(d Document) bool { return d.Beyond != nil }) {
		return nil
	}
	paths := slices.Concat(item.Each, item.Paths)
	for _, at := range item.Where {
		paths = append(paths, at.Path)
	}
	for _, each := range item.Each {
		for _, path := range item.Paths {
			paths = append(paths, slices.Concat(each, path))
		}
	}
	for _, at := range item.If {
		for _, each := range item.Each {
			paths = append(paths, slices.Concat(each, at.Path))
		}
		for _, path := range item.Paths {
			paths = append(paths, slices.Concat(path[:len(path)-1], at.Path))
		}
	}
	for _, path := range paths {
		if len(path) > keyitem.MaxSegments { // two together
			path = keyitem.Path{{Kind: keyitem.Any}, {Kind: keyitem.Deep}}
		}
		w := newWalk(path)
		w.hidden, w.tagged = true, true
		var found *BeyondError
		w.beyond = func(n *Node) {
			for _, d := range file {
				if reason := d.Beyond[n]; reason != "" {
					found = &BeyondError{n.At, reason}
				}
			}
		}
		for _, d := range (&splitter{forbidden: true}).split(file) {
			if w.from(d.root, d.head); found != nil {
				return found
			}
		}
	}
	return nil
}
