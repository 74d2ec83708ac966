package edit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

func notebookEdits(in *input) []Edit {
	name := in.path("notebook_path")
	if path.Ext(name) != ".ipynb" {
		in.fail("%q is not a notebook (.ipynb)", name)
	}
	n := notebookEdit{source: in.text("new_source"), cell: in.optional("cell_id"), kind: in.optional("cell_type"),
		mode: in.optional("edit_mode")}
	switch {
	case !slices.Contains([]string{"", "code", "markdown"}, n.kind):
		in.fail("the cell_type %q is neither code nor markdown", n.kind)
	case !slices.Contains([]string{"", "replace", "insert", "delete"}, n.mode):
		in.fail("the edit_mode %q is not replace, insert or delete", n.mode)
	case n.mode == "insert" && n.kind == "":
		in.fail("the edit_mode is insert, and there is no cell_type")
	case n.mode != "insert" && n.cell == "":
		in.fail("there is no cell_id; name the cell")
	}
	return []Edit{{Path: name, Change: n}}
}

// newCell is the id of a cell that is inserted. The agent makes one of random digits.
const newCell = "00000000"

// A notebookEdit is Claude Code's NotebookEdit.
type notebookEdit struct {
	cell   string // the id of a cell, or cell-N, counted from 0; "" is before the first
	source string
	kind   string // code or markdown; "" is the kind that the cell has
	mode   string // replace, insert or delete; "" is replace
}

func (n notebookEdit) After(before []byte, exists bool) ([][]byte, error) {
	if !exists {
		return nil, errors.New("there is no such notebook; write the file")
	}
	f, err := decode(before)
	if err != nil {
		return nil, err
	}
	book, err := parseTree(f.body)
	if err != nil {
		return nil, fmt.Errorf("the notebook cannot be read: %w", err)
	}
	cells := book.member("cells")
	if cells == nil || cells.kind != '[' {
		return nil, errors.New("the notebook has no list of cells")
	}
	for i, c := range cells.items {
		if c.kind != '{' {
			return nil, fmt.Errorf("cell %d of the notebook is not an object", i)
		}
	}
	at, err := n.find(cells)
	if err != nil {
		return nil, err
	}
	switch n.mode {
	case "delete":
		cells.items = slices.Delete(cells.items, at, at+1)
	case "insert":
		cells.items = slices.Insert(cells.items, at, n.inserted(book))
	default:
		n.replace(cells.items[at])
	}
	text := string(book.write(nil, "\n"))
	// The end of the last line is kept or not, by the agent's release.
	if strings.HasSuffix(f.body, "\n") {
		return f.encodeAll([]string{text + "\n", text})
	}
	return f.encodeAll([]string{text})
}

// find returns the index of the cell that is meant, or at which one is inserted.
func (n notebookEdit) find(cells *tree) (int, error) {
	if n.cell == "" {
		return 0, nil
	}
	id := stringToken(n.cell)
	at := slices.IndexFunc(cells.items, func(c *tree) bool {
		v := c.member("id")
		return v != nil && v.token == id
	})
	if digits, ok := strings.CutPrefix(n.cell, "cell-"); at < 0 && ok && digits != "" &&
		strings.Trim(digits, "0123456789") == "" {
		i, err := strconv.Atoi(digits)
		if err != nil || i >= len(cells.items) {
			return 0, fmt.Errorf("there is no cell %s in the notebook, which has %d; they are counted from 0", digits,
				len(cells.items))
		}
		at = i
	}
	switch {
	case at < 0:
		return 0, fmt.Errorf("no cell of the notebook has the id %s; read it again", quote(n.cell))
	case n.mode == "insert":
		at++
	}
	return at, nil
}

// inserted is the cell that is inserted. Notebooks of format 4.5 and later give their cells an id.
func (n notebookEdit) inserted(book *tree) *tree {
	c := &tree{kind: '{'}
	c.set("cell_type", scalar(stringToken(n.kind)))
	major, minor := book.member("nbformat").number(), book.member("nbformat_minor").number()
	if major > 4 || major == 4 && minor >= 5 {
		c.set("id", scalar(stringToken(newCell)))
	}
	c.set("source", scalar(stringToken(n.source)))
	c.set("metadata", &tree{kind: '{'})
	if n.kind == "code" {
		c.set("execution_count", scalar("null"))
		c.set("outputs", &tree{kind: '['})
	}
	return c
}

// replace gives a cell the new source, and removes the output of its code.
func (n notebookEdit) replace(c *tree) {
	c.set("source", scalar(stringToken(n.source)))
	if kind := c.member("cell_type"); kind != nil && kind.token == stringToken("code") {
		c.set("execution_count", scalar("null"))
		c.set("outputs", &tree{kind: '['})
	}
	if n.kind != "" {
		c.set("cell_type", scalar(stringToken(n.kind)))
	}
}
