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

func copilotEdits(in *input) []Edit {
	r := replacement{old: crlfToLF(in.optional("old_str")), new: crlfToLF(in.text("new_str")), count: 1}
	return in.edit(func(before string, exists bool) ([]string, error) {
		t, err := readText(before)
		switch {
		case err != nil:
			return nil, err
		case !exists:
			return nil, errNoFile()
		}
		made, err := r.apply(t.body)
		if err != nil {
			return nil, err
		}
		all := []string{made}
		if strings.Contains(r.old, "\n") && !strings.HasSuffix(r.old, "\n") {
			// If the line ends differ, blanks after the text are taken for its own.
			head, rest, _ := strings.Cut(t.body, r.old)
			all = append(all, head+r.new+strings.TrimLeft(rest, " \t"))
		}
		return t.encode(all...), nil
	})
}

// copilotInserts reads insert, which puts lines after a line counted from 1; 0 is before the first.
func copilotInserts(in *input) []Edit {
	line, content := in.number("insert_line"), crlfToLF(in.text("new_str", "insert_text"))
	return in.edit(func(before string, exists bool) ([]string, error) {
		t, err := readText(before)
		switch {
		case err != nil:
			return nil, err
		case !exists:
			return nil, errNoFile()
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
