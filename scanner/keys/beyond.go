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
	var paths []keyitem.Path
	pathsOf(item, func(path keyitem.Path, begins []keyitem.Path) {
		for _, begin := range begins {
			paths = append(paths, slices.Concat(begin, path))
		}
	})
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
