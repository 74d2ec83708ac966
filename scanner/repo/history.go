package repo

import (
	"bytes"
	"crypto/sha1"
	"path/filepath"
	"sync"

	commitgraph "github.com/go-git/go-git/v5/plumbing/format/commitgraph/v2"
)

// A history returns the parents and dates of commits for searches over many of them, and caches them for repeated
// searches. After a number of commits it opens the commit-graph (git's gitformat-commit-graph(5)); commits that are
// missing in the graph are read themselves. A graph with a wrong checksum is not used: the commits have all of its
// data.
type history struct {
	repo *Repository

	mu     sync.Mutex // guards the fields below
	known  map[Hash]*commit
	graph  commitgraph.Index // nil: none
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
		if at, err := s.graph.GetIndexByHash(h); err == nil {
			if data, err := s.graph.GetCommitDataByIndex(at); err == nil {
				return &commit{parents: data.ParentHashes, date: data.When.Unix()}, nil
			}
		}
	}
	return s.repo.commit(h)
}

// openGraph returns the commit-graph; nil if it is missing or unusable. In a shallow clone it is not used, as it goes
// beyond the boundary.
func (r *Repository) openGraph() commitgraph.Index {
	if len(r.shallow) > 0 {
		return nil
	}
	for _, f := range r.objects.dirs {
		info := filepath.Join(f.dir, "info")
		if g := openGraphFile(filepath.Join(info, "commit-graph"), nil); g != nil {
			return g
		}
		chain, err := readHashes(filepath.Join(info, "commit-graphs", "commit-graph-chain"))
		if err != nil {
			continue
		}
		var g commitgraph.Index
		for _, h := range chain { // the oldest first
			if g = openGraphFile(filepath.Join(info, "commit-graphs", "graph-"+h.String()+".graph"), g); g == nil {
				return nil
			}
		}
		if g != nil {
			return g
		}
	}
	return nil
}

// openGraphFile opens one file of a commit-graph; nil if it is unusable.
func openGraphFile(name string, parent commitgraph.Index) commitgraph.Index {
	content, err := mapped(name)
	if err != nil || len(content) < sha1.Size {
		return nil
	}
	body, sum := content[:len(content)-sha1.Size], content[len(content)-sha1.Size:]
	if got := sha1.Sum(body); !bytes.Equal(got[:], sum) {
		return nil
	}
	g, err := commitgraph.OpenFileIndexWithParent(graphFile{bytes.NewReader(content)}, parent)
	if err != nil {
		return nil
	}
	return g
}

type graphFile struct{ *bytes.Reader }

func (graphFile) Close() error { return nil }
