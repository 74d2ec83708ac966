package edit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/edit"
	"github.com/policyscan/policyscan/internal/cputime"
)

type object = map[string]any

// of is the edits of a call, whose input is given as Go values.
func of(t *testing.T, tool string, input object) ([]edit.Edit, error) {
	t.Helper()
	return edit.Of(&call.Call{Tool: tool, Input: value(t, input), Dir: "/work"})
}

// value is an input that is given as Go values.
func value(t testing.TB, input object) *call.Value {
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

// A story is a call, and what is wanted of it: each content that its file may hold after it; or a part of the
// error; or the files that it edits.
type story struct {
	Name, Tool string
	Input      json.RawMessage
	Before     *string // what the file holds; nil without a file
	After      []string
	Err        string
	Edits      *string // as show writes them
	Paths      *string // of [edit.Paths]; "" is an error
}

func (s story) run(t *testing.T) {
	t.Helper()
	input, err := call.ParseValue(s.Input)
	if err != nil {
		t.Fatal(err)
	}
	c := &call.Call{Tool: s.Tool, Input: input, Dir: "/work"}
	if s.Paths != nil {
		s.runPaths(t, c)
		return
	}
	edits, err := edit.Of(c)
	if s.Edits != nil {
		if err != nil || show(edits) != *s.Edits {
			t.Fatalf("%q, %v; want %q", show(edits), err, *s.Edits)
		}
		return
	}
	var got []string
	if err == nil {
		if len(edits) != 1 || edits[0].Remove {
			t.Fatalf("edits: %+v", edits)
		}
		var before []byte
		if s.Before != nil {
			before = []byte(*s.Before)
		}
		var all [][]byte
		all, err = edits[0].After(before, s.Before != nil)
		for _, a := range all {
			got = append(got, string(a))
		}
	}
	switch {
	case s.Err == "" && err != nil:
		t.Fatal(err)
	case s.Err != "" && (err == nil || !strings.Contains(err.Error(), s.Err)):
		t.Fatalf("error %v, want %q; contents %q", err, s.Err, got)
	case s.Err == "" && !slices.Equal(got, s.After):
		t.Fatalf("after:\n got %q\nwant %q", got, s.After)
	}
}

// runPaths wants the files of a call to be these, without what they would hold.
func (s story) runPaths(t *testing.T, c *call.Call) {
	t.Helper()
	edits, err := edit.Paths(c)
	var got []string
	for _, e := range edits {
		got = append(got, e.Path)
		if _, err := e.After(nil, false); err == nil {
			t.Error("there is a change")
		}
	}
	if strings.Join(got, " ") != *s.Paths || (err != nil) != (*s.Paths == "") {
		t.Errorf("%q, %v, want %q", got, err, *s.Paths)
	}
}

// show is what edits do, without how.
func show(edits []edit.Edit) string {
	var all []string
	for _, e := range edits {
		s := e.Path
		if e.From != "" {
			s = e.From + " > " + s
		}
		if e.Remove {
			s = "-" + s
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

// stories are those of testdata/edits.jsonl.
func stories(t testing.TB) []story {
	t.Helper()
	text, err := os.ReadFile("testdata/edits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []story
	for line := range bytes.Lines(text) {
		var s story
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, s)
	}
	return all
}

func TestStories(t *testing.T) {
	for _, s := range stories(t) {
		t.Run(s.Name, s.run)
	}
}

// after is each content that a file may hold after a call, or the error.
func after(t testing.TB, tool string, input object, before string) ([]string, error) {
	t.Helper()
	edits, err := edit.Of(&call.Call{Tool: tool, Input: value(t, input)})
	if err != nil {
		return nil, err
	}
	all, err := edits[0].After([]byte(before), true)
	var got []string
	for _, a := range all {
		got = append(got, string(a))
	}
	return got, err
}

// TestMostContents: as many contents as may be possible.
func TestMostContents(t *testing.T) {
	var edits []object
	for _, old := range []string{"a", "b", "c", "d"} {
		edits = append(edits, object{"old_string": old, "new_string": ""})
	}
	got, err := after(t, "MultiEdit", object{"file_path": "a", "edits": edits}, "a\n1\nb\n2\nc\n3\nd\n4\n")
	if err != nil || len(got) != 16 {
		t.Errorf("%d, %v", len(got), err)
	}
}

// TestNotUTF8: a file that is not UTF-8 is not edited, and can be written over if it is not UTF-16.
func TestNotUTF8(t *testing.T) {
	write := object{"file_path": "a", "content": "x"}
	for _, c := range []struct {
		tool        string
		input       object
		before, err string
	}{
		{"Write", write, "\xff\xfeA\x00", "the file is UTF-16"}, {"Write", write, "\xff", ""},
		{"Edit", change("a", "b", "x"), "\xff\xfeb\x00", "not UTF-8"},
		{"Edit", change("a", "b", "x"), "b\xff", "not UTF-8"},
		{"replace", change("a", "b", "x"), "b\xff", "not UTF-8"},
		{"apply_patch", update("@@", "-z", "+x"), "z\xff\n", "not UTF-8"},
	} {
		got, err := after(t, c.tool, c.input, c.before)
		if c.err == "" && (err != nil || !slices.Equal(got, []string{"x"})) ||
			c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s over %q: %q, %v", c.tool, c.before, got, err)
		}
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
	for _, tool := range []string{"edit_file", "fs_write", "EditNotebook", "insert_edit_into_file", "edit_notebook_file",
		"editFiles", "createFile", "deleteFile"} {
		edits, err := of(t, tool, object{"target_file": "a", "code_edit": "b"})
		if err == nil || !strings.Contains(err.Error(), "policyscan does not know") {
			t.Errorf("%s: %v, %v", tool, edits, err)
		}
	}
	if _, err := edit.Of(&call.Call{Tool: "Write"}); err == nil {
		t.Error("Write without an input is no error")
	}
}

// TestAlmostKnown: a name that differs from a known one in case, spaces or invisible characters alone may be
// that tool for an agent, so it is not one that edits nothing.
func TestAlmostKnown(t *testing.T) {
	input := object{"file_path": "a", "content": "b"}
	for tool, known := range map[string]string{
		"write": "Write", "WRITE": "Write", " Write": "Write", "Write\n": "Write", "Wr\u200bite": "Write",
		"multiedit": "MultiEdit", "Write_File": "write_file", "Create": "create", "APPLY_PATCH": "apply_patch",
		"Fs_Write": "fs_write", "EDIT\u00a0": "Edit",
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
	for _, tool := range []string{"", "Read", "read", "mcp__fs__write_file", "mcp_fs_write_file", "fs-write",
		"MCP:Write", "Writer", "write-file", "TodoWrite"} {
		if edits, err := of(t, tool, input); err != nil || len(edits) != 0 {
			t.Errorf("%q: %v, %v", tool, edits, err)
		}
	}
}

var long = flag.Bool("long", false, "edit files of the largest size in each way")

// TestTooLarge: no content is over MaxBytes, before or after, and what has MaxBytes is edited.
func TestTooLarge(t *testing.T) {
	if cputime.RaceDetector {
		t.Skip("SKIPPED: the race detector has nothing to find here, and takes long")
	}
	lines := func(line string, size int) string { return strings.Repeat(line, size/len(line)) }
	lf, crlf := strings.Repeat("a", 1023)+"\n", strings.Repeat("a", 1022)+"\r\n"
	for _, c := range []struct {
		name, tool string
		input      object
		contents   func() (before, after string) // made one at a time; without after it is an error
	}{
		{"a file", "Edit", change("a", "b", "c"), func() (string, string) { return lines("a\n", edit.MaxBytes) + "b", "" }},
		{"an edit", "Edit", change("a", "b", "cc"), func() (string, string) {
			return lines("a\n", edit.MaxBytes)[1:] + "b", ""
		}},
		{"many edits", "Edit", change("a", "a", strings.Repeat("b", 200), "replace_all", true),
			func() (string, string) { return lines("a\n", 1<<20), "" }},
		{"line ends", "Edit", change("a", "q", "\n\n\n"), func() (string, string) {
			return lines("\r\n", edit.MaxBytes-4) + "q", ""
		}},
		{"the largest", "Edit", change("a", "b", "c"), func() (string, string) {
			text := lines(lf, edit.MaxBytes)[1:]
			return text + "b", text + "c"
		}},
		{"one that gets smaller", "Edit", change("a", "bb", "c"), func() (string, string) {
			text := lines(lf, edit.MaxBytes)[2:]
			return text + "bb", text + "c"
		}},
		{"in CRLF", "Edit", change("a", "b", "c"), func() (string, string) {
			text := lines(crlf, edit.MaxBytes)[1:]
			return "b" + text, "c" + text
		}},
		{"of Copilot", "edit", object{"path": "a", "old_str": "b", "new_str": "c"}, func() (string, string) {
			text := lines(lf, edit.MaxBytes)[1:]
			return text + "b", text + "c"
		}},
		{"by a patch", "apply_patch", update("@@", "-b", "+c"), func() (string, string) {
			text := lines(lf, edit.MaxBytes)[2:]
			return text + "b\n", text + "c\n"
		}},
	} {
		quick := []string{"a file", "many edits"} // the others copy the largest file several times
		if !*long && !slices.Contains(quick, c.name) {
			continue
		}
		before, want := c.contents()
		got, err := after(t, c.tool, c.input, before)
		if want == "" && (err == nil || !strings.Contains(err.Error(), "over 67108864 bytes")) ||
			want != "" && (err != nil || len(got) != 1 || got[0] != want) {
			t.Errorf("%s: %d contents, %v", c.name, len(got), err)
		}
	}
}

// patch is a patch of some lines.
func patch(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// update is the input of apply_patch that updates the file a.
func update(lines ...string) object {
	return object{"command": patch(append([]string{"*** Update File: a"}, lines...)...)}
}

// TestPatchTime: looking for lines takes time by the size of the file and the patch,
// not by their product, which would be minutes here.
func TestPatchTime(t *testing.T) {
	lines := slices.Repeat([]string{"-a"}, 200_000)
	input := update(slices.Concat([]string{"@@"}, lines, []string{"-b"})...)
	_, err := after(t, "apply_patch", input, strings.Repeat("a\n", 1_000_000))
	if err == nil || !strings.Contains(err.Error(), "are not in the file") {
		t.Error(err)
	}
}

// TestPatchParts: a patch with many parts for a large file is an error, before it takes minutes.
func TestPatchParts(t *testing.T) {
	lines := slices.Repeat([]string{"@@", "-a"}, 1000)
	_, err := after(t, "apply_patch", update(lines...), strings.Repeat("a\n", 1_000_000))
	if err == nil || !strings.Contains(err.Error(), "too many parts") {
		t.Error(err)
	}
}

// TestLongPatch: the time to read a file that is added grows with its length, not with its square.
func TestLongPatch(t *testing.T) {
	text := "*** Begin Patch\n*** Add File: a\n" + strings.Repeat("+a\n", 200_000) + "*** End Patch"
	took := cputime.Of(func() {
		made, err := after(t, "apply_patch", object{"command": text}, "")
		if err != nil || len(made) != 1 || len(made[0]) != 400_000 {
			t.Error(len(made), err)
		}
	})
	if took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestTwoCommands: of two fields that may be the command, neither hides a patch.
func TestTwoCommands(t *testing.T) {
	hidden := "apply_patch <<'EOF'\n" + patch("*** Add File: a", "+x") + "EOF\n"
	for _, fields := range [][2]string{{"ls", hidden}, {hidden, "ls"}} {
		edits, err := of(t, "exec_command", object{"command": fields[0], "cmd": fields[1]})
		if err == nil && len(edits) == 0 {
			t.Errorf("%q: no edit is seen", fields)
		}
	}
}
