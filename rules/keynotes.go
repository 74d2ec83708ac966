package rules

import (
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/keyitem"
)

// keyNotes says what in an item with a key is often a mistake.
func keyNotes(item *keyitem.Item) []string {
	var notes []string
	paths := slices.Concat(item.Each, item.Paths)
	values := item.Values
	for _, where := range item.Where {
		paths, values = append(paths, where.Path), slices.Concat(values, where.Values)
	}
	for _, path := range paths {
		notes = append(notes, path.Notes()...)
		for _, segment := range path {
			if n := strangerIn(segment.Name); n != "" {
				name := document.Quoted(segment.Name)
				notes = append(notes, fmt.Sprintf("the segment %s of the path has %s", name, n))
			}
		}
	}
	for _, value := range values {
		if n := strangerIn(value.Text); n != "" {
			notes = append(notes, fmt.Sprintf("the value %s has %s", document.Quoted(value.Text), n))
		}
	}
	return notes
}

// labels are how many labels Terraform's blocks have.
var labels = map[string]int{"resource": 2, "data": 2, "module": 1, "provider": 1, "variable": 1, "output": 1}

// eachNotes says of a required item whether it asks each file for blocks that few have, where "each" would ask the
// blocks.
func eachNotes(item Item) []string {
	if item.Kind != Key || len(item.Key.Each) > 0 {
		return nil
	}
	var notes []string
	for _, path := range item.Key.Paths {
		n := labels[path[0].Name]
		if n == 0 || len(path) <= n+1 ||
			slices.ContainsFunc(path[:n+1], func(s keyitem.Segment) bool { return s.Kind == keyitem.Deep }) {
			continue
		}
		notes = append(notes, fmt.Sprintf("the key is required of every file that the rule selects, even of one "+
			"without such a block; to check only the blocks, write each: %s and key: %s",
			document.Quoted(path[:n+1].String()), document.Quoted(path[n+1:].String())))
	}
	return notes
}
