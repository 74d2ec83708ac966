package allowance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFault_174_UnionMerge: an entry that one branch withdraws stays withdrawn, whatever other branches do to its line
// and the lines around it, when git merges them with merge=union. A removed one can come back.
func TestFault_174_UnionMerge(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git makes the merges")
	}
	dir, back, runs := t.TempDir(), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		if runs++; runs > 150 { // each runs git a few times
			return
		}
		var base []Entry
		for i := range rapid.IntRange(2, 6).Draw(t, "entries") {
			base = append(base, Entry{
				Rule: "X", File: fmt.Sprint(i), AtMost: rapid.IntRange(1, 3).Draw(t, "number"),
				Owner: "o", MayGrow: rapid.Bool().Draw(t, "may grow"),
			})
		}
		gone := rapid.IntRange(0, len(base)-1).Draw(t, "withdrawn")
		removed := slices.Delete(slices.Clone(base), gone, gone+1)
		zero := slices.Clone(base)
		zero[gone].AtMost, zero[gone].MayGrow = 0, false
		for _, ours := range [][]Entry{zero, removed} {
			merged := unionOf(t, dir, base, ours, drawEdits(t, base))
			if rapid.Bool().Draw(t, "again") { // a branch that began before all of it
				merged = unionOf(t, dir, base, merged, drawEdits(t, base))
			}
			book := Whole(merged, today)
			file := base[gone].File
			d := book.Decide(Query{
				Rule: "X", File: file, Count: func(string) Counts { return Counts{Now: 1} },
			})
			switch withdraws := len(ours) == len(base); {
			case withdraws && d.Denial == nil:
				t.Fatalf("%s is allowed again by\n%s", file, lines(merged))
			case !withdraws && d.Denial == nil:
				back++
			}
		}
	})
	if back == 0 {
		t.Error("no entry that was removed came back: the merges show nothing")
	}
}

// drawEdits returns the entries after another branch: some removed, some changed, some new.
func drawEdits(t *rapid.T, base []Entry) []Entry {
	var all []Entry
	for _, e := range base {
		switch rapid.IntRange(0, 5).Draw(t, "edit") {
		case 0:
			continue
		case 1:
			e.AtMost++
		case 2:
			e.Owner = "p"
		case 3:
			all = append(all, e)
			e.File += "a"
		}
		all = append(all, e)
	}
	return all
}

func lines(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %d %s %t\n", e.File, e.AtMost, e.Owner, e.MayGrow)
	}
	return b.String()
}

// unionOf merges two lists like git with merge=union.
func unionOf(t *rapid.T, dir string, base, ours, theirs []Entry) []Entry {
	args := []string{"merge-file", "-p", "--union"}
	for i, entries := range [][]Entry{ours, base, theirs} {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, []byte(lines(entries)), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var merged []Entry
	for line := range strings.Lines(string(out)) {
		e := Entry{Rule: "X"}
		if _, err := fmt.Sscanf(line, "%s %d %s %t", &e.File, &e.AtMost, &e.Owner, &e.MayGrow); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		merged = append(merged, e)
	}
	return merged
}
