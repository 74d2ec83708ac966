package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// changes is the subject of --diff-base: the head's files that differ from a merge
// base, judged by the bundles of the base and of the head.
func (c *scanCmd) changes(s *subject) error {
	r, err := openRepository(c.Path)
	if err != nil {
		return gitFailed(err)
	}
	if s.place, err = repositoryPlace(r); err != nil {
		return err
	}
	head := c.Head
	if head == "" {
		head = "HEAD"
	}
	compared, err := scanner.Compare(r, c.DiffBase, head)
	if err != nil {
		return gitFailed(err)
	}
	s.tree = scanner.Changes(r, compared, c.DiffBase)
	return c.seatJudges(s, r, compared)
}

// openRepository opens the repository that PATH, or else GIT_DIR, or else the current
// folder is in.
func openRepository(path string) (*repo.Repository, error) {
	gitDir := os.Getenv("GIT_DIR")
	if gitDir == "" {
		if path == "" {
			path = "."
		}
		return repo.Find(path)
	}
	workTree := os.Getenv("GIT_WORK_TREE")
	if workTree == "" {
		workTree = "."
	}
	named, err := repo.At(gitDir, workTree)
	if err != nil || path == "" {
		return named, err
	}
	around, err := repo.Find(path)
	if err == nil && !named.Is(around) {
		err = fmt.Errorf("%w: GIT_DIR is %s, but %s is in another repository; unset GIT_DIR, or leave the path out", repo.ErrNotRepository, gitDir, path)
	}
	return around, err
}

// repositoryPlace is the place of a repository's files: its work tree, if it has one.
func repositoryPlace(r *repo.Repository) (place, error) {
	if r.WorkTree == "" {
		return place{root: ".", shown: "(a bare repository)"}, nil
	}
	cwd, err := realPath(".")
	if err != nil {
		return place{}, fmt.Errorf("the current folder cannot be found: %w", systemError(err))
	}
	root, err := realPath(r.WorkTree)
	if err != nil {
		return place{}, fmt.Errorf("the root of the repository cannot be found: %w", systemError(err))
	}
	if rel, err := filepath.Rel(cwd, root); err == nil {
		root = rel
	}
	return newPlace(root), nil
}

// seatJudges says who judges a change: the bundle of the base and that of the head, each
// found there on its own, or one that the change cannot touch.
func (c *scanCmd) seatJudges(s *subject, r *repo.Repository, compared scanner.Comparison) error {
	if c.PolicyRef != "" {
		commit, err := r.Commit(c.PolicyRef)
		if err != nil {
			return gitFailed(err)
		}
		s.policy = fmt.Sprintf("of %s (%s)", c.PolicyRef, short(commit))
		dir, _, err := c.policyIn(r)
		if err != nil {
			return err
		}
		return s.seat(r, "commit", commit, dir)
	}
	dir, inside, err := c.policyIn(r)
	if err != nil {
		return err
	}
	if !inside {
		p, err := loadPolicy(c.Policy, s.place.root)
		s.policy = p.name
		s.judges = []scanner.Judge{{From: p.from, Bundle: p.bundle}}
		return err
	}

	s.policy = fmt.Sprintf("of the base (%s) and of the head (%s)", short(compared.Base), short(compared.Head))
	headFrom := "head"
	baseErr := s.seat(r, "base", compared.Base, dir)
	if errors.Is(baseErr, scanner.ErrNoBundle) && dir != "" {
		baseErr = s.seat(r, "base", compared.Base, "")
	}
	var mistakes rules.Errors
	switch {
	case errors.Is(baseErr, scanner.ErrNoBundle):
		headFrom = "bootstrap"
		s.policy = fmt.Sprintf("of the head (%s), which introduces it", short(compared.Head))
	case errors.As(baseErr, &mistakes):
		return inBundle(mistakes, "the base's bundle", "to judge by the head's alone, deliberately, give --policy-ref HEAD")
	case baseErr != nil:
		return gitFailed(baseErr)
	}

	headErr := s.seat(r, headFrom, compared.Head, dir)
	switch {
	case headErr == nil:
		return nil
	case headFrom == "bootstrap" && errors.Is(headErr, scanner.ErrNoBundle):
		return &rules.Error{Code: rules.CodeMissing, Found: "no bundle in the base or in the head", Fix: `run "policyscan init" and commit it, or name one with --policy`}
	case headFrom == "bootstrap":
		return headErr
	case errors.Is(headErr, scanner.ErrNoBundle):
		s.errors = errorsOf(&rules.Error{Code: rules.CodeMissing, Found: "the change takes the bundle away: the head has none", Fix: "keep it; what it says can be changed, and is then judged by both"})
	case errors.As(headErr, &mistakes):
		s.errors = errorsOf(inBundle(mistakes, "the head's bundle", ""))
	default:
		return gitFailed(headErr)
	}
	return nil
}

// seat adds the bundle of a commit to the judges.
func (s *subject) seat(r *repo.Repository, from string, commit repo.Hash, dir string) error {
	tree, err := r.Tree(commit)
	if err != nil {
		return gitFailed(err)
	}
	b, files, err := scanner.BundleIn(r, tree, dir)
	for _, f := range files {
		s.leaveOut[f] = "rules"
	}
	if err != nil {
		return err
	}
	s.judges = append(s.judges, scanner.Judge{From: from, Commit: commit.String(), Bundle: b})
	return nil
}

// policyIn says whether the bundle lives in the repository, and in which of its folders
// if --policy names it.
func (c *scanCmd) policyIn(r *repo.Repository) (dir string, inside bool, err error) {
	if c.Policy == "" {
		return "", true, nil
	}
	if c.Policy == builtin || r.WorkTree == "" {
		return "", false, nil
	}
	root, err := realPath(r.WorkTree)
	if err != nil {
		return "", false, fmt.Errorf("the root of the repository cannot be found: %w", systemError(err))
	}
	cwd, err := realPath(".")
	if err != nil {
		return "", false, fmt.Errorf("the current folder cannot be found: %w", systemError(err))
	}
	at := c.Policy
	if !filepath.IsAbs(at) {
		at = filepath.Join(cwd, at)
	}
	// As it is spelled first: a link within the work tree is the change's to make, and
	// must not lead to another folder than the base's bundle is in.
	places := []string{at}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		places = append(places, real)
	}
	for _, place := range places {
		if rel, err := filepath.Rel(root, place); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true, nil
		}
	}
	return "", false, nil
}

// inBundle names the bundle that mistakes are in.
func inBundle(mistakes rules.Errors, which, hint string) rules.Errors {
	out := make(rules.Errors, len(mistakes))
	for i, m := range mistakes {
		c := *m
		c.Found = which + ": " + c.Found
		if hint != "" {
			c.Fix += "; " + hint
		}
		out[i] = &c
	}
	return out
}

func short(h repo.Hash) string { return h.String()[:7] }

// gitFailed is the verdict's error for a failure of the repository.
func gitFailed(err error) error {
	var known *verdict.Error
	if errors.As(err, &known) {
		return err
	}
	e := scanner.RepoError(err)
	return &e
}
