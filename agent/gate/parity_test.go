package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/worktree"
	"github.com/policyscan/policyscan/verdict"
)

// scan returns the violations of a full scan in one file.
func scan(t rapid.TB, b *rules.Bundle, root, file string) []verdict.Violation {
	t.Helper()
	dir, err := worktree.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	v := scanner.Scan(context.Background(), []judges.Judge{{From: "disk", Bundle: b}}, scanner.Folder(dir),
		scanner.Options{})
	if !v.Complete {
		t.Fatalf("the scan is not complete: %+v", v.Errors)
	}
	var found []verdict.Violation
	for _, v := range v.Violations {
		if v.File == file {
			found = append(found, v)
		}
	}
	return found
}

// lineEndBlanks are what draws as nothing of the pieces below, at the end of a line.
var lineEndBlanks = regexp.MustCompile(`[ \x{feff}]+(\r\n|\r|\n|$)`)

// TestParity: "the violations that hook lists for a Write are those that a full scan lists for that file in the tree
// after it" (or after the other text that the agent may write), and those that are new are those that a scan before
// did not list so often.
func TestParity(t *testing.T) { parity(t, bundle(t)) }

// TestParityOfPresence: so it is of what must be there, and of paths.
func TestParityOfPresence(t *testing.T) { parity(t, bundle02(t)) }

func parity(t *testing.T, b *rules.Bundle) {
	pieces := []string{"0.0.0.0/0", "::/0", "AKIA", "a\nb", "a", "b", "\n", "\r\n", " ", "é", "\x00", "\xff",
		"0.0.0.0", "/0", "\ufeff"}
	content := rapid.Custom(func(t *rapid.T) string {
		s := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces") {
			s += p
		}
		return s
	})
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		root, err := filepath.EvalSymlinks(base)
		if err != nil {
			t.Fatal(err)
		}
		root = filepath.Join(root, fmt.Sprint(n))
		name := rapid.SampledFrom([]string{"a.tf", "net/b.tf", "c.txt"}).Draw(t, "name")
		for _, other := range []string{"a.tf", "net/b.tf", "z.txt"} {
			if rapid.Bool().Draw(t, other) || other == "z.txt" {
				write(t, filepath.Join(root, other), content.Draw(t, other))
			}
		}
		before := scan(t, b, root, name)
		text := content.Draw(t, "written")
		text = string([]rune(text)) // as JSON would carry it
		c := &call.Call{Tool: "Write", Dir: root, Input: call.NewObject(
			call.Member{Name: "file_path", Value: call.Text(name)}, call.Member{Name: "content",
				Value: call.Text(text)})}
		r, err := (&Gate{Bundle: b, Root: root}).Judge(context.Background(), c, callrules.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// Claude Code may take the spaces off the ends of lines before it writes, so the gate judges both texts.
		write(t, filepath.Join(root, name), lineEndBlanks.ReplaceAllString(text, "$1"))
		after := scan(t, b, root, name)
		write(t, filepath.Join(root, name), text)
		after = append(after, scan(t, b, root, name)...)

		listed := map[key]verdict.Violation{}
		for _, v := range append(r.New, r.Old...) {
			listed[keyOf(&v)] = v
		}
		scanned, times := map[key]verdict.Violation{}, map[key]int64{}
		// of the two texts the one that has it more often counts, or else the one as it is given
		for _, v := range after {
			if k := keyOf(&v); v.Evidence.Occurrences >= scanned[k].Evidence.Occurrences {
				scanned[k] = v
			}
		}
		for _, v := range before {
			times[keyOf(&v)] = v.Evidence.Occurrences
		}
		if d := cmp.Diff(scanned, listed); d != "" {
			t.Fatalf("the scan afterwards (-) and the gate (+) differ:\n%s", d)
		}
		for _, v := range r.New {
			if v.Evidence.Occurrences <= times[keyOf(&v)] {
				t.Fatalf("%+v is called new, and was there %d times", v, times[keyOf(&v)])
			}
		}
		for _, v := range r.Old {
			if v.Evidence.Occurrences > times[keyOf(&v)] {
				t.Fatalf("%+v is called old, and was there %d times", v, times[keyOf(&v)])
			}
		}
	})
}
