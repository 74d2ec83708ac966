package edit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/edit"
	"github.com/policyscan/policyscan/internal/cputime"
)

// patch is a patch of some lines.
func patch(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// update is the input of apply_patch that updates the file a.
func update(lines ...string) object {
	return object{"command": patch(append([]string{"*** Update File: a"}, lines...)...)}
}

func TestPatch(t *testing.T) {
	const tool = "apply_patch"
	run(t, []story{
		{name: "a line", tool: tool, input: update("@@", "-b", "+x"), before: "a\nb\nc\n", after: []string{"a\nx\nc\n"}},
		{name: "without @@", tool: tool, input: update(" a", "-b", "+x"), before: "a\nb\nc\n", after: []string{"a\nx\nc\n"}},
		{name: "the first of several", tool: tool, input: update("@@", "-b", "+x"), before: "b\nb\n", after: []string{"x\nb\n"}},
		{name: "below a context", tool: tool, input: update("@@ f", "-b", "+x"), before: "b\nf\nb\n", after: []string{"b\nf\nx\n"}},
		{name: "parts in the order of the file", tool: tool, input: update("@@", "-a", "+x", "@@", "-b", "+y"), before: "a\nb\na\n", after: []string{"x\ny\na\n"}},
		{name: "parts in another order", tool: tool, input: update("@@", "-b", "+y", "@@", "-a", "+x"), before: "a\nb\n", err: "part 2 of the patch: its lines, from \"a\" on, are not in the file exactly"},
		{name: "lines added at the end", tool: tool, input: update("@@", "+x"), before: "a\n", after: []string{"a\nx\n"}},
		{name: "lines added at the end, before an empty line or behind it", tool: tool, input: update("@@", "+x"), before: "a\n\n", err: "whose last line is empty"},
		{name: "at the end of the file", tool: tool, input: update("@@", "-b", "+x", "*** End of File"), before: "b\nb\n", after: []string{"b\nx\n"}},
		{name: "at the end of the file, where it is not", tool: tool, input: update("@@", "-b", "+x", "*** End of File"), before: "b\na\n", err: "are not in the file"},
		{name: "a last line gets an end", tool: tool, input: update("@@", "-b", "+x"), before: "a\nb", after: []string{"a\nx\n"}},
		{name: "lines added at the end, and a part above", tool: tool, input: update("@@", "+x", "@@", "-a", "+y"), before: "a\nb\n", after: []string{"y\nb\nx\n"}},
		{name: "lines added above a line", tool: tool, input: update("@@", "+x", " a"), before: "a\n", after: []string{"x\na\n"}},
		{name: "lines added below an empty one that is the end of the one before", tool: tool, input: update("@@", " a", " ", "+y"), before: "a\n", err: "are not in the file exactly"},
		{name: "below the first line", tool: tool, input: update("@@ f", "-b", "+x"), before: "f\nb\n", after: []string{"f\nx\n"}},
		{name: "an empty last line that is there", tool: tool, input: update("@@", "-a", "-", "+x"), before: "a\n\nb\n", after: []string{"x\nb\n"}},
		{name: "an empty file", tool: tool, input: update("@@", "+x"), before: "", after: []string{"x\n"}},
		{name: "blanks at the end of a line", tool: tool, input: update("@@", " a", "-b", "+x"), before: "a  \nb\t\n", err: "are not in the file exactly"},
		{name: "typographic characters", tool: tool, input: update("@@", "-a - 'b' \"c\" d", "+x"), before: "a – ‘b’ “c”\u00a0d\n", err: "are not in the file exactly"},
		{name: "exact comes before nearly", tool: tool, input: update("@@", "-b", "+x"), before: " b\nb\n", after: []string{" b\nx\n"}},
		{name: "CRLF is kept, or lost where the patch was", tool: tool, input: update("@@", " a", "-b", "+x"), before: "a\r\nb\r\nc\r\n", after: []string{"a\r\nx\r\nc\r\n", "a\nx\nc\r\n"}},
		{name: "CR", tool: tool, input: update("@@", "-b", "+x"), before: "a\rb\rc\r", err: "the file has CR alone"},
		{name: "CRLF behind a blank", tool: tool, input: update("@@", "-b", "+x"), before: "a \r\nb\r\n", after: []string{"a \r\nx\r\n", "a \r\nx\n"}},
		{name: "CRLF, and a last line without an end", tool: tool, input: update("@@", "-a", "+x"), before: "a\r\nb", after: []string{"x\r\nb\r\n", "x\nb\n"}},
		{name: "CRLF, and a last line without an end, which the older way finds first", tool: tool, input: update("@@", "-a", "+x"), before: "a\r\na", after: []string{"x\r\na\r\n", "a\r\nx\n"}},
		{name: "CRLF: the older way finds a line with a blank first", tool: tool, input: update("@@", "-a", "+x"), before: "a \r\na\r\n", err: "are not in the file exactly"},
		{name: "CRLF: several parts", tool: tool, input: update("@@ f", " a", "-b", "+x", "@@", "-a", "*** End of File"), before: "a\r\nf\r\na\r\nb\r\na\r\n", after: []string{"a\r\nf\r\na\r\nx\r\n", "a\r\nf\r\na\nx\n"}},
		{name: "CRLF: lines added at the end, below an empty one", tool: tool, input: update("@@", "+x"), before: "a\r\n\r\n", after: []string{"a\r\n\r\nx\r\n", "a\r\n\r\nx\n"}},
		{name: "CRLF and LF", tool: tool, input: update("@@", "-a", "+x"), before: "a\r\nb\n", err: "lines that end in CRLF and others that do not"},
		{name: "several parts and contexts", tool: tool, input: update("@@ f", "-b", "+x", "@@ g", " b", "+y", "@@", "-b"), before: "b\nf\nb\nb\ng\nb\nb\n", after: []string{"b\nf\nx\nb\ng\nb\ny\n"}},
		{name: "a context above the part before", tool: tool, input: update("@@", "-b", "+x", "@@ a", "-c", "+y"), before: "a\nb\nc\n", err: `the line "a" after @@ is not in the file exactly, or not below the part before`},
		{name: "a context nearly there", tool: tool, input: update("@@ a", "-b", "+x"), before: "a \nb\n", err: `the line "a" after @@ is not in the file exactly`},
		{name: "the second part is nearly there", tool: tool, input: update("@@", "-a", "+x", "@@", "-b", "+y"), before: "a\n b\n", err: "part 2 of the patch: its lines, from \"b\" on, are not in the file exactly"},
		{name: "lines added at the end in two parts", tool: tool, input: update("@@", "+x", "@@", " b", "+y"), before: "a\nb\n", err: "put them in different order"},
		{name: "an empty last line may go", tool: tool, input: update("@@", "-b", "+x"), before: "b\n\n", after: []string{"x\n\n", "x\n"}},
		{name: "a part after lines added at the end", tool: tool, input: update("@@ a", "+x", "@@", "-c", "+y"), before: "a\nb\nc\n", after: []string{"a\nb\ny\nx\n"}},
		{name: "at the end of the file, in the middle of a line", tool: tool, input: update("@@", "-b", "+x", "*** End of File"), before: "ab\n", err: "are not in the file exactly"},
		{name: "a byte order mark is part of its line", tool: tool, input: update("@@", "-b", "+x"), before: "\ufeffb\nb\n", after: []string{"\ufeffb\nx\n"}},
		{name: "a blank line in a part", tool: tool, input: update("@@", " a", "", "-b", "+x"), before: "a\n\nb\n", after: []string{"a\n\nx\n"}},
		{name: "a blank line behind the end of the file", tool: tool, input: update("@@", "-b", "+x", "*** End of File", ""), before: "b\n", after: []string{"x\n"}},
		{name: "lines that begin again within themselves", tool: tool, input: update("@@", "-a", "-a", "-b"), before: "a\na\na\nb\n", after: []string{"a\n"}},
		{name: "lines that only seem to begin again within themselves", tool: tool, input: update("@@", "-a", "-a", "-b", "-c"), before: "a\na\nb\na\nb\nc\n", err: "are not in the file"},
		{name: "each part is below the one before", tool: tool, input: update("@@", "-a", "+x", "@@", "-a", "+y"), before: "a\na\n", after: []string{"x\ny\n"}},
		{name: "parts that overlap at the end", tool: tool, input: update("@@", "-b", "+x", "@@", "-b", "+y", "*** End of File"), before: "b\n", err: "are not in the file exactly"},
		{name: "lines are not found", tool: tool, input: update("@@", "-z", "+x"), before: "a\n", err: "are not in the file"},
		{name: "a context is not found", tool: tool, input: update("@@ z", "-a", "+x"), before: "a\n", err: `part 1 of the patch: the line "z" after @@ is not in the file`},
		{name: "no file", tool: tool, input: update("@@", "-z", "+x"), before: absent, err: "there is no such file; create it"},
		{name: "not UTF-8", tool: tool, input: update("@@", "-z", "+x"), before: "z\xff\n", err: "not UTF-8"},
		{name: "a new file", tool: tool, input: object{"input": patch("*** Add File: a", "+x", "+", "++y")}, before: absent, after: []string{"x\n\n+y\n"}},
		{name: "a new file over one", tool: tool, input: object{"patch": patch("*** Add File: a", "+x")}, before: "a\n", after: []string{"x\n"}},
		{name: "a new file that is empty", tool: tool, input: object{"input": patch("*** Add File: a")}, before: absent, after: []string{""}},
		{name: "a new file that is then updated", tool: tool, input: object{"input": patch("*** Add File: a", "+x", "*** Update File: ./a", "@@", "-x", "+y")}, before: absent, after: []string{"y\n"}},
		{name: "updates of one file", tool: tool, input: object{"input": patch("*** Update File: a", "@@", "-b", "+c", "*** Update File: a", "@@", "-c", "+d")}, before: "b\n", after: []string{"d\n"}},
		{name: "updates of one file, each from its beginning", tool: tool, input: object{"input": patch("*** Update File: a", "-b", "+c", "*** Update File: ./a", "-a", "+d")}, before: "a\nb\n", after: []string{"d\nc\n"}},
		{name: "updates of one file in CRLF", tool: tool, input: object{"input": patch("*** Update File: a", "-b", "+c", "*** Update File: a", " a", "-c", "+d")}, before: "a\r\nb\r\ne\r\n", after: []string{"a\r\nd\r\ne\r\n", "a\nd\ne\r\n"}},
		{name: "an update of a line that the one before took away", tool: tool, input: object{"input": patch("*** Update File: a", "-b", "+c", "*** Update File: a", "-b", "+d")}, before: "b\n", err: "are not in the file exactly"},
		{name: "a new file in place of a removed one", tool: tool, input: object{"input": patch("*** Delete File: a", "*** Add File: a", "+x", "*** Update File: a", "+y")}, before: "b\n", after: []string{"x\ny\n"}},
		{name: "a file that moves and changes", tool: tool, input: object{"input": patch("*** Update File: a", "*** Move to: b", "@@", "-a", "+x", "@@", "-b", "+y")}, before: "a\nc\nb\n", after: []string{"x\nc\ny\n"}},
		{name: "as an argument list", tool: tool, input: object{"command": []string{"apply_patch", patch("*** Add File: a", "+x")}}, before: absent, after: []string{"x\n"}},
		{name: "as an here-document", tool: tool, input: object{"input": "<<'EOF'\n" + patch("*** Add File: a", "+x") + "EOF\n"}, before: absent, after: []string{"x\n"}},
		{name: "blanks around the marks, and CRLF", tool: tool, input: object{"input": " *** Begin Patch \r\n *** Add File: a \r\n+x\r\n *** End Patch \r\n"}, before: absent, after: []string{"x\n"}},
		{name: "a mark behind a blank is a line of an update", tool: tool, input: update("@@", " *** Update File: b", "-b", "+x"), before: "*** Update File: b\nb\n", after: []string{"*** Update File: b\nx\n"}},
	})
}

// TestPatchSyntax: what is not a patch is an error that names the line.
func TestPatchSyntax(t *testing.T) {
	for _, c := range []struct{ name, patch, err string }{
		{"nothing", "", "line 1 is not *** Begin Patch"},
		{"no end", "*** Begin Patch\n*** Add File: a\n+x", "line 3, the last, is not *** End Patch"},
		{"begin alone", "*** Begin Patch", "line 1, the last, is not *** End Patch"},
		{"no file", patch(), "line 2"},
		{"nothing in it", "*** Begin Patch\n*** End Patch", "the patch changes no file"},
		{"nothing in a here-document", "<<EOF\n*** Begin Patch\n*** End Patch\nEOF", "the patch changes no file"},
		{"no header in a here-document", "<<EOF\n*** Begin Patch\nx\n*** End Patch\nEOF", `line 3 "x" is not *** Add File: PATH`},
		{"no end in a here-document", "<<EOF\n*** Begin Patch\n*** Add File: a\n+x\nEOF", "line 4, the last, is not *** End Patch"},
		{"no header", patch("@@", "-a"), `line 2 "@@" is not *** Add File: PATH`},
		{"another environment", patch("*** Environment ID: b", "*** Add File: a", "+x"), "line 2"},
		{"an update without lines", patch("*** Update File: a"), `line 2: the update of "a" has no lines`},
		{"a move without lines", patch("*** Update File: a", "*** Move to: b"), `line 2: the update of "a" has no lines`},
		{"a @@ without lines", patch("*** Update File: a", "@@"), "has no lines, or none after its last @@"},
		{"two @@", patch("*** Update File: a", "@@ b", "@@ c", "-a"), "line 4: there is no line between"},
		{"a @@ that ends in a blank", patch("*** Update File: a", "@@ ", "-a"), "line 3: whitespace at the end of a @@ line"},
		{"a blank line first", patch("*** Update File: a", "", "@@", "-a"), "line 3: a blank line before the first line of an update"},
		{"a line of no kind", patch("*** Update File: a", "@@", "-a", "b"), `line 5 "b" does not belong there`},
		{"a line behind the end", patch("*** Update File: a", "@@", "-a", "*** End of File", "-b"), "line 6 comes after *** End of File"},
		{"an end of file first", patch("*** Update File: a", "*** End of File", "-b"), "line 3"},
		{"a line of a new file without +", patch("*** Add File: a", "+x", "y"), `line 4 "y" does not belong there`},
		{"a line behind a removal", patch("*** Delete File: a", "x"), `line 3 "x" does not belong there`},
		{"lines behind the end", patch("*** Add File: a", "+x") + "*** End", "is not *** End Patch"},
		{"two ends", patch("*** Add File: a", "+x", "*** End Patch"), "line 4"},
		{"a path of blanks", "*** Begin Patch\n*** Move to:  \n*** End Patch", "line 2"},
		{"a move to nowhere", patch("*** Update File: a", "*** Move to: ", "@@", "-a"), "line 3: the path that the file moves to is empty"},
		{"a move to itself", patch("*** Update File: a", "*** Move to: ./a", "@@", "-a"), "line 2: the patch moves \"a\" to itself"},
		{"a move of a changed file", patch("*** Add File: a", "+x", "*** Update File: a", "*** Move to: b", "@@", "-a"), ""},
		{"a move onto a changed file", patch("*** Add File: b", "+x", "*** Update File: a", "*** Move to: b", "@@", "-a"), `line 4: the patch moves "b" and changes it in another part`},
		{"a change of a moved file", patch("*** Update File: a", "*** Move to: b", "@@", "-a", "*** Update File: b", "@@", "-c"), `moves "b" and changes it in another part`},
		{"an update of a removed file", patch("*** Delete File: a", "*** Update File: a", "@@", "-c"), `line 3: the patch has already removed "a"`},
		{"a removal of a removed file", patch("*** Delete File: a", "*** Delete File: a"), "has already removed"},
	} {
		_, err := of(t, "apply_patch", object{"input": c.patch})
		if c.err == "" {
			c.err = "in another part"
		}
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
	for _, input := range []object{{}, {"input": 5}, {"input": "x", "command": "y"}, {"command": []string{"sh", "x"}}} {
		if edits, err := of(t, "apply_patch", input); err == nil {
			t.Errorf("%v: %v", input, edits)
		}
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

func TestPatchFiles(t *testing.T) {
	for _, c := range []struct{ name, patch, want string }{
		{"in the order of the patch", patch("*** Delete File: z", "*** Add File: b", "+x", "*** Update File: /c/d", "@@", "-a"), "-z, b, /c/d"},
		{"one edit for each file", patch("*** Add File: b", "+x", "*** Delete File: z", "*** Update File: b", "@@", "-x"), "b, -z"},
		{"a removed file that is added again", patch("*** Delete File: a", "*** Add File: a", "+x"), "a"},
		{"an added file that is removed again", patch("*** Add File: a", "+x", "*** Delete File: a"), "-a"},
		{"a file that moves", patch("*** Update File: a", "*** Move to: x/b", "@@", "-a", "+b"), "a > x/b"},
	} {
		edits, err := of(t, "apply_patch", object{"input": c.patch})
		if got := show(edits); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

// TestShellPatch: Codex applies a patch in a command of a shell by its own patch tool, in the forms that
// its parser knows; its hooks see the tool Bash.
func TestShellPatch(t *testing.T) {
	p := patch("*** Add File: a", "+x")
	quoted := "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
	for _, c := range []struct {
		name  string
		input object
		want  string
	}{
		{"a here-document", object{"command": "apply_patch <<'EOF'\n" + p + "EOF\n"}, "a"},
		{"with double quotes", object{"command": "apply_patch <<\"PATCH\"\n" + p + "PATCH"}, "a"},
		{"in a folder", object{"command": "cd sub/dir && apply_patch <<'EOF'\n" + p + "EOF\n"}, "sub/dir/a"},
		{"in a folder in quotes", object{"command": "cd 'my dir' && apply_patch <<'EOF'\n" + p + "EOF\n"}, "my dir/a"},
		{"in a workdir alone", object{"command": "apply_patch <<'EOF'\n" + p + "EOF\n", "workdir": "/w"}, "/w/a"},
		{"in a workdir", object{"command": "cd b && apply_patch <<'EOF'\n" + p + "EOF\n", "workdir": "/w"}, "/w/b/a"},
		{"whole paths in a folder", object{"command": "cd b && apply_patch <<'EOF'\n" + patch("*** Add File: /a", "+x") + "EOF\n"}, "/a"},
		{"whole paths of Windows in a folder", object{"command": "cd b && apply_patch <<'EOF'\n" + patch(`*** Add File: C:\a`, "+x") + "EOF\n"}, `C:\a`},
		{"as a list", object{"command": []string{"apply_patch", p}}, "a"},
		{"as a list with a shell", object{"command": []string{"/bin/bash", "-lc", "apply_patch <<'EOF'\n" + p + "EOF\n"}}, "a"},
	} {
		edits, err := of(t, "Bash", c.input)
		if got := show(edits); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
			continue
		}
		after, err := edits[0].After(nil, false)
		if err != nil || len(after) != 1 || string(after[0]) != "x\n" {
			t.Errorf("%s: %q, %v", c.name, after, err)
		}
	}
	for _, c := range []struct{ name, command string }{
		{"no quotes around the delimiter", "applypatch << EOF\n" + p + "EOF\n"},
		{"as an argument", "apply_patch " + quoted},
		{"as a line of a list with a shell", "bash -lc \"apply_patch <<'EOF'\n" + p + "EOF\n\""},
		{"another command before", "echo a; apply_patch <<'EOF'\n" + p + "EOF\n"},
		{"another command behind", "apply_patch <<'EOF'\n" + p + "EOF\necho a"},
		{"another command on the line", "apply_patch <<'EOF' && echo a\n" + p + "EOF\n"},
		{"a pipe", "cat <<'EOF' | apply_patch\n" + p + "EOF\n"},
		{"an argument too many", "apply_patch -v <<'EOF'\n" + p + "EOF\n"},
		{"what a shell expands", "apply_patch <<EOF\n" + patch("*** Add File: a", "+$HOME") + "EOF\n"},
		{"what a shell expands in an argument", `apply_patch "` + patch("*** Add File: a", "+$HOME") + `"`},
		{"a folder that a shell expands", "cd ~ && apply_patch <<'EOF'\n" + p + "EOF\n"},
		{"a folder in a variable", "cd \"$D\" && apply_patch <<'EOF'\n" + p + "EOF\n"},
		{"an end that is not there", "apply_patch <<'EOF'\n" + p},
		{"tabs taken off", "apply_patch <<-'EOF'\n" + p + "EOF\n"},
		{"a patch with a mistake", "apply_patch <<'EOF'\n*** Begin Patch\nx\n*** End Patch\nEOF\n"},
		{"another program", "/opt/apply_patch " + quoted},
	} {
		if edits, err := of(t, "Bash", object{"command": c.command}); err == nil {
			t.Errorf("%s: %q is no error", c.name, show(edits))
		}
	}
	if _, err := of(t, "Bash", object{"command": "apply_patch " + quoted, "workdir": 5}); err == nil {
		t.Error("a workdir that is no text is no error")
	}
}

// TestPatchTime: looking for lines takes time by the size of the file and the patch,
// not by their product, which would be minutes here.
func TestPatchTime(t *testing.T) {
	lines := slices.Repeat([]string{"-a"}, 200_000)
	edits, err := of(t, "apply_patch", object{"input": patch(append(append([]string{"*** Update File: a", "@@"}, lines...), "-b")...)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = edits[0].After([]byte(strings.Repeat("a\n", 1_000_000)), true)
	if err == nil || !strings.Contains(err.Error(), "are not in the file") {
		t.Error(err)
	}
}

// TestPatchParts: a patch with many parts for a large file is an error, before it takes minutes.
func TestPatchParts(t *testing.T) {
	lines := slices.Repeat([]string{"@@", "-a"}, 1000)
	edits, err := of(t, "apply_patch", update(lines...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = edits[0].After([]byte(strings.Repeat("a\n", 1_000_000)), true); err == nil || !strings.Contains(err.Error(), "too many parts") {
		t.Error(err)
	}
}

// TestLongPatch: the time to read a file that is added grows with its length, not with its square.
func TestLongPatch(t *testing.T) {
	text := "*** Begin Patch\n*** Add File: a\n" + strings.Repeat("+a\n", 200_000) + "*** End Patch"
	took := cputime.Of(func() {
		edits, err := edit.Of(&call.Call{Tool: "apply_patch", Input: call.NewObject(call.Member{Name: "command", Value: call.Text(text)})})
		if err != nil {
			t.Fatal(err)
		}
		if made, err := edits[0].After(nil, false); err != nil || len(made) != 1 || len(made[0]) != 400_000 {
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
		input := call.NewObject(call.Member{Name: "command", Value: call.Text(fields[0])}, call.Member{Name: "cmd", Value: call.Text(fields[1])})
		if edits, err := edit.Of(&call.Call{Tool: "exec_command", Input: input}); err == nil && len(edits) == 0 {
			t.Errorf("%q: no edit is seen", fields)
		}
	}
}
