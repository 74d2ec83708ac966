package allowance

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// state reads a snapshot of a rule X that forbids x: "a=xx b=x! / a 2 from=b,c until=2027-01-01 grow / …", where ! is
// a file that cannot be parsed.
func state(t *testing.T, text string) snapshot {
	t.Helper()
	parts := strings.Split(text, "/")
	s := snapshot{files: map[string]file{}, rules: []version{{id: "X", tokens: "x"}}}
	for _, f := range strings.Fields(parts[0]) {
		name, content, _ := strings.Cut(f, "=")
		tokens, broken := strings.CutSuffix(content, "!")
		s.files[name] = file{tokens: tokens, broken: broken}
	}
	for _, line := range parts[1:] {
		words := strings.Fields(line)
		n, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		e := Entry{Rule: "X", File: words[0], AtMost: n, Owner: "net", Reason: "NET-1"}
		for _, w := range words[2:] {
			switch key, value, _ := strings.Cut(w, "="); key {
			case "from":
				e.From = strings.Split(value, ",")
			case "until":
				e.Until = value
			case "grow":
				e.MayGrow = true
			default:
				t.Fatalf("%q", w)
			}
		}
		s.entries = append(s.entries, e)
	}
	return s
}

// written returns an entry in the tests' syntax.
func written(e Entry) string {
	return fmt.Sprintf("{%s %s %d %s %s %s from %s}", e.Rule, e.File, e.AtMost, e.Owner, e.Reason, e.Until,
		strings.Join(e.From, ","))
}

