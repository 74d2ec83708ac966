package edit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
)

// patchEdits reads apply_patch. Codex's hooks have the patch as "command", models write it as "input", and
// an older form is a list: the command's name, then the patch.
func patchEdits(in *input) []Edit {
	var patch string
	if argv := in.fields["command"].Items(); len(argv) == 2 && isApplyPatch(argv[0].Str()) &&
		argv[1].Kind() == call.String {
		patch = argv[1].Str()
	} else {
		patch = in.text("command", "input", "patch")
	}
	if in.err != nil {
		return nil
	}
	edits, err := editsOfPatch(patch, "")
	in.err = err
	return edits
}

// editsOfPatch returns the edits of a patch whose paths count from a folder; "" is the call's own.
func editsOfPatch(patch, folder string) ([]Edit, error) {
	hunks, err := parsePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("the patch cannot be read: %w", err)
	}
	var edits []Edit
	at := map[string]int{} // of a path, the edit
	moved := map[string]bool{}
	for _, h := range hunks {
		if h.move != "" && path.Clean(h.move) == path.Clean(h.path) { // Codex would take it away
			return nil, fmt.Errorf("line %d: the patch moves %q to itself; remove the line", h.line, h.path)
		}
		for _, name := range []*string{&h.path, &h.move} {
			if *name == "" {
				continue
			}
			if err := checkPath(*name); err != nil {
				return nil, fmt.Errorf("the patch cannot be read: line %d: %w", h.line, err)
			}
			if folder != "" && !isAbsolute(*name) {
				*name = strings.TrimSuffix(folder, "/") + "/" + *name
			}
			key := path.Clean(*name)
			if _, again := at[key]; moved[key] || h.move != "" && again {
				return nil, fmt.Errorf("line %d: the patch moves %q and changes it in another part; "+
					"split it into two patches", h.line, *name)
			}
			moved[key] = h.move != ""
		}
		key := path.Clean(h.path)
		i, again := at[key]
		if !again {
			i = len(edits)
			edits = append(edits, Edit{Path: h.path})
			at[key] = i
		}
		e := &edits[i]
		switch {
		case h.kind == addFile:
			e.Change, e.Remove = patchAdd{strings.Join(h.lines, "")}, false
		case h.kind == deleteFile && again && e.Remove, h.kind == updateFile && again && e.Remove:
			return nil, fmt.Errorf("line %d: the patch has already removed %q", h.line, h.path)
		case h.kind == deleteFile:
			e.Change, e.Remove = nil, true
		case h.move != "":
			e.Path, e.From, e.Change = h.move, h.path, patchUpdate{h.chunks}
			at[path.Clean(h.move)] = i
		case again:
			before, ok := e.Change.(chain)
			if !ok {
				before = chain{e.Change}
			}
			e.Change = append(before, patchUpdate{h.chunks})
		default:
			e.Change = patchUpdate{h.chunks}
		}
	}
	if len(edits) == 0 {
		return nil, errors.New("the patch changes no file")
	}
	return edits, nil
}

