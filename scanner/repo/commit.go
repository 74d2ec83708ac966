package repo

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

type commit struct {
	tree    Hash
	parents []Hash
	date    int64 // the committer's, in seconds
}

// A Commit is what a commit says of itself.
type Commit struct {
	Hash, Tree Hash
	Parents    []Hash
	Date       time.Time // the committer's; zero if it is not in the years 1970 to 9999
	Subject    string    // the first line of the message
	Ends       bool      // it is the boundary of a shallow clone, which may lack its parents
}

// Describe reads a commit.
func (r *Repository) Describe(h Hash) (*Commit, error) {
	content, err := r.objects.read(h, plumbing.CommitObject)
	if err != nil {
		return nil, err
	}
	c, err := r.objects.format.parseCommit(content)
	if err != nil {
		return nil, wrapObject(h, err)
	}
	all := &Commit{Hash: h, Tree: c.tree, Parents: c.parents, Ends: r.shallow[h] && len(c.parents) > 0}
	if c.date > 0 && c.date <= maxDate {
		all.Date = time.Unix(c.date, 0).UTC()
	}
	_, message, _ := bytes.Cut(content, []byte("\n\n"))
	subject, _, _ := bytes.Cut(bytes.TrimLeft(message, "\r\n"), []byte("\n"))
	all.Subject = strings.TrimSpace(string(subject))
	return all, nil
}

// A ShallowError says that history ends at a commit because the clone is shallow.
type ShallowError struct{ Commit Hash }

func (e *ShallowError) Error() string {
	return fmt.Sprintf("this clone is shallow: its history stops at %s", Short(e.Commit))
}

// commit reads a commit. A commit at the shallow boundary has all its parents, as they may be in the clone anyway.
func (r *Repository) commit(h Hash) (*commit, error) {
	if r.Stopped != nil {
		if err := r.Stopped(); err != nil {
			return nil, err
		}
	}
	content, err := r.objects.read(h, plumbing.CommitObject)
	if err != nil {
		return nil, err
	}
	c, err := r.objects.format.parseCommit(content)
	return c, wrapObject(h, err)
}

// parseCommit reads the header of a commit, whose lines come in a fixed order: one tree, the parents, the author, the
// committer, and others.
func (f format) parseCommit(content []byte) (*commit, error) {
	const tree, parent, author, committer = 0, 1, 2, 3
	keys := []string{tree: "tree", parent: "parent", author: "author", committer: "committer"}
	c := &commit{}
	last := -1
	header, _, _ := bytes.Cut(content, []byte("\n\n"))
	for line := range bytes.SplitSeq(header, []byte("\n")) {
		name, value, hasValue := bytes.Cut(line, []byte(" "))
		key := -1
		if hasValue {
			key = slices.Index(keys, string(name))
		}
		inOrder := key == last+1 || key == parent && last == parent || key == author && last == tree
		switch {
		case key < 0 && last == committer:
			continue
		case !inOrder:
			return nil, fmt.Errorf("%w: a commit whose %q is not in its place", ErrCorrupt, clip(string(name)))
		case key == tree || key == parent:
			h, err := f.parse(string(value))
			if err != nil {
				return nil, fmt.Errorf("%w: a commit whose %s is %v", ErrCorrupt, name, err)
			}
			if key == tree {
				c.tree = h
			} else {
				c.parents = append(c.parents, h)
			}
		case key == committer:
			// "name <email> seconds zone". Old programs wrote odd dates; in a search they only decide its order, not
			// its result.
			if fields := bytes.Fields(value[bytes.LastIndexByte(value, '>')+1:]); len(fields) > 0 {
				c.date, _ = strconv.ParseInt(string(fields[0]), 10, 64)
			}
		}
		last = key
	}
	if last != committer {
		return nil, fmt.Errorf("%w: a commit without a committer", ErrCorrupt)
	}
	return c, nil
}

// maxDate is the last second of the year 9999.
const maxDate = 253402300799

func (r *Repository) tagged(h Hash) (Hash, error) {
	content, err := r.objects.read(h, plumbing.TagObject)
	if err != nil {
		return Hash{}, err
	}
	line, _, _ := bytes.Cut(content, []byte("\n"))
	name, ok := bytes.CutPrefix(line, []byte("object "))
	target, err := r.objects.format.parse(string(name))
	if !ok || err != nil {
		return Hash{}, wrapObject(h, fmt.Errorf("%w: a tag without an object", ErrCorrupt))
	}
	return target, nil
}
