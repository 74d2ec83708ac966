package repo

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// A commit is what is needed of a commit object.
type commit struct {
	tree    Hash
	parents []Hash
	date    int64 // the committer's, in seconds
}

// A ShallowError says that history ends at a commit because the clone is shallow.
type ShallowError struct{ Commit Hash }

func (e *ShallowError) Error() string {
	return fmt.Sprintf("this clone is shallow: what is before commit %s is not in it", e.Commit)
}

// commit reads a commit. A commit at the shallow boundary is returned with the parents that it names: they may be in
// the clone all the same.
func (r *Repository) commit(h Hash) (*commit, error) {
	content, err := r.objects.read(h, plumbing.CommitObject)
	if err != nil {
		return nil, err
	}
	c, err := parseCommit(content)
	return c, wrapObject(h, err)
}

// parseCommit reads the header of a commit, whose lines come in a fixed order: one tree, the parents, the author, the
// committer.
func parseCommit(content []byte) (*commit, error) {
	c := &commit{}
	header, _, _ := bytes.Cut(content, []byte("\n\n"))
	lines := bytes.Split(header, []byte("\n"))
	next := func(key string) ([]byte, bool) {
		if len(lines) == 0 {
			return nil, false
		}
		value, ok := bytes.CutPrefix(lines[0], []byte(key+" "))
		if ok {
			lines = lines[1:]
		}
		return value, ok
	}
	tree, ok := next("tree")
	if !ok || !plumbing.IsHash(string(tree)) {
		return nil, fmt.Errorf("%w: a commit without a tree", ErrCorrupt)
	}
	c.tree = plumbing.NewHash(string(tree))
	for {
		parent, ok := next("parent")
		if !ok {
			break
		}
		if !plumbing.IsHash(string(parent)) {
			return nil, fmt.Errorf("%w: a commit's parent is not a hash", ErrCorrupt)
		}
		c.parents = append(c.parents, plumbing.NewHash(string(parent)))
	}
	if _, ok := next("author"); !ok {
		return nil, fmt.Errorf("%w: a commit without an author after its parents", ErrCorrupt)
	}
	committer, ok := next("committer")
	if !ok {
		return nil, fmt.Errorf("%w: a commit without a committer after its author", ErrCorrupt)
	}
	for _, l := range lines {
		for _, key := range []string{"tree ", "parent ", "author ", "committer "} {
			if bytes.HasPrefix(l, []byte(key)) {
				return nil, fmt.Errorf("%w: a commit with a second or misplaced %q", ErrCorrupt, key)
			}
		}
	}
	// "name <email> seconds zone". Old programs wrote odd dates; they only decide the order of a search, not its
	// result.
	if i := bytes.LastIndexByte(committer, '>'); i >= 0 {
		if fields := bytes.Fields(committer[i+1:]); len(fields) > 0 {
			c.date, _ = strconv.ParseInt(string(fields[0]), 10, 64)
		}
	}
	return c, nil
}

// tagged returns the object that a tag names.
func (r *Repository) tagged(h Hash) (Hash, error) {
	content, err := r.objects.read(h, plumbing.TagObject)
	if err != nil {
		return Hash{}, err
	}
	line, _, _ := bytes.Cut(content, []byte("\n"))
	name, ok := bytes.CutPrefix(line, []byte("object "))
	if !ok || !plumbing.IsHash(string(name)) {
		return Hash{}, wrapObject(h, fmt.Errorf("%w: a tag without an object", ErrCorrupt))
	}
	return plumbing.NewHash(string(name)), nil
}
