package rules

import (
	"cmp"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules/glob"
)

// A selector answers for all rules of a bundle at once which of their globs of one list match a path and are not
// excluded: each distinct glob is matched once, however many rules have it.
type selector struct {
	exact   *glob.Index // nil if no rule has a glob that is matched so
	folded  *glob.Index // of globs in lower case; likewise
	exclude *glob.Index // nil if there is none

	exactOf, foldedOf       [][]GlobOf // of each glob, by its number, where it is
	exactRules, foldedRules [][]int    // and the rules that have it
	excludes                [][]int    // of each rule, the numbers of its Excludes
	scratch                 sync.Pool  // of *matched
}

// matched are the globs and the rules that select a path.
type matched struct {
	globs, excluded, rules glob.Bits
}

// newSelector returns the selector of one list of globs of each rule. folds says of which rules they are matched
// without regard to letter case.
func newSelector(list []Rule, globsOf func(*Rule) []string, folds func(*Rule) bool) *selector {
	var exact, folded, excluded [][]string
	s := &selector{excludes: make([][]int, len(list))}
	s.scratch.New = func() any { return new(matched) }
	sets := make([][]string, len(list))
	for i := range list {
		r := &list[i]
		if sets[i] = globsOf(r); len(sets[i]) == 0 {
			continue
		}
		excluded = append(excluded, r.Excludes())
		if folds(r) {
			sets[i] = glob.FoldAll(sets[i])
			folded = append(folded, sets[i])
		} else {
			exact = append(exact, sets[i])
		}
	}
	index := func(sets [][]string) (*glob.Index, [][]GlobOf, [][]int) {
		if len(sets) == 0 {
			return nil, nil, nil
		}
		x := glob.NewIndex(sets...)
		return x, make([][]GlobOf, x.Len()), make([][]int, x.Len())
	}
	s.exact, s.exactOf, s.exactRules = index(exact)
	s.folded, s.foldedOf, s.foldedRules = index(folded)
	s.exclude, _, _ = index(excluded)
	for i := range list {
		x, of, rules := s.exact, s.exactOf, s.exactRules
		if folds(&list[i]) {
			x, of, rules = s.folded, s.foldedOf, s.foldedRules
		}
		for k, g := range sets[i] {
			n := x.Number(g)
			of[n], rules[n] = append(of[n], GlobOf{i, k}), append(rules[n], i)
		}
		if len(sets[i]) > 0 {
			for _, g := range list[i].Excludes() {
				s.excludes[i] = append(s.excludes[i], s.exclude.Number(g))
			}
		}
	}
	return s
}

// rules appends the rules that have a glob that matches, in order.
func (s *selector) rules(path string, into []int) []int {
	m := s.scratch.Get().(*matched)
	m.rules = m.rules.Cleared(len(s.excludes))
	if s.exact != nil {
		m.globs = s.exact.Match(path, m.globs)
		m.globs.Each(func(n int) { m.rules.Add(s.exactRules[n]) })
	}
	if s.folded != nil {
		m.globs = s.folded.Match(glob.Fold(path), m.globs)
		m.globs.Each(func(n int) { m.rules.Add(s.foldedRules[n]) })
	}
	looked := false
	m.rules.Each(func(i int) {
		if len(s.excludes[i]) > 0 && !looked {
			m.excluded, looked = s.exclude.Match(path, m.excluded), true
		}
		if !anyOf(m.excluded, s.excludes[i]) {
			into = append(into, i)
		}
	})
	s.scratch.Put(m)
	return into
}

// globs appends the globs that match, in order.
func (s *selector) globs(path string, into []GlobOf) []GlobOf {
	if s.exact == nil && s.folded == nil {
		return into
	}
	m := s.scratch.Get().(*matched)
	defer s.scratch.Put(m)
	from := len(into)
	add := func(places [][]GlobOf) {
		m.globs.Each(func(n int) { into = append(into, places[n]...) })
	}
	if s.exact != nil {
		m.globs = s.exact.Match(path, m.globs)
		add(s.exactOf)
	}
	if s.folded != nil {
		m.globs = s.folded.Match(glob.Fold(path), m.globs)
		add(s.foldedOf)
	}
	if len(into) == from {
		return into
	}
	if s.exclude != nil {
		m.excluded = s.exclude.Match(path, m.excluded)
	}
	found := slices.DeleteFunc(into[from:], func(g GlobOf) bool { return anyOf(m.excluded, s.excludes[g.Rule]) })
	slices.SortFunc(found, func(a, b GlobOf) int { return cmp.Or(a.Rule-b.Rule, a.Glob-b.Glob) })
	return into[:from+len(found)]
}

func anyOf(bits glob.Bits, numbers []int) bool {
	for _, n := range numbers {
		if bits.Has(n) {
			return true
		}
	}
	return false
}
