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
		{name: "line ends", tool: "Edit", input: change("a", "q", "\n\n\n"), before: strings.Repeat("\r\n", edit.MaxBytes/2-2) + "q", err: "over 67108864 bytes"},
	})
}

// TestLargest: what has MaxBytes is edited.
func TestLargest(t *testing.T) {
	lf := strings.Repeat(strings.Repeat("a", 1023)+"\n", edit.MaxBytes/1024)
	crlf := strings.Repeat(strings.Repeat("a", 1022)+"\r\n", edit.MaxBytes/1024)
	for _, c := range []struct {
		name, tool    string
		input         object
		before, after []string // in parts, which are joined one story after the other
	}{
		{"a file", "Edit", change("a", "b", "c"), []string{lf[1:], "b"}, []string{lf[1:], "c"}},
		{"that gets smaller", "Edit", change("a", "bb", "c"), []string{lf[2:], "bb"}, []string{lf[2:], "c"}},
		{"in CRLF", "Edit", change("a", "b", "c"), []string{"b", crlf[1:]}, []string{"c", crlf[1:]}},
		{"of Copilot", "edit", object{"path": "a", "old_str": "b", "new_str": "c"}, []string{lf[1:], "b"}, []string{lf[1:], "c"}},
		{"by a patch", "apply_patch", update("@@", "-b", "+c"), []string{lf[2:], "b\n"}, []string{lf[2:], "c\n"}},
	} {
		run(t, []story{{name: c.name, tool: c.tool, input: c.input, before: strings.Join(c.before, ""), after: []string{strings.Join(c.after, "")}}})
	}
}
