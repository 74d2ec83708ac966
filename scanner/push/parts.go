package push

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict/code"
)

// A server is a repository before a push.
type server struct {
	repo          *repo.Repository
	refs          map[string]repo.Hash // their objects, by name
	reached       []repo.Hash          // the commits of all refs
	defaultBranch string               // its full name, or HEAD
	head          repo.Hash            // its commit; zero without one
	left          []repo.Hash          // the commits that the push brings and no part has, children before parents
	// before is the head. Without one it is the default branch that the push creates, or else its first branch.
	before repo.Hash
}

func stateOf(r *repo.Repository) (*server, error) {
	s := &server{repo: r}
	var err error
	if s.refs, err = r.Refs(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.refs)) {
		commit, err := r.Peel(s.refs[name])
		var other *repo.KindError
		if err == nil {
			s.reached = append(s.reached, commit)
		} else if !errors.As(err, &other) {
			return nil, fmt.Errorf("the ref %s: %w", name, err)
		}
	}
	if s.defaultBranch, err = r.Target("HEAD"); err == nil {
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
func (s *server) parts(updates []update, own bool) (parts []part, err error) {
	if err := s.findTips(updates, own); err != nil {
		return nil, err
	}
	var tips []repo.Hash // of refs that are no branches
	for _, u := range updates {
		if !strings.HasPrefix(u.ref, "refs/heads/") || u.tip.IsZero() {
			tips = append(tips, u.tip)
			continue
		}
		p := part{ref: u.ref, base: u.ref}
		if u.old.IsZero() && !s.head.IsZero() {
			p.base = s.defaultBranch
		}
		if p.compared, err = s.compare(u); err == nil {
			p.commits, err = s.take(u.tip)
		}
		if err != nil {
			return nil, err
		}
		if s.before.IsZero() || s.head.IsZero() && u.ref == s.defaultBranch {
			s.before = u.tip
		}
		parts = append(parts, p)
	}
	commits, err := s.take(tips...)
	if err != nil || len(commits) == 0 && len(parts) > 0 {
		return parts, err
	}
	// Without a branch, neither before the push nor in it, nothing is compared.
	for _, h := range append(tips, s.reached...) {
		s.before = cmp.Or(s.before, h)
	}
	if s.before.IsZero() {
		return nil, refused(code.Empty, "neither the push nor the repository has a commit; push one")
	}
	p := part{base: s.defaultBranch, commits: commits, compared: same(s.before)}
	return append(parts, p), nil
}

// findTips finds the commits of the updates' new values, and all commits that the push brings.
// The default branch is kept if its own bundle is enforced.
func (s *server) findTips(updates []update, own bool) (err error) {
	var tips []repo.Hash
	for i := range updates {
		u := &updates[i]
		target, err := s.repo.Target(u.ref)
		switch {
		case err != nil:
			return err
		case target != u.ref:
			return refused(code.RevSyntax, "%s is a symbolic ref; push to %s, which it leads to", u.ref, target)
		case s.refs[u.ref] != u.old:
			return refused(code.Changed, "%s is no longer at %s; fetch, and push again", u.ref, u.old)
		case !u.new.IsZero():
		case own && u.ref == s.defaultBranch && !u.old.IsZero():
			return refused(code.NoRules, "%s is the default branch, whose bundle checks each push; before it is "+
				"deleted, set another one on the server (git symbolic-ref HEAD refs/heads/NAME)", u.ref)
		default:
			continue
		}
		var other *repo.KindError
		if u.tip, err = s.repo.Peel(u.new); errors.As(err, &other) {
			return refused(code.RevSyntax, "%s points to a %s (%s), whose path no rule can select; "+
				"push a commit, or a tag of one", u.ref, other.Kind, repo.Short(other.Hash))
		} else if err != nil {
			return err
		}
		tips = append(tips, u.tip)
	}
	s.left, err = s.repo.Between(tips, s.reached)
	slices.Reverse(s.left)
	return err
}

// take returns the commits that the push brings with these and that are in no part yet, in order.
func (s *server) take(tips ...repo.Hash) (commits []repo.Hash, err error) {
	wanted := map[repo.Hash]bool{}
	for _, h := range tips {
		wanted[h] = true
	}
	left := s.left[:0]
	for _, h := range s.left {
		if !wanted[h] {
			left = append(left, h)
			continue
		}
		commits = append(commits, h)
		parents, err := s.repo.Parents(h)
		if err != nil {
			return nil, err
		}
		for _, p := range parents {
			wanted[p] = true
		}
	}
	s.left = left
	slices.Reverse(commits)
	return commits, nil
}

// compare relates the new tip of a branch to its old one, or that of a new branch to the default branch. Without either
// there is no base.
func (s *server) compare(u update) (repo.Comparison, error) {
	base, tip, isNew := u.old, u.tip, u.old.IsZero()
	if isNew {
		base = s.head
	}
	if base.IsZero() {
		return repo.Comparison{Head: tip}, nil
	}
	c, err := s.repo.Relate(base, tip)
	switch {
	case errors.Is(err, repo.ErrNoMergeBase):
		c.MergeBases, c.Behind, err = []repo.Hash{base}, repo.Unknown, nil
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
