package repo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
)

// A commitGraph is a file of git's commit-graph (git's gitformat-commit-graph(5)), on top of the older files of its
// chain. Commits are numbered in all files together.
type commitGraph struct {
	base  *commitGraph // nil: none
	first int          // how many commits the older files have
	names hashTable
	parts []byte // for each commit its tree, two parents and the date
	edges []byte // further parents
}

// openGraph returns the commit-graph; nil if it is missing or unusable. In a shallow clone it is not used, as it goes
// beyond the boundary.
func (r *Repository) openGraph() *commitGraph {
	if len(r.shallow) > 0 {
		return nil
	}
	format := r.objects.format
	for _, f := range r.objects.dirs {
		info := filepath.Join(f.dir, "info")
		if g, err := openGraphFile(format, filepath.Join(info, "commit-graph"), nil, nil); err == nil {
			return g
		}
		chain, err := format.readHashes(filepath.Join(info, "commit-graphs", "commit-graph-chain"))
		if err != nil {
			continue
		}
		var g *commitGraph
		var below []byte
		for _, h := range chain { // the oldest first
			name := filepath.Join(info, "commit-graphs", "graph-"+h.String()+".graph")
			if g, err = openGraphFile(format, name, g, below); err != nil {
				return nil
			}
			below = append(below, h[:format.size()]...)
		}
		if g != nil {
			return g
		}
	}
	return nil
}

// openGraphFile opens a file of a commit-graph. below are the hashes of the files that base consists of.
func openGraphFile(f format, name string, base *commitGraph, below []byte) (*commitGraph, error) {
	content, err := mapped(name)
	if err != nil {
		return nil, err
	}
	const head = 8 // CGPH, the version 1, the format, the number of chunks and of files below
	size := f.size()
	if len(content) < head+size || string(content[:6]) != "CGPH\x01"+string(byte(f)) {
		return nil, fmt.Errorf("%w: %s is no commit-graph of version 1 and %s", ErrCorrupt, name, f)
	}
	body, sum := content[:len(content)-size], content[len(content)-size:]
	got := f.new()
	_, _ = got.Write(body) // never fails
	parts, err := chunks(body, head, int(content[6]))
	if err != nil || !bytes.Equal(got.Sum(nil), sum) || !bytes.Equal(parts["BASE"], below) {
		return nil, fmt.Errorf("%w: %s is damaged", ErrCorrupt, name)
	}
	g := &commitGraph{base: base, parts: parts["CDAT"], edges: parts["EDGE"]}
	if base != nil {
		g.first = base.first + base.names.count()
	}
	if g.names, err = newHashTable(f, parts["OIDF"], parts["OIDL"]); err != nil {
		return nil, err
	}
	if len(g.parts) < g.names.count()*g.row() {
		return nil, fmt.Errorf("%w: %s is too short", ErrCorrupt, name)
	}
	return g, nil
}

// row is the size of what the file has of a commit.
func (g *commitGraph) row() int { return g.names.format.size() + 4 + 4 + 8 }

// find returns a commit without its tree; nil if the graph does not have it whole.
func (g *commitGraph) find(h Hash) *commit {
	i, found := g.names.find(&h)
	if !found && g.base != nil {
		return g.base.find(h)
	}
	if !found {
		return nil
	}
	const none, edges = 0x7000_0000, 1 << 31
	row := g.parts[g.row()*i+g.names.format.size():]
	numbers := [2]uint32{binary.BigEndian.Uint32(row), binary.BigEndian.Uint32(row[4:])}
	c := &commit{date: int64(binary.BigEndian.Uint64(row[8:]) & (1<<34 - 1))}
	add := func(number uint32) (known bool) {
		of, k := g, int(number)
		for of.base != nil && k < of.first {
			of = of.base
		}
		if k -= of.first; k < of.names.count() {
			c.parents = append(c.parents, of.names.format.at(of.names.hash(k)))
		}
		return k < of.names.count()
	}
	ok := numbers[0] == none || add(numbers[0])
	switch second := numbers[1]; {
	case second == none:
	case second&edges == 0:
		ok = ok && add(second)
	default: // to the edge that has the mark of the last one
		for at, last := int(second&^edges)*4, false; ok && !last; at += 4 {
			if at+4 > len(g.edges) {
				return nil
			}
			number := binary.BigEndian.Uint32(g.edges[at:])
			last = number&edges != 0
			ok = add(number &^ edges)
		}
	}
	if !ok {
		return nil
	}
	return c
}

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

const (
	beforeGraph = 64      // commits that are read before the commit-graph is opened, whose check takes about as long
	maxKnown    = 100_000 // commits that are cached, about 100 bytes each
)

// commit returns a commit, whose tree may be missing.
func (s *history) commit(h Hash) (*commit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.known[h]; c != nil {
		return c, nil
	}
	if s.asked++; s.asked > s.repo.beforeGraph && !s.opened {
		s.opened = true
		s.graph = s.repo.openGraph()
	}
	var c *commit
	var err error
	if s.graph != nil {
		c = s.graph.find(h)
	}
	if c == nil {
		c, err = s.repo.commit(h)
	}
	if err == nil {
		if s.known == nil || len(s.known) == maxKnown {
			s.known = map[Hash]*commit{}
		}
		s.known[h] = c
	}
	return c, err
}
