package edit

import (
	"path"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

// Paths returns the edits of a call for a caller that needs only their files: [Edit.After] is an error. If [Of] fails
// because of an unknown or missing field, Paths returns every file that the input names, even if the tool only reads
// it. It fails if not even the files are known.
func Paths(c *call.Call) ([]Edit, error) {
	edits, err := Of(c)
	if err == nil {
		for i := range edits {
			edits[i].change = nil
		}
		return edits, nil
	}
	if call.Known(c.Tool).Capability == call.Execute || slices.Contains(patchTools(), c.Tool) ||
		slices.Contains(patchTools(), almost(c.Tool)) {
		return nil, err // the files are in the text of a patch
	}
	names, ok := namedIn(c.Input, nil)
	if !ok || len(names) == 0 {
		return nil, err
	}
	edits = nil
	for _, name := range names {
		if checkPath(c.Tool, name) != nil {
			return nil, err
		}
		if !slices.ContainsFunc(edits, func(e Edit) bool { return path.Clean(e.Path) == path.Clean(name) }) {
			edits = append(edits, Edit{Path: name})
		}
	}
	return edits, nil
}

// namedIn appends the files that an input names, also in nested lists and objects. It returns false if the field of a
// file is not a string.
func namedIn(v *call.Value, names []string) ([]string, bool) {
	ok := true
	for _, item := range v.Items() {
		if names, ok = namedIn(item, names); !ok {
			return nil, false
		}
	}
	for _, m := range v.Members() {
		switch m.Name {
		case "file_path", "path", "notebook_path", "target_file", "filePath", "target_notebook":
			switch m.Value.Kind() {
			case call.String:
				names = append(names, m.Value.Str())
			case call.Null:
			default:
				return nil, false
			}
		default:
			if names, ok = namedIn(m.Value, names); !ok {
				return nil, false
			}
		}
	}
	return names, true
}
