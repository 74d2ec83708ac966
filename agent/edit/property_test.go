package edit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/edit"
	"pgregory.net/rapid"
)

// must is the contents after a call that edits one file, or nil if there is an error.
func must(t *rapid.T, tool string, input object, before string) []string {
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	v, err := call.ParseValue(text)
	if err != nil {
		t.Fatal(err)
	}
	edits, err := edit.Of(&call.Call{Tool: tool, Input: v})
	if err != nil {
		return nil
	}
	var got []string
	all, _ := edits[0].After([]byte(before), true) // none with an error
	for _, a := range all {
		got = append(got, string(a))
	}
	return got
}

// TestLineEndsRoundTrip: an edit in LF has the same result in a file with CRLF and in one with LF.
func TestLineEndsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringMatching(`[aé☃\n]{0,10}\n`).Draw(t, "before")
		old := rapid.StringMatching(`[aé\n]{1,2}`).Draw(t, "old")
		in := change("a.md", old, "x\ny", "replace_all", true)
		crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		for _, as := range []func(string) string{
			crlf,
			func(s string) string { return "\xef\xbb\xbf" + s },
		} {
			var want []string
			for _, s := range must(t, "Edit", in, before) {
				want = append(want, as(s))
			}
			got := must(t, "Edit", in, as(before))
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	})
}

// TestPatchOfDiff: a patch that is made of a file before and after makes the one of the other.
func TestPatchOfDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[abc ]{0,2}[a-d]`)
		before := rapid.SliceOfN(line, 1, 12).Draw(t, "before")
		// Each line is kept, replaced or removed; all lines are in the patch, so its place is certain.
		var after, lines []string
		for _, l := range before {
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				lines, after = append(lines, " "+l), append(after, l)
			case 1:
				n := line.Draw(t, "line")
				lines, after = append(lines, "-"+l, "+"+n), append(after, n)
			case 2:
				lines = append(lines, "-"+l)
			}
		}
		if rapid.Bool().Draw(t, "add") {
			lines, after = append(lines, "+new"), append(after, "new")
		}
		join := func(lines []string, end string) string {
			var b strings.Builder
			for _, l := range lines {
				b.WriteString(l + end)
			}
			return b.String()
		}
		in := update(append([]string{"@@"}, lines...)...)
		got := must(t, "apply_patch", in, join(before, "\n"))
		if want := join(after, "\n"); len(got) != 1 || got[0] != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		// With CRLF, the newer of Codex's ways keeps it.
		got = must(t, "apply_patch", in, join(before, "\r\n"))
		if want := join(after, "\r\n"); len(got) == 0 || got[0] != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// TestCodeReplacements: of replacements that have lines in common, each changes its own line.
func TestCodeReplacements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var before, after []string
		n := rapid.IntRange(1, 12).Draw(t, "lines")
		for i := range n {
			before = append(before, fmt.Sprintf("line %c", 'a'+i))
		}
		after = slices.Clone(before)
		var list []any
		for i := range before {
			if !rapid.Bool().Draw(t, "change") {
				continue
			}
			from := max(i-rapid.IntRange(0, 3).Draw(t, "context before"), 0)
			to := min(i+1+rapid.IntRange(0, 3).Draw(t, "context behind"), n)
			after[i] = rapid.StringMatching(`[x-z]{1,8}`).Draw(t, "line")
			list = append(list, object{"filePath": "/a", "oldString": strings.Join(before[from:to], "\n"),
				"newString": strings.Join(slices.Concat(before[from:i], after[i:i+1], before[i+1:to]), "\n")})
		}
		if list == nil {
			return
		}
		got := must(t, "multi_replace_string_in_file", object{"replacements": list}, strings.Join(before, "\n"))
		if want := strings.Join(after, "\n"); len(got) != 1 || got[0] != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// FuzzAfter: whatever the call and the file, there is an error or there are edits, each of a file with a
// name, that remove it or compute its content, in the same way each time.
func FuzzAfter(f *testing.F) {
	for _, s := range stories(f) {
		f.Add(s.Tool, string(s.Input), []byte("a\r\nb\nc\n"), true)
		f.Add(s.Tool, string(s.Input), []byte("\xff\xfea\x00\n\x00"), false)
	}
	f.Fuzz(func(t *testing.T, tool, input string, before []byte, exists bool) {
		v, err := call.ParseValue([]byte(input))
		if err != nil {
			return
		}
		c := &call.Call{Tool: tool, Input: v}
		edits, err := edit.Of(c)
		if err != nil && edits != nil {
			t.Fatal("edits and an error")
		}
		paths := map[string]bool{}
		for _, e := range edits {
			if e.Path == "" || paths[e.Path] {
				t.Fatalf("%+v", e)
			}
			paths[e.Path] = true
			if e.Remove {
				continue
			}
			kept := bytes.Clone(before)
			one, err := e.After(before, exists)
			two, again := e.After(before, exists)
			if (err == nil) != (again == nil) || (err == nil) != (len(one) > 0) || len(one) != len(two) {
				t.Fatalf("%q, %v; then %q, %v", one, err, two, again)
			}
			for i := range one {
				if !bytes.Equal(one[i], two[i]) || len(one[i]) > edit.MaxBytes {
					t.Fatalf("%q, then %q", one, two)
				}
			}
			if !bytes.Equal(kept, before) {
				t.Fatal("what the file holds was changed in place")
			}
		}
	})
}
