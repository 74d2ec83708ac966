package edit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

// patchEdits reads apply_patch. Codex's hooks have the patch as "command", models write it as "input", and
// an older form is a list: the command's name, then the patch.
func patchEdits(in *input) []Edit {
	patch := ""
	if argv := in.fields["command"].Items(); isPatchList(argv) {
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
	for _, h := range hunks {
		if h.move != "" && path.Clean(h.move) == path.Clean(h.path) { // Codex would take it away
			return nil, fmt.Errorf("line %d: the patch moves %q to itself; remove the line", h.line, h.path)
		}
		e := Edit{Path: h.path, Remove: h.kind == deleteFile}
		switch {
		case h.kind == addFile:
			e.change = patchAdd(strings.Join(h.lines, ""))
		case h.kind == updateFile:
			e.change = patchUpdate(h.chunks)
		}
		if h.move != "" {
			e.Path, e.From = h.move, h.path
		}
		for _, name := range []*string{&e.Path, &e.From} {
			if *name == "" {
				continue
			}
			if err := checkPath("", *name); err != nil {
				return nil, fmt.Errorf("the patch cannot be read: line %d: %w", h.line, err)
			}
			if folder != "" && !isAbsolute(*name) {
				*name = strings.TrimSuffix(folder, "/") + "/" + *name
			}
			i, again := at[path.Clean(*name)]
			if !again {
				at[path.Clean(*name)] = len(edits)
				continue
			}
			if e.Remove || e.From != "" || edits[i].Remove || edits[i].From != "" {
				return nil, fmt.Errorf("line %d: the patch moves or removes %q and changes it in another part; "+
					"split it into two patches", h.line, *name)
			}
			edits[i].change = severalParts
			e.Path = ""
		}
		if e.Path != "" {
			edits = append(edits, e)
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

// patchAdd writes a file that a patch adds, over one that may exist.
func patchAdd(content string) change {
	return func(string, bool) ([]string, error) { return []string{content}, nil }
}

// severalParts is the change of a file that a patch changes in several hunks.
func severalParts(string, bool) ([]string, error) {
	return nil, errors.New("the patch changes the file in several parts; put all changes of a file into one")
}

// patchUpdate changes lines, which must be in the file exactly. Codex has two ways to do so, one of them behind a
// setting: the older one writes lines of the patch with LF, and takes an empty last line for the end of the file.
func patchUpdate(chunks []chunk) change {
	return func(before string, exists bool) ([]string, error) {
		t, err := readText(before)
		switch {
		case err != nil:
			return nil, err
		case !exists:
			return nil, errNoFile()
		case strings.Contains(t.body, "\r"),
			t.crlf && (blankBeforeCRLF().MatchString(before) || !strings.HasSuffix(before, "\n")):
			return nil, errors.New("the file has CR alone, or CRLF and a line that ends in whitespace or has no end, " +
				"which Codex's releases read differently; write the whole file")
		case t.body != "" && !strings.HasSuffix(t.body, "\n"):
			t.body += "\n"
		}
		var newer, older strings.Builder
		write := func(kept, added string) {
			newer.WriteString(kept + added)
			if t.crlf {
				kept = lfToCRLF(kept)
			}
			older.WriteString(kept + added)
		}
		written, at, tail := 0, 0, ""
		for i, c := range chunks {
			from, to, err := c.find(t.body, at)
			if err != nil {
				return nil, fmt.Errorf("part %d of the patch: %w", i+1, err)
			}
			at = to
			if len(c.old) == 0 { // Codex adds such lines at the end of the file
				tail += joined(c.new)
				continue
			}
			write(t.body[written:from], joined(c.new))
			written = to
		}
		write(t.body[written:], tail)
		old := older.String()
		if old == "\n" || strings.HasSuffix(old, "\n\n") {
			old = old[:len(old)-1]
		}
		return append(t.encode(newer.String()), old), nil
	}
}

var blankBeforeCRLF = late.Regexp(`[\t\v\f\pZ\x{85}]\r\n`)

// find returns where the lines that a chunk replaces begin and end in a body, below an offset.
func (c chunk) find(body string, at int) (from, to int, err error) {
	if c.anchored {
		context := c.context + "\n"
		if at = findLines(body, at, context); at < 0 {
			return 0, 0, fmt.Errorf("the line %s after @@ is not in the file exactly, or not below the part before",
				quote(c.context))
		}
		at += len(context)
	}
	if len(c.old) == 0 {
		if body == "\n" || strings.HasSuffix(body, "\n\n") {
			return 0, 0, errors.New("it adds lines at the end of a file whose last line is empty, " +
				"which Codex's releases do differently; begin with a line of the file")
		}
		return at, at, nil
	}
	old := joined(c.old)
	switch last := len(body) - len(old); {
	case !c.atEnd:
		from = findLines(body, at, old)
	case last < at || body[last:] != old || last > at && body[last-1] != '\n':
		from = -1
	default:
		from = last
	}
	if from < 0 {
		return 0, 0, fmt.Errorf("its lines, from %s on, are not in the file exactly, "+
			"or not below the part before; copy them from the file as they are", quote(c.old[0]))
	}
	return from, from + len(old), nil
}

// findLines returns where lines begin in a body, at the beginning of a line at an offset or below; -1 is nowhere.
func findLines(body string, at int, lines string) int {
	if strings.HasPrefix(body[at:], lines) {
		return at
	}
	if i := strings.Index(body[at:], "\n"+lines); i >= 0 {
		return at + i + 1
	}
	return -1
}

func joined(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
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
	atEnd    bool // the lines are the last of the file
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
