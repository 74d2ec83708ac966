package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/repo"
)

// repository opens the repository that a git scope is about.
func (c *scanCmd) repository(s *subject) (*repo.Repository, error) {
	if st, err := os.Stat(c.Path); c.Path != "" && err == nil && !st.IsDir() {
		return nil, errors.New("PATH is not a folder; with --diff-base, --staged and --tracked it only says which repository is meant, so leave it out")
	}
	r, err := gitEnvironment().Open(c.Path)
	if err != nil {
		return nil, scanner.RepoFailed(err)
	}
	s.place, err = repositoryPlace(r)
	return r, err
}

// gitEnvironment is what the variables say of the repository that is meant.
func gitEnvironment() repo.Environment {
	return repo.Environment{GitDir: os.Getenv("GIT_DIR"), WorkTree: os.Getenv("GIT_WORK_TREE")}
}

// repositoryPlace is the place of a repository's files: its work tree, if it has one.
func repositoryPlace(r *repo.Repository) (place, error) {
	if r.WorkTree == "" {
		return place{root: ".", shown: "(a bare repository)"}, nil
	}
	cwd, err := disk.Real(".")
	if err != nil {
		return place{}, fmt.Errorf("the current folder cannot be found: %w", disk.Cause(err))
	}
	root, err := disk.Real(r.WorkTree)
	if err != nil {
		return place{}, fmt.Errorf("the root of the repository cannot be found: %w", disk.Cause(err))
	}
	if rel, err := filepath.Rel(cwd, root); err == nil {
		root = rel
	}
	return newPlace(root), nil
}
