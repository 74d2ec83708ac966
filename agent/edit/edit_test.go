package edit_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/edit"
)

type object = map[string]any

// of is the edits of a call, whose input is given as Go values.
func of(t *testing.T, tool string, input object) ([]edit.Edit, error) {
	t.Helper()
	return edit.Of(&call.Call{Tool: tool, Input: value(t, input), Dir: "/work"})
}

// value is an input that is given as Go values.
func value(t *testing.T, input object) *call.Value {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	v, err := call.ParseValue(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// absent is the content of a file that is not there.
const absent = "\x00absent"

// A story is a call and what a file holds before and after it, each way that is possible; or a part of
// the error.
type story struct {
	name   string
	tool   string
	input  object
	before string
	after  []string
	err    string
}

func (s story) run(t *testing.T) {
	t.Helper()
	edits, err := of(t, s.tool, s.input)
	var got []string
	if err == nil {
		if len(edits) != 1 || edits[0].Remove {
			t.Fatalf("edits: %+v", edits)
		}
		var all [][]byte
		before := s.before
		if before == absent {
			before = ""
		}
		all, err = edits[0].After([]byte(before), s.before != absent)
		for _, a := range all {
			got = append(got, string(a))
		}
	}
	switch {
	case s.err == "" && err != nil:
		t.Fatal(err)
	case s.err != "" && (err == nil || !strings.Contains(err.Error(), s.err)):
		t.Fatalf("error %v, want %q; contents %q", err, s.err, got)
	case s.err == "" && !slices.Equal(got, s.after):
		t.Fatalf("after:\n got %q\nwant %q", got, s.after)
	}
}

func run(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) { s.run(t) })
	}
}

