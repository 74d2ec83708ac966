package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/agent/call"
)

// A form is an editing tool of an agent: its names and the fields of its input.
type form struct {
	names []string
	when  string   // the value of the field "command"; "" for a tool without that field
	need  []string // required fields; a field may have several names ("file_path|path")
	may   []string // optional fields
	edits func(*input) []Edit
}

// forms are the tools, in the order in which they are tried. If two agents have tools of one name, the first whose
// fields fit counts.
func forms() []form {
	const file, old, repl = "file_path|path", "old_string", "new_string"
	claude := []string{"replace_all", "explanation"}
	gemini := []string{"modified_by_user", "ai_proposed_content"}
	editor := []string{"str_replace_editor", "str_replace_based_edit_tool"}
	union := []string{"file_text", "old_str", "new_str", "insert_line", "insert_text",
		"view_range", "forceReadLargeFiles"}
	return []form{
		// Claude Code, and Cursor, whose hooks use its names.
		{[]string{"Write"}, "", []string{file, "content|contents"}, []string{"explanation"}, claudeWrites},
		{[]string{"Edit", "StrReplace", "search_replace"}, "", []string{file, old, repl}, claude, claudeEdits},
		{[]string{"MultiEdit", "Edit"}, "", []string{file, "edits"}, nil, claudeMultiEdits},
		{[]string{"NotebookEdit"}, "", []string{"notebook_path", "new_source"},
			[]string{"cell_id", "cell_type", "edit_mode"}, notebookEdits},
		{[]string{"Delete", "delete_file"}, "", []string{"file_path|path|target_file"},
			[]string{"explanation"}, removals},
		// Gemini CLI.
		{[]string{"write_file"}, "", []string{"file_path", "content"}, gemini, geminiWrites},
		{[]string{"replace"}, "", []string{"file_path", old, repl},
			append([]string{"instruction", "expected_replacements", "allow_multiple"}, gemini...), geminiEdits},
		// Copilot.
		{[]string{"create"}, "", []string{"path", "file_text"}, nil, copilotCreates},
		{[]string{"edit", "str_replace"}, "", []string{"path", "new_str"}, []string{"old_str"}, copilotEdits},
		{[]string{"insert"}, "", []string{"path", "insert_line", "new_str|insert_text"}, nil, copilotInserts},
		{editor, "view", []string{"command", "path"}, union, noEdits},
		{editor, "create", []string{"command", "path", "file_text"}, union, copilotCreates},
		{editor, "str_replace", []string{"command", "path", "new_str"}, union, copilotEdits},
		{editor, "edit", []string{"command", "path", "new_str"}, union, copilotEdits},
		{editor, "insert", []string{"command", "path", "insert_line", "new_str|insert_text"}, union, copilotInserts},
		// Visual Studio Code.
		{[]string{"create_file"}, "", []string{"filePath", "content"}, nil, codeCreates},
		{[]string{"replace_string_in_file"}, "", codeFields(), []string{"explanation"}, codeEdits},
		{[]string{"multi_replace_string_in_file"}, "", []string{"replacements"}, []string{"explanation"},
			codeMultiEdits},
		// Codex, Copilot and Cursor. Codex's hooks have the patch as "command".
		{patchTools(), "", []string{"command|input|patch"}, nil, patchEdits},
		// The agent's own model writes, or the source is not public.
		{[]string{
			"edit_file", "edit_notebook", "EditNotebook", "edit_notebook_file", "fs_write", "insert_edit_into_file",
			"editFiles", "edit_files", "createFile", "deleteFile", "create_new_jupyter_notebook",
		}, "", nil, nil, unsupported},
	}
}

func patchTools() []string { return []string{"apply_patch", "applypatch", "ApplyPatch"} }

// almost returns the known tool whose name differs only in case, spaces or invisible characters, or "". Some agents may
// treat both as one tool.
func almost(tool string) string {
	if call.Known(tool).Capability != "" {
		return ""
	}
	plain := func(name string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, name)
	}
	for _, f := range forms() {
		for _, name := range f.names {
			if plain(name) == plain(tool) {
				return name
			}
		}
	}
	return ""
}

var errCommand = errors.New("the field command is not view, create, str_replace, edit or insert")

func noEdits(*input) []Edit { return nil }

