package edit

import (
	"path"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

// Paths returns the edits that a call is, for a caller that needs only their files: [Edit.After] is an
// error. Where [Of] cannot determine what a tool would write, because a field is unknown or missing, Paths returns each
// file that the input names, those that the tool only reads too. An error says why not even the files can be
// determined.
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

// namedIn appends the files that an input names, those in lists and objects within it too: some tools edit several
// files. It returns false if the field of a file is not a string.
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