// change is an input of Claude Code's Edit.
func change(path, old, repl string, more ...any) object {
	o := object{"file_path": path, "old_string": old, "new_string": repl}
	for i := 0; i < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

func TestClaudeWrite(t *testing.T) {
	write := func(path, content string) object { return object{"file_path": path, "content": content} }
	run(t, []story{
		{name: "a new file", tool: "Write", input: write("a.tf", "x\n"), before: absent, after: []string{"x\n"}},
		{name: "over a file, whose line ends are not kept", tool: "Write", input: write("a.tf", "x\ny\n"), before: "a\r\nb\r\n", after: []string{"x\ny\n"}},
		{name: "blanks at line ends may be taken off", tool: "Write", input: write("a.tf", "x \ny\t\r\nz"), before: absent, after: []string{"x \ny\t\r\nz", "x\ny\r\nz"}},
		{name: "those that JavaScript has", tool: "Write", input: write("a.tf", "x\u2000\ny\u200a\nz\u200b\n"), before: absent, after: []string{"x\u2000\ny\u200a\nz\u200b\n", "x\ny\nz\u200b\n"}},
		{name: "of blank lines nothing else is taken off", tool: "Write", input: write("a.tf", "\n\r\n\rx \n"), before: absent, after: []string{"\n\r\n\rx \n", "\n\r\n\rx\n"}},
		{name: "but not in Markdown", tool: "Write", input: write("A.MD", "x \n"), before: absent, after: []string{"x \n"}},
		{name: "over a file in UTF-16", tool: "Write", input: write("a", "xé\U0001d11e"), before: "\xff\xfeA\x00", err: "the file is UTF-16"},
		{name: "a file that is not UTF-8 is written over", tool: "Write", input: write("a", "x"), before: "\xff", after: []string{"x"}},
		{name: "Cursor's fields", tool: "Write", input: object{"path": "a", "contents": "x"}, before: absent, after: []string{"x"}},
		{name: "no content", tool: "Write", input: object{"file_path": "a"}, err: "the field content or contents is missing"},
		{name: "content that is no text", tool: "Write", input: object{"file_path": "a", "content": 5}, err: "the field content is not a string"},
		{name: "null is missing", tool: "Write", input: object{"file_path": nil, "content": "x"}, err: "the field file_path or path is missing"},
		{name: "two paths", tool: "Write", input: object{"file_path": "a", "path": "b", "content": "x"}, err: "it has the fields file_path and path"},
		{name: "an empty path", tool: "Write", input: write(" ", "x"), err: "the path is empty"},
		{name: "a path that ends with a blank", tool: "Write", input: write("a.tf ", "x"), err: "whitespace"},
		{name: "a path that begins with a blank", tool: "Write", input: write("\u00a0/a.tf", "x"), err: "whitespace"},
		{name: "a path in the home folder", tool: "Write", input: write("~/a.tf", "x"), err: "home folder"},
		{name: "a path with U+0000", tool: "Write", input: write("a\x00b", "x"), err: "U+0000"},
		{name: "a field that is not known", tool: "Write", input: object{"file_path": "a", "content": "x", "append": true}, err: `the field "append" is not known`},
	})
}

func TestClaudeEdit(t *testing.T) {
	run(t, []story{
		{name: "the only occurrence", tool: "Edit", input: change("a", "b", "x"), before: "abc", after: []string{"axc"}},
		{name: "none", tool: "Edit", input: change("a", "z", "x"), before: "abc", err: `the old text "z" does not occur in the file exactly`},
		{name: "several", tool: "Edit", input: change("a", "b", "x"), before: "bb", err: "occurs 2 times in the file, not 1; add lines around it, or replace all"},
		{name: "several, all of them", tool: "Edit", input: change("a", "b", "x", "replace_all", true), before: "b b", after: []string{"x x"}},
		{name: "none, all of them", tool: "Edit", input: change("a", "z", "x", "replace_all", true), before: "b b", err: "does not occur"},
		{name: "old and new the same", tool: "Edit", input: change("a", "b", "b"), before: "abc", err: "are the same"},
		{name: "old and new empty", tool: "Edit", input: change("a", "", ""), before: "x", err: "the old text is empty"},
		{name: "old and new empty, of no file", tool: "Edit", input: change("a", "", ""), before: absent, after: []string{""}},
		{name: "an empty old_string makes a file", tool: "Edit", input: change("a", "", "x\n"), before: absent, after: []string{"x\n"}},
		{name: "or fills an empty one", tool: "Edit", input: change("a", "", "x\n"), before: "", after: []string{"x\n"}},
		{name: "but no other", tool: "Edit", input: change("a", "", "x\n"), before: "a", err: "the old text is empty, and the file is not"},
		{name: "CRLF after a long line", tool: "Edit", input: change("a", "b", "x"), before: "b" + strings.Repeat("é", 4093) + "\r\n", after: []string{"x" + strings.Repeat("é", 4093) + "\r\n"}},
		{name: "CRLF after a line that is too long to be seen", tool: "Edit", input: change("a", "b", "x"), before: "b" + strings.Repeat("é", 4094) + "\r\n", after: []string{"x" + strings.Repeat("é", 4094) + "\n"}},
		{name: "no file", tool: "Edit", input: change("a", "b", "x"), before: absent, err: "there is no such file"},
		{name: "a special character of patterns", tool: "Edit", input: change("a", "b", "$& $1"), before: "abc", after: []string{"a$& $1c"}},
		{name: "LF finds CRLF, and is written as CRLF", tool: "Edit", input: change("a", "a\nb", "x\ny"), before: "a\r\nb\r\n", after: []string{"x\r\ny\r\n"}},
		{name: "CRLF finds nothing", tool: "Edit", input: change("a", "a\r\nb", "x"), before: "a\r\nb\r\n", err: "does not occur"},
		{name: "CRLF and LF", tool: "Edit", input: change("a", "b", "x"), before: "a\r\nb\nc\n", err: "lines that end in CRLF and others"},
		{name: "a text of 80 bytes is shown", tool: "Edit", input: change("a", strings.Repeat("z", 80), "x"), before: "b", err: `"` + strings.Repeat("z", 80) + `" does not`},
		{name: "and the beginning of a longer one", tool: "Edit", input: change("a", strings.Repeat("z", 81), "x"), before: "b", err: `"` + strings.Repeat("z", 80) + `"… does not`},
		{name: "up to a whole character", tool: "Edit", input: change("a", strings.Repeat("日", 27), "x"), before: "b", err: `"` + strings.Repeat("日", 26) + `"… does not`},
		{name: "a byte order mark is kept", tool: "Edit", input: change("a", "b", "x"), before: "\xef\xbb\xbfb", after: []string{"\xef\xbb\xbfx"}},
		{name: "UTF-16 is not read", tool: "Edit", input: change("a", "b", "x"), before: "\xff\xfeb\x00", err: "not UTF-8"},
		{name: "nor is what is not UTF-8", tool: "Edit", input: change("a", "b", "x"), before: "b\xff", err: "not UTF-8"},
		{name: "with nothing in its place the line end may go too", tool: "Edit", input: change("a", "b", ""), before: "a\nb\nc\n", after: []string{"a\n\nc\n", "a\nc\n"}},
		{name: "where there is one", tool: "Edit", input: change("a", "b", "", "replace_all", true), before: "b\nbc\nb", after: []string{"\nc\n", "bc\nb"}},
		{name: "not if it was named", tool: "Edit", input: change("a", "b\n", ""), before: "b\n\n", after: []string{"\n"}},
		{name: "blanks at line ends may be taken off", tool: "Edit", input: change("a", "b", "x \ny "), before: "b", after: []string{"x \ny ", "x\ny"}},
		{name: "quotes of print are not the plain ones", tool: "Edit", input: change("a", `"b"`, "x"), before: "“b”", err: "does not occur"},
		{name: "replace_all that is a text", tool: "Edit", input: change("a", "b", "x", "replace_all", "true"), before: "b", err: "replace_all is neither true nor false"},
		{name: "no new_string", tool: "Edit", input: object{"file_path": "a", "old_string": "b"}, err: "the field new_string is missing"},
		{name: "Cursor's StrReplace", tool: "StrReplace", input: object{"path": "a", "old_string": "b", "new_string": "x"}, before: "abc", after: []string{"axc"}},
		{name: "Cursor's search_replace", tool: "search_replace", input: change("a", "b", "x"), before: "abc", after: []string{"axc"}},
	})
}

func TestClaudeMultiEdit(t *testing.T) {
	edits := func(all ...object) object { return object{"file_path": "a", "edits": all} }
	one := func(old, repl string) object { return object{"old_string": old, "new_string": repl} }
	run(t, []story{
		{name: "edits build on each other", tool: "MultiEdit", input: edits(one("a", "b1"), one("1c", "d")), before: "ac", after: []string{"bd"}},
		{name: "one that finds nothing", tool: "MultiEdit", input: edits(one("a", "b"), one("z", "q")), before: "a", err: `edit 2: the old text "z" does not occur`},
		{name: "a new file", tool: "MultiEdit", input: edits(one("", "ab"), one("b", "c")), before: absent, after: []string{"ac"}},
		{name: "none", tool: "MultiEdit", input: object{"file_path": "a", "edits": []object{}}, err: "not a list of edits"},
		{name: "no list", tool: "MultiEdit", input: object{"file_path": "a", "edits": "x"}, err: "not a list of edits"},
		{name: "an edit without a field", tool: "MultiEdit", input: edits(object{"old_string": "a"}), err: "edit 1: the field new_string is missing"},
		{name: "an edit with a field too many", tool: "MultiEdit", input: edits(object{"old_string": "a", "new_string": "b", "count": 2}), err: `edit 1: the field "count" is not known`},
		{name: "Edit with a list of edits", tool: "Edit", input: edits(one("a", "b")), before: "a", after: []string{"b"}},
		{name: "too many that leave something open", tool: "MultiEdit", err: "more than 16 contents are possible", before: "a\n1\nb\n2\nc\n3\nd\n4\ne\n5\n",
			input: edits(one("a", ""), one("b", ""), one("c", ""), one("d", ""), one("e", ""))},
	})
	after := func(tool string, input object, before string) ([][]byte, error) {
		t.Helper()
		all, err := of(t, tool, input)
		if err != nil {
			t.Fatal(err)
		}
		return all[0].After([]byte(before), true)
	}
	if made, err := after("MultiEdit", edits(one("a", ""), one("b", ""), one("c", ""), one("d", "")), "a\n1\nb\n2\nc\n3\nd\n4\n"); err != nil || len(made) != 16 {
		t.Errorf("as many as may be left open: %d, %v", len(made), err)
	}
	if _, err := after("Edit", change("a", "z", "q"), "a"); err == nil || !strings.HasPrefix(err.Error(), "the old text") {
		t.Errorf("an only edit has no number: %v", err)
	}
}

func TestGemini(t *testing.T) {
	run(t, []story{
		{name: "write_file", tool: "write_file", input: object{"file_path": "a", "content": "x\n"}, before: absent, after: []string{"x\n"}},
		{name: "write_file: an @", tool: "write_file", input: object{"file_path": "@a", "content": "x"}, before: absent, err: "has @, which Gemini CLI"},
		{name: "write_file: an @ within", tool: "write_file", input: object{"file_path": "./@a/b@c 5%", "content": "x"}, before: absent, after: []string{"x"}},
		{name: "write_file: an escape", tool: "write_file", input: object{"file_path": "/b/m%2Etf", "content": "x"}, before: absent, err: "has %2E, which"},
		{name: "replace: an address", tool: "replace", input: change("File:///a", "b", "x"), before: "b", err: "has File:, which"},
		{name: "write_file over CRLF", tool: "write_file", input: object{"file_path": "a", "content": "x\ny\r\n"}, before: "a\r\nb\n", after: []string{"x\r\ny\r\n"}},
		{name: "write_file may take escapes out", tool: "write_file", input: object{"file_path": "a.go", "content": `a\nb\\"c\d`}, before: absent, after: []string{`a\nb\\"c\d`, "a\nb\"c\\d"}},
		{name: "not of JSON", tool: "write_file", input: object{"file_path": "a.JSON", "content": `a\nb`}, before: absent, after: []string{`a\nb`}},
		{name: "replace", tool: "replace", input: change("a", "b", "x", "instruction", "do it"), before: "abc", after: []string{"axc"}},
		{name: "replace with a dollar", tool: "replace", input: change("a", "b", "$&"), before: "abc", after: []string{"a$&c"}},
		{name: "replace: several", tool: "replace", input: change("a", "b", "x"), before: "bb", err: "occurs 2 times in the file, not 1"},
		{name: "replace: as many as expected", tool: "replace", input: change("a", "b", "x", "expected_replacements", 2), before: "bb", after: []string{"xx"}},
		{name: "replace: another number", tool: "replace", input: change("a", "b", "x", "expected_replacements", 3), before: "bb", err: "not 3"},
		{name: "replace: any number", tool: "replace", input: change("a", "b", "x", "allow_multiple", true), before: "bb", after: []string{"xx"}},
		{name: "replace: a number that is none", tool: "replace", input: change("a", "b", "x", "expected_replacements", 1.5), before: "bb", err: "is not a whole number"},
		{name: "replace: a new file", tool: "replace", input: change("a", "", "x"), before: absent, after: []string{"x"}},
		{name: "replace: a file that is there", tool: "replace", input: change("a", "", "x"), before: "", err: "the file exists"},
		{name: "replace: a file that is not", tool: "replace", input: change("a", "b", "x"), before: absent, err: "there is no such file"},
		{name: "replace: the same", tool: "replace", input: change("a", "b", "b"), before: "b", err: "are the same"},
		{name: "replace in CRLF", tool: "replace", input: change("a", "a\nb", "x\ny"), before: "a\r\nb\r\n", after: []string{"x\r\ny\r\n"}},
		{name: "replace at the end keeps the last line's, or not", tool: "replace", input: change("a", "b\n", "x"), before: "a\nb\n", after: []string{"a\nx\n", "a\nx"}},
		{name: "words with other blanks are not told", tool: "replace", input: change("a", "a  =  b", "x"), before: "a = b\n", err: "does not occur"},
		{name: "not UTF-8", tool: "replace", input: change("a", "b", "x"), before: "b\xff", err: "not UTF-8"},
	})
}

func TestCopilot(t *testing.T) {
	str := func(old, repl string) object { return object{"path": "a", "old_str": old, "new_str": repl} }
	put := func(line any, text string) object { return object{"path": "a", "insert_line": line, "new_str": text} }
	editor := func(command string, more object) object {
		more["command"], more["path"] = command, "a"
		return more
	}
	run(t, []story{
		{name: "create", tool: "create", input: object{"path": "a", "file_text": "x"}, before: absent, after: []string{"x"}},
		{name: "create what is there", tool: "create", input: object{"path": "a", "file_text": "x"}, before: "a", err: "the file already exists"},
		{name: "edit", tool: "edit", input: str("b", "x"), before: "abc", after: []string{"axc"}},
		{name: "str_replace", tool: "str_replace", input: str("b", "x"), before: "abc", after: []string{"axc"}},
		{name: "edit: CR before CRLF", tool: "edit", input: str("b", "x"), before: "a\r\r\nb\r\n", err: "agents differ"},
		{name: "insert before a byte order mark", tool: "insert", input: put(0, "x"), before: "\ufeffa\n", after: []string{"x\n\ufeffa\n"}},
		{name: "edit: a first line of blanks in CRLF", tool: "edit", input: str(" \nb", "x"), before: "a \r\nb\r\n", after: []string{"ax\r\n"}},
		{name: "edit: an empty first line in CRLF", tool: "edit", input: str("\nb\nc", "x"), before: "a\r\nb\r\nc\r\n", after: []string{"ax\r\n"}},
		{name: "edit: a first line of blanks behind others in CRLF", tool: "edit", input: str(" \nb", "x"), before: "a  \r\nb\r\n", err: "in several ways"},
		{name: "edit: lines in CRLF that a nearly equal one before overlaps", tool: "edit", input: str("a\na\n", "x"), before: "a \r\na\r\na\r\n", err: "in several ways"},
		{name: "edit: LF alone is found in CRLF", tool: "edit", input: str("\nb", "x"), before: "a\r\nb\r\n", after: []string{"a\rx\r\n"}},
		{name: "edit: blanks after several lines may go", tool: "edit", input: str("a\nb", "x"), before: "a\r\nb \r\n", after: []string{"x \r\n", "x\r\n"}},
		{name: "edit: several", tool: "edit", input: str("b", "x"), before: "bb", err: "occurs 2 times"},
		{name: "edit: none", tool: "edit", input: str("z", "x"), before: "bb", err: "does not occur"},
		{name: "edit: the same", tool: "edit", input: str("b", "b"), before: "bb", after: []string{"bb"}},
		{name: "edit: an empty file", tool: "edit", input: object{"path": "a", "new_str": "x"}, before: "", after: []string{"x"}},
		{name: "edit: an empty old_str", tool: "edit", input: str("", "x"), before: "a", err: "the old text is empty"},
		{name: "edit: no file", tool: "edit", input: str("a", "x"), before: absent, err: "there is no such file"},
		{name: "edit: no new_str", tool: "edit", input: object{"path": "a", "old_str": "a"}, err: "the field new_str is missing"},
		{name: "edit: a path of Claude Code's", tool: "edit", input: change("a", "b", "c"), err: "the field path is missing"},
		{name: "edit: LF finds CRLF, and is written as CRLF", tool: "edit", input: str("a\nb\n", "x\ny\n"), before: "a\r\nb\r\nc\r\n", after: []string{"x\r\ny\r\nc\r\n"}},
		{name: "edit: more blanks at line ends", tool: "edit", input: str("a\nb", "x"), before: "0a \t\nb  c", err: "does not occur in the file exactly"},
		{name: "edit: the first of two lines alone", tool: "edit", input: str("a\nz", "x"), before: "a \nb\n", err: "does not occur"},
		{name: "edit: the second of two lines alone", tool: "edit", input: str("a\nb", "x"), before: "q \nb\n", err: "does not occur"},
		{name: "edit: CRLF and LF", tool: "edit", input: str("b", "x\ny"), before: "\na\r\nb\r\n", err: "lines that end in CRLF and others"},
		{name: "edit: LF if there is none", tool: "edit", input: str("b", "x\r\ny"), before: "abc", after: []string{"ax\nyc"}},
		{name: "insert before the first line", tool: "insert", input: put(0, "x"), before: "a\nb\n", after: []string{"x\na\nb\n"}},
		{name: "insert behind a line", tool: "insert", input: object{"path": "a", "insert_line": 1, "insert_text": "x"}, before: "a\nb\n", after: []string{"a\nx\nb\n"}},
		{name: "insert behind the last", tool: "insert", input: put(2, "x"), before: "a\nb\n", after: []string{"a\nb\nx\n"}},
		{name: "insert behind a last line without end", tool: "insert", input: put(2, "x"), before: "a\nb", after: []string{"a\nb\nx"}},
		{name: "insert far behind", tool: "insert", input: put(4, "x"), before: "a\nb", err: "the file has no line 4; it has 2"},
		{name: "insert in CRLF", tool: "insert", input: put(1, "x\ny"), before: "a\r\nb\r\n", after: []string{"a\r\nx\r\ny\r\nb\r\n"}},
		{name: "insert behind the last, in CRLF", tool: "insert", input: put(2, "x"), before: "a\r\nb", after: []string{"a\r\nb\r\nx"}},
		{name: "insert nowhere", tool: "insert", input: put(-1, "x"), err: "is not a whole number"},
		{name: "insert at a text", tool: "insert", input: put("1", "x"), err: "is not a whole number"},
		{name: "str_replace_editor create", tool: "str_replace_editor", input: editor("create", object{"file_text": "x"}), before: absent, after: []string{"x"}},
		{name: "str_replace_editor str_replace", tool: "str_replace_editor", input: editor("str_replace", object{"old_str": "b", "new_str": "x"}), before: "b", after: []string{"x"}},
		{name: "str_replace_editor edit", tool: "str_replace_editor", input: editor("edit", object{"old_str": "b", "new_str": "x", "file_text": ""}), before: "b", after: []string{"x"}},
		{name: "str_replace_based_edit_tool insert", tool: "str_replace_based_edit_tool", input: editor("insert", object{"insert_line": 1, "insert_text": "x"}), before: "a\n", after: []string{"a\nx\n"}},
		{name: "str_replace_editor without a field", tool: "str_replace_editor", input: editor("create", object{}), err: "the field file_text is missing"},
		{name: "str_replace_editor undo_edit", tool: "str_replace_editor", input: editor("undo_edit", object{}), err: "command is not view"},
	})
}

func TestNoEdit(t *testing.T) {
	for _, c := range []struct {
		tool  string
		input object
	}{
		{"Read", object{"file_path": "a"}},
		{"view", object{"path": "a"}},
		{"Grep", object{"pattern": "a"}},
		{"str_replace_editor", object{"command": "view", "path": "a"}},
		{"mcp__files__write", object{"path": "a", "content": "b"}},
		{"Bash", object{"command": "cat > f <<EOF\nx\nEOF\n"}},
		{"Bash", object{"command": "grep -rn apply_patch ."}},
		{"Bash", object{"command": "grep '*** Begin Patch' log"}},
		{"Bash", object{}},
	} {
		if edits, err := of(t, c.tool, c.input); err != nil || len(edits) != 0 {
			t.Errorf("%s %v: %v, %v", c.tool, c.input, edits, err)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, field := range []string{"file_path", "path", "target_file"} {
		edits, err := of(t, "Delete", object{field: "a/b", "explanation": "old"})
		if err != nil || len(edits) != 1 || edits[0].Path != "a/b" || !edits[0].Remove {
			t.Errorf("%s: %+v, %v", field, edits, err)
		}
	}
	if _, err := of(t, "Delete", object{}); err == nil {
		t.Error("no path is no error")
	}
}

// TestUntold: a tool that writes, of which it is not known what, is an error.
func TestUntold(t *testing.T) {
	for _, tool := range []string{"edit_file", "fs_write", "create_file", "EditNotebook", "replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", "edit_notebook_file"} {
		edits, err := of(t, tool, object{"target_file": "a", "code_edit": "b"})
		if err == nil || !strings.Contains(err.Error(), "policyscan does not know") {
			t.Errorf("%s: %v, %v", tool, edits, err)
		}
	}
	if _, err := edit.Of(&call.Call{Tool: "Write"}); err == nil {
		t.Error("Write without an input is no error")
	}
}

// TestAlmostKnown: a name that differs from a known one in letter case, spaces or invisible characters alone may be
// that tool for an agent, so it is not one that edits nothing.
func TestAlmostKnown(t *testing.T) {
	input := object{"file_path": "a", "content": "b"}
	for tool, known := range map[string]string{
		"write": "Write", "WRITE": "Write", " Write": "Write", "Write\n": "Write", "Wr\u200bite": "Write", "multiedit": "MultiEdit",
		"Write_File": "write_file", "Create": "create", "APPLY_PATCH": "apply_patch", "Fs_Write": "fs_write", "EDIT\u00a0": "Edit",
	} {
		if edits, err := of(t, tool, input); err == nil || !strings.Contains(err.Error(), "almost as "+known) {
			t.Errorf("%q: %v, %v", tool, edits, err)
		}
		edits, err := edit.Paths(&call.Call{Tool: tool, Input: value(t, input)})
		if known == "apply_patch" {
			if err == nil {
				t.Errorf("%q: the files are %v, and not in a patch", tool, edits)
			}
		} else if err != nil || len(edits) != 1 || edits[0].Path != "a" {
			t.Errorf("%q: the files are %v, %v", tool, edits, err)
		}
	}
	for _, tool := range []string{"", "Read", "read", "mcp__fs__write_file", "mcp_fs_write_file", "fs-write", "MCP:Write", "Writer", "write-file", "TodoWrite"} {
		if edits, err := of(t, tool, input); err != nil || len(edits) != 0 {
			t.Errorf("%q: %v, %v", tool, edits, err)
		}
	}
}

// TestPaths: where only the files matter, a tool that edits in a way that is not known still names them, and never
// fewer than an edit that is known.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		tool  string
		input object
		want  string // "" is an error
	}{
		{"Write", object{"file_path": "a", "content": "x"}, "a"},
		{"Write", object{"file_path": "a"}, "a"},
		{"Write", object{"file_path": "a", "path": "b", "content": "x"}, "a b"},
		{"Write", object{"file_path": "a", "path": nil, "such": 1}, "a"},
		{"Edit", object{"file_path": "a", "such": object{"path": "b"}}, "a b"},
		{"MultiEdit", object{"file_path": "a", "edits": []object{{"file_path": "./a"}, {"file_path": "b"}}}, "./a b"},
		{"NotebookEdit", object{"notebook_path": "a.ipynb", "such": true}, "a.ipynb"},
		{"edit_file", object{"target_file": "a"}, "a"},
		{"replace_string_in_file", object{"filePath": "a"}, "a"},
		{"multi_replace_string_in_file", object{"replacements": []object{{"filePath": "a"}, {"filePath": "b"}}}, "a b"},
		{"str_replace_editor", object{"command": "undo_edit", "path": "a"}, "a"},
		{"Write", object{"content": "x"}, ""},
		{"Write", object{"file_path": nil, "content": "x"}, ""},
		{"Write", object{"file_path": 1, "content": "x"}, ""},
		{"Write", object{"file_path": []string{"a"}, "content": "x"}, ""},
		{"Write", object{"file_path": "a", "such": object{"path": 1}}, ""},
		{"Write", object{"file_path": "a", "such": []object{{"path": " b"}}}, ""},
		{"Write", object{"file_path": "~/a", "such": 1}, ""},
		{"create", object{"row": 1}, ""},
		{"write_file", object{"file_path": "%2egitattributes", "content": "x"}, ""}, // Gemini CLI would write another file
		{"replace", object{"file_path": "file:a", "such": 1}, ""},
		{"write_file", object{"file_path": "./@a", "such": 1}, "./@a"},
		{"apply_patch", object{"command": "*** Begin Patch\n*** Nothing", "path": "a"}, ""},
		{"apply_patch", object{"command": patch("*** Add File: b", "+x"), "path": "a"}, ""},
		{"Bash", object{"command": "apply_patch x; echo '*** Begin Patch'", "path": "a"}, ""},
	} {
		edits, err := edit.Paths(&call.Call{Tool: c.tool, Input: value(t, c.input)})
		var got []string
		for _, e := range edits {
			got = append(got, e.Path)
			if _, err := e.After(nil, false); err == nil {
				t.Errorf("%s %v: there is a change", c.tool, c.input)
			}
		}
		if strings.Join(got, " ") != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %v: %q, %v, want %q", c.tool, c.input, got, err, c.want)
		}
	}
	moved := patch("*** Update File: a", "*** Move to: b", "@@", "-x", "+y")
	edits, err := edit.Paths(&call.Call{Tool: "apply_patch", Input: value(t, object{"command": moved})})
	if err != nil || len(edits) != 1 || edits[0].Path != "b" || edits[0].From != "a" {
		t.Errorf("%+v, %v", edits, err)
	}
	for _, tool := range []string{"Read", "mcp__files__write"} {
		if edits, err := edit.Paths(&call.Call{Tool: tool, Input: value(t, object{"path": "a"})}); err != nil || len(edits) > 0 {
			t.Errorf("%s: %+v, %v", tool, edits, err)
		}
	}
}

// TestNotebook: a file that is edited by cells is known, and what it would hold is not.
func TestNotebook(t *testing.T) {
	in := object{"notebook_path": "/n/a.ipynb", "cell_id": "a", "new_source": "x"}
	run(t, []story{{name: "a cell", tool: "NotebookEdit", input: in, before: "{}", err: "write the whole file"}})
	if edits, err := of(t, "NotebookEdit", in); err != nil || len(edits) != 1 || edits[0].Path != "/n/a.ipynb" {
		t.Errorf("%+v, %v", edits, err)
	}
}
