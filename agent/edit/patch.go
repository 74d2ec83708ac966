package edit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// patchEdits reads apply_patch. The patch is in "command" in Codex's hooks, in "input" from models, or the second item
// of a list after the command's name.
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

// editsOfPatch returns the edits of a patch. Its paths are relative to dir, or to the call's directory if dir is "".
func editsOfPatch(patch, dir string) ([]Edit, error) {
	hunks, err := parsePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("the patch cannot be read: %w", err)
	}
	var edits []Edit
	var parts [][]hunk     // of each edit
	at := map[string]int{} // of a path, the edit
	for _, h := range hunks {
		if h.move != "" && path.Clean(h.move) == path.Clean(h.path) { // Codex would take it away
			return nil, fmt.Errorf("line %d: the patch moves %q to itself; remove the line", h.line, h.path)
		}
		i := len(edits)
		for _, name := range []*string{&h.path, &h.move} {
			if *name == "" {
				continue
			}
			if err := checkPath("", *name); err != nil {
				return nil, fmt.Errorf("the patch cannot be read: line %d: %w", h.line, err)
			}
			if dir != "" && !isAbsolute(*name) {
				*name = strings.TrimSuffix(dir, "/") + "/" + *name
			}
			if k, again := at[path.Clean(*name)]; again {
				if i = k; h.move != "" || edits[k].From != "" {
					return nil, fmt.Errorf("line %d: the patch moves %q and changes it in another part; "+
						"split it into two patches", h.line, *name)
				}
			}
			at[path.Clean(*name)] = i
		}
		if i == len(edits) {
			edits, parts = append(edits, Edit{Path: h.path}), append(parts, nil)
		}
		e := &edits[i]
		if h.move != "" {
			e.Path, e.From = h.move, h.path
		}
		switch {
		case e.Remove && h.kind != addFile:
			return nil, fmt.Errorf("line %d: the patch has already removed %q", h.line, h.path)
		case h.kind == updateFile:
			parts[i] = append(parts[i], h)
		default:
			parts[i] = []hunk{h}
		}
		e.Remove = h.kind == deleteFile
	}
	for i := range edits {
		if !edits[i].Remove {
			edits[i].change = patchChange(parts[i])
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

const (
	maxLines = 1 << 22      // of a file that a patch updates
	maxParts = maxSteps / 8 // the parts of an update times the file's bytes: some seconds' work at worst
)

// patchChange applies the parts of a patch that edit one file, in order. Codex has two implementations: the newer keeps
// CRLF; the older treats a CR as a blank at the end of a line and writes the lines of the patch with LF.
func patchChange(parts []hunk) change {
	return func(before string, exists bool) ([]string, error) {
		newer, older := before, before
		for _, h := range parts {
			if h.kind == addFile {
				newer, exists = strings.Join(h.lines, ""), true
				older = newer
				continue
			}
			t, err := readExisting(newer, exists)
			switch {
			case err != nil:
				return nil, err
			case strings.Contains(t.body, "\r"):
				return nil, errors.New("the file has CR alone, which Codex's releases read differently; " +
					"write the whole file")
			case strings.Count(t.body, "\n") > maxLines, (len(h.chunks)-1)*len(newer) > maxParts:
				return nil, fmt.Errorf("the file has over %d lines, or the patch too many parts for so large a file; "+
					"split it", maxLines)
			}
			if newer, err = t.update(h.chunks); err == nil {
				older, err = updateOlder(older, h.chunks)
			}
			if err != nil {
				return nil, err
			}
		}
		return []string{newer, older}, nil
	}
}

// update is the newer implementation.
func (t text) update(chunks []chunk) (string, error) {
	lines, err := replaceLines(splitLines(t.body), chunks)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	end := t.encode("\n")[0]
	return strings.Join(lines, end) + end, nil
}

// updateOlder is the older implementation, for which an empty last line is the end of the file.
func updateOlder(before string, chunks []chunk) (string, error) {
	lines := splitLines(before)
	if n := len(lines); n > 0 && lines[n-1] == "" && slices.ContainsFunc(chunks, chunk.atFileEnd) {
		return "", errors.New("it adds lines at the end of a file whose last line is empty, " +
			"which Codex's releases do differently; begin with a line of the file")
	}
	lines, err := replaceLines(lines, chunks)
	made := strings.Join(lines, "\n")
	if len(lines) > 0 && lines[len(lines)-1] != "" {
		made += "\n"
	}
	return made, err
}

// splitLines splits at LF. The rest after the last LF is a line unless it is empty.
func splitLines(s string) []string {
	lines := strings.Split(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// replaceLines applies chunks. Each is searched below the one before.
func replaceLines(lines []string, chunks []chunk) ([]string, error) {
	s := fileLines{lines: lines, trimmed: trimLines(lines)}
	var made, tail []string
	at, written := 0, 0
	for i, c := range chunks {
		if c.anchored {
			if at = s.find([]string{c.context}, at, false) + 1; at == 0 {
				return nil, fmt.Errorf("part %d of the patch: the line %s after @@ is not in the file exactly, "+
					"or not below the part before", i+1, quote(c.context))
			}
		}
		if c.atFileEnd() {
			tail = append(tail, c.new...)
			continue
		}
		from := s.find(c.old, at, c.atEnd)
		if from < 0 {
			return nil, fmt.Errorf("part %d of the patch: its lines, from %s on, are not in the file exactly, "+
				"or not below the part before; copy them from the file as they are", i+1, quote(c.old[0]))
		}
		if at = from + len(c.old); at == len(lines) && tail != nil && slices.Contains(c.new, c.old[len(c.old)-1]) {
			return nil, fmt.Errorf("part %d of the patch may add lines at the end of the file, as a part before does; "+
				"Codex's releases put them in different order; combine them", i+1)
		}
		made = append(append(made, lines[written:from]...), c.new...)
		written = at
	}
	return append(append(made, lines[written:]...), tail...), nil
}

// A fileLines has the lines of a file to search.
type fileLines struct {
	lines   []string
	trimmed []string // without blanks and CR at their ends
}

// find returns where some lines begin in the file, at a line or below, or -1. As in Codex, an exact match counts first,
// then one that ignores blanks at line ends; of the latter, only a difference by a CR in the file is accepted.
func (s fileLines) find(want []string, at int, atEnd bool) int {
	if atEnd {
		if last := len(s.lines) - len(want); last >= at {
			at = last
		} else {
			return -1
		}
	}
	if i := indexLines(s.lines, want, at); i >= 0 {
		return i
	}
	found := indexLines(s.trimmed, trimLines(want), at)
	for i := range want {
		if found >= 0 && strings.TrimSuffix(s.lines[found+i], "\r") != want[i] {
			return -1
		}
	}
	return found
}

// indexLines takes linear time in the length of all lines.
func indexLines(lines, want []string, at int) int {
	join := func(lines []string) string { return "\n" + strings.Join(lines, "\n") + "\n" }
	body := join(lines[at:])
	i := strings.Index(body, join(want))
	if i < 0 || len(lines) == at {
		return -1
	}
	return at + strings.Count(body[:i], "\n")
}

func trimLines(lines []string) []string {
	made := make([]string, len(lines))
	for i, line := range lines {
		made[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	return made
}

type hunkKind uint8

const (
	addFile hunkKind = iota
	deleteFile
	updateFile
)

// A hunk is the part of a patch for one file.
type hunk struct {
	kind   hunkKind
	line   int // of the patch, from 1
	path   string
	move   string   // the new path of an updated file, or ""
	lines  []string // of a file that is added
	chunks []chunk
}

// A chunk replaces lines.
type chunk struct {
	context  string // a line above the lines; the search begins there
	anchored bool   // context is set
	old, new []string
	atEnd    bool // the lines are the last of the file
}

func (c chunk) empty() bool { return len(c.old) == 0 && len(c.new) == 0 }

// atFileEnd reports whether a chunk only adds lines: Codex puts those at the end of the file.
func (c chunk) atFileEnd() bool { return len(c.old) == 0 }

// parsePatch parses a patch like Codex. A patch that its releases parse differently is an error.
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

// header parses the line that begins a hunk. In an update, a line that begins with a space is a line of the file.
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

// line adds a line of an update. It reports whether it is one.
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
