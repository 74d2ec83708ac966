package rules

import (
	"cmp"
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules/glob"
)

// A selector finds the globs of one list of all rules that match a path and are not excluded. It matches each distinct
// glob once, however many rules have it.
type selector struct {
	lists    [2]globList // the globs as written, and, for rules that ignore case, in lower case
	exclude  *glob.Index // nil if no rule has one
	excludes [][]int     // per rule, the numbers of its Excludes
	scratch  sync.Pool   // of *matched
}

type globList struct {
	index *glob.Index // nil if the list is empty
	of    [][]GlobOf  // the rules and indices of each glob, by its number
	rules [][]int     // the rules that have it
}

type matched struct {
	globs, excluded, rules glob.Bits
}

// newSelector returns the selector for one kind of glob.
func newSelector(list []Rule, kind PartKind) *selector {
	var sets [2][][]string
	var rules [2][]int // the rules of each list
	var excluded [][]string
	s := &selector{excludes: make([][]int, len(list))}
	s.scratch.New = func() any { return new(matched) }
	for i := range list {
		r := &list[i]
		set := r.globs(kind)
		if len(set) == 0 {
			continue
		}
		excluded = append(excluded, r.Excludes())
		k := 0
		if r.PathCase && kind != RequiredFilesGlob {
			k, set = 1, glob.FoldAll(set)
		}
		sets[k], rules[k] = append(sets[k], set), append(rules[k], i)
	}
	if len(excluded) > 0 {
		s.exclude = glob.NewIndex(excluded...)
	}
	for k := range s.lists {
		s.lists[k].fill(sets[k], rules[k])
		for _, i := range rules[k] {
			for _, g := range list[i].Excludes() {
				s.excludes[i] = append(s.excludes[i], s.exclude.Number(g))
			}
		}
	}
	return s
}

func (l *globList) fill(sets [][]string, rules []int) {
	if len(sets) == 0 {
		return
	}
	l.index = glob.NewIndex(sets...)
	l.of, l.rules = make([][]GlobOf, l.index.Len()), make([][]int, l.index.Len())
	for i, set := range sets {
		for k, g := range set {
			n := l.index.Number(g)
			l.of[n], l.rules[n] = append(l.of[n], GlobOf{rules[i], k}), append(l.rules[n], rules[i])
		}
	}
}

// match sets m to the matching globs of list k; it reports whether that list has globs.
func (s *selector) match(k int, path string, m *matched) bool {
	x := s.lists[k].index
	switch {
	case x == nil:
		return false
	case k == 1:
		path = glob.Fold(path)
	}
	m.globs = x.Match(path, m.globs)
	return true
}

// rules appends the rules with a matching glob, in order.
func (s *selector) rules(path string, into []int) []int {
	m := s.scratch.Get().(*matched)
	m.rules = m.rules.Cleared(len(s.excludes))
	for k := range s.lists {
		if s.match(k, path, m) {
			m.globs.Each(func(n int) { m.rules.Add(s.lists[k].rules[n]) })
		}
	}
	looked := false
	m.rules.Each(func(i int) {
		if len(s.excludes[i]) > 0 && !looked {
			m.excluded, looked = s.exclude.Match(path, m.excluded), true
		}
		if !slices.ContainsFunc(s.excludes[i], m.excluded.Has) {
			into = append(into, i)
		}
	})
	s.scratch.Put(m)
	return into
}

// globs appends the matching globs, in order.
func (s *selector) globs(path string, into []GlobOf) []GlobOf {
	if s.exclude == nil { // no rule has a glob
		return into
	}
	m := s.scratch.Get().(*matched)
	defer s.scratch.Put(m)
	from := len(into)
	for k := range s.lists {
		if s.match(k, path, m) {
			m.globs.Each(func(n int) { into = append(into, s.lists[k].of[n]...) })
		}
	}
	if len(into) == from {
		return into
	}
	m.excluded = s.exclude.Match(path, m.excluded)
	found := slices.DeleteFunc(into[from:], func(g GlobOf) bool {
		return slices.ContainsFunc(s.excludes[g.Rule], m.excluded.Has)
	})
	slices.SortFunc(found, func(a, b GlobOf) int { return cmp.Or(a.Rule-b.Rule, a.Glob-b.Glob) })
	return into[:from+len(found)]
}
