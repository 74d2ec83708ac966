package allowance

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules"
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
		{"all at once", "/a 2 until=2027-01-01", "/a 3 from=b grow", "raised from + b until - 2027-01-01 may_grow + true"},
		{"raised and extended", "/a 2 until=2027-01-01", "/a 3 until=2027-02-01", "raised until - 2027-01-01 + 2027-02-01"},
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
	const want = "f0, f1, f2, f3, f4 and 3 more together have 9 occurrences of this rule and had 8 before, in m; "
	if got := r.Explain(written); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Helpers for package allowance_test, which makes repositories of histories.

// A Repository is a history in a repository's form: each file is YAML, each token a value in it, and the rules forbid
// values.
type Repository struct{ h history }

// Today is the day of the tests.
const Today = today

// DrawRepository draws a history.
func DrawRepository(t *rapid.T) Repository {
	h := drawHistory(t, anything)
	for i := range h {
		for k := range h[i].rules {
			h[i].rules[k].never = false // else an entry would be an error
		}
		for k := range h[i].entries {
			e := &h[i].entries[k]
			e.File += ".yaml"
			for n := range e.From {
				e.From[n] += ".yaml"
			}
		}
	}
	return Repository{h}
}

// Len returns the number of commits.
func (r Repository) Len() int { return len(r.h) }

// Parents returns the parents of a commit.
func (r Repository) Parents(i int) []int { return r.h[i].parents }

// Files returns the files of a commit, by path.
func (r Repository) Files(i int) map[string]string {
	s := r.h[i].snapshot
	all := map[string]string{}
	for name, f := range s.files {
		var b strings.Builder
		b.WriteString(strings.Repeat("#\n", f.layout) + "t:\n")
		for _, token := range f.tokens {
			fmt.Fprintf(&b, "- value-%c\n", token)
		}
		if f.broken {
			b.WriteString("u: [\n")
		}
		all[name+".yaml"] = b.String()
	}
	var b strings.Builder
	b.WriteString("bundle: \"0.2\"\nrules:\n")
	for _, v := range s.rules {
		var exclude []string
		for _, name := range v.not {
			exclude = append(exclude, fmt.Sprintf("/%c.yaml", name))
		}
		list := ""
		if exclude != nil {
			list = ", exclude: [" + strings.Join(exclude, ", ") + "]"
		}
		fmt.Fprintf(&b, "  - id: %s\n    title: t\n    enforcement: {mode: fail}\n    match: {files: ['/*.yaml']%s, "+
			"forbidden_patterns: [{key: t, is: [value-%s]}]}\n", v.id, list, strings.Join(strings.Split(v.tokens, ""), ", value-"))
	}
	all[".policyscan/rules/boundaries.yml"] = b.String()
	if text := rules.FormatAllowances(s.entries); text != nil {
		all[".policyscan/rules/allowances.yml"] = string(text)
	}
	return all
}

// named is a scene with the repository's file names.
func (s snapshot) named() snapshot {
	n := s.clone()
	n.files = map[string]file{}
	for name, f := range s.files {
		n.files[name+".yaml"] = f
	}
	for i, v := range n.rules {
		n.rules[i].not = ""
		for _, name := range v.not {
			n.rules[i].not += fmt.Sprintf("%c.yaml ", name)
		}
	}
	return n
}

// Judge is the naive evaluation of a change: the rules and files that fail it, the allowed ones, each as "X in a", and
// whether a file of the change cannot be checked. compared is false if the head adds nothing to the base.
func (r Repository) Judge(base, head int) (failed, allowed map[string]bool, incomplete, compared bool) {
	sc := r.h.scene(base, head)
	for i := range sc.mergeBases {
		sc.mergeBases[i] = sc.mergeBases[i].named()
	}
	sc.base, sc.head = sc.base.named(), sc.head.named()
	failed, allowed = map[string]bool{}, map[string]bool{}
	bases := r.h.mergeBases(base, head)
	if len(bases) == 0 || len(bases) == 1 && bases[0] == head {
		return failed, allowed, false, false
	}
	for _, name := range sc.judged(sc.naiveTouched()) {
		sc.enforced(func(v version, ofBase, ofHead bool) {
			if f, there := sc.head.files[name]; there && f.broken && !strings.Contains(v.not, name) {
				incomplete = true
			}
			if v.count(sc.head, name) == 0 {
				return
			}
			at := v.id + " in " + name
			if naiveAllowed(sc, v, ofBase, ofHead, name) {
				allowed[at] = true
			} else {
				failed[at] = true
			}
		})
	}
	for at := range failed { // denied by one side's version of the rule: the other's does not allow it
		delete(allowed, at)
	}
	return failed, allowed, incomplete, true
}

// String shows the history.
func (r Repository) String() string { return r.h.String() }
