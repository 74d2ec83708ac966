package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
)

// repository opens the repository that a git scope is about.
func (c *scanCmd) repository(s *subject) (*repo.Repository, error) {
	if st, err := os.Stat(c.Path); c.Path != "" && err == nil && !st.IsDir() {
		return nil, errors.New("PATH is not a folder; with --diff-base, --staged and --tracked it only says which repository is meant, so leave it out")
	}
	r, err := openRepository(c.Path)
	if err != nil {
		return nil, scanner.RepoFailed(err)
	}
	s.place, err = repositoryPlace(r)
	return r, err
}

// openRepository opens the repository that PATH, or else GIT_DIR, or else the current
// folder is in.
func openRepository(path string) (*repo.Repository, error) {
	gitDir, workTree := os.Getenv("GIT_DIR"), os.Getenv("GIT_WORK_TREE")
	if gitDir != "" && path == "" {
		return repo.At(gitDir, workTree)
	}
	// Without links: what is above a folder is what the system says.
	at, err := realPath(path)
	if err != nil {
		return nil, fmt.Errorf("the folder %s cannot be found: %w", path, systemError(err))
	}
	around, err := repo.Find(at)
	if err != nil {
		return nil, err
	}
	if gitDir == "" {
		if workTree != "" {
			around.WorkTree = workTree
		}
		return around, nil
	}
	named, err := repo.At(gitDir, workTree)
	if err == nil && !named.Is(around) {
		err = fmt.Errorf("%w: GIT_DIR is %s, but %s is in another repository or work tree; unset GIT_DIR, or leave the path out", repo.ErrNotRepository, gitDir, path)
	}
	return around, err
}

// tracked reports whether git tracks a file, in the repository around it or in the one that
// GIT_DIR names.
func tracked(file string) (bool, error) {
	dir, name := filepath.Split(file)
	dir, err := realPath(dir)
	if err != nil {
		return false, nil // it can be no file either, which the one who writes it will say
	}
	file = filepath.Join(dir, name)
	if os.Getenv("GIT_DIR") != "" {
		if r, err := openRepository(""); err == nil {
			if tracked, err := r.Tracks(file); tracked || err != nil {
				return tracked, err
			}
		}
	}
	return repo.Tracks(file)
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
