package naive

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

var histories = flag.Int("histories", 250, "how many histories TestLaws makes")

// TestLaws checks what follows from the page for any change with allowances, by this package alone: [TestChanges] says
// that policyscan rules as it does.
func TestLaws(t *testing.T) {
	passed := 0
	for n := range *histories {
		g := &generator{Rand: rand.New(rand.NewPCG(*seed, uint64(n))), newer: true}
		first := g.plain(g.first())
		s := upToDate(first, g.plain(g.mutate(first)))
		clean := s.base.change(s.base).JudgeTree().Verdict == "PASS"
		sameRules := slices.Equal(s.base.rules, s.head.rules)
		if sameRules {
			g.signed(t, n, s)
		}
		if s.change().Judge().Verdict != "PASS" {
			continue
		}
		passed++
		if what := s.grown(); what != "" {
			t.Errorf("history %d: a change that passes leaves more of %s:\n%v", n, what, s)
		}
		if !sameRules || !clean {
			continue
		}
		// A tree of which the rules cover no file any more is undecided.
		if o := s.base.change(s.head).JudgeTree(); o.Verdict != "PASS" && !slices.Equal(o.Errors, []Error{{"E_EMPTY", ""}}) {
			t.Errorf("history %d: the change passes, and its result does not:\n%v", n, s)
		}
		if fewer := upToDate(s.base, g.fewer(s.head, s.base.list)); fewer.change().Judge().Verdict != "PASS" {
			t.Errorf("history %d: with an occurrence less it fails:\n%v\nas before it passed:\n%v", n, fewer, s)
		}
		g.branch(t, n, first)
	}
	if passed < *histories/5 {
		t.Errorf("%d of %d changes pass: too few to say anything", passed, *histories)
	}
}

// signed checks that a change that fails with the allowances of its base fails with more and higher ones.
func (g *generator) signed(t *testing.T, n int, s story) {
	t.Helper()
	s.head.list = s.base.list
	if s.change().Judge().Verdict == "PASS" {
		return
	}
	if s.head = g.raised(s.head); s.change().Judge().Verdict == "PASS" {
		t.Errorf("history %d: allowances of the change let it pass:\n%v", n, s)
	}
}

// branch makes commits that pass, one after the other, and checks what the branch does as a whole.
func (g *generator) branch(t *testing.T, n int, first version) {
	t.Helper()
	last := first
	moved := false
	for range 6 {
		next := g.plain(g.mutate(last))
		next.rules = first.rules
		next = next.valid()
		if s := upToDate(last, next); s.change().Judge().Verdict != "PASS" {
			continue
		}
		last = next
		moved = moved || slices.ContainsFunc(next.list, func(e Allowance) bool { return len(e.From) > 0 })
	}
	before, after := first.counts(), last.counts()
	for rule := range before {
		if total(after[rule]) > total(before[rule]) {
			t.Errorf("history %d: commits that pass end with more of %s:\n%v", n, rule, upToDate(first, last))
		}
	}
	// Who moves a file again keeps the older paths in "from"; these commits do not.
	if s := upToDate(first, last); !moved && s.change().Judge().Verdict != "PASS" {
		t.Errorf("history %d: each commit passes, and the branch does not:\n%v", n, s)
	}
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// upToDate is a change whose base is where it starts.
func upToDate(base, head version) story {
	return story{base: base, head: head, bases: []version{base}, upToDate: true}
}

// change is a change of a version to another.
func (v version) change(head version) Change { return upToDate(v, head).change() }

// plain is a version without exceptions.
func (g *generator) plain(v version) version {
	v = v.clone()
	for i := range v.list {
		v.list[i].MayGrow = false
	}
	return v.valid()
}

// raised is a version with more allowances, and higher ones, without a move.
func (g *generator) raised(v version) version {
	v = v.clone()
	for i := range v.list {
		v.list[i].AtMost += g.IntN(3)
		v.list[i].From = nil
		if g.percent(30) {
			v.list[i].Until = ""
		}
	}
	for _, e := range g.entries(v, 70) {
		if !slices.ContainsFunc(v.list, func(o Allowance) bool { return o.Rule == e.Rule && o.File == e.File }) {
			v.list = append(v.list, e)
		}
	}
	return v.valid()
}

// fewer is a version with one line less, and numbers that are as low as can be. An entry that is not in the base's list
// and that others name in "from" hands its own "from" on to them when it goes, as policyscan allow --tighten does it.
func (g *generator) fewer(v version, base []Allowance) version {
	before := v.counts()
	v = v.clone()
	for path, content := range v.files {
		lines := linesIn(path, content)
		if len(lines) < 2 {
			continue
		}
		smaller := v.clone()
		smaller.files[path] = joinedWell(path, without(lines, g.IntN(len(lines))))
		if after := smaller.counts(); less(after, before) {
			v = smaller
			break
		}
	}
	counts := v.counts()
	for i, gone := range v.list {
		if counts[gone.Rule][gone.File] > 0 || contains(base, gone) {
			continue
		}
		for k := range v.list {
			if e := &v.list[k]; k != i && e.Rule == gone.Rule && slices.Contains(e.From, gone.File) {
				e.From = slices.Concat(e.From, slices.DeleteFunc(slices.Clone(gone.From), func(path string) bool {
					return path == e.File || slices.Contains(e.From, path)
				}))
			}
		}
	}
	list := v.list
	v.list = nil
	for _, e := range list {
		n := counts[e.Rule][e.File]
		e.AtMost = min(e.AtMost, n)
		if n > 0 {
			v.list = append(v.list, e)
		}
	}
	return v.valid()
}

func contains(list []Allowance, e Allowance) bool {
	return slices.ContainsFunc(list, func(o Allowance) bool { return reflect.DeepEqual(o, e) })
}

// less reports whether no count is higher.
func less(after, before map[string]map[string]int) bool {
	for rule := range after {
		for path := range after[rule] {
			if after[rule][path] > before[rule][path] {
				return false
			}
		}
	}
	return true
}

// grown is a rule and a file of which a change leaves more than before, the joined ones together; empty if
// there is no such file.
func (s story) grown() string {
	c := s.change()
	for _, r := range c.Head.Bundle.Enforced() {
		if !slices.ContainsFunc(c.Base.Bundle.Enforced(), func(o Rule) bool { return o.ID == r.ID }) {
			continue
		}
		for path := range s.head.files {
			if c.grew(r, c.group(r.ID, path)) {
				return r.ID + " in " + path
			}
		}
	}
	return ""
}