func isAbsolute(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\`) || len(name) > 1 && name[1] == ':'
}

// A patchAdd is a file that a patch adds, over one that may be there.
type patchAdd struct{ text string }

func (p patchAdd) After([]byte, bool) ([][]byte, error) { return [][]byte{[]byte(p.text)}, nil }

// A chain is changes of one file that are made one after the other.
type chain []Change

func (c chain) After(before []byte, exists bool) ([][]byte, error) {
	all := [][]byte{before}
	for _, step := range c {
		var next [][]byte
		for _, content := range all {
			made, err := limited{step}.After(content, exists)
			if err != nil { // of the steps before, something would be written all the same
				return nil, err
			}
			next = append(next, made...)
		}
		if len(next) > maxContents {
			return nil, fmt.Errorf("more than %d contents are possible; make fewer edits in one call", maxContents)
		}
		all, exists = next, true
	}
	return all, nil
}

type hunkKind uint8

const (
	addFile hunkKind = iota
	deleteFile
	updateFile
)

// A hunk is what a patch does to one file.
type hunk struct {
	kind   hunkKind
	line   int // of the patch, from 1
	path   string
	move   string   // where an updated file goes; "" is where it is
	lines  []string // of a file that is added
	chunks []chunk
}

// A chunk is lines that are replaced.
type chunk struct {
	context  string // a line above, from which on the lines are looked for
	anchored bool   // there is a context
	old, new []string
	kept     [][2]int // the positions in old and new of lines that are in both
	atEnd    bool     // the lines are the last of the file
}

func (c chunk) empty() bool { return len(c.old) == 0 && len(c.new) == 0 }

// parsePatch reads a patch as Codex does. Where Codex's releases read one differently it is an error.
func parsePatch(patch string) ([]hunk, error) {
	lines := strings.Split(strings.TrimSpace(patch), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	first := 1
	if slices.Contains([]string{"<<EOF", "<<'EOF'", `<<"EOF"`}, lines[0]) && len(lines) >= 4 &&
		strings.HasSuffix(lines[len(lines)-1], "EOF") {
		lines, first = lines[1:len(lines)-1], 2
	}
	last := len(lines) - 1
	switch {
	case strings.TrimSpace(lines[0]) != "*** Begin Patch":
		return nil, fmt.Errorf("line %d is not *** Begin Patch", first)
	case last == 0 || strings.TrimSpace(lines[last]) != "*** End Patch":
		return nil, fmt.Errorf("line %d, the last, is not *** End Patch", first+last)
	}
	var hunks []hunk
	for i := 1; i < last; i++ {
		number := first + i
		if h, ok := header(lines[i], hunks, number); ok {
			if err := complete(hunks); err != nil {
				return nil, err
			}
			hunks = append(hunks, h)
			continue
		}
		if len(hunks) == 0 {
			return nil, fmt.Errorf("line %d %s is not *** Add File: PATH, *** Delete File: "+
				"PATH or *** Update File: PATH", number, quote(lines[i]))
		}
		if err := hunks[len(hunks)-1].add(lines[i], number); err != nil {
			return nil, err
		}
	}
	return hunks, complete(hunks)
}

// header reads the line that begins a hunk. In an update, a line that begins with a space is one of the
// file's, whatever it says.
func header(line string, hunks []hunk, number int) (hunk, bool) {
	if len(hunks) > 0 && hunks[len(hunks)-1].kind == updateFile && !strings.HasPrefix(line, "*") {
		return hunk{}, false
	}
	line = strings.TrimSpace(line)
	for kind, mark := range []string{"*** Add File: ", "*** Delete File: ", "*** Update File: "} {
		if name, ok := strings.CutPrefix(line, mark); ok {
			return hunk{kind: hunkKind(kind), line: number, path: name}, true
		}
	}
	return hunk{}, false
}

// complete reports what the last hunk lacks.
func complete(hunks []hunk) error {
	if len(hunks) == 0 {
		return nil
	}
	h := hunks[len(hunks)-1]
	if h.kind == updateFile && (len(h.chunks) == 0 || h.chunks[len(h.chunks)-1].empty()) {
		return fmt.Errorf("line %d: the update of %q has no lines, or none after its last @@", h.line, h.path)
	}
	return nil
}

// add reads a line that belongs to a hunk.
func (h *hunk) add(line string, number int) error {
	trimmed := strings.TrimRightFunc(line, isBlank)
	var last *chunk
	if len(h.chunks) > 0 {
		last = &h.chunks[len(h.chunks)-1]
	}
	switch text, added := strings.CutPrefix(line, "+"); {
	case h.kind == addFile && added:
		h.lines = append(h.lines, text+"\n")
		return nil
	case h.kind != updateFile:
	case strings.HasPrefix(line, "*** Move to: ") && last == nil && h.move == "":
		name := strings.TrimPrefix(line, "*** Move to: ")
		if line != trimmed || name == "" {
			return fmt.Errorf("line %d: the path that the file moves to is empty or ends in whitespace", number)
		}
		h.move = name
		return nil
	case trimmed == "@@" || strings.HasPrefix(line, "@@ "):
		if line != trimmed {
			return fmt.Errorf("line %d: whitespace at the end of a @@ line, "+
				"which the agent's releases read differently; remove it", number)
		}
		if last != nil && last.empty() {
			return fmt.Errorf("line %d: there is no line between this @@ and the one before", number)
		}
		context, anchored := strings.CutPrefix(line, "@@ ")
		if !anchored {
			context = ""
		}
		h.chunks = append(h.chunks, chunk{context: context, anchored: anchored})
		return nil
	case trimmed == "*** End of File" && last != nil && !last.empty() && !last.atEnd:
		last.atEnd = true
		return nil
	case last != nil && last.atEnd && trimmed == "":
		return nil
	case last != nil && last.atEnd:
		return fmt.Errorf("line %d comes after *** End of File; begin it with @@", number)
	case trimmed == "" && last == nil:
		return fmt.Errorf("line %d: a blank line before the first line of an update, "+
			"which the agent's releases read differently; remove it", number)
	default:
		if last == nil {
			h.chunks = append(h.chunks, chunk{})
			last = &h.chunks[0]
		}
		if last.line(line) {
			return nil
		}
	}
	return fmt.Errorf("line %d %s does not belong there; "+
		"lines of an update begin with a space, + or -, those of a new file with +", number, quote(line))
}

// line adds a line of an update; false, if it is not one.
func (c *chunk) line(line string) bool {
	if line == "" {
		line = " "
	}
	switch text := line[1:]; line[0] {
	case ' ':
		c.kept = append(c.kept, [2]int{len(c.old), len(c.new)})
		c.old, c.new = append(c.old, text), append(c.new, text)
	case '+':
		c.new = append(c.new, text)
	case '-':
		c.old = append(c.old, text)
	default:
		return false
	}
	return true
}
