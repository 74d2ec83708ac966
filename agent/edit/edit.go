// Package edit computes the content of files after an editing tool call of an agent.
//
// [Of] recognizes the tools by their names and the fields of their input; [docs/agents.md] has a table and the agents'
// sources. It reads no file: the caller passes the content to [Edit.After], which does what the agent's own code does.
//
// # What cannot be determined
//
// The string to replace must occur exactly; fuzzy matches of agents are errors. If an agent's releases differ in known
// ways, all results are returned, and the caller checks each. An unknown result is an error: nothing is guessed, and
// the caller must not let the call run. A caller that needs only the edited files calls [Paths].
//
// # Limits
//
// Files that a shell command writes are not seen, except for a patch that Codex extracts from the command itself
// (apply_patch with a here-document). Errors are: a file over 64 MiB before or after, cells of notebooks, and, unless
// the whole file is written, UTF-16 and mixed CRLF and LF.
//
// [docs/agents.md]: https://github.com/policyscan/policyscan/blob/main/docs/agents.md
package edit

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/policyscan/policyscan/agent/call"
)

const (
	MaxBytes    = 64 << 20 // of a file, before and after an edit
	maxContents = 16       // possible ones after one call
)

// An Edit is the change of a call to one file.
type Edit struct {
	Path   string // the file that is written or removed, in the agent's words
	From   string // the file that is moved to Path, or ""
	Remove bool
	change change // nil with Remove, and from [Paths]
}

// A change returns the possible contents of a file after an edit. exists reports whether the file existed before.
type change func(before string, exists bool) ([]string, error)

// After returns the content of the file: one, or several if the agent's releases differ. exists reports whether the
// file existed before.
func (e Edit) After(before []byte, exists bool) ([][]byte, error) {
	switch {
	case e.change == nil:
		return nil, errors.New("cannot determine what the file would contain")
	case len(before) > MaxBytes:
		return nil, errTooLarge()
	case !exists:
		before = nil
	}
	all, err := e.change(string(before), exists)
	if err != nil {
		return nil, err
	}
	var kept [][]byte
	for i, content := range all {
		if len(content) > MaxBytes {
			return nil, errTooLarge()
		}
		if !slices.Contains(all[:i], content) {
			kept = append(kept, []byte(content))
		}
	}
	return kept, nil
}

// Of returns the edits of a call in order, at most one for each path; none for a tool that edits no file. An error
// explains why the edits of an editing tool are unknown.
func Of(c *call.Call) ([]Edit, error) {
	if call.Known(c.Tool).Capability == call.Execute {
		return shellEdits(c)
	}
	named := false
	var first error
	for _, f := range forms() {
		if !slices.Contains(f.names, c.Tool) {
			continue
		}
		named = true
		in, err := f.read(c)
		if err == nil {
			edits := f.edits(in)
			if in.err != nil {
				return nil, in.err
			}
			return edits, nil
		}
		if first == nil || errors.Is(first, errCommand) {
			first = err
		}
	}
	switch {
	case first != nil:
		return nil, fmt.Errorf("%s: %w", c.Tool, first)
	case !named && call.Known(c.Tool).Capability == call.Write:
		return nil, fmt.Errorf("%s edits files in a way that policyscan does not know", c.Tool)
	case !named:
		if known := almost(c.Tool); known != "" {
			return nil, fmt.Errorf("%q is spelled almost as %s, so policyscan cannot determine whether it edits files",
				c.Tool, known)
		}
	}
	return nil, nil
}

func errTooLarge() error {
	return fmt.Errorf("the file has over %d bytes; edit it by hand, or split it", MaxBytes)
}

func errNoFile() error {
	return errors.New("there is no such file; create it")
}

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
