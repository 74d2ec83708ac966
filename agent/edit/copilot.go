package edit

import (
	"errors"
	"fmt"
	"strings"
)

func copilotCreates(in *input) []Edit {
	content := in.text("file_text")
	return in.edit(func(_ string, exists bool) ([]string, error) {
		if exists {
			return nil, errors.New("the file already exists, and the agent's create refuses that; edit it")
		}
		return []string{content}, nil
	})
}

// copilotEdits reads edit, which searches the string as it is, then with CRLF and blanks at line ends.
func copilotEdits(in *input) []Edit {
	old := ""
	if in.fields["old_str"] != nil {
		old = in.text("old_str")
	}
	repl := in.text("new_str")
	beginsBlank := strings.HasPrefix(strings.TrimLeft(crlfToLF(old), " \t"), "\n") // and so perhaps in the line before
	return in.edit(func(before string, exists bool) ([]string, error) {
		t, err := readExisting(before, exists)
		switch {
		case err != nil:
			return nil, err
		case old == repl: // the agent writes the file as it is
			return []string{before}, nil
		}
		r := replacement{old: old, new: repl, count: 1}
		if before != "" {
			r.new = t.encode(crlfToLF(repl))[0]
		}
		byLines := t.crlf && !strings.Contains(before, old)
		if byLines {
			r.old = lfToCRLF(old)
		}
		made, err := r.apply(before)
		if err != nil {
			return nil, err
		}
		all := []string{made}
		if !byLines {
			return all, nil
		}
		head, rest, _ := strings.Cut(before, r.old)
		near, want := withoutTrailing(before), withoutTrailing(r.old)
		if strings.Index(near, want) != strings.LastIndex(near, want) ||
			beginsBlank && strings.TrimRight(head, " \t") != head {
			return nil, errors.New("the old text is in the file in several ways that differ in spaces at the ends of " +
				"lines; add lines around it, and begin with one that is not blank")
		}
		if !strings.HasSuffix(old, "\n") { // blanks after the last line count as its own
			all = append(all, head+r.new+strings.TrimLeft(rest, " \t"))
		}
		return all, nil
	})
}

// copilotInserts reads insert, which adds lines after a line (from 1); 0 is before the first.
func copilotInserts(in *input) []Edit {
	line, content := in.number("insert_line"), crlfToLF(in.text("new_str", "insert_text"))
	return in.edit(func(before string, exists bool) ([]string, error) {
		t, err := readExisting(before, exists)
		if err != nil {
			return nil, err
		}
		switch lines := strings.Count(t.body, "\n") + 1; { // what is behind the last LF is one, though it is empty
		case line > lines:
			return nil, fmt.Errorf("the file has no line %d; it has %d", line, lines)
		case line == lines:
			return t.encode(t.body + "\n" + content), nil
		}
		at := 0
		for range line {
			at += strings.IndexByte(t.body[at:], '\n') + 1
		}
		return t.encode(t.body[:at] + content + "\n" + t.body[at:]), nil
	})
}
