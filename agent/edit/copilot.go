package edit

import (
	"errors"
	"fmt"
	"strings"
)

func copilotCreates(in *input) []Edit {
	return []Edit{{Path: in.path("path"), Change: copilotCreate{in.text("file_text")}}}
}

func copilotEdits(in *input) []Edit {
	return []Edit{{Path: in.path("path"), Change: copilotEdit{in.optional("old_str"), in.text("new_str")}}}
}

func copilotInserts(in *input) []Edit {
	return []Edit{{Path: in.path("path"),
		Change: copilotInsert{in.number("insert_line"), in.text("new_str", "insert_text")}}}
}

// A copilotCreate is Copilot's create, of a file that must not be there.
type copilotCreate struct{ text string }

func (c copilotCreate) After(_ []byte, exists bool) ([][]byte, error) {
	if exists {
		return nil, errors.New("the file already exists, and the agent's create refuses that; edit it")
	}
	return [][]byte{[]byte(c.text)}, nil
}

// A copilotEdit is Copilot's edit, or str_replace. It finds the text as it is; if it is nowhere, its lines
// with more spaces at their ends and with CRLF or LF.
type copilotEdit struct{ old, new string }

func (c copilotEdit) After(before []byte, exists bool) ([][]byte, error) {
	text, err := plain(before)
	switch {
	case err != nil:
		return nil, err
	case !exists:
		return nil, errors.New("there is no such file; create it")
	case c.old == "" && text == "":
		return [][]byte{[]byte(c.new)}, nil
	case c.old == "":
		return nil, errors.New("old_str is empty, and the file is not; name the text to replace")
	case c.old == c.new: // the agent writes the file as it is, wherever the text occurs
		return [][]byte{before}, nil
	}
	repl := withEnds(c.new, lineEnd(text))
	start, end, n := strings.Index(text, c.old), 0, 0
	if start >= 0 {
		end, n = start+len(c.old), strings.Count(text, c.old)
	} else if start, end, n, err = findLines(text, crlfToLF(c.old)); err != nil {
		return nil, err
	}
	switch {
	case n == 0:
		return nil, fmt.Errorf("old_str %s does not occur in the file; copy the text from the file as it is",
			quote(c.old))
	case n > 1:
		return nil, fmt.Errorf("old_str %s occurs more than once in the file; "+
			"add lines around it until it is the only one", quote(c.old))
	case len(text)+len(repl) > MaxBytes+end-start:
		return nil, errTooLarge()
	}
	return [][]byte{[]byte(text[:start] + repl + text[end:])}, nil
}

// lineEnd is the line end that is more frequent among the first five of a text; LF, if they are even.
func lineEnd(text string) string {
	crlf, all := 0, 0
	for i := strings.IndexByte(text, '\n'); i >= 0 && all < 5; all++ {
		if i > 0 && text[i-1] == '\r' {
			crlf++
		}
		text = text[i+1:]
		i = strings.IndexByte(text, '\n')
	}
	if 2*crlf > all {
		return "\r\n"
	}
	return "\n"
}

func withEnds(text, end string) string {
	return strings.ReplaceAll(crlfToLF(text), "\n", end)
}

// findLines finds lines that may have more spaces and tabs at their ends in the text, which may end them
// with CRLF: where the first such place begins and ends, and whether there are none, one or more (2).
// The first line may begin in the middle of one.
func findLines(text, old string) (start, end, n int, err error) {
	whole := strings.HasSuffix(old, "\n") // the end of the last line is part of it
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if len(want) == 1 && !whole {
		return 0, 0, 0, nil // that is the text as it is, which is not there
	}
	left := budget(maxSteps)
	for at := 0; at < len(text); {
		line, next := lineAt(text, at)
		if next < 0 {
			break
		}
		from := beginsAt(line, want[0])
		if err := left.spend(len(line) + 1); err != nil {
			return 0, 0, 0, err
		}
		to := next
		for k := 1; from >= 0 && k < len(want); k++ {
			rest, after := lineAt(text, to)
			if err := left.spend(len(rest) + 1); err != nil {
				return 0, 0, 0, err
			}
			switch last := k == len(want)-1 && !whole; {
			case !strings.HasPrefix(rest, want[k]):
				from = -1
			case last: // up to where its spaces end, wherever the line does
				to += len(rest) - len(strings.TrimLeft(rest[len(want[k]):], " \t"))
			case after < 0 || !onlyBlanks(rest[len(want[k]):]):
				from = -1
			default:
				to = after
			}
		}
		if from < 0 {
			at = next
			continue
		}
		if n++; n > 1 {
			return start, end, n, nil
		}
		start, end = at+from, to
		at = to
	}
	return start, end, n, nil
}

// lineAt returns the line that begins at a byte, without its LF, and where the next begins; -1, if the
// line has no end.
func lineAt(text string, at int) (line string, next int) {
	i := strings.IndexByte(text[at:], '\n')
	if i < 0 {
		return text[at:], -1
	}
	return text[at : at+i], at + i + 1
}

// onlyBlanks reports whether a line's rest is spaces and tabs, and at most a CR after them.
func onlyBlanks(rest string) bool {
	return strings.TrimLeft(strings.TrimSuffix(rest, "\r"), " \t") == ""
}

// beginsAt returns the first byte of a line from which it is the text and spaces; -1 if there is none.
func beginsAt(line, text string) int {
	body := strings.TrimSuffix(line, "\r")
	least := len(strings.TrimRight(body, " \t")) // the text ends here, or among the spaces after
	from := max(least-len(text), 0)
	i := strings.Index(body[from:], text)
	if i < 0 {
		return -1
	}
	return from + i
}

// A copilotInsert is Copilot's insert, after a line counted from 1; 0 is before the first.
type copilotInsert struct {
	line int
	text string
}

func (c copilotInsert) After(before []byte, exists bool) ([][]byte, error) {
	text, err := plain(before)
	switch {
	case err != nil:
		return nil, err
	case !exists:
		return nil, errors.New("there is no such file; create it")
	}
	end := lineEnd(text)
	cr := strings.TrimSuffix(end, "\n")
	repl := withEnds(c.text, end)
	lines := strings.Count(text, "\n") + 1 // what is behind the last LF is one, though it is empty
	if c.line < lines {
		at := 0
		for range c.line {
			at += strings.IndexByte(text[at:], '\n') + 1
		}
		return [][]byte{[]byte(text[:at] + repl + end + text[at:])}, nil
	}
	// Behind the last line, with empty lines up to there.
	if !strings.HasSuffix(text, cr) {
		text += cr
	}
	pad := c.line - lines
	if len(text)+(pad+1)*len(end)+len(repl) > MaxBytes {
		return nil, errTooLarge()
	}
	return [][]byte{[]byte(text + strings.Repeat("\n"+cr, pad) + "\n" + repl)}, nil
}