func unsupported(in *input) []Edit {
	in.fail("policyscan does not know how it edits files; " +
		"replace a text of the file, write a new one, or let a person do it")
	return nil
}

func removals(in *input) []Edit { return []Edit{{Path: in.path(), Remove: true}} }

// notebookEdits refuses edits of a notebook's cells: the agent reformats the rest of the file.
func notebookEdits(in *input) []Edit {
	return in.edit(func(string, bool) ([]string, error) {
		return nil, errors.New("edits of a notebook's cells are not computed; write the whole file")
	})
}

// read returns the fields of a call, if they fit the form. A null field counts as missing.
func (f form) read(c *call.Call) (*input, error) {
	in := &input{tool: c.Tool, fields: map[string]*call.Value{}}
	for _, m := range c.Input.Members() {
		if m.Value.Kind() != call.Null {
			in.fields[m.Name] = m.Value
		}
	}
	if f.when != "" && in.fields["command"].Str() != f.when {
		return in, errCommand
	}
	known := slices.Clone(f.may)
	for _, need := range f.need {
		names := strings.Split(need, "|")
		known = append(known, names...)
		have := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return in.fields[name] == nil })
		switch {
		case len(have) == 0:
			return in, fmt.Errorf("the field %s is missing", strings.Join(names, " or "))
		case len(have) > 1:
			return in, fmt.Errorf("it has the fields %s, but only one is used; remove the others",
				strings.Join(have, " and "))
		}
	}
	if f.need == nil { // refused with any fields
		return in, nil
	}
	for _, m := range c.Input.Members() {
		if in.fields[m.Name] != nil && !slices.Contains(known, m.Name) {
			return in, fmt.Errorf("the field %q is not known, so policyscan cannot determine what it changes", m.Name)
		}
	}
	return in, nil
}

// An input has the fields of a call of a known form, and the first error in them: later values mean nothing.
type input struct {
	tool   string
	fields map[string]*call.Value
	err    error
}

// fail keeps the first error.
func (in *input) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fmt.Errorf("%s: "+format, append([]any{in.tool}, args...)...)
	}
}

// text returns the first of some fields that exists, which must be a string.
func (in *input) text(names ...string) string {
	for _, name := range names {
		v := in.fields[name]
		if v == nil {
			continue
		}
		if v.Kind() != call.String {
			in.fail("the field %s is not a string", name)
		}
		return v.Str()
	}
	in.fail("the field %s is missing", strings.Join(names, " or "))
	return ""
}

// flag returns a boolean, false for a missing field.
func (in *input) flag(name string) bool {
	v := in.fields[name]
	if v != nil && v.Kind() != call.Bool {
		in.fail("the field %s is neither true nor false", name)
	}
	return v.True()
}

func (in *input) number(name string) int {
	n := in.fields[name].Num()
	if in.fields[name].Kind() != call.Number || n != float64(int(n)) || n < 0 || n > MaxBytes {
		in.fail("the field %s is not a whole number from 0 to %d", name, MaxBytes)
		return 0
	}
	return int(n)
}

func (in *input) path() string {
	path := in.text("file_path", "path", "notebook_path", "target_file", "filePath")
	if err := checkPath(in.tool, path); err != nil {
		in.fail("%w", err)
	}
	return path
}

func (in *input) edit(c change) []Edit { return []Edit{{Path: in.path(), change: c}} }

// checkPath refuses a path that some agents read as another: they strip U+0000 or spaces at the ends, or expand ~.
func checkPath(tool, path string) error {
	switch {
	case strings.TrimSpace(path) == "":
		return errors.New("the path is empty")
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("the path %q has the character U+0000", path)
	case trim(path) != path:
		return fmt.Errorf("the path %q begins or ends with whitespace, which some agents remove; "+
			"write it without", path)
	case path == "~", strings.HasPrefix(path, "~/"), strings.HasPrefix(path, `~\`):
		return fmt.Errorf("the path %q begins with ~, which some agents read as the home directory; "+
			"write the directory, or ./~", path)
	case slices.Contains(geminiTools(), tool):
		if mark := geminiMarks().FindString(path); mark != "" {
			return fmt.Errorf("the path %q has %s, which Gemini CLI may take for something else after this; "+
				"write the file's own name, and ./ before an @", path, mark)
		}
	}
	return nil
}
