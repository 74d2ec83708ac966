//go:build !race

package edit_test

// With the race detector, which has nothing to find in them, these take long.

import (
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/edit"
)

// TestTooLarge: no content is over MaxBytes, before or after.
func TestTooLarge(t *testing.T) {
	big := strings.Repeat("a\n", edit.MaxBytes/2)
	run(t, []story{
		{name: "a file", tool: "Edit", input: change("a", "b", "c"), before: big + "b", err: "over 67108864 bytes"},
		{name: "an edit", tool: "Edit", input: change("a", "b", "cc"), before: big[:len(big)-1] + "b", err: "over 67108864 bytes"},
		{name: "many edits", tool: "Edit", input: change("a", "a", strings.Repeat("b", 200), "replace_all", true), before: big[:1<<20], err: "over 67108864 bytes"},
		{name: "line ends", tool: "Edit", input: change("a", "q", "x"), before: strings.Repeat("\r\n", 4096) + big[:edit.MaxBytes-9000] + "q", err: "over 67108864 bytes"},
		{name: "lines far behind", tool: "insert", input: object{"path": "a", "insert_line": edit.MaxBytes, "new_str": "x"}, before: "a", err: "over 67108864 bytes"},
		{name: "lines of a patch", tool: "apply_patch", input: object{"input": "*** Begin Patch\n*** Update File: a\n@@\n-b\n+c\n*** End Patch"}, before: big, err: "over 4194304 lines"},
		{name: "lines of a patch that end in CR", tool: "apply_patch", input: update("@@", "-b", "+c"), before: strings.Repeat("\r", 1<<22+1), err: "over 4194304 lines"},
	})
}

// TestLargest: what has MaxBytes, or as many lines as a patch may look at, is edited.
func TestLargest(t *testing.T) {
	lf := strings.Repeat(strings.Repeat("a", 1023)+"\n", edit.MaxBytes/1024)
	crlf := strings.Repeat(strings.Repeat("a", 1022)+"\r\n", edit.MaxBytes/1024)
	ones, lines := strings.Repeat("\n", 1<<22-1), strings.Repeat("b\n", edit.MaxBytes/1024)
	for _, c := range []struct {
		name, tool    string
		input         object
		before, after []string // in parts, which are joined one story after the other
	}{
		{"a file", "Edit", change("a", "b", "c"), []string{lf[1:], "b"}, []string{lf[1:], "c"}},
		{"that gets smaller", "Edit", change("a", "bb", "c"), []string{lf[2:], "bb"}, []string{lf[2:], "c"}},
		{"in CRLF", "Edit", change("a", "b", "c"), []string{"b", crlf[1:]}, []string{"c", crlf[1:]}},
		{"of Copilot", "edit", object{"path": "a", "old_str": "b", "new_str": "c"}, []string{lf[1:], "b"}, []string{lf[1:], "c"}},
		{"by lines that are added", "insert", object{"path": "a", "insert_line": edit.MaxBytes - 2, "new_str": "x"}, []string{"a"}, []string{"a", strings.Repeat("\n", edit.MaxBytes-2), "x"}},
		{"by lines that are replaced", "replace", change("a", " b", strings.Repeat("a", 1023), "allow_multiple", true), []string{lines}, []string{lf}},
		{"by a patch", "apply_patch", update("@@", "-b", "+c"), []string{lf[2:], "b\n"}, []string{lf[2:], "c\n"}},
		{"the most lines", "apply_patch", update("@@", "-b", "+c"), []string{"b", ones, "z\n"}, []string{"c", ones, "z\n"}},
	} {
		run(t, []story{{name: c.name, tool: c.tool, input: c.input, before: strings.Join(c.before, ""), after: []string{strings.Join(c.after, "")}}})
	}
}
