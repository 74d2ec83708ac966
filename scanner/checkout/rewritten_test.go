package checkout

import (
	"fmt"
	"slices"
	"testing"
)

// TestRewritten: whoever adds first, the notes name the first files, and not every filter.
func TestRewritten(t *testing.T) {
	t.Parallel()
	var nobody *Rewritten
	nobody.Add("a", Written{filters: []string{"x"}})
	if n := nobody.Notes(); n != nil {
		t.Errorf("%q", n)
	}
	var want []string
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 2, 0, 3, 1}} {
		r := &Rewritten{}
		for _, i := range order {
			r.Add(fmt.Sprint("f", i), Written{filters: []string{"many"}})
			r.Add("\x1b", Written{subst: i == 0})
		}
		for i := range 6 {
			r.Add("one", Written{filters: []string{fmt.Sprint("x", i)}})
		}
		got := r.Notes()
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || len(got) != maxRewritings+1 {
			t.Errorf("%q", got)
		}
	}
	for i, line := range map[int]string{
		0: "export-subst: git archive changes the text of 1 file after this check: \x1b",
		1: "filter=many: git sends 5 files through a program on checkout, " +
			"and what it writes was not checked: f0, f1, f2 and 2 more",
		5: "and 3 more filters: what git checks out differs from what was checked",
	} {
		if want[i] != line {
			t.Errorf("note %d: %q", i, want[i])
		}
	}
}
