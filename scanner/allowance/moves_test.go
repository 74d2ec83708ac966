package allowance

import (
	"slices"
	"testing"
)

// TestCutAndPaste: an agent may cut lines from a legacy file and paste them into it in a second edit, since the larger
// count of the disk and HEAD is its limit; one more is denied.
func TestCutAndPaste(t *testing.T) {
	head := []Entry{{Rule: "X", File: "a", AtMost: 5, Owner: "o", Reason: "r"}}
	edit := func(atHead, onDisk, then int) bool {
		b := Compare(Comparison{Day: today, Base: head, Head: head,
			References: []Reference{{Name: "HEAD", Base: true, MergeBase: true}}})
		d := b.Decide(Query{Rule: "X", Base: true, Head: true, File: "a", Count: func(string) Counts {
			return Counts{Now: then, Before: []Count{{Count: max(atHead, onDisk)}}}
		}})
		return d.Denial == nil
	}
	for _, c := range []struct {
		atHead, onDisk, then int
		want                 bool
	}{{3, 3, 1, true}, {3, 1, 3, true}, {3, 1, 4, false}, {0, 0, 1, false}, {2, 3, 3, true}, {6, 6, 6, false}} {
		if got := edit(c.atHead, c.onDisk, c.then); got != c.want {
			t.Errorf("%d at HEAD, %d on disk, %d after the edit: %t", c.atHead, c.onDisk, c.then, got)
		}
	}
}

// TestMerging: during a merge, a staged file that is as in MERGE_HEAD has the allowances of the merged branch; others
// have not.
func TestMerging(t *testing.T) {
	merged := func(f string) bool { return f == "theirs" }
	entries := []Entry{{Rule: "X", File: "theirs", AtMost: 2}, {Rule: "X", File: "mine", AtMost: 2}}
	b := Compare(Comparison{
		Day: today, Head: entries, References: []Reference{{Name: "HEAD", Base: true, MergeBase: true}},
		MergeBases: [][]Entry{nil},
	})
	for file, want := range map[string]bool{"theirs": true, "mine": false} {
		d := b.Against(b.references, merged).Decide(Query{Rule: "X", Base: true, Head: true, File: file,
			Count: func(string) Counts {
				return Counts{Now: 2, Before: []Count{{Count: 2}}}
			}})
		if got := d.Denial == nil; got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
}

// TestOneSide: a rule of the base only has the larger number of a merge in progress, and a file in a group its own
// number in the head.
func TestOneSide(t *testing.T) {
	base, head := state(t, "b=xxx/b 3"), state(t, "a=xxx/a 2 from=b")
	sc := scene{base, base, head}
	if d := sc.decide(true, false, "a"); d.Denial == nil || d.Denial.Kind != TooLow {
		t.Errorf("%+v", d.Denial)
	}
	sc.head = state(t, "a=xxx/a 3 from=b")
	if d := sc.decide(true, false, "a"); d.Denial != nil || d.Limit.AtMost != 3 {
		t.Errorf("%+v", d)
	}
	list := sc.list()
	if got := list.Joined("X", "a"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a is joined with %q", got)
	}
	if d := list.Decide(Query{Rule: "X", Base: true, Head: true, Never: true, File: "a",
		Count: func(string) Counts { return Counts{Before: []Count{{}}} }}); d.Denial == nil || d.Denial.Kind != Never {
		t.Errorf("a rule without allowances: %+v", d)
	}
	for _, merged := range []bool{true, false} {
		b := Compare(Comparison{
			Day: today, Base: []Entry{{Rule: "X", File: "a", AtMost: 3}},
			Head:       []Entry{{Rule: "X", File: "a", AtMost: 1}},
			References: []Reference{{Name: "HEAD", Base: true, MergeBase: true}},
		})
		d := b.Against(b.references, func(string) bool { return merged }).Decide(Query{Rule: "X", Base: true, File: "a", Count: func(string) Counts {
			return Counts{Now: 3, Before: []Count{{Count: 3}}}
		}})
		if d.Denial != nil {
			t.Errorf("merged %t: %+v", merged, d.Denial)
		}
	}
}

// TestNothingToCompareWith: a change without a reference allows nothing, since growth would be invisible.
func TestNothingToCompareWith(t *testing.T) {
	entries := []Entry{{Rule: "X", File: "a", AtMost: 2}}
	d := Compare(Comparison{Day: today, Base: entries, Head: entries}).Decide(Query{
		Rule: "X", Base: true, Head: true, File: "a", Count: func(string) Counts { return Counts{Now: 1} },
	})
	if d.Denial == nil || d.Limit != nil {
		t.Errorf("%+v", d)
	}
}

// TestLimitsOfLaws: the exceptions to the laws, each decided by the manual.
func TestLimitsOfLaws(t *testing.T) {
	pass := func(name string, from, to snapshot, want bool) {
		t.Helper()
		ok, sc := true, scene{from, from, to}
		for file, now := range to.files {
			judged := now != from.files[file] || slices.Contains(sc.list().AffectedFiles(), file)
			ok = ok && (now.count == 0 || !judged || sc.decide(true, true, file).Denial == nil)
		}
		if ok != want {
			t.Errorf("%s: allowed %v", name, ok)
		}
	}
	// Each commit of a branch passes, and the branch does not: the second forgets the first one's "from".
	a, b, c := state(t, "a=xx/a 2"), state(t, "b=xx/b 2 from=a"), state(t, "b=xx/b 2")
	pass("moved", a, b, true)
	pass("from forgotten", b, c, true)
	pass("both", a, c, false)
	// Or the first allows occurrences of the second.
	a, b, c = state(t, "a=xx b=x/b 1"), state(t, "a=xx b=x/a 2/b 1"), state(t, "a=x b=x/a 2/b 1")
	pass("signed", a, b, true)
	pass("used", b, c, true)
	pass("both", a, c, false)
	// Fixing the last occurrence of an entry and removing it splits its group: c's are from b.
	a, b, c = state(t, "b=xxx/b 3"), state(t, "a=x c=xx/a 1 from=b,c/c 2"), state(t, "a= c=xx/c 2")
	pass("moved", a, b, true)
	pass("fixed and removed", a, c, false)
	// A file over its number in a group denies it when the group is tightened.
	a, b, c = state(t, "a=xx b=xx/a 2 from=b"), state(t, "a=x b=xx/a 2 from=b"), state(t, "a=x b=xx/a 1 from=b")
	pass("fixed", a, b, true)
	pass("fixed and tightened", a, c, false)
}