// TestDecide: each result, by its smallest example. want is "" for allowed occurrences of a.
func TestDecide(t *testing.T) {
	shorten := strings.NewReplacer(
		" places that break this rule", "×", ", since an allowance never lets the number grow", ", …grow",
		"run policyscan allow --tighten, or write into rules/allowances.yml: ", "…: ",
		"; of the 2 entries for this rule and file the smallest number and the earliest date count",
		"; of the 2 entries …",
		"and a change cannot allow its own violations", "…")
	for _, c := range []struct {
		name, base, mergeBase, head string // mergeBase is "" if it is the base
		want                        string
	}{
		{name: "as many as before", base: "a=xx/a 2", head: "a=xx/a 2"},
		{name: "fewer", base: "a=xx/a 2", head: "a=x/a 2"},
		{name: "fewer and tightened", base: "a=xx/a 2", head: "a=x/a 1"},
		{name: "no allowance", base: "a=x", head: "a=x", want: "-"},
		{
			name: "one more", base: "a=xx/a 5", head: "a=xxx/a 5",
			want: "the file has 3× and had 2 before, in m0; remove 1, …grow",
		},
		{
			name: "over the number, as before", base: "a=xxx/a 2", head: "a=xxx/a 2",
			want: "the file has 3× and an allowance for 2, as before this change; fix 1, or raise the allowance in " +
				"a separate change",
		},
		{
			name: "lowered too far", base: "a=xxx/a 3", head: "a=xx/a 1",
			want: "the file has 2×, and this change's allowance is for 1; fix 1, or write at_most: 2",
		},
		{
			name: "removed", base: "a=xx/a 2", head: "a=xx",
			want: "the file has 2×, and this change leaves it no allowance; fix them, or write an entry for it",
		},
		{
			name: "shortened to a day that has passed", base: "a=xx/a 2", head: "a=xx/a 2 until=2027-01-01",
			want: "its allowance ended on 2027-01-01; fix them, or extend it in a separate change",
		},
		{name: "last day", base: "a=x/a 1 until=2027-02-01", head: "a=x/a 1 until=2027-02-01"},
		{
			name: "expired", base: "a=x/a 1 until=2027-01-31", head: "a=x/a 1 until=2027-01-31",
			want: "its allowance ended on 2027-01-31; fix it, or extend it in a separate change",
		},
		{
			name: "extended by the change itself", base: "a=xx/a 2 until=2027-01-31", head: "a=xx/a 2 until=2028-01-31",
			want: "its allowance ended on 2027-01-31; fix them, or extend it in a separate change",
		},
		{
			name: "added by the change itself", base: "a=x", head: "a=x/a 1",
			want: "this change adds its allowance, …: merge the allowance first, in a separate change",
		},
		{
			name: "raised by the change itself", base: "a=xx/a 1", head: "a=xx/a 2",
			want: "this change raises its allowance from 1, …: merge the allowance first, in a separate change",
		},
		{
			name: "added for more", base: "a=xx", head: "a=xxx/a 3",
			want: "this change adds its allowance, …; remove 1, and merge an allowance for the rest first",
		},
		{
			name: "the base has fewer", base: "a=x/a 2", mergeBase: "a=xx/a 2", head: "a=xx/a 2",
			want: "the file has 2×, and the base has 1 by now: merge the base, or rebase",
		},
		{
			name: "the base has a smaller number", base: "a=xx/a 1", mergeBase: "a=xx/a 2", head: "a=xx/a 2",
			want: "the file has 2×, and the base allows 1 by now: merge the base, or rebase",
		},
		{
			name: "more than the base has by now", base: "a=x/a 3", mergeBase: "", head: "a=xx/a 3",
			want: "the file has 2× and had 1 before, in m0; remove 1, …grow",
		},
		{
			name: "more than the base and the merge base", base: "a=xx/a 3", mergeBase: "a=x/a 3", head: "a=xxx/a 3",
			want: "the file has 3× and had 1 before, in m0; remove 2, …grow",
		},
		{name: "renamed", base: "b=xx/b 2", head: "a=xx/a 2 from=b"},
		{
			name: "renamed without from", base: "b=xx/b 2 until=2027-09-01", head: "a=xx/a 2",
			want: "the file is new, with 2×; if they were moved here from b, …: - {X a 2 net NET-1  from b}",
		},
		{
			name: "renamed with one occurrence", base: "b=x/b 1", head: "a=x",
			want: "the file is new, with 1 place that breaks this rule; if it was moved here from b, …: - {X a 1 net " +
				"NET-1  from b}",
		},
		{
			name: "renamed without an entry", base: "b=xx/b 2 until=2027-09-01", head: "a=xx",
			want: "the file is new, with 2×; if they were moved here from b, …: - {X a 2 net NET-1 2027-09-01 from b}",
		},
		{
			name: "renamed again without from", base: "b=xx/b 2 from=c", head: "a=xx",
			want: "the file is new, with 2×; if they were moved here from b, …: - {X a 2 net NET-1  from b,c}",
		},
		{
			name: "merged from two, the one that lost more first", base: "b=x c=xx/b 1/c 2", head: "a=xxx",
			want: "the file is new, with 3×; if they were moved here from c and b, …: - {X a 3 net NET-1  from b,c}",
		},
		{
			name: "one of two that lost as many", base: "b=xx c=xx/b 2/c 2", head: "a=xx",
			want: "the file is new, with 2×; if they were moved here from b, …: - {X a 2 net NET-1  from b}",
		},
		{
			name: "copied", base: "b=xx/b 2", head: "a=xx b=xx/a 2 from=b/b 2",
			want: "a and b together have 4× and had 2 before, in m0; remove 2, …grow",
		},
		{name: "split", base: "b=xxx/b 3", head: "a=xx b=x/a 2 from=b/b 1"},
		{
			name: "split into a file without a large enough number", base: "b=xxx/b 3", head: "a=xx b=x/a 1 from=b/b 1",
			want: "the file has 2×, and this change's allowance is for 1; fix 1, or write at_most: 2",
		},
		{name: "swapped", base: "a=x b=xxx/a 1/b 3", head: "a=xxx b=x/a 3 from=b/b 3"},
		{
			name: "swapped without from", base: "a=x b=xxx/a 1/b 3", head: "a=xxx b=x/a 3/b 3",
			want: "the file has 3× and had 1 before, in m0; remove 2, …grow; if some were moved here from b, …: - " +
				"{X a 3 net NET-1  from b}",
		},
		{name: "moved through a chain", base: "c=xx/c 2", head: "a=xx/b 2 from=c/a 2 from=b"},
		{
			name: "a from that the base has", base: "b=xx/b 2/a 2 from=b", head: "a=xx/a 2 from=b",
			want: "the file is new, with 2×; if they were moved here from b, …: - {X a 2 net NET-1  from b}",
		},
		{
			name: "a from that the base got since", base: "a=xx/a 2 from=b", mergeBase: "b=xx/b 2",
			head: "a=xx/a 2 from=b",
			want: "the file has 2×, up from 0 at the merge base, m0; the base has as many by now: merge it, or rebase",
		},
		{
			name: "an exception that the change ends", base: "a=x/a 3 grow", head: "a=xx/a 3",
			want: "the file has 2× and had 1 before, in m0; remove 1, …grow",
		},
		{
			name: "a from that has expired", base: "b=xx/b 2", head: "a=xx/a 2 from=b until=2027-01-01",
			want: "this change adds its allowance, …; remove 2, and merge an allowance for the rest first",
		},
		{
			name: "more than the base's numbers together", base: "b=xx/b 1", head: "a=xx/a 2 from=b",
			want: "a and b together have 2× and an allowance for 1, as before this change; fix 1, or raise the " +
				"allowance in a separate change",
		},
		{name: "an exception that the base has", base: "a=x/a 3 grow", head: "a=xxx/a 3 grow"},
		{
			name: "an exception of the change itself", base: "a=x/a 3", head: "a=xxx/a 3 grow",
			want: `the "may_grow: true" of its allowance counts from the next change on; merge the allowance first`,
		},
		{
			name: "an exception that another entry takes back", base: "a=x/a 3 grow/a 3", head: "a=xx/a 3 grow/a 3",
			want: "the file has 2× and had 1 before, in m0; remove 1, …grow; of the 2 entries …",
		},
		{
			name: "an exception does not move", base: "b=xx/b 2 grow", head: "a=xx/a 2 from=b",
			want: "this change adds its allowance, …; remove 2, and merge an allowance for the rest first",
		},
		{
			name: "could not be parsed before", base: "a=xx!/a 2", head: "a=xx/a 2",
			want: "the file could not be read or parsed before, in m0, and counts as having had none; fix them, or " +
				`merge an allowance with "may_grow: true" first`,
		},
		{
			name: "cannot be parsed now", base: "a=xx/a 2", head: "a=xx!/a 2",
			want: "its allowance has no effect, because the file could not be checked completely",
		},
		{
			name: "several entries", base: "a=xx/a 2/a 1", head: "a=xx/a 2/a 1",
			want: "the file has 2× and an allowance for 1, as before this change; fix 1, or raise the allowance in " +
				"a separate change; of the 2 entries …",
		},
		{
			name: "the end of one entry ends all", base: "a=xx/a 2/a 1 until=2027-01-01",
			head: "a=xx/a 2/a 1 until=2027-01-01",
			want: "its allowance ended on 2027-01-01; fix them, or extend it in a separate change; of the 2 entries …",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := scene{day: today, base: state(t, c.base), head: state(t, c.head)}
			sc.mergeBases = []snapshot{sc.base}
			if c.mergeBase != "" {
				sc.mergeBases = []snapshot{state(t, c.mergeBase)}
			}
			v := sc.head.rules[0]
			d := sc.book().Decide(sc.question(v, true, true, "a"))
			got := ""
			if d.Denial != nil {
				got = cmp.Or(shorten.Replace(d.Denial.Explain(written)), "-")
			}
			if got != c.want {
				t.Errorf("got\n  %q, want\n  %q", got, c.want)
			}
			if naive := naiveAllowed(sc, v, true, true, "a"); naive != (d.Denial == nil) {
				t.Errorf("the naive reading says %t", naive)
			}
		})
	}
}
