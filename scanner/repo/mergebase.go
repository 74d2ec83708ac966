package repo

import (
	"bytes"
	"container/heap"
	"errors"
	"slices"
)

// ErrNoMergeBase says that two commits have no history in common.
var ErrNoMergeBase = errors.New("no common history")

// Marks of a commit in the search for merge bases.
const (
	ofA   = 1 << iota // reached from a
	ofB               // reached from b
	stale             // an ancestor of a common commit: no best one
	found             // common, and perhaps a best one
)

// MergeBases returns the best common ancestors of two commits, in byte order of their
// hashes: those that are not ancestors of another common one. A search that meets the
// boundary of a shallow clone cannot know them, and is a [ShallowError], unless one of
// the two commits is found to be an ancestor of the other before: two commits of depth
// suffice for a commit and its parent.
//
// It is git's: commits are taken newest first, marks flow to the parents, and the
// search ends when only ancestors of common commits are left. A clock that went wrong
// makes it take a commit too early; marks that come later are passed on again, and
// what was wrongly found is dropped at the end.
func (r *Repository) MergeBases(a, b Hash) ([]Hash, error) {
	past := &r.past
	common, err := past.common(a, b)
	if err != nil {
		return nil, err
	}
	best, err := past.independent(common)
	if err != nil {
		return nil, err
	}
	if len(best) == 0 {
		return nil, ErrNoMergeBase
	}
	slices.SortFunc(best, func(x, y Hash) int { return bytes.Compare(x[:], y[:]) })
	return best, nil
}

// common returns the common ancestors among which the best ones are.
func (past *history) common(a, b Hash) ([]Hash, error) {
	s := search{history: past, marks: map[Hash]int{}, queued: map[Hash]bool{}}
	if err := s.push(a, ofA); err != nil {
		return nil, err
	}
	if err := s.push(b, ofB); err != nil {
		return nil, err
	}
	var result, ends []Hash
	for s.fresh > 0 {
		if s.marks[a]&ofB != 0 {
			return []Hash{a}, nil // the one is an ancestor of the other
		}
		if s.marks[b]&ofA != 0 {
			return []Hash{b}, nil
		}
		c := s.pop()
		marks := s.marks[c.hash]
		pass := marks & (ofA | ofB | stale)
		if pass == ofA|ofB {
			if marks&found == 0 {
				s.marks[c.hash] |= found
				result = append(result, c.hash)
			}
			pass |= stale
		}
		if past.repo.shallow[c.hash] {
			if pass&stale == 0 {
				ends = append(ends, c.hash)
			}
			continue
		}
		for _, p := range c.parents {
			if err := s.push(p, pass); err != nil {
				return nil, err
			}
		}
	}
	for _, h := range ends {
		// What is before it may be common, and better, unless it is an ancestor of a common
		// commit after all.
		if s.marks[h]&stale == 0 && s.marks[h]&(ofA|ofB) != ofA|ofB {
			return nil, &ShallowError{h}
		}
	}
	return slices.DeleteFunc(result, func(h Hash) bool { return s.marks[h]&stale != 0 }), nil
}

// independent drops the commits that are ancestors of another one.
func (past *history) independent(commits []Hash) ([]Hash, error) {
	if len(commits) < 2 {
		return commits, nil
	}
	drop := map[Hash]bool{}
	for i, a := range commits {
		for _, b := range commits[i+1:] {
			if drop[a] || drop[b] {
				continue
			}
			common, err := past.common(a, b)
			if err != nil {
				return nil, err
			}
			for _, h := range common {
				if h == a || h == b {
					drop[h] = true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(commits), func(h Hash) bool { return drop[h] }), nil
}

// A search walks history, newest commit first.
type search struct {
	*history
	marks  map[Hash]int
	queue  dated
	queued map[Hash]bool
	fresh  int // commits in the queue that are not stale
}

type waiting struct {
	hash Hash
	*commit
}

// push marks a commit, and queues it unless it had the marks already.
func (s *search) push(h Hash, marks int) error {
	old := s.marks[h]
	if old&marks == marks {
		return nil
	}
	s.marks[h] = old | marks
	if s.queued[h] {
		if old&stale == 0 && marks&stale != 0 {
			s.fresh--
		}
		return nil
	}
	c, err := s.commit(h)
	if err != nil {
		return err
	}
	heap.Push(&s.queue, waiting{h, c})
	s.queued[h] = true
	if (old|marks)&stale == 0 {
		s.fresh++
	}
	return nil
}

func (s *search) pop() waiting {
	c := heap.Pop(&s.queue).(waiting)
	delete(s.queued, c.hash)
	if s.marks[c.hash]&stale == 0 {
		s.fresh--
	}
	return c
}

// dated is a heap of commits, the newest first; of the same second, by hash.
type dated []waiting

func (d dated) Len() int { return len(d) }
func (d dated) Less(i, j int) bool {
	if d[i].date != d[j].date {
		return d[i].date > d[j].date
	}
	return bytes.Compare(d[i].hash[:], d[j].hash[:]) < 0
}
func (d dated) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *dated) Push(x any)   { *d = append(*d, x.(waiting)) }
func (d *dated) Pop() any {
	old := *d
	x := old[len(old)-1]
	*d = old[:len(old)-1]
	return x
}
