package allowance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// TestChanges: the change of an entry, in a word and by its keys.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"the same", "/a 2 from=b", "/a 2 from=b", ""},
		{"in another order", "/a 2 from=b,c/d 1", "/d 1/a 2 from=c,b", ""},
		{"added", "", "/a 2 until=2027-01-01", "added until + 2027-01-01"},
		{"added as an exception", "", "/a 2 grow", "added may_grow + true"},
		{"moved", "/b 2", "/a 2 from=b", "moved from + b; b: removed"},
		{"removed", "/a 2", "", "removed"},
		{"raised", "/a 2", "/a 3", "raised"},
		{"lowered", "/a 3", "/a 2", "lowered"},
		{"lowered by a second entry", "/a 3", "/a 3/a 2", "lowered"},
		{"extended", "/a 2 until=2027-01-01", "/a 2 until=2027-02-01", "extended until - 2027-01-01 + 2027-02-01"},
		{"extended for ever", "/a 2 until=2027-01-01", "/a 2", "extended until - 2027-01-01"},
		{"shortened", "/a 2", "/a 2 until=2027-01-01", "shortened until + 2027-01-01"},
		{"an exception", "/a 2", "/a 2 grow", "changed may_grow + true"},
		{"no longer one", "/a 2 grow", "/a 2", "changed may_grow - true"},
		{"another source", "/a 2 from=b", "/a 2 from=b,c", "moved from + c"},
		{"no source", "/a 2 from=b", "/a 2", "changed from - b"},
		{"all at once", "/a 2 until=2027-01-01", "/a 3 from=b grow",
			"raised from + b until - 2027-01-01 may_grow + true"},
		{"raised and extended", "/a 2 until=2027-01-01", "/a 3 until=2027-02-01",
			"raised until - 2027-01-01 + 2027-02-01"},
		{"lowered and extended", "/a 2 until=2027-01-01", "/a 1", "extended until - 2027-01-01"},
		{"lowered, but an exception", "/a 2", "/a 1 grow", "changed may_grow + true"},
		{"lowered and moved", "/a 2", "/a 1 from=b", "moved from + b"},
		{"lowered and shortened", "/a 2", "/a 1 until=2027-01-01", "lowered until + 2027-01-01"},
	} {
		var files []string
		for _, change := range PolicyChanges(state(t, c.before).entries, state(t, c.after).entries) {
			text := change.Change
			for _, f := range change.Fields {
				text += " " + f.Name
				if len(f.Removed) > 0 {
					text += " - " + strings.Join(f.Removed, ",")
				}
				if len(f.Added) > 0 {
					text += " + " + strings.Join(f.Added, ",")
				}
			}
			if change.File != "a" {
				text = change.File + ": " + text
			}
			files = append(files, text)
		}
		if got := strings.Join(files, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestEffects: what lets a file have more, or longer, is weaker.
func TestEffects(t *testing.T) {
	for _, c := range []struct{ before, after, want, reverse verdict.Effect }{
		{"", "/a 2", verdict.Weaker, verdict.Stronger},
		{"/a 2", "/a 3", verdict.Weaker, verdict.Stronger},
		{"/a 2", "/a 2 grow", verdict.Weaker, verdict.Stronger},
		{"/a 2 until=2027-01-01", "/a 2 until=2027-01-02", verdict.Weaker, verdict.Stronger},
		{"/a 2 until=2027-01-01", "/a 2", verdict.Weaker, verdict.Stronger},
		{"/a 2 until=2027-01-01", "/a 1", verdict.Both, verdict.Both},
		{"/a 2/a 3", "/a 3", verdict.Weaker, verdict.Stronger},
		{"/a 2", "/a 2 from=b", verdict.Unknown, verdict.Unknown},
		{"/b 2", "/b 2/a 2 from=b", verdict.Weaker, verdict.Stronger},
	} {
		for i, want := range []verdict.Effect{c.want, c.reverse} {
			if i == 1 {
				c.before, c.after = c.after, c.before
			}
			got := PolicyChanges(state(t, string(c.before)).entries, state(t, string(c.after)).entries)
			if len(got) != 1 || got[0].Effect != want {
				t.Errorf("%q -> %q: %+v, want %s", c.before, c.after, got, want)
			}
		}
	}
}

// TestTouched: the files that are part of a change because of their allowances.
func TestTouched(t *testing.T) {
	for _, c := range []struct{ name, mergeBase, head, want string }{
		{"the same", "/a 2", "/a 2", ""},
		{"raised", "/a 2", "/a 3", ""},
		{"added", "", "/a 2", ""},
		{"lowered", "/a 2/b 2", "/a 1/b 2", "a"},
		{"removed", "/a 2/b 2", "/b 2", "a"},
		{"lowered by a second entry", "/a 2", "/a 2/a 1", "a"},
		{"ends", "/a 2", "/a 2 until=2028-01-01", "a"},
		{"ends earlier", "/a 2 until=2028-01-02", "/a 2 until=2028-01-01", "a"},
		{"ends later", "/a 2 until=2028-01-01", "/a 2 until=2028-01-02", ""},
		{"moved", "/a 2", "/b 2 from=a", "a b"},
		{"joined", "/a 2/b 1", "/a 2 from=b/b 1", "a b"},
		{"joined before", "/a 2 from=b/b 1", "/a 2 from=b/b 1", ""},
		{"of an exception", "/a 2 grow/b 1", "/a 2 grow from=b/b 1", ""},
		{"removed after it ended", "/a 2 until=2020-01-01", "", "a"},
	} {
		from := state(t, c.mergeBase).entries
		b := Compare(Comparison{
			Day: today, Base: from, Head: state(t, c.head).entries, MergeBases: [][]Entry{from},
			References: []Reference{{Name: "b", Base: true, MergeBase: true}},
		})
		if got := strings.Join(b.AffectedFiles(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLongGroups: the sentence names the first files of a group.
func TestLongGroups(t *testing.T) {
	r := Denial{Kind: Increased, Now: 9, Before: 8, At: "m"}
	for i := range 8 {
		r.Group = append(r.Group, fmt.Sprint("f", i))
	}
	const want = "f0, f1, f2, f3, f4 and 3 more together have 9 places that break this rule and had 8 before, in m; "
	if got := r.Explain(written); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEnding: limits that end by a day, withdrawn and expired ones aside.
func TestEnding(t *testing.T) {
	entries := "/a 2 until=2027-03-01" +
		"/b 1 until=2027-02-01/c 1 until=2027-01-31/d 0 until=2027-02-01/e 1/f 1 until=2027-03-02"
	got := ""
	for _, e := range NewSideList(state(t, entries).entries, today).Ending("2027-03-01") {
		got += fmt.Sprintf("%s %s %d %s, ", e.RuleID, e.File, e.Allowance.AtMost, e.Allowance.Until)
	}
	if want := "X b 1 2027-02-01, X a 2 2027-03-01, "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
