package repo

import (
	"bytes"
	"container/heap"
	"math"
	"slices"
)

// Between returns the commits that tips reach and ends do not, parents before children; of several that are ready, the
// one with the older committer date comes first, then the one with the smaller hash. If the clocks of many commits are
// wrong, there can be more commits, never fewer. A history that a shallow clone cuts off is a [ShallowError].
//
// The search goes on to commits as old as the oldest result, and a little further; it does not depend on the number of
// commits before that.
func (r *Repository) Between(tips, ends []Hash) ([]Hash, error) {
	s := &search{history: &r.past, marks: map[Hash]int{}, oldest: math.MaxInt64}
	for i, h := range slices.Concat(tips, ends) {
		marks := ofA
		if i >= len(tips) {
			marks = ofB | stale
		}
		if err := s.push(h, marks); err != nil {
			return nil, err
		}
	}
	for s.fresh > 0 {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	if err := s.cut(); err != nil {
		return nil, err
	}
	return s.inOrder()
}

// inOrder returns the commits that are only in the first history.
func (s *search) inOrder() ([]Hash, error) {
	var queue ready
	missing := map[Hash]int{} // parents that are not yet in the result
	children := map[Hash][]waiting{}
	for h, marks := range s.marks {
		if marks&(ofA|ofB) != ofA {
			continue
		}
		c, err := s.commit(h)
		if err != nil {
			return nil, err
		}
		w := waiting{h, c}
		for _, p := range c.parents {
			if s.marks[p]&(ofA|ofB) == ofA {
				missing[h]++
				children[p] = append(children[p], w)
			}
		}
		if missing[h] == 0 {
			heap.Push(&queue, w)
		}
	}
	var all []Hash
	for len(queue.dated) > 0 {
		next := heap.Pop(&queue).(waiting).hash
		all = append(all, next)
		for _, w := range children[next] {
			if missing[w.hash]--; missing[w.hash] == 0 {
				heap.Push(&queue, w)
			}
		}
	}
	return all, nil
}

// ready is a heap of commits, the oldest first, then by hash.
type ready struct{ dated }

func (r ready) Less(i, j int) bool {
	a, b := r.dated[i], r.dated[j]
	return a.date < b.date || a.date == b.date && bytes.Compare(a.hash[:], b.hash[:]) < 0
}

// Brought calls visit with each leaf of a commit that every parent lacks at its path; of a commit without parents with
// all. They are in tree order. Nothing is known of the parents at a shallow clone's boundary.
func (r *Repository) Brought(commit Hash, visit func(path string, leaf Leaf) error) error {
	c, err := r.commit(commit)
	if err != nil {
		return err
	}
	if r.shallow[commit] {
		return &ShallowError{commit}
	}
	parents := []Hash{{}}
	if len(c.parents) > 0 {
		parents = parents[:0]
	}
	for _, p := range c.parents {
		parent, err := r.commit(p)
		if err != nil {
			return err
		}
		if parent.tree == c.tree {
			return nil
		}
		parents = append(parents, parent.tree)
	}
	last := len(parents) - 1
	differing := map[string]int{} // from how many of the parents before the last
	for i, parent := range parents {
		err := r.Diff(parent, c.tree, func(change Change) error {
			switch {
			case change.New == (Leaf{}) || differing[change.Path] < i:
				return nil
			case i < last:
				differing[change.Path] = i + 1
				return nil
			}
			return visit(change.Path, change.New)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
