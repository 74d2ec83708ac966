package push

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict/code"
)

// A server is a repository before a push.
type server struct {
	repo          *repo.Repository
	refs          map[string]repo.Hash // their objects, by name
	reached       []repo.Hash          // the commits of all refs
	defaultBranch string               // its full name; "" if HEAD is a commit
	head          repo.Hash            // its commit; zero without one
	// before is the head. Without one it is the default branch that the push creates, or else its first branch.
	before repo.Hash
}

func stateOf(r *repo.Repository) (*server, error) {
	s := &server{repo: r, refs: map[string]repo.Hash{}}
	all, err := r.Refs()
	if err != nil {
		return nil, err
	}
	for _, ref := range all {
		s.refs[ref.Name] = ref.Hash
		commit, err := r.Peel(ref.Hash)
		var other *repo.KindError
		if err == nil {
			s.reached = append(s.reached, commit)
		} else if !errors.As(err, &other) {
			return nil, fmt.Errorf("the ref %s: %w", ref.Name, err)
		}
	}
	if s.defaultBranch, err = r.DefaultBranch(); err == nil {
		s.head, err = r.Commit("HEAD")
	}
	if errors.Is(err, repo.ErrUnborn) {
		err = nil
	}
	s.before = s.head
	return s, err
}

// A part of a push is checked as one run.
type part struct {
	ref      string          // the branch; "" for what the other refs bring
	base     string          // what it is compared with, for display
	compared repo.Comparison // without a base, all files of the head are checked
	commits  []repo.Hash     // the new ones, of which no other part has any
}

// parts returns a part for each branch, and one for the commits that only other refs bring. There is at least one, so
// that rules are enforced.
func (s *server) parts(updates []update) ([]part, error) {
	var parts []part
	var tips, old []repo.Hash // of refs that are no branches; of all that were there before
	for _, u := range updates {
		if s.refs[u.ref] != u.old {
			return nil, refused(code.Changed, "%s is no longer at %s; fetch, and push again", u.ref, u.old)
		}
		if was, err := s.repo.Peel(u.old); err == nil {
			old = append(old, was)
		}
		if u.new.IsZero() {
			continue
		}
		tip, err := s.repo.Peel(u.new)
		var other *repo.KindError
		switch {
		case errors.As(err, &other):
			return nil, refused(code.RevSyntax, "%s points to a %s (%s), whose path no rule can select; "+
				"push a commit, or a tag of one", u.ref, other.Kind, repo.Short(other.Hash))
		case err != nil:
			return nil, err
		case !strings.HasPrefix(u.ref, "refs/heads/"):
			tips = append(tips, tip)
			continue
		}
		p := part{ref: u.ref, base: u.ref}
		if u.old.IsZero() && !s.head.IsZero() {
			p.base = cmp.Or(s.defaultBranch, "HEAD")
		}
		if p.compared, err = s.compare(u, tip); err == nil {
			p.commits, err = s.bring(tip)
		}
		if err != nil {
			return nil, err
		}
		if s.before.IsZero() || s.head.IsZero() && u.ref == s.defaultBranch {
			s.before = tip
		}
		parts = append(parts, p)
	}
	commits, err := s.bring(tips...)
	if err != nil || len(commits) == 0 && len(parts) > 0 {
		return parts, err
	}
	if s.before.IsZero() { // there is no branch, neither before the push nor in it
		if tips = append(tips, old...); len(tips) == 0 {
			return nil, refused(code.Empty, "neither the push nor the repository has a commit; push one")
		}
		s.before = tips[0]
	}
	p := part{base: cmp.Or(s.defaultBranch, "HEAD"), commits: commits, compared: same(s.before)}
	return append(parts, p), nil
}

// bring returns the commits that are new with these, and notes that they are reached from then on.
func (s *server) bring(tips ...repo.Hash) ([]repo.Hash, error) {
	commits, err := s.repo.Between(tips, s.reached)
	s.reached = append(s.reached, tips...)
	return commits, err
}

// compare relates the new tip of a branch to its old one, or that of a new branch to the default branch. Without either
// there is no base.
func (s *server) compare(u update, tip repo.Hash) (repo.Comparison, error) {
	base, isNew := u.old, u.old.IsZero()
	if isNew {
		base = s.head
	}
	if base.IsZero() {
		return repo.Comparison{Head: tip}, nil
	}
	c, err := s.repo.Relate(base, tip)
	switch {
	case errors.Is(err, repo.ErrNoMergeBase):
		var lacks []repo.Hash
		lacks, err = s.repo.Between([]repo.Hash{base}, []repo.Hash{tip})
		c.MergeBases, c.Behind = []repo.Hash{base}, len(lacks)
	case err != nil:
	case c.MergeBases[0] == tip && (isNew || base == tip): // it adds no commit
		c = same(tip)
	case c.MergeBases[0] == tip: // it goes back to an older commit
		c.MergeBases = []repo.Hash{base}
	case c.MergeBases[0] != base:
		c.Replaces = !isNew
	}
	return c, err
}

// same compares a commit with itself: no file differs.
func same(h repo.Hash) repo.Comparison {
	return repo.Comparison{Base: h, Head: h, MergeBases: []repo.Hash{h}, Replaces: true}
}
