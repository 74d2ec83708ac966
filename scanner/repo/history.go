package repo

import "sync"

// A history returns the parents and dates of commits for searches over many of them, and caches them for repeated
// searches. After a number of commits it opens the commit-graph (git's gitformat-commit-graph(5)); commits that are
// missing in the graph are read themselves. A graph with a wrong checksum is not used: the commits have all of its
// data.
type history struct {
	repo *Repository

	mu     sync.Mutex // guards the fields below
	known  map[Hash]*commit
	graph  *commitGraph // nil: none
	opened bool
	asked  int
}

// beforeGraph is how many commits are read before the commit-graph is opened, whose check takes about as long.
const beforeGraph = 64

// maxKnown is how many commits are cached, about 100 bytes each.
const maxKnown = 100_000

// commit returns a commit, whose tree may be missing.
func (s *history) commit(h Hash) (*commit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.known[h]; c != nil {
		return c, nil
	}
	c, err := s.find(h)
	if err == nil {
		if s.known == nil || len(s.known) == maxKnown {
			s.known = map[Hash]*commit{}
		}
		s.known[h] = c
	}
	return c, err
}

func (s *history) find(h Hash) (*commit, error) {
	s.asked++
	if s.asked > s.repo.beforeGraph && !s.opened {
		s.opened = true
		s.graph = s.repo.openGraph()
	}
	if s.graph != nil {
		if c := s.graph.find(h); c != nil {
			return c, nil
		}
	}
	return s.repo.commit(h)
}
